// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units with a floating-point environment of their own: the mode that a unit sets is there when it
// goes on, wherever that is, and no other unit sees it.
#include <cfenv>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "test/behaviour/own_float.hpp"
#include "test/behaviour/variable.hpp"
#include "test/behaviour/waiting.hpp"

using namespace weft_test;

namespace {

struct Setup {
    std::size_t streams;
    weft_pool_kind pool;
};

class OwnFloat : public testing::TestWithParam<Setup> {
protected:
    static weft_settings settings() {
        weft_settings made = with_streams(GetParam().streams);
        made.pool = GetParam().pool;
        return made;
    }
    Runtime runtime_{settings()};
};
INSTANTIATE_TEST_SUITE_P(Of, OwnFloat,
                         testing::Values(Setup{1, WEFT_POOL_PRIVATE}, Setup{1, WEFT_POOL_SHARED},
                                         Setup{1, WEFT_POOL_DEQUE}, Setup{2, WEFT_POOL_PRIVATE},
                                         Setup{2, WEFT_POOL_SHARED}, Setup{2, WEFT_POOL_DEQUE}));

constexpr weft_kind ults[] = {WEFT_KIND_FULL, WEFT_KIND_LSA, WEFT_KIND_ROC, WEFT_KIND_SS, WEFT_KIND_SC, WEFT_KIND_AUTO};

// Sets a mode, and keeps it across every way of leaving.
void keep_through_everything(int mode, weft_mutex& mutex) {
    EXPECT_EQ(std::fesetround(mode), 0);
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(weft_unit_yield(), WEFT_OK);
        EXPECT_EQ(rounding(), mode) << "over a yield";
        EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
        if (i % 4 == 0) {
            EXPECT_EQ(weft_unit_yield(), WEFT_OK);
        }
        EXPECT_EQ(rounding(), mode) << "over a mutex";
        EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
        if (i % 7 == 0) {
            EXPECT_EQ(weft_sleep_for(20'000), WEFT_OK);
            EXPECT_EQ(rounding(), mode) << "over a sleep";
        }
        Ult child([] { EXPECT_EQ(rounding(), FE_TONEAREST) << "it has none of its own"; });
        EXPECT_EQ(child.free(), WEFT_OK);
        EXPECT_EQ(rounding(), mode) << "over a join";
        try {
            if (i % 5 == 0) throw mode;
        } catch (int) {
            EXPECT_EQ(weft_unit_yield(), WEFT_OK);
            EXPECT_EQ(rounding(), mode) << "in a handler";
        }
    }
}

TEST_P(OwnFloat, OfManyUnitsOfAllKindsIsEachOnesOwn) {
    weft_mutex mutex WEFT_MUTEX_INIT;
    std::vector<std::unique_ptr<Ult>> units;
    for (const int mode : modes) {
        for (const weft_kind kind : ults) {
            const auto how = own_float(kind);
            units.push_back(std::make_unique<Ult>([&, mode] { keep_through_everything(mode, mutex); }, &how));
            units.push_back(std::make_unique<Ult>([] {
                for (int i = 0; i < 20; ++i) {
                    EXPECT_EQ(rounding(), FE_TONEAREST) << "of a unit without";
                    EXPECT_EQ(weft_unit_yield(), WEFT_OK);
                }
            }));
        }
    }
    for (auto& unit : units) EXPECT_EQ(unit->free(), WEFT_OK);
    EXPECT_EQ(rounding(), FE_TONEAREST);
}

TEST_P(OwnFloat, BeginsWithTheOneInForceWhereItIsSpawned) {
    Rounding set(FE_UPWARD);
    for (const weft_kind kind : ults) {
        int seen = -1;
        const auto how = own_float(kind);
        {
            Ult unit([&] { seen = rounding(); }, &how);
            std::fesetround(FE_DOWNWARD);
        }
        EXPECT_EQ(seen, FE_UPWARD) << kind;
        EXPECT_EQ(rounding(), FE_DOWNWARD);
        std::fesetround(FE_UPWARD);
    }
}

TEST_P(OwnFloat, OfOneThatEndsIsNobodys) {
    for (const weft_kind kind : ults) {
        for (const int way : {0, 1, 2, 3}) {   // returns, throws, exits, is cancelled
            if (way == 3 && (weft_features() & WEFT_FEATURE_CANCEL) == 0) continue;
            const auto how = own_float(kind);
            Ult ends(
                [way] {
                    std::fesetround(FE_TOWARDZERO);
                    if (way == 1) throw 1;
                    if (way == 2) weft_unit_exit();
                    if (way == 3) {
                        weft_unit_cancel(weft_unit_self());
                        weft_unit_yield();
                    }
                },
                &how);
            EXPECT_EQ(ends.outcome(), way == 1   ? WEFT_OUTCOME_EXCEPTION
                                      : way == 3 ? WEFT_OUTCOME_CANCELLED
                                                 : WEFT_OUTCOME_RETURNED);
            Ult next([] { EXPECT_EQ(rounding(), FE_TONEAREST); });
            EXPECT_EQ(next.free(), WEFT_OK);
            EXPECT_EQ(rounding(), FE_TONEAREST) << kind << ' ' << way;
        }
    }
}

TEST_P(OwnFloat, OfATaskletIsItsOwn) {
    const auto how = own_float(WEFT_KIND_DEFAULT);
    for (int i = 0; i < 3; ++i) {
        weft_unit* row[3] = {};
        for (weft_unit*& unit : row) {
            ASSERT_EQ(weft_tasklet_spawn(
                          nullptr,
                          [](void*) {
                              EXPECT_EQ(rounding(), FE_TONEAREST);
                              std::fesetround(FE_UPWARD);
                          },
                          nullptr, &how, &unit),
                      WEFT_OK);
        }
        EXPECT_EQ(weft_unit_join_free_many(row, 3), WEFT_OK);
        EXPECT_EQ(rounding(), FE_TONEAREST);
    }
}

TEST_P(OwnFloat, OfAChildThatRunsFirstIsNotItsParents) {
    for (const weft_kind kind : {WEFT_KIND_FULL, WEFT_KIND_LSA, WEFT_KIND_ROC}) {
        for (const bool suspends : {false, true}) {
            auto how = own_float(kind);
            how.child_first = true;
            Ult parent([&] {
                Ult child(
                    [&] {
                        std::fesetround(FE_UPWARD);
                        if (suspends) weft_unit_yield();
                        EXPECT_EQ(rounding(), FE_UPWARD);
                    },
                    &how);
                EXPECT_EQ(rounding(), FE_TONEAREST);
                EXPECT_EQ(child.free(), WEFT_OK);
                EXPECT_EQ(rounding(), FE_TONEAREST);
            });
            EXPECT_EQ(parent.free(), WEFT_OK);
            const auto parents = own_float(kind);
            Ult owner(
                [&] {
                    std::fesetround(FE_DOWNWARD);
                    auto first = options();
                    first.child_first = true;
                    Ult child(
                        [&] {
                            EXPECT_EQ(rounding(), FE_TONEAREST);
                            if (suspends) weft_unit_yield();
                        },
                        &first);
                    EXPECT_EQ(rounding(), FE_DOWNWARD);
                    EXPECT_EQ(child.free(), WEFT_OK);
                },
                &parents);
            EXPECT_EQ(owner.free(), WEFT_OK);
        }
    }
}

TEST_P(OwnFloat, GoesAlongToAnotherPool) {
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);
    {
        Stream stream(pool);
        const auto how = own_float();
        Ult unit(
            [&] {
                std::fesetround(FE_UPWARD);
                EXPECT_EQ(weft_unit_migrate_to_pool(weft_unit_self(), pool), WEFT_OK);
                EXPECT_EQ(weft_unit_yield(), WEFT_OK);
                EXPECT_EQ(weft_stream_self(), stream.handle());
                EXPECT_EQ(rounding(), FE_UPWARD);
                Ult next([] { EXPECT_EQ(rounding(), FE_TONEAREST); }, nullptr, pool);
                EXPECT_EQ(next.join(), WEFT_OK);
            },
            &how);
        EXPECT_EQ(unit.join(), WEFT_OK);
        Ult after([] { EXPECT_EQ(rounding(), FE_TONEAREST); }, nullptr, pool);
        EXPECT_EQ(after.join(), WEFT_OK);
    }
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST_P(OwnFloat, IsThereInAnotherLife) {
    for (const weft_kind kind : ults) {
        const auto how = own_float(kind);
        weft_unit* unit = nullptr;
        ASSERT_EQ(weft_ult_spawn(
                      nullptr, [](void*) {}, nullptr, &how, &unit),
                  WEFT_OK);
        EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
        ASSERT_EQ(weft_unit_revive(
                      unit, nullptr,
                      [](void*) {
                          std::fesetround(FE_UPWARD);
                          weft_unit_yield();
                          EXPECT_EQ(rounding(), FE_UPWARD);
                      },
                      nullptr),
                  WEFT_OK);
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        EXPECT_EQ(rounding(), FE_TONEAREST) << kind;
    }
}

TEST_P(OwnFloat, OfOneThatIsRefusedIsForgotten) {
    auto how = own_float();
    how.priority = 3;
    weft_unit* unit = nullptr;
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(weft_ult_spawn(
                      nullptr, [](void*) {}, nullptr, &how, &unit),
                  WEFT_UNSUPPORTED);
        Ult next([] { EXPECT_EQ(rounding(), FE_TONEAREST); });
        EXPECT_EQ(next.free(), WEFT_OK);
    }
}

TEST(OwnFloats, AreGivenToAllByASetting) {
    if ((weft_features() & WEFT_FEATURE_OBSERVERS) == 0) GTEST_SKIP() << "it needs them";
    const Variable chosen("WEFT_OWN_FLOAT", "1");
    for (const std::size_t streams : {1, 2}) {
        Runtime runtime(with_streams(streams));
        std::vector<std::unique_ptr<Ult>> units;
        for (int i = 0; i < 40; ++i) {
            units.push_back(std::make_unique<Ult>([i] {
                EXPECT_EQ(rounding(), FE_TONEAREST);
                std::fesetround(modes[i % 4]);
                for (int round = 0; round < 10; ++round) {
                    weft_unit_yield();
                    EXPECT_EQ(rounding(), modes[i % 4]);
                }
            }));
        }
        weft_unit* row[8] = {};
        ASSERT_EQ(weft_unit_spawn_many(
                      nullptr, 8,
                      [](void*) {
                          EXPECT_EQ(rounding(), FE_TONEAREST);
                          std::fesetround(FE_UPWARD);
                      },
                      nullptr, nullptr, row),
                  WEFT_OK);
        EXPECT_EQ(weft_unit_join_free_many(row, 8), WEFT_OK);
        for (auto& unit : units) EXPECT_EQ(unit->free(), WEFT_OK);
        EXPECT_EQ(rounding(), FE_TONEAREST);
    }
}

TEST(OwnFloats, AreAnOptionInCppToo) {
    Runtime runtime(with_streams(1));
    weft::thread unit({.own_float = true}, [] {
        std::fesetround(FE_UPWARD);
        weft::this_thread::yield();
        EXPECT_EQ(rounding(), FE_UPWARD);
    });
    Ult other([] { EXPECT_EQ(rounding(), FE_TONEAREST); });
    EXPECT_EQ(other.free(), WEFT_OK);
    unit.join();
    EXPECT_EQ(rounding(), FE_TONEAREST);
}

}   // namespace
