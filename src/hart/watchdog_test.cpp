// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The decisions of rescue, tested with tables of what was seen.
#include "hart/watchdog.hpp"

#include <gtest/gtest.h>

#include <vector>

using namespace weft::hart;
using weft::os::Doing;

namespace {

constexpr std::uint64_t ms = 1'000'000;

struct Seen {
    std::uint64_t at_ms;
    bool holds;
    std::uint64_t switches;
    std::uint64_t used_us;   // of its OS thread
    Pulse pulse;
    Doing doing = Doing::unknown;
};

void expect(const std::vector<Seen>& table) {
    Heart heart;
    for (const Seen& row : table) {
        SCOPED_TRACE(row.at_ms);
        EXPECT_EQ(heart.look(
                      row.at_ms * ms, row.holds, row.switches,
                      [&](std::uint64_t& ns) {
                          ns = row.used_us * 1000;
                          return true;
                      },
                      [&] { return row.doing; }),
                  row.pulse);
    }
}

}   // namespace

TEST(Heart, MovesAsLongAsItSwitches) {
    expect({{10, true, 1, 0, Pulse::moves}, {20, true, 2, 0, Pulse::moves}, {30, true, 9, 0, Pulse::moves}});
}

TEST(Heart, OneThatComputesKeepsItsHart) {
    expect({{10, true, 1, 0, Pulse::moves},
            {20, true, 1, 10'000, Pulse::keeps},
            {30, true, 1, 20'000, Pulse::keeps},
            {40, true, 2, 30'000, Pulse::moves}});
}

TEST(Heart, OneWhoseThreadUsesNoTimeStandsStill) {
    expect({{10, true, 1, 0, Pulse::moves},
            {20, true, 1, 500, Pulse::keeps},
            {30, true, 1, 500, Pulse::stands},
            {40, true, 1, 510, Pulse::stands},
            {50, true, 1, 5'000, Pulse::keeps}});
}

TEST(Heart, OneThatTheKernelSaysWaitsThereBlocksUntilItMoves) {
    expect({{10, true, 1, 0, Pulse::moves},
            {20, true, 1, 0, Pulse::blocks, Doing::waits},
            {30, true, 1, 0, Pulse::blocks, Doing::runs},   // not asked again
            {40, true, 1, 9'000, Pulse::keeps, Doing::waits},
            {50, true, 2, 9'000, Pulse::moves, Doing::waits}});
}

TEST(Heart, OneThatWaitsForAProcessorAsIfItComputedKeepsItsHart) {
    expect({{10, true, 1, 0, Pulse::moves},
            {20, true, 1, 0, Pulse::keeps, Doing::runs},
            {30, true, 1, 0, Pulse::blocks, Doing::waits}});
}

TEST(Heart, OneThatHasJustTakenAHartHasMoved) {
    expect({{10, false, 1, 0, Pulse::rests},
            {20, true, 1, 0, Pulse::moves},
            {30, true, 1, 0, Pulse::stands},
            {40, true, 1, 0, Pulse::stands},
            {50, false, 1, 0, Pulse::rests}});
}

TEST(Heart, OneWhoseTimeNobodyKnowsDoesNotStand) {
    Heart heart;
    const auto unknown = [](std::uint64_t&) { return false; };
    const auto waits = [] { return Doing::waits; };
    EXPECT_EQ(heart.look(10 * ms, true, 1, unknown, waits), Pulse::moves);
    for (std::uint64_t at = 20; at <= 100; at += 10)
        EXPECT_EQ(heart.look(at * ms, true, 1, unknown, waits), Pulse::keeps);
    EXPECT_EQ(heart.since_ns(), 10 * ms);
}

TEST(Servers, AreStuckWhenNoneMovesOrOneStandsForWhomNobodyStandsIn) {
    struct Row {
        std::vector<std::pair<Pulse, bool>> all;
        bool stuck;
    };
    const Row table[] = {
        {{}, false},
        {{{Pulse::rests, false}, {Pulse::rests, false}}, false},
        {{{Pulse::moves, false}, {Pulse::keeps, false}}, false},
        {{{Pulse::keeps, false}, {Pulse::keeps, false}}, true},
        {{{Pulse::keeps, false}, {Pulse::rests, false}}, true},
        {{{Pulse::moves, false}, {Pulse::stands, false}}, true},
        {{{Pulse::moves, false}, {Pulse::stands, true}}, false},
        {{{Pulse::keeps, false}, {Pulse::stands, true}}, true},
        {{{Pulse::moves, false}, {Pulse::blocks, false}}, true},
        {{{Pulse::moves, false}, {Pulse::blocks, true}}, false},
    };
    for (const Row& row : table) {
        Servers servers;
        for (auto [pulse, stood_in_for] : row.all) servers.add(pulse, 1, stood_in_for);
        EXPECT_EQ(servers.stuck(), row.stuck) << &row - table;
    }
}

TEST(Servers, SayWhoHasBlockedForLongest) {
    Servers servers;
    EXPECT_EQ(servers.blocked_since_ns, 0u);
    servers.add(Pulse::stands, 10, false);
    EXPECT_EQ(servers.blocked_since_ns, 0u);
    servers.add(Pulse::blocks, 30, false);
    servers.add(Pulse::blocks, 10, true);
    servers.add(Pulse::blocks, 20, false);
    EXPECT_EQ(servers.blocked_since_ns, 20u);
    EXPECT_EQ(servers.blocked, 2u);
    EXPECT_EQ(servers.standing, 3u);
}

namespace {

// The checks, in ms, at which look() says that it is time to help.
std::vector<std::uint64_t> helps(Watchdog& dog, std::uint64_t from_ms, std::uint64_t to_ms, bool stuck = true) {
    std::vector<std::uint64_t> at;
    for (std::uint64_t now = from_ms; now <= to_ms; now += 10) {
        if (dog.look(now * ms, stuck)) at.push_back(now);
    }
    return at;
}

using At = std::vector<std::uint64_t>;

}   // namespace

TEST(Watchdog, SaysItTwiceAsLateEachTimeUpToTheLongestWait) {
    Watchdog dog(10 * ms, 80 * ms);
    EXPECT_FALSE(dog.look(100 * ms, false));
    EXPECT_EQ(helps(dog, 110, 500), (At{110, 130, 170, 250, 330, 410, 490}));
}

TEST(Watchdog, TheFirstLookOfAllSaysNothing) {
    Watchdog dog(10 * ms, 80 * ms);
    EXPECT_EQ(helps(dog, 100, 140), (At{110, 130}));
}

TEST(Watchdog, WaitsAnewWhenItWasNotStuckMeanwhile) {
    Watchdog dog(20 * ms, 80 * ms);
    EXPECT_EQ(helps(dog, 100, 110), At{});
    EXPECT_EQ(helps(dog, 120, 120, false), At{});
    EXPECT_EQ(helps(dog, 130, 150), At{140});
}

TEST(Watchdog, StaysPatientUntilOneWhoWasHelpedSwitches) {
    Watchdog dog(10 * ms, 80 * ms);
    EXPECT_EQ(helps(dog, 100, 250), (At{110, 130, 170, 250}));
    EXPECT_EQ(helps(dog, 260, 300, false), At{});
    EXPECT_EQ(helps(dog, 310, 390), At{380});
    dog.relieved();
    EXPECT_EQ(helps(dog, 400, 430), (At{400, 420}));
}

TEST(Watchdog, SaysItAgainWhenNoHelpCouldBeHad) {
    Watchdog dog(10 * ms, 80 * ms);
    EXPECT_EQ(helps(dog, 100, 110), At{110});
    dog.not_helped();
    EXPECT_EQ(helps(dog, 120, 120), At{120});
    dog.not_helped();
    EXPECT_EQ(helps(dog, 130, 160), (At{130, 150}));
}

TEST(Watchdog, OneThatBlocksIsHelpedAfterTheFirstWaitHoweverManyWereBefore) {
    Watchdog dog(10 * ms, 80 * ms);
    EXPECT_FALSE(dog.look(100 * ms, true, 100 * ms));
    EXPECT_TRUE(dog.look(110 * ms, true, 100 * ms));
    EXPECT_FALSE(dog.look(111 * ms, true, 111 * ms));
    EXPECT_TRUE(dog.look(121 * ms, true, 111 * ms));
    EXPECT_TRUE(dog.look(122 * ms, true, 105 * ms));   // another one, which has been blocked all the while
    EXPECT_FALSE(dog.look(123 * ms, true, 123 * ms));
    EXPECT_TRUE(dog.look(133 * ms, true, 123 * ms));
}

TEST(Watchdog, OneThatBlocksMakesNobodyElseWaitLonger) {
    Watchdog dog(10 * ms, 80 * ms);
    EXPECT_FALSE(dog.look(100 * ms, true, 100 * ms));
    EXPECT_TRUE(dog.look(110 * ms, true, 100 * ms));
    EXPECT_EQ(helps(dog, 120, 160), (At{120, 140}));
}

TEST(Watchdog, WhoBeginsAnewDoesNotCountTheTimeBefore) {
    Watchdog dog(10 * ms, 80 * ms);
    EXPECT_EQ(helps(dog, 100, 110), At{110});
    dog.relieved();
    dog.begin();
    EXPECT_EQ(helps(dog, 500, 510), At{510});
}
