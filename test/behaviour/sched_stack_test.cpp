// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedulers as units: pushed into a pool, they run the units of their own pools in turn; a
// scheduler that owns its loop may yield and wait like any other unit.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/several.hpp"

using namespace weft_test;

namespace {

weft_unit* push(weft_pool* pool, weft_sched* sched, std::size_t turn = 0) {
    weft_sched_push_options how{};
    how.size = sizeof how;
    how.turn = turn;
    weft_unit* unit = nullptr;
    EXPECT_EQ(weft_sched_push(sched, pool, &how, &unit), WEFT_OK) << weft_error_text();
    return unit;
}

// A user-defined scheduler with a loop of its own, which calls `between` before each unit.
struct Loop {
    std::function<void(weft_sched*)> between = [](weft_sched*) {};
    atomic<int> destroyed{0}, returned{0}, waits{0};

    static Loop& of(void* self) { return *static_cast<Loop*>(self); }
    static void run(void* self, weft_sched* sched) {
        std::size_t count = 0;
        EXPECT_EQ(weft_sched_pool_count_get(sched, &count), WEFT_OK);
        while (!weft_sched_check_stop(sched)) {
            of(self).between(sched);
            weft_unit* unit = nullptr;
            for (std::size_t i = 0; i < count && unit == nullptr; ++i) {
                weft_pool* pool = nullptr;
                EXPECT_EQ(weft_sched_pool_get(sched, i, &pool), WEFT_OK);
                EXPECT_EQ(weft_pool_pop(pool, &unit), WEFT_OK);
            }
            if (unit != nullptr) {
                EXPECT_EQ(weft_sched_run_unit(sched, unit), WEFT_OK);
            } else {
                ++of(self).waits;
                EXPECT_EQ(weft_sched_wait(sched), WEFT_OK);
            }
        }
        ++of(self).returned;
    }
    static void destroy(void* self) { ++of(self).destroyed; }

    weft_sched* make(std::vector<weft_pool*> pools) {
        weft_sched_ops table{};
        table.size = sizeof table;
        table.run = run;
        table.destroy = destroy;
        weft_sched* sched = nullptr;
        EXPECT_EQ(weft_sched_create_user(&table, this, pools.data(), pools.size(), &sched), WEFT_OK)
            << weft_error_text();
        return sched;
    }
};

}   // namespace

TEST(Stacked, RunsItsUnitsInItsTurnAndItsParentsLaterUnitsAfterIt) {
    Runtime runtime;
    weft_pool* below = make_pool(WEFT_POOL_SHARED);
    std::vector<int> order;
    {
        Ult before([&] { order.push_back(1); });
        std::vector<std::unique_ptr<Ult>> units;
        for (int i = 0; i < 3; ++i)
            units.push_back(std::make_unique<Ult>([&, i] { order.push_back(2 + i); }, nullptr, below));
        weft_unit* unit = push(pool_of(0), make_sched(WEFT_SCHED_BASIC, {below}));
        Ult after([&] { order.push_back(5); });
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK) << "it ends when nothing belongs to it any more";
    }
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4, 5}));
    EXPECT_EQ(weft_pool_free(below), WEFT_OK) << "the scheduler has been freed";
}

TEST(Stacked, TheStreamTellsHowManyRunBelowAUnit) {
    Runtime runtime;
    weft_pool* below = make_pool(WEFT_POOL_SHARED);
    weft_pool* popped_from = make_pool(WEFT_POOL_SHARED);
    const auto depth = [] {
        std::size_t found = 99;
        EXPECT_EQ(weft_stream_depth_get(weft_stream_self(), &found), WEFT_OK) << weft_error_text();
        return found;
    };
    EXPECT_EQ(depth(), 0u);
    std::size_t of_unit = 99, of_child = 99;
    {
        Ult child([&] { of_child = depth(); }, nullptr, popped_from);
        Ult unit(
            [&] {
                of_unit = depth();
                weft_unit* popped = nullptr;
                EXPECT_EQ(weft_pool_pop(popped_from, &popped), WEFT_OK);
                EXPECT_EQ(weft_unit_run(popped), WEFT_OK);
            },
            nullptr, below);
        EXPECT_EQ(weft_unit_join_free(push(pool_of(0), make_sched(WEFT_SCHED_BASIC, {below}))), WEFT_OK);
    }
    EXPECT_EQ(of_unit, 1u);
    EXPECT_EQ(of_child, 2u);
    EXPECT_EQ(depth(), 0u);
    EXPECT_EQ(weft_stream_depth_get(weft_stream_self(), nullptr), WEFT_INVALID);
    std::size_t outside = 0;
    std::thread([&, stream = weft_stream_self()] {
        EXPECT_EQ(weft_stream_depth_get(stream, &outside), WEFT_WRONG_CONTEXT);
    }).join();
    EXPECT_EQ(weft_pool_free(below), WEFT_OK);
    EXPECT_EQ(weft_pool_free(popped_from), WEFT_OK);
}

