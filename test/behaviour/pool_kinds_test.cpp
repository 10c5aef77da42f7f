// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kinds of pool beyond the first three: last in first out, by priority, and blocking; the
// declared access of pushers and poppers; and schedulers that let no pool starve.
#include <memory>
#include <thread>
#include <vector>

#include "base/config.hpp"
#include "test/behaviour/atomic.hpp"
#include "test/behaviour/several.hpp"

using namespace weft_test;

namespace {

weft_settings with_pool(weft_pool_kind kind, std::size_t streams = 1) {
    weft_settings settings = with_streams(streams);
    settings.pool = kind;
    return settings;
}

weft_unit_options urgent(int priority) {
    weft_unit_options made = options();
    made.priority = static_cast<std::int8_t>(priority);
    return made;
}

weft_pool* make_pool_with(weft_pool_kind kind, weft_pool_access access) {
    weft_pool_options wanted{};
    wanted.size = sizeof wanted;
    wanted.kind = kind;
    wanted.access = access;
    weft_pool* pool = nullptr;
    EXPECT_EQ(weft_pool_create_with(&wanted, &pool), WEFT_OK) << weft_error_text();
    return pool;
}

weft_pool_kind kind_of(const weft_pool* pool) {
    weft_pool_kind kind = WEFT_POOL_DEFAULT;
    EXPECT_EQ(weft_pool_kind_get(pool, &kind), WEFT_OK);
    return kind;
}

// How often the unit of the last of `pools` ran before the other pools stopped, which are busy with
// units that yield.
int turns_behind_busy_pools(weft_sched_kind kind, int yields) {
    std::vector<weft_pool*> pools{make_pool(WEFT_POOL_SHARED), make_pool(WEFT_POOL_SHARED),
                                  make_pool(WEFT_POOL_SHARED)};
    weft_sched* sched = nullptr;
    EXPECT_EQ(weft_sched_create(kind, pools.data(), pools.size(), &sched), WEFT_OK);
    atomic<bool> stop{false};
    int turns = 0;
    {
        Ult busy(
            [&] {
                for (int i = 0; i < yields; ++i) weft_unit_yield();
                stop = true;
            },
            nullptr, pools[0]);
        Ult busy_too(
            [&] {
                while (!stop) weft_unit_yield();
            },
            nullptr, pools[1]);
        Ult last(
            [&] {
                while (!stop) {
                    ++turns;
                    weft_unit_yield();
                }
            },
            nullptr, pools[2]);
        Stream stream(nullptr, sched);
        EXPECT_EQ(busy.join(), WEFT_OK);
        EXPECT_EQ(busy_too.join(), WEFT_OK);
        EXPECT_EQ(last.join(), WEFT_OK);
    }
    for (weft_pool* pool : pools) EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    return turns;
}

}   // namespace

TEST(Lifo, GivesTheNewestFirst) {
    Runtime runtime(with_pool(WEFT_POOL_LIFO));
    std::vector<int> order;
    {
        Ult a([&] { order.push_back(1); });
        Ult b([&] { order.push_back(2); });
        Ult c([&] { order.push_back(3); });
    }
    EXPECT_EQ(order, (std::vector<int>{3, 2, 1}));
}

TEST(Lifo, WhatYieldsGoesBehindAllOthers) {
    Runtime runtime(with_pool(WEFT_POOL_LIFO));
    std::vector<int> order;
    {
        Ult a([&] { order.push_back(1); });
        Ult b([&] {
            order.push_back(2);
            weft_unit_yield();
            order.push_back(4);
        });
        EXPECT_EQ(b.join(), WEFT_OK);
    }
    EXPECT_EQ(order, (std::vector<int>{2, 1, 4}));
}

