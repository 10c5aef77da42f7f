// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime begins and ends: nested, repeatedly, with work left over, and on any OS thread.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/several.hpp"

using namespace weft_test;

TEST(Runtime, BeginsAndEnds) {
    EXPECT_FALSE(weft_initialized());
    EXPECT_EQ(weft_finalize(), WEFT_NOT_INITIALIZED);
    EXPECT_EQ(weft_unit_self(), nullptr);
    ASSERT_EQ(weft_init(nullptr), WEFT_OK);
    EXPECT_TRUE(weft_initialized());
    EXPECT_NE(weft_unit_self(), nullptr);
    EXPECT_GE(weft_stream_count(), 1u);
    EXPECT_EQ(weft_finalize(), WEFT_OK);
    EXPECT_FALSE(weft_initialized());
    EXPECT_EQ(weft_unit_self(), nullptr);
    EXPECT_EQ(weft_stream_count(), 0u);
    EXPECT_EQ(weft_stream_at(0), nullptr);
}

TEST(Runtime, Nests) {
    const weft_settings one = with_streams(1);
    ASSERT_EQ(weft_init(&one), WEFT_OK);
    const weft_settings others = with_streams(5);
    ASSERT_EQ(weft_init(&others), WEFT_OK) << "settings of inner calls are ignored";
    EXPECT_EQ(weft_stream_count(), 1u);
    weft_status inside{};
    {
        Ult unit([&] {
            EXPECT_EQ(weft_init(nullptr), WEFT_OK);
            inside = weft_finalize();
        });
    }
    EXPECT_EQ(inside, WEFT_OK) << "any unit may end what it began";
    EXPECT_EQ(weft_finalize(), WEFT_OK);
    EXPECT_TRUE(weft_initialized());
    EXPECT_EQ(weft_finalize(), WEFT_OK);
    EXPECT_FALSE(weft_initialized());
}

TEST(Runtime, BeginsAgainAfterItHasEndedManyTimes) {
    for (int round = 0; round < 50; ++round) {
        Runtime runtime(1 + static_cast<std::size_t>(round % 3));
        atomic<int> ran{0};
        {
            Ult unit([&] {
                weft_unit_yield();
                ++ran;
            });
        }
        EXPECT_EQ(ran, 1);
    }
}

TEST(Runtime, BeginsOnAnotherOsThreadOnceItHasEnded) {
    for (int round = 0; round < 3; ++round) {
        {
            Runtime here(2);
            Ult unit([] {});
        }
        std::thread([] {
            Runtime there(2);
            Ult unit([] {});
            EXPECT_EQ(unit.join(), WEFT_OK);
        }).join();
    }
}

TEST(Runtime, AnOsThreadThatIsNoUnitOfItCannotBeginOrEndIt) {
    Runtime runtime;
    weft_status begin{}, end{};
    std::string text;
    std::thread([&] {
        begin = weft_init(nullptr);
        text = weft_error_text();
        end = weft_finalize();
    }).join();
    EXPECT_EQ(begin, WEFT_WRONG_CONTEXT);
    EXPECT_NE(text, "");
    EXPECT_EQ(end, WEFT_WRONG_CONTEXT);
}

TEST(Runtime, TheLastFinalizeBelongsToThePrimaryUnit) {
    Runtime runtime(2);
    weft_status here{}, there{};
    {
        Ult unit([&] { here = weft_finalize(); });
    }
    {
        Ult unit([&] { there = weft_finalize(); }, nullptr, pool_of(1));
    }
    EXPECT_EQ(here, WEFT_WRONG_CONTEXT);
    EXPECT_EQ(there, WEFT_WRONG_CONTEXT);
    EXPECT_TRUE(weft_initialized());
    EXPECT_EQ(weft_stream_count(), 2u) << "nothing was done";
}

