// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arenas: each bounds how many threads are inside, gives each an index of its own meanwhile, and
// runs what is brought to it, whichever thread brings it.
#include <oneapi/tbb.h>

#include <deque>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

// A body notes itself under its thread's index. No other thread may be there.
class Slots {
public:
    explicit Slots(int limit) : limit_(limit), taken_(static_cast<std::size_t>(limit)) {}

    void be_inside() {
        const int index = tbb::this_task_arena::current_thread_index();
        CHECK(index >= 0 && index < limit_);
        if (index < 0 || index >= limit_) return;
        std::atomic<int>& mine = taken_[static_cast<std::size_t>(index)];
        EQUAL(mine.exchange(1), 0);
        const int now = ++inside_;
        CHECK(now <= limit_);
        for (int i = 0; i < 3; ++i) {
            std::this_thread::yield();
            EQUAL(tbb::this_task_arena::current_thread_index(), index);
        }
        --inside_;
        mine = 0;
    }

private:
    const int limit_;
    std::vector<std::atomic<int>> taken_;
    std::atomic<int> inside_{0};
};

void limits() {
    for (const int limit : {1, 2, 3, 8}) {
        tbb::task_arena arena(limit);
        EQUAL(arena.max_concurrency(), limit);
        Slots slots(limit);
        arena.execute([&] {
            EQUAL(tbb::this_task_arena::max_concurrency(), limit);
            tbb::parallel_for(
                0, 100, [&](int) { slots.be_inside(); }, tbb::simple_partitioner());
        });
    }
}

