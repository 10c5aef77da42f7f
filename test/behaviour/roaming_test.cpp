// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A primary unit that is not bound to stream 0: it waits among other units, and runs on any stream
// that draws from its pool.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "test/behaviour/several.hpp"

using namespace weft_test;

namespace {

weft_settings roaming(weft_pool_kind main, std::size_t streams = 1) {
    auto settings = with_streams(streams);
    settings.pool = main;
    settings.roaming_primary = true;
    return settings;
}

weft_stream* zero() { return weft_stream_at(0); }

// Brings the primary unit back to stream 0, although other streams that draw from its pool may run
// it as well.
void come_home() {
    weft_pool* alone = nullptr;   // where units bound to stream 0 wait
    auto how = options();
    how.stream = zero();
    how.bound = true;
    Ult finds([&] { EXPECT_EQ(weft_unit_pool_get(weft_unit_self(), &alone), WEFT_OK); }, &how);
    EXPECT_EQ(finds.join(), WEFT_OK);
    EXPECT_EQ(weft_unit_pool_set(weft_unit_self(), alone), WEFT_OK) << weft_error_text();
    EXPECT_EQ(weft_unit_yield(), WEFT_OK);
    EXPECT_EQ(weft_stream_self(), zero());
}

// Calls action() when the primary unit runs on the other stream, while a unit that is bound to
// stream 0 keeps that busy.
template <class Action>
void on_stream(weft_stream* other, Action action) {
    atomic<bool> begun{false}, over{false};
    auto how = options();
    how.stream = zero();
    how.bound = true;
    Ult busy(
        [&] {
            begun = true;
            while (!over) std::this_thread::yield();
        },
        &how);
    until_set(begun);
    EXPECT_EQ(weft_stream_self(), other);
    action();
    over = true;
    EXPECT_EQ(busy.join(), WEFT_OK);
}

}   // namespace

TEST(Roaming, ThePrimaryUnitHasItsTurnAmongTheOthers) {
    for (const auto kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_BLOCKING}) {
        Runtime runtime(roaming(kind));
        constexpr int units = 5, rounds = 20;
        std::vector<int> log;
        bool over = false;
        std::vector<std::unique_ptr<Ult>> yielding;
        for (int i = 0; i < units; ++i) {
            yielding.push_back(std::make_unique<Ult>([&, i] {
                while (!over) {
                    log.push_back(i);
                    EXPECT_EQ(weft_unit_yield(), WEFT_OK);
                }
            }));
        }
        for (int round = 0; round < rounds; ++round) {
            log.clear();
            EXPECT_EQ(weft_unit_yield(), WEFT_OK);
            EXPECT_EQ(log, (std::vector<int>{0, 1, 2, 3, 4})) << "pool " << kind << ", round " << round;
        }
        EXPECT_EQ(length(pool_of(0)), static_cast<std::size_t>(units));
        over = true;
    }
}

TEST(Roaming, AnyStreamThatDrawsFromItsPoolRunsThePrimaryUnit) {
    Runtime runtime(roaming(WEFT_POOL_SHARED));
    Stream second(pool_of(0));
    weft_unit* const self = weft_unit_self();
    on_stream(second.handle(), [&] {
        EXPECT_EQ(weft_unit_self(), self);
        EXPECT_EQ(weft_finalize(), WEFT_WRONG_CONTEXT);
        EXPECT_NE(std::string(weft_error_text()).find("weft_unit_pool_set"), std::string::npos) << weft_error_text();
    });
    EXPECT_EQ(weft_unit_cancel(self),
              (weft_features() & WEFT_FEATURE_CANCEL) != 0 ? WEFT_WRONG_STATE : WEFT_UNSUPPORTED);
    EXPECT_EQ(weft_unit_detach(self), WEFT_WRONG_STATE);
    EXPECT_EQ(weft_unit_exit(), WEFT_WRONG_STATE);
    Ult joins([&] { EXPECT_EQ(weft_unit_join(self), WEFT_WRONG_STATE); });
    EXPECT_EQ(joins.join(), WEFT_OK);
    come_home();
}

