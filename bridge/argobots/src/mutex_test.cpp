// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_support.hpp"

#include <atomic>
#include <cstring>
#include <string>
#include <thread>

namespace {

using abt_test::elsewhere;
using abt_test::expect_no_switch;
using abt_test::own_pool;
using abt_test::Streams;
using abt_test::Units;

class Mutex : public abt_test::Argobots {
protected:
    void SetUp() override {
        Argobots::SetUp();
        ASSERT_EQ(ABT_mutex_create(&mutex), ABT_SUCCESS);
    }
    void TearDown() override {
        EXPECT_EQ(ABT_mutex_free(&mutex), ABT_SUCCESS);
        EXPECT_EQ(mutex, ABT_MUTEX_NULL);
        Argobots::TearDown();
    }

    ABT_mutex mutex = ABT_MUTEX_NULL;
};

ABT_mutex make_recursive() {
    ABT_mutex_attr attr = ABT_MUTEX_ATTR_NULL;
    EXPECT_EQ(ABT_mutex_attr_create(&attr), ABT_SUCCESS);
    EXPECT_EQ(ABT_mutex_attr_set_recursive(attr, ABT_TRUE), ABT_SUCCESS);
    ABT_mutex mutex = ABT_MUTEX_NULL;
    EXPECT_EQ(ABT_mutex_create_with_attr(attr, &mutex), ABT_SUCCESS);
    EXPECT_EQ(ABT_mutex_attr_free(&attr), ABT_SUCCESS);
    EXPECT_EQ(attr, ABT_MUTEX_ATTR_NULL);
    return mutex;
}

bool is_recursive(ABT_mutex mutex) {
    ABT_mutex_attr attr = ABT_MUTEX_ATTR_NULL;
    ABT_bool recursive = -1;
    EXPECT_EQ(ABT_mutex_get_attr(mutex, &attr), ABT_SUCCESS);
    EXPECT_EQ(ABT_mutex_attr_get_recursive(attr, &recursive), ABT_SUCCESS);
    ABT_mutex_attr_free(&attr);
    return recursive == ABT_TRUE;
}

// Several external threads increment a counter under the mutex.
void count_with_threads(ABT_mutex mutex) {
    int count = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int j = 0; j < 1000; ++j) {
                EXPECT_EQ(ABT_mutex_lock(mutex), ABT_SUCCESS);
                ++count;
                EXPECT_EQ(ABT_mutex_unlock(mutex), ABT_SUCCESS);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(count, 4000);
}

TEST(StaticMutex, WorksBeforeInitAndAfterFinalize) {
    static ABT_mutex_memory memory = ABT_MUTEX_INITIALIZER;
    const ABT_mutex mutex = ABT_MUTEX_MEMORY_GET_HANDLE(&memory);
    count_with_threads(mutex);
    ASSERT_EQ(ABT_init(0, nullptr), ABT_SUCCESS);
    count_with_threads(mutex);
    ASSERT_EQ(ABT_finalize(), ABT_SUCCESS);
    count_with_threads(mutex);
}

TEST(StaticMutex, ARecursiveOne) {
    static ABT_mutex_memory memory = ABT_RECURSIVE_MUTEX_INITIALIZER;
    const ABT_mutex mutex = ABT_MUTEX_MEMORY_GET_HANDLE(&memory);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(ABT_mutex_lock(mutex), ABT_SUCCESS);
    std::thread([&] { EXPECT_EQ(ABT_mutex_trylock(mutex), ABT_ERR_MUTEX_LOCKED); }).join();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(ABT_mutex_unlock(mutex), ABT_SUCCESS);
    std::thread([&] {
        EXPECT_EQ(ABT_mutex_trylock(mutex), ABT_SUCCESS);
        EXPECT_EQ(ABT_mutex_unlock(mutex), ABT_SUCCESS);
    }).join();
}

// The mutex's 64 bytes are aligned to only 4 and hold nothing but the mutex. An unused mutex may be
// copied.
TEST(StaticMutex, LiesAnywhereAndIsCopied) {
    const ABT_mutex_memory original = ABT_MUTEX_INITIALIZER;
    alignas(16) unsigned char memory[16 + sizeof original + 16];
    for (std::size_t at = 4; at <= 16; at += 4) {
        std::memset(memory, 0xee, sizeof memory);
        std::memcpy(memory + at, &original, sizeof original);
        count_with_threads(ABT_MUTEX_MEMORY_GET_HANDLE(reinterpret_cast<ABT_mutex_memory*>(memory + at)));
        for (std::size_t i = 0; i < sizeof memory; ++i) {
            if (i < at || i >= at + sizeof original) {
                EXPECT_EQ(memory[i], 0xee) << at << " " << i;
            }
        }
    }
}

TEST_F(Mutex, NoMutexIsAnError) {
    ABT_mutex none = ABT_MUTEX_NULL;
    ABT_mutex_attr attr = ABT_MUTEX_ATTR_NULL;
    ABT_bool flag = ABT_TRUE;
    EXPECT_EQ(ABT_mutex_free(&none), ABT_ERR_INV_MUTEX);
    EXPECT_EQ(ABT_mutex_lock(none), ABT_ERR_INV_MUTEX);
    EXPECT_EQ(ABT_mutex_lock_high(none), ABT_ERR_INV_MUTEX);
    EXPECT_EQ(ABT_mutex_lock_low(none), ABT_ERR_INV_MUTEX);
    EXPECT_EQ(ABT_mutex_trylock(none), ABT_ERR_INV_MUTEX);
    EXPECT_EQ(ABT_mutex_spinlock(none), ABT_ERR_INV_MUTEX);
    EXPECT_EQ(ABT_mutex_unlock(none), ABT_ERR_INV_MUTEX);
    EXPECT_EQ(ABT_mutex_unlock_se(none), ABT_ERR_INV_MUTEX);
    EXPECT_EQ(ABT_mutex_unlock_de(none), ABT_ERR_INV_MUTEX);
    EXPECT_EQ(ABT_mutex_get_attr(none, &attr), ABT_ERR_INV_MUTEX);
    EXPECT_EQ(ABT_mutex_attr_free(&attr), ABT_ERR_INV_MUTEX_ATTR);
    EXPECT_EQ(ABT_mutex_attr_set_recursive(attr, ABT_TRUE), ABT_ERR_INV_MUTEX_ATTR);
    EXPECT_EQ(ABT_mutex_attr_get_recursive(attr, &flag), ABT_ERR_INV_MUTEX_ATTR);
}

TEST_F(Mutex, EqualIsTheSame) {
    ABT_mutex other = ABT_MUTEX_NULL;
    ABT_mutex_create(&other);
    ABT_bool result = -1;
    EXPECT_EQ(ABT_mutex_equal(mutex, mutex, &result), ABT_SUCCESS);
    EXPECT_EQ(result, ABT_TRUE);
    EXPECT_EQ(ABT_mutex_equal(mutex, other, &result), ABT_SUCCESS);
    EXPECT_EQ(result, ABT_FALSE);
    EXPECT_EQ(ABT_mutex_equal(ABT_MUTEX_NULL, ABT_MUTEX_NULL, &result), ABT_SUCCESS);
    EXPECT_EQ(result, ABT_TRUE);
    ABT_mutex_free(&other);
}

TEST_F(Mutex, WhetherItIsRecursiveCanBeAsked) {
    EXPECT_FALSE(is_recursive(mutex));
    ABT_mutex_lock(mutex);
    EXPECT_FALSE(is_recursive(mutex));
    ABT_mutex_unlock(mutex);
    ABT_mutex recursive = make_recursive();
    EXPECT_TRUE(is_recursive(recursive));
    ABT_mutex_lock(recursive);
    EXPECT_TRUE(is_recursive(recursive));
    ABT_mutex_unlock(recursive);
    ABT_mutex_free(&recursive);
    ABT_mutex plain = ABT_MUTEX_NULL;
    EXPECT_EQ(ABT_mutex_create_with_attr(ABT_MUTEX_ATTR_NULL, &plain), ABT_SUCCESS);
    EXPECT_FALSE(is_recursive(plain));
    ABT_mutex_free(&plain);
    ABT_mutex_attr attr = ABT_MUTEX_ATTR_NULL;
    ABT_mutex_attr_create(&attr);
    ABT_bool flag = -1;
    EXPECT_EQ(ABT_mutex_attr_get_recursive(attr, &flag), ABT_SUCCESS);
    EXPECT_EQ(flag, ABT_FALSE);
    ABT_mutex_attr_free(&attr);
}

TEST_F(Mutex, TryingDoesNotWait) {
    EXPECT_EQ(ABT_mutex_trylock(mutex), ABT_SUCCESS);
    Units units;
    units.ult(own_pool(), [&] { EXPECT_EQ(ABT_mutex_trylock(mutex), ABT_ERR_MUTEX_LOCKED); });
    units.tasklet(own_pool(), [&] { EXPECT_EQ(ABT_mutex_trylock(mutex), ABT_ERR_MUTEX_LOCKED); });
    units.join();
    EXPECT_EQ(ABT_mutex_unlock(mutex), ABT_SUCCESS);
    units.tasklet(own_pool(), [&] {
        EXPECT_EQ(ABT_mutex_trylock(mutex), ABT_SUCCESS);
        EXPECT_EQ(ABT_mutex_unlock(mutex), ABT_SUCCESS);
    });
}

TEST_F(Mutex, NobodyElseIsIn) {
    Streams streams(3), tasklets(1);   // a tasklet's OS thread waits: no holder of the mutex may need that thread
    Units units;
    int (*const locks[])(ABT_mutex) = {ABT_mutex_lock, ABT_mutex_lock_high, ABT_mutex_lock_low};
    int (*const unlocks[])(ABT_mutex) = {ABT_mutex_unlock, ABT_mutex_unlock_se, ABT_mutex_unlock_de};
    int count = 0;
    for (std::size_t i = 0; i < 24; ++i) {
        units.ult(streams.pool(i), [&, i] {
            for (int j = 0; j < 200; ++j) {
                EXPECT_EQ(locks[i % 3](mutex), ABT_SUCCESS);
                const int seen = count;
                if (j % 16 == 0) ABT_thread_yield();
                count = seen + 1;
                EXPECT_EQ(unlocks[i / 3 % 3](mutex), ABT_SUCCESS);
            }
        });
    }
    std::thread external([&] {
        for (int j = 0; j < 200; ++j) {
            ABT_mutex_lock(mutex);
            ++count;
            ABT_mutex_unlock(mutex);
        }
    });
    for (std::size_t i = 0; i < 3; ++i) {
        units.tasklet(tasklets.pool(i), [&] {
            EXPECT_EQ(ABT_mutex_lock(mutex), ABT_SUCCESS);
            ++count;
            EXPECT_EQ(ABT_mutex_unlock(mutex), ABT_SUCCESS);
        });
    }
    units.join();
    external.join();
    EXPECT_EQ(count, 24 * 200 + 200 + 3);
}

TEST_F(Mutex, ATaskletWaitsForAnExternalThread) {
    std::atomic<bool> locked{false}, asked{false};
    std::thread holder([&] {
        ABT_mutex_lock(mutex);
        locked = true;
        while (!asked) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        ABT_mutex_unlock(mutex);
    });
    while (!locked) std::this_thread::yield();
    for (const auto lock : {ABT_mutex_lock, ABT_mutex_lock_high, ABT_mutex_lock_low, ABT_mutex_spinlock}) {
        Units units;
        units.tasklet(own_pool(), [&] {
            asked = true;
            EXPECT_EQ(lock(mutex), ABT_SUCCESS);
            EXPECT_EQ(ABT_mutex_unlock(mutex), ABT_SUCCESS);
        });
    }
    holder.join();
}

TEST_F(Mutex, ARecursiveOneIsLockedAgainByItsHolder) {
    ABT_mutex recursive = make_recursive();
    Units units;
    units.ult(own_pool(), [&] {
        EXPECT_EQ(ABT_mutex_lock(recursive), ABT_SUCCESS);
        EXPECT_EQ(ABT_mutex_lock_high(recursive), ABT_SUCCESS);
        EXPECT_EQ(ABT_mutex_lock_low(recursive), ABT_SUCCESS);
        EXPECT_EQ(ABT_mutex_spinlock(recursive), ABT_SUCCESS);
        ABT_thread_yield();
        for (int i = 0; i < 4; ++i) EXPECT_EQ(ABT_mutex_unlock(recursive), ABT_SUCCESS);
    });
    units.ult(own_pool(), [&] {
        EXPECT_EQ(ABT_mutex_trylock(recursive), ABT_ERR_MUTEX_LOCKED);
        EXPECT_EQ(ABT_mutex_lock(recursive), ABT_SUCCESS);
        EXPECT_EQ(ABT_mutex_unlock(recursive), ABT_SUCCESS);
    });
    units.join();
    ABT_mutex_free(&recursive);
}

TEST_F(Mutex, WhoNeedNotWaitDoesNotSwitch) {
    ABT_mutex recursive = make_recursive();
    expect_no_switch([&] {
        for (const ABT_mutex each : {mutex, recursive}) {
            for (const auto lock :
                 {ABT_mutex_lock, ABT_mutex_lock_high, ABT_mutex_lock_low, ABT_mutex_spinlock, ABT_mutex_trylock}) {
                EXPECT_EQ(lock(each), ABT_SUCCESS);
                EXPECT_EQ(ABT_mutex_unlock(each), ABT_SUCCESS);
            }
        }
    });
    ABT_mutex_free(&recursive);
}

// A property of this library: in Argobots 1.2 the three calls are the same.
TEST_F(Mutex, TheUrgentAreServedFirst) {
    if (elsewhere()) GTEST_SKIP() << "the three are one there";
    std::string order;
    int came = 0;
    Units units;
    ABT_mutex_lock(mutex);
    const auto come = [&](int (*lock)(ABT_mutex), char name) {
        units.ult(own_pool(), [&, lock, name] {
            ++came;
            lock(mutex);
            order += name;
            ABT_mutex_unlock(mutex);
        });
    };
    come(ABT_mutex_lock_low, 'l');
    come(ABT_mutex_lock, 'n');
    come(ABT_mutex_lock_high, 'h');
    come(ABT_mutex_lock_low, 'L');
    come(ABT_mutex_lock, 'N');
    come(ABT_mutex_lock_high, 'H');
    while (came != 6) ABT_thread_yield();
    for (int i = 0; i < 3; ++i) ABT_thread_yield();
    ABT_mutex_unlock(mutex);
    units.join();
    EXPECT_EQ(order, "hHnNlL");
}

}   // namespace
