// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The decisions about other processes, tested with tables of what was seen.
#include "hart/neighbours.hpp"

#include <gtest/gtest.h>

using namespace weft::hart;

namespace {

constexpr std::uint64_t ms = 1'000'000;

struct NeighboursTest : testing::Test {
    Neighbours judged;
    std::uint64_t now_ns = 1'000 * ms;

    // That many times in a row, 10 ms apart, harts have been delayed by that much; returns the
    // result of the last check.
    std::size_t delayed(std::uint64_t delay_ms, int looks, std::size_t harts = 2, std::uint64_t apart_ms = 10) {
        std::size_t last = 0;
        for (int look = 0; look < looks && last == 0; ++look)
            last = judged.overdue(now_ns += apart_ms * ms, delay_ms * ms, harts);
        return last;
    }
    void withhold() {
        ASSERT_EQ(judged.overdue(now_ns += 100 * ms, 0, 2), 0u);
        ASSERT_EQ(delayed(7, 2), 1u);
        judged.begin(now_ns);
    }
    // The reactor finds the same again and again, 20 ms apart; returns for how long harts stay
    // withheld, at most 10 s.
    std::uint64_t lasts_ms(const Neighbours::Found& found) {
        for (std::uint64_t passed_ms = 20; passed_ms <= 10'000; passed_ms += 20) {
            if (!judged.goes_on(now_ns += 20 * ms, found)) return passed_ms;
        }
        return 10'000;
    }
    // When a hart is withheld again where harts are delayed as before.
    std::uint64_t again_after_ms() {
        const std::uint64_t from_ns = now_ns;
        for (int look = 0; look < 2'000; ++look) {
            if (delayed(7, 1) != 0) break;
        }
        judged.begin(now_ns);
        return (now_ns - from_ns) / ms;
    }
    static Neighbours::Found found(std::uint64_t delay_ms, std::uint64_t idle_ms, bool lacks = true,
                                   bool switched = true) {
        return {delay_ms * ms, true, idle_ms * ms, lacks, switched};
    }
};

TEST_F(NeighboursTest, OneHartIsWithheldWhereTwoAreDelayedTwiceInARow) {
    EXPECT_EQ(judged.overdue(now_ns, 0, 2), 0u);
    EXPECT_EQ(delayed(7, 1), 0u);
    EXPECT_EQ(delayed(7, 1), 1u);
    EXPECT_EQ(judged.withheld(), 1u);
}

TEST_F(NeighboursTest, ThreadsOfOursThatShareAProcessorWhileAnotherOneIsIdleAreNone) {
    judged.overdue(now_ns, 0, 2);
    for (int look = 0; look < 20; ++look) {
        EXPECT_EQ(judged.overdue(now_ns += 10 * ms, 7 * ms, 2, judged.suspects() ? 10 * ms : 0), 0u);
    }
    EXPECT_EQ(judged.overdue(now_ns += 10 * ms, 7 * ms, 2), 0u) << "the other one has not been looked at before";
    EXPECT_EQ(judged.overdue(now_ns += 10 * ms, 7 * ms, 2, 1 * ms), 1u);
}

TEST_F(NeighboursTest, ADelayNowAndThenIsNone) {
    judged.overdue(now_ns, 0, 2);
    for (int turn = 0; turn < 20; ++turn) {
        EXPECT_EQ(delayed(7, 1), 0u);
        EXPECT_EQ(delayed(1, 1), 0u);
    }
}

TEST_F(NeighboursTest, WhatTheFirstLookFindsIsOfAnUnknownTime) {
    EXPECT_EQ(delayed(1'000, 1), 0u);
    EXPECT_EQ(delayed(7, 1), 0u);
}

TEST_F(NeighboursTest, NoneIsWithheldOfATeamThatWaitsSeldom) {
    judged.overdue(now_ns, 0, 2);
    EXPECT_EQ(delayed(40, 20, 2, 60), 0u);
}

TEST_F(NeighboursTest, AsManyAsOthersComputeAreWithheld) {
    judged.overdue(now_ns, 0, 8);
    EXPECT_EQ(delayed(9, 2, 8), 1u);   // 8 / 9 of a processor
    judged.refused(now_ns);
    now_ns += 10'000 * ms;
    judged.overdue(now_ns, 0, 8);
    EXPECT_EQ(delayed(22, 2, 8), 3u);   // 3 * 8 / 11
}

TEST_F(NeighboursTest, NoneIsWithheldWhereAsManyOthersComputeAsThereAreHarts) {
    judged.overdue(now_ns, 0, 2);
    EXPECT_EQ(delayed(11, 20), 0u);
}

TEST_F(NeighboursTest, TheOnlyHartIsNeverWithheld) {
    judged.overdue(now_ns, 0, 1);
    EXPECT_EQ(delayed(7, 20, 1), 0u);
}

TEST_F(NeighboursTest, ItIsWithheldForAsLongAsTheNeighbourComputes) {
    withhold();
    EXPECT_EQ(lasts_ms(found(1, 0)), 10'000u);
}

TEST_F(NeighboursTest, ItComesBackWhenAProcessorIsIdle) {
    withhold();
    EXPECT_EQ(lasts_ms(found(0, 18)), 40u);
}

TEST_F(NeighboursTest, ItComesBackWhereTheOthersAreDelayedAllTheSame) {
    withhold();
    EXPECT_EQ(lasts_ms(found(8, 0)), 40u);
}

TEST_F(NeighboursTest, ItComesBackWhenWhatWaitsForAHartWaitsBehindALongPhase) {
    withhold();
    EXPECT_EQ(lasts_ms(found(0, 0, true, false)), 40u);
}

TEST_F(NeighboursTest, ItComesBackWhenNobodyHasAnythingToDo) {
    withhold();
    EXPECT_EQ(lasts_ms(found(0, 0, false, false)), 100u);
}

TEST_F(NeighboursTest, ItComesBackNowAndThenWhereNobodyKnowsWhichProcessorsAreIdle) {
    withhold();
    Neighbours::Found blind = found(0, 0);
    blind.idle_known = false;
    EXPECT_EQ(lasts_ms(blind), 500u);
}

TEST_F(NeighboursTest, WhatWasOfNoUseIsTriedAgainLaterAndLater) {
    withhold();
    std::uint64_t last_ms = 0;
    for (int turn = 0; turn < 4; ++turn) {
        lasts_ms(found(8, 0));
        const std::uint64_t after_ms = again_after_ms();
        EXPECT_GE(after_ms, std::max<std::uint64_t>(250, 3 * last_ms / 2));
        last_ms = after_ms;
    }
    for (int turn = 0; turn < 10; ++turn) {
        lasts_ms(found(8, 0));
        EXPECT_LE(last_ms = again_after_ms(), 4'100u);
    }
    lasts_ms(found(1, 0));    // withholding was right for long,
    lasts_ms(found(0, 20));   // and the neighbour has gone
    EXPECT_LE(again_after_ms(), 60u);
}

TEST_F(NeighboursTest, WhereThoseThatWereLeftRanForLongItIsSoonTriedAgain) {
    withhold();
    for (int turn = 0; turn < 10; ++turn) {
        for (int look = 0; look < 10; ++look) EXPECT_TRUE(judged.goes_on(now_ns += 20 * ms, found(1, 0)));
        EXPECT_LE(lasts_ms(found(15, 0)), 40u);
        EXPECT_LE(again_after_ms(), 60u);
    }
}

}   // namespace
