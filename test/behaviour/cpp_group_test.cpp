// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// weft::spawn_many and weft::thread_group: units that are spawned and joined together.
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "test/behaviour/atomic.hpp"

namespace {

class CppGroup : public testing::TestWithParam<std::size_t> {
protected:
    weft::runtime runtime_{{.streams = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(Streams, CppGroup, testing::Values(1, 3), testing::PrintToStringParamName());

TEST_P(CppGroup, EachNumberIsRunOnce) {
    constexpr std::size_t count = 5000;
    std::vector<weft_test::atomic<int>> runs(count);
    auto group = weft::spawn_many(count, [&runs](std::size_t i) {
        if (i % 7 == 0) weft::this_thread::yield();
        runs[i].fetch_add(1);
    });
    EXPECT_EQ(group.size(), count);
    EXPECT_TRUE(group.joinable());
    group.join();
    EXPECT_EQ(group.size(), 0U);
    EXPECT_FALSE(group.joinable());
    for (const auto& runs_of_one : runs) EXPECT_EQ(runs_of_one, 1);
}

TEST_P(CppGroup, ACallableWithoutANumberIsRunForEach) {
    weft_test::atomic<int> runs{0};
    weft::spawn_many(100, [&runs] { runs.fetch_add(1); }).join();
    EXPECT_EQ(runs, 100);
}

TEST_P(CppGroup, TaskletsComeInBulkToo) {
    weft_test::atomic<std::size_t> sum{0};
    auto group =
        weft::spawn_many({.kind = weft::unit_kind::tasklet, .name = "bulk"}, 100, [&sum](std::size_t i) { sum += i; });
    EXPECT_EQ(group[99].kind(), weft::unit_kind::tasklet);
    EXPECT_EQ(group[0].name(), "bulk");
    group.join();
    EXPECT_EQ(sum, 4950U);
}

TEST_P(CppGroup, NoneIsAGroupToo) {
    auto group = weft::spawn_many(0, [](std::size_t) {});
    EXPECT_FALSE(group.joinable());
    EXPECT_NO_THROW(group.join());
    weft::thread_group empty;
    EXPECT_NO_THROW(empty.join());
}

TEST_P(CppGroup, TheDestructorJoins) {
    weft_test::atomic<int> ended{0};
    {
        const auto group = weft::spawn_many(50, [&ended] {
            weft::this_thread::yield();
            ended.fetch_add(1);
        });
    }
    EXPECT_EQ(ended, 50);
}

TEST_P(CppGroup, JoinRethrowsTheFirstInOrderAfterAllHaveEnded) {
    weft_test::atomic<int> ended{0};
    auto group = weft::spawn_many(20, [&ended](std::size_t i) {
        if (i % 2 == 0) weft::this_thread::yield();
        ended.fetch_add(1);
        if (i == 13 || i == 6) throw i;
    });
    try {
        group.join();
        ADD_FAILURE() << "nothing was thrown";
    } catch (std::size_t number) {
        EXPECT_EQ(number, 6U);
    }
    EXPECT_EQ(ended, 20);
    EXPECT_FALSE(group.joinable());
}

TEST_P(CppGroup, TheCallableLivesUntilTheJoinAndIsDestroyedOnce) {
    auto token = std::make_shared<int>(5);
    weft_test::atomic<int> sum{0};
    auto group = weft::spawn_many(10, [token, &sum](std::size_t) { sum += *token; });
    EXPECT_EQ(token.use_count(), 2);   // one copy for all units
    group.join();
    EXPECT_EQ(sum, 50);
    EXPECT_EQ(token.use_count(), 1);
}

TEST_P(CppGroup, MovingCarriesTheUnitsAlong) {
    weft_test::atomic<int> ended{0};
    auto first = weft::spawn_many(10, [&ended] { ended.fetch_add(1); });
    weft::thread_group second(std::move(first));
    EXPECT_FALSE(first.joinable());
    EXPECT_EQ(second.size(), 10U);
    second = weft::spawn_many(5, [&ended] { ended.fetch_add(100); });
    EXPECT_EQ(ended % 100, 10);   // assignment joins the units that the group had
    second.join();
    EXPECT_EQ(ended, 510);
}

TEST_P(CppGroup, ARefusedSpawnLeavesNothingBehind) {
    auto token = std::make_shared<int>(5);
    try {
        auto group = weft::spawn_many({.child_first = true}, 10, [token](std::size_t) {});
        ADD_FAILURE() << "child_first is not for groups";
    } catch (const weft::error& error) {
        EXPECT_EQ(error.code(), WEFT_INVALID);
    }
    EXPECT_EQ(token.use_count(), 1);
}

TEST_P(CppGroup, JoinAllTakesAnyRangeOfHandles) {
    weft_test::atomic<int> ended{0};
    weft::thread threads[3];
    for (auto& thread : threads) thread = weft::thread([&ended] { ended.fetch_add(1); });
    weft::join_all(threads);
    EXPECT_EQ(ended, 3);
    weft::join_all(threads);   // there is nothing left to join, so nothing happens
    std::vector<weft::tasklet> tasklets;
    for (int i = 0; i < 3; ++i) tasklets.emplace_back([&ended] { ended.fetch_add(1); });
    weft::join_all(tasklets);
    EXPECT_EQ(ended, 6);
}

}   // namespace
