// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Molecular dynamics: atoms that attract and repel each other by the Lennard-Jones potential, in a
// periodic box that is cut into cells; in reduced units, with the velocity Verlet step. This file
// does not use abt.h.
//
// A cell is not narrower than the cutoff, so its atoms interact only with each other and with those
// of its 26 neighbours. The forces of a pair of cells are computed at once for both sides. They are
// summed cell by cell in a fixed order, so every version gives the same bits, whatever ran first.
// The versions decide which unit runs what, and when:
//
//   meet(pair)      needs the atoms of both cells in place; writes the pair's two contributions
//   sum(cell)       needs all contributions to the cell
//   complete(cell)  needs the sum; ends the step
//   move(cell)      begins the next step and sets aside the atoms that leave the cell
//   settle(cell)    needs all neighbours to have moved; takes in the atoms that come from them
#pragma once

#include <array>
#include <cmath>

#include "program.hpp"

namespace dynamics {

struct Sizes {
    std::size_t cells;   // along each edge of the box
    std::size_t atoms;   // in each cell, about
    std::size_t steps;
    std::size_t streams;   // or threads, in the other versions
};

struct Vector {
    double x = 0, y = 0, z = 0;

    friend Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
    friend Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
    friend Vector operator*(double a, Vector b) { return {a * b.x, a * b.y, a * b.z}; }
    friend bool operator==(const Vector&, const Vector&) = default;
};

inline double dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

struct Atom {
    std::size_t number;
    Vector place, velocity;

    friend bool operator==(const Atom&, const Atom&) = default;
};

struct Energy {
    double potential = 0, kinetic = 0;

    friend bool operator==(const Energy&, const Energy&) = default;
};

// One of the 27 steps from a cell to a neighbour; 13 leads to the cell itself, and 26 - d is the
// way back from d.
using Direction = std::size_t;
constexpr Direction directions = 27, here = 13;
constexpr std::array<int, 3> steps_of(Direction d) {
    return {static_cast<int>(d / 9) - 1, static_cast<int>(d / 3 % 3) - 1, static_cast<int>(d % 3) - 1};
}

// What one meeting contributes to one cell. A cell orders its contributions by the direction to the
// other cell.
struct Contribution {
    std::size_t cell;
    Direction from;
    std::vector<std::size_t> atoms;   // indices in the cell, of those near enough to the other
    std::vector<Vector> places, forces;
    double potential = 0;   // of the pair; 0 on the second cell's side
};

// A cell and its neighbour in one of the directions from `here` on; the lower directions give these
// meetings seen from the other side.
struct Pair {
    std::size_t first;
    Direction direction;
};

class Box {
public:
    static constexpr double cutoff = 2.5;
    static constexpr std::size_t pairs_of_cell = directions - here;

    explicit Box(const Sizes& sizes)
        : edge_(sizes.cells),
          steps_(sizes.steps),
          cells_(edge_ * edge_ * edge_),
          cubes_(cubes_for(cells_.size() * sizes.atoms)),
          length_(std::cbrt(static_cast<double>(atoms()) / density)),
          side_(length_ / static_cast<double>(edge_)) {
        if (side_ < cutoff)
            apps::refuse("--atoms=" + std::to_string(sizes.atoms) + ", which makes cells narrower than the cutoff,");
        for (std::size_t c = 0; c < cells_.size(); ++c) {
            cells_[c].low = {side_ * static_cast<double>(c / edge_ / edge_),
                             side_ * static_cast<double>(c / edge_ % edge_), side_ * static_cast<double>(c % edge_)};
            for (Direction d = 0; d < directions; ++d) {
                cells_[c].contributions[d].cell = c;
                cells_[c].contributions[d].from = d;
            }
        }
        start();
    }

    [[nodiscard]] std::size_t cells() const { return cells_.size(); }
    [[nodiscard]] std::size_t pairs() const { return cells_.size() * pairs_of_cell; }
    [[nodiscard]] std::size_t steps() const { return steps_; }
    [[nodiscard]] std::size_t atoms() const { return atoms_of_cube * cubes_ * cubes_ * cubes_; }

