// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams: they come and go while others run, are suspended and bound, and never stop each other.
#include <sched.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/several.hpp"

using namespace weft_test;

namespace {

std::string own_cpus() {
    cpu_set_t set;
    EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    std::string text;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &set)) continue;
        int last = cpu;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
        if (!text.empty()) text += ',';
        text += std::to_string(cpu);
        if (last > cpu) text += '-' + std::to_string(last);
        cpu = last;
    }
    return text;
}

int first_cpu() { return std::stoi(own_cpus()); }

}   // namespace

TEST(Stream, RunsWhatIsGivenToItsPool) {
    Runtime runtime;
    Stream stream;
    weft_stream* seen = nullptr;
    Ult unit([&] { seen = weft_stream_self(); }, nullptr, stream.pool());
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_EQ(seen, stream.handle());
    EXPECT_NE(weft_stream_self(), stream.handle());
}

TEST(Stream, RunsWhatWaitsInItsPoolBeforeItIsFreed) {
    Runtime runtime;
    Stream stream;
    static atomic<int> runs;
    runs = 0;
    for (int i = 0; i < 1000; ++i) {
        ASSERT_EQ(weft_ult_spawn(
                      stream.pool(),
                      [](void*) {
                          weft_unit_yield();
                          ++runs;
                      },
                      nullptr, nullptr, nullptr),
                  WEFT_OK);
    }
    EXPECT_EQ(stream.free(), WEFT_OK);
    EXPECT_EQ(runs, 1000);
    EXPECT_EQ(units_alive(), 1u);
}

TEST(Stream, ComesAndGoesManyTimesWhileOthersRun) {
    Runtime runtime;
    atomic<bool> stop{false};
    atomic<int> ran{0};
    Stream busy;
    Ult spinner(
        [&] {
            while (!stop) weft_unit_yield();
        },
        nullptr, busy.pool());
    for (int round = 0; round < 100; ++round) {
        Stream stream;
        Ult unit([&] { ++ran; }, nullptr, stream.pool());
        unit.join();
    }
    stop = true;
    EXPECT_EQ(ran, 100);
}

TEST(Stream, HasTheSmallestRankThatIsFree) {
    Runtime runtime;
    EXPECT_EQ(weft_stream_count(), 1u);
    Stream first, second, third;
    EXPECT_EQ(first.rank(), 1u);
    EXPECT_EQ(second.rank(), 2u);
    EXPECT_EQ(third.rank(), 3u);
    EXPECT_EQ(weft_stream_count(), 4u);
    EXPECT_EQ(weft_stream_at(2), second.handle());
    EXPECT_EQ(second.free(), WEFT_OK);
    EXPECT_EQ(weft_stream_at(2), nullptr);
    EXPECT_EQ(weft_stream_count(), 3u);
    Stream again;
    EXPECT_EQ(again.rank(), 2u);
    EXPECT_EQ(weft_stream_at(2), again.handle());
    EXPECT_EQ(weft_stream_at(4), nullptr);
    EXPECT_EQ(weft_stream_at(1u << 30), nullptr);
}

TEST(Stream, TakesTheNameThePoolAndTheSchedulerItIsGiven) {
    Runtime runtime;
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);
    weft_sched* sched = nullptr;
    ASSERT_EQ(weft_sched_create(WEFT_SCHED_BASIC, &pool, 1, &sched), WEFT_OK);
    auto chosen = stream_options();
    chosen.name = "a name longer than fifteen";
    chosen.sched = sched;
    {
        Stream named(&chosen);
        EXPECT_STREQ(value_of(weft_stream_name_get, named.handle()), "a name longer t");
        EXPECT_EQ(named.pool(), pool);
        Stream second(pool);
        EXPECT_EQ(second.pool(), pool);
        EXPECT_STREQ(value_of(weft_stream_name_get, second.handle()), "weft/2");
        weft_stream* refused = nullptr;
        EXPECT_EQ(weft_stream_create(&chosen, &refused), WEFT_BUSY) << "its scheduler is another stream's";
        chosen.sched = nullptr;
        for (weft_pool_kind owned : {WEFT_POOL_PRIVATE, WEFT_POOL_DEQUE}) {
            chosen.pool = make_pool(owned);
            Stream owner(&chosen);
            EXPECT_EQ(weft_stream_create(&chosen, &refused), WEFT_BUSY) << "its main pool is another stream's own";
        }
        EXPECT_EQ(refused, nullptr);
        EXPECT_EQ(weft_stream_count(), 3u) << "what was refused left nothing behind";
    }
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK) << "a given pool outlives its stream";
}

