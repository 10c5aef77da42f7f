// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where units run: a hint that names a stream, and units bound to a stream.
#include <memory>
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/several.hpp"

using namespace weft_test;

namespace {

weft_unit_options on(weft_stream* stream, bool bound = false) {
    auto made = options();
    made.stream = stream;
    made.bound = bound;
    return made;
}

weft_settings with_pool(weft_pool_kind kind, std::size_t streams) {
    weft_settings settings = with_streams(streams);
    settings.pool = kind;
    return settings;
}

constexpr weft_pool_kind kinds[] = {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE, WEFT_POOL_PRIORITY};

}   // namespace

TEST(Placement, AStreamThatIsNamedGetsTheUnitInItsMainPool) {
    for (weft_pool_kind kind : kinds) {
        Runtime runtime(with_pool(kind, 2));
        const auto how = on(weft_stream_at(1));
        Ult unit([] {}, &how);
        weft_pool* pool = nullptr;
        EXPECT_EQ(weft_unit_pool_get(unit.handle(), &pool), WEFT_OK);
        EXPECT_TRUE(pool == pool_of(1) || kind == WEFT_POOL_DEQUE) << "a thief changes the pool";
    }
}

TEST(Placement, AUnitThatIsBoundRunsOnItsStreamAlone) {
    for (weft_pool_kind kind : kinds) {
        Runtime runtime(with_pool(kind, 3));
        for (std::size_t rank = 0; rank < 3; ++rank) {
            weft_stream* stream = weft_stream_at(rank);
            const auto how = on(stream, true);
            atomic<int> wrong{0}, turns{0};
            std::vector<std::unique_ptr<Ult>> bound;
            for (int i = 0; i < 20; ++i) {
                bound.push_back(std::make_unique<Ult>(
                    [&] {
                        for (int k = 0; k < 20; ++k) {
                            if (weft_stream_self() != stream) ++wrong;
                            ++turns;
                            weft_unit_yield();
                        }
                        Ult other([] {});
                        EXPECT_EQ(other.join(), WEFT_OK);
                        if (weft_stream_self() != stream) ++wrong;
                    },
                    &how));
            }
            bound.clear();
            EXPECT_EQ(wrong, 0);
            EXPECT_EQ(turns, 400);
        }
    }
}

