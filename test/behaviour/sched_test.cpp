// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedulers: those that come with the library, and user-defined ones, stateless and stateful.
#include <memory>
#include <string>
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/several.hpp"

using namespace weft_test;

namespace {

// A user-defined scheduler: stateless with pick, or stateful with run.
struct Own {
    atomic<int> picked{0}, ran{0}, waits{0}, returned{0};
    atomic<int> destroyed{0};
    atomic<bool> clean{true};   // no call was refused

    static Own& of(void* self) { return *static_cast<Own*>(self); }

    // Picks from the last pool first.
    static weft_unit* pick(void* self, weft_sched* sched) {
        std::size_t count = 0;
        if (weft_sched_pool_count_get(sched, &count) != WEFT_OK) of(self).clean = false;
        for (std::size_t i = count; i-- > 0;) {
            weft_pool* pool = nullptr;
            weft_unit* unit = nullptr;
            if (weft_sched_pool_get(sched, i, &pool) != WEFT_OK || weft_pool_pop(pool, &unit) != WEFT_OK)
                of(self).clean = false;
            if (unit == nullptr) continue;
            ++of(self).picked;
            return unit;
        }
        return nullptr;
    }
    static void run(void* self, weft_sched* sched) {
        while (!weft_sched_check_stop(sched)) {
            if (weft_unit* unit = pick(self, sched)) {
                if (weft_sched_run_unit(sched, unit) != WEFT_OK) of(self).clean = false;
                ++of(self).ran;
            } else {
                ++of(self).waits;
                if (weft_sched_wait(sched) != WEFT_OK) of(self).clean = false;
            }
        }
        ++of(self).returned;
    }
    static void destroy(void* self) { ++of(self).destroyed; }

    weft_sched* make(bool stateless, std::vector<weft_pool*> pools) {
        weft_sched_ops table{};
        table.size = sizeof table;
        if (stateless) table.pick = pick;
        else table.run = run;
        table.destroy = destroy;
        weft_sched* sched = nullptr;
        EXPECT_EQ(weft_sched_create_user(&table, this, pools.data(), pools.size(), &sched), WEFT_OK)
            << weft_error_text();
        return sched;
    }
};

bool stateless(const weft_sched* sched) {
    bool answer = false;
    EXPECT_EQ(weft_sched_stateless_get(sched, &answer), WEFT_OK);
    return answer;
}

}   // namespace

