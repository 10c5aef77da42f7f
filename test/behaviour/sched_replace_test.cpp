// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stream's scheduler is replaced while it runs.
#include <memory>
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/several.hpp"

using namespace weft_test;

namespace {

// A user-defined scheduler with a loop of its own over one pool.
struct Loop {
    atomic<int> destroyed{0}, returned{0};

    static Loop& of(void* self) { return *static_cast<Loop*>(self); }
    static void run(void* self, weft_sched* sched) {
        weft_pool* pool = nullptr;
        EXPECT_EQ(weft_sched_pool_get(sched, 0, &pool), WEFT_OK);
        while (!weft_sched_check_stop(sched)) {
            weft_unit* unit = nullptr;
            EXPECT_EQ(weft_pool_pop(pool, &unit), WEFT_OK);
            EXPECT_EQ(unit != nullptr ? weft_sched_run_unit(sched, unit) : weft_sched_wait(sched), WEFT_OK);
        }
        ++of(self).returned;
    }
    static void destroy(void* self) { ++of(self).destroyed; }

    weft_sched* make(weft_pool* pool) {
        weft_sched_ops table{};
        table.size = sizeof table;
        table.run = run;
        table.destroy = destroy;
        weft_sched* sched = nullptr;
        EXPECT_EQ(weft_sched_create_user(&table, this, &pool, 1, &sched), WEFT_OK) << weft_error_text();
        return sched;
    }
};

weft_sched* sched_of(weft_stream* stream) {
    weft_sched* sched = nullptr;
    EXPECT_EQ(weft_stream_sched_get(stream, &sched), WEFT_OK);
    return sched;
}

void set(weft_stream* stream, weft_sched* sched) {
    EXPECT_EQ(weft_stream_sched_set(stream, sched), WEFT_OK) << weft_error_text();
}

// A unit in `pool` ends: some stream runs it.
void runs(weft_pool* pool) {
    Ult unit([] { weft_unit_yield(); }, nullptr, pool);
    EXPECT_EQ(unit.join(), WEFT_OK);
}

}   // namespace

TEST(Replaced, TheStreamDrawsFromTheNewOnesPools) {
    Runtime runtime;
    weft_pool *first = make_pool(WEFT_POOL_SHARED), *second = make_pool(WEFT_POOL_PRIVATE);
    {
        Stream stream(first);
        runs(first);
        weft_sched* next = make_sched(WEFT_SCHED_BASIC, {second});
        set(stream.handle(), next);
        runs(second);
        EXPECT_EQ(sched_of(stream.handle()), next);
        EXPECT_EQ(stream.pool(), second);
        EXPECT_EQ(weft_pool_free(first), WEFT_OK) << "nobody draws from it, its scheduler is freed";
    }
    EXPECT_EQ(weft_pool_free(second), WEFT_OK);
}