TEST(Runtime, TellsTheSettingsInForce) {
    weft_settings asked{};
    asked.size = sizeof asked;
    EXPECT_EQ(weft_settings_get(&asked), WEFT_NOT_INITIALIZED);
    asked = with_streams(2);
    asked.stack_bytes = 128 << 10;
    asked.guard = WEFT_GUARD_CANARY;
    asked.kind = WEFT_KIND_FULL;
    asked.pool = WEFT_POOL_SHARED;
    asked.scheduler = WEFT_SCHED_BASIC;
    asked.idle_memory_bytes = 1 << 20;
    asked.spin_ns = 5000;
    asked.timing = true;
    Runtime runtime(asked);
    weft_settings now{};
    EXPECT_EQ(weft_settings_get(nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_settings_get(&now), WEFT_INVALID) << "its size is not set";
    now.size = sizeof now;
    ASSERT_EQ(weft_settings_get(&now), WEFT_OK);
    EXPECT_EQ(now.streams, 2u);
    EXPECT_EQ(now.stack_bytes, std::size_t{128} << 10);
    EXPECT_EQ(now.guard, WEFT_GUARD_CANARY);
    EXPECT_EQ(now.kind, WEFT_KIND_FULL);
    EXPECT_EQ(now.pool, WEFT_POOL_SHARED);
    EXPECT_EQ(now.scheduler, WEFT_SCHED_BASIC);
    EXPECT_EQ(now.idle_memory_bytes, std::size_t{1} << 20);
    EXPECT_EQ(now.spin_ns, 5000u);
    EXPECT_TRUE(now.timing);
    weft_settings older{};
    older.size = 2 * sizeof(std::size_t);
    older.stack_bytes = 7;
    ASSERT_EQ(weft_settings_get(&older), WEFT_OK);
    EXPECT_EQ(older.streams, 2u);
    EXPECT_EQ(older.stack_bytes, 7u) << "beyond the older caller's structure nothing is written";
    weft_pool_kind kind{};
    EXPECT_EQ(weft_pool_kind_get(pool_of(1), &kind), WEFT_OK);
    EXPECT_EQ(kind, WEFT_POOL_SHARED);
    Ult unit([] {});
    weft_kind of_unit{};
    EXPECT_EQ(weft_unit_kind_get(unit.handle(), &of_unit), WEFT_OK);
    EXPECT_EQ(of_unit, WEFT_KIND_FULL);
}

TEST(Runtime, SettingsOutOfRangeAreRefusedAndLeaveNothingBehind) {
    auto refused = [](auto change) {
        weft_settings settings{};
        settings.size = sizeof settings;
        change(settings);
        EXPECT_EQ(weft_init(&settings), WEFT_INVALID);
        EXPECT_NE(std::string(weft_error_text()), "");
        EXPECT_FALSE(weft_initialized());
    };
    refused([](weft_settings& s) { s.size = 0; });
    refused([](weft_settings& s) { s.streams = 1025; });
    refused([](weft_settings& s) { s.guard = static_cast<weft_guard>(7); });
    refused([](weft_settings& s) { s.kind = static_cast<weft_kind>(99); });
    refused([](weft_settings& s) { s.pool = WEFT_POOL_USER; });
    refused([](weft_settings& s) { s.scheduler = WEFT_SCHED_USER; });
    refused([](weft_settings& s) { s.stack_bytes = 100; });
    refused([](weft_settings& s) { s.stack_bytes = WEFT_STACK_LEAST - 1; });
    refused([](weft_settings& s) { s.scheduler_stack_bytes = 100; });
    refused([](weft_settings& s) { s.spin_ns = ~std::size_t{0}; });
    Runtime runtime;
}

TEST(Runtime, AllHartsAreAsManyStreams) {
    Runtime runtime(WEFT_ALL_HARTS);
    EXPECT_EQ(weft_stream_count(), weft_hart_limit());
    weft_settings now{};
    now.size = sizeof now;
    ASSERT_EQ(weft_settings_get(&now), WEFT_OK);
    EXPECT_EQ(now.streams, weft_hart_limit());
}

TEST(Runtime, WithoutAWordThereAreAsManyStreamsAsHarts) {
    for (const bool with_settings : {false, true}) {
        const weft_settings nothing = with_streams(0);
        ASSERT_EQ(weft_init(with_settings ? &nothing : nullptr), WEFT_OK);
        EXPECT_EQ(weft_stream_count(), weft_hart_limit());
        weft_settings now{};
        now.size = sizeof now;
        ASSERT_EQ(weft_settings_get(&now), WEFT_OK);
        EXPECT_EQ(now.streams, weft_hart_limit());
        weft_pool_kind kind{};
        EXPECT_EQ(weft_pool_kind_get(pool_of(0), &kind), WEFT_OK);
        EXPECT_EQ(kind, weft_hart_limit() > 1 ? WEFT_POOL_DEQUE : WEFT_POOL_PRIVATE);
        {
            Ult unit([] { weft_unit_yield(); });
        }
        EXPECT_EQ(weft_finalize(), WEFT_OK);
    }
}

TEST(Runtime, ItsPrimaryUnitMayHaveAnyMainPool) {
    for (weft_pool_kind kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE, WEFT_POOL_LIFO,
                                WEFT_POOL_PRIORITY, WEFT_POOL_BLOCKING}) {
        for (std::size_t streams : {1, 3}) {
            weft_settings settings = with_streams(streams);
            settings.pool = kind;
            Runtime runtime(settings);
            weft_stream* const mine = weft_stream_self();
            const std::thread::id thread = std::this_thread::get_id();
            atomic<int> ran{0};
            std::vector<std::unique_ptr<Ult>> units;
            for (int i = 0; i < 50; ++i) {
                units.push_back(std::make_unique<Ult>([&] {
                    weft_unit_yield();
                    ++ran;
                    weft_unit_yield();
                }));
            }
            for (int i = 0; i < 20; ++i) {
                weft_unit_yield();
                ASSERT_EQ(weft_stream_self(), mine) << "the primary unit stays on its stream";
                ASSERT_EQ(std::this_thread::get_id(), thread);
            }
            for (auto& unit : units) EXPECT_EQ(unit->join(), WEFT_OK);
            EXPECT_EQ(ran, 50);
            EXPECT_EQ(weft_stream_self(), mine);
            EXPECT_EQ(std::this_thread::get_id(), thread);
            EXPECT_EQ(weft_pool_push(pool_of(0), weft_unit_self()), WEFT_WRONG_STATE);
        }
    }
}