TEST(Stream, ASuspendedOneRunsNothingUntilItIsResumed) {
    Runtime runtime;
    Stream stream, other;
    atomic<int> turns{0};
    atomic<bool> stop{false};
    Ult turning(
        [&] {
            while (!stop) {
                ++turns;
                weft_unit_yield();
            }
        },
        nullptr, stream.pool());
    Ult turning_too(
        [&] {
            while (!stop) weft_unit_yield();
        },
        nullptr, stream.pool());
    until([&] { return turns > 10; });
    ASSERT_EQ(weft_stream_suspend(stream.handle()), WEFT_OK);
    until_others_rest();
    const int before = turns;
    atomic<bool> late{false};
    Ult latecomer([&] { late = true; }, nullptr, stream.pool());
    for (int i = 0; i < 200; ++i) {
        Ult elsewhere([] {}, nullptr, other.pool());
        elsewhere.join();
    }
    EXPECT_EQ(turns, before);
    EXPECT_FALSE(late);
    ASSERT_EQ(weft_stream_resume(stream.handle()), WEFT_OK);
    until([&] { return turns > before && late; });
    stop = true;
}

TEST(Stream, OneThatSleepsIsSuspendedAndResumedToo) {
    Runtime runtime;
    Stream stream;
    atomic<bool> ran{false};
    for (int round = 0; round < 20; ++round) {
        until_others_rest();
        ran = false;
        ASSERT_EQ(weft_stream_suspend(stream.handle()), WEFT_OK);
        Ult unit([&] { ran = true; }, nullptr, stream.pool());
        until_others_rest();
        // The stream may have taken the unit before it observed the request; once it rests, it
        // takes nothing.
        const bool early = ran;
        for (int i = 0; i < 50; ++i) std::this_thread::yield();
        EXPECT_EQ(ran, early);
        ASSERT_EQ(weft_stream_resume(stream.handle()), WEFT_OK);
        EXPECT_EQ(unit.join(), WEFT_OK);
        EXPECT_TRUE(ran);
    }
}

TEST(Stream, ASuspendedOneIsFreedLikeAnyOther) {
    Runtime runtime;
    Stream stream;
    ASSERT_EQ(weft_stream_suspend(stream.handle()), WEFT_OK);
    until_others_rest();
    bool ran = false;
    Ult unit([&] { ran = true; }, nullptr, stream.pool());
    EXPECT_EQ(stream.free(), WEFT_OK);
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_TRUE(ran);
}

TEST(Stream, ASuspendedOneDoesNotStopTheFinalize) {
    Runtime runtime;
    weft_stream* stream = nullptr;
    ASSERT_EQ(weft_stream_create(nullptr, &stream), WEFT_OK);
    ASSERT_EQ(weft_stream_suspend(stream), WEFT_OK);
}

