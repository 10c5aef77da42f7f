// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_support.hpp"

#include <atomic>
#include <thread>

namespace {

using abt_test::expect_no_switch;
using abt_test::in_tasklet;
using abt_test::own_pool;
using abt_test::Streams;
using abt_test::Units;

class Barrier : public abt_test::Argobots {};

TEST_F(Barrier, LetsAllGoTogetherAgainAndAgain) {
    Streams streams(2);
    ABT_barrier barrier = ABT_BARRIER_NULL;
    ASSERT_EQ(ABT_barrier_create(9, &barrier), ABT_SUCCESS);
    std::atomic<int> arrived{0};
    const auto play = [&] {
        for (int phase = 1; phase <= 20; ++phase) {
            ++arrived;
            EXPECT_EQ(ABT_barrier_wait(barrier), ABT_SUCCESS);
            EXPECT_GE(arrived, 9 * phase);
            EXPECT_EQ(ABT_barrier_wait(barrier), ABT_SUCCESS);
            EXPECT_LE(arrived, 9 * (phase + 1));
        }
    };
    Units units;
    for (std::size_t i = 0; i < 6; ++i) units.ult(streams.pool(i), play);
    std::thread first(play), second(play);
    play();
    units.join();
    first.join();
    second.join();
    EXPECT_EQ(arrived, 9 * 20);
    EXPECT_EQ(ABT_barrier_free(&barrier), ABT_SUCCESS);
    EXPECT_EQ(barrier, ABT_BARRIER_NULL);
}

TEST_F(Barrier, Errors) {
    ABT_barrier none = ABT_BARRIER_NULL;
    uint32_t number = 5;
    EXPECT_EQ(ABT_barrier_free(&none), ABT_ERR_INV_BARRIER);
    EXPECT_EQ(ABT_barrier_wait(none), ABT_ERR_INV_BARRIER);
    EXPECT_EQ(ABT_barrier_reinit(none, 1), ABT_ERR_INV_BARRIER);
    EXPECT_EQ(ABT_barrier_get_num_waiters(none, &number), ABT_ERR_INV_BARRIER);
    EXPECT_EQ(number, 5u);
    EXPECT_EQ(ABT_barrier_create(0, &none), ABT_ERR_INV_ARG);
    EXPECT_EQ(none, ABT_BARRIER_NULL);
    ABT_barrier barrier = ABT_BARRIER_NULL;
    ASSERT_EQ(ABT_barrier_create(2, &barrier), ABT_SUCCESS);
    EXPECT_EQ(ABT_barrier_reinit(barrier, 0), ABT_ERR_INV_ARG);
    EXPECT_EQ(ABT_barrier_get_num_waiters(barrier, &number), ABT_SUCCESS);
    EXPECT_EQ(number, 2u);
    ABT_barrier_free(&barrier);
}

TEST_F(Barrier, IsGivenAnotherNumber) {
    ABT_barrier barrier = ABT_BARRIER_NULL;
    ASSERT_EQ(ABT_barrier_create(2, &barrier), ABT_SUCCESS);
    for (const uint32_t number : {3u, 1u, 5u}) {
        EXPECT_EQ(ABT_barrier_reinit(barrier, number), ABT_SUCCESS);
        uint32_t told = 0;
        EXPECT_EQ(ABT_barrier_get_num_waiters(barrier, &told), ABT_SUCCESS);
        EXPECT_EQ(told, number);
        uint32_t through = 0;
        Units units;
        for (uint32_t i = 0; i < number; ++i) {
            EXPECT_EQ(through, 0u);
            units.ult(own_pool(), [&] {
                EXPECT_EQ(ABT_barrier_wait(barrier), ABT_SUCCESS);
                ++through;
            });
            if (i + 1 < number) ABT_thread_yield();
        }
        units.join();
        EXPECT_EQ(through, number);
    }
    ABT_barrier_free(&barrier);
}

TEST_F(Barrier, ATaskletDoesNotArrive) {
    ABT_barrier barrier = ABT_BARRIER_NULL;
    ASSERT_EQ(ABT_barrier_create(1, &barrier), ABT_SUCCESS);
    EXPECT_EQ(in_tasklet([&] { return ABT_barrier_wait(barrier); }), ABT_ERR_BARRIER);
    ABT_barrier_reinit(barrier, 2);
    EXPECT_EQ(in_tasklet([&] { return ABT_barrier_wait(barrier); }), ABT_ERR_BARRIER);
    bool through = false;
    Units units;
    units.ult(own_pool(), [&] {
        ABT_barrier_wait(barrier);
        through = true;
    });
    for (int i = 0; i < 3; ++i) ABT_thread_yield();
    EXPECT_FALSE(through);
    EXPECT_EQ(ABT_barrier_wait(barrier), ABT_SUCCESS);
    units.join();
    ABT_barrier_free(&barrier);
}

TEST_F(Barrier, ForOneItDoesNotSwitch) {
    ABT_barrier barrier = ABT_BARRIER_NULL;
    ASSERT_EQ(ABT_barrier_create(1, &barrier), ABT_SUCCESS);
    expect_no_switch([&] {
        for (int i = 0; i < 3; ++i) EXPECT_EQ(ABT_barrier_wait(barrier), ABT_SUCCESS);
    });
    ABT_barrier_free(&barrier);
}

// The first unit to leave frees or reinitializes the barrier while other units have not yet left.
TEST_F(Barrier, MayBeFreedByTheFirstThatGoesOn) {
    Streams streams(3);
    for (int round = 0; round < 100; ++round) {
        ABT_barrier barrier = ABT_BARRIER_NULL;
        ASSERT_EQ(ABT_barrier_create(6, &barrier), ABT_SUCCESS);
        const ABT_barrier at = barrier;
        std::atomic<bool> first{true};
        Units units;
        for (std::size_t i = 0; i < 6; ++i) {
            units.ult(streams.pool(i), [&] {
                EXPECT_EQ(ABT_barrier_wait(at), ABT_SUCCESS);
                if (first.exchange(false)) {
                    EXPECT_EQ(ABT_barrier_free(&barrier), ABT_SUCCESS);
                }
            });
        }
    }
}

}   // namespace