TEST(PriorityPool, GivesTheMostUrgentFirstAndEqualsInTheirOrder) {
    Runtime runtime(with_pool(WEFT_POOL_PRIORITY));
    std::vector<int> order;
    {
        const auto least = urgent(WEFT_PRIORITY_LEAST), low = urgent(-1), high = urgent(1),
                   most = urgent(WEFT_PRIORITY_MOST);
        Ult a([&] { order.push_back(6); }, &least);
        Ult b([&] { order.push_back(5); }, &low);
        Ult c([&] { order.push_back(3); });
        Ult d([&] { order.push_back(4); });
        Ult e([&] { order.push_back(2); }, &high);
        Ult f([&] { order.push_back(1); }, &most);
        EXPECT_EQ(a.join(), WEFT_OK);
    }
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4, 5, 6}));
}

TEST(PriorityPool, TaskletsAndUnitsSpawnedTogetherHavePrioritiesToo) {
    Runtime runtime(with_pool(WEFT_POOL_PRIORITY));
    static std::vector<int> order;
    order.clear();
    const auto low = urgent(-2), high = urgent(2);
    weft_unit *tasklet = nullptr, *many[2] = {};
    ASSERT_EQ(weft_unit_spawn_many(
                  nullptr, 2, [](void*) { order.push_back(2); }, nullptr, &low, many),
              WEFT_OK);
    ASSERT_EQ(weft_tasklet_spawn(
                  nullptr, [](void*) { order.push_back(1); }, nullptr, &high, &tasklet),
              WEFT_OK);
    int priority = 0;
    EXPECT_EQ(weft_unit_priority_get(tasklet, &priority), WEFT_OK);
    EXPECT_EQ(priority, 2);
    EXPECT_EQ(weft_unit_join_free_many(many, 2), WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
    EXPECT_EQ(order, (std::vector<int>{1, 2, 2}));
}

TEST(PriorityPool, AChangedPriorityCountsFromTheNextTimeOn) {
    Runtime runtime(with_pool(WEFT_POOL_PRIORITY));
    std::vector<int> order;
    {
        Ult a([&] {
            EXPECT_EQ(weft_unit_priority_set(weft_unit_self(), -1), WEFT_OK);
            weft_unit_yield();
            order.push_back(2);
        });
        Ult b([&] { order.push_back(1); });
        EXPECT_EQ(a.join(), WEFT_OK);
    }
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
    Ult unit([] {});
    int priority = 1;
    EXPECT_EQ(weft_unit_priority_get(unit.handle(), &priority), WEFT_OK);
    EXPECT_EQ(priority, 0) << "a new unit is normal, whoever had its descriptor before";
    EXPECT_EQ(weft_unit_priority_set(unit.handle(), 8), WEFT_INVALID);
    EXPECT_EQ(weft_unit_priority_set(unit.handle(), -8), WEFT_INVALID);
    EXPECT_EQ(weft_unit_priority_set(nullptr, 0), WEFT_INVALID);
    EXPECT_EQ(weft_unit_priority_get(unit.handle(), nullptr), WEFT_INVALID);
    const auto wrong = urgent(100);
    weft_unit* none = nullptr;
    EXPECT_EQ(weft_ult_spawn(
                  nullptr, [](void*) {}, nullptr, &wrong, &none),
              WEFT_INVALID);
    EXPECT_STREQ(weft_error_text(), "priority 100 is none; legal are -7 to 7");
}

TEST(PriorityPool, TheLeastUrgentGetsItsTurnWhileUrgentOnesYieldForEver) {
    Runtime runtime;
    weft_pool* pool = make_pool(WEFT_POOL_PRIORITY);
    atomic<bool> stop{false};
    const auto least = urgent(WEFT_PRIORITY_LEAST), low = urgent(-3), most = urgent(WEFT_PRIORITY_MOST);
    {
        Ult busy(
            [&] {
                while (!stop) weft_unit_yield();
            },
            &most, pool);
        Ult busy_too(
            [&] {
                while (!stop) weft_unit_yield();
            },
            &low, pool);
        Ult late([&] { stop = true; }, &least, pool);
        Stream stream(pool);
        EXPECT_EQ(late.join(), WEFT_OK);
    }
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(PoolKinds, EachRunsUnitsOfManyStreams) {
    for (weft_pool_kind kind : {WEFT_POOL_LIFO, WEFT_POOL_PRIORITY, WEFT_POOL_BLOCKING}) {
        for (weft_sched_kind sched :
             {WEFT_SCHED_BASIC, WEFT_SCHED_BASIC_WAIT, WEFT_SCHED_PRIORITY, WEFT_SCHED_RANDOM_STEAL}) {
            weft_settings settings = with_pool(kind, 3);
            settings.scheduler = sched;
            Runtime runtime(settings);
            atomic<int> ran{0};
            std::vector<std::unique_ptr<Ult>> units;
            for (int i = 0; i < 300; ++i) {
                const auto how = urgent(kind == WEFT_POOL_PRIORITY ? i % 15 - 7 : 0);
                units.push_back(std::make_unique<Ult>(
                    [&] {
                        weft_unit_yield();
                        ++ran;
                    },
                    &how, pool_of(static_cast<std::size_t>(i) % 3)));
            }
            units.clear();
            EXPECT_EQ(ran, 300);
            EXPECT_EQ(kind_of(pool_of(1)), kind);
            until_others_rest();
            Ult late([&] { ++ran; }, nullptr, pool_of(2));
            EXPECT_EQ(late.join(), WEFT_OK);
        }
    }
}

TEST(PoolKinds, AUnitLeavesTheMiddleForYieldTo) {
    Runtime runtime;
    for (weft_pool_kind kind : {WEFT_POOL_LIFO, WEFT_POOL_PRIORITY, WEFT_POOL_BLOCKING}) {
        weft_pool* pool = make_pool(kind);
        std::vector<int> order;
        {
            const auto low = urgent(kind == WEFT_POOL_PRIORITY ? -1 : 0);
            Ult a([&] { order.push_back(2); }, nullptr, pool);
            Ult b([&] { order.push_back(1); }, &low, pool);
            Ult c([&] { order.push_back(3); }, nullptr, pool);
            EXPECT_EQ(length(pool), 3u);
            EXPECT_EQ(weft_unit_yield_to(b.handle()), WEFT_OK) << weft_error_text();
            EXPECT_EQ(length(pool), 2u);
            EXPECT_EQ(weft_unit_yield_to(a.handle()), WEFT_OK);
            EXPECT_EQ(weft_unit_yield_to(c.handle()), WEFT_OK);
            EXPECT_EQ(length(pool), 0u);
        }
        EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
        EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    }
}

TEST(Access, ChoosesThePoolAndIsRemembered) {
    Runtime runtime;
    weft_pool* pool = make_pool_with(WEFT_POOL_SHARED, WEFT_POOL_ACCESS_PRIVATE);
    EXPECT_EQ(kind_of(pool), WEFT_POOL_PRIVATE);
    weft_pool_access access = WEFT_POOL_ACCESS_DEFAULT;
    EXPECT_EQ(weft_pool_access_get(pool, &access), WEFT_OK);
    EXPECT_EQ(access, WEFT_POOL_ACCESS_PRIVATE);
    EXPECT_EQ(weft_pool_access_get(pool, nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    pool = make_pool(WEFT_POOL_PRIVATE);
    EXPECT_EQ(weft_pool_access_get(pool, &access), WEFT_OK);
    EXPECT_EQ(access, WEFT_POOL_ACCESS_DEFAULT) << "a pool's memory may be used again, not its promise";
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    weft_pool_options wanted{};
    wanted.size = sizeof wanted;
    wanted.kind = WEFT_POOL_PRIVATE;
    wanted.access = WEFT_POOL_ACCESS_MPMC;
    EXPECT_EQ(weft_pool_create_with(&wanted, &pool), WEFT_INVALID);
    wanted.access = static_cast<weft_pool_access>(6);
    EXPECT_EQ(weft_pool_create_with(&wanted, &pool), WEFT_INVALID);
    wanted.access = WEFT_POOL_ACCESS_DEFAULT;
    wanted.kind = WEFT_POOL_USER;
    EXPECT_EQ(weft_pool_create_with(&wanted, &pool), WEFT_INVALID);
    wanted.size = 0;
    EXPECT_EQ(weft_pool_create_with(&wanted, &pool), WEFT_INVALID);
}

TEST(Access, APromiseThatIsKeptIsNotNoticed) {
    Runtime runtime;
    for (weft_pool_kind kind :
         {WEFT_POOL_SHARED, WEFT_POOL_LIFO, WEFT_POOL_PRIORITY, WEFT_POOL_BLOCKING, WEFT_POOL_DEQUE}) {
        for (int access = WEFT_POOL_ACCESS_SPSC; access <= WEFT_POOL_ACCESS_MPMC; ++access) {
            weft_pool* pool = make_pool_with(kind, static_cast<weft_pool_access>(access));
            for (int round = 0; round < 2; ++round) {   // one consumer after the other
                Stream stream(pool);
                for (int i = 0; i < 10; ++i) {
                    Ult unit([] {}, nullptr, pool);
                    EXPECT_EQ(unit.join(), WEFT_OK);
                }
            }
            EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
        }
    }
}

using AccessDeathTest = testing::Test;

TEST(AccessDeathTest, ASecondProducerStopsTheProcess) {
    if (!weft::config::checked) GTEST_SKIP() << "a checked build looks";
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_DEATH(
        {
            Runtime runtime;
            weft_pool* pool = make_pool_with(WEFT_POOL_LIFO, WEFT_POOL_ACCESS_SPMC);
            Ult unit([] {}, nullptr, pool);
            std::thread([&] { Ult late([] {}, nullptr, pool); }).join();
        },
        "SPMC: one producer; stream 0 was the one, and now OS thread [0-9]+ pushes");
}

TEST(AccessDeathTest, ASecondConsumerStopsTheProcess) {
    if (!weft::config::checked) GTEST_SKIP() << "a checked build looks";
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_DEATH(
        {
            Runtime runtime;
            weft_pool* pool = make_pool_with(WEFT_POOL_SHARED, WEFT_POOL_ACCESS_MPSC);
            pop(pool);
            Stream stream(pool);
            for (;;) std::this_thread::yield();
        },
        "MPSC: one consumer; stream 0 was the one, and now stream 1 pops");
}

TEST(AccessDeathTest, AnotherStreamsPushToAPrivateOneStopsTheProcess) {
    if (!weft::config::checked) GTEST_SKIP() << "a checked build looks";
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_DEATH(
        {
            Runtime runtime;
            weft_pool* pool = make_pool_with(WEFT_POOL_SHARED, WEFT_POOL_ACCESS_PRIVATE);
            Stream stream(pool);
            for (;;) {
                Ult unit(
                    [] {
                        Ult here([] {});
                        EXPECT_EQ(here.join(), WEFT_OK);
                    },
                    nullptr, pool);
                EXPECT_EQ(unit.join(), WEFT_OK);
            }
        },
        "private: one stream pushes and pops; stream [01] was the one, and now stream [01] p(ushe|op)s");
}

TEST(Starvation, NoPoolWaitsForEverBehindOneWhoseUnitsYield) {
    Runtime runtime;
    EXPECT_GE(turns_behind_busy_pools(WEFT_SCHED_BASIC, 10'000), 10'000 / 61 / 3 / 2);
    EXPECT_GE(turns_behind_busy_pools(WEFT_SCHED_BASIC_WAIT, 10'000), 10'000 / 61 / 3 / 2);
    EXPECT_GE(turns_behind_busy_pools(WEFT_SCHED_PRIORITY, 100'000), 100'000 / 1021 / 3 / 2);
    EXPECT_GE(turns_behind_busy_pools(WEFT_SCHED_RANDOM_STEAL, 200'000), 1);
}

TEST(Starvation, APoolOfHigherPriorityIsServedFirst) {
    Runtime runtime;
    // The other pools together get one pick of 1021.
    EXPECT_LE(turns_behind_busy_pools(WEFT_SCHED_PRIORITY, 50'000), 50'000 / 1021 + 1);
}
