// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "ready.hpp"

namespace weft_openmp {

namespace {

// Never dereferenced. The addresses of descriptors are multiples of a cache line.
weft_unit* context(std::uintptr_t number) { return reinterpret_cast<weft_unit*>(number << 6); }

// A row of contexts, from `first` on.
template <std::size_t count>
WaitingRow linked(Waiting (&row)[count], std::uintptr_t first, const TeamPool* team_pool = nullptr) {
    for (std::size_t i = 0; i < count; ++i) {
        row[i] = {context(first + i), i + 1 < count ? &row[i + 1] : nullptr, i == 0 ? nullptr : &row[i - 1], team_pool,
                  static_cast<unsigned>(i)};
    }
    return {row, &row[count - 1], count};
}

class ReadyContexts : public ::testing::Test {
protected:
    // Contexts 1 to count, each run once by hart 0 or, the even ones, hart 1.
    void run_once(unsigned count) {
        for (unsigned number = 1; number <= count; ++number) {
            ready.push(context(number));
            ASSERT_EQ(ready.pop(number % 2 == 0 ? 1 : 0), context(number));
        }
    }
    Ready ready;
};

TEST_F(ReadyContexts, ComeBackToTheHartThatHasRunThemLast) {
    run_once(8);
    for (unsigned number = 1; number <= 8; ++number) ready.push(context(number));
    for (unsigned number = 2; number <= 8; number += 2) EXPECT_EQ(ready.pop(1), context(number));
    for (unsigned number = 1; number <= 8; number += 2) EXPECT_EQ(ready.pop(0), context(number));
    EXPECT_FALSE(ready.any());
}

TEST_F(ReadyContexts, OfARowComeOneByOneInItsOrderBetweenThoseBeforeAndAfterIt) {
    run_once(4);
    Waiting row[3];
    ready.push(context(1));
    ready.push_row(0, linked(row, 5));
    ready.push(context(3));
    for (const unsigned number : {1, 5, 6, 7, 3}) EXPECT_EQ(ready.pop(0), context(number));
    EXPECT_EQ(ready.pop(0), nullptr);
    EXPECT_FALSE(ready.any());
}

TEST_F(ReadyContexts, OfARowComeToAMemberOfItsTeamPoolAloneAndNotAtEachTurn) {
    const auto* const team_pool = reinterpret_cast<const TeamPool*>(alignof(std::max_align_t));
    const auto* const other = reinterpret_cast<const TeamPool*>(2 * alignof(std::max_align_t));
    Waiting row[20];
    ready.push_row(1, linked(row, 1, team_pool));
    EXPECT_EQ(ready.next_of_row(1, *other), nullptr);
    EXPECT_EQ(ready.next_of_row(0, *team_pool), nullptr) << "another hart's line";
    unsigned taken = 0;
    while (ready.next_of_row(1, *team_pool) == context(taken + 1)) ++taken;
    EXPECT_EQ(taken, 15u) << "then others have a turn";
    EXPECT_EQ(ready.pop(1), context(16));
    for (unsigned number = 17; number <= 20; ++number) EXPECT_EQ(ready.next_of_row(1, *team_pool), context(number));
    ready.push(context(21));
    EXPECT_EQ(ready.next_of_row(0, *team_pool), nullptr) << "no row";
    EXPECT_EQ(ready.next_of_row(1, *team_pool), nullptr) << "nobody is left";
}

TEST_F(ReadyContexts, OfARowAreTakenWhereTheyFitAndByHartsThatHaveNone) {
    run_once(4);
    Waiting row[3];
    ready.push_row(0, linked(row, 5));
    const auto take = [this](unsigned number) {
        return ready.pop_fitting(1, [number](const weft_unit* one) { return one == context(number); });
    };
    EXPECT_EQ(take(6), context(6));
    EXPECT_EQ(take(6), nullptr);
    EXPECT_EQ(ready.pop(1), context(7));
    EXPECT_EQ(take(5), context(5));
    EXPECT_FALSE(ready.any());
}

TEST_F(ReadyContexts, OfARowAreTakenFromItsBackByOtherHarts) {
    run_once(4);
    Waiting row[6];
    ready.push_row(0, linked(row, 5));
    EXPECT_EQ(ready.pop(1), context(10));
    EXPECT_EQ(ready.pop(0), context(5));
    EXPECT_EQ(ready.pop_fitting(1, [](const weft_unit* one) { return one != context(9); }), context(8));
    EXPECT_EQ(ready.pop(1), context(9));
    EXPECT_EQ(ready.pop(0), context(6));
    EXPECT_EQ(ready.pop(0), context(7));
    EXPECT_EQ(ready.pop(0), nullptr);
    EXPECT_FALSE(ready.any());
}

TEST_F(ReadyContexts, GoToAHartThatHasNoneOfItsOwn) {
    run_once(8);
    for (unsigned number = 1; number <= 8; number += 2) ready.push(context(number));
    EXPECT_EQ(ready.pop(1), context(1));   // the one that has been ready longest
    EXPECT_EQ(ready.pop(7), context(3));   // of a hart that has just come
    ready.push(context(1));
    EXPECT_EQ(ready.pop(0), context(5));
    EXPECT_EQ(ready.pop(1), context(1));   // where it was last
}

TEST_F(ReadyContexts, AreNotLeftBehindByAHartThatHasGone) {
    run_once(2);
    ready.push(context(2));   // hart 1 never comes again
    ready.push(context(1));
    unsigned picks = 0;
    for (;; ++picks) {
        ASSERT_LT(picks, 1000U);
        weft_unit* const next = ready.pop(0);
        if (next == context(2)) break;
        ready.push(next);   // it yields
    }
    EXPECT_GT(picks, 100U);   // not at once, or those of two harts would change places forever
}

// While hart 2 checks line after line, hart 0 yields context 1 and goes on with context 2, like a
// hart that asks for no second one.
struct YieldsMeanwhile {
    static inline BasicReady<YieldsMeanwhile>* ready = nullptr;
    static inline unsigned lines_seen = 0;

    static void lines() {
        if (ready == nullptr || ++lines_seen != 1) return;
        ready->push(context(1));
        EXPECT_EQ(std::exchange(ready, nullptr)->pop(1), context(2));
    }
};

TEST(ReadyContextsInMotion, AreFoundWhereTheyWentDuringTheLook) {
    BasicReady<YieldsMeanwhile> ready;
    for (unsigned number = 1; number <= 2; ++number) {
        ready.push(context(number));
        ASSERT_EQ(ready.pop(number - 1), context(number));
    }
    ready.push(context(2));   // in the line of hart 1, while hart 0 runs context 1
    YieldsMeanwhile::ready = &ready;
    EXPECT_EQ(ready.pop(2), context(1));
    EXPECT_EQ(YieldsMeanwhile::lines_seen, 1U);
    EXPECT_FALSE(ready.any());
}

TEST_F(ReadyContexts, AreAllThereHoweverManyThereAre) {
    constexpr unsigned many = 5000;
    for (unsigned number = 1; number <= many; ++number) ready.push(context(number));
    std::set<weft_unit*> seen;
    while (weft_unit* const next = ready.pop(static_cast<unsigned>(seen.size()) % Ready::most_harts)) seen.insert(next);
    EXPECT_EQ(seen.size(), many);
    EXPECT_FALSE(ready.any());
}

}   // namespace
}   // namespace weft_openmp
