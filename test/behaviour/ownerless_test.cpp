// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A private pool that no stream draws from: any thread may pop from it, one at a time, and what it
// pops may go anywhere.
#include <thread>
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/several.hpp"

using namespace weft_test;

namespace {

weft_unit* spawn(weft_pool* pool, void (*body)(void*), void* argument = nullptr) {
    weft_unit* unit = nullptr;
    EXPECT_EQ(weft_ult_spawn(pool, body, argument, nullptr, &unit), WEFT_OK) << weft_error_text();
    return unit;
}

void count(void* counter) { static_cast<atomic<int>*>(counter)->fetch_add(1); }

void yield_and_count(void* counter) {
    weft_unit_yield();
    count(counter);
}

}   // namespace

TEST(Ownerless, GivesItsUnitsInTheirOrderToWhoeverPops) {
    Runtime runtime;
    atomic<int> ran{0};
    weft_pool* const pool = make_pool(WEFT_POOL_PRIVATE);
    weft_unit* units[6];
    for (auto& unit : units) unit = spawn(pool, yield_and_count, &ran);
    EXPECT_EQ(pop(pool), units[0]);
    weft_unit* popped = nullptr;
    std::thread([&] { EXPECT_EQ(weft_pool_pop(pool, &popped), WEFT_OK); }).join();
    EXPECT_EQ(popped, units[1]);
    EXPECT_EQ(length(pool), 4u);
    weft_unit* row[8];
    std::size_t taken = 0;
    EXPECT_EQ(weft_pool_pop_many(pool, row, 3, &taken), WEFT_OK);
    ASSERT_EQ(taken, 3u);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(row[i], units[2 + i]);
    EXPECT_EQ(weft_pool_pop_many(pool, row + 3, 5, &taken), WEFT_OK);
    EXPECT_EQ(taken, 1u);
    EXPECT_EQ(pop(pool), nullptr);
    weft_unit* none = nullptr;
    EXPECT_EQ(weft_pool_pop_wait(pool, &none), WEFT_WRONG_CONTEXT);
    // One unit runs here, one is pushed to a pool of other streams, and the rest are pushed back.
    EXPECT_EQ(weft_unit_run(units[0]), WEFT_OK) << weft_error_text();
    EXPECT_EQ(pop(pool), units[0]) << "it has yielded to its pool";
    EXPECT_EQ(weft_unit_run(units[0]), WEFT_OK) << weft_error_text();
    EXPECT_EQ(ran, 1);
    weft_pool* const shared = make_pool(WEFT_POOL_SHARED);
    EXPECT_EQ(weft_pool_push(shared, units[1]), WEFT_OK);
    for (int i = 2; i < 6; ++i) EXPECT_EQ(weft_pool_push(pool, units[i]), WEFT_OK);
    {
        Stream other(shared), owner(pool);
        EXPECT_EQ(weft_pool_pop(pool, &none), WEFT_WRONG_CONTEXT) << "it has an owner";
        EXPECT_EQ(weft_unit_join_free_many(units, 6), WEFT_OK);
    }
    EXPECT_EQ(ran, 6);
    weft_unit* later = spawn(pool, count, &ran);
    EXPECT_EQ(pop(pool), later) << "the owner has gone";
    EXPECT_EQ(weft_unit_run(later), WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(later), WEFT_OK);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    EXPECT_EQ(weft_pool_free(shared), WEFT_OK);
}

TEST(Ownerless, AJoinerFromBeforeThePopLearnsOfTheEndElsewhere) {
    for (const bool runs_here : {true, false}) {
        Runtime runtime;
        atomic<int> ran{0};
        weft_pool* const pool = make_pool(WEFT_POOL_PRIVATE);
        weft_pool* const shared = make_pool(WEFT_POOL_SHARED);
        Stream stream(shared);
        weft_unit* units[] = {spawn(pool, yield_and_count, &ran), spawn(pool, yield_and_count, &ran),
                              spawn(pool, yield_and_count, &ran)};
        Ult joiner([&] { EXPECT_EQ(weft_unit_join(units[0]), WEFT_OK); });
        std::thread thread([&] { EXPECT_EQ(weft_unit_join(units[1]), WEFT_OK); });
        weft_unit_yield();
        EXPECT_EQ(joiner.state(), WEFT_UNIT_SUSPENDED);
        EXPECT_EQ(weft_unit_join_until(units[2], weft_now_ns() + 1000), WEFT_TIMED_OUT);
        weft_unit* popped[3];
        std::size_t taken = 0;
        EXPECT_EQ(weft_pool_pop_many(pool, popped, 3, &taken), WEFT_OK);
        EXPECT_EQ(taken, 3u);
        for (std::size_t i = 0; i < taken; ++i) {
            weft_unit* const unit = popped[i];
            if (runs_here) {
                EXPECT_EQ(weft_unit_run(unit), WEFT_OK);
                EXPECT_EQ(pop(pool), unit);
                EXPECT_EQ(weft_unit_run(unit), WEFT_OK);
            } else {
                EXPECT_EQ(weft_pool_push(shared, unit), WEFT_OK);
            }
        }
        EXPECT_EQ(joiner.join(), WEFT_OK);
        thread.join();
        EXPECT_EQ(weft_unit_join_free_many(units, 3), WEFT_OK);
        EXPECT_EQ(ran, 3);
    }
}