TEST(Finalize, RunsWhatIsReady) {
    static atomic<int> ran;
    for (std::size_t streams : {1, 3}) {
        ran = 0;
        {
            Runtime runtime(streams);
            for (std::size_t i = 0; i < 300; ++i) {
                ASSERT_EQ(weft_ult_spawn(
                              pool_of(i % streams),
                              [](void*) {
                                  weft_unit_yield();
                                  weft_ult_spawn(
                                      nullptr, [](void*) { ++ran; }, nullptr, nullptr, nullptr);
                                  ++ran;
                              },
                              nullptr, nullptr, nullptr),
                          WEFT_OK);
            }
        }
        EXPECT_EQ(ran, 600);
    }
}

// The streams end one after another; what one of them still sends to the pool of another that has
// ended is run as well.
TEST(Finalize, RunsWhatStreamsSendEachOtherWhileTheyEnd) {
    static atomic<int> left;
    static weft_pool* pools[4];
    static void (*hop)(void*);
    hop = [](void*) {
        for (int i = 0; i < 20; ++i) weft_unit_yield();
        const int now = --left;
        if (now > 0) weft_ult_spawn(pools[now % 4], hop, nullptr, nullptr, nullptr);
    };
    for (int round = 0; round < 20; ++round) {
        left = 40 + round;
        {
            weft_settings settings = with_streams(4);
            settings.pool = WEFT_POOL_PRIVATE;
            Runtime runtime(settings);
            for (std::size_t i = 0; i < 4; ++i) pools[i] = pool_of(i);
            ASSERT_EQ(weft_ult_spawn(pools[1], hop, nullptr, nullptr, nullptr), WEFT_OK);
        }
        EXPECT_EQ(left, 0);
    }
}

TEST(Finalize, RunsWhatWaitsInAPoolThatNobodyDrawsFrom) {
    static int ran;
    ran = 0;
    {
        Runtime runtime;
        weft_pool* pool = make_pool(WEFT_POOL_SHARED);
        ASSERT_EQ(weft_ult_spawn(
                      pool, [](void*) { ++ran; }, nullptr, nullptr, nullptr),
                  WEFT_OK);
    }
    EXPECT_EQ(ran, 1);
}

TEST(Finalize, UnitsThatAreStillSuspendedAreToldAndFreed) {
    for (std::size_t streams : {1, 2}) {
        Bed beds[3];
        std::unique_ptr<std::string> kept[3];
        {
            Runtime runtime(streams);
            for (int i = 0; i < 3; ++i) {
                static Bed* bed;
                bed = &beds[i];
                weft_unit* unit = nullptr;
                ASSERT_EQ(weft_ult_spawn(
                              nullptr, [](void*) { bed->sleep(); }, nullptr, nullptr, &unit),
                          WEFT_OK);
                until([&] { return bed->occupied(); });
            }
            runtime.expected = WEFT_BUSY;
        }
        EXPECT_NE(std::string(weft_error_text()).find("3 units"), std::string::npos) << weft_error_text();
        EXPECT_FALSE(weft_initialized());
    }
    Runtime again;
    Ult unit([] {});
}

TEST(Finalize, FreesWhatTheProgramHasNot) {
    Runtime runtime(2);
    weft_unit* never_freed = nullptr;
    ASSERT_EQ(weft_ult_spawn(
                  nullptr, [](void*) { throw std::string("an exception that nobody asks for"); }, nullptr, nullptr,
                  &never_freed),
              WEFT_OK);
    EXPECT_EQ(outcome_of(never_freed), WEFT_OUTCOME_EXCEPTION);
    weft_pool* pool = make_pool(WEFT_POOL_DEQUE);
    weft_sched* sched = nullptr;
    ASSERT_EQ(weft_sched_create(WEFT_SCHED_BASIC, &pool, 1, &sched), WEFT_OK);
    weft_stream* stream = nullptr;
    ASSERT_EQ(weft_stream_create(nullptr, &stream), WEFT_OK);
}
