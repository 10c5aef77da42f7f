// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <threads.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <vector>

#include "test_support.hpp"

using namespace weft_pthread_test;

namespace {

using Mutexes = Bridge;

timespec in_ms(clockid_t clock, long ms) {
    timespec time{};
    clock_gettime(clock, &time);
    time.tv_nsec += ms % 1000 * 1'000'000;
    time.tv_sec += ms / 1000 + time.tv_nsec / 1'000'000'000;
    time.tv_nsec %= 1'000'000'000;
    return time;
}

struct Mutex {
    pthread_mutex_t mutex{};
    explicit Mutex(int type = PTHREAD_MUTEX_NORMAL, bool robust = false) {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_settype(&attributes, type);
        if (robust) pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
        EXPECT_EQ(pthread_mutex_init(&mutex, &attributes), 0);
        pthread_mutexattr_destroy(&attributes);
    }
    ~Mutex() { EXPECT_EQ(pthread_mutex_destroy(&mutex), 0); }
};

TEST_F(Mutexes, WhoWaitsLeavesItsStreamToTheHolder) {
    for (const int type :
         {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP}) {
        in_child([type] {
            Runtime runtime;
            Mutex of(type);
            int held = 0;
            auto body = [&] {
                for (int i = 0; i < 100; ++i) {
                    EXPECT_EQ(pthread_mutex_lock(&of.mutex), 0);
                    EXPECT_EQ(held++, 0);
                    weft_unit_yield();
                    --held;
                    EXPECT_EQ(pthread_mutex_unlock(&of.mutex), 0);
                }
            };
            const Hosted first(body), second(body), third(body);
        });
    }
}

TEST_F(Mutexes, OfUnitsAndThreadsOneHasIt) {
    in_child([] {
        Runtime runtime(2);
        std::mutex mutex;
        long count = 0;
        constexpr long steps = 20'000;
        auto body = [&] {
            for (long i = 0; i < steps; ++i) {
                const std::lock_guard guard(mutex);
                ++count;
                if (i % 100 == 0 && weft_hosted()) weft_unit_yield();
            }
        };
        std::thread thread(body);
        { const Hosted first(body, 0), second(body, 1), third(body, 1); }
        thread.join();
        EXPECT_EQ(count, 4 * steps);
    });
}

TEST_F(Mutexes, AThreadThatUnlocksWakesAUnit) {
    in_child([] {
        Runtime runtime;
        Mutex of;
        std::atomic<bool> locked{false}, go{false};
        std::thread holder([&] {
            pthread_mutex_lock(&of.mutex);
            locked = true;
            while (!go) std::this_thread::yield();
            pthread_mutex_unlock(&of.mutex);
        });
        until([&] { return locked.load(); });
        {
            const Hosted unit([&] {
                EXPECT_EQ(pthread_mutex_lock(&of.mutex), 0);
                EXPECT_EQ(pthread_mutex_unlock(&of.mutex), 0);
            });
            until_suspended(unit);
            go = true;
        }
        holder.join();
    });
}

TEST_F(Mutexes, AUnitThatUnlocksWakesAThread) {
    in_child([] {
        Runtime runtime;
        Mutex of;
        std::atomic<bool> got{false};
        std::thread waiter;
        const Hosted unit([&] {
            pthread_mutex_lock(&of.mutex);
            waiter = std::thread([&] {
                pthread_mutex_lock(&of.mutex);
                got = true;
                pthread_mutex_unlock(&of.mutex);
            });
            // Waits until the thread sleeps in the kernel, as it records in the mutex.
            while (__atomic_load_n(&of.mutex.__data.__lock, __ATOMIC_RELAXED) != 2) sched_yield();
            EXPECT_FALSE(got);
            pthread_mutex_unlock(&of.mutex);
        });
        until([&] { return got.load(); });
        waiter.join();
    });
}

TEST_F(Mutexes, OneThatTheCLibraryUnlocksItselfIsLookedAtAgain) {
    in_child([] {
        Runtime runtime;
        Mutex of;
        pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
        std::atomic<bool> locked{false}, go{false}, over{false};
        std::thread holder([&] {
            pthread_mutex_lock(&of.mutex);
            locked = true;
            while (!go) std::this_thread::yield();
            while (!over) pthread_cond_wait(&condition, &of.mutex);   // releases it
            pthread_mutex_unlock(&of.mutex);
        });
        until([&] { return locked.load(); });
        {
            const Hosted unit([&] {
                EXPECT_EQ(pthread_mutex_lock(&of.mutex), 0);
                over = true;
                EXPECT_EQ(pthread_cond_signal(&condition), 0);
                EXPECT_EQ(pthread_mutex_unlock(&of.mutex), 0);
            });
            until_suspended(unit);
            go = true;
        }
        holder.join();
    });
}

TEST_F(Mutexes, AWaitEndsWithItsTime) {
    in_child([] {
        Runtime runtime;
        Mutex of;
        std::timed_mutex another;
        const Hosted holder([&] {
            pthread_mutex_lock(&of.mutex);
            another.lock();
            const Hosted waiter([&] {
                timespec time = in_ms(CLOCK_REALTIME, 20);
                EXPECT_EQ(pthread_mutex_timedlock(&of.mutex, &time), ETIMEDOUT);
                timespec now{};
                clock_gettime(CLOCK_REALTIME, &now);
                EXPECT_TRUE(now.tv_sec > time.tv_sec || (now.tv_sec == time.tv_sec && now.tv_nsec >= time.tv_nsec));
                time = in_ms(CLOCK_MONOTONIC, 20);
                EXPECT_EQ(pthread_mutex_clocklock(&of.mutex, CLOCK_MONOTONIC, &time), ETIMEDOUT);
                EXPECT_EQ(pthread_mutex_clocklock(&of.mutex, CLOCK_THREAD_CPUTIME_ID, &time), EINVAL);
                time.tv_nsec = 1'000'000'000;
                EXPECT_EQ(pthread_mutex_timedlock(&of.mutex, &time), EINVAL);
                EXPECT_FALSE(another.try_lock_for(std::chrono::milliseconds(5)));
            });
            until([&] {
                weft_unit_state state{};
                return weft_unit_state_get(waiter.handle(), &state) == WEFT_OK && state == WEFT_UNIT_DONE;
            });
            another.unlock();
            pthread_mutex_unlock(&of.mutex);
            const timespec past{};
            EXPECT_EQ(pthread_mutex_timedlock(&of.mutex, &past), 0);   // the mutex is free: the time is not checked
            pthread_mutex_unlock(&of.mutex);
        });
    });
}

TEST_F(Mutexes, ErrorsAreTheCLibrarys) {
    in_child([] {
        Runtime runtime;
        const Hosted unit([] {
            Mutex checks(PTHREAD_MUTEX_ERRORCHECK), again(PTHREAD_MUTEX_RECURSIVE);
            EXPECT_EQ(pthread_mutex_unlock(&checks.mutex), EPERM);
            EXPECT_EQ(pthread_mutex_lock(&checks.mutex), 0);
            EXPECT_EQ(pthread_mutex_lock(&checks.mutex), EDEADLK);
            {
                const Hosted other([&] { EXPECT_EQ(pthread_mutex_unlock(&checks.mutex), EPERM); });
            }
            EXPECT_EQ(pthread_mutex_unlock(&checks.mutex), 0);
            EXPECT_EQ(pthread_mutex_lock(&again.mutex), 0);
            EXPECT_EQ(pthread_mutex_lock(&again.mutex), 0);
            EXPECT_EQ(pthread_mutex_unlock(&again.mutex), 0);
            EXPECT_EQ(pthread_mutex_unlock(&again.mutex), 0);
        });
    });
}

TEST_F(Mutexes, ARobustOneOfADeadThreadIsInherited) {
    in_child([] {
        Runtime runtime;
        Mutex robust(PTHREAD_MUTEX_NORMAL, true);
        std::atomic<bool> locked{false}, go{false};
        std::thread holder([&] {
            pthread_mutex_lock(&robust.mutex);
            locked = true;
            while (!go) std::this_thread::yield();
        });
        until([&] { return locked.load(); });
        {
            const Hosted unit([&] {
                EXPECT_EQ(pthread_mutex_lock(&robust.mutex), EOWNERDEAD);
                EXPECT_EQ(pthread_mutex_consistent(&robust.mutex), 0);
                EXPECT_EQ(pthread_mutex_unlock(&robust.mutex), 0);
            });
            until_suspended(unit);
            go = true;   // the kernel unlocks it
        }
        holder.join();
    });
}

TEST_F(Mutexes, WhoTakesItAgainAndAgainLetsTheOthersHaveIt) {
    in_child([] {
        Runtime runtime;
        Mutex of;
        bool over = false;
        const Hosted greedy([&] {
            while (!over) {
                pthread_mutex_lock(&of.mutex);
                weft_unit_yield();   // the only place where it leaves its hart
                pthread_mutex_unlock(&of.mutex);
            }
        });
        const Hosted modest([&] {
            pthread_mutex_lock(&of.mutex);
            over = true;
            pthread_mutex_unlock(&of.mutex);
        });
    });
}

TEST_F(Mutexes, ThoseOfC11AreTheSame) {
    in_child([] {
        Runtime runtime;
        mtx_t mutex;
        EXPECT_EQ(mtx_init(&mutex, mtx_timed), thrd_success);
        int held = 0;
        auto body = [&] {
            for (int i = 0; i < 10; ++i) {
                EXPECT_EQ(mtx_lock(&mutex), thrd_success);
                EXPECT_EQ(held++, 0);
                weft_unit_yield();
                --held;
                EXPECT_EQ(mtx_unlock(&mutex), thrd_success);
            }
        };
        { const Hosted first(body), second(body); }
        const Hosted holder([&] {
            mtx_lock(&mutex);
            {
                const Hosted waiter([&] {
                    const timespec time = in_ms(CLOCK_REALTIME, 5);
                    EXPECT_EQ(mtx_timedlock(&mutex, &time), thrd_timedout);
                });
            }
            mtx_unlock(&mutex);
        });
    });
}

TEST_F(Mutexes, MainIsParkedAsWell) {
    in_child([] {
        Runtime runtime;
        Mutex of;
        bool locked = false;
        const Hosted holder([&] {
            pthread_mutex_lock(&of.mutex);
            locked = true;
            for (int i = 0; i < 10; ++i) weft_unit_yield();
            pthread_mutex_unlock(&of.mutex);
        });
        until([&] { return locked; });
        EXPECT_EQ(pthread_mutex_lock(&of.mutex), 0);   // on the one OS thread that could run the holder
        EXPECT_EQ(pthread_mutex_unlock(&of.mutex), 0);
    });
}

}   // namespace