    [[nodiscard]] Pair pair(std::size_t number) const {
        return {number / pairs_of_cell, here + number % pairs_of_cell};
    }
    // The pair of a cell and its neighbour in this direction.
    [[nodiscard]] std::size_t pair_number(std::size_t cell, Direction d) const {
        return d >= here ? cell * pairs_of_cell + d - here : neighbour(cell, d) * pairs_of_cell + here - d;
    }

    [[nodiscard]] std::size_t neighbour(std::size_t cell, Direction d) const {
        const auto [x, y, z] = steps_of(d);
        return (wrapped(cell / edge_ / edge_, x) * edge_ + wrapped(cell / edge_ % edge_, y)) * edge_ +
               wrapped(cell % edge_, z);
    }

    [[nodiscard]] Contribution& contribution(std::size_t cell, Direction from) {
        return cells_[cell].contributions[from];
    }

    // Sets up the beginning of every run: a crystal, which the velocities melt.
    void start() {
        apps::Random random(1924);
        const double cube = length_ / static_cast<double>(cubes_);
        std::vector<Atom> all;
        Vector momentum;
        for (std::size_t i = 0; i < atoms(); ++i) {
            // The outer atoms lie on the faces of the box, so from the first step on atoms leave it
            // on one side and enter it on the other.
            const std::array<Vector, atoms_of_cube> corners = {
                {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}}};
            const std::size_t at = i / atoms_of_cube;
            const Vector corner{static_cast<double>(at / cubes_ / cubes_), static_cast<double>(at / cubes_ % cubes_),
                                static_cast<double>(at % cubes_)};
            // Of mean 0 and variance `temperature`. The sum of three uniform numbers is near enough
            // to a normal one.
            const auto speed = [&] {
                return 2 * std::sqrt(temperature) * (random.uniform() + random.uniform() + random.uniform() - 1.5);
            };
            const Vector velocity{speed(), speed(), speed()};
            momentum = momentum + velocity;
            all.push_back({i, cube * (corner + corners[i % atoms_of_cube]), velocity});
        }
        for (Cell& cell : cells_) {   // nothing of an earlier run can stand in for what a run leaves out
            cell.atoms.clear();
            cell.forces.clear();
            cell.energies.clear();
            for (auto& leavers : cell.leavers) leavers.clear();
            for (Contribution& contribution : cell.contributions) {
                contribution.atoms.clear();
                contribution.potential = 0;
            }
        }
        for (Atom& atom : all) {
            atom.velocity = atom.velocity - (1 / static_cast<double>(all.size())) * momentum;
            cells_[(index(atom.place.x) * edge_ + index(atom.place.y)) * edge_ + index(atom.place.z)].atoms.push_back(
                atom);
        }
    }

    // The functions that compute are not inline: every version runs the same instructions and must
    // give the same bits.
    [[gnu::noinline]] void meet(Pair pair) {
        if (pair.direction == here) {
            meet_itself(pair.first);
            return;
        }
        const std::size_t second = neighbour(pair.first, pair.direction);
        Contribution& a = contribution(pair.first, pair.direction);
        Contribution& b = contribution(second, directions - 1 - pair.direction);
        const Vector shift = way_round(pair.first, pair.direction);
        choose(a, cells_[second].low + shift, {});
        choose(b, cells_[pair.first].low, shift);
        for (std::size_t i = 0; i < a.atoms.size(); ++i) {
            for (std::size_t j = 0; j < b.atoms.size(); ++j)
                a.potential += interact(a.places[i] - b.places[j], a.forces[i], b.forces[j]);
        }
    }

