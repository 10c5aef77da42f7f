// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "thief.hpp"

#include <gtest/gtest.h>

namespace weft_openmp {
namespace {

// A thief counts tasks as short as soon as it has timed a short one.
Thief of_short_tasks() {
    Thief thief;
    thief.ran(Thief::short_ns - 1);
    return thief;
}

TEST(Thief, TakesLongTasksAsTheyCome) {
    Thief thief;
    for (int length = 1; length < 10; ++length) EXPECT_TRUE(thief.takes(length));
    thief.ran(Thief::short_ns);
    EXPECT_TRUE(thief.takes(20));
}

TEST(Thief, LeavesShortOnesAsLongAsTheyBecomeMore) {
    Thief thief = of_short_tasks();
    EXPECT_FALSE(thief.takes(1));
    EXPECT_FALSE(thief.takes(5));
    EXPECT_TRUE(thief.takes(5));
}

TEST(Thief, LeavesShortOnesOnceBeforeItTakesTheNext) {
    Thief thief = of_short_tasks();
    for (int length = 5; length > 0; --length) {
        EXPECT_FALSE(thief.takes(length));
        EXPECT_TRUE(thief.takes(length));
        thief.took();
    }
}

TEST(Thief, LeavesThemOnlySoOften) {
    Thief thief = of_short_tasks();
    for (unsigned left = 0; left < Thief::most_left; ++left) EXPECT_FALSE(thief.takes(1 + left));
    EXPECT_TRUE(thief.takes(100));
    thief.took();
    EXPECT_FALSE(thief.takes(200));
}

TEST(Thief, AsksNowAndThenHowLongTheyRunAndAlwaysWhileTheyAreShort) {
    Thief thief;
    unsigned asked = 0;
    for (unsigned i = 0; i < 10 * Thief::sample; ++i) asked += thief.took() ? 1 : 0;
    EXPECT_EQ(asked, 10U);
    thief.ran(0);
    for (unsigned i = 0; i < Thief::sample; ++i) EXPECT_TRUE(thief.took());
    thief.ran(1'000'000);
    EXPECT_TRUE(thief.takes(50));
}

}   // namespace
}   // namespace weft_openmp