TEST(Roaming, ThePrimaryUnitComesBackWhenTheStreamThatRunsItStops) {
    Runtime runtime(roaming(WEFT_POOL_SHARED));
    Stream second(pool_of(0));
    on_stream(second.handle(), [&] { EXPECT_EQ(weft_stream_stop(second.handle(), true), WEFT_OK); });
    EXPECT_EQ(weft_unit_yield(), WEFT_OK);
    EXPECT_EQ(weft_stream_self(), zero());
}

TEST(Roaming, OtherStreamsMayStillBeThereWhenTheRuntimeEnds) {
    for (int i = 0; i < 10; ++i) {
        const auto settings = roaming(WEFT_POOL_SHARED);
        ASSERT_EQ(weft_init(&settings), WEFT_OK);
        weft_stream* streams[2] = {};
        auto how = stream_options();
        how.pool = pool_of(0);
        for (auto& stream : streams) {
            ASSERT_EQ(weft_stream_create(&how, &stream), WEFT_OK);
        }
        static atomic<int> ran;
        ran = 0;
        for (int unit = 0; unit < 20; ++unit) {
            EXPECT_EQ(weft_ult_spawn(
                          nullptr,
                          [](void*) {
                              weft_unit_yield();
                              ++ran;
                          },
                          nullptr, nullptr, nullptr),
                      WEFT_OK);
        }
        for (int yields = 0; yields < i; ++yields) weft_unit_yield();
        come_home();
        EXPECT_EQ(weft_finalize(), WEFT_OK) << weft_error_text();
        EXPECT_EQ(ran, 20);
    }
}

TEST(Roaming, ThePrimaryUnitIsPoppedPushedAndSaidToBelongElsewhere) {
    for (const auto kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE, WEFT_POOL_LIFO}) {
        Runtime runtime(roaming(kind));
        weft_pool* const home = pool_of(0);
        weft_pool* const away = make_pool(WEFT_POOL_SHARED);
        weft_unit* const self = weft_unit_self();
        {
            Stream other(away);
            // A unit that finds the primary unit in its pool pushes it.
            Ult pushes([&] {
                EXPECT_EQ(pop(home), self);
                EXPECT_EQ(weft_pool_push(away, self), WEFT_OK) << weft_error_text();
            });
            until([&] { return weft_stream_self() == other.handle(); });
            EXPECT_EQ(weft_unit_pool_set(self, home), WEFT_OK) << weft_error_text();
            EXPECT_EQ(weft_stream_self(), other.handle());
            EXPECT_EQ(weft_unit_yield(), WEFT_OK);
            EXPECT_EQ(weft_stream_self(), zero());
            EXPECT_EQ(pushes.join(), WEFT_OK);
            // The primary unit moves itself, and waits there for another unit.
            EXPECT_EQ(weft_unit_pool_set(self, away), WEFT_OK) << weft_error_text();
            Ult joined([] { weft_unit_yield(); }, nullptr, away);
            EXPECT_EQ(joined.join(), WEFT_OK);
            EXPECT_EQ(weft_unit_yield(), WEFT_OK);
            EXPECT_EQ(weft_stream_self(), other.handle());
            EXPECT_EQ(weft_unit_pool_set(self, home), WEFT_OK);
            EXPECT_EQ(weft_unit_yield(), WEFT_OK);
            EXPECT_EQ(weft_stream_self(), zero());
        }
        EXPECT_EQ(weft_pool_free(away), WEFT_OK);
    }
}

TEST(Roaming, ARequestToMigrateIsHeededButNotByTheEndOfTheRuntime) {
    bool migration = false;
    {
        const auto settings = roaming(WEFT_POOL_SHARED);
        ASSERT_EQ(weft_init(&settings), WEFT_OK);
        weft_pool* const away = make_pool(WEFT_POOL_SHARED);
        weft_stream* other = nullptr;
        auto how = stream_options();
        how.pool = away;
        ASSERT_EQ(weft_stream_create(&how, &other), WEFT_OK);
        weft_unit* const self = weft_unit_self();
        migration = weft_unit_migrate_to_pool(self, away) == WEFT_OK;
        if (migration) {
            EXPECT_EQ(weft_unit_yield(), WEFT_OK);
            EXPECT_EQ(weft_stream_self(), other);
            EXPECT_EQ(weft_unit_migrate_to_stream(self, zero()), WEFT_OK);
            EXPECT_EQ(weft_unit_migrate_wait(self), WEFT_OK);
            EXPECT_EQ(weft_stream_self(), zero());
            EXPECT_EQ(weft_unit_migrate_to_pool(self, away), WEFT_OK);
        }
        EXPECT_EQ(weft_finalize(), WEFT_OK) << weft_error_text();
    }
    EXPECT_FALSE(weft_initialized());
    EXPECT_TRUE(migration || (weft_features() & WEFT_FEATURE_MIGRATION) == 0);
}