TEST(Placement, AStreamThatSleepsWakesForTheFirstUnitBoundToIt) {
    Runtime runtime(with_pool(WEFT_POOL_SHARED, 2));
    until_others_rest();
    weft_stream* stream = weft_stream_at(1);
    const auto how = on(stream, true);
    for (int i = 0; i < 3; ++i) {
        Ult unit([&] { EXPECT_EQ(weft_stream_self(), stream); }, &how);
        EXPECT_EQ(unit.join(), WEFT_OK);
        until_others_rest();
    }
    weft_unit* tasklet = nullptr;
    static weft_stream* seen;
    ASSERT_EQ(weft_tasklet_spawn(
                  nullptr, [](void*) { seen = weft_stream_self(); }, nullptr, &how, &tasklet),
              WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
    EXPECT_EQ(seen, stream);
}

TEST(Placement, BoundUnitsAndOthersTakeTurns) {
    Runtime runtime(with_pool(WEFT_POOL_SHARED, 2));
    const auto how = on(weft_stream_at(1), true);
    atomic<bool> stop{false};
    Ult bound(
        [&] {
            while (!stop) weft_unit_yield();
        },
        &how);
    Ult other([&] { stop = true; }, nullptr, pool_of(1));
    EXPECT_EQ(bound.join(), WEFT_OK);
    stop = false;
    Ult busy(
        [&] {
            while (!stop) weft_unit_yield();
        },
        nullptr, pool_of(1));
    Ult late([&] { stop = true; }, &how);
    EXPECT_EQ(busy.join(), WEFT_OK);
}

TEST(Placement, ABoundUnitIsFreedDetachedAndJoinedLikeAnyOther) {
    Runtime runtime(with_pool(WEFT_POOL_SHARED, 2));
    static atomic<int> ran;
    ran = 0;
    const auto how = on(weft_stream_at(1), true);
    ASSERT_EQ(weft_ult_spawn(
                  nullptr, [](void*) { ++ran; }, nullptr, &how, nullptr),
              WEFT_OK);
    weft_unit* many[10] = {};
    ASSERT_EQ(weft_unit_spawn_many(
                  nullptr, 10, [](void*) { ++ran; }, nullptr, &how, many),
              WEFT_OK);
    EXPECT_EQ(weft_unit_join_free_many(many, 10), WEFT_OK);
    until([] { return ran == 11; });
    until([] { return units_alive() == 1; });
}

TEST(Placement, AStreamEndsWithWhatWasBoundToIt) {
    Runtime runtime;
    for (int i = 0; i < 20; ++i) {
        atomic<bool> ran{false};
        Stream stream(make_pool(WEFT_POOL_SHARED));
        const auto how = on(stream.handle(), true);
        Ult unit([&] { ran = true; }, &how);
        EXPECT_EQ(stream.free(), WEFT_OK);
        EXPECT_TRUE(ran);
    }
}

TEST(Placement, AStreamThatIsFreedWaitsForUnitsThatHaveBoundThemselves) {
    Runtime runtime;
    weft_event event = {};
    atomic<bool> waits{false}, went_on{false};
    Stream stream;
    Ult unit(
        [&] {
            weft_pool* former = nullptr;
            EXPECT_EQ(weft_unit_bind(&former), WEFT_OK) << weft_error_text();
            waits = true;
            EXPECT_EQ(weft_event_wait(&event, nullptr), WEFT_OK);
            EXPECT_EQ(weft_unit_unbind(former), WEFT_OK);
            went_on = true;
        },
        nullptr, stream.pool());
    until([&] { return waits.load(); });
    Ult sets([&] {
        for (int i = 0; i < 20; ++i) weft_unit_yield();
        EXPECT_EQ(weft_event_set(&event, nullptr), WEFT_OK);
    });
    EXPECT_EQ(stream.free(), WEFT_OK);
    EXPECT_TRUE(went_on);
    EXPECT_EQ(sets.join(), WEFT_OK);
}

TEST(Placement, TheRuntimeEndsThoughAUnitThatHasBoundItselfWaits) {
    weft_settings settings = with_streams(2);
    settings.deadlock = WEFT_DEADLOCK_IGNORE;
    ASSERT_EQ(weft_init(&settings), WEFT_OK);
    static atomic<bool> waits;
    waits = false;
    EXPECT_EQ(weft_ult_spawn(
                  pool_of(1),
                  [](void*) {
                      weft_pool* former = nullptr;
                      EXPECT_EQ(weft_unit_bind(&former), WEFT_OK) << weft_error_text();
                      waits = true;
                      weft_unit_suspend(nullptr, nullptr);
                  },
                  nullptr, nullptr, nullptr),
              WEFT_OK);
    until([] { return waits.load(); });
    EXPECT_EQ(weft_finalize(), WEFT_BUSY);
}

TEST(Placement, WhatIsWrongHasItsStatus) {
    Runtime runtime(with_pool(WEFT_POOL_SHARED, 2));
    weft_unit* unit = nullptr;
    auto how = on(weft_stream_at(1), true);
    EXPECT_EQ(weft_ult_spawn(
                  pool_of(0), [](void*) {}, nullptr, &how, &unit),
              WEFT_INVALID);
    how.child_first = true;
    EXPECT_EQ(weft_ult_spawn(
                  nullptr, [](void*) {}, nullptr, &how, &unit),
              WEFT_INVALID);
    how.stream = nullptr;
    weft_stream* seen = nullptr;
    Ult here([&] { seen = weft_stream_self(); }, &how);
    EXPECT_EQ(seen, weft_stream_at(0)) << "child-first on the calling stream";
    EXPECT_EQ(here.join(), WEFT_OK);
    how = on(nullptr, true);
    Ult bound([] {}, &how);
    weft_pool* pool = nullptr;
    EXPECT_EQ(weft_unit_pool_get(bound.handle(), &pool), WEFT_OK);
    weft_unit* popped = nullptr;
    ASSERT_EQ(weft_pool_pop(pool, &popped), WEFT_OK);
    EXPECT_EQ(popped, bound.handle());
    EXPECT_EQ(weft_pool_push(pool_of(1), popped), WEFT_WRONG_STATE);
    EXPECT_EQ(weft_pool_push(pool, popped), WEFT_OK);
}

// ---- units that bind themselves -----------------------------------------------------------------

// On two streams that steal from each other; the second is free for any unit that it can get.
TEST(BindingItself, AUnitGoesOnOnItsStreamUntilItUnbindsItself) {
    auto settings = with_streams(2);
    settings.pool = WEFT_POOL_DEQUE;
    Runtime runtime(settings);
    for (const weft_kind kind : {WEFT_KIND_FULL, WEFT_KIND_LSA, WEFT_KIND_ROC, WEFT_KIND_SS, WEFT_KIND_SC}) {
        auto chosen = options();
        chosen.kind = kind;
        std::vector<std::unique_ptr<Ult>> units;
        for (int i = 0; i < 20; ++i) {
            units.push_back(std::make_unique<Ult>(
                [] {
                    weft_pool* before = nullptr;
                    weft_pool* former = nullptr;
                    EXPECT_EQ(weft_unit_pool_get(weft_unit_self(), &before), WEFT_OK);
                    EXPECT_EQ(weft_unit_bind(&former), WEFT_OK) << weft_error_text();
                    weft_stream* const here = weft_stream_self();
                    EXPECT_EQ(weft_unit_bind(&former), WEFT_WRONG_STATE);
                    EXPECT_EQ(weft_unit_migrate_to_stream(weft_unit_self(), weft_stream_at(0)), WEFT_WRONG_STATE);
                    for (int turn = 0; turn < 50; ++turn) {
                        weft_unit_yield();
                        EXPECT_EQ(weft_stream_self(), here);
                    }
                    EXPECT_EQ(weft_unit_unbind(former), WEFT_OK) << weft_error_text();
                    weft_pool* after = nullptr;
                    EXPECT_EQ(weft_unit_pool_get(weft_unit_self(), &after), WEFT_OK);
                    EXPECT_EQ(after, before);
                    weft_unit_yield();
                },
                &chosen));
        }
        for (auto& unit : units) EXPECT_EQ(unit->free(), WEFT_OK);
    }
}

TEST(BindingItself, AUnitOfAPrivatePoolStaysThere) {
    Runtime runtime;
    Ult unit([] {
        weft_pool* former = pool_of(0);
        EXPECT_EQ(weft_unit_bind(&former), WEFT_OK);
        EXPECT_EQ(former, nullptr);
        weft_unit_yield();
        EXPECT_EQ(weft_unit_unbind(former), WEFT_OK);
        EXPECT_EQ(weft_unit_unbind(former), WEFT_WRONG_STATE);
    });
    EXPECT_EQ(unit.free(), WEFT_OK);
}

TEST(BindingItself, ATaskletAPrimaryUnitAndAContextAreRefused) {
    Runtime runtime;
    weft_pool* former = nullptr;
    EXPECT_EQ(weft_unit_bind(nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_unit_bind(&former), WEFT_WRONG_STATE);
    EXPECT_EQ(weft_unit_unbind(nullptr), WEFT_WRONG_STATE);
    auto chosen = options();
    chosen.kind = WEFT_KIND_RTC;
    Ult tasklet(
        [] {
            weft_pool* none = nullptr;
            EXPECT_EQ(weft_unit_bind(&none), WEFT_WRONG_CONTEXT);
            EXPECT_EQ(weft_unit_unbind(none), WEFT_WRONG_CONTEXT);
        },
        &chosen);
    EXPECT_EQ(tasklet.free(), WEFT_OK);
    const auto member = [](void*) {
        weft_pool* none = nullptr;
        EXPECT_EQ(weft_unit_bind(&none), WEFT_UNSUPPORTED);
    };
    EXPECT_EQ(weft_spmd(2, member, nullptr), WEFT_OK);
}

TEST(BindingItself, APrimaryUnitThatRoamsIsBoundAndRoamsAgain) {
    auto settings = with_streams(2);
    settings.pool = WEFT_POOL_DEQUE;
    settings.roaming_primary = true;
    Runtime runtime(settings);
    weft_pool* former = nullptr;
    EXPECT_FALSE(weft_thread_local_own());
    EXPECT_EQ(weft_unit_bind(&former), WEFT_OK) << weft_error_text();
    EXPECT_FALSE(weft_thread_local_own());
    EXPECT_EQ(weft_unit_unbind(former), WEFT_OK);
}
