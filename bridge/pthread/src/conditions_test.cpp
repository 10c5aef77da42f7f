// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sys/mman.h>
#include <threads.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "test_support.hpp"

using namespace weft_pthread_test;
using namespace std::chrono_literals;

namespace {

using Conditions = Bridge;

struct Gate {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    int open = 0;

    void pass() {
        pthread_mutex_lock(&mutex);
        while (open == 0) EXPECT_EQ(pthread_cond_wait(&condition, &mutex), 0);
        --open;
        pthread_mutex_unlock(&mutex);
    }
    void let(int count, bool all) {
        pthread_mutex_lock(&mutex);
        open += count;
        pthread_mutex_unlock(&mutex);
        for (int i = 0; i < (all ? 1 : count); ++i)
            EXPECT_EQ(all ? pthread_cond_broadcast(&condition) : pthread_cond_signal(&condition), 0);
    }
};

TEST_F(Conditions, ASignalWakesAUnit) {
    in_child([] {
        Runtime runtime;
        Gate gate;
        const Hosted first([&] { gate.pass(); }), second([&] { gate.pass(); });
        until_suspended(first);
        until_suspended(second);
        gate.let(2, false);
    });
}

TEST_F(Conditions, ABroadcastWakesUnitsAndThreads) {
    in_child([] {
        Runtime runtime;
        Gate gate;
        std::thread third([&] { gate.pass(); });
        {
            const Hosted first([&] { gate.pass(); }), second([&] { gate.pass(); });
            until_suspended(first);
            until_suspended(second);
            std::thread([&] { gate.let(3, true); }).join();
        }
        third.join();
    });
}

TEST_F(Conditions, AUnitsSignalWakesAThread) {
    in_child([] {
        Runtime runtime;
        Gate gate;
        std::thread waiter([&] { gate.pass(); });
        // Waits until the thread waits in the C library, where it has registered.
        while (__atomic_load_n(&gate.condition.__data.__wrefs, __ATOMIC_RELAXED) >> 3 == 0) std::this_thread::yield();
        {
            const Hosted unit([&] { gate.let(1, false); });
        }
        waiter.join();
    });
}

TEST_F(Conditions, AQueueBetweenUnitsAndThreadsLosesNothing) {
    in_child([] {
        Runtime runtime(2);
        std::mutex mutex;
        std::condition_variable not_empty, not_full;
        std::deque<int> queue;
        std::atomic<long> sum{0};
        constexpr int items = 3000;
        auto produce = [&] {
            for (int i = 1; i <= items; ++i) {
                std::unique_lock lock(mutex);
                not_full.wait(lock, [&] { return queue.size() < 4; });
                queue.push_back(i);
                not_empty.notify_one();
            }
        };
        auto consume = [&] {
            for (int i = 1; i <= items; ++i) {
                std::unique_lock lock(mutex);
                not_empty.wait(lock, [&] { return !queue.empty(); });
                sum += queue.front();
                queue.pop_front();
                not_full.notify_one();
            }
        };
        std::thread consumer(consume), producer(produce);
        { const Hosted first(produce, 0), second(consume, 0), third(consume, 1), fourth(produce, 1); }
        consumer.join();
        producer.join();
        EXPECT_EQ(sum, 3L * items * (items + 1) / 2);
    });
}

TEST_F(Conditions, AWaitEndsWithItsTimeAndHasTheMutex) {
    in_child([] {
        Runtime runtime;
        const Hosted unit([] {
            pthread_mutex_t mutex;
            pthread_mutexattr_t checks;
            pthread_mutexattr_init(&checks);
            pthread_mutexattr_settype(&checks, PTHREAD_MUTEX_ERRORCHECK);
            pthread_mutex_init(&mutex, &checks);
            pthread_condattr_t monotonic;
            pthread_condattr_init(&monotonic);
            pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
            for (const bool by_monotonic : {false, true}) {
                pthread_cond_t condition;
                pthread_cond_init(&condition, by_monotonic ? &monotonic : nullptr);
                const clockid_t clock = by_monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME;
                timespec time{}, now{};
                clock_gettime(clock, &time);
                time.tv_sec += (time.tv_nsec + 10'000'000) / 1'000'000'000;
                time.tv_nsec = (time.tv_nsec + 10'000'000) % 1'000'000'000;
                EXPECT_EQ(pthread_cond_timedwait(&condition, &mutex, &time), EPERM);   // it does not hold the mutex
                pthread_mutex_lock(&mutex);
                EXPECT_EQ(pthread_cond_timedwait(&condition, &mutex, &time), ETIMEDOUT);
                clock_gettime(clock, &now);
                EXPECT_TRUE(now.tv_sec > time.tv_sec || (now.tv_sec == time.tv_sec && now.tv_nsec >= time.tv_nsec));
                EXPECT_EQ(pthread_mutex_lock(&mutex), EDEADLK);
                EXPECT_EQ(pthread_cond_clockwait(&condition, &mutex, clock, &time), ETIMEDOUT);
                EXPECT_EQ(pthread_cond_clockwait(&condition, &mutex, CLOCK_PROCESS_CPUTIME_ID, &time), EINVAL);
                time.tv_nsec = -1;
                EXPECT_EQ(pthread_cond_timedwait(&condition, &mutex, &time), EINVAL);
                EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
                EXPECT_EQ(pthread_cond_destroy(&condition), 0);
            }
        });
    });
}

TEST_F(Conditions, OneThatIsCancelledHasTheMutexWhenItCleansUp) {
    in_child([] {
        Runtime runtime;
        Gate gate;
        pthread_t its{};
        bool cleaned = false;
        {
            const Hosted unit([&] {
                its = pthread_self();
                struct Guard {
                    Gate& gate;
                    bool& cleaned;
                    ~Guard() {
                        EXPECT_EQ(pthread_mutex_trylock(&gate.mutex), EBUSY);
                        EXPECT_EQ(pthread_mutex_unlock(&gate.mutex), 0);
                        cleaned = true;
                    }
                };
                pthread_mutex_lock(&gate.mutex);
                const Guard guard{gate, cleaned};
                while (gate.open == 0) pthread_cond_wait(&gate.condition, &gate.mutex);
                ADD_FAILURE() << "it has not been cancelled";
            });
            until_suspended(unit);
            EXPECT_EQ(pthread_cancel(its), 0);
        }
        EXPECT_TRUE(cleaned);
    });
}

TEST_F(Conditions, SharedBetweenProcesses) {
    in_child([] {
        auto* const gate =
            static_cast<Gate*>(mmap(nullptr, sizeof(Gate), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
        pthread_mutexattr_t mutexes;
        pthread_mutexattr_init(&mutexes);
        pthread_mutexattr_setpshared(&mutexes, PTHREAD_PROCESS_SHARED);
        pthread_mutex_init(&gate->mutex, &mutexes);
        pthread_condattr_t conditions;
        pthread_condattr_init(&conditions);
        pthread_condattr_setpshared(&conditions, PTHREAD_PROCESS_SHARED);
        pthread_cond_init(&gate->condition, &conditions);
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        const pid_t other = fork();
        if (other == 0) {
            char byte;
            if (read(ends[0], &byte, 1) != 1) _exit(1);
            gate->let(1, false);
            _exit(0);
        }
        {
            Runtime runtime;
            const Hosted unit([&] { gate->pass(); });
            until_suspended(unit);
            EXPECT_EQ(write(ends[1], "x", 1), 1);
        }
        int status = 0;
        EXPECT_EQ(waitpid(other, &status, 0), other);
        EXPECT_EQ(status, 0);
    });
}

TEST_F(Conditions, ThoseOfC11AreTheSame) {
    in_child([] {
        Runtime runtime;
        mtx_t mutex;
        cnd_t condition;
        EXPECT_EQ(mtx_init(&mutex, mtx_plain), thrd_success);
        EXPECT_EQ(cnd_init(&condition), thrd_success);
        bool open = false;
        auto body = [&] {
            mtx_lock(&mutex);
            while (!open) EXPECT_EQ(cnd_wait(&condition, &mutex), thrd_success);
            const timespec past{};
            EXPECT_EQ(cnd_timedwait(&condition, &mutex, &past), thrd_timedout);
            mtx_unlock(&mutex);
        };
        const Hosted first(body), second(body);
        until_suspended(second);
        open = true;
        EXPECT_EQ(cnd_signal(&condition), thrd_success);
        EXPECT_EQ(cnd_broadcast(&condition), thrd_success);
    });
}

}   // namespace
