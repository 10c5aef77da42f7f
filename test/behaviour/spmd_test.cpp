// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One function on many contexts at once.
#include "weft/spmd.h"
#include "weft/guest.h"

#include <cstdint>
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/support.hpp"

namespace {

using namespace weft_test;

template <class Body>
weft_status team(std::size_t count, Body& body) {
    return weft_spmd(
        count, [](void* raw) { (*static_cast<Body*>(raw))(); }, &body);
}

TEST(Spmd, EachMemberHasItsNumber) {
    Runtime runtime;
    constexpr std::size_t count = 100;
    std::vector<int> seen(count);
    auto body = [&] {
        EXPECT_EQ(weft_spmd_size(), count);
        ++seen[weft_spmd_member()];
    };
    EXPECT_EQ(team(count, body), WEFT_OK) << weft_error_text();
    EXPECT_EQ(seen, std::vector<int>(count, 1));
    EXPECT_EQ(weft_spmd_member(), SIZE_MAX);
    EXPECT_EQ(weft_spmd_size(), 0u);
}

TEST(Spmd, MembersWaitForEachOtherHoweverFewHartsThereAre) {
    Runtime runtime;
    constexpr std::size_t count = 16;
    constexpr int phases = 30;
    weft_barrier barrier;
    ASSERT_EQ(weft_barrier_init(&barrier, count, nullptr, nullptr), WEFT_OK);
    weft_mutex mutex = WEFT_MUTEX_INIT;
    int sum = 0;
    auto body = [&] {
        for (int phase = 0; phase < phases; ++phase) {
            EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
            ++sum;
            EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
            weft_barrier_wait(&barrier);
            EXPECT_EQ(sum, (phase + 1) * static_cast<int>(count));
            weft_barrier_wait(&barrier);
        }
    };
    EXPECT_EQ(team(count, body), WEFT_OK);
}

TEST(Spmd, AMemberThatYieldsUntilAnotherHasComeDoesNotKeepItFromBeginning) {
    Runtime runtime;
    constexpr int count = 8;
    atomic<int> here{0};
    auto body = [&] {
        ++here;
        while (here.load() != count) EXPECT_EQ(weft_unit_yield(), WEFT_OK);
    };
    EXPECT_EQ(team(count, body), WEFT_OK);
    EXPECT_EQ(here.load(), count);
}

TEST(Spmd, NestsToAnyDepth) {
    Runtime runtime(2);
    atomic<int> leaves{0};
    auto leaf = [&] { ++leaves; };
    auto inner = [&] {
        const std::size_t before = weft_spmd_member();
        EXPECT_EQ(team(3, leaf), WEFT_OK) << weft_error_text();
        EXPECT_EQ(weft_spmd_member(), before);
    };
    auto outer = [&] { EXPECT_EQ(team(3, inner), WEFT_OK); };
    for (int round = 0; round < 5; ++round) {
        leaves = 0;
        EXPECT_EQ(team(3, outer), WEFT_OK);
        EXPECT_EQ(leaves.load(), 27);
    }
}

// At each level, one member calls no team; it yields as the leaves do.
TEST(Spmd, MembersOfNestedTeamsThatYieldUntilAllHaveComeKeepNoneOfThemFromBeginning) {
    for (const std::size_t streams : {1, 2}) {
        Runtime runtime(streams);
        constexpr int all = 1 + 2 * (1 + 2 * 3);
        atomic<int> here{0};
        auto wait = [&] {
            ++here;
            while (here.load() != all) EXPECT_EQ(weft_unit_yield(), WEFT_OK);
        };
        const auto wait_or_call = [&](auto& body) {
            if (weft_spmd_member() == 0) return wait();
            EXPECT_EQ(team(3, body), WEFT_OK);
        };
        auto inner = [&] { wait_or_call(wait); };
        auto outer = [&] { wait_or_call(inner); };
        EXPECT_EQ(team(3, outer), WEFT_OK) << weft_error_text();
        EXPECT_EQ(here.load(), all);
    }
}

// An OS thread from outside brings the only hart, and the members wait for a unit on a stream.
TEST(Spmd, NestedTeamsThatYieldUntilAUnitHasRunGiveTheHartBackForIt) {
    weft_settings settings = with_streams(1);
    settings.harts = 1;
    settings.rescue = WEFT_RESCUE_IGNORE;
    Runtime runtime(settings);
    constexpr int all = 4;
    atomic<int> here{0};
    atomic<bool> ran{false};
    weft_event come{}, over{};
    auto inner = [&] {
        if (++here == all) weft_event_set(&come, nullptr);
        while (!ran.load()) EXPECT_EQ(weft_unit_yield(), WEFT_OK);
    };
    auto outer = [&] { EXPECT_EQ(team(2, inner), WEFT_OK); };
    std::thread caller([&] {
        EXPECT_EQ(team(2, outer), WEFT_OK) << weft_error_text();
        EXPECT_EQ(weft_event_set(&over, nullptr), WEFT_OK);
    });
    EXPECT_EQ(weft_event_wait(&come, nullptr), WEFT_OK);
    ran = true;
    EXPECT_EQ(weft_event_wait(&over, nullptr), WEFT_OK);
    caller.join();
}

// Other clients want harts all the time, and slices are short: the hart of a member that yields
// goes from OS thread to OS thread, also to those of guests that are about to go on.
void yield_among_guests(int guests, int rounds) {
    weft_settings settings = with_streams(2);
    settings.slice_ns = 100;
    Runtime runtime(settings);
    atomic<int> left{guests};
    auto member = [&] {
        if (weft_spmd_member() != 0) return;
        while (left.load() != 0) {
            EXPECT_EQ(weft_unit_yield(), WEFT_OK);
            std::this_thread::yield();
        }
    };
    const auto guest = [&] {
        EXPECT_EQ(weft_guest_enter(), WEFT_OK);
        for (int round = 0; round < rounds; ++round) EXPECT_EQ(weft_unit_yield(), WEFT_OK);
        EXPECT_EQ(weft_guest_leave(), WEFT_OK);
        --left;
    };
    std::vector<std::thread> others;
    for (int i = 0; i < guests; ++i) others.emplace_back(guest);
    EXPECT_EQ(team(2, member), WEFT_OK) << weft_error_text();
    for (std::thread& other : others) other.join();
}

TEST(Spmd, AMemberThatYieldsAmongTwoGuestsKeepsATurn) { yield_among_guests(2, 30); }
TEST(Spmd, AMemberThatYieldsAmongFourGuestsKeepsATurn) { yield_among_guests(4, 40); }

TEST(Spmd, SeveralAtOnceShareTheHarts) {
    Runtime runtime(2);
    atomic<int> ran{0};
    auto body = [&] {
        for (int i = 0; i < 10; ++i) EXPECT_EQ(weft_unit_yield(), WEFT_OK);
        ++ran;
    };
    std::vector<std::unique_ptr<Ult>> callers;
    for (int i = 0; i < 6; ++i) callers.push_back(std::make_unique<Ult>([&] { EXPECT_EQ(team(4, body), WEFT_OK); }));
    for (auto& caller : callers) EXPECT_EQ(caller->join(), WEFT_OK);
    EXPECT_EQ(ran.load(), 24);
}

TEST(Spmd, IsRefusedWhereNobodyCouldWait) {
    Runtime runtime;
    EXPECT_EQ(weft_spmd(1, nullptr, nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_spmd(
                  0, [](void*) {}, nullptr),
              WEFT_OK);
    weft_unit* tasklet = nullptr;
    ASSERT_EQ(weft_tasklet_spawn(
                  nullptr,
                  [](void*) {
                      EXPECT_EQ(weft_spmd(
                                    1, [](void*) {}, nullptr),
                                WEFT_WRONG_CONTEXT);
                  },
                  nullptr, nullptr, &tasklet),
              WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
}

}   // namespace