void several_at_once() {
    constexpr int arenas = 4;
    std::vector<tbb::task_arena> all;
    std::deque<Slots> slots;
    std::vector<std::thread> threads;
    std::atomic<int> done{0};
    for (int i = 0; i < arenas; ++i) {
        all.emplace_back(i + 1);
        slots.emplace_back(i + 1);
    }
    for (int i = 0; i < arenas; ++i) {
        threads.emplace_back([&, i] {
            for (int round = 0; round < 10; ++round) {
                all[static_cast<std::size_t>(i)].execute([&] {
                    tbb::parallel_for(0, 30, [&](int) {
                        slots[static_cast<std::size_t>(i)].be_inside();
                        ++done;
                    });
                });
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EQUAL(done, arenas * 10 * 30);
}

// More threads than the arena has slots: those that find none leave their work to others.
void many_in_one() {
    tbb::task_arena arena(2);
    Slots slots(2);
    std::atomic<int> sum{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&, i] {
            for (int round = 0; round < 10; ++round) {
                EQUAL(arena.execute([&] {
                    slots.be_inside();
                    tbb::parallel_for(0, 10, [&](int j) { sum += j; });
                    return i * 100 + round;
                }),
                      i * 100 + round);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EQUAL(sum, 8 * 10 * 45);
}

void reserved() {
    tbb::task_arena for_workers(2, 0);
    std::promise<int> index;
    for_workers.enqueue([&] { index.set_value(tbb::this_task_arena::current_thread_index()); });
    const int got = index.get_future().get();
    CHECK(got == 0 || got == 1);
    tbb::task_arena for_threads(3, 3);
    std::atomic<int> count{0}, indices{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
            for_threads.execute([&] {
                ++count;
                while (count < 3) std::this_thread::yield();   // all are inside at once
                indices |= 1 << tbb::this_task_arena::current_thread_index();
                tbb::parallel_for(0, 20, [](int) {});
            });
        });
    }
    for (std::thread& thread : threads) thread.join();
    EQUAL(indices, 7);
}

// What is enqueued runs although no thread waits in the arena.
void enqueued() {
    for (const auto priority :
         {tbb::task_arena::priority::low, tbb::task_arena::priority::normal, tbb::task_arena::priority::high}) {
        tbb::task_arena arena(2, 1, priority);
        std::atomic<int> done{0};
        std::promise<void> all_done;
        for (int i = 0; i < 100; ++i) {
            arena.enqueue([&] {
                if (++done == 100) all_done.set_value();
            });
        }
        all_done.get_future().wait();
        EQUAL(done, 100);
    }
    std::promise<int> value;
    tbb::this_task_arena::enqueue([&] { value.set_value(3); });
    EQUAL(value.get_future().get(), 3);
    // an arena of one slot, which this thread could have, still gets a worker
    tbb::task_arena alone(1);
    std::promise<int> other;
    alone.enqueue([&] { other.set_value(4); });
    EQUAL(other.get_future().get(), 4);
}

// Arenas within arenas, and back in the first.
void nested() {
    tbb::task_arena outer(3), inner(2);
    std::atomic<int> sum{0};
    outer.execute([&] {
        tbb::parallel_for(0, 10, [&](int) {
            const int index = tbb::this_task_arena::current_thread_index();
            inner.execute([&] {
                EQUAL(tbb::this_task_arena::max_concurrency(), 2);
                tbb::parallel_for(0, 10, [&](int) { ++sum; });
                outer.execute([&] { tbb::parallel_for(0, 2, [&](int) { ++sum; }); });
            });
            EQUAL(tbb::this_task_arena::max_concurrency(), 3);
            EQUAL(tbb::this_task_arena::current_thread_index(), index);
        });
    });
    EQUAL(sum, 10 * (10 + 2));
}

// While a thread waits in isolation it runs nothing from outside.
void isolation() {
    for (int round = 0; round < 5; ++round) {
        tbb::enumerable_thread_specific<int> depth(0);
        std::atomic<int> foreign{0}, inner{0};
        tbb::parallel_for(
            0, 30,
            [&](int) {
                int& mine = depth.local();
                foreign += mine != 0;
                ++mine;
                tbb::this_task_arena::isolate([&] {
                    tbb::parallel_for(
                        0, 20, [&](int) { ++inner; }, tbb::simple_partitioner());
                });
                --mine;
            },
            tbb::simple_partitioner());
        EQUAL(foreign, 0);
        EQUAL(inner, 600);
    }
}

void values_and_exceptions() {
    tbb::task_arena arena(2);
    EQUAL(arena.execute([] { return std::vector<int>(7, 1); }).size(), 7);
    int caught = 0;
    std::vector<std::thread> threads;
    std::atomic<int> all_caught{0};
    try {
        arena.execute([]() -> int { throw std::runtime_error("inside"); });
    } catch (const std::runtime_error&) {
        ++caught;
    }
    for (int i = 0; i < 6; ++i) {
        threads.emplace_back([&, i] {
            try {
                arena.execute([i] { tbb::parallel_for(0, 10, [i](int) { throw i; }); });
            } catch (int value) {
                all_caught += value == i;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EQUAL(caught, 1);
    EQUAL(all_caught, 6);
}

void lives() {
    std::atomic<int> sum{0};
    tbb::task_arena arena;
    for (int i = 0; i < 100; ++i) {
        CHECK(!arena.is_active());
        arena.initialize(1 + i % 4);
        CHECK(arena.is_active());
        arena.execute([&] { tbb::parallel_for(0, 10, [&](int) { ++sum; }); });
        arena.terminate();
    }
    EQUAL(sum, 1000);
    tbb::task_arena constrained(tbb::task_arena::constraints{}.set_max_concurrency(2));
    EQUAL(constrained.max_concurrency(), 2);
    constrained.execute([&] { tbb::parallel_for(0, 10, [&](int) { ++sum; }); });
    for (const tbb::numa_node_id node : tbb::info::numa_nodes()) {
        tbb::task_arena there{tbb::task_arena::constraints(node)};
        there.execute([&] { tbb::parallel_for(0, 10, [&](int) { ++sum; }); });
        sum -= 10;
    }
    EQUAL(sum, 1010);
    arena.initialize(3);
    arena.execute([&] {
        tbb::task_arena here{tbb::attach()};   // the one that this thread is in
        EQUAL(here.max_concurrency(), 3);
        here.execute([&] { ++sum; });
    });
    EQUAL(sum, 1011);
    EQUAL(tbb::this_task_arena::max_concurrency(), tbb::info::default_concurrency());
}

}   // namespace

int main() {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, 8);
    EQUAL(tbb::this_task_arena::current_thread_index(), tbb::task_arena::not_initialized);   // no TBB so far
    limits();
    several_at_once();
    many_in_one();
    reserved();
    enqueued();
    nested();
    isolation();
    values_and_exceptions();
    lives();
    return verdict();
}
