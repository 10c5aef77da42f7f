// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_support.hpp"

#include <atomic>
#include <cstring>
#include <limits>
#include <string>
#include <thread>

namespace {

using abt_test::elsewhere;
using abt_test::from_now;
using abt_test::in_tasklet;
using abt_test::own_pool;
using abt_test::Streams;
using abt_test::Units;

class Cond : public abt_test::Argobots {
protected:
    void SetUp() override {
        Argobots::SetUp();
        ASSERT_EQ(ABT_mutex_create(&mutex), ABT_SUCCESS);
        ASSERT_EQ(ABT_cond_create(&cond), ABT_SUCCESS);
    }
    void TearDown() override {
        EXPECT_EQ(ABT_cond_free(&cond), ABT_SUCCESS);
        EXPECT_EQ(cond, ABT_COND_NULL);
        EXPECT_EQ(ABT_mutex_free(&mutex), ABT_SUCCESS);
        Argobots::TearDown();
    }

    ABT_mutex mutex = ABT_MUTEX_NULL;
    ABT_cond cond = ABT_COND_NULL;
};

void pass_between_threads(ABT_cond cond, ABT_mutex mutex) {
    int turn = 0;
    const auto play = [&](int mine) {
        for (int i = 0; i < 200; ++i) {
            EXPECT_EQ(ABT_mutex_lock(mutex), ABT_SUCCESS);
            while (turn != mine) EXPECT_EQ(ABT_cond_wait(cond, mutex), ABT_SUCCESS);
            turn = 1 - mine;
            EXPECT_EQ(ABT_cond_signal(cond), ABT_SUCCESS);
            EXPECT_EQ(ABT_mutex_unlock(mutex), ABT_SUCCESS);
        }
    };
    std::thread first(play, 0), second(play, 1);
    first.join();
    second.join();
}

TEST(StaticCond, WorksBeforeInitAndAfterFinalizeAndAnywhere) {
    if (elsewhere()) GTEST_SKIP() << "it hangs there";
    alignas(16) static unsigned char memory[16 + sizeof(ABT_cond_memory) + 16];
    static ABT_mutex_memory mutex_memory = ABT_MUTEX_INITIALIZER;
    const ABT_mutex mutex = ABT_MUTEX_MEMORY_GET_HANDLE(&mutex_memory);
    const ABT_cond_memory original = ABT_COND_INITIALIZER;
    for (std::size_t at = 4; at <= 16; at += 4) {
        std::memset(memory, 0xee, sizeof memory);
        std::memcpy(memory + at, &original, sizeof original);
        const ABT_cond cond = ABT_COND_MEMORY_GET_HANDLE(reinterpret_cast<ABT_cond_memory*>(memory + at));
        pass_between_threads(cond, mutex);
        ASSERT_EQ(ABT_init(0, nullptr), ABT_SUCCESS);
        pass_between_threads(cond, mutex);
        ASSERT_EQ(ABT_finalize(), ABT_SUCCESS);
        pass_between_threads(cond, mutex);
        for (std::size_t i = 0; i < sizeof memory; ++i) {
            if (i < at || i >= at + sizeof original) {
                EXPECT_EQ(memory[i], 0xee) << at << " " << i;
            }
        }
    }
}

TEST_F(Cond, NoCondOrMutexIsAnError) {
    ABT_cond none = ABT_COND_NULL;
    const timespec soon = from_now(0.01);
    EXPECT_EQ(ABT_cond_free(&none), ABT_ERR_INV_COND);
    EXPECT_EQ(ABT_cond_wait(none, mutex), ABT_ERR_INV_COND);
    EXPECT_EQ(ABT_cond_wait(cond, ABT_MUTEX_NULL), ABT_ERR_INV_MUTEX);
    EXPECT_EQ(ABT_cond_timedwait(none, mutex, &soon), ABT_ERR_INV_COND);
    EXPECT_EQ(ABT_cond_timedwait(cond, ABT_MUTEX_NULL, &soon), ABT_ERR_INV_MUTEX);
    EXPECT_EQ(ABT_cond_signal(none), ABT_ERR_INV_COND);
    EXPECT_EQ(ABT_cond_broadcast(none), ABT_ERR_INV_COND);
    EXPECT_EQ(ABT_cond_signal(cond), ABT_SUCCESS);   // there is no waiter
    EXPECT_EQ(ABT_cond_broadcast(cond), ABT_SUCCESS);
}

TEST_F(Cond, ASignalWakesTheOneThatWaitedLongest) {
    std::string order;
    Units units;
    for (char name = 'a'; name < 'f'; ++name) {
        units.ult(own_pool(), [&, name] {
            ABT_mutex_lock(mutex);
            EXPECT_EQ(ABT_cond_wait(cond, mutex), ABT_SUCCESS);
            order += name;
            ABT_mutex_unlock(mutex);
        });
    }
    ABT_thread_yield();
    for (std::size_t i = 1; i <= 5; ++i) {
        EXPECT_EQ(ABT_cond_signal(cond), ABT_SUCCESS);
        while (order.size() < i) ABT_thread_yield();
        for (int j = 0; j < 3; ++j) ABT_thread_yield();
        EXPECT_EQ(order.size(), i);
    }
    units.join();
    EXPECT_EQ(order, "abcde");
}

TEST_F(Cond, ABroadcastWakesAll) {
    Streams streams(2);
    Units units;
    int waiting = 0, woken = 0;
    bool go = false;
    const auto wait = [&] {
        ABT_mutex_lock(mutex);
        ++waiting;
        while (!go) EXPECT_EQ(ABT_cond_wait(cond, mutex), ABT_SUCCESS);
        ++woken;
        ABT_mutex_unlock(mutex);
    };
    for (std::size_t i = 0; i < 20; ++i) units.ult(streams.pool(i), wait);
    std::thread external(wait);
    for (bool all = false; !all; ABT_thread_yield()) {
        ABT_mutex_lock(mutex);
        all = waiting == 21;
        ABT_mutex_unlock(mutex);
    }
    ABT_mutex_lock(mutex);
    go = true;
    EXPECT_EQ(ABT_cond_broadcast(cond), ABT_SUCCESS);
    ABT_mutex_unlock(mutex);
    units.join();
    external.join();
    EXPECT_EQ(woken, 21);
}

TEST_F(Cond, ATimedWaitEndsInTimeAndHoldsTheMutex) {
    for (const bool inside : {true, false}) {
        const auto wait = [&] {
            ABT_mutex_lock(mutex);
            const double begin = ABT_get_wtime(), used = abt_test::cpu_time();
            const timespec until = from_now(0.05);
            EXPECT_EQ(ABT_cond_timedwait(cond, mutex, &until), ABT_ERR_COND_TIMEDOUT);
            const double took = ABT_get_wtime() - begin;
            EXPECT_GE(took, 0.049);
            EXPECT_LT(took, 5);
            if (!elsewhere()) {   // Argobots polls here
                EXPECT_LT(abt_test::cpu_time() - used, 0.045);
            }
            EXPECT_EQ(ABT_mutex_unlock(mutex), ABT_SUCCESS);
        };
        if (inside) {
            Units units;
            units.ult(own_pool(), wait);
        } else {
            std::thread(wait).join();
        }
    }
}

TEST_F(Cond, ATimedWaitThatIsSignalled) {
    Units units;
    bool waits = false, done = false;
    units.ult(own_pool(), [&] {
        ABT_mutex_lock(mutex);
        waits = true;
        const timespec until = from_now(60);
        EXPECT_EQ(ABT_cond_timedwait(cond, mutex, &until), ABT_SUCCESS);
        done = true;
        ABT_mutex_unlock(mutex);
    });
    while (!waits) ABT_thread_yield();
    EXPECT_EQ(ABT_cond_signal(cond), ABT_SUCCESS);
    units.join();
    EXPECT_TRUE(done);
}

TEST_F(Cond, TimesThatAreLongPastOrFarAway) {
    for (const timespec past :
         {timespec{0, 0}, timespec{1, 999'999'999}, timespec{std::numeric_limits<time_t>::min(), 0}, from_now(-1)}) {
        ABT_mutex_lock(mutex);
        EXPECT_EQ(ABT_cond_timedwait(cond, mutex, &past), ABT_ERR_COND_TIMEDOUT);
        EXPECT_EQ(ABT_mutex_unlock(mutex), ABT_SUCCESS);
    }
    bool waits = false;
    Units units;
    units.ult(own_pool(), [&] {
        const timespec never{std::numeric_limits<time_t>::max(), 999'999'999};
        ABT_mutex_lock(mutex);
        waits = true;
        EXPECT_EQ(ABT_cond_timedwait(cond, mutex, &never), ABT_SUCCESS);
        ABT_mutex_unlock(mutex);
    });
    while (!waits) ABT_thread_yield();
    ABT_cond_signal(cond);
}

TEST_F(Cond, ATaskletCannotWait) {
    EXPECT_EQ(in_tasklet([&] {
                  ABT_mutex_lock(mutex);
                  const int result = ABT_cond_wait(cond, mutex);
                  EXPECT_EQ(ABT_mutex_unlock(mutex), ABT_SUCCESS);
                  return result;
              }),
              ABT_ERR_COND);
}

// A tasklet waits for a time and blocks its OS thread: other units get the mutex meanwhile.
TEST_F(Cond, ATaskletWaitsForATime) {
    EXPECT_EQ(in_tasklet([&] {
                  const timespec until = from_now(0.01);
                  ABT_mutex_lock(mutex);
                  int result = ABT_SUCCESS;
                  while (result == ABT_SUCCESS) result = ABT_cond_timedwait(cond, mutex, &until);
                  EXPECT_EQ(ABT_mutex_unlock(mutex), ABT_SUCCESS);
                  return result;
              }),
              ABT_ERR_COND_TIMEDOUT);
    bool done = false;
    std::thread external([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        ABT_mutex_lock(mutex);
        done = true;
        ABT_cond_signal(cond);
        ABT_mutex_unlock(mutex);
    });
    EXPECT_EQ(in_tasklet([&] {
                  const timespec until = from_now(60);
                  ABT_mutex_lock(mutex);
                  int result = ABT_SUCCESS;
                  while (result == ABT_SUCCESS && !done) result = ABT_cond_timedwait(cond, mutex, &until);
                  EXPECT_EQ(ABT_mutex_unlock(mutex), ABT_SUCCESS);
                  return result;
              }),
              ABT_SUCCESS);
    external.join();
}

TEST_F(Cond, OthersWaitWithAnotherMutex) {
    ABT_mutex other = ABT_MUTEX_NULL;
    ABT_mutex_create(&other);
    Units units;
    bool waits = false;
    units.ult(own_pool(), [&] {
        ABT_mutex_lock(mutex);
        waits = true;
        EXPECT_EQ(ABT_cond_wait(cond, mutex), ABT_SUCCESS);
        ABT_mutex_unlock(mutex);
    });
    while (!waits) ABT_thread_yield();
    ABT_mutex_lock(other);
    const timespec soon = from_now(0.01);
    EXPECT_EQ(ABT_cond_wait(cond, other), ABT_ERR_INV_MUTEX);
    EXPECT_EQ(ABT_cond_timedwait(cond, other, &soon), ABT_ERR_INV_MUTEX);
    ABT_mutex_unlock(other);
    ABT_mutex_free(&other);
    EXPECT_EQ(ABT_cond_free(&cond), ABT_ERR_COND);   // the failed call keeps the waiters' mutex
    ABT_cond_signal(cond);
    units.join();
    if (elsewhere()) return;   // Argobots refuses another mutex even without waiters
    // There are no waiters: another mutex may be used.
    ABT_mutex_create(&other);
    ABT_mutex_lock(other);
    const timespec past = from_now(-1);
    EXPECT_EQ(ABT_cond_timedwait(cond, other, &past), ABT_ERR_COND_TIMEDOUT);
    ABT_mutex_unlock(other);
    ABT_mutex_free(&other);
}

TEST_F(Cond, OneThatIsWaitedForIsNotFreed) {
    Units units;
    bool waits = false;
    units.ult(own_pool(), [&] {
        ABT_mutex_lock(mutex);
        waits = true;
        EXPECT_EQ(ABT_cond_wait(cond, mutex), ABT_SUCCESS);
        ABT_mutex_unlock(mutex);
    });
    while (!waits) ABT_thread_yield();
    const ABT_cond before = cond;
    EXPECT_EQ(ABT_cond_free(&cond), ABT_ERR_COND);
    EXPECT_EQ(cond, before);
    ABT_mutex_lock(mutex);
    EXPECT_EQ(ABT_cond_free(&cond), ABT_ERR_COND);
    EXPECT_EQ(cond, before);
    EXPECT_EQ(ABT_mutex_unlock(mutex), ABT_SUCCESS);
    ABT_cond_signal(cond);
}

// A unit that has signalled the last waiter may free the condition, whether or not it holds the
// mutex.
TEST_F(Cond, OneThatIsSignalledIsFreedBeforeTheMutexIsLetGo) {
    for (const bool all : {false, true}) {
        for (const bool recursive : {false, true}) {
            ABT_mutex_memory memory = ABT_MUTEX_INITIALIZER, recursive_memory = ABT_RECURSIVE_MUTEX_INITIALIZER;
            const ABT_mutex with = ABT_MUTEX_MEMORY_GET_HANDLE(recursive ? &recursive_memory : &memory);
            ABT_cond own = ABT_COND_NULL;
            ASSERT_EQ(ABT_cond_create(&own), ABT_SUCCESS);
            Units units;
            bool waits = false;
            units.ult(own_pool(), [&] {
                ABT_mutex_lock(with);
                waits = true;
                EXPECT_EQ(ABT_cond_wait(own, with), ABT_SUCCESS);
                ABT_mutex_unlock(with);
            });
            units.ult(own_pool(), [&] {
                while (!waits) ABT_thread_yield();
                ABT_mutex_lock(with);
                EXPECT_EQ(all ? ABT_cond_broadcast(own) : ABT_cond_signal(own), ABT_SUCCESS);
                EXPECT_EQ(ABT_cond_free(&own), ABT_SUCCESS);
                EXPECT_EQ(own, ABT_COND_NULL);
                EXPECT_EQ(ABT_mutex_unlock(with), ABT_SUCCESS);
            });
            units.join();
        }
    }
}

TEST_F(Cond, ARecursiveMutexIsLetGoAltogether) {
    if (elsewhere()) GTEST_SKIP() << "a waiter keeps all but one level there, and hangs";
    ABT_mutex_memory memory = ABT_RECURSIVE_MUTEX_INITIALIZER;
    const ABT_mutex recursive = ABT_MUTEX_MEMORY_GET_HANDLE(&memory);
    bool waits = false, done = false;
    Units units;
    units.ult(own_pool(), [&] {
        ABT_mutex_lock(recursive);
        ABT_mutex_lock(recursive);
        waits = true;
        while (!done) EXPECT_EQ(ABT_cond_wait(cond, recursive), ABT_SUCCESS);
        EXPECT_EQ(ABT_mutex_unlock(recursive), ABT_SUCCESS);
        EXPECT_EQ(ABT_mutex_unlock(recursive), ABT_SUCCESS);
    });
    units.ult(own_pool(), [&] {
        while (!waits) ABT_thread_yield();
        ABT_mutex_lock(recursive);
        done = true;
        ABT_cond_signal(cond);
        ABT_mutex_unlock(recursive);
    });
}

}   // namespace
