// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Molecular dynamics with abt.h: a user-level thread for each cell, a tasklet for each pair of
// neighbouring cells, and for each cell a future with a compartment for each of its pairs; the
// future's callback sums the forces of the cell.
//
//   dynamics [--cells=4] [--atoms=1000] [--steps=20] [--streams=N] [--rounds=1] [--check=100]
//   [--run=argobots,openmp,pthreads]
//
// There are no barriers: a pair meets as soon as both of its cells have settled, and a cell settles
// as soon as its neighbours have moved, so cells may be a step apart. Compiles with every Argobots
// from 1.2 on. The energies of every step and all places and velocities at the end must equal those
// of the sequential run, bit for bit. At the end of the sequential run, the forces on --check atoms
// are compared with the direct sum of forces, and energy and momentum must be conserved. The table
// shows the median of the rounds.
#include <thread>

#include "call.hpp"
#include "dynamics.hpp"

namespace {

using apps::done;
using dynamics::Box;
using dynamics::Contribution;
using dynamics::Direction;
using dynamics::directions;
using dynamics::here;
using dynamics::Sizes;

// ---- cells and pairs ----------------------------------------------------------------------------

struct World;

struct Cell {
    World* world = nullptr;
    std::size_t number = 0;
    ABT_pool pool = ABT_POOL_NULL;
    ABT_future forces = ABT_FUTURE_NULL;   // a compartment for each contribution
    ABT_future comers = ABT_FUTURE_NULL;   // a compartment for each neighbour
    // The value of a compartment. Compartments are filled in any order, so each value names its
    // contribution.
    struct Part {
        Cell* cell;
        const Contribution* contribution;
    };
    std::array<Part, directions> parts{};
};

struct Pair {
    World* world = nullptr;
    std::size_t number = 0;
    // how often a cell of the pair has settled; odd: one cell waits for the other to settle
    std::atomic<std::size_t> settled = 0;
};

struct World {
    Box& box;
    std::vector<Cell> cells;
    std::vector<Pair> pairs;
};

// The callback of a cell's `forces`. Some implementations call it with the future's lock held, so
// it must not call abt.h.
void sum_forces(void** compartments) {
    std::array<const Contribution*, directions> in_order{};
    const Cell* cell = nullptr;
    for (std::size_t i = 0; i < directions; ++i) {
        const auto& part = *static_cast<const Cell::Part*>(compartments[i]);
        cell = part.cell;
        in_order[part.contribution->from] = part.contribution;
    }
    apps::require(std::find(in_order.begin(), in_order.end(), nullptr) == in_order.end(),
                  "dynamics: a pair has come twice");
    cell->world->box.sum(cell->number, in_order);
}

void contribute(World& world, std::size_t number, Direction from) {
    Cell& cell = world.cells[number];
    done("ABT_future_set", ABT_future_set(cell.forces, &cell.parts[from]));
}

void meet(void* raw) {
    const Pair& pair = *static_cast<const Pair*>(raw);
    World& world = *pair.world;
    const auto [first, direction] = world.box.pair(pair.number);
    world.box.meet({first, direction});
    contribute(world, first, direction);
    if (direction != here) contribute(world, world.box.neighbour(first, direction), directions - 1 - direction);
}

// A cell has settled; the second of a pair to settle creates the tasklet in which the two meet.
void settled(const Cell& cell, Direction direction) {
    Pair& pair = cell.world->pairs[cell.world->box.pair_number(cell.number, direction)];
    // acq_rel: the first cell's release pairs with the second cell's acquire, and the second cell
    // passes the atoms of both on to the tasklet.
    if (direction != here && pair.settled.fetch_add(1, std::memory_order_acq_rel) % 2 == 0) return;
    done("ABT_task_create", ABT_task_create(cell.pool, meet, &pair, nullptr));
}

void wait(ABT_future future) {
    done("ABT_future_wait", ABT_future_wait(future));
    // Either future of a cell is set again only after the cell has settled once more.
    done("ABT_future_reset", ABT_future_reset(future));
}

void live(void* raw) {
    const Cell& cell = *static_cast<const Cell*>(raw);
    World& world = *cell.world;
    for (std::size_t step = 0;; ++step) {
        for (Direction d = 0; d < directions; ++d) settled(cell, d);
        wait(cell.forces);
        world.box.complete(cell.number);
        if (step == world.box.steps()) return;
        world.box.move(cell.number);
        for (Direction d = 0; d < directions; ++d) {
            if (d == here) continue;
            Cell& neighbour = world.cells[world.box.neighbour(cell.number, d)];
            done("ABT_future_set", ABT_future_set(neighbour.comers, nullptr));
        }
        wait(cell.comers);
        world.box.settle(cell.number);
    }
}

// ---- streams ------------------------------------------------------------------------------------

// The streams from ABT_init to ABT_finalize, and the cells, whose futures must outlive the last
// call of a tasklet. The basic scheduler tries its pools in their order, so a stream takes from the
// pools of the others when its own pool is empty.
class Streams {
public:
    Streams(Box& box, const Sizes& sizes)
        : world_{box, std::vector<Cell>(box.cells()), std::vector<Pair>(box.pairs())}, streams_(sizes.streams) {
        done("ABT_init", ABT_init(0, nullptr));
        std::vector<ABT_pool> pools;
        for (std::size_t stream = 0; stream < sizes.streams; ++stream) pools.push_back(pool());
        done("ABT_xstream_self", ABT_xstream_self(&streams_[0]));
        std::vector<ABT_pool> pools_of_first = pools;
        // the program's first thread must stay on its stream: no other stream has this pool
        pools_of_first.insert(pools_of_first.begin(), pool());
        done("ABT_xstream_set_main_sched_basic",
             ABT_xstream_set_main_sched_basic(streams_[0], ABT_SCHED_BASIC, static_cast<int>(pools_of_first.size()),
                                              pools_of_first.data()));
        make_cells(pools);
        for (std::size_t stream = 1; stream < sizes.streams; ++stream) {
            std::rotate(pools.begin(), pools.begin() + 1, pools.end());
            done("ABT_xstream_create_basic",
                 ABT_xstream_create_basic(ABT_SCHED_BASIC, static_cast<int>(pools.size()), pools.data(),
                                          ABT_SCHED_CONFIG_NULL, &streams_[stream]));
        }
    }

