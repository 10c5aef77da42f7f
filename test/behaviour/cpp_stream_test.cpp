// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime, its streams, harts and counters from C++.
#include <cstdio>
#include <string>

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/value_of.hpp"

namespace {

TEST(CppRuntime, ItRunsFromConstructionToDestruction) {
    EXPECT_FALSE(weft::runtime::running());
    {
        const weft::runtime runtime{{.streams = 1}};
        EXPECT_TRUE(weft::runtime::running());
        EXPECT_TRUE(weft::this_thread::self());
        EXPECT_TRUE(weft::this_stream::self());
    }
    EXPECT_FALSE(weft::runtime::running());
}

TEST(CppRuntime, RuntimesNest) {
    const weft::runtime outer{{.streams = 2}};
    {
        const weft::runtime inner{{.streams = 5}};
        EXPECT_EQ(weft::stream_count(), 2U);
    }
    EXPECT_TRUE(weft::runtime::running());
    weft::thread([] {}).join();
}

TEST(CppRuntime, TheSettingsInForceAreThoseAskedFor) {
    const weft::runtime runtime{{.streams = 2,
                                 .stack_bytes = 128 * 1024,
                                 .guard = weft::guard_kind::canary,
                                 .kind = weft::unit_kind::lsa,
                                 .pool = weft::pool_kind::shared_fifo,
                                 .timing = true,
                                 .trace_events = 4096,
                                 .own_stacks = true,
                                 .sharing = weft::hart_policy::weighted,
                                 .slice_ns = 2'000'000,
                                 .deadlock = weft::deadlock_kind::ignore,
                                 .rescue = weft::rescue_kind::ignore,
                                 .rescue_bound = 3,
                                 .neighbours = weft::neighbours_kind::ignore}};
    const weft::settings force = weft::runtime::settings_in_force();
    EXPECT_EQ(force.streams, 2U);
    EXPECT_EQ(force.stack_bytes, 128U * 1024);
    EXPECT_EQ(force.guard, weft::guard_kind::canary);
    EXPECT_EQ(force.kind, weft::unit_kind::lsa);
    EXPECT_EQ(force.pool, weft::pool_kind::shared_fifo);
    EXPECT_TRUE(force.timing);
    EXPECT_EQ(force.trace, nullptr);
    EXPECT_EQ(force.trace_events, 4096U);
    EXPECT_TRUE(force.own_stacks);
    EXPECT_EQ(force.sharing, weft::hart_policy::weighted);
    EXPECT_EQ(force.slice_ns, 2'000'000U);
    EXPECT_EQ(force.deadlock, weft::deadlock_kind::ignore);
    EXPECT_EQ(force.rescue, weft::rescue_kind::ignore);
    EXPECT_EQ(force.rescue_bound, 3U);
    EXPECT_EQ(force.neighbours, weft::neighbours_kind::ignore);
    EXPECT_FALSE(force.own_float);
    EXPECT_EQ(weft::stream_at(0).pool().kind(), weft::pool_kind::shared_fifo);
}

TEST(CppStream, HasTheOptionsThatItIsGiven) {
    const weft::runtime runtime{{.streams = 1}};
    int data = 0;
    weft::pool pool(weft::pool_kind::shared_fifo);
    const weft::stream stream({.pool = pool, .name = "worker", .kind = weft::unit_kind::full, .data = &data});
    EXPECT_EQ(stream.name(), "worker");
    EXPECT_EQ(stream.pool().native_handle(), pool.native_handle());
    EXPECT_EQ(weft_test::value_of(weft_stream_data_get, stream.native_handle()), &data);
    weft::unit_kind spawned{};
    weft::thread({.pool = pool}, [&] {
        weft::thread inner([&] { spawned = weft::this_thread::self().kind(); });
        inner.join();
    }).join();
    EXPECT_EQ(spawned, weft::unit_kind::full);
}

TEST(CppRuntime, ImpossibleSettingsAreRefused) {
    EXPECT_THROW(weft::runtime({.streams = 1'000'000}), weft::error);
    EXPECT_FALSE(weft::runtime::running());
}

TEST(CppRuntime, FinalizeTellsOfUnitsThatAreStillSuspended) {
    weft::runtime runtime{{.streams = 1}};
    weft::thread sleeper([] { weft::this_thread::suspend(); });
    const weft::unit_ref unit = sleeper;
    while (unit.state() != weft::unit_state::suspended) weft::this_thread::yield();
    sleeper.detach();
    try {
        runtime.finalize();
        ADD_FAILURE() << "one unit is suspended";
    } catch (const weft::error& error) {
        EXPECT_EQ(error.code(), WEFT_BUSY);
        EXPECT_NE(std::string(error.what()).find('1'), std::string::npos) << error.what();
    }
    EXPECT_FALSE(weft::runtime::running());
}

TEST(CppRuntime, AllHartsAreAsManyStreams) {
    const weft::runtime runtime{{.streams = weft::all_harts}};
    EXPECT_EQ(weft::stream_count(), weft::hart_limit());
}

TEST(CppStream, AStreamRunsFromConstructionToDestruction) {
    const weft::runtime runtime{{.streams = 1}};
    {
        const weft::stream stream("loom");
        EXPECT_EQ(weft::stream_count(), 2U);
        EXPECT_EQ(stream.rank(), 1U);
        EXPECT_EQ(stream.name(), "loom");
        EXPECT_EQ(weft::stream_at(1), stream);
        weft::stream_ref ran_on;
        weft::thread({.pool = stream.pool()}, [&ran_on] { ran_on = weft::this_stream::self(); }).join();
        EXPECT_EQ(ran_on, stream);
    }
    EXPECT_EQ(weft::stream_count(), 1U);
    EXPECT_FALSE(weft::stream_at(1));
}

TEST(CppStream, StoppingRunsWhatIsReady) {
    const weft::runtime runtime{{.streams = 1}};
    weft_test::atomic<int> ran{0};
    weft::stream stream;
    auto group = weft::spawn_many({.pool = stream.pool()}, 100, [&ran] { ran.fetch_add(1); });
    stream.stop();
    EXPECT_FALSE(stream);
    EXPECT_EQ(ran, 100);
    group.join();
}

TEST(CppStream, MovingAStreamMovesTheOwnership) {
    const weft::runtime runtime{{.streams = 1}};
    weft::stream one;
    const weft::stream_ref same = one;
    weft::stream other(std::move(one));
    EXPECT_FALSE(one);
    EXPECT_EQ(other, same);
    other = weft::stream();
    EXPECT_NE(other, weft::stream_ref());
    EXPECT_EQ(weft::stream_count(), 2U);
}

TEST(CppStream, AStreamDoesNotStopItself) {
    const weft::runtime runtime{{.streams = 1}};
    weft::stream stream;
    weft_status code = WEFT_OK;
    weft::thread({.pool = stream.pool()}, [&] {
        try {
            stream.stop();
        } catch (const weft::error& error) {
            code = error.code();
        }
    }).join();
    EXPECT_EQ(code, WEFT_WRONG_CONTEXT);
    EXPECT_TRUE(stream);
}

TEST(CppStream, ASuspendedStreamRunsNothingUntilItIsResumed) {
    const weft::runtime runtime{{.streams = 1}};
    const weft::stream stream;
    stream.suspend();
    EXPECT_THROW(stream.suspend(), weft::error);
    while (weft::harts_in_use().granted != 1) weft::this_thread::yield();   // until it has reached its next switch
    weft_test::atomic<bool> ran{false};
    weft::thread thread({.pool = stream.pool()}, [&ran] { ran = true; });
    for (int i = 0; i < 1000; ++i) weft::this_thread::yield();
    EXPECT_FALSE(ran);
    stream.resume();
    thread.join();
    EXPECT_TRUE(ran);
}

TEST(CppStream, AStreamIsBoundAndBoundAnew) {
    const weft::runtime runtime{{.streams = 1}};
    const weft::stream stream;
    const std::string all = stream.binding();
    EXPECT_NE(all, "");
    stream.bind_hart(0);
    const std::string one = stream.binding();
    EXPECT_EQ(one.find_first_not_of("0123456789"), std::string::npos) << one;
    stream.bind_cpus(all);
    EXPECT_EQ(stream.binding(), all);
    stream.bind_hart(0);
    stream.unbind();
    EXPECT_EQ(stream.binding(), all);
    EXPECT_THROW(stream.bind_cpus("all of them"), weft::error);
    EXPECT_THROW(stream.bind_hart(1U << 20), weft::error);
}

TEST(CppHart, UseIsCounted) {
    const weft::runtime runtime{{.streams = 2}};
    const weft::hart_use use = weft::harts_in_use();
    EXPECT_EQ(use.limit, weft::hart_limit());
    EXPECT_EQ(use.streams, 2U);
    EXPECT_GE(use.granted, 1U);   // the caller's hart
}

TEST(CppTrace, CountersCountAndArePrinted) {
    const weft::runtime runtime{{.streams = 1}};
    const auto before = weft::counter("/units/count/created");
    weft::spawn_many(10, [](std::size_t) {}).join();
    EXPECT_EQ(weft::counter(std::string("/units/count/created")) - before, 10U);
    EXPECT_THROW(weft::counter("/units/count/eaten"), weft::error);
    std::FILE* const file = std::tmpfile();
    weft::print_counters(file);
    weft::print_units(file);
    EXPECT_GT(std::ftell(file), 0);
    std::fclose(file);
}

TEST(CppVersion, TheLibraryIsThatOfTheHeaders) {
    EXPECT_EQ(weft::version(), WEFT_VERSION_MAJOR * 10000 + WEFT_VERSION_MINOR * 100 + WEFT_VERSION_PATCH);
}

}   // namespace
