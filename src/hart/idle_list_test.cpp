// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hart/idle_list.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace weft {
namespace {

TEST(IdleList, ASleeperOnTheListIsClaimedOnce) {
    IdleList idle_list;
    Sleeper sleeper;
    IdleList::Entry place(sleeper);
    sleeper.prepare();
    idle_list.add(place);
    idle_list.wake_one();
    idle_list.wake_one();
    EXPECT_TRUE(sleeper.cancel());
    idle_list.remove(place);
    sleeper.prepare();
    idle_list.add(place);
    EXPECT_FALSE(sleeper.cancel());
    idle_list.remove(place);
}

TEST(IdleList, AWakeWithNobodyOnTheListIsForgotten) {
    IdleList idle_list;
    Sleeper sleeper;
    IdleList::Entry place(sleeper);
    idle_list.wake_one();
    idle_list.wake_some(3);
    idle_list.wake_after_plain_push();
    sleeper.prepare();
    idle_list.add(place);
    idle_list.remove(place);
    idle_list.wake_one();
    EXPECT_FALSE(sleeper.cancel());
}

TEST(IdleList, WakesTheNewestAndNoMoreThanAsked) {
    IdleList idle_list;
    Sleeper sleepers[4];
    IdleList::Entry places[4];
    for (int i = 0; i < 4; ++i) {
        places[i].belong_to(sleepers[i]);
        sleepers[i].prepare();
        idle_list.add(places[i]);
    }
    idle_list.wake_one();
    idle_list.wake_some(2);
    EXPECT_FALSE(sleepers[0].cancel());
    for (int i = 1; i < 4; ++i) EXPECT_TRUE(sleepers[i].cancel());
    for (auto& place : places) idle_list.remove(place);
}

TEST(IdleList, AReserveIsCalledOnlyWhenThereIsNobodyElse) {
    static int called;
    called = 0;
    IdleList idle_list;
    Sleeper reserve([](Sleeper&) { ++called; }), sleeper;
    IdleList::Entry behind(reserve), place(sleeper);
    reserve.prepare();
    idle_list.add_reserve(behind);
    EXPECT_TRUE(reserve.lie_down());
    sleeper.prepare();
    idle_list.add(place);
    idle_list.wake_one();
    EXPECT_EQ(called, 0);
    EXPECT_TRUE(sleeper.cancel());
    EXPECT_TRUE(idle_list.anybody());
    idle_list.wake_one();
    idle_list.wake_one();
    EXPECT_EQ(called, 1);
    EXPECT_FALSE(idle_list.anybody());
    idle_list.remove(behind);
    reserve.rise();
    reserve.prepare();
    EXPECT_TRUE(reserve.lie_down());
    reserve.wake();   // bypasses all idle lists
    EXPECT_EQ(called, 2);
    reserve.rise();
    reserve.prepare();
    idle_list.add_reserve(behind);
    idle_list.remove(behind);
    idle_list.wake_one();
    EXPECT_FALSE(reserve.cancel());
    idle_list.remove(place);
}

TEST(IdleList, OneThatAnotherListHasWokenIsPassedOver) {
    IdleList here, there;
    Sleeper both, one;
    IdleList::Entry here_both(both), there_both(both), here_one(one);
    one.prepare();
    here.add(here_one);
    both.prepare();
    here.add(here_both);
    there.add(there_both);
    there.wake_one();
    here.wake_one();   // finds `both` first, which is taken, and must try `one` next
    EXPECT_TRUE(one.cancel());
    EXPECT_TRUE(both.cancel());
    here.remove(here_both);
    here.remove(here_one);
    there.remove(there_both);
}

TEST(IdleList, PlacesComeOffFromAnywhereInTheList) {
    for (int which = 0; which < 3; ++which) {
        IdleList idle_list;
        Sleeper sleepers[3];
        IdleList::Entry places[3];
        for (int i = 0; i < 3; ++i) {
            places[i].belong_to(sleepers[i]);
            sleepers[i].prepare();
            idle_list.add(places[i]);
        }
        idle_list.remove(places[which]);
        idle_list.wake_some(3);
        for (int i = 0; i < 3; ++i) EXPECT_EQ(sleepers[i].cancel(), i != which);
        for (auto& place : places) idle_list.remove(place);
    }
}

TEST(Sleeper, AWakeIsForThisOneAndOnlyWhileItListens) {
    Sleeper sleeper;
    sleeper.wake();   // awake: nothing to remember, the stream will check its requests
    sleeper.prepare();
    EXPECT_FALSE(sleeper.cancel());
    sleeper.prepare();
    sleeper.wake();
    EXPECT_TRUE(sleeper.wait());
}

TEST(Sleeper, AWaitWithALimitEndsWhenNobodyComes) {
    Sleeper sleeper;
    sleeper.prepare();
    const std::uint64_t begin = os::now_ns();
    EXPECT_FALSE(sleeper.wait(2'000'000));
    EXPECT_GE(os::now_ns() - begin, 2'000'000u);
    sleeper.prepare();
    EXPECT_FALSE(sleeper.wait(0));
}

TEST(Sleeper, ARequestIsNeverOverslept) {
    constexpr int requests = 3'000;
    Sleeper sleeper;
    atomic<int> request{0}, seen{0};
    std::thread stream([&] {
        for (int have = 0; have < requests;) {
            sleeper.prepare();
            if (request.load() != have) {
                sleeper.cancel();
            } else {
                sleeper.wait();
            }
            have = request.load();
            seen.store(have);
        }
    });
    for (int i = 1; i <= requests; ++i) {
        request.store(i);
        sleeper.wake();
        while (seen.load() < i) std::this_thread::yield();   // a lost wake hangs here
    }
    stream.join();
}

// Pools that are numbers, streams that draw from two of them as hart/README.md says, and end as
// soon as they have had their share: a wake that is lost, or not passed on, leaves a stream asleep
// forever while a unit waits.
struct NumberPool {
    atomic<int> units{0};
    IdleList idle_list;