TEST(Ownerless, RemoteCallsThatAStreamLeavesBehindAreRun) {
    Runtime runtime;
    weft_pool* const pool = make_pool(WEFT_POOL_PRIVATE);
    atomic<int> ran{0};
    weft_unit* unit = nullptr;
    {
        Stream stream(pool);
        atomic<bool> runs{false}, go_on{false};
        Ult busy(
            [&] {
                runs = true;
                while (!go_on) std::this_thread::yield();
                weft_unit* next = pop(pool);
                EXPECT_EQ(next, unit) << "and the remote call behind it is among what is ready now";
                EXPECT_EQ(weft_pool_push(pool, next), WEFT_OK);
                EXPECT_EQ(weft_stream_stop(weft_stream_self(), true), WEFT_OK);
            },
            nullptr, pool);
        until_set(runs);
        unit = spawn(pool, count, &ran);
        Ult joiner([&] { EXPECT_EQ(weft_unit_join(unit), WEFT_OK); });
        weft_unit_yield();
        EXPECT_EQ(joiner.state(), WEFT_UNIT_SUSPENDED);
        go_on = true;
        EXPECT_EQ(stream.free(), WEFT_OK);
        ASSERT_EQ(pop(pool), unit);
        EXPECT_EQ(weft_unit_run(unit), WEFT_OK);
        EXPECT_EQ(joiner.join(), WEFT_OK);
        EXPECT_EQ(busy.join(), WEFT_OK);
    }
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

// OS threads and units of several streams pop, push back and elsewhere, run, spawn and join, all at
// once; streams come and draw from the pool for a while.
TEST(Ownerless, ManyPopAndPushAndJoinAtOnce) {
    Runtime runtime(2);
    constexpr int each = 60, spawners = 3;
    weft_pool* const pool = make_pool(WEFT_POOL_PRIVATE);
    weft_pool* const shared = make_pool(WEFT_POOL_SHARED);
    atomic<int> ran{0}, spawning{spawners};
    {
        Stream first(shared), second(shared);
        auto popper = [&](unsigned turn) {
            while (spawning != 0) {
                weft_unit* popped[3] = {};
                std::size_t taken = 0;
                const weft_status status =
                    ++turn % 2 == 0 ? weft_pool_pop_many(pool, popped, 3, &taken) : weft_pool_pop(pool, popped);
                if (status != WEFT_OK) {
                    EXPECT_EQ(status, WEFT_WRONG_CONTEXT) << weft_error_text();
                }
                for (weft_unit* unit : popped) {
                    if (unit == nullptr) continue;
                    switch (++turn % 3) {
                    case 0: EXPECT_EQ(weft_pool_push(pool, unit), WEFT_OK); break;
                    case 1: EXPECT_EQ(weft_pool_push(shared, unit), WEFT_OK); break;
                    default:
                        if (weft_unit_self() != nullptr) {
                            EXPECT_EQ(weft_unit_run(unit), WEFT_OK) << weft_error_text();
                        } else {
                            EXPECT_EQ(weft_pool_push(shared, unit), WEFT_OK);
                        }
                    }
                }
                if (weft_unit_self() != nullptr) weft_unit_yield();
                std::this_thread::yield();
            }
        };
        auto spawner = [&](int how) {
            for (int i = 0; i < each; ++i) {
                weft_unit* unit = nullptr;
                if (i % 4 == 3) {
                    EXPECT_EQ(weft_tasklet_spawn(pool, count, &ran, nullptr, &unit), WEFT_OK);
                } else {
                    unit = spawn(pool, i % 2 == 0 ? count : yield_and_count, &ran);
                }
                if ((i + how) % 3 == 0) {
                    const weft_status status = weft_unit_join_until(unit, weft_now_ns() + 20'000);
                    EXPECT_TRUE(status == WEFT_OK || status == WEFT_TIMED_OUT) << weft_status_name(status);
                }
                if ((i + how) % 5 == 4) {
                    EXPECT_EQ(weft_unit_detach(unit), WEFT_OK);
                } else {
                    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
                }
            }
            --spawning;
        };
        Ult popping([&] { popper(0); }, nullptr, shared), popping_too([&] { popper(1); }, nullptr, pool_of(1));
        std::vector<std::thread> threads;
        threads.emplace_back([&] { popper(2); });
        threads.emplace_back([&] { spawner(0); });
        threads.emplace_back([&] { spawner(1); });
        Ult spawning_too([&] { spawner(2); }, nullptr, shared);
        while (spawning != 0) {
            {
                Stream owner(pool);
                weft_unit_yield();
            }
            for (int i = 0; i < 10; ++i) {
                weft_unit_yield();
                std::this_thread::yield();
            }
        }
        for (auto& thread : threads) thread.join();
        EXPECT_EQ(popping.join(), WEFT_OK);
        EXPECT_EQ(popping_too.join(), WEFT_OK);
        EXPECT_EQ(spawning_too.join(), WEFT_OK);
        Stream last(pool);
        until([&] { return ran == each * spawners; });
    }
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    EXPECT_EQ(weft_pool_free(shared), WEFT_OK);
}
