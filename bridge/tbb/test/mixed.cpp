// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TBB and OpenMP in one program, each within the other: to be compiled with OpenMP.
#include <omp.h>
#include <oneapi/tbb.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

// As OpenMP alone, as TBB alone, and one in the other: each is the sum of the numbers below count.
long by_region(int count, int threads) {
    long sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum) schedule(dynamic, 3)
    for (int i = 0; i < count; ++i) sum += i;
    return sum;
}

void regions_in_tasks() {
    for (const int threads : {1, 2, 4, 8}) {
        std::atomic<int> wrong{0};
        tbb::parallel_for(
            0, 40, [&](int i) { wrong += by_region(100 + i, threads) != (100L + i) * (99 + i) / 2; },
            tbb::simple_partitioner());
        EQUAL(wrong, 0);
    }
}

void loops_in_regions() {
    for (const int threads : {1, 2, 4, 8}) {
        int wrong = 0;
#pragma omp parallel num_threads(threads) reduction(+ : wrong)
        for (int i = 0; i < 10; ++i) wrong += reduced_sum(200 + i) != (200L + i) * (199 + i) / 2;
        EQUAL(wrong, 0);
    }
}

// TBB in OpenMP in TBB, and the other way round.
void three_levels() {
    std::atomic<int> right{0};
    tbb::parallel_for(
        0, 8,
        [&](int) {
#pragma omp parallel for num_threads(3) schedule(dynamic)
            for (int i = 0; i < 6; ++i) right += reduced_sum(100) == 4950;
        },
        tbb::simple_partitioner());
    EQUAL(right, 48);
    right = 0;
#pragma omp parallel num_threads(3)
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 8; ++i)
        tbb::parallel_for(
            0, 6, [&](int) { right += by_region(100, 2) == 4950; }, tbb::simple_partitioner());
    EQUAL(right, 48);
}

// Each team has more members than there may be harts, and all of them wait for each other.
void barriers_in_tasks() {
    std::atomic<int> wrong{0}, members{0};
    tbb::parallel_for(
        0, 8,
        [&](int) {
            int arrived = 0, own_wrong = 0;
#pragma omp parallel num_threads(8) reduction(+ : own_wrong)
            for (int step = 1; step <= 10; ++step) {
#pragma omp atomic
                ++arrived;
#pragma omp barrier
                int seen;
#pragma omp atomic read
                seen = arrived;
                own_wrong += seen != step * omp_get_num_threads();
#pragma omp barrier
#pragma omp single
                ++members;
            }
            wrong += own_wrong;
        },
        tbb::simple_partitioner());
    EQUAL(wrong, 0);
    EQUAL(members, 80);
}

// A loop of TBB's by each member between barriers of the team.
void loops_between_barriers() {
    long wrong = 0;
#pragma omp parallel num_threads(6) reduction(+ : wrong)
    for (int step = 0; step < 10; ++step) {
        wrong += reduced_sum(100 + step) != (100L + step) * (99 + step) / 2;
#pragma omp barrier
#pragma omp master
        wrong += reduced_sum(50) != 1225;
#pragma omp barrier
    }
    EQUAL(wrong, 0);
}

// A lock held across the other library's parallelism, for which all bodies wait.
void locks_across() {
    std::mutex mutex;
    int value = 0;
    std::atomic<int> wrong{0};
    tbb::parallel_for(
        0, 30,
        [&](int) {
            const std::lock_guard held(mutex);
            ++value;
            wrong += by_region(100, 4) != 4950;
        },
        tbb::simple_partitioner());
    EQUAL(value, 30);
#pragma omp parallel num_threads(4)
    for (int i = 0; i < 10; ++i) {
        const std::lock_guard held(mutex);
        ++value;
        // the waiting thread must not take another body here, which would lock again
        tbb::this_task_arena::isolate([&] { wrong += reduced_sum(100) != 4950; });
    }
    CHECK(value >= 40);
    EQUAL(wrong, 0);
}

// OpenMP's tasks with loops of TBB's, and TBB's with OpenMP's.
void tasks_in_tasks() {
    std::atomic<int> right{0};
#pragma omp parallel num_threads(4)
#pragma omp single
    for (int i = 0; i < 20; ++i) {
#pragma omp task
        right += reduced_sum(100) == 4950;
    }
    EQUAL(right, 20);
    right = 0;
    tbb::task_group group;
    for (int i = 0; i < 20; ++i) {
        group.run([&] {
#pragma omp parallel num_threads(3)
#pragma omp single
            for (int j = 0; j < 5; ++j) {
#pragma omp task
                ++right;
            }
        });
    }
    group.wait();
    EQUAL(right, 100);
}

// What is thrown in a member is caught there, in a task comes out of the loop.
void exceptions() {
    std::atomic<int> caught{0};
    int outside = 0;
#pragma omp parallel num_threads(4)
    {
        try {
            tbb::parallel_for(0, 20, [](int i) {
                if (i == 7) throw std::runtime_error("loop");
            });
        } catch (const std::runtime_error&) {
            ++caught;
        }
    }
    CHECK(caught >= 1 && caught <= 4);
    try {
        tbb::parallel_for(0, 20, [](int i) {
            if (by_region(100, 3) != 4950 || i == 7) throw i;
        });
    } catch (int value) {
        outside = value;
    }
    EQUAL(outside, 7);
}

// Threads that are neither's, each with regions and loops.
void foreign_threads() {
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&, i] {
            for (int round = 0; round < 5; ++round) {
                wrong += by_region(100 + i, 4) != (100L + i) * (99 + i) / 2;
                wrong += reduced_sum(100 + i) != (100L + i) * (99 + i) / 2;
                tbb::parallel_for(0, 4, [&](int) { wrong += by_region(50, 3) != 1225; });
#pragma omp parallel num_threads(3)
                wrong += reduced_sum(50) != 1225;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EQUAL(wrong, 0);
}

void all() {
    regions_in_tasks();
    loops_in_regions();
    three_levels();
    barriers_in_tasks();
    loops_between_barriers();
    locks_across();
    tasks_in_tasks();
    exceptions();
    foreign_threads();
}

}   // namespace

int main() {
    all();
    omp_set_max_active_levels(4);
    with_threads(4, all);
    return verdict();
}
