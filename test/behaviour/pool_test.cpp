// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pools: their order, what a program may do with them by hand, user-defined pools, and how many
// sleepers a push wakes.
#include <memory>
#include <mutex>
#include <string>
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

// A user-defined pool: last in, first out, linked through the units.
struct Stack {
    std::mutex mutex;
    weft_unit* top = nullptr;
    std::size_t count = 0;
    int destroyed = 0;

    static Stack& of(void* self) { return *static_cast<Stack*>(self); }
    static void push(void* self, weft_unit* unit) {
        std::lock_guard guard(of(self).mutex);
        *weft_unit_link(unit) = of(self).top;
        of(self).top = unit;
        ++of(self).count;
    }
    static weft_unit* pop(void* self) {
        std::lock_guard guard(of(self).mutex);
        weft_unit* unit = of(self).top;
        if (unit == nullptr) return nullptr;
        of(self).top = static_cast<weft_unit*>(*weft_unit_link(unit));
        --of(self).count;
        return unit;
    }
    static std::size_t length(const void* self) {
        auto& stack = of(const_cast<void*>(self));
        std::lock_guard guard(stack.mutex);
        return stack.count;
    }
    static int remove(void* self, weft_unit* unit) {
        std::lock_guard guard(of(self).mutex);
        weft_unit* before = nullptr;
        for (weft_unit* at = of(self).top; at != nullptr;
             before = at, at = static_cast<weft_unit*>(*weft_unit_link(at))) {
            if (at != unit) continue;
            auto* next = static_cast<weft_unit*>(*weft_unit_link(at));
            if (before == nullptr) of(self).top = next;
            else *weft_unit_link(before) = next;
            --of(self).count;
            return 1;
        }
        return 0;
    }
    static void destroy(void* self) { ++of(self).destroyed; }

    static weft_pool_ops ops() {
        weft_pool_ops table{};
        table.size = sizeof table;
        table.push = push;
        table.pop = pop;
        table.length = length;
        table.remove = remove;
        table.destroy = destroy;
        return table;
    }
    weft_pool* make(const weft_pool_ops& table = ops()) {
        weft_pool* pool = nullptr;
        EXPECT_EQ(weft_pool_create_user(&table, this, &pool), WEFT_OK) << weft_error_text();
        return pool;
    }
};

}   // namespace

TEST(Pool, ASharedOneIsFirstInFirstOut) {
    Runtime runtime(with_pool(WEFT_POOL_SHARED));
    std::vector<int> order;
    {
        Ult a([&] {
            order.push_back(1);
            weft_unit_yield();
            order.push_back(4);
        });
        Ult b([&] {
            order.push_back(2);
            weft_unit_yield();
            order.push_back(5);
        });
        Ult c([&] { order.push_back(3); });
    }
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4, 5}));
}

TEST(Pool, ADequeGivesItsOwnerTheNewestFirst) {
    Runtime runtime(with_pool(WEFT_POOL_DEQUE));
    std::vector<int> order;
    {
        Ult a([&] { order.push_back(1); });
        Ult b([&] { order.push_back(2); });
        Ult c([&] { order.push_back(3); });
    }
    EXPECT_EQ(order, (std::vector<int>{3, 2, 1}));
}

TEST(Pool, ADequeGivesThievesTheOldestFirst) {
    Runtime runtime;
    weft_pool* deque = make_pool(WEFT_POOL_DEQUE);
    atomic<bool> ready{false}, stop{false};
    std::vector<std::unique_ptr<Ult>> units;
    {
        Stream owner(deque);
        Ult spawner(
            [&] {
                for (int i = 0; i < 3; ++i) units.push_back(std::make_unique<Ult>([] {}, nullptr, deque));
                ready = true;
                while (!stop) std::this_thread::yield();   // the owner takes none of them meanwhile
            },
            nullptr, deque);
        until_set(ready);
        EXPECT_EQ(length(deque), 3u);
        for (auto& unit : units) {
            weft_unit* stolen = pop(deque);
            EXPECT_EQ(stolen, unit->handle());
            EXPECT_EQ(weft_pool_push(pool_of(0), stolen), WEFT_OK);
            EXPECT_EQ(pop(pool_of(0)), stolen) << "a private pool takes units of others";
        }
        EXPECT_EQ(pop(deque), nullptr);
        for (auto& unit : units) EXPECT_EQ(weft_pool_push(deque, unit->handle()), WEFT_OK);
        EXPECT_EQ(length(deque), 3u);
        stop = true;
        units.clear();   // joins them
    }
    EXPECT_EQ(weft_pool_free(deque), WEFT_OK);
}

