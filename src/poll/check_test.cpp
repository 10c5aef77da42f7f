// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "poll/pollers.hpp"
#include "poll/posts.hpp"
#include "poll/timers.hpp"

namespace weft {
namespace {

TEST(TimersCheckDeathTest, ADeadlineThatChangesWhileItWaitsStopsTheProcess) {
    if constexpr (!config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    Timers timers;
    Timer first, second;
    first.deadline_ns = 10;
    second.deadline_ns = 20;
    timers.add(first);
    timers.check_whole();
    first.deadline_ns = 30;
    EXPECT_DEATH(timers.add(second), "does not hold");
}

TEST(TimersCheckDeathTest, AChildThatComesBeforeItsParentStopsTheSimulator) {
    if constexpr (!config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    Timers timers;
    Timer all[8];
    for (std::uint64_t i = 0; i < 8; ++i) {
        all[i].deadline_ns = 10 + i * 5 % 8;
        timers.add(all[i]);
        timers.check_whole();
    }
    Timers::cancel(all[3]);
    timers.check_whole();
    all[5].deadline_ns = 1;
    EXPECT_DEATH(timers.check_whole(), "does not hold");
}

TEST(PollersCheckDeathTest, OneThatIsRemovedTwiceStopsTheProcess) {
    if constexpr (!config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    Pollers pollers;
    Poller* const poller = pollers.add([](void*) { return false; }, nullptr, -1, 0, false);
    ASSERT_NE(poller, nullptr);
    pollers.check_whole();
    pollers.remove(*poller, nullptr);
    pollers.check_whole();
    EXPECT_DEATH(pollers.remove(*poller, nullptr), "does not hold");
}

TEST(PostsCheck, HoldsAtEachTurn) {
    Posts posts;
    for (int i = 0; i < 200; ++i) {
        EXPECT_TRUE(posts.send([](void*) {}, nullptr));
        posts.check_whole();
        if (i % 3 == 0) posts.take_all();
        posts.check_whole();
    }
}

}   // namespace
}   // namespace weft