TEST(Stream, WhatCannotBeSuspendedHasItsStatus) {
    Runtime runtime;
    Stream stream;
    EXPECT_EQ(weft_stream_suspend(nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_stream_resume(nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_stream_suspend(weft_stream_at(0)), WEFT_WRONG_CONTEXT);
    EXPECT_EQ(weft_stream_resume(stream.handle()), WEFT_WRONG_STATE);
    EXPECT_EQ(weft_stream_suspend(stream.handle()), WEFT_OK);
    EXPECT_EQ(weft_stream_suspend(stream.handle()), WEFT_WRONG_STATE);
    EXPECT_EQ(weft_stream_resume(stream.handle()), WEFT_OK);
    EXPECT_EQ(weft_stream_resume(stream.handle()), WEFT_WRONG_STATE);
    weft_status own{}, zero{};
    Ult inside(
        [&] {
            own = weft_stream_suspend(weft_stream_self());
            zero = weft_stream_suspend(weft_stream_at(0));
        },
        nullptr, stream.pool());
    inside.join();
    EXPECT_EQ(own, WEFT_WRONG_CONTEXT);
    EXPECT_EQ(zero, WEFT_WRONG_CONTEXT);
}

TEST(Stream, IsBoundAndBoundAnewAndUnbound) {
    Runtime runtime;
    Stream stream;
    const std::string all = own_cpus();
    const std::string first = std::to_string(first_cpu());
    EXPECT_EQ(stream.binding(), all);
    EXPECT_EQ(weft_stream_bind_hart(stream.handle(), 0), WEFT_OK) << weft_error_text();
    EXPECT_EQ(stream.binding(), first);
    int ran_on = -1;
    Ult looks([&] { ran_on = sched_getcpu(); }, nullptr, stream.pool());
    looks.join();
    EXPECT_EQ(ran_on, first_cpu());
    EXPECT_EQ(weft_stream_bind_cpus(stream.handle(), all.c_str()), WEFT_OK) << weft_error_text();
    EXPECT_EQ(stream.binding(), all);
    EXPECT_EQ(weft_stream_bind_cpus(stream.handle(), first.c_str()), WEFT_OK);
    EXPECT_EQ(stream.binding(), first);
    EXPECT_EQ(weft_stream_unbind(stream.handle()), WEFT_OK);
    EXPECT_EQ(stream.binding(), all);
    char narrow[1];
    EXPECT_EQ(weft_stream_binding_get(stream.handle(), narrow, sizeof narrow), WEFT_INVALID);
    EXPECT_EQ(weft_stream_bind_hart(weft_stream_at(0), 0), WEFT_OK) << "stream 0 as well";
    EXPECT_EQ(own_cpus(), first);
    EXPECT_EQ(weft_stream_unbind(weft_stream_at(0)), WEFT_OK);
    EXPECT_EQ(own_cpus(), all);
}

TEST(Stream, IsBoundToANumaNode) {
    Runtime runtime;
    Stream stream;
    std::size_t nodes = 0;
    const weft_status known = weft_numa_count_get(&nodes);
    weft_hart_place place{};
    place.size = sizeof place;
    EXPECT_EQ(weft_hart_place_get(0, &place), known);
    ASSERT_EQ(weft_stream_bind_hart(stream.handle(), 0), WEFT_OK);
    const std::string before = stream.binding();
    EXPECT_EQ(weft_stream_bind_numa(stream.handle(), place.numa), known) << weft_error_text();
    if (known == WEFT_OK && nodes == 1) {
        EXPECT_EQ(stream.binding(), own_cpus());
    }
    EXPECT_EQ(weft_stream_bind_numa(stream.handle(), 100000), known == WEFT_OK ? WEFT_INVALID : known);
    if (known != WEFT_OK) {
        EXPECT_EQ(stream.binding(), before);
    }
}

TEST(Stream, ABindingThatIsFarTooLongIsRefusedWithTheRemedy) {
    Runtime runtime;
    Stream stream;
    const std::string list(4000, ',');
    EXPECT_EQ(weft_stream_bind_cpus(stream.handle(), list.c_str()), WEFT_INVALID);
    EXPECT_NE(std::string(weft_error_text()).find("write it like 0-3,8"), std::string::npos) << weft_error_text();
}

TEST(Stream, ABindingThatIsNoneIsRefusedAndChangesNothing) {
    Runtime runtime;
    Stream stream;
    ASSERT_EQ(weft_stream_bind_hart(stream.handle(), 0), WEFT_OK);
    const std::string before = stream.binding();
    for (const char* bad :
         {"9999", "3-1", "", "-1", "0,", ",0", "0-", "0x1", "all", "0 1", "99999999999999999999", "4095"}) {
        EXPECT_EQ(weft_stream_bind_cpus(stream.handle(), bad), WEFT_INVALID) << bad;
        EXPECT_NE(std::string(weft_error_text()), "") << bad;
    }
    EXPECT_EQ(weft_stream_bind_hart(stream.handle(), 1000), WEFT_INVALID);
    EXPECT_NE(std::string(weft_error_text()).find("1000"), std::string::npos) << weft_error_text();
    EXPECT_EQ(weft_stream_bind_hart(nullptr, 0), WEFT_INVALID);
    EXPECT_EQ(weft_stream_bind_cpus(stream.handle(), nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_stream_unbind(nullptr), WEFT_INVALID);
    EXPECT_EQ(stream.binding(), before);
}

TEST(Stream, ANewOneDoesNotInheritTheBindingOfItsMaker) {
    Runtime runtime;
    Stream bound;
    ASSERT_EQ(weft_stream_bind_hart(bound.handle(), 0), WEFT_OK);
    weft_stream* born = nullptr;
    Ult maker([&] { EXPECT_EQ(weft_stream_create(nullptr, &born), WEFT_OK); }, nullptr, bound.pool());
    maker.join();
    ASSERT_NE(born, nullptr);
    weft_pool* pool = nullptr;
    ASSERT_EQ(weft_stream_pool_get(born, &pool), WEFT_OK);
    std::string inside;
    Ult looks([&] { inside = own_cpus(); }, nullptr, pool);   // once the stream runs a unit, its binding is in effect
    looks.join();
    EXPECT_EQ(inside, own_cpus());
    EXPECT_EQ(weft_stream_join_free(born), WEFT_OK);
}

TEST(Stream, IsFreedFromAUltOnAnotherStreamAndFromAnOsThread) {
    Runtime runtime;
    Stream helper;
    weft_stream* first = nullptr;
    weft_stream* second = nullptr;
    ASSERT_EQ(weft_stream_create(nullptr, &first), WEFT_OK);
    ASSERT_EQ(weft_stream_create(nullptr, &second), WEFT_OK);
    weft_status by_ult{WEFT_INVALID}, by_thread{WEFT_INVALID};
    Ult freeing([&] { by_ult = weft_stream_join_free(first); }, nullptr, helper.pool());
    std::thread outside([&] { by_thread = weft_stream_join_free(second); });
    freeing.join();
    outside.join();
    EXPECT_EQ(by_ult, WEFT_OK);
    EXPECT_EQ(by_thread, WEFT_OK);
    EXPECT_EQ(weft_stream_count(), 2u);
}

TEST(Stream, FreeingLetsTheOtherUnitsOfTheFreersStreamRun) {
    Runtime runtime;
    Stream stream;
    atomic<bool> go{false};
    // The stream ends only when this unit of stream 0 has run.
    Ult holds([&] { until_set(go); }, nullptr, stream.pool());
    Ult lets_go([&] { go = true; });
    EXPECT_EQ(stream.free(), WEFT_OK);
    EXPECT_TRUE(go);
}

TEST(Stream, WhatCannotBeFreedHasItsStatus) {
    Runtime runtime;
    Stream stream, other;
    EXPECT_EQ(weft_stream_join_free(nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_stream_join_free(weft_stream_at(0)), WEFT_WRONG_CONTEXT);
    weft_status own{}, zero{};
    Ult inside(
        [&] {
            own = weft_stream_join_free(weft_stream_self());
            zero = weft_stream_join_free(weft_stream_at(0));
        },
        nullptr, stream.pool());
    inside.join();
    EXPECT_EQ(own, WEFT_WRONG_CONTEXT);
    EXPECT_EQ(zero, WEFT_WRONG_CONTEXT);
    struct Try {
        weft_stream* stream;
        weft_status status;
    } attempt{stream.handle(), WEFT_OK};
    weft_unit* tasklet = nullptr;
    ASSERT_EQ(weft_tasklet_spawn(
                  other.pool(),
                  [](void* raw) {
                      auto* to = static_cast<Try*>(raw);
                      to->status = weft_stream_join_free(to->stream);
                  },
                  &attempt, nullptr, &tasklet),
              WEFT_OK);
    weft_unit_join_free(tasklet);
    EXPECT_EQ(attempt.status, WEFT_WRONG_CONTEXT);
    auto wrong = stream_options();
    wrong.size = 0;
    weft_stream* refused = nullptr;
    EXPECT_EQ(weft_stream_create(&wrong, &refused), WEFT_INVALID);
    EXPECT_EQ(weft_stream_create(nullptr, nullptr), WEFT_INVALID);
}

TEST(Stream, FreeingOneThatIsBeingFreedIsBusy) {
    Runtime runtime;
    weft_stream* stream = nullptr;
    ASSERT_EQ(weft_stream_create(nullptr, &stream), WEFT_OK);
    weft_pool* pool = nullptr;
    ASSERT_EQ(weft_stream_pool_get(stream, &pool), WEFT_OK);
    atomic<bool> go{false};
    Ult holds([&] { until_set(go); }, nullptr, pool);
    Ult frees([&] { EXPECT_EQ(weft_stream_join_free(stream), WEFT_OK); });
    until([&] { return frees.state() == WEFT_UNIT_SUSPENDED; });
    EXPECT_EQ(weft_stream_join_free(stream), WEFT_BUSY);
    go = true;
    EXPECT_EQ(frees.join(), WEFT_OK);
}

// Eight streams, of which three never switch and three block in a read, whatever the number of
// harts.
TEST(Stream, OneThatSpinsOrBlocksNeverStopsAnother) {
    Runtime runtime;
    atomic<bool> stop{false};
    atomic<int> held{0};
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    {
        std::array<Stream, 7> streams;
        std::vector<std::unique_ptr<Ult>> units;
        for (int i = 0; i < 3; ++i) {
            units.push_back(std::make_unique<Ult>(
                [&] {
                    ++held;
                    while (!stop) {}
                },
                nullptr, streams[i].pool()));
            units.push_back(std::make_unique<Ult>(
                [&] {
                    ++held;
                    char byte;
                    EXPECT_EQ(read(ends[0], &byte, 1), 1);
                },
                nullptr, streams[3 + i].pool()));
        }
        until([&] { return held == 6; });
        atomic<int> ran{0};
        for (int i = 0; i < 50; ++i) {
            Ult unit(
                [&] {
                    ++ran;
                    weft_unit_yield();
                },
                nullptr, streams[6].pool());
            unit.join();
        }
        EXPECT_EQ(ran, 50);
        EXPECT_EQ(held, 6);
        const weft_hart_use use = hart_use();
        EXPECT_EQ(use.streams, 8u);
        EXPECT_GE(use.granted, 7u) << "those that hold on, and we";
        EXPECT_EQ(use.oversubscribed, use.granted > use.limit ? use.granted - use.limit : 0);
        stop = true;
        ASSERT_EQ(write(ends[1], "abc", 3), 3);
    }
    close(ends[0]);
    close(ends[1]);
}
