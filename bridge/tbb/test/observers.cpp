// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Observers: each thread that runs tasks has been told to an observer before, and is told again
// when it leaves, as often as it came.
#include <oneapi/tbb.h>

#include <thread>
#include <vector>

#include "check.hpp"

namespace {

class Counting final : public tbb::task_scheduler_observer {
public:
    Counting() { observe(true); }
    explicit Counting(tbb::task_arena& arena) : tbb::task_scheduler_observer(arena) { observe(true); }
    ~Counting() override { observe(false); }

    void on_scheduler_entry(bool is_worker) override {
        ++(is_worker ? workers_came : threads_came);
        ++depth;
    }
    void on_scheduler_exit(bool is_worker) override {
        ++(is_worker ? workers_went : threads_went);
        CHECK(depth > 0);
        --depth;
    }

    // Whether this observer knows of the thread, which is inside at the time.
    static thread_local int depth;
    std::atomic<int> workers_came{0}, workers_went{0}, threads_came{0}, threads_went{0};
};
thread_local int Counting::depth = 0;

// All workers have left then.
void end(tbb::task_scheduler_handle& handle) { CHECK(tbb::finalize(handle, std::nothrow)); }

// Of the arena that this thread has where it is in no other; finalizing ends that one.
void of_a_thread() {
    for (int round = 0; round < 5; ++round) {
        tbb::task_scheduler_handle handle{tbb::attach()};
        Counting counting;
        std::atomic<int> unknown{0};
        tbb::parallel_for(0, 200, [&](int) { unknown += Counting::depth == 0; });
        EQUAL(unknown, 0);
        end(handle);
        EQUAL(counting.workers_came, counting.workers_went);
        EQUAL(counting.threads_came, 1);
        EQUAL(counting.threads_went, 1);
    }
}

void of_an_arena() {
    tbb::task_scheduler_handle handle{tbb::attach()};
    tbb::task_arena arena(3), other(3);
    Counting counting(arena);
    std::atomic<int> unknown{0}, known{0};
    for (int round = 0; round < 10; ++round) {
        arena.execute([&] { tbb::parallel_for(0, 50, [&](int) { unknown += Counting::depth == 0; }); });
        EQUAL(counting.threads_came, round + 1);
        EQUAL(counting.threads_went, round + 1);
        other.execute([&] { tbb::parallel_for(0, 50, [&](int) { known += Counting::depth != 0; }); });
    }
    EQUAL(unknown, 0);
    EQUAL(known, 0);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back(
            [&] { arena.execute([&] { tbb::parallel_for(0, 50, [&](int) { unknown += Counting::depth == 0; }); }); });
    }
    for (std::thread& thread : threads) thread.join();
    EQUAL(unknown, 0);
    EQUAL(counting.threads_came, counting.threads_went);
    arena.terminate();
    other.terminate();
    end(handle);
    EQUAL(counting.workers_came, counting.workers_went);
}

// After observe(false) no more calls come, also where threads are inside.
void stopped() {
    tbb::task_arena arena(4);
    for (int round = 0; round < 20; ++round) {
        Counting::depth = 0;
        Counting counting(arena);
        arena.execute([&] {
            tbb::parallel_for(0, 20, [&](int) {});
            counting.observe(false);
            const int came = counting.threads_came + counting.workers_came;
            tbb::parallel_for(0, 20, [&](int) {});
            EQUAL(came, counting.threads_came + counting.workers_came);
            EQUAL(counting.threads_went, 0);
        });
    }
    Counting::depth = 0;
}

}   // namespace

int main() {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, 4);
    of_a_thread();
    of_an_arena();
    stopped();
    return verdict();
}
