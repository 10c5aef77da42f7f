// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program of the suite checks what a facility of TBB means, with Weft or without. It prints what
// was wrong, and then exits with 1.
#pragma once

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/task_arena.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <thread>

inline std::atomic<int> wrong_count{0};

inline void check(bool holds, const char* file, int line, const char* text) {
    if (holds) return;
    std::fprintf(stderr, "%s:%d: not so: %s\n", file, line, text);
    ++wrong_count;
}

inline void equal(long long a, long long b, const char* file, int line, const char* text_a, const char* text_b) {
    if (a == b) return;
    std::fprintf(stderr, "%s:%d: %s is %lld, %s is %lld\n", file, line, text_a, a, text_b, b);
    ++wrong_count;
}

#define CHECK(condition) check(static_cast<bool>(condition), __FILE__, __LINE__, #condition)
#define EQUAL(a, b) equal(static_cast<long long>(a), static_cast<long long>(b), __FILE__, __LINE__, #a, #b)

inline int verdict() { return wrong_count == 0 ? 0 : 1; }

// Runs that in an arena of so many threads, however many CPUs there are.
template <class Do>
void with_threads(int threads, Do act) {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    tbb::task_arena arena(threads);
    arena.execute(act);
}

// The sum of the numbers from 0 to count - 1.
inline long reduced_sum(int count) {
    return tbb::parallel_reduce(
        tbb::blocked_range<int>(0, count), 0L,
        [](const tbb::blocked_range<int>& range, long sum) {
            for (int i = range.begin(); i < range.end(); ++i) sum += i;
            return sum;
        },
        std::plus<long>());
}

// Lives as long as its thread.
struct OfThread {
    static inline std::atomic<int> made{0}, destroyed{0};
    OfThread() { ++made; }
    ~OfThread() { ++destroyed; }
    void touch() { touched = true; }
    bool touched = false;
};

// The threads that run the tasks of a thread that ends, that one and workers, have one each.
inline void make_objects_of_threads() {
    std::thread([] {
        with_threads(4, [] {
            tbb::parallel_for(
                0, 100,
                [](int) {
                    static thread_local OfThread mine;
                    mine.touch();
                    std::this_thread::yield();
                },
                tbb::simple_partitioner());
        });
    }).join();
}

// What waitpid says of a child that is forked here, does that, and ends with its own verdict,
// unless it ends by itself.
template <class Do>
int status_of_child(Do act) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        wrong_count = 0;
        act();
        _exit(verdict());
    }
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child) return -1;
    return status;
}