TEST(Sched, BasicTakesThePoolsInTheirOrder) {
    Runtime runtime;
    std::vector<weft_pool*> pools{make_pool(WEFT_POOL_SHARED), make_pool(WEFT_POOL_SHARED),
                                  make_pool(WEFT_POOL_PRIVATE)};
    std::vector<int> order;
    {
        Ult c([&] { order.push_back(3); }, nullptr, pools[2]);
        Ult b([&] { order.push_back(2); }, nullptr, pools[1]);
        Ult a([&] { order.push_back(0); }, nullptr, pools[0]);
        Ult a_too([&] { order.push_back(1); }, nullptr, pools[0]);
        Stream stream(nullptr, make_sched(WEFT_SCHED_BASIC, pools));
        EXPECT_EQ(stream.pool(), pools[0]);
    }
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
    for (weft_pool* pool : pools) EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(Sched, ItsStreamWakesForEachOfItsPools) {
    Runtime runtime;
    std::vector<weft_pool*> pools{make_pool(WEFT_POOL_PRIVATE), make_pool(WEFT_POOL_SHARED),
                                  make_pool(WEFT_POOL_DEQUE)};
    Own picks, runs;
    for (int kind = 0; kind < 4; ++kind) {
        Stream stream(nullptr, kind == 0   ? make_sched(WEFT_SCHED_BASIC, pools)
                               : kind == 1 ? make_sched(WEFT_SCHED_RANDOM_STEAL, pools)
                               : kind == 2 ? picks.make(true, pools)
                                           : runs.make(false, pools));
        for (int round = 0; round < 10; ++round) {
            for (weft_pool* pool : pools) {
                until_others_rest();
                Ult unit([] {}, nullptr, pool);
                EXPECT_EQ(unit.join(), WEFT_OK);
            }
        }
    }
    EXPECT_GT(runs.waits, 0);
    EXPECT_TRUE(picks.clean && runs.clean);
}

TEST(Sched, RandomStealTakesItsOwnFirstAndThenFromAll) {
    Runtime runtime;
    std::vector<weft_pool*> pools;
    for (int i = 0; i < 4; ++i) pools.push_back(make_pool(WEFT_POOL_SHARED));
    std::vector<int> order;
    {
        std::vector<std::unique_ptr<Ult>> units;
        for (int i = 4; i-- > 0;) {
            for (int k = 0; k < 3; ++k)
                units.push_back(std::make_unique<Ult>([&order, i] { order.push_back(i); }, nullptr, pools[i]));
        }
        Stream stream(nullptr, make_sched(WEFT_SCHED_RANDOM_STEAL, pools));
    }
    ASSERT_EQ(order.size(), 12u);
    EXPECT_EQ(std::vector<int>(order.begin(), order.begin() + 3), (std::vector<int>{0, 0, 0}));
    int seen[4] = {};
    for (int i : order) ++seen[i];
    for (int of : seen) EXPECT_EQ(of, 3);
}

TEST(Sched, StreamsStealByDefaultWhenThereAreSeveral) {
    weft_settings settings = with_streams(2);
    Runtime runtime(settings);
    atomic<int> ran{0};
    std::vector<std::unique_ptr<Ult>> units;
    for (int i = 0; i < 20; ++i) units.push_back(std::make_unique<Ult>([&] { ++ran; }));
    while (ran < 20) std::this_thread::yield();   // this stream runs none of them
}

TEST(Sched, AUsersPickChoosesTheNextUnit) {
    Runtime runtime;
    Own own;
    std::vector<weft_pool*> pools{make_pool(WEFT_POOL_SHARED), make_pool(WEFT_POOL_SHARED)};
    std::vector<int> order;
    {
        Ult a(
            [&] {
                order.push_back(3);
                weft_unit_yield();
                order.push_back(4);
            },
            nullptr, pools[0]);
        Ult b([&] { order.push_back(1); }, nullptr, pools[1]);
        Ult b_too([&] { order.push_back(2); }, nullptr, pools[1]);
        weft_sched* sched = own.make(true, pools);
        EXPECT_TRUE(stateless(sched));
        Stream stream(nullptr, sched);
        EXPECT_EQ(a.join(), WEFT_OK);
        EXPECT_EQ(own.destroyed, 0);
    }
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
    EXPECT_GE(own.picked, 3);
    EXPECT_TRUE(own.clean);
    EXPECT_EQ(own.destroyed, 1) << "it belongs to its stream";
}

TEST(Sched, AUsersRunOwnsItsLoop) {
    Runtime runtime;
    Own own;
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);
    atomic<int> ended{0};
    {
        weft_sched* sched = own.make(false, {pool});
        EXPECT_FALSE(stateless(sched));
        Stream stream(nullptr, sched);
        for (int i = 0; i < 20; ++i) {
            Ult unit(
                [&] {
                    weft_unit_yield();
                    ++ended;
                },
                nullptr, pool);
            weft_unit* tasklet = nullptr;
            ASSERT_EQ(weft_tasklet_spawn(
                          pool, [](void* to) { ++*static_cast<atomic<int>*>(to); }, &ended, nullptr, &tasklet),
                      WEFT_OK);
            EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
            EXPECT_EQ(unit.join(), WEFT_OK);
            if (i % 5 == 0) until_others_rest();
        }
    }
    EXPECT_EQ(ended, 40);
    EXPECT_EQ(own.ran, 60) << "each start and each continuation went through run";
    EXPECT_GE(own.waits, 1);
    EXPECT_EQ(own.returned, 1);
    EXPECT_EQ(own.destroyed, 1);
    EXPECT_TRUE(own.clean);
    EXPECT_EQ(hart_use().granted, 1u) << "the stream that ended has given its hart back";
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(Sched, AStreamWithAUsersRunIsSuspendedAndYieldsTo) {
    Runtime runtime;
    Own own;
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);
    atomic<bool> stop{false};
    atomic<int> turns{0};
    Stream stream(nullptr, own.make(false, {pool}));
    Ult a(
        [&] {
            while (!stop) {
                ++turns;
                weft_unit_yield();
            }
        },
        nullptr, pool);
    until([&] { return turns > 5; });
    ASSERT_EQ(weft_stream_suspend(stream.handle()), WEFT_OK);
    until_others_rest();
    const int before = turns;
    for (int i = 0; i < 100; ++i) std::this_thread::yield();
    EXPECT_EQ(turns, before);
    ASSERT_EQ(weft_stream_resume(stream.handle()), WEFT_OK);
    until([&] { return turns > before; });
    bool direct = false;
    Ult b(
        [&] {
            Ult target([&] { direct = true; }, nullptr, pool);
            EXPECT_EQ(weft_unit_yield_to(target.handle()), WEFT_OK) << weft_error_text();
            EXPECT_TRUE(direct);
        },
        nullptr, pool);
    EXPECT_EQ(b.join(), WEFT_OK);
    stop = true;
}