TEST(Replaced, ByOneOverTheSamePrivatePool) {
    Runtime runtime;
    weft_pool* pool = make_pool(WEFT_POOL_PRIVATE);
    {
        Stream stream(pool);
        atomic<bool> stop{false};
        Ult busy(
            [&] {
                while (!stop) weft_unit_yield();
            },
            nullptr, pool);
        for (weft_sched_kind kind : {WEFT_SCHED_PRIORITY, WEFT_SCHED_BASIC_WAIT, WEFT_SCHED_BASIC}) {
            weft_sched* next = make_sched(kind, {pool});
            set(stream.handle(), next);
            until([&] { return sched_of(stream.handle()) == next; });
            runs(pool);
        }
        stop = true;
    }
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(Replaced, OneThatOwnsItsLoopReturnsFirstAndTheOtherWayRound) {
    Runtime runtime;
    weft_pool *first = make_pool(WEFT_POOL_SHARED), *second = make_pool(WEFT_POOL_SHARED);
    Loop one, other;
    {
        Stream stream(nullptr, one.make(first));
        runs(first);
        set(stream.handle(), other.make(second));
        runs(second);
        EXPECT_EQ(one.returned, 1);
        EXPECT_EQ(one.destroyed, 1);
        set(stream.handle(), make_sched(WEFT_SCHED_BASIC, {first}));
        runs(first);
        EXPECT_EQ(other.returned, 1);
        until_others_rest();
        set(stream.handle(), one.make(second));   // while the stream sleeps
        runs(second);
    }
    EXPECT_EQ(one.destroyed, 2);
    EXPECT_EQ(other.destroyed, 1);
    EXPECT_EQ(weft_pool_free(first), WEFT_OK);
    EXPECT_EQ(weft_pool_free(second), WEFT_OK);
}

TEST(Replaced, ByAUnitOfTheStreamItself) {
    Runtime runtime;
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);
    Loop loop;
    {
        Stream stream(pool);
        Ult unit(
            [&] {
                for (int i = 0; i < 20; ++i) {
                    weft_sched* next = i % 2 == 0 ? loop.make(pool) : make_sched(WEFT_SCHED_BASIC, {pool});
                    set(weft_stream_self(), next);
                    while (sched_of(stream.handle()) != next) weft_unit_yield();
                }
            },
            nullptr, pool);
        EXPECT_EQ(unit.join(), WEFT_OK);
    }
    EXPECT_EQ(loop.destroyed, 10);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(Replaced, OfStreamZeroWhosePrimaryUnitRunsOn) {
    for (weft_pool_kind kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE}) {
        Loop loop;
        {
            weft_settings settings = with_streams(1);
            settings.pool = kind;
            Runtime runtime(settings);
            weft_pool *pool = make_pool(WEFT_POOL_SHARED), *owned = make_pool(WEFT_POOL_PRIVATE);
            weft_stream* zero = weft_stream_at(0);
            set(zero, make_sched(WEFT_SCHED_BASIC, {pool}));
            runs(pool);
            set(zero, make_sched(WEFT_SCHED_BASIC, {owned}));
            runs(owned);
            Ult standard([] {});
            weft_pool* at = nullptr;
            weft_unit_yield();
            EXPECT_EQ(weft_unit_pool_get(standard.handle(), &at), WEFT_OK);
            EXPECT_EQ(at, owned);
            EXPECT_EQ(standard.join(), WEFT_OK);
            set(zero, loop.make(pool));
            runs(pool);
            EXPECT_EQ(weft_pool_free(owned), WEFT_OK);
            set(zero, loop.make(pool));
            runs(pool);
            EXPECT_EQ(loop.returned, 1);
        }
        EXPECT_EQ(loop.returned, 2) << "the end of the runtime ends its loop";
        EXPECT_EQ(loop.destroyed, 2);
    }
}

TEST(Replaced, TheOldOneIsGivenBackWhenItIsNotAutomatic) {
    Runtime runtime;
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);
    weft_sched* mine = make_sched(WEFT_SCHED_BASIC, {pool});
    EXPECT_EQ(weft_sched_owned_set(mine, false), WEFT_OK);
    {
        Stream stream(nullptr, mine);
        runs(pool);
        weft_sched* other = make_sched(WEFT_SCHED_BASIC, {pool});
        set(stream.handle(), other);
        until([&] { return sched_of(stream.handle()) == other; });
        runs(pool);
        set(stream.handle(), mine);
        until([&] { return sched_of(stream.handle()) == mine; });
        runs(pool);
    }
    EXPECT_EQ(weft_sched_free(mine), WEFT_OK) << "its stream has ended";
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(Replaced, ASecondOneSupersedesTheFirstThatHasNotBegun) {
    Runtime runtime;
    weft_pool *pool = make_pool(WEFT_POOL_SHARED), *never = make_pool(WEFT_POOL_PRIVATE),
              *last = make_pool(WEFT_POOL_PRIVATE);
    Loop superseded;
    {
        Stream stream(pool);
        atomic<bool> running{false}, go{false};
        Ult busy(
            [&] {
                running = true;
                while (!go) std::this_thread::yield();   // the stream's loop has no turn meanwhile
            },
            nullptr, pool);
        until_set(running);
        set(stream.handle(), superseded.make(never));
        set(stream.handle(), make_sched(WEFT_SCHED_BASIC, {last}));
        EXPECT_EQ(superseded.destroyed, 1);
        EXPECT_EQ(weft_pool_free(never), WEFT_OK);
        go = true;
        runs(last);
        EXPECT_EQ(busy.join(), WEFT_OK);
    }
    EXPECT_EQ(superseded.returned, 0);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    EXPECT_EQ(weft_pool_free(last), WEFT_OK);
}

