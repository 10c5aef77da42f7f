// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// global_control: no more bodies run at once than a control allows, and threads have the stack that
// it asks for.
#include <oneapi/tbb.h>

#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

using tbb::global_control;

std::size_t active(global_control::parameter what) { return global_control::active_value(what); }

// The most bodies at once in loops of an arena that has room for more than are allowed.
int most_at_once() {
    tbb::task_arena arena(16);
    std::atomic<int> inside{0}, most{0};
    arena.execute([&] {
        for (int round = 0; round < 3; ++round) {
            tbb::parallel_for(
                0, 60,
                [&](int) {
                    const int now = ++inside;
                    int before = most;
                    while (before < now && !most.compare_exchange_weak(before, now)) {}
                    for (int i = 0; i < 5; ++i) std::this_thread::yield();
                    --inside;
                },
                tbb::simple_partitioner());
        }
    });
    return most;
}

void parallelism() {
    for (const std::size_t allowed : {1U, 2U, 3U, 6U, 2U, 1U}) {
        const global_control control(global_control::max_allowed_parallelism, allowed);
        EQUAL(active(global_control::max_allowed_parallelism), allowed);
        const int most = most_at_once();
        CHECK(most >= 1 && most <= static_cast<int>(allowed));
    }
}

// The strictest of several controls counts, whichever goes first.
void several() {
    auto first = std::make_unique<global_control>(global_control::max_allowed_parallelism, 4);
    auto second = std::make_unique<global_control>(global_control::max_allowed_parallelism, 2);
    auto third = std::make_unique<global_control>(global_control::max_allowed_parallelism, 3);
    EQUAL(active(global_control::max_allowed_parallelism), 2);
    CHECK(most_at_once() <= 2);
    second.reset();
    EQUAL(active(global_control::max_allowed_parallelism), 3);
    CHECK(most_at_once() <= 3);
    third.reset();
    EQUAL(active(global_control::max_allowed_parallelism), 4);
    CHECK(most_at_once() <= 4);
}

// With one thread allowed a loop is sequential, in this thread; what is enqueued still runs.
void alone() {
    const global_control control(global_control::max_allowed_parallelism, 1);
    const std::thread::id me = std::this_thread::get_id();
    int done = 0;
    tbb::parallel_for(0, 1000, [&](int) {
        CHECK(std::this_thread::get_id() == me);
        ++done;
    });
    EQUAL(done, 1000);
    tbb::task_arena arena(2);
    for (int round = 0; round < 10; ++round) {
        std::promise<std::thread::id> by;
        arena.enqueue([&] { by.set_value(std::this_thread::get_id()); });
        CHECK(by.get_future().get() != me);
    }
}

// Controls that come and go while other threads compute.
void changing() {
    std::atomic<bool> stop{false};
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
        threads.emplace_back([&] {
            while (!stop) {
                std::atomic<int> sum{0};
                tbb::parallel_for(0, 100, [&](int j) { sum += j; });
                wrong += sum != 4950;
            }
        });
    }
    for (std::size_t round = 0; round < 100; ++round) {
        const global_control control(global_control::max_allowed_parallelism, 1 + round % 5);
        std::atomic<int> sum{0};
        tbb::parallel_for(0, 100, [&](int j) { sum += j; });
        EQUAL(sum, 4950);
    }
    stop = true;
    for (std::thread& thread : threads) thread.join();
    EQUAL(wrong, 0);
}

// Each level takes a page and a bit of stack, and uses it before and after the deeper ones.
[[gnu::noinline]] long deep(int levels) {
    volatile char frame[5000];
    frame[0] = static_cast<char>(levels);
    frame[4999] = static_cast<char>(levels);
    const long below = levels == 0 ? 0 : deep(levels - 1);
    return below + (frame[0] == frame[4999]);
}

// In a worker, since the arena has slots for these alone.
void stacks() {
    const global_control control(global_control::thread_stack_size, 32U << 20);
    EQUAL(active(global_control::thread_stack_size), 32U << 20);
    const global_control threads(global_control::max_allowed_parallelism, 3);
    tbb::task_arena arena(2, 0);
    std::promise<long> levels;
    arena.enqueue([&] {
        std::atomic<long> sum{0};
        tbb::parallel_for(0, 2, [&](int) { sum += deep(2500); });   // 12 MB and more
        levels.set_value(sum + deep(5000));
    });
    EQUAL(levels.get_future().get(), 2 * 2501 + 5001);
}

}   // namespace

int main() {
    stacks();   // first: workers keep the stacks that they have
    parallelism();
    several();
    alone();
    changing();
    return verdict();
}
