// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls on the stream's stack by code that runs on a domain's hart: members of teams, contexts of
// every kind, callers of arenas, guests.
#include <memory>
#include <vector>

#include <weft/weft.hpp>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/created_domain.hpp"
#include "test/behaviour/forks.hpp"
#include "test/behaviour/guests.hpp"
#include "test/behaviour/support.hpp"
#include "test/behaviour/waiting.hpp"

namespace {

using namespace weft_test;

constexpr int calls = 40;

// Calls, and sometimes lets others run; counts the calls that ran.
void call_often(atomic<int>& made) {
    for (int i = 0; i < calls; ++i) {
        EXPECT_EQ(weft_on_stream_stack([](void* count) { ++*static_cast<atomic<int>*>(count); }, &made), WEFT_OK);
        if (i % 7 != 0) continue;
        EXPECT_EQ(weft_unit_yield(), WEFT_OK);
    }
}

void team_calls(std::size_t members, atomic<int>& made) {
    const auto member = [](void* count) { call_often(*static_cast<atomic<int>*>(count)); };
    EXPECT_EQ(weft_spmd(members, member, &made), WEFT_OK) << weft_error_text();
}

class StreamStackOf : public testing::TestWithParam<std::size_t> {};

TEST_P(StreamStackOf, MembersOfATeamLoseNone) {
    Runtime runtime(GetParam());
    for (std::size_t members : {2u, 5u}) {
        atomic<int> made{0};
        team_calls(members, made);
        EXPECT_EQ(made.load(), static_cast<int>(members) * calls);
    }
}

TEST_P(StreamStackOf, MembersOfTeamsWithinATeamLoseNone) {
    Runtime runtime(GetParam());
    atomic<int> made{0};
    EXPECT_EQ(weft_spmd(
                  2, [](void* count) { team_calls(2, *static_cast<atomic<int>*>(count)); }, &made),
              WEFT_OK);
    EXPECT_EQ(made.load(), 4 * calls);
}

TEST_P(StreamStackOf, ContextsOfEachKindLoseNone) {
    Runtime runtime(GetParam());
    Created library;
    library.create();
    atomic<int> made{0};
    std::vector<std::unique_ptr<Ult>> units;
    const std::vector<weft_kind> kinds{WEFT_KIND_FULL, WEFT_KIND_LSA, WEFT_KIND_ROC,
                                       WEFT_KIND_SS,   WEFT_KIND_SC,  WEFT_KIND_HOSTED};
    for (const weft_kind kind : kinds) {
        auto how = options();
        how.kind = kind;
        units.push_back(
            std::make_unique<Ult>([&made] { call_often(made); }, &how, value_of(weft_domain_pool_get, library.domain)));
    }
    EXPECT_EQ(weft_domain_request(library.domain, 2), WEFT_OK);
    for (auto& unit : units) EXPECT_EQ(unit->join(), WEFT_OK);
    EXPECT_EQ(weft_domain_request(library.domain, -2), WEFT_OK);
    EXPECT_EQ(made.load(), static_cast<int>(kinds.size()) * calls);
}

TEST_P(StreamStackOf, CallersAndHelpersOfAnArenaLoseNone) {
    Runtime runtime(GetParam());
    const weft::arena arena;
    atomic<int> made{0};
    std::vector<std::unique_ptr<Ult>> units;
    for (std::size_t i = 0; i < 3; ++i) {
        units.push_back(std::make_unique<Ult>(
            [&] { arena.execute([&] { weft::invoke([&] { call_often(made); }, [&] { call_often(made); }); }); },
            nullptr, pool_of(i % GetParam())));
    }
    for (auto& unit : units) EXPECT_EQ(unit->join(), WEFT_OK);
    EXPECT_EQ(made.load(), 6 * calls);
}

TEST_P(StreamStackOf, GuestsAndTheirTeamsLoseNone) {
    Runtime runtime(GetParam());
    atomic<int> made{0};
    with_threads(2, [&made](int) {
        const Inside inside;
        call_often(made);
        team_calls(3, made);
        call_often(made);
    });
    EXPECT_EQ(made.load(), 2 * 5 * calls);
}

// The stream receives a request while the unit that has called is about to go on.
TEST_P(StreamStackOf, MembersLoseNoneThoughTheStreamIsWantedMeanwhile) {
    Runtime runtime(GetParam());
    struct Counts {
        atomic<int> made{0}, posted{0};
    } counts;
    EXPECT_EQ(weft_spmd(
                  3,
                  [](void* raw) {
                      for (int i = 0; i < calls; ++i) {
                          EXPECT_EQ(weft_on_stream_stack(
                                        [](void* at) {
                                            auto& of = *static_cast<Counts*>(at);
                                            ++of.made;
                                            const auto note = [](void* count) { ++*static_cast<atomic<int>*>(count); };
                                            if (weft_stream_post(weft_stream_at(0), note, &of.posted) != WEFT_OK)
                                                ++of.posted;
                                        },
                                        raw),
                                    WEFT_OK);
                      }
                  },
                  &counts),
              WEFT_OK);
    EXPECT_EQ(counts.made.load(), 3 * calls);
    EXPECT_TRUE(holds_at_last([&] {
        weft_unit_yield();
        return counts.posted.load() == 3 * calls;
    }));
}

// A context that runs on the OS thread of a guest wakes that guest from the stream's stack: the
// guest goes on first, and the context on another thread, or later.
TEST_P(StreamStackOf, ContextsLoseNoneThoughTheGuestGoesOnWhoseThreadTheyHave) {
    Runtime runtime(GetParam());
    struct Lent {
        Created library;
        weft_semaphore woken;
        atomic<int> calls{0};
    } lent;
    lent.library.create();
    ASSERT_EQ(weft_semaphore_init(&lent.woken, 0), WEFT_OK);
    with_threads(1, [&lent](int) {
        const Inside inside;
        Ult context(
            [&lent] {
                for (int i = 0; i < calls; ++i) {
                    EXPECT_EQ(weft_on_stream_stack(
                                  [](void* raw) {
                                      auto& of = *static_cast<Lent*>(raw);
                                      ++of.calls;
                                      EXPECT_EQ(weft_semaphore_release(&of.woken, 1), WEFT_OK);
                                  },
                                  &lent),
                              WEFT_OK);
                }
            },
            nullptr, value_of(weft_domain_pool_get, lent.library.domain));
        EXPECT_EQ(weft_domain_request(lent.library.domain, 1), WEFT_OK);
        for (int i = 0; i < calls; ++i) EXPECT_EQ(weft_semaphore_acquire(&lent.woken), WEFT_OK);
        EXPECT_EQ(context.free(), WEFT_OK);
        EXPECT_EQ(weft_domain_request(lent.library.domain, -1), WEFT_OK);
    });
    EXPECT_EQ(lent.calls.load(), calls);
}

INSTANTIATE_TEST_SUITE_P(On, StreamStackOf, testing::Values(1u, 2u),
                         [](const auto& at) { return at.param == 1 ? "OneStream" : "TwoStreams"; });

}   // namespace