    // `contributions`: of all directions, in the order of the directions.
    [[gnu::noinline]] void sum(std::size_t number, const std::array<const Contribution*, directions>& contributions) {
        Cell& cell = cells_[number];
        cell.forces.assign(cell.atoms.size(), {});
        cell.potential = 0;
        for (const Contribution* const contribution : contributions) {
            for (std::size_t i = 0; i < contribution->atoms.size(); ++i)
                cell.forces[contribution->atoms[i]] = cell.forces[contribution->atoms[i]] + contribution->forces[i];
            cell.potential += contribution->potential;
        }
    }

    void sum(std::size_t number) {
        std::array<const Contribution*, directions> contributions;
        for (Direction d = 0; d < directions; ++d) contributions[d] = &contribution(number, d);
        sum(number, contributions);
    }

    // Accelerates for the second half of the step, except at the very beginning, and records the
    // energy.
    [[gnu::noinline]] void complete(std::size_t number) {
        Cell& cell = cells_[number];
        if (!cell.energies.empty()) accelerate(cell);
        double kinetic = 0;
        for (const Atom& atom : cell.atoms) kinetic += 0.5 * dot(atom.velocity, atom.velocity);
        cell.energies.push_back({cell.potential, kinetic});
    }

    [[gnu::noinline]] void move(std::size_t number) {
        Cell& cell = cells_[number];
        accelerate(cell);
        for (auto& leavers : cell.leavers) leavers.clear();
        std::size_t stay = 0;
        for (Atom atom : cell.atoms) {
            atom.place = atom.place + time_step * atom.velocity;
            const Direction d = outside(atom.place.x, cell.low.x) * 9 + outside(atom.place.y, cell.low.y) * 3 +
                                outside(atom.place.z, cell.low.z);
            if (d == here) {
                cell.atoms[stay++] = atom;
            } else {
                atom.place = atom.place - way_round(number, d);
                cell.leavers[d].push_back(atom);
            }
        }
        cell.atoms.resize(stay);
    }

    void settle(std::size_t number) {
        Cell& cell = cells_[number];
        for (Direction d = 0; d < directions; ++d) {
            const auto& comers = cells_[neighbour(number, d)].leavers[directions - 1 - d];
            if (d != here) cell.atoms.insert(cell.atoms.end(), comers.begin(), comers.end());
        }
    }

    // ---- the result of a run --------------------------------------------------------------------

    struct Result {
        std::vector<Energy> energies;   // after each step, the beginning first
        std::vector<Atom> atoms;        // cell by cell

        friend bool operator==(const Result&, const Result&) = default;
    };

    [[nodiscard]] Result result() const {
        Result result;
        result.energies.resize(steps_ + 1);
        for (const Cell& cell : cells_) {
            apps::require(cell.energies.size() == result.energies.size(), "dynamics: a cell has not made all steps");
            for (std::size_t step = 0; step <= steps_; ++step) {
                result.energies[step].potential += cell.energies[step].potential;
                result.energies[step].kinetic += cell.energies[step].kinetic;
            }
            result.atoms.insert(result.atoms.end(), cell.atoms.begin(), cell.atoms.end());
        }
        return result;
    }

    // The error of the summed forces on `count` atoms, relative to the direct sum over all atoms
    // and their images.
    [[nodiscard]] double error_of_sample(std::size_t count) const {
        std::vector<const Atom*> all;
        std::vector<Vector> forces;
        for (const Cell& cell : cells_) {
            for (const Atom& atom : cell.atoms) all.push_back(&atom);
            forces.insert(forces.end(), cell.forces.begin(), cell.forces.end());
        }
        double difference = 0, whole = 0;
        count = std::min(count, all.size());
        for (std::size_t sample = 0; sample < count; ++sample) {
            const std::size_t i = sample * all.size() / count;
            Vector direct, opposite;
            for (const Atom* const other : all) {
                for (Direction d = 0; d < directions; ++d) {
                    const auto [x, y, z] = steps_of(d);
                    const Vector image{other->place.x + x * length_, other->place.y + y * length_,
                                       other->place.z + z * length_};
                    if (other != all[i]) interact(all[i]->place - image, direct, opposite);
                }
            }
            difference += dot(forces[i] - direct, forces[i] - direct);
            whole += dot(direct, direct);
        }
        return whole > 0 ? std::sqrt(difference / whole) : 0;
    }

private:
    static constexpr double density = 0.8442, temperature = 1.44, time_step = 0.004;
    static constexpr std::size_t atoms_of_cube = 4;   // one at a corner, three on faces