TEST(Sched, WhatIsWrongHasItsStatus) {
    Runtime runtime;
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);
    weft_pool* with_null[] = {pool, nullptr};
    weft_sched* sched = nullptr;
    EXPECT_EQ(weft_sched_create(WEFT_SCHED_BASIC, &pool, 0, &sched), WEFT_INVALID);
    EXPECT_EQ(weft_sched_create(WEFT_SCHED_BASIC, nullptr, 1, &sched), WEFT_INVALID);
    EXPECT_EQ(weft_sched_create(WEFT_SCHED_BASIC, &pool, 1, nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_sched_create(WEFT_SCHED_BASIC, with_null, 2, &sched), WEFT_INVALID);
    EXPECT_EQ(weft_sched_create(WEFT_SCHED_USER, &pool, 1, &sched), WEFT_INVALID);
    weft_sched_ops table{};
    table.size = sizeof table;
    EXPECT_EQ(weft_sched_create_user(&table, nullptr, &pool, 1, &sched), WEFT_INVALID) << "neither";
    table.pick = Own::pick;
    table.run = Own::run;
    EXPECT_EQ(weft_sched_create_user(&table, nullptr, &pool, 1, &sched), WEFT_INVALID) << "both";
    EXPECT_EQ(weft_sched_create_user(nullptr, nullptr, &pool, 1, &sched), WEFT_INVALID);
    EXPECT_EQ(sched, nullptr);
    sched = make_sched(WEFT_SCHED_BASIC, {pool});
    std::size_t count = 0;
    weft_pool* first = nullptr;
    EXPECT_EQ(weft_sched_pool_count_get(sched, &count), WEFT_OK);
    EXPECT_EQ(weft_sched_pool_get(sched, 0, &first), WEFT_OK);
    EXPECT_EQ(count, 1u);
    EXPECT_EQ(first, pool);
    EXPECT_EQ(weft_sched_pool_get(sched, 1, &first), WEFT_INVALID);
    EXPECT_EQ(weft_sched_pool_count_get(nullptr, &count), WEFT_INVALID);
    EXPECT_TRUE(stateless(sched));
    EXPECT_EQ(weft_sched_stateless_get(sched, nullptr), WEFT_INVALID);
    Ult unit([] {}, nullptr, pool);
    EXPECT_EQ(weft_sched_run_unit(sched, unit.handle()), WEFT_WRONG_CONTEXT) << "not from a unit";
    EXPECT_EQ(weft_sched_wait(sched), WEFT_WRONG_CONTEXT);
    EXPECT_EQ(weft_sched_run_unit(nullptr, unit.handle()), WEFT_INVALID);
    EXPECT_EQ(weft_sched_wait(nullptr), WEFT_INVALID);
    {
        Stream stream(nullptr, sched);
        EXPECT_EQ(weft_sched_free(sched), WEFT_BUSY);
        EXPECT_EQ(unit.join(), WEFT_OK);
    }
    EXPECT_EQ(weft_sched_free(nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK) << "its scheduler went with the stream";
}

TEST(Sched, OneThatNoStreamTookIsFreedByHandOrWithTheRuntime) {
    Own by_hand, left;
    {
        Runtime runtime;
        weft_pool* pool = make_pool(WEFT_POOL_SHARED);
        weft_sched* sched = by_hand.make(true, {pool});
        EXPECT_EQ(weft_sched_free(sched), WEFT_OK);
        EXPECT_EQ(by_hand.destroyed, 1);
        left.make(false, {pool});
        EXPECT_EQ(left.destroyed, 0);
    }
    EXPECT_EQ(left.destroyed, 1);
    EXPECT_EQ(by_hand.destroyed, 1);
}
