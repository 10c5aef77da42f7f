// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How guests wait: other clients use their harts meanwhile.
#include "weft/guest.h"

#include <sched.h>

#include <algorithm>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/created_domain.hpp"
#include "test/behaviour/forks.hpp"
#include "test/behaviour/guests.hpp"

namespace {

using namespace weft_test;

// Guests that are inside do not leave before all have been inside.
TEST(Guest, NobodyWaitsForEverWhileOthersYield) {
    Runtime runtime;
    const int count = 2 * static_cast<int>(std::min<std::size_t>(weft_hart_limit(), 8)) + 3;
    atomic<int> come{0};
    with_threads(count, [&](int) {
        Inside in;
        ++come;
        until([&] { return come.load() == count; });
    });
    EXPECT_EQ(come.load(), count);
}

TEST(Guest, ThatWaitsLeavesItsHartToOthers) {
    Runtime runtime;
    const int count = static_cast<int>(std::min<std::size_t>(weft_hart_limit(), 8)) + 3;
    constexpr int phases = 10;
    weft_barrier barrier;
    ASSERT_EQ(weft_barrier_init(&barrier, static_cast<std::size_t>(count), nullptr, nullptr), WEFT_OK);
    atomic<int> steps{0};
    with_threads(count, [&](int) {
        Inside in;
        for (int phase = 1; phase <= phases; ++phase) {
            ++steps;
            weft_barrier_wait(&barrier);
            EXPECT_GE(steps.load(), phase * count);
        }
    });
    EXPECT_EQ(steps.load(), phases * count);
}

TEST(Guest, ThatSleepsGoesOnInTimeThoughAContextYieldsOnItsThread) {
    Created domain;   // lives until the last hart has left, with the runtime
    atomic<bool> over{false};
    Runtime runtime(with_streams(1));
    with_threads(1, [&](int) {
        Inside in;
        domain.create();
        const auto member = [](void* raw) { until([&] { return static_cast<atomic<bool>*>(raw)->load(); }); };
        weft_unit* unit = nullptr;
        EXPECT_EQ(weft_ult_spawn(value_of(weft_domain_pool_get, domain.domain), member, &over, nullptr, &unit),
                  WEFT_OK);
        EXPECT_EQ(weft_domain_request(domain.domain, 1), WEFT_OK);
        for (int i = 0; i < 3; ++i) EXPECT_EQ(weft_sleep_for(1'000'000), WEFT_OK);
        over = true;
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        EXPECT_EQ(weft_domain_request(domain.domain, -1), WEFT_OK);
    });
}

// As many guests as there are harts wait for a guest that is not admitted before one of them makes
// room.
TEST(Guest, ThatWaitsDoesNotLookForTheAnswerOnAHartThatAnotherLacks) {
    weft_settings settings = with_streams(1);
    settings.rescue = WEFT_RESCUE_IGNORE;   // otherwise an additional hart comes soon
    settings.spin_ns = 1'000'000'000;
    Runtime runtime(settings);
    const int limit = static_cast<int>(weft_hart_limit());
    weft_latch answer;
    ASSERT_EQ(weft_latch_init(&answer, 1), WEFT_OK);
    atomic<int> here{0};
    with_threads(limit + 1, [&](int self) {
        if (self != limit) {
            Inside in;
            ++here;
            EXPECT_EQ(weft_latch_wait(&answer), WEFT_OK);
            return;
        }
        while (here.load() != limit) sched_yield();
        const std::uint64_t begin_ns = weft_now_ns();
        Inside in;
        EXPECT_LT(weft_now_ns() - begin_ns, settings.spin_ns / 2);
        EXPECT_EQ(weft_latch_count_down(&answer, 1), WEFT_OK);
    });
}

template <class Condition>
void make_way_until(Condition condition) {
    while (!condition()) {
        weft_hart_make_way();
        std::this_thread::yield();   // lets other OS threads run, too
    }
}

// A team in a domain polls for its members, and a guest polls for the team, as the threads of
// OpenBLAS do: without a call that reveals it. The team needs all harts at once, and has them only
// while the guest has none.
TEST(Guest, ThatLooksInVainStepsAsideUntilThoseItLooksForLookInVain) {
    weft_settings settings = with_streams(1);
    settings.rescue = WEFT_RESCUE_IGNORE;   // otherwise an additional hart comes soon
    settings.slice_ns = 1'000'000'000;      // otherwise the guest would get its turn by the slice
    struct Team {
        Created domain;   // lives until the last hart has left, with the runtime
        int count = static_cast<int>(std::min<std::size_t>(weft_hart_limit(), 8));
        atomic<int> running{0};
        atomic<bool> seen{false};
        weft_latch done;
    } team;
    ASSERT_EQ(weft_latch_init(&team.done, static_cast<std::size_t>(team.count)), WEFT_OK);
    Runtime runtime(settings);
    EXPECT_FALSE(weft_hart_make_way()) << "neither a guest nor a domain's context";
    const std::uint64_t begin_ns = weft_now_ns();
    with_threads(1, [&](int) {
        Inside in;
        EXPECT_FALSE(weft_hart_make_way()) << "nobody could use its hart";
        team.domain.create();
        const auto member = [](void* raw) {
            auto& of = *static_cast<Team*>(raw);
            ++of.running;
            while (of.running.load() != of.count) std::this_thread::yield();
            make_way_until([&] { return of.seen.load(); });
            EXPECT_EQ(weft_latch_count_down(&of.done, 1), WEFT_OK);
        };
        for (int i = 0; i < team.count; ++i)
            EXPECT_EQ(
                weft_ult_spawn(value_of(weft_domain_pool_get, team.domain.domain), member, &team, nullptr, nullptr),
                WEFT_OK);
        EXPECT_EQ(weft_domain_request(team.domain.domain, team.count), WEFT_OK);
        make_way_until([&] { return team.running.load() == team.count; });
        team.seen.store(true);
        EXPECT_EQ(weft_latch_wait(&team.done), WEFT_OK);
        EXPECT_EQ(weft_domain_request(team.domain.domain, -team.count), WEFT_OK);
    });
    EXPECT_LT(weft_now_ns() - begin_ns, settings.slice_ns / 2);
}

TEST(Guest, SharesMutexesAndConditionsWithUnits) {
    Runtime runtime(2);
    constexpr int each = 40;
    weft_mutex mutex = WEFT_MUTEX_INIT;
    weft_cond come = WEFT_COND_INIT;
    int made = 0, taken = 0;
    const auto make = [&] {
        for (int i = 0; i < each; ++i) {
            EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
            ++made;
            EXPECT_EQ(weft_cond_signal(&come), WEFT_OK);
            EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
            if (i % 8 == 0) {
                EXPECT_EQ(weft_unit_yield(), WEFT_OK);
            }
        }
    };
    const auto take = [&] {
        for (int i = 0; i < each; ++i) {
            EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
            while (made == taken) EXPECT_EQ(weft_cond_wait(&come, &mutex), WEFT_OK);
            ++taken;
            EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
        }
    };
    Ult maker(make), taker(take);
    with_threads(6, [&](int self) {
        Inside in;
        self % 2 == 0 ? make() : take();
    });
    EXPECT_EQ(maker.join(), WEFT_OK);
    EXPECT_EQ(taker.join(), WEFT_OK);
    EXPECT_EQ(made, 4 * each);
    EXPECT_EQ(taken, 4 * each);
}

}   // namespace