    // The whole number of cubes along each edge of the box that comes nearest to `atoms` atoms.
    static std::size_t cubes_for(std::size_t atoms) {
        return static_cast<std::size_t>(
            std::max(std::lround(std::cbrt(static_cast<double>(atoms) / atoms_of_cube)), 1L));
    }

    struct Cell {
        Vector low;   // its corner
        std::vector<Atom> atoms;
        std::vector<Vector> forces;
        double potential = 0;
        std::vector<Energy> energies;
        std::array<std::vector<Atom>, directions> leavers;
        std::array<Contribution, directions> contributions;
    };

    // Adds the forces to both and returns the potential, shifted so that it reaches 0 at the cutoff
    // without a jump.
    static double interact(Vector way, Vector& force, Vector& opposite) {
        constexpr double inverse_of_cutoff = 1 / (cutoff * cutoff * cutoff * cutoff * cutoff * cutoff);
        constexpr double at_cutoff = 4 * (inverse_of_cutoff * inverse_of_cutoff - inverse_of_cutoff);
        const double square = dot(way, way);
        if (square >= cutoff * cutoff) return 0;
        const double inverse = 1 / square;
        const double sixth = inverse * inverse * inverse;
        const Vector push = (24 * inverse * sixth * (2 * sixth - 1)) * way;
        force = force + push;
        opposite = opposite - push;
        return 4 * sixth * (sixth - 1) - at_cutoff;
    }

    void meet_itself(std::size_t number) {
        const std::vector<Atom>& atoms = cells_[number].atoms;
        Contribution& own = contribution(number, here);
        own.atoms.clear();
        own.places.clear();
        for (std::size_t i = 0; i < atoms.size(); ++i) {
            own.atoms.push_back(i);
            own.places.push_back(atoms[i].place);
        }
        own.forces.assign(atoms.size(), {});
        own.potential = 0;
        for (std::size_t i = 0; i < atoms.size(); ++i) {
            for (std::size_t j = i + 1; j < atoms.size(); ++j)
                own.potential += interact(own.places[i] - own.places[j], own.forces[i], own.forces[j]);
        }
    }

    // Chooses the atoms of the side's cell, moved by `shift`, that are not further than the cutoff
    // from the cell with the corner `low`.
    void choose(Contribution& side, Vector low, Vector shift) const {
        // An atom that is outside its own cell by no more than a rounding error still counts.
        constexpr double reach = cutoff * (1 + 1e-9);
        const auto beyond = [&](double at, double from) { return std::max({from - at, at - (from + side_), 0.0}); };
        const std::vector<Atom>& atoms = cells_[side.cell].atoms;
        side.atoms.clear();
        side.places.clear();
        for (std::size_t i = 0; i < atoms.size(); ++i) {
            const Vector place = atoms[i].place + shift;
            const Vector gap{beyond(place.x, low.x), beyond(place.y, low.y), beyond(place.z, low.z)};
            if (dot(gap, gap) >= reach * reach) continue;
            side.atoms.push_back(i);
            side.places.push_back(place);
        }
        side.forces.assign(side.atoms.size(), {});
        side.potential = 0;
    }

    static void accelerate(Cell& cell) {
        for (std::size_t i = 0; i < cell.atoms.size(); ++i)
            cell.atoms[i].velocity = cell.atoms[i].velocity + (time_step / 2) * cell.forces[i];
    }

    [[nodiscard]] std::size_t wrapped(std::size_t index, int step) const {
        return (index + edge_ + static_cast<std::size_t>(step + 1) - 1) % edge_;
    }

