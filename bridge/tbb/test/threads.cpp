// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several threads of the program use TBB at once, also threads that tasks start.
#include <oneapi/tbb.h>
#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

void use(int seed) {
    EQUAL(reduced_sum(1000 + seed), (1000L + seed) * (999 + seed) / 2);
    std::vector<int> values(2000);
    std::iota(values.rbegin(), values.rend(), seed);
    tbb::parallel_sort(values);
    CHECK(std::is_sorted(values.begin(), values.end()));
    tbb::task_group group;
    std::atomic<int> count{0};
    for (int i = 0; i < 20; ++i) group.run([&] { tbb::parallel_for(0, 10, [&](int) { ++count; }); });
    group.wait();
    EQUAL(count, 200);
}

void all_at_once() {
    for (int round = 0; round < 3; ++round) {
        std::vector<std::thread> threads;
        for (int i = 0; i < 8; ++i) {
            threads.emplace_back([i] {
                for (int again = 0; again < 5; ++again) use(i);
            });
        }
        use(9);
        for (std::thread& thread : threads) thread.join();
    }
}

// Short lives.
void one_by_one() {
    for (int i = 0; i < 50; ++i) std::thread([] { EQUAL(reduced_sum(100), 4950); }).join();
}

void started_by_tasks() {
    std::atomic<int> right{0};
    with_threads(3, [&] {
        tbb::parallel_for(
            0, 10,
            [&](int) {
                std::thread([&] { right += reduced_sum(200) == 19900; }).join();
                right += std::async(std::launch::async, [] { return reduced_sum(300); }).get() == 44850;
            },
            tbb::simple_partitioner());
    });
    EQUAL(right, 20);
}

// Bodies wait for threads outside, which wait for the bodies in their turn.
void hand_in_hand() {
    std::mutex mutex;
    std::condition_variable changed;
    int asked = 0, answered = 0;
    std::thread answers([&] {
        std::unique_lock held(mutex);
        for (int i = 0; i < 100; ++i) {
            changed.wait(held, [&] { return asked > answered; });
            ++answered;
            changed.notify_all();
        }
    });
    tbb::parallel_for(
        0, 100,
        [&](int) {
            std::unique_lock held(mutex);
            const int mine = ++asked;
            changed.notify_all();
            changed.wait(held, [&] { return answered >= mine; });
        },
        tbb::simple_partitioner());
    answers.join();
    EQUAL(asked, 100);
    EQUAL(answered, 100);
}

// A thread that ends by pthread_exit, and one that is cancelled where no task is.
void other_ends() {
    pthread_t thread;
    EQUAL(pthread_create(
              &thread, nullptr,
              [](void*) -> void* {
                  EQUAL(reduced_sum(100), 4950);
                  pthread_exit(nullptr);
              },
              nullptr),
          0);
    EQUAL(pthread_join(thread, nullptr), 0);
    static std::atomic<bool> waits{false};
    EQUAL(pthread_create(
              &thread, nullptr,
              [](void*) -> void* {
                  EQUAL(reduced_sum(100), 4950);
                  waits = true;
                  for (;;) pause();
              },
              nullptr),
          0);
    while (!waits) std::this_thread::yield();   // not within TBB
    EQUAL(pthread_cancel(thread), 0);
    void* result = nullptr;
    EQUAL(pthread_join(thread, &result), 0);
    CHECK(result == PTHREAD_CANCELED);
    EQUAL(reduced_sum(100), 4950);
}

// TBB in the destructor of a thread's object.
void in_destructors() {
    static std::atomic<long> sum;
    struct AtEnd {
        bool wanted = false;
        ~AtEnd() {
            if (wanted) sum += reduced_sum(100);
        }
    };
    for (int i = 0; i < 10; ++i) {
        std::thread([] {
            static thread_local AtEnd at_end;
            at_end.wanted = true;
            sum += reduced_sum(10);
        }).join();
    }
    EQUAL(sum, 10 * (4950 + 45));
}

}   // namespace

int main() {
    all_at_once();
    one_by_one();
    started_by_tasks();
    hand_in_hand();
    other_ends();
    in_destructors();
    return verdict();
}
