// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenMP threads that wait for each other in the C library, on one CPU and without rescue, so that
// a wait that keeps its OS thread hangs. The test needs Weft's libgomp and this library preloaded,
// as in CMakeLists.txt; its argument is the number of threads.
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <thread>

namespace {

int wrong = 0;

void check(bool holds, const char* what) {
    if (holds) return;
    ++wrong;
    std::printf("wrong: %s\n", what);
}

void on_one_cpu() {
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof cpus, &cpus);
    int first = 0;
    while (!CPU_ISSET(first, &cpus)) ++first;
    CPU_ZERO(&cpus);
    CPU_SET(first, &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
}

void barriers(int threads) {
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, nullptr, static_cast<unsigned>(threads));
    std::atomic<int> arrived{0}, serial{0}, early{0};
    constexpr int rounds = 50;
#pragma omp parallel num_threads(threads)
    for (int i = 1; i <= rounds; ++i) {
        ++arrived;
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) ++serial;
        if (arrived < i * threads) ++early;
    }
    check(early == 0, "all have arrived at a barrier");
    check(serial == rounds, "one of each round is told");
    pthread_barrier_destroy(&barrier);
}

void turns(int threads) {
    std::mutex mutex;
    std::condition_variable changed;
    int turn = 0;
    constexpr int rounds = 20;
#pragma omp parallel num_threads(threads)
    for (int i = 0; i < rounds; ++i) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return turn % threads == omp_get_thread_num(); });
        ++turn;
        changed.notify_all();
    }
    check(turn == rounds * threads, "each has its turn by a condition");
}

void semaphores(int threads) {
    sem_t all[64];
    for (int i = 0; i < threads; ++i) sem_init(&all[i], 0, i == 0 ? 1 : 0);
    int count = 0;
#pragma omp parallel num_threads(threads)
    for (int i = 0; i < 50; ++i) {
        const int mine = omp_get_thread_num();
        sem_wait(&all[mine]);
        ++count;
        sem_post(&all[(mine + 1) % threads]);
    }
    check(count == 50 * threads, "each has its turn by semaphores");
}

void looks(int threads) {
    std::atomic<int> turn{0};
#pragma omp parallel num_threads(threads)
    for (int i = 0; i < 20; ++i) {
        while (turn % threads != omp_get_thread_num()) sched_yield();
        ++turn;
    }
    check(turn == 20 * threads, "each has its turn by looking and yielding");
}

void futexes(int threads) {
    std::atomic<int> turn{0};
#pragma omp parallel num_threads(threads)
    for (int i = 0; i < 20; ++i) {
        for (int now; (now = turn) % threads != omp_get_thread_num();) turn.wait(now);
        ++turn;
        turn.notify_all();
    }
    check(turn == 20 * threads, "each has its turn by an atomic");
}

void locks_held_over_constructs(int threads) {
    std::mutex mutex;
    std::shared_mutex shared;
    long count = 0;
#pragma omp parallel num_threads(threads)
    for (int i = 0; i < 20; ++i) {
        {
            const std::lock_guard guard(mutex);
#pragma omp critical
            ++count;
            sched_yield();
        }
        const std::shared_lock guard(shared);
        std::this_thread::sleep_for(std::chrono::microseconds(10));
    }
    check(count == 20 * threads, "locks are held over constructs");
}

void with_threads_of_the_program(int threads) {
    std::mutex mutex;
    std::condition_variable changed;
    int asked = 0, answered = 0;
    bool over = false;
    std::thread server([&] {
        std::unique_lock lock(mutex);
        while (!over || answered < asked) {
            changed.wait(lock, [&] { return over || answered < asked; });
            answered = asked;
            changed.notify_all();
        }
    });
#pragma omp parallel num_threads(threads)
    for (int i = 0; i < 20; ++i) {
        std::unique_lock lock(mutex);
        const int mine = ++asked;
        changed.notify_all();
        changed.wait(lock, [&] { return answered >= mine; });
    }
    {
        const std::lock_guard guard(mutex);
        over = true;
    }
    changed.notify_all();
    server.join();
    check(answered == 20 * threads, "a thread of the program answers");
}

void joins(int threads) {
    std::atomic<int> count{0};
#pragma omp parallel num_threads(threads)
    {
        std::atomic<bool> go{false};
        std::thread other([&] {
            while (!go) std::this_thread::yield();
            ++count;
        });
#pragma omp barrier
        go = true;
        other.join();
    }
    check(count == threads, "threads started in a region are joined there");
}

}   // namespace

int main(int argc, char** argv) {
    alarm(100);
    on_one_cpu();
    const int threads = argc > 1 ? std::atoi(argv[1]) : 8;
    barriers(threads);
    turns(threads);
    semaphores(threads);
    looks(threads);
    futexes(threads);
    locks_held_over_constructs(threads);
    with_threads_of_the_program(threads);
    joins(threads);
    return wrong == 0 ? 0 : 1;
}