TEST(Replaced, UnitsBoundToTheStreamGoOn) {
    Runtime runtime;
    for (weft_pool_kind kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED}) {
        weft_pool *pool = make_pool(kind), *next = make_pool(WEFT_POOL_SHARED);
        Loop loop;
        Stream stream(pool);
        auto how = options();
        how.stream = stream.handle();
        how.bound = true;
        atomic<bool> stop{false};
        atomic<int> turns{0}, wrong{0};
        Ult bound(
            [&] {
                while (!stop) {
                    ++turns;
                    if (weft_stream_self() != stream.handle()) ++wrong;
                    weft_unit_yield();
                }
            },
            &how);
        until([&] { return turns > 5; });
        set(stream.handle(), make_sched(WEFT_SCHED_BASIC, {next}));
        runs(next);
        int before = turns;
        until([&] { return turns > before + 5; });
        set(stream.handle(), loop.make(next));
        runs(next);
        before = turns;
        until([&] { return turns > before + 5; });
        set(stream.handle(), make_sched(WEFT_SCHED_BASIC, {pool}));
        runs(pool);
        before = turns;
        until([&] { return turns > before + 5; });
        stop = true;
        EXPECT_EQ(bound.join(), WEFT_OK);
        EXPECT_EQ(wrong, 0);
        EXPECT_EQ(weft_pool_free(next), WEFT_OK);
    }
}

TEST(Replaced, WhileASchedulerBelowHasItsTurn) {
    Runtime runtime;
    weft_pool *pool = make_pool(WEFT_POOL_SHARED), *below = make_pool(WEFT_POOL_SHARED);
    atomic<bool> stop{false};
    Ult busy(
        [&] {
            while (!stop) weft_unit_yield();
        },
        nullptr, below);
    weft_sched_push_options how{};
    how.size = sizeof how;
    how.turn = SIZE_MAX;
    weft_unit* unit = nullptr;
    ASSERT_EQ(weft_sched_push(make_sched(WEFT_SCHED_BASIC, {below}), pool, &how, &unit), WEFT_OK);
    Stream stream(pool);
    for (int i = 0; i < 10; ++i) {
        weft_sched* next = make_sched(WEFT_SCHED_BASIC, {pool});
        set(stream.handle(), next);
        until([&] { return sched_of(stream.handle()) == next; });
    }
    stop = true;
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    EXPECT_EQ(busy.join(), WEFT_OK);
}

TEST(Replaced, WhatIsWrongHasItsStatus) {
    Runtime runtime;
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);
    Stream stream(pool), other(make_pool(WEFT_POOL_SHARED));
    weft_sched* theirs = make_sched(WEFT_SCHED_BASIC, {pool_of(0)});
    EXPECT_EQ(weft_stream_sched_set(nullptr, theirs), WEFT_INVALID);
    EXPECT_EQ(weft_stream_sched_set(stream.handle(), nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_stream_sched_set(stream.handle(), theirs), WEFT_BUSY) << "stream 0 owns its private pool";
    EXPECT_EQ(weft_stream_sched_set(stream.handle(), sched_of(other.handle())), WEFT_BUSY);
    EXPECT_EQ(weft_stream_sched_set(stream.handle(), sched_of(stream.handle())), WEFT_BUSY);
    EXPECT_EQ(weft_sched_free(theirs), WEFT_OK);
    weft_sched* none = nullptr;
    EXPECT_EQ(weft_stream_sched_get(stream.handle(), nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_stream_sched_get(nullptr, &none), WEFT_INVALID);
    runs(pool);
}
