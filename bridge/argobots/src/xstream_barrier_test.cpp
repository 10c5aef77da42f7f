// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_support.hpp"

#include <atomic>
#include <thread>

namespace {

using abt_test::own_pool;
using abt_test::Streams;
using abt_test::Units;

class XstreamBarrier : public abt_test::Argobots {};

TEST_F(XstreamBarrier, LetsOsThreadsGoTogether) {
    Streams streams(2);
    ABT_xstream_barrier barrier = ABT_XSTREAM_BARRIER_NULL;
    ASSERT_EQ(ABT_xstream_barrier_create(4, &barrier), ABT_SUCCESS);
    std::atomic<int> arrived{0};
    const auto play = [&] {
        for (int phase = 1; phase <= 10; ++phase) {
            ++arrived;
            EXPECT_EQ(ABT_xstream_barrier_wait(barrier), ABT_SUCCESS);
            EXPECT_GE(arrived, 4 * phase);
            EXPECT_EQ(ABT_xstream_barrier_wait(barrier), ABT_SUCCESS);
        }
    };
    Units units;
    units.ult(streams.pool(0), play);
    units.tasklet(streams.pool(1), play);   // whatever the caller is, the OS thread waits
    std::thread external(play);
    play();
    units.join();
    external.join();
    EXPECT_EQ(ABT_xstream_barrier_free(&barrier), ABT_SUCCESS);
    EXPECT_EQ(barrier, ABT_XSTREAM_BARRIER_NULL);
}

// No other unit runs on an execution stream that waits at the barrier.
TEST_F(XstreamBarrier, TheWholeStreamWaits) {
    Streams streams(1);
    ABT_xstream_barrier barrier = ABT_XSTREAM_BARRIER_NULL;
    ASSERT_EQ(ABT_xstream_barrier_create(2, &barrier), ABT_SUCCESS);
    std::atomic<bool> waits{false}, other_ran{false};
    Units units, others;
    units.ult(streams.pool(0), [&] {
        others.ult(streams.pool(0), [&] { other_ran = true; });
        waits = true;
        ABT_xstream_barrier_wait(barrier);
        EXPECT_FALSE(other_ran);
    });
    while (!waits) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_FALSE(other_ran);
    ABT_xstream_barrier_wait(barrier);
    units.join();
    others.join();
    EXPECT_TRUE(other_ran);
    ABT_xstream_barrier_free(&barrier);
}

TEST_F(XstreamBarrier, Errors) {
    ABT_xstream_barrier none = ABT_XSTREAM_BARRIER_NULL;
    EXPECT_EQ(ABT_xstream_barrier_free(&none), ABT_ERR_INV_XSTREAM_BARRIER);
    EXPECT_EQ(ABT_xstream_barrier_wait(none), ABT_ERR_INV_XSTREAM_BARRIER);
    EXPECT_EQ(ABT_xstream_barrier_create(0, &none), ABT_ERR_INV_ARG);
    EXPECT_EQ(none, ABT_XSTREAM_BARRIER_NULL);
}

}   // namespace