TEST(Roaming, WhereverThePrimaryUnitIsRunItMayEndTheRuntimeOnStream0) {
    enum class By { unit, scheduler };
    for (const auto kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED}) {
        for (const By by : {By::unit, By::scheduler}) {
            const auto settings = roaming(kind);
            ASSERT_EQ(weft_init(&settings), WEFT_OK);
            static weft_pool* below;
            static weft_unit* self;
            below = make_pool(WEFT_POOL_SHARED);
            self = weft_unit_self();
            static int steps;
            steps = 0;
            EXPECT_EQ(weft_unit_pool_set(self, below), WEFT_OK);
            if (by == By::unit) {
                auto runs = [](void*) {
                    ASSERT_EQ(pop(below), self);
                    EXPECT_EQ(weft_unit_run(self), WEFT_OK) << weft_error_text();
                    ++steps;
                    weft_unit_yield();
                    ++steps;
                };
                EXPECT_EQ(weft_ult_spawn(pool_of(0), runs, nullptr, nullptr, nullptr), WEFT_OK);
            } else {
                weft_sched* sched = make_sched(WEFT_SCHED_BASIC, {below});
                EXPECT_EQ(weft_sched_owned_set(sched, true), WEFT_OK);
                EXPECT_EQ(weft_sched_push(sched, pool_of(0), nullptr, nullptr), WEFT_OK);
                steps = 2;
            }
            EXPECT_EQ(weft_unit_yield(), WEFT_OK);
            EXPECT_EQ(weft_finalize(), WEFT_OK) << weft_error_text();
            EXPECT_EQ(steps, 2) << "who has run it goes on";
        }
    }
}

TEST(Roaming, AMainSchedulerThatOwnsItsLoopRunsThePrimaryUnitAndIsEndedWithTheRuntime) {
    const auto settings = roaming(WEFT_POOL_SHARED);
    ASSERT_EQ(weft_init(&settings), WEFT_OK);
    weft_sched_ops table{};
    table.size = sizeof table;
    static int ran;
    ran = 0;
    table.run = [](void*, weft_sched* sched) {
        weft_pool* pool = nullptr;
        EXPECT_EQ(weft_sched_pool_get(sched, 0, &pool), WEFT_OK);
        while (!weft_sched_check_stop(sched)) {
            if (weft_unit* unit = pop(pool)) {
                ++ran;
                EXPECT_EQ(weft_sched_run_unit(sched, unit), WEFT_OK);
            } else {
                EXPECT_EQ(weft_sched_wait(sched), WEFT_OK);
            }
        }
    };
    weft_pool* main = pool_of(0);
    weft_sched* sched = nullptr;
    ASSERT_EQ(weft_sched_create_user(&table, nullptr, &main, 1, &sched), WEFT_OK);
    EXPECT_EQ(weft_stream_sched_set(zero(), sched), WEFT_OK) << weft_error_text();
    until([] { return ran >= 3; });
    EXPECT_EQ(weft_finalize(), WEFT_OK) << weft_error_text();
}

TEST(Roaming, IsNotTheDefault) {
    Runtime runtime(2);
    EXPECT_EQ(weft_unit_pool_set(weft_unit_self(), pool_of(1)), WEFT_WRONG_STATE);
    EXPECT_EQ(weft_unit_migrate_to_pool(weft_unit_self(), pool_of(1)),
              (weft_features() & WEFT_FEATURE_MIGRATION) != 0 ? WEFT_WRONG_STATE : WEFT_UNSUPPORTED);
}