TEST(Stacked, YieldsToItsParentWhenItsTurnIsOver) {
    Runtime runtime;
    weft_pool* below = make_pool(WEFT_POOL_SHARED);
    std::string order;
    {
        std::vector<std::unique_ptr<Ult>> units;
        for (int i = 0; i < 4; ++i) units.push_back(std::make_unique<Ult>([&] { order += 'b'; }, nullptr, below));
        weft_unit* unit = push(pool_of(0), make_sched(WEFT_SCHED_BASIC, {below}), 2);
        Ult parents([&] {
            order += 'P';
            weft_unit_yield();
            order += 'Q';
        });
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    }
    EXPECT_EQ(order, "bbPbbQ");
}

TEST(Stacked, OneWhoseUnitsYieldForEverKeepsNobodyWaiting) {
    Runtime runtime;
    for (weft_pool_kind kind : {WEFT_POOL_SHARED, WEFT_POOL_PRIVATE, WEFT_POOL_DEQUE}) {
        weft_pool* below = make_pool(kind);
        bool stop = false;
        Ult a(
            [&] {
                while (!stop) weft_unit_yield();
            },
            nullptr, below);
        Ult b(
            [&] {
                while (!stop) weft_unit_yield();
            },
            nullptr, below);
        weft_unit* unit = push(pool_of(0), make_sched(WEFT_SCHED_BASIC, {below}));
        Ult parents([&] { stop = true; });
        EXPECT_EQ(parents.join(), WEFT_OK);
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        EXPECT_EQ(a.join(), WEFT_OK);
        EXPECT_EQ(b.join(), WEFT_OK);
    }
}

// A member runs on the stream's hart, below the scheduler, and the unit that ends it waits above.
TEST(Stacked, OneWhoseUnitHasATeamThatYieldsForEverKeepsNobodyWaiting) {
    Runtime runtime;
    Loop loop;
    for (const bool with_loop : {false, true}) {
        weft_pool* below = make_pool(WEFT_POOL_SHARED);
        atomic<bool> stop{false};
        const auto member = [](void* raw) {
            while (!*static_cast<atomic<bool>*>(raw)) weft_unit_yield();
        };
        Ult caller([&] { EXPECT_EQ(weft_spmd(1, member, &stop), WEFT_OK); }, nullptr, below);
        weft_unit* unit = push(pool_of(0), with_loop ? loop.make({below}) : make_sched(WEFT_SCHED_BASIC, {below}));
        Ult parents([&] { stop = true; });
        EXPECT_EQ(parents.join(), WEFT_OK);
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        EXPECT_EQ(caller.join(), WEFT_OK);
    }
}