TEST(Pool, ADequeTakesMoreThanItsRingHolds) {
    Runtime runtime(with_pool(WEFT_POOL_DEQUE));
    constexpr std::size_t count = 5000;
    static std::size_t ran;
    ran = 0;
    std::vector<weft_unit*> units(count);
    ASSERT_EQ(weft_unit_spawn_many(
                  nullptr, count, [](void*) { ++ran; }, nullptr, nullptr, units.data()),
              WEFT_OK);
    EXPECT_EQ(weft_unit_join_free_many(units.data(), count), WEFT_OK);
    EXPECT_EQ(ran, count);
}

TEST(Pool, NobodyWaitsForeverBehindUnitsThatSpawnInADeque) {
    Runtime runtime(with_pool(WEFT_POOL_DEQUE));
    static atomic<bool> stop;
    stop = false;
    // Each unit spawns its successor, so the newest unit is never the patient one.
    static void (*body)(void*);
    body = [](void*) {
        if (!stop) weft_ult_spawn(nullptr, body, nullptr, nullptr, nullptr);
    };
    atomic<int> turns{0};
    Ult patient([&] {
        while (turns < 5) {
            ++turns;
            weft_unit_yield();
        }
    });
    weft_ult_spawn(nullptr, body, nullptr, nullptr, nullptr);
    EXPECT_EQ(patient.join(), WEFT_OK);
    stop = true;
}

TEST(Pool, WhatIsStolenIsCounted) {
    Runtime runtime;
    const std::uint64_t before = counter("/units/count/stolen");
    weft_pool* rich = make_pool(WEFT_POOL_DEQUE);
    weft_pool* poor = make_pool(WEFT_POOL_DEQUE);
    {
        Stream owner(rich);
        atomic<int> ran{0};
        std::vector<std::unique_ptr<Ult>> units;
        atomic<bool> begun{false}, over{false};
        Ult spawner(
            [&] {
                begun = true;
                for (int i = 0; i < 10; ++i) units.push_back(std::make_unique<Ult>([&] { ++ran; }, nullptr, rich));
                while (ran < 10) std::this_thread::yield();   // so all of them are stolen
                over = true;
            },
            nullptr, rich);
        until_set(begun);   // otherwise the thief would steal the spawner
        weft_pool* pools[] = {poor, rich};
        weft_sched* sched = nullptr;
        ASSERT_EQ(weft_sched_create(WEFT_SCHED_RANDOM_STEAL, pools, 2, &sched), WEFT_OK);
        Stream thief(nullptr, sched);
        until_set(over);
        for (auto& unit : units) {
            EXPECT_EQ(unit->join(), WEFT_OK);
            weft_pool* now = nullptr;
            EXPECT_EQ(weft_unit_pool_get(unit->handle(), &now), WEFT_OK);
            EXPECT_EQ(now, poor) << "what a deque's owner steals belongs to it from then on";
        }
        units.clear();
    }
    EXPECT_EQ(counter("/units/count/stolen") - before, 10u);
}

