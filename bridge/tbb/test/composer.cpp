// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs composed at random of TBB's facilities, OpenMP's regions, threads and calls of BLAS,
// within each other, by several threads at once. Each knows how many leaves it has, and all must be
// done. The seed is printed when something is wrong.
//
//     composer [SECONDS [SEED [BLAS_LIBRARY...]]]
#include <oneapi/tbb.h>

#include <chrono>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "check.hpp"
#include "product.hpp"

namespace {

using Random = std::minstd_rand;

// ThreadSanitizer knows neither the stacks to which TBB switches where it suspends a task, nor how
// threads of TBB hand each other the server, which has been made by one of them.
#ifdef FOR_THREAD_SANITIZER
constexpr bool only_what_it_knows = true;
#else
constexpr bool only_what_it_knows = false;
#endif

// Suspended tasks go on by this thread.
class Resumer {
public:
    ~Resumer() {
        points_.push(nullptr);
        thread_.join();
    }
    void resume(tbb::task::suspend_point point) { points_.push(point); }

private:
    tbb::concurrent_bounded_queue<tbb::task::suspend_point> points_;
    std::thread thread_{[this] {
        for (tbb::task::suspend_point point = nullptr; points_.pop(point), point != nullptr;) tbb::task::resume(point);
    }};
};

constexpr unsigned arenas = 4;

std::vector<Product> products;   // one of each BLAS

struct Shared {
    std::deque<tbb::task_arena> arenas;   // of a program, in their order
    Resumer resumer;
    std::mutex mutex;
    int guarded = 0;   // by the mutex
};

// As long as it lives, TBB keeps its server, for which this thread has asked.
class Attached {
public:
    Attached() { EQUAL(reduced_sum(100), 4950); }
    // Not true where TBB still counts an arena.
    ~Attached() { static_cast<void>(tbb::finalize(handle_, std::nothrow)); }

private:
    tbb::task_scheduler_handle handle_{tbb::attach{}};
};

// A node of a program: how many leaves it has is known when it is composed.
class Node {
public:
    // Within an arena the program goes to those with higher numbers alone: threads that wait for
    // room in each other's arenas would wait forever. A program has suspensions or regions: a
    // thread in a region may take a task that is suspended, and another would go on in the region.
    Node(Random& random, int depth, bool suspends, unsigned arena = 0) : detail_(random() % 1000) {
        if (depth != 0) kind_ = static_cast<Kind>(random() % kinds);
        if (kind_ == in_arena || kind_ == enqueued) {
            if (arena < arenas) detail_ = arena++;
            else kind_ = loop;
        }
        if (kind_ == suspended && !suspends) kind_ = region;
        else if (kind_ == region && suspends) kind_ = suspended;
        if (kind_ <= last_leaf) return;
        for (std::size_t i = 1 + random() % 4; i != 0; --i) below_.emplace_back(random, depth - 1, suspends, arena);
    }

    int leaves() const {
        int sum = below_.empty() ? 1 : 0;
        for (const Node& node : below_) sum += node.leaves();
        return sum;
    }

    void run(Shared& shared, std::atomic<int>& done) const {
        switch (kind_) {
        case leaf: ++done; break;
        case yielding: std::this_thread::yield(), ++done; break;
        case locking: lock(shared), ++done; break;
        case multiplying: multiply(), ++done; break;
        case loop: by_loop(shared, done, tbb::simple_partitioner()); break;
        case auto_loop: by_loop(shared, done, tbb::auto_partitioner()); break;
        case static_loop: by_loop(shared, done, tbb::static_partitioner()); break;
        case group: by_group(shared, done); break;
        case reduction: by_reduction(shared, done); break;
        case pipeline: by_pipeline(shared, done); break;
        case in_arena: by_arena(shared, done); break;
        case isolated: tbb::this_task_arena::isolate([&] { by_loop(shared, done, tbb::simple_partitioner()); }); break;
        case suspended: by_suspension(shared, done); break;
        case thrown: by_exception(shared, done); break;
        case region: by_region(shared, done); break;
        case graph: by_graph(shared, done); break;
        case enqueued: by_queue(shared, done); break;
        case threaded: by_threads(shared, done); break;
        case kinds: break;
        }
    }

private:
    enum Kind : unsigned {
        leaf,
        yielding,
        locking,
        multiplying,
        last_leaf = multiplying,
        loop,
        auto_loop,
        static_loop,
        group,
        reduction,
        pipeline,
        in_arena,
        isolated,
        suspended,
        thrown,
        region,
        graph,
        enqueued,
        threaded,
        kinds
    };

    void lock(Shared& shared) const {
        const std::lock_guard held(shared.mutex);
        const int before = shared.guarded++;
        if (detail_ % 4 == 0) std::this_thread::yield();
        EQUAL(shared.guarded, before + 1);
    }
    void multiply() const {
        if (!products.empty()) CHECK(products[detail_ % products.size()].is_right());
    }
    int count() const { return static_cast<int>(below_.size()); }
    void child(int number, Shared& shared, std::atomic<int>& done) const {
        below_[static_cast<std::size_t>(number)].run(shared, done);
    }