    // The vector that, added to places in the neighbour, gives them as seen from the cell: 0
    // unless the step d crosses a face of the box.
    [[nodiscard]] Vector way_round(std::size_t cell, Direction d) const {
        const auto [x, y, z] = steps_of(d);
        const auto round = [&](std::size_t index, int step) {
            if (step < 0 && index == 0) return -length_;
            return step > 0 && index == edge_ - 1 ? length_ : 0;
        };
        return {round(cell / edge_ / edge_, x), round(cell / edge_ % edge_, y), round(cell % edge_, z)};
    }

    [[nodiscard]] std::size_t index(double place) const {
        return std::min(static_cast<std::size_t>(place / side_), edge_ - 1);
    }

    // 0 below the cell, 1 in it, 2 above.
    [[nodiscard]] std::size_t outside(double place, double low) const {
        apps::require(place > low - side_ && place < low + 2 * side_, "dynamics: an atom has flown through a cell");
        return place < low ? 0 : place < low + side_ ? 1 : 2;
    }

    std::size_t edge_, steps_;
    std::vector<Cell> cells_;
    std::size_t cubes_;      // of the crystal, along each edge of the box
    double length_, side_;   // of the box, of a cell
};

// ---- the versions without abt.h -----------------------------------------------------------------

inline void run_sequentially(Box& box) {
    for (std::size_t step = 0;; ++step) {
        for (std::size_t p = 0; p < box.pairs(); ++p) box.meet(box.pair(p));
        for (std::size_t c = 0; c < box.cells(); ++c) {
            box.sum(c);
            box.complete(c);
        }
        if (step == box.steps()) return;
        for (std::size_t c = 0; c < box.cells(); ++c) box.move(c);
        for (std::size_t c = 0; c < box.cells(); ++c) box.settle(c);
    }
}

inline void run_openmp(Box& box, std::size_t threads) {
    for (std::size_t step = 0;; ++step) {
        apps::openmp_for(threads, box.pairs(), [&](std::size_t p) { box.meet(box.pair(p)); });
        apps::openmp_for(threads, box.cells(), [&](std::size_t c) {
            box.sum(c);
            box.complete(c);
            if (step < box.steps()) box.move(c);
        });
        if (step == box.steps()) return;
        apps::openmp_for(threads, box.cells(), [&](std::size_t c) { box.settle(c); });
    }
}

// Three loops a step, as with OpenMP; a barrier after each loop, and a counter for each from which
// the threads take indices.
inline void run_pthreads(Box& box, std::size_t threads) {
    pthread_barrier_t barrier;
    apps::require(pthread_barrier_init(&barrier, nullptr, static_cast<unsigned>(threads)) == 0,
                  "pthread_barrier_init has failed");
    // relaxed throughout: which thread takes what does not matter, and the barrier publishes the
    // rest. A counter is reset in the loop after its own, when all threads have left its loop.
    std::array<std::atomic<std::size_t>, 3> next{};
    apps::on_pthreads(threads, [&](std::size_t rank) {
        const auto loop = [&](std::size_t which, std::size_t count, const auto& body) {
            for (;;) {
                const std::size_t i = next[which].fetch_add(1, std::memory_order_relaxed);
                if (i >= count) break;
                body(i);
            }
            if (rank == 0) next[(which + 2) % 3].store(0, std::memory_order_relaxed);
            pthread_barrier_wait(&barrier);
        };
        for (std::size_t step = 0;; ++step) {
            loop(0, box.pairs(), [&](std::size_t p) { box.meet(box.pair(p)); });
            loop(1, box.cells(), [&](std::size_t c) {
                box.sum(c);
                box.complete(c);
                if (step < box.steps()) box.move(c);
            });
            if (step == box.steps()) return;
            loop(2, box.cells(), [&](std::size_t c) { box.settle(c); });
        }
    });
    pthread_barrier_destroy(&barrier);
}

}   // namespace dynamics