TEST(Pool, APrivateOneIsItsStreamsAlone) {
    Runtime runtime;
    Stream stream;
    weft_unit* unit = nullptr;
    EXPECT_EQ(weft_pool_pop(stream.pool(), &unit), WEFT_WRONG_CONTEXT);
    weft_status outside{};
    std::thread([&] { outside = weft_pool_pop(pool_of(0), &unit); }).join();
    EXPECT_EQ(outside, WEFT_WRONG_CONTEXT);
    weft_pool* shared = make_pool(WEFT_POOL_SHARED);
    std::thread([&] { outside = weft_pool_pop(shared, &unit); }).join();
    EXPECT_EQ(outside, WEFT_OK);
    EXPECT_EQ(weft_pool_pop(pool_of(0), &unit), WEFT_OK);
    EXPECT_EQ(unit, nullptr);
    Ult a([] {}), b([] {});
    EXPECT_EQ(length(pool_of(0)), 2u);
    EXPECT_EQ(pop(pool_of(0)), a.handle());
    EXPECT_EQ(length(pool_of(0)), 1u);
    EXPECT_EQ(weft_pool_push(pool_of(0), a.handle()), WEFT_OK);
    EXPECT_EQ(pop(pool_of(0)), b.handle()) << "the one that was pushed is behind";
    EXPECT_EQ(weft_pool_push(shared, b.handle()), WEFT_OK);
    EXPECT_EQ(pop(shared), b.handle()) << "a unit may leave a private pool";
    EXPECT_EQ(weft_pool_push(pool_of(0), b.handle()), WEFT_OK);
    EXPECT_EQ(weft_pool_push(pool_of(0), weft_unit_self()), WEFT_WRONG_STATE) << "it runs";
    EXPECT_EQ(weft_pool_free(shared), WEFT_OK);
}

