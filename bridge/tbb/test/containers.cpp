// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Containers and locks that tasks use at once: no element is lost, none comes twice, and what a
// lock guards is whole.
#define TBB_PREVIEW_MUTEXES 1
#include <oneapi/tbb.h>
#include <oneapi/tbb/mutex.h>
#include <oneapi/tbb/rw_mutex.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

constexpr int count = 1000;

void vectors() {
    tbb::concurrent_vector<int> values;
    tbb::parallel_for(0, count, [&](int i) { values.push_back(i); });
    tbb::parallel_for(0, 10, [&](int) { values.grow_by(10, -1); });
    EQUAL(values.size(), count + 100);
    std::vector<int> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    EQUAL(sorted[99], -1);
    for (int i = 0; i < count; ++i) EQUAL(sorted[static_cast<std::size_t>(i) + 100], i);
}

void maps() {
    tbb::concurrent_hash_map<int, int> counts;
    tbb::parallel_for(0, count, [&](int i) {
        tbb::concurrent_hash_map<int, int>::accessor place;
        counts.insert(place, i % 10);
        ++place->second;   // the element is locked meanwhile
        if (i % 100 == 0) std::this_thread::yield();
    });
    EQUAL(counts.size(), 10);
    for (const auto& [key, value] : counts) EQUAL(value, count / 10);
    tbb::concurrent_unordered_map<std::string, int> words;
    tbb::concurrent_map<int, int> ordered;
    std::atomic<int> inserted{0};
    tbb::parallel_for(0, count, [&](int i) {
        inserted += words.emplace("word " + std::to_string(i % 50), i).second;
        ordered.emplace(i, i);
    });
    EQUAL(inserted, 50);
    EQUAL(ordered.size(), count);
    CHECK(std::is_sorted(ordered.begin(), ordered.end()));
}

// As many are taken as put; a queue without limit never makes a task wait.
void queues() {
    tbb::concurrent_queue<int> queue;
    tbb::concurrent_priority_queue<int> by_priority;
    std::atomic<long> sum{0};
    std::atomic<int> taken{0};
    tbb::parallel_for(0, count, [&](int i) {
        queue.push(i);
        by_priority.push(i);
        int got = 0;
        if (queue.try_pop(got)) sum += got, ++taken;
    });
    int got = 0;
    while (queue.try_pop(got)) sum += got, ++taken;
    EQUAL(taken, count);
    EQUAL(sum, count * (count - 1L) / 2);
    for (int i = count - 1; i >= 0; --i) CHECK(by_priority.try_pop(got) && got == i);
    CHECK(!by_priority.try_pop(got));
}

// Tasks wait for what threads outside put into the queue, and the threads for room.
void bounded_queues() {
    tbb::concurrent_bounded_queue<int> numbers, doubled;
    numbers.set_capacity(3);
    doubled.set_capacity(3);
    std::thread producer([&] {
        for (int i = 0; i < 200; ++i) numbers.push(i);
    });
    long sum = 0;
    std::thread consumer([&] {
        for (int i = 0; i < 200; ++i) {
            int value = 0;
            doubled.pop(value);
            sum += value;
        }
    });
    tbb::parallel_for(
        0, 200,
        [&](int) {
            int value = 0;
            numbers.pop(value);
            doubled.push(2 * value);
        },
        tbb::simple_partitioner());
    producer.join();
    consumer.join();
    EQUAL(sum, 199 * 200);
    // a pop that is ended
    std::atomic<int> aborted{0};
    tbb::task_group group;
    std::thread waits([&] {
        try {
            int value = 0;
            numbers.pop(value);
        } catch (const tbb::user_abort&) {
            ++aborted;
        }
    });
    while (numbers.size() >= 0) std::this_thread::yield();   // until it waits
    numbers.abort();
    waits.join();
    EQUAL(aborted, 1);
}

// Both values change together under the lock, whose holder lets others run now and then.
template <class Mutex>
void lock() {
    Mutex mutex;
    int first = 0, second = 0;
    std::atomic<int> tried{0};
    tbb::parallel_for(
        0, 400,
        [&](int i) {
            typename Mutex::scoped_lock held;
            if (i % 8 != 0) held.acquire(mutex);
            else if (!held.try_acquire(mutex)) return;
            else ++tried;
            CHECK(first == second);
            ++first;
            if (i % 50 == 0) std::this_thread::yield();
            ++second;
        },
        tbb::simple_partitioner());
    EQUAL(first, second);
    EQUAL(first, 350 + tried);
}

template <class Mutex>
void read_and_write() {
    Mutex mutex;
    int first = 0, second = 0;
    std::atomic<int> written{0};
    tbb::parallel_for(
        0, 400,
        [&](int i) {
            typename Mutex::scoped_lock held(mutex, i % 4 == 0);
            CHECK(first == second);
            if (i % 50 == 0) std::this_thread::yield();
            if (i % 4 == 1) {
                held.upgrade_to_writer();
                CHECK(first == second);
            }
            if (i % 4 <= 1) {
                ++first;
                ++second;
                ++written;
                held.downgrade_to_reader();
                CHECK(first == second);
            }
        },
        tbb::simple_partitioner());
    EQUAL(written, 200);
    EQUAL(first, 200);
    EQUAL(second, 200);
}

// The language's locks, also around nested loops that are kept to themselves.
void language_locks() {
    std::mutex mutex;
    int value = 0;
    std::atomic<int> inner{0};
    tbb::parallel_for(
        0, 50,
        [&](int) {
            const std::lock_guard held(mutex);
            ++value;
            tbb::this_task_arena::isolate([&] { tbb::parallel_for(0, 10, [&](int) { ++inner; }); });
        },
        tbb::simple_partitioner());
    EQUAL(value, 50);
    EQUAL(inner, 500);
    std::once_flag flag;
    tbb::collaborative_once_flag collaborative;
    std::atomic<int> once{0};
    tbb::parallel_for(0, 50, [&](int) {
        std::call_once(flag, [&] { ++once; });
        tbb::collaborative_call_once(collaborative, [&] { tbb::parallel_for(0, 10, [&](int) { ++once; }); });
    });
    EQUAL(once, 11);
}

void all() {
    vectors();
    maps();
    queues();
    bounded_queues();
    lock<tbb::spin_mutex>();
    lock<tbb::queuing_mutex>();
    lock<tbb::mutex>();
    lock<tbb::speculative_spin_mutex>();
    lock<tbb::spin_rw_mutex>();
    lock<tbb::rw_mutex>();
    read_and_write<tbb::spin_rw_mutex>();
    read_and_write<tbb::queuing_rw_mutex>();
    read_and_write<tbb::rw_mutex>();
    language_locks();
}

}   // namespace

int main() {
    all();
    for (const int threads : {1, 4}) with_threads(threads, all);
    return verdict();
}
