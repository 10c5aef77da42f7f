// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_support.hpp"

#include <atomic>
#include <string>
#include <thread>

namespace {

using abt_test::elsewhere;
using abt_test::expect_no_switch;
using abt_test::in_tasklet;
using abt_test::own_pool;
using abt_test::Streams;
using abt_test::Units;

class RwLock : public abt_test::Argobots {
protected:
    void SetUp() override {
        Argobots::SetUp();
        ASSERT_EQ(ABT_rwlock_create(&lock), ABT_SUCCESS);
    }
    void TearDown() override {
        EXPECT_EQ(ABT_rwlock_free(&lock), ABT_SUCCESS);
        EXPECT_EQ(lock, ABT_RWLOCK_NULL);
        Argobots::TearDown();
    }

    ABT_rwlock lock = ABT_RWLOCK_NULL;
};

TEST_F(RwLock, NoLockIsAnError) {
    ABT_rwlock none = ABT_RWLOCK_NULL;
    EXPECT_EQ(ABT_rwlock_free(&none), ABT_ERR_INV_RWLOCK);
    EXPECT_EQ(ABT_rwlock_rdlock(none), ABT_ERR_INV_RWLOCK);
    EXPECT_EQ(ABT_rwlock_wrlock(none), ABT_ERR_INV_RWLOCK);
    EXPECT_EQ(ABT_rwlock_unlock(none), ABT_ERR_INV_RWLOCK);
}

TEST_F(RwLock, ATaskletCannotLock) {
    EXPECT_EQ(in_tasklet([&] { return ABT_rwlock_rdlock(lock); }), ABT_ERR_RWLOCK);
    EXPECT_EQ(in_tasklet([&] { return ABT_rwlock_wrlock(lock); }), ABT_ERR_RWLOCK);
}

TEST_F(RwLock, WhoNeedNotWaitDoesNotSwitch) {
    expect_no_switch([&] {
        EXPECT_EQ(ABT_rwlock_rdlock(lock), ABT_SUCCESS);
        EXPECT_EQ(ABT_rwlock_rdlock(lock), ABT_SUCCESS);
        EXPECT_EQ(ABT_rwlock_unlock(lock), ABT_SUCCESS);
        EXPECT_EQ(ABT_rwlock_unlock(lock), ABT_SUCCESS);
        EXPECT_EQ(ABT_rwlock_wrlock(lock), ABT_SUCCESS);
        EXPECT_EQ(ABT_rwlock_unlock(lock), ABT_SUCCESS);
    });
}

// While a writer waits, readers lock, and lock again, before it.
TEST_F(RwLock, ReadersGoBeforeWriters) {
    std::string order;
    Units units;
    ABT_rwlock_rdlock(lock);
    units.ult(own_pool(), [&] {
        order += 'w';
        ABT_rwlock_wrlock(lock);
        order += 'W';
        ABT_rwlock_unlock(lock);
    });
    units.ult(own_pool(), [&] {
        ABT_rwlock_rdlock(lock);
        order += 'R';
        ABT_rwlock_unlock(lock);
    });
    while (order != "wR") ABT_thread_yield();
    EXPECT_EQ(ABT_rwlock_rdlock(lock), ABT_SUCCESS);
    ABT_rwlock_unlock(lock);
    for (int i = 0; i < 3; ++i) ABT_thread_yield();
    EXPECT_EQ(order, "wR");
    ABT_rwlock_unlock(lock);
    units.join();
    EXPECT_EQ(order, "wRW");
}

TEST_F(RwLock, AfterAWriterTheReadersGoTogetherAndThenTheNextWriter) {
    if (elsewhere()) GTEST_SKIP() << "there whoever is woken first";
    std::string order;
    Units units;
    ABT_rwlock_wrlock(lock);
    units.ult(own_pool(), [&] {
        ABT_rwlock_wrlock(lock);
        order += 'W';
        ABT_rwlock_unlock(lock);
    });
    int inside = 0;
    for (int i = 0; i < 3; ++i) {
        units.ult(own_pool(), [&] {
            ABT_rwlock_rdlock(lock);
            order += 'R';
            ++inside;
            while (inside != 3) ABT_thread_yield();   // all at the same time
            ABT_rwlock_unlock(lock);
        });
    }
    for (int i = 0; i < 3; ++i) ABT_thread_yield();
    EXPECT_EQ(order, "");
    ABT_rwlock_unlock(lock);
    units.join();
    EXPECT_EQ(order, "RRRW");
}

TEST_F(RwLock, WritersAreAlone) {
    Streams streams(3);
    Units units;
    int value = 0, copy = 0;
    const auto write = [&] {
        for (int i = 0; i < 200; ++i) {
            EXPECT_EQ(ABT_rwlock_wrlock(lock), ABT_SUCCESS);
            ++value;
            if (i % 16 == 0) ABT_thread_yield();
            ++copy;
            EXPECT_EQ(ABT_rwlock_unlock(lock), ABT_SUCCESS);
        }
    };
    const auto read = [&] {
        for (int i = 0; i < 200; ++i) {
            EXPECT_EQ(ABT_rwlock_rdlock(lock), ABT_SUCCESS);
            EXPECT_EQ(value, copy);
            if (i % 16 == 0) ABT_thread_yield();
            EXPECT_EQ(value, copy);
            EXPECT_EQ(ABT_rwlock_unlock(lock), ABT_SUCCESS);
        }
    };
    for (std::size_t i = 0; i < 12; ++i) {
        if (i % 3 == 0) units.ult(streams.pool(i / 3), write);
        else units.ult(streams.pool(i / 3), read);
    }
    std::thread writer(write), reader(read);
    units.join();
    writer.join();
    reader.join();
    EXPECT_EQ(value, 5 * 200);
    EXPECT_EQ(copy, 5 * 200);
}

}   // namespace