TEST(Pool, WhatIsWrongHasItsStatus) {
    weft_pool* pool = nullptr;
    EXPECT_EQ(weft_pool_create(WEFT_POOL_SHARED, &pool), WEFT_NOT_INITIALIZED);
    Runtime runtime;
    EXPECT_EQ(weft_pool_create(WEFT_POOL_SHARED, nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_pool_create(WEFT_POOL_USER, &pool), WEFT_INVALID);
    EXPECT_EQ(weft_pool_create(static_cast<weft_pool_kind>(99), &pool), WEFT_INVALID);
    EXPECT_NE(std::string(weft_error_text()).find("kind 99"), std::string::npos) << weft_error_text();
    EXPECT_EQ(pool, nullptr);
    std::size_t number = 0;
    weft_pool_kind kind{};
    weft_unit* unit = nullptr;
    EXPECT_EQ(weft_pool_length_get(nullptr, &number), WEFT_INVALID);
    EXPECT_EQ(weft_pool_length_get(pool_of(0), nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_pool_kind_get(nullptr, &kind), WEFT_INVALID);
    EXPECT_EQ(weft_pool_push(nullptr, weft_unit_self()), WEFT_INVALID);
    EXPECT_EQ(weft_pool_push(pool_of(0), nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_pool_pop(nullptr, &unit), WEFT_INVALID);
    EXPECT_EQ(weft_pool_pop(pool_of(0), nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_pool_free(nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_pool_kind_get(pool_of(0), &kind), WEFT_OK);
    EXPECT_EQ(kind, WEFT_POOL_PRIVATE);
}

TEST(Pool, OneThatIsInUseIsNotFreed) {
    Runtime runtime;
    EXPECT_EQ(weft_pool_free(pool_of(0)), WEFT_BUSY);
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);
    auto unit = std::make_unique<Ult>([] {}, nullptr, pool);
    EXPECT_EQ(length(pool), 1u);
    EXPECT_EQ(weft_pool_free(pool), WEFT_BUSY) << "a unit waits in it";
    {
        Stream stream(pool);
        EXPECT_EQ(unit->join(), WEFT_OK);
        EXPECT_EQ(weft_pool_free(pool), WEFT_BUSY) << "a stream draws from it";
    }
    unit.reset();
    weft_sched* sched = nullptr;
    ASSERT_EQ(weft_sched_create(WEFT_SCHED_BASIC, &pool, 1, &sched), WEFT_OK);
    EXPECT_EQ(weft_pool_free(pool), WEFT_BUSY) << "a scheduler has it, though no stream runs that";
    EXPECT_EQ(weft_sched_free(sched), WEFT_OK);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(Pool, OneThatIsMadeInTheMemoryOfAnotherIsAsNew) {
    Runtime runtime;
    for (const weft_pool_kind kind : {WEFT_POOL_SHARED, WEFT_POOL_DEQUE, WEFT_POOL_PRIVATE}) {
        for (int round = 0; round < 3; ++round) {
            weft_pool* pool = make_pool(kind);
            EXPECT_EQ(length(pool), 0u);
            int ran = 0;
            {
                Ult one([&] { ++ran; }, nullptr, pool), two([&] { ++ran; }, nullptr, pool);
                Stream stream(pool);
            }
            EXPECT_EQ(ran, 2);
            EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
        }
    }
}

TEST(PoolDeathTest, AStaleHandleStopsTheProcessInACheckedBuild) {
    if constexpr (!weft::config::checked) GTEST_SKIP() << "handles are checked in checked builds";
    Runtime runtime;
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);
    ASSERT_EQ(weft_pool_free(pool), WEFT_OK);
    EXPECT_DEATH(weft_pool_free(pool), "stale handle");
}

TEST(UserPool, GivesUnitsInItsOwnOrderAndIsDestroyedOnce) {
    Stack stack;
    {
        Runtime runtime;
        weft_pool* pool = stack.make();
        weft_pool_kind kind{};
        EXPECT_EQ(weft_pool_kind_get(pool, &kind), WEFT_OK);
        EXPECT_EQ(kind, WEFT_POOL_USER);
        std::vector<int> order;
        Ult a([&] { order.push_back(1); }, nullptr, pool);
        Ult b([&] { order.push_back(2); }, nullptr, pool);
        Ult c([&] { order.push_back(3); }, nullptr, pool);
        EXPECT_EQ(length(pool), 3u);
        {
            Stream stream(pool);
            EXPECT_EQ(a.join(), WEFT_OK);
        }
        EXPECT_EQ(order, (std::vector<int>{3, 2, 1}));
        EXPECT_EQ(stack.destroyed, 0);
        EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
        EXPECT_EQ(stack.destroyed, 1);
    }
    EXPECT_EQ(stack.destroyed, 1);
}

TEST(UserPool, OneThatIsNotFreedIsDestroyedWithTheRuntime) {
    Stack stack;
    {
        Runtime runtime;
        stack.make();
    }
    EXPECT_EQ(stack.destroyed, 1);
}

TEST(UserPool, YieldToTakesAUnitOutOfItsMiddle) {
    Runtime runtime;
    Stack removing, rigid;
    auto table = Stack::ops();
    table.remove = nullptr;
    weft_pool* pools[] = {removing.make(), rigid.make(table)};
    std::vector<int> order;
    for (weft_pool* pool : pools) {
        order.clear();
        weft_status status{};
        {
            Ult a([&] { order.push_back(1); }, nullptr, pool);
            Ult b([&] { order.push_back(2); }, nullptr, pool);
            Ult c(
                [&] {
                    order.push_back(3);
                    status = weft_unit_yield_to(a.handle());
                    order.push_back(4);
                },
                nullptr, pool);
            Stream stream(pool);
        }
        if (pool == pools[0]) {
            EXPECT_EQ(status, WEFT_OK);
            EXPECT_EQ(order, (std::vector<int>{3, 1, 4, 2}));
        } else {
            EXPECT_EQ(status, WEFT_UNSUPPORTED);
            EXPECT_EQ(order, (std::vector<int>{3, 4, 2, 1}));
        }
        EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    }
}

TEST(UserPool, ATableThatLacksAFunctionIsRefused) {
    Runtime runtime;
    Stack stack;
    weft_pool* pool = nullptr;
    const char* names[] = {"push", "pop", "length"};
    for (int missing = 0; missing < 3; ++missing) {
        auto table = Stack::ops();
        if (missing == 0) table.push = nullptr;
        if (missing == 1) table.pop = nullptr;
        if (missing == 2) table.length = nullptr;
        EXPECT_EQ(weft_pool_create_user(&table, &stack, &pool), WEFT_INVALID);
        EXPECT_NE(std::string(weft_error_text()).find(names[missing]), std::string::npos) << weft_error_text();
    }
    auto table = Stack::ops();
    EXPECT_EQ(weft_pool_create_user(nullptr, &stack, &pool), WEFT_INVALID);
    EXPECT_EQ(weft_pool_create_user(&table, &stack, nullptr), WEFT_INVALID);
    table.size = sizeof(std::size_t);
    EXPECT_EQ(weft_pool_create_user(&table, &stack, &pool), WEFT_INVALID) << "an older caller's table that ends there";
    EXPECT_EQ(pool, nullptr);
    EXPECT_EQ(stack.destroyed, 0);
}

TEST(UserPool, SeveralStreamsDrawFromOne) {
    Runtime runtime;
    Stack stack;
    weft_pool* pool = stack.make();
    atomic<int> ran{0};
    {
        Stream first(pool), second(pool);
        for (int i = 0; i < 300; ++i) {
            Ult a(
                [&] {
                    ++ran;
                    weft_unit_yield();
                    ++ran;
                },
                nullptr, pool);
            Ult b([&] { ++ran; }, nullptr, pool);
        }
    }
    EXPECT_EQ(ran, 900);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

// Three streams with shared pools; on each stream a unit takes others out of the next stream's pool
// and puts them into its own.
TEST(Pool, UnitsHopBetweenSharedPools) {
    Runtime runtime;
    // hops: three movers could keep the last unit from running forever
    constexpr int hoppers = 60, turns = 30, most = 2000;
    weft_pool* pools[3] = {make_pool(WEFT_POOL_SHARED), make_pool(WEFT_POOL_SHARED), make_pool(WEFT_POOL_SHARED)};
    atomic<int> left{hoppers}, hops{0};
    {
        Stream streams[3]{Stream(pools[0]), Stream(pools[1]), Stream(pools[2])};
        std::vector<std::unique_ptr<Ult>> movers, units;
        std::vector<weft_unit*> handles;
        for (int i = 0; i < hoppers; ++i) {
            units.push_back(std::make_unique<Ult>(
                [&] {
                    for (int turn = 0; turn < turns || hops == 0; ++turn) weft_unit_yield();
                    --left;
                },
                nullptr, pools[i % 3]));
        }
        for (int i = 0; i < 3; ++i) {
            movers.push_back(std::make_unique<Ult>(
                [&, i] {
                    while (left > 0) {
                        if (weft_unit* unit = hops < most ? pop(pools[(i + 1) % 3]) : nullptr) {
                            EXPECT_EQ(weft_pool_push(pools[i], unit), WEFT_OK) << weft_error_text();
                            ++hops;
                        }
                        weft_unit_yield();
                    }
                },
                nullptr, pools[i]));
        }
        for (auto& unit : units) EXPECT_EQ(unit->join(), WEFT_OK);
    }
    for (weft_pool* pool : pools) EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(Pool, APushWakesOneSleeperAndNoMore) {
    weft_settings settings = with_streams(1);
    settings.spin_ns = 1;   // no stream searches before it sleeps
    Runtime runtime(settings);
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);
    {
        Stream streams[4]{Stream(pool), Stream(pool), Stream(pool), Stream(pool)};
        until([&] { return counter("/streams/count/slept") >= 4; });
        for (int round = 0; round < 50; ++round) {
            until_others_rest();
            const std::uint64_t slept = counter("/streams/count/slept");
            Ult unit([] {}, nullptr, pool);
            until([&] { return unit.state() == WEFT_UNIT_DONE; });
            until_others_rest();
            EXPECT_EQ(counter("/streams/count/slept") - slept, 1u) << "one woke, and went back to sleep";
            EXPECT_EQ(unit.join(), WEFT_OK);
        }
    }
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}