    void push() {
        units.fetch_add(1);
        idle_list.wake_one();
    }
    bool pop() {
        int seen = units.load();
        while (seen != 0) {
            if (units.compare_exchange_weak(seen, seen - 1)) return true;
        }
        return false;
    }
};

void take(NumberPool (&pools)[2], int share) {
    // Made anew for each stream, and freed while wakers may still be at the idle lists.
    auto sleeper = std::make_unique<Sleeper>();
    auto places = std::make_unique<IdleList::Entry[]>(2);
    for (int i = 0; i < 2; ++i) places[i].belong_to(*sleeper);
    const auto look = [&] { return pools[0].pop() || pools[1].pop(); };
    for (int taken = 0; taken < share;) {
        if (look()) {
            ++taken;
            continue;
        }
        sleeper->prepare();
        for (int i = 0; i < 2; ++i) pools[i].idle_list.add(places[i]);
        bool found = look();
        const bool claimed = found ? sleeper->cancel() : sleeper->wait();
        for (int i = 0; i < 2; ++i) pools[i].idle_list.remove(places[i]);
        if (claimed && !found) found = look();
        if (found) ++taken;
        if (!claimed || !found) continue;
        for (auto& pool : pools) {
            if (pool.units.load() != 0) pool.idle_list.wake_one();
        }
    }
}

TEST(IdleList, NoUnitWaitsWhileAStreamThatDrawsFromItsPoolSleeps) {
    constexpr int rounds = 150, streams = 3, share = 20, pushers = 2;
    for (int round = 0; round < rounds; ++round) {
        NumberPool pools[2];
        std::vector<std::thread> threads;
        for (int i = 0; i < streams; ++i) threads.emplace_back([&] { take(pools, share); });
        for (int i = 0; i < pushers; ++i) {
            threads.emplace_back([&, i] {
                for (int unit = 0; unit < streams * share / pushers; ++unit) {
                    pools[(unit + i) % 2].push();
                    if (unit % 5 == round % 5) std::this_thread::yield();
                }
            });
        }
        for (auto& thread : threads) thread.join();   // a lost wake hangs here
        ASSERT_EQ(pools[0].units.load() + pools[1].units.load(), 0);
    }
}

}   // namespace
}   // namespace weft
