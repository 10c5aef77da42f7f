#include "hart/bell.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace weft {
namespace {

TEST(Bell, ASleeperOnTheListIsClaimedOnce) {
    Bell bell;
    Sleeper sleeper;
    Bell::Entry place(sleeper);
    sleeper.prepare();
    bell.add(place);
    bell.ring();
    bell.ring();
    EXPECT_TRUE(sleeper.cancel());
    bell.remove(place);
    sleeper.prepare();
    bell.add(place);
    EXPECT_FALSE(sleeper.cancel());
    bell.remove(place);
}

TEST(Bell, ARingWithNobodyOnTheListIsForgotten) {
    Bell bell;
    Sleeper sleeper;
    Bell::Entry place(sleeper);
    bell.ring();
    bell.ring(3);
    bell.ring_after_plain_push();
    sleeper.prepare();
    bell.add(place);
    bell.remove(place);
    bell.ring();
    EXPECT_FALSE(sleeper.cancel());
}

TEST(Bell, WakesTheNewestAndNoMoreThanAsked) {
    Bell bell;
    Sleeper sleepers[4];
    Bell::Entry places[4];
    for (int i = 0; i < 4; ++i) {
        places[i].belong_to(sleepers[i]);
        sleepers[i].prepare();
        bell.add(places[i]);
    }
    bell.ring();
    bell.ring(2);
    EXPECT_FALSE(sleepers[0].cancel());
    for (int i = 1; i < 4; ++i) EXPECT_TRUE(sleepers[i].cancel());
    for (auto& place : places) bell.remove(place);
}

TEST(Bell, AReserveIsCalledOnlyWhenThereIsNobodyElse) {
    static int called;
    called = 0;
    Bell bell;
    Sleeper reserve([](Sleeper&) { ++called; }), sleeper;
    Bell::Entry behind(reserve), place(sleeper);
    reserve.prepare();
    bell.add_reserve(behind);
    EXPECT_TRUE(reserve.lie_down());
    sleeper.prepare();
    bell.add(place);
    bell.ring();
    EXPECT_EQ(called, 0);
    EXPECT_TRUE(sleeper.cancel());
    EXPECT_TRUE(bell.anybody());
    bell.ring();
    bell.ring();
    EXPECT_EQ(called, 1);
    EXPECT_FALSE(bell.anybody());
    bell.remove(behind);
    reserve.rise();
    reserve.prepare();
    EXPECT_TRUE(reserve.lie_down());
    reserve.wake();   // past all bells
    EXPECT_EQ(called, 2);
    reserve.rise();
    reserve.prepare();
    bell.add_reserve(behind);
    bell.remove(behind);
    bell.ring();
    EXPECT_FALSE(reserve.cancel());
    bell.remove(place);
}

TEST(Bell, OneThatAnotherBellHasWokenIsPassedOver) {
    Bell here, there;
    Sleeper both, one;
    Bell::Entry here_both(both), there_both(both), here_one(one);
    one.prepare();
    here.add(here_one);
    both.prepare();
    here.add(here_both);
    there.add(there_both);
    there.ring();
    here.ring();   // finds `both` first, which is taken, and must go on to `one`
    EXPECT_TRUE(one.cancel());
    EXPECT_TRUE(both.cancel());
    here.remove(here_both);
    here.remove(here_one);
    there.remove(there_both);
}

TEST(Bell, PlacesComeOffFromAnywhereInTheList) {
    for (int which = 0; which < 3; ++which) {
        Bell bell;
        Sleeper sleepers[3];
        Bell::Entry places[3];
        for (int i = 0; i < 3; ++i) {
            places[i].belong_to(sleepers[i]);
            sleepers[i].prepare();
            bell.add(places[i]);
        }
        bell.remove(places[which]);
        bell.ring(3);
        for (int i = 0; i < 3; ++i) EXPECT_EQ(sleepers[i].cancel(), i != which);
        for (auto& place : places) bell.remove(place);
    }
}

TEST(Sleeper, AWakeIsForThisOneAndOnlyWhileItListens) {
    Sleeper sleeper;
    sleeper.wake();   // awake: nothing to remember, the stream will look at its mail
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

TEST(Sleeper, MailIsNeverOverslept) {
    constexpr int letters = 3'000;
    Sleeper sleeper;
    atomic<int> mail{0}, seen{0};
    std::thread stream([&] {
        for (int have = 0; have < letters;) {
            sleeper.prepare();
            if (mail.load() != have) {
                sleeper.cancel();
            } else {
                sleeper.wait();
            }
            have = mail.load();
            seen.store(have);
        }
    });
    for (int i = 1; i <= letters; ++i) {
        mail.store(i);
        sleeper.wake();
        while (seen.load() < i) std::this_thread::yield();   // a lost wake hangs here
    }
    stream.join();
}

// Pools that are numbers, streams that draw from two of them as hart/README.md says, and end as soon as they have
// had their share: a wake that is lost, or not passed on, leaves a stream asleep over a unit for ever.
struct NumberPool {
    atomic<int> units{0};
    Bell bell;

    void push() {
        units.fetch_add(1);
        bell.ring();
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
    // Made anew for each stream, and freed while ringers may still be at the bells.
    auto sleeper = std::make_unique<Sleeper>();
    auto places = std::make_unique<Bell::Entry[]>(2);
    for (int i = 0; i < 2; ++i) places[i].belong_to(*sleeper);
    const auto look = [&] { return pools[0].pop() || pools[1].pop(); };
    for (int taken = 0; taken < share;) {
        if (look()) {
            ++taken;
            continue;
        }
        sleeper->prepare();
        for (int i = 0; i < 2; ++i) pools[i].bell.add(places[i]);
        bool found = look();
        const bool claimed = found ? sleeper->cancel() : sleeper->wait();
        for (int i = 0; i < 2; ++i) pools[i].bell.remove(places[i]);
        if (claimed && !found) found = look();
        if (found) ++taken;
        if (!claimed || !found) continue;
        for (auto& pool : pools) {
            if (pool.units.load() != 0) pool.bell.ring();
        }
    }
}

TEST(Bell, NoUnitWaitsWhileAStreamThatDrawsFromItsPoolSleeps) {
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
