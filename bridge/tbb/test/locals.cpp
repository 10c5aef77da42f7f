// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What belongs to a thread: TBB's containers with an element for each, the language's thread_local
// objects, errno, and pthread keys, across yields and waits.
#include <oneapi/tbb.h>
#include <pthread.h>

#include <cerrno>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

void elements() {
    for (int round = 0; round < 5; ++round) {
        tbb::enumerable_thread_specific<std::pair<std::thread::id, long>> sums(
            [] { return std::pair(std::this_thread::get_id(), 0L); });
        std::atomic<int> foreign{0};
        tbb::parallel_for(0, 1000, [&](int i) {
            auto& mine = sums.local();
            foreign += mine.first != std::this_thread::get_id();
            mine.second += i;
        });
        EQUAL(foreign, 0);
        std::set<std::thread::id> threads;
        long sum = 0;
        for (const auto& [thread, part] : sums) threads.insert(thread), sum += part;
        EQUAL(sum, 499500);
        EQUAL(threads.size(), sums.size());
        CHECK(sums.size() >= 1);
    }
    tbb::combinable<long> parts([] { return 0L; });
    tbb::parallel_for(0, 1000, [&](int i) { parts.local() += i; });
    EQUAL(parts.combine([](long a, long b) { return a + b; }), 499500);
}

void keyed_elements() {
    tbb::enumerable_thread_specific<long, tbb::cache_aligned_allocator<long>, tbb::ets_key_per_instance> sums(0);
    tbb::parallel_for(0, 1000, [&](int i) { sums.local() += i; });
    EQUAL(sums.combine([](long a, long b) { return a + b; }), 499500);
}

thread_local std::string own;
thread_local int depth = 0;

// Where threads yield to each other, each finds what it has left.
void across_yields() {
    std::atomic<int> wrong{0};
    pthread_key_t key;
    EQUAL(pthread_key_create(&key, nullptr), 0);
    static int places[200];
    with_threads(4, [&] {
        tbb::parallel_for(
            0, 200,
            [&](int i) {
                own = "body " + std::to_string(i);
                pthread_setspecific(key, &places[i]);
                errno = 1000 + i;
                for (int j = 0; j < 5; ++j) std::this_thread::yield();
                wrong += errno != 1000 + i;
                wrong += own != "body " + std::to_string(i);
                wrong += pthread_getspecific(key) != &places[i];
            },
            tbb::simple_partitioner());
    });
    EQUAL(wrong, 0);
    pthread_key_delete(key);
}

// A wait ends in the thread that began it, and nothing from outside runs meanwhile where it is
// isolated.
void across_waits() {
    std::atomic<int> wrong{0};
    with_threads(4, [&] {
        tbb::parallel_for(
            0, 50,
            [&](int i) {
                const std::thread::id me = std::this_thread::get_id();
                const pthread_t self = pthread_self();
                const int* const error = &errno;
                wrong += depth != 0;
                ++depth;
                own = "outer " + std::to_string(i);
                tbb::this_task_arena::isolate([&] {
                    tbb::parallel_for(
                        0, 20, [](int) { std::this_thread::yield(); }, tbb::simple_partitioner());
                });
                wrong += own != "outer " + std::to_string(i);
                --depth;
                wrong += me != std::this_thread::get_id() || pthread_equal(self, pthread_self()) == 0;
                wrong += error != &errno;
            },
            tbb::simple_partitioner());
    });
    EQUAL(wrong, 0);
}

// Objects of threads, workers or not, are destroyed, workers' at the latest when TBB is finalized.
void destroyed() {
    tbb::task_scheduler_handle handle{tbb::attach()};
    make_objects_of_threads();
    CHECK(tbb::finalize(handle, std::nothrow));
    CHECK(OfThread::made >= 1);
    EQUAL(OfThread::made, OfThread::destroyed);
}

}   // namespace

int main() {
    with_threads(1, elements);
    with_threads(4, elements);
    with_threads(4, keyed_elements);
    across_yields();
    across_waits();
    destroyed();
    return verdict();
}