    template <class Partitioner>
    void by_loop(Shared& shared, std::atomic<int>& done, Partitioner&& partitioner) const {
        tbb::parallel_for(
            0, count(), [&](int i) { child(i, shared, done); }, partitioner);
    }
    void by_group(Shared& shared, std::atomic<int>& done) const {
        tbb::task_group tasks;
        for (const Node& node : below_) tasks.run([&] { node.run(shared, done); });
        CHECK(tasks.wait() == tbb::task_group_status::complete);
    }
    void by_reduction(Shared& shared, std::atomic<int>& done) const {
        EQUAL(tbb::parallel_reduce(
                  tbb::blocked_range<int>(0, count()), 0,
                  [&](const tbb::blocked_range<int>& range, int sum) {
                      for (int i = range.begin(); i < range.end(); ++i) child(i, shared, done), ++sum;
                      return sum;
                  },
                  [](int a, int b) { return a + b; }),
              count());
    }
    void by_pipeline(Shared& shared, std::atomic<int>& done) const {
        int next = 0;
        const auto numbers =
            tbb::make_filter<void, int>(tbb::filter_mode::serial_in_order, [&](tbb::flow_control& flow) {
                if (next == count()) flow.stop();
                return next++;
            });
        const auto work =
            tbb::make_filter<int, void>(tbb::filter_mode::parallel, [&](int i) { child(i, shared, done); });
        tbb::parallel_pipeline(1 + detail_ % 4, numbers & work);
    }
    void by_arena(Shared& shared, std::atomic<int>& done) const {
        shared.arenas[detail_].execute([&] { by_loop(shared, done, tbb::simple_partitioner()); });
    }
    void by_suspension(Shared& shared, std::atomic<int>& done) const {
        tbb::task_group tasks;
        tasks.run_and_wait([&] {
            tbb::task::suspend([&](tbb::task::suspend_point point) { shared.resumer.resume(point); });
            for (const Node& node : below_) node.run(shared, done);
        });
    }
    void by_exception(Shared& shared, std::atomic<int>& done) const {
        int caught = -1;
        try {
            tbb::parallel_for(0, 4, [&](int i) {
                if (i == 2) throw static_cast<int>(detail_);
            });
        } catch (int value) {
            caught = value;
        }
        EQUAL(caught, detail_);
        for (const Node& node : below_) node.run(shared, done);
    }
    void by_region(Shared& shared, std::atomic<int>& done) const {
#pragma omp parallel for num_threads(3) schedule(dynamic)
        for (int i = 0; i < count(); ++i) child(i, shared, done);
    }
    void by_graph(Shared& shared, std::atomic<int>& done) const {
        tbb::flow::graph nodes;
        tbb::flow::function_node<int> node(nodes, tbb::flow::unlimited, [&](int i) { child(i, shared, done); });
        for (int i = 0; i < count(); ++i) node.try_put(i);
        nodes.wait_for_all();
    }
    // By a worker, or by this thread when it has computed the rest.
    void by_queue(Shared& shared, std::atomic<int>& done) const {
        tbb::task_group tasks;
        shared.arenas[detail_].enqueue(tasks.defer([&] { child(0, shared, done); }));
        for (int i = 1; i < count(); ++i) child(i, shared, done);
        shared.arenas[detail_].execute([&] { tasks.wait(); });
    }

    void by_threads(Shared& shared, std::atomic<int>& done) const {
        std::vector<std::thread> threads;
        for (const Node& node : below_) threads.emplace_back([&] { node.run(shared, done); });
        for (std::thread& thread : threads) thread.join();
    }

    Kind kind_ = leaf;
    unsigned detail_;
    std::vector<Node> below_;
};

void compose(unsigned seed) {
    Random random(seed);
    random.discard(5);
    std::optional<Attached> attached;
    if (random() % 2 == 0 || only_what_it_knows) attached.emplace();
    Shared shared;
    for (int i = 0; i < static_cast<int>(arenas); ++i) shared.arenas.emplace_back(1 + i % 3);
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, 1 + random() % 6);
    const bool suspends = random() % 2 == 0 && !only_what_it_knows;
    std::vector<std::thread> threads;
    std::deque<Node> nodes;
    for (std::size_t i = 0; i < 1 + random() % 3; ++i) nodes.emplace_back(random, 4, suspends);
    for (const Node& node : nodes) {
        threads.emplace_back([&] {
            std::atomic<int> done{0};
            node.run(shared, done);
            EQUAL(done, node.leaves());
        });
    }
    for (std::thread& thread : threads) thread.join();
}

}   // namespace

int main(int count, char** arguments) {
    const double seconds = count > 1 ? std::atof(arguments[1]) : 1;
    unsigned seed = count > 2 ? static_cast<unsigned>(std::atoi(arguments[2])) : 1;
    for (int i = 3; i < count; ++i) products.emplace_back(arguments[i]);
    if (wrong_count != 0) return verdict();
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    do {
        compose(seed);
        if (wrong_count != 0) std::fprintf(stderr, "seed %u\n", seed);
        ++seed;
    } while (wrong_count == 0 && std::chrono::steady_clock::now() < end);
    std::printf("%u programs\n", seed - 1);
    return verdict();
}
