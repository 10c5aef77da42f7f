// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test_support.hpp"

namespace {

void sleep_ms(long ms) {
    const timespec time{0, ms * 1'000'000};
    nanosleep(&time, nullptr);
}

// All calls are made without ABT_init.
TEST(Timer, ReadsWhatWentByBetweenStartAndStop) {
    ABT_timer timer = ABT_TIMER_NULL;
    ASSERT_EQ(ABT_timer_create(&timer), ABT_SUCCESS);
    EXPECT_EQ(ABT_timer_start(timer), ABT_SUCCESS);
    sleep_ms(5);
    EXPECT_EQ(ABT_timer_stop(timer), ABT_SUCCESS);
    double seconds = -1, again = -1;
    EXPECT_EQ(ABT_timer_read(timer, &seconds), ABT_SUCCESS);
    EXPECT_GE(seconds, 0.005);
    EXPECT_LT(seconds, 5);
    EXPECT_EQ(ABT_timer_read(timer, &again), ABT_SUCCESS);
    EXPECT_EQ(seconds, again);
    sleep_ms(2);
    EXPECT_EQ(ABT_timer_stop_and_read(timer, &again), ABT_SUCCESS);
    EXPECT_GE(again, seconds + 0.002);
    double sum = 100;
    EXPECT_EQ(ABT_timer_stop_and_add(timer, &sum), ABT_SUCCESS);
    EXPECT_GE(sum, 100 + again);
    EXPECT_LT(sum, 105);
    EXPECT_EQ(ABT_timer_free(&timer), ABT_SUCCESS);
    EXPECT_EQ(timer, ABT_TIMER_NULL);
}

TEST(Timer, ACopySaysWhatTheOriginalDoes) {
    ABT_timer timer = ABT_TIMER_NULL, copy = ABT_TIMER_NULL;
    ASSERT_EQ(ABT_timer_create(&timer), ABT_SUCCESS);
    ABT_timer_start(timer);
    sleep_ms(1);
    ABT_timer_stop(timer);
    ASSERT_EQ(ABT_timer_dup(timer, &copy), ABT_SUCCESS);
    EXPECT_NE(timer, copy);
    double seconds = -1, copied = -2;
    ABT_timer_read(timer, &seconds);
    ABT_timer_free(&timer);
    ABT_timer_read(copy, &copied);
    EXPECT_EQ(seconds, copied);
    ABT_timer_free(&copy);
}

TEST(Timer, NoTimerIsAnError) {
    ABT_timer none = ABT_TIMER_NULL, made = ABT_TIMER_NULL;
    double seconds = 7;
    EXPECT_EQ(ABT_timer_dup(none, &made), ABT_ERR_INV_TIMER);
    EXPECT_EQ(ABT_timer_free(&none), ABT_ERR_INV_TIMER);
    EXPECT_EQ(ABT_timer_start(none), ABT_ERR_INV_TIMER);
    EXPECT_EQ(ABT_timer_stop(none), ABT_ERR_INV_TIMER);
    EXPECT_EQ(ABT_timer_read(none, &seconds), ABT_ERR_INV_TIMER);
    EXPECT_EQ(ABT_timer_stop_and_read(none, &seconds), ABT_ERR_INV_TIMER);
    EXPECT_EQ(ABT_timer_stop_and_add(none, &seconds), ABT_ERR_INV_TIMER);
    EXPECT_EQ(seconds, 7);
    EXPECT_EQ(made, ABT_TIMER_NULL);
}

TEST(Timer, ItsOverheadIsSmallAndNotNegative) {
    double overhead = -1;
    EXPECT_EQ(ABT_timer_get_overhead(&overhead), ABT_SUCCESS);
    EXPECT_GE(overhead, 0);
    EXPECT_LT(overhead, 0.001);
}

TEST(Timer, TheTimeIsThatOfTheRealTimeClock) {
    const timespec before = abt_test::from_now(0);
    const double now = ABT_get_wtime();
    const timespec after = abt_test::from_now(0);
    EXPECT_GE(now, static_cast<double>(before.tv_sec) + static_cast<double>(before.tv_nsec) / 1e9 - 1e-6);
    EXPECT_LE(now, static_cast<double>(after.tv_sec) + static_cast<double>(after.tv_nsec) / 1e9 + 1e-6);
}

}   // namespace