    ~Streams() {
        for (std::size_t stream = 1; stream < streams_.size(); ++stream)
            done("ABT_xstream_free", ABT_xstream_free(&streams_[stream]));
        // No tasklet is still inside a call, not even the call that woke the last cell.
        for (Cell& cell : world_.cells) {
            done("ABT_future_free", ABT_future_free(&cell.forces));
            done("ABT_future_free", ABT_future_free(&cell.comers));
        }
        done("ABT_finalize", ABT_finalize());
    }

    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;

    void run() {
        std::vector<ABT_thread> threads(world_.cells.size(), ABT_THREAD_NULL);
        for (std::size_t c = 0; c < threads.size(); ++c) {
            Cell& cell = world_.cells[c];
            done("ABT_thread_create", ABT_thread_create(cell.pool, live, &cell, ABT_THREAD_ATTR_NULL, &threads[c]));
        }
        for (ABT_thread& thread : threads) done("ABT_thread_free", ABT_thread_free(&thread));
    }

private:
    static ABT_pool pool() {
        ABT_pool pool = ABT_POOL_NULL;   // automatic: freed with the last scheduler that has it
        done("ABT_pool_create_basic", ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pool));
        return pool;
    }

    void make_cells(const std::vector<ABT_pool>& pools) {
        for (std::size_t c = 0; c < world_.cells.size(); ++c) {
            Cell& cell = world_.cells[c];
            cell.world = &world_;
            cell.number = c;
            cell.pool = pools[c * pools.size() / world_.cells.size()];   // neighbours are often on the same stream
            for (Direction d = 0; d < directions; ++d) cell.parts[d] = {&cell, &world_.box.contribution(c, d)};
            done("ABT_future_create", ABT_future_create(directions, sum_forces, &cell.forces));
            done("ABT_future_create", ABT_future_create(directions - 1, nullptr, &cell.comers));
        }
        for (std::size_t p = 0; p < world_.pairs.size(); ++p) {
            world_.pairs[p].world = &world_;
            world_.pairs[p].number = p;
        }
    }

