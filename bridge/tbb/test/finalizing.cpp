// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TBB is finalized, which ends its workers, and used again; where it cannot be, the program is told
// so.
#include <oneapi/tbb.h>

#include <thread>
#include <vector>

#include "check.hpp"

namespace {

long sum_of(int count) {
    std::atomic<long> sum{0};
    tbb::parallel_for(
        0, count,
        [&](int i) {
            sum += i;
            if (i % 16 == 0) std::this_thread::yield();
        },
        tbb::simple_partitioner());
    return sum;
}

void again_and_again() {
    for (int round = 0; round < 30; ++round) {
        tbb::task_scheduler_handle handle{tbb::attach()};
        EQUAL(sum_of(200), 19900);
        if (round % 3 == 0) {
            tbb::task_arena arena(1 + round % 4);
            arena.execute([] { EQUAL(sum_of(100), 4950); });
        }
        CHECK(tbb::finalize(handle, std::nothrow));
    }
}

// In each round the workers' thread_local objects are destroyed when finalize returns.
void waits_for_workers() {
    for (int round = 0; round < 10; ++round) {
        tbb::task_scheduler_handle handle{tbb::attach()};
        make_objects_of_threads();
        CHECK(tbb::finalize(handle, std::nothrow));
        EQUAL(OfThread::made, OfThread::destroyed);
    }
}

// The last of several handles finalizes.
void several_handles() {
    tbb::task_scheduler_handle first{tbb::attach()}, second{tbb::attach()}, empty;
    EQUAL(sum_of(100), 4950);
    CHECK(!tbb::finalize(first, std::nothrow));
    CHECK(!first && second && !empty);
    EQUAL(sum_of(100), 4950);
    CHECK(tbb::finalize(second, std::nothrow));
    EQUAL(sum_of(100), 4950);
    tbb::task_scheduler_handle released{tbb::attach()};
    released.release();
    CHECK(!released);
}

// Refused within a task, and where another thread is inside; TBB can be used afterwards.
void refused() {
    for (int round = 0; round < 5; ++round) {
        tbb::task_scheduler_handle handle{tbb::attach()};
        std::atomic<int> refusals{0};
        tbb::parallel_for(0, 8, [&](int) {
            tbb::task_scheduler_handle inner{tbb::attach()};
            refusals += !tbb::finalize(inner, std::nothrow);
        });
        EQUAL(refusals, 8);
        EQUAL(sum_of(100), 4950);
        CHECK(tbb::finalize(handle, std::nothrow));
    }
    int caught = 0;
    tbb::parallel_for(0, 1, [&](int) {
        tbb::task_scheduler_handle inner{tbb::attach()};
        try {
            tbb::finalize(inner);
        } catch (const tbb::unsafe_wait&) {
            ++caught;
        }
    });
    EQUAL(caught, 1);
    tbb::task_arena arena(2);
    arena.initialize();
    tbb::task_scheduler_handle handle{tbb::attach()};
    EQUAL(sum_of(100), 4950);
    CHECK(!tbb::finalize(handle, std::nothrow));   // an arena is left
    arena.terminate();
    EQUAL(sum_of(100), 4950);
}

// Threads that have used TBB and ended do not prevent it.
void after_threads() {
    for (int round = 0; round < 5; ++round) {
        tbb::task_scheduler_handle handle{tbb::attach()};
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) threads.emplace_back([] { EQUAL(sum_of(50), 1225); });
        for (std::thread& thread : threads) thread.join();
        CHECK(tbb::finalize(handle, std::nothrow));
    }
}

// By a thread that has run no task, whose workers another thread has had.
void by_another_thread() {
    for (int round = 0; round < 5; ++round) {
        std::thread([] { EQUAL(sum_of(50), 1225); }).join();
        std::thread([] {
            tbb::task_scheduler_handle handle{tbb::attach()};
            CHECK(tbb::finalize(handle, std::nothrow));
        }).join();
    }
}

}   // namespace

int main() {
    waits_for_workers();
    again_and_again();
    several_handles();
    refused();
    after_threads();
    by_another_thread();
    return verdict();
}