TEST(Stacked, NestsToAnyDepth) {
    Runtime runtime;
    constexpr int depth = 12;
    std::vector<weft_pool*> pools{pool_of(0)};
    std::vector<int> order;
    std::vector<std::unique_ptr<Ult>> units;
    for (int i = 1; i <= depth; ++i) pools.push_back(make_pool(i % 2 == 0 ? WEFT_POOL_SHARED : WEFT_POOL_PRIVATE));
    weft_unit* first = nullptr;
    for (int i = 1; i <= depth; ++i) {
        weft_unit* unit = push(pools[i - 1], make_sched(WEFT_SCHED_BASIC, {pools[i]}));
        if (i == 1) first = unit;
        else EXPECT_EQ(weft_unit_detach(unit), WEFT_OK);
    }
    for (int i = 1; i <= depth; ++i) {
        units.push_back(std::make_unique<Ult>(
            [&, i] {
                weft_unit_yield();
                Ult inner([] {});   // into the pool of the scheduler that runs it
                weft_pool* pool = nullptr;
                EXPECT_EQ(weft_unit_pool_get(inner.handle(), &pool), WEFT_OK);
                EXPECT_EQ(pool, pools[i]);
                EXPECT_EQ(weft_unit_yield_to(inner.handle()), WEFT_OK)
                    << "a private pool is the stream's in this turn: " << weft_error_text();
                EXPECT_EQ(inner.join(), WEFT_OK);
                order.push_back(i);
            },
            nullptr, pools[i]));
    }
    EXPECT_EQ(weft_unit_join_free(first), WEFT_OK);
    EXPECT_EQ(order.size(), static_cast<std::size_t>(depth));
    units.clear();
    for (int i = 1; i <= depth; ++i) EXPECT_EQ(weft_pool_free(pools[i]), WEFT_OK) << i;
}

TEST(Stacked, SleepsWhileItsUnitsAreSuspendedAndUsesNothing) {
    Runtime runtime;
    for (weft_pool_kind kind : {WEFT_POOL_SHARED, WEFT_POOL_PRIVATE, WEFT_POOL_PRIORITY}) {
        weft_pool* below = make_pool(kind);
        Stream stream;
        Bed bed;
        int woken = 0;
        Ult sleeper(
            [&] {
                for (int i = 0; i < 5; ++i) {
                    bed.sleep();
                    ++woken;
                }
            },
            nullptr, below);
        weft_unit* unit = push(stream.pool(), make_sched(WEFT_SCHED_BASIC, {below}));
        for (int i = 0; i < 5; ++i) {
            until([&] { return bed.occupied(); });
            until_others_rest();   // its stream sleeps: the scheduler does not poll again and again
            EXPECT_EQ(bed.wake(), WEFT_OK);
        }
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        EXPECT_EQ(sleeper.join(), WEFT_OK);
        EXPECT_EQ(woken, 5);
        EXPECT_EQ(weft_pool_free(below), WEFT_OK);
    }
}