    World world_;
    std::vector<ABT_xstream> streams_;
};

// ---- the comparison -----------------------------------------------------------------------------

double whole(const dynamics::Energy& energy) { return energy.potential + energy.kinetic; }

void check_physics(const Box& box, const Box::Result& result, std::size_t sample) {
    apps::require(result.atoms.size() == box.atoms(), "dynamics: atoms are lost");
    const double drift =
        (whole(result.energies.back()) - whole(result.energies.front())) / result.energies.front().kinetic;
    dynamics::Vector momentum;
    for (const dynamics::Atom& atom : result.atoms) momentum = momentum + atom.velocity;
    const double error = box.error_of_sample(sample);
    std::printf("energy of an atom %.6f, drift %.1e; error of the forces of %zu atoms %.1e\n",
                whole(result.energies.back()) / static_cast<double>(box.atoms()), drift, std::min(sample, box.atoms()),
                error);
    apps::require(std::abs(drift) < 0.01, "dynamics: energy is not conserved");
    apps::require(dot(momentum, momentum) < 1e-12 * static_cast<double>(box.atoms()),
                  "dynamics: momentum is not conserved");
    apps::require(error < 1e-9, "dynamics: other forces than the direct sum's");
}

void print(const char* version, const Sizes& sizes, double seconds, double sequential) {
    std::printf("%-12s %9.4f s %10.3f ms/step %7.2f\n", version, seconds,
                seconds * 1e3 / static_cast<double>(sizes.steps), sequential / seconds);
    std::fflush(stdout);
}

}   // namespace

int main(int argc, char** argv) {
    apps::Arguments arguments(argc, argv);
    Sizes sizes{};
    sizes.cells = arguments.number("cells", 4, 1, 256);
    sizes.atoms = arguments.number("atoms", 1000);
    sizes.steps = arguments.number("steps", 20);
    sizes.streams = arguments.number("streams", std::max(std::thread::hardware_concurrency(), 1U), 1, 4096);
    const std::size_t rounds = arguments.number("rounds", 1);
    const std::size_t checked = arguments.number("check", 100, 0);
    const apps::Versions versions(arguments);
    arguments.refuse_others();

    Box box(sizes);
    std::printf("%zu cells, %zu atoms, %zu steps, %zu streams\n", box.cells(), box.atoms(), sizes.steps, sizes.streams);
    const auto measure = [&](const auto& run) {
        return apps::median_seconds(rounds, [&] {
            box.start();
            const apps::Stopwatch watch;
            run();
            return watch.seconds();
        });
    };
    const double sequential = measure([&] { dynamics::run_sequentially(box); });
    const Box::Result expected = box.result();
    check_physics(box, expected, checked);
    print("sequential", sizes, sequential, sequential);

    const auto compare = [&](const char* version, const auto& run) {
        const double seconds = measure(run);
        apps::require(box.result() == expected, "dynamics: other energies or atoms than the sequential run's");
        print(version, sizes, seconds, sequential);
    };
    if (versions.has("openmp")) compare("openmp", [&] { dynamics::run_openmp(box, sizes.streams); });
    if (versions.has("pthreads")) compare("pthreads", [&] { dynamics::run_pthreads(box, sizes.streams); });
    if (versions.has("argobots")) {
        Streams streams(box, sizes);
        compare("argobots", [&] { streams.run(); });
    }
    std::puts("all equal to the sequential run");
    return 0;
}