TEST(Stacked, WaitsForAUnitThatIsBoundToItsStreamForAWhile) {
    Runtime runtime(with_streams(1));
    weft_pool* pool = nullptr;
    ASSERT_EQ(weft_pool_create(WEFT_POOL_SHARED, &pool), WEFT_OK);
    weft_sched* sched = nullptr;
    ASSERT_EQ(weft_sched_create(WEFT_SCHED_BASIC, &pool, 1, &sched), WEFT_OK);
    int turns = 0;
    weft_unit* bound = nullptr;
    ASSERT_EQ(weft_ult_spawn(
                  pool,
                  [](void* raw) {
                      weft_pool* former = nullptr;
                      EXPECT_EQ(weft_unit_bind(&former), WEFT_OK) << weft_error_text();
                      for (int i = 0; i < 5; ++i) weft_unit_yield();
                      EXPECT_EQ(weft_unit_unbind(former), WEFT_OK) << weft_error_text();
                      weft_unit_yield();
                      ++*static_cast<int*>(raw);
                  },
                  &turns, nullptr, &bound),
              WEFT_OK);
    weft_unit* unit = push(pool_of(0), sched);
    EXPECT_EQ(weft_unit_join_free(bound), WEFT_OK);
    EXPECT_EQ(turns, 1);
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

// For example a child that runs at once, and the jobs that other streams take from a unit of the
// pool.
TEST(Stacked, WaitsForAUnitThatRunsAndEndsOnAnotherStream) {
    Runtime runtime(with_streams(1));
    weft_pool *pool = make_pool(WEFT_POOL_SHARED), *elsewhere = make_pool(WEFT_POOL_SHARED);
    Stream stream(elsewhere);
    atomic<bool> begun{false}, ends{false};
    std::unique_ptr<Ult> child;
    weft_unit_options at_once = options();
    at_once.child_first = true;
    Ult parent(
        [&] {
            child = std::make_unique<Ult>(
                [&] {
                    begun = true;
                    while (!ends) std::this_thread::yield();
                },
                &at_once, pool);
        },
        nullptr, elsewhere);
    until_set(begun);
    weft_unit* unit = push(pool_of(0), make_sched(WEFT_SCHED_BASIC, {pool}));
    for (int i = 0; i < 100; ++i) weft_unit_yield();
    EXPECT_EQ(weft_unit_try_join(unit), WEFT_BUSY);
    ends = true;
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    EXPECT_EQ(parent.join(), WEFT_OK);
    EXPECT_EQ(child->join(), WEFT_OK);
    child.reset();
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(Stacked, WaitsForAUnitThatIsInADomainForAWhile) {
    Runtime runtime(with_streams(1));
    weft_pool* pool = nullptr;
    ASSERT_EQ(weft_pool_create(WEFT_POOL_SHARED, &pool), WEFT_OK);
    weft_sched* sched = nullptr;
    ASSERT_EQ(weft_sched_create(WEFT_SCHED_BASIC, &pool, 1, &sched), WEFT_OK);
    weft_unit* away = nullptr;
    ASSERT_EQ(weft_ult_spawn(
                  pool,
                  [](void*) {
                      EXPECT_EQ(weft_spmd(
                                    2,
                                    [](void*) {
                                        for (int i = 0; i < 5; ++i) weft_unit_yield();
                                    },
                                    nullptr),
                                WEFT_OK);
                      weft_unit_yield();
                  },
                  nullptr, nullptr, &away),
              WEFT_OK);
    weft_unit* unit = push(pool_of(0), sched);
    EXPECT_EQ(weft_unit_join_free(away), WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(Stacked, WaitsForASchedulerInItsPoolThatWaits) {
    Runtime runtime;
    weft_pool *upper = make_pool(WEFT_POOL_SHARED), *lower = make_pool(WEFT_POOL_SHARED);
    Bed bed;
    Ult sleeper([&] { bed.sleep(); }, nullptr, lower);
    weft_unit* outer = push(pool_of(0), make_sched(WEFT_SCHED_BASIC, {upper}));
    weft_unit* inner = push(upper, make_sched(WEFT_SCHED_BASIC, {lower}));
    until([&] { return bed.occupied(); });
    for (int i = 0; i < 100; ++i) weft_unit_yield();
    EXPECT_EQ(weft_unit_try_join(outer), WEFT_BUSY);
    EXPECT_EQ(bed.wake(), WEFT_OK);
    EXPECT_EQ(sleeper.join(), WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(inner), WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(outer), WEFT_OK);
}

TEST(Stacked, OneThatRunsIsNotWhereItsStreamsGuestsGo) {
    Runtime runtime;
    weft_pool* below = make_pool(WEFT_POOL_SHARED);
    weft_pool* came_to = nullptr;
    {
        Ult goes(
            [&] {
                EXPECT_EQ(weft_unit_migrate_to_stream(weft_unit_self(), weft_stream_at(0)), WEFT_OK)
                    << weft_error_text();
                EXPECT_EQ(weft_unit_migrate_wait(weft_unit_self()), WEFT_OK);
                EXPECT_EQ(weft_unit_pool_get(weft_unit_self(), &came_to), WEFT_OK);
            },
            nullptr, below);
        weft_unit* unit = push(pool_of(0), make_sched(WEFT_SCHED_BASIC, {below}));
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    }
    EXPECT_EQ(came_to, pool_of(0)) << "not to the pool of the scheduler that ran it there";
    EXPECT_EQ(weft_pool_free(below), WEFT_OK);
}

TEST(Stacked, MayGoOnOnAnotherStreamAtEachTurn) {
    weft_settings settings = with_streams(3);
    settings.pool = WEFT_POOL_SHARED;
    Runtime runtime(settings);
    weft_pool* common = make_pool(WEFT_POOL_SHARED);
    for (weft_pool_kind kind : {WEFT_POOL_SHARED, WEFT_POOL_PRIVATE, WEFT_POOL_DEQUE}) {
        weft_pool* below = make_pool(kind);
        Stream one(common), other(common);
        atomic<int> turns{0};
        std::vector<std::unique_ptr<Ult>> units;
        for (int i = 0; i < 20; ++i) {
            units.push_back(std::make_unique<Ult>(
                [&] {
                    for (int k = 0; k < 50; ++k) {
                        ++turns;
                        weft_unit_yield();
                    }
                },
                nullptr, below));
        }
        weft_unit* unit = push(common, make_sched(WEFT_SCHED_BASIC, {below}), 3);
        for (int i = 0; i < 20; ++i)
            units.push_back(std::make_unique<Ult>(
                [] {
                    for (int k = 0; k < 50; ++k) weft_unit_yield();
                },
                nullptr, common));
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        units.clear();
        EXPECT_EQ(turns, 1000);
    }
}

TEST(Stacked, IsGivenBackWhenItIsNotAutomaticAndPushedAgain) {
    Runtime runtime;
    weft_pool* below = make_pool(WEFT_POOL_SHARED);
    weft_sched* sched = make_sched(WEFT_SCHED_BASIC, {below});
    EXPECT_EQ(weft_sched_owned_set(sched, false), WEFT_OK);
    for (int i = 0; i < 3; ++i) {
        Ult inner([] {}, nullptr, below);
        weft_unit* unit = push(pool_of(0), sched);
        EXPECT_EQ(weft_sched_free(sched), WEFT_BUSY);
        weft_unit* second = nullptr;
        EXPECT_EQ(weft_sched_push(sched, pool_of(0), nullptr, &second), WEFT_BUSY);
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    }
    EXPECT_EQ(weft_sched_free(sched), WEFT_OK);
    EXPECT_EQ(weft_pool_free(below), WEFT_OK);
}

TEST(Stacked, OneThatOwnsItsLoopRunsByTurnsAndWaitsAsAUnit) {
    Runtime runtime;
    weft_pool* below = make_pool(WEFT_POOL_SHARED);
    Loop loop;
    Bed bed;
    bool stop = false;
    Ult busy(
        [&] {
            while (!stop) weft_unit_yield();
        },
        nullptr, below);
    Ult sleeper([&] { bed.sleep(); }, nullptr, below);
    weft_unit* unit = push(pool_of(0), loop.make({below}), 5);
    Ult parents([&] { stop = true; });
    EXPECT_EQ(parents.join(), WEFT_OK);
    EXPECT_EQ(busy.join(), WEFT_OK);
    for (int i = 0; i < 100; ++i) weft_unit_yield();
    EXPECT_EQ(loop.returned, 0) << "a unit of its pool is suspended";
    EXPECT_EQ(bed.wake(), WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    EXPECT_EQ(sleeper.join(), WEFT_OK);
    EXPECT_GE(loop.waits, 1);
    EXPECT_EQ(loop.returned, 1);
    EXPECT_EQ(loop.destroyed, 1);
    EXPECT_EQ(weft_pool_free(below), WEFT_OK);
}

TEST(Stacked, IsFinishedBeforeTheRuntimeEnds) {
    atomic<int> ran{0};
    weft_unit* units[50] = {};
    {
        Runtime runtime(2);
        weft_pool* below = make_pool(WEFT_POOL_SHARED);
        static atomic<int>* counted;
        counted = &ran;
        ASSERT_EQ(weft_unit_spawn_many(
                      below, 50,
                      [](void*) {
                          weft_unit_yield();
                          ++*counted;
                      },
                      nullptr, nullptr, units),
                  WEFT_OK);
        ASSERT_EQ(weft_sched_push(make_sched(WEFT_SCHED_BASIC, {below}), pool_of(1), nullptr, nullptr), WEFT_OK);
    }
    EXPECT_EQ(ran, 50);
}

TEST(Stacked, WhatIsWrongHasItsStatus) {
    Runtime runtime;
    weft_pool *below = make_pool(WEFT_POOL_SHARED), *own = make_pool(WEFT_POOL_PRIVATE);
    weft_sched* sched = make_sched(WEFT_SCHED_BASIC, {below});
    weft_unit* unit = nullptr;
    EXPECT_EQ(weft_sched_push(sched, nullptr, nullptr, &unit), WEFT_INVALID);
    EXPECT_EQ(weft_sched_push(nullptr, below, nullptr, &unit), WEFT_INVALID);
    EXPECT_EQ(weft_sched_push(sched, below, nullptr, &unit), WEFT_INVALID) << "in its own pool";
    weft_sched_push_options how{};
    EXPECT_EQ(weft_sched_push(sched, pool_of(0), &how, &unit), WEFT_INVALID);
    EXPECT_EQ(weft_sched_free(sched), WEFT_OK);
    Loop loop;
    sched = loop.make({own});
    EXPECT_EQ(weft_sched_push(sched, pool_of(0), nullptr, &unit), WEFT_UNSUPPORTED);
    EXPECT_EQ(weft_sched_free(sched), WEFT_OK);
    sched = make_sched(WEFT_SCHED_BASIC, {pool_of(0)});
    EXPECT_EQ(weft_sched_push(sched, below, nullptr, &unit), WEFT_BUSY) << "stream 0 owns the private pool";
    EXPECT_EQ(weft_sched_free(sched), WEFT_OK);
    EXPECT_EQ(weft_sched_owned_set(nullptr, true), WEFT_INVALID);
    EXPECT_EQ(unit, nullptr);
}

TEST(MainLoop, MayYieldJoinAndSuspendBetweenTwoUnits) {
    Runtime runtime;
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);
    Bed bed;
    atomic<int> step{0};
    atomic<bool> resumed{false};
    weft_unit* self = nullptr;
    Loop loop;
    loop.between = [&](weft_sched*) {
        if (step == 0) {
            self = weft_unit_self();
            EXPECT_NE(self, nullptr);
            EXPECT_EQ(weft_unit_yield(), WEFT_OK);
            Ult elsewhere([] {}, nullptr, pool_of(0));
            EXPECT_EQ(elsewhere.join(), WEFT_OK);
            EXPECT_EQ(weft_unit_exit(), WEFT_WRONG_STATE);
            step = 1;
            bed.sleep();
            resumed = true;
            step = 2;
        }
        EXPECT_EQ(weft_unit_self(), self);
    };
    {
        Stream stream(nullptr, loop.make({pool}));
        atomic<bool> ran{false};
        until([&] { return bed.occupied(); });
        Ult unit(
            [&] {
                EXPECT_TRUE(resumed) << "its scheduler was suspended";
                EXPECT_NE(weft_unit_self(), self);
                ran = true;
            },
            nullptr, pool);
        until_others_rest();
        EXPECT_FALSE(ran);
        EXPECT_EQ(bed.wake(), WEFT_OK);
        EXPECT_EQ(unit.join(), WEFT_OK);
        EXPECT_TRUE(ran);
        // Where a unit without a named pool goes: into the scheduler's first pool.
        Ult spawner(
            [&] {
                Ult inner([] {});
                weft_pool* at = nullptr;
                EXPECT_EQ(weft_unit_pool_get(inner.handle(), &at), WEFT_OK);
                EXPECT_EQ(at, pool);
                EXPECT_EQ(inner.join(), WEFT_OK);
            },
            nullptr, pool);
        EXPECT_EQ(spawner.join(), WEFT_OK);
    }
    EXPECT_EQ(loop.returned, 1);
    EXPECT_EQ(loop.destroyed, 1);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(MainLoop, IsSuspendedWithoutItsStreamSpinning) {
    Runtime runtime;
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);
    Bed bed;
    bool first = true;
    Loop loop;
    loop.between = [&](weft_sched*) {
        if (std::exchange(first, false)) bed.sleep();
    };
    atomic<bool> freed{false};
    Stream stream(nullptr, loop.make({pool}));
    until([&] { return bed.occupied(); });
    until_others_rest();
    const std::string sleeps = "/streams{stream#" + std::to_string(stream.rank()) + "}/count/slept";
    const std::uint64_t before = counter(sleeps.c_str());
    Ult freer([&] {
        EXPECT_EQ(stream.free(), WEFT_OK);
        freed = true;
    });
    weft_unit_yield();   // it has asked the stream to stop, which waits for its scheduler
    until([&] { return counter(sleeps.c_str()) > before; });   // woken by that, it sleeps again
    EXPECT_FALSE(freed);
    EXPECT_EQ(bed.wake(), WEFT_OK);
    EXPECT_EQ(freer.join(), WEFT_OK);
    EXPECT_EQ(loop.returned, 1);
}
