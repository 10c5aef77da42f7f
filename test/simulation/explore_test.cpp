// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The simulator by its public interface: that it finds the faults it must find, reports them,
// replays and shrinks them, and finds nothing else.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "weft/sim.hpp"
#include "weft/weft.hpp"

namespace {

namespace sim = weft::sim;

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// Two harts that each raise a flag and then read the other's: without full fences both may see none
// (Dekker).
template <std::memory_order order>
void both_look() {
    sim::atomic<int> flags[2]{};
    int seen[2] = {-1, -1};
    sim::thread other([&] {
        flags[1].store(1, order);
        seen[1] = flags[0].load();
    });
    flags[0].store(1, order);
    seen[0] = flags[1].load();
    other.join();
    sim::check(seen[0] == 1 || seen[1] == 1, "one of the two has seen the other");
}

TEST(Explore, FindsAStoreThatIsPassedByALoadWhereThereIsNoFence) {
    const sim::result came = sim::explore({.seeds = 500}, both_look<std::memory_order_release>);
    ASSERT_TRUE(came.failed);
    EXPECT_TRUE(has(came.report, "one of the two has seen the other")) << came.report;
    EXPECT_TRUE(has(came.report, "hart 1")) << came.report;
    EXPECT_TRUE(has(came.report, "thread-start explore_test.cpp:")) << came.report;
    EXPECT_TRUE(has(came.report, "seen[0] = flags[1].load();")) << "the table has the source: " << came.report;
}

TEST(Explore, FindsNothingWhereTheFenceIs) {
    const sim::result came = sim::explore({.seeds = 2000}, both_look<std::memory_order_seq_cst>);
    EXPECT_FALSE(came.failed) << came.report;
    EXPECT_EQ(came.runs, 2000u);
    EXPECT_GT(came.steps, 2000u);
}

TEST(Explore, DoesNotBufferStoresWhereItIsToldNotTo) {
    EXPECT_FALSE(sim::explore({.seeds = 1000, .store_buffers = false}, both_look<std::memory_order_release>).failed);
}

TEST(Explore, SeesItsOwnStoresAndThoseOfOthersInTheirOrder) {
    const sim::result came = sim::explore({.seeds = 2000}, [] {
        sim::atomic<int> data{0}, flag{0};
        sim::thread other([&] {
            data.store(7, std::memory_order_relaxed);
            sim::check(data.load(std::memory_order_relaxed) == 7, "a hart sees what it has stored");
            flag.store(1, std::memory_order_release);
        });
        if (flag.load(std::memory_order_acquire) == 1) sim::check(data.load() == 7, "stores are seen in their order");
        other.join();
        sim::check(data.load() == 7 && flag.load() == 1, "what was stored is there at the end");
    });
    EXPECT_FALSE(came.failed) << came.report;
}

// While their stores are still in the buffer, other objects take the same memory.
[[gnu::noinline]] void store_into_a_passing_frame(std::uint64_t value) {
    sim::atomic<std::uint64_t> passing[32]{};
    for (auto& one : passing) one.store(value, std::memory_order_release);
}

TEST(Explore, AStoreIntoAFrameThatIsGoneHarmsNobody) {
    const sim::result came = sim::explore({.seeds = 300}, [] {
        sim::atomic<std::uint64_t> seen{0};
        const auto both = [&] {
            for (std::uint64_t i = 0; i < 50; ++i) {
                store_into_a_passing_frame(i);
                sim::check(seen.load(std::memory_order_relaxed) < 50, "what was stored is what is read");
                seen.store(i, std::memory_order_relaxed);
            }
        };
        sim::thread other(both);
        both();
        other.join();
    });
    EXPECT_FALSE(came.failed) << came.report;
}

// A counter that is read and written in two steps.
void lost_update() {
    sim::atomic<int> count{0};
    const auto add = [&] {
        for (int i = 0; i < 3; ++i) count.store(count.load() + 1);
    };
    sim::thread one(add), two(add);
    one.join();
    two.join();
    sim::check(count.load() == 6, "no update is lost");
}

TEST(Explore, FindsALostUpdateByBothSchedulers) {
    for (const sim::scheduler by : {sim::scheduler::random, sim::scheduler::priorities}) {
        EXPECT_TRUE(sim::explore({.seeds = 1000, .by = by}, lost_update).failed) << static_cast<int>(by);
    }
}

TEST(Explore, ShrinksToTheFewestDeviationsAndReplaysThem) {
    const sim::result came = sim::explore({.seeds = 1000}, lost_update);
    ASSERT_TRUE(came.failed);
    // Between the load and the store of one hart the other must run: once to leave it there, and
    // once to come back.
    EXPECT_LE(std::count(came.replay.begin(), came.replay.end(), ','), 2) << came.replay;
    const sim::result again = sim::explore({.replay = came.replay.c_str()}, lost_update);
    EXPECT_TRUE(again.failed);
    EXPECT_EQ(again.runs, 1u);
    EXPECT_TRUE(has(again.report, "no update is lost")) << again.report;
}

TEST(Explore, DoesTheSameForTheSameSeed) {
    const sim::result came = sim::explore({.seeds = 1000, .shrink = false}, lost_update);
    ASSERT_TRUE(came.failed);
    const sim::result again = sim::explore({.seeds = 1, .first_seed = came.seed, .shrink = false}, lost_update);
    EXPECT_TRUE(again.failed);
    EXPECT_EQ(again.report, came.report);
    EXPECT_EQ(again.replay, came.replay);
}

TEST(Explore, SaysWhatIsWrongWithATextThatIsNoReplay) {
    for (const char* text : {"", "0@", "0@1", "x", "0@1>", "0@1>2~3", "0@1>2;0@3>1", "99999999@1>2"}) {
        bool ran = false;
        const sim::result came = sim::explore({.replay = text}, [&ran] { ran = true; });
        EXPECT_TRUE(came.failed) << text;
        EXPECT_TRUE(has(came.report, "is no deviation")) << came.report;
        EXPECT_EQ(came.runs, 0u);
    }
}

TEST(Explore, TellsHartsThatWaitForOneAnother) {
    const sim::result came = sim::explore({.seeds = 1}, [] {
        sim::atomic<int> never{0};
        sim::thread other([&] { never.wait(0); });
        other.join();
    });
    ASSERT_TRUE(came.failed);
    EXPECT_TRUE(has(came.report, "stuck: every hart waits")) << came.report;
    EXPECT_TRUE(has(came.report, "hart 1: waits for a futex")) << came.report;
}

TEST(Explore, TellsALoopThatNeverEnds) {
    const sim::result came = sim::explore({.seeds = 1, .most_steps = 10'000, .shrink = false}, [] {
        const sim::atomic<int> never{0};
        while (never.load() == 0) sim::yield();
    });
    ASSERT_TRUE(came.failed);
    EXPECT_TRUE(has(came.report, "it never ends: 10000 steps")) << came.report;
}

TEST(Explore, TellsALoopWithoutAPointOfPreemption) {
    const sim::result came = sim::explore({.seeds = 1, .most_seconds = 1, .shrink = false}, [] {
        for (volatile bool on = true; on;) {}
    });
    ASSERT_TRUE(came.failed);
    EXPECT_TRUE(has(came.report, "it took more than 1 s")) << came.report;
}

TEST(Explore, TellsExceptionsCrashesAndExits) {
    EXPECT_TRUE(has(sim::explore({.seeds = 1}, [] { throw std::runtime_error("thrown by the body"); }).report,
                    "thrown by the body"));
    EXPECT_TRUE(has(sim::explore({.seeds = 1}, [] { std::abort(); }).report, "it ended by a signal"));
    EXPECT_TRUE(has(sim::explore({.seeds = 1}, [] { _exit(0); }).report, "exited with status 0 in the middle"));
}

TEST(Explore, ShowsWhatTheRunHasPrinted) {
    const sim::result came = sim::explore({.seeds = 1}, [] {
        std::puts("printed before it failed");
        sim::check(false, "nothing is well");
    });
    EXPECT_TRUE(has(came.report, "printed before it failed")) << came.report;
}

TEST(Explore, RunsAreIndependent) {
    static int runs = 0;
    const sim::result came = sim::explore({.seeds = 20}, [] { sim::check(++runs == 1, "each run is the first"); });
    EXPECT_FALSE(came.failed) << came.report;
    EXPECT_EQ(runs, 0);
}

TEST(Explore, IsNotForVirtualHarts) {
    const sim::result came = sim::explore({.seeds = 1}, [] {
        const sim::result inner = sim::explore({.seeds = 1}, [] {});
        sim::check(inner.failed && has(inner.report, "from a virtual hart"), "it says so");
    });
    EXPECT_FALSE(came.failed) << came.report;
    EXPECT_FALSE(sim::simulated());
}

TEST(Time, IsVirtualAndGoesOnToTheEarliestDeadlineWhenAllWait) {
    const sim::result came = sim::explore({.seeds = 50, .early_wakes = false}, [] {
        const std::uint64_t begin = sim::now_ns();
        std::uint64_t ends[2] = {0, 0};
        sim::thread longer([&] {
            sim::sleep_ns(3'600'000'000'000);
            ends[0] = sim::now_ns();
        });
        sim::thread shorter([&] {
            sim::sleep_ns(1'000'000'000);
            ends[1] = sim::now_ns();
        });
        longer.join();
        shorter.join();
        sim::check(ends[0] - begin >= 3'600'000'000'000 && ends[0] - begin < 3'601'000'000'000, "an hour has passed");
        sim::check(ends[1] - begin >= 1'000'000'000 && ends[1] - begin < 1'100'000'000, "a second has passed");
    });
    EXPECT_FALSE(came.failed) << came.report;
}

TEST(Harts, HaveErrnoAndExceptionsOfTheirOwn) {
    const sim::result came = sim::explore({.seeds = 300}, [] {
        sim::atomic<int> turns{0};
        const auto work = [&](int own) {
            errno = own;
            try {
                throw own;
            } catch (int caught) {
                for (int i = 0; i < 5; ++i) turns.fetch_add(1);
                sim::check(caught == own && std::uncaught_exceptions() == 0, "it handles its own exception");
                try {
                    throw;
                } catch (int again) {
                    sim::check(again == own, "and throws its own again");
                }
            }
            sim::check(errno == own, "errno is its own");
        };
        sim::thread other([&] { work(1); });
        work(2);
        other.join();
    });
    EXPECT_FALSE(came.failed) << came.report;
}

// ---- Weft itself, in simulation -----------------------------------------------------------------

TEST(Simulated, UnitsOnSeveralStreamsShareAMutex) {
    const sim::result came = sim::explore({.seeds = 100}, [] {
        weft::runtime runtime({.streams = 3});
        weft::mutex mutex;
        int count = 0;
        std::vector<weft::thread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                for (int k = 0; k < 3; ++k) {
                    const std::lock_guard guard(mutex);
                    ++count;
                }
            });
        }
        for (weft::thread& one : threads) one.join();
        sim::check(count == 12, "nobody was in there with another");
    });
    EXPECT_FALSE(came.failed) << came.report;
}

// Two units of a runtime that lose an update of the program's counter.
void lost_update_of_units() {
    weft::runtime runtime({.streams = 2});
    sim::atomic<int> count{0};
    const auto add = [&] {
        const int seen = count.load();
        weft::this_thread::yield();
        count.store(seen + 1);
    };
    weft::thread one(add), two(add);
    one.join();
    two.join();
    sim::check(count.load() == 2, "no update is lost");
}

// The places, "file.cpp:12", of those lines of the table that show a step.
std::vector<std::string> places_of(const std::string& report) {
    std::vector<std::string> places;
    std::istringstream lines(report.substr(report.find("   step")));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        for (std::string word; words >> word;) {
            const std::size_t colon = word.find("pp:");
            if (colon == std::string::npos || word.find_first_not_of("0123456789", colon + 3) != std::string::npos)
                continue;
            places.push_back(word);
            break;
        }
    }
    return places;
}

TEST(Simulated, TheTableShowsTheProgramsOwnStepsAndCountsThoseOfWeft) {
    const sim::result came = sim::explore({.seeds = 2000, .lines = 100'000}, lost_update_of_units);
    ASSERT_TRUE(came.failed);
    const std::vector<std::string> places = places_of(came.report);
    EXPECT_GE(places.size(), 5u) << came.report;
    for (const std::string& place : places) EXPECT_TRUE(has(place, "explore_test.cpp:")) << came.report;
    EXPECT_TRUE(has(came.report, "  const int seen = count.load();\n")) << came.report;
    EXPECT_TRUE(has(came.report, " steps within Weft\n")) << came.report;
    EXPECT_TRUE(has(came.report, "options::weft_steps shows")) << came.report;
}

TEST(Simulated, TheTableShowsWeftsStepsWhereTheyAreAskedFor) {
    const sim::result came = sim::explore({.seeds = 2000, .lines = 100'000, .weft_steps = true}, lost_update_of_units);
    ASSERT_TRUE(came.failed);
    const std::vector<std::string> places = places_of(came.report);
    EXPECT_GT(std::count_if(places.begin(), places.end(),
                            [](const std::string& place) { return !has(place, "explore_test.cpp:"); }),
              100);
    EXPECT_TRUE(has(came.report, "explore_test.cpp:")) << came.report;
    EXPECT_TRUE(has(came.report, "futex-wake")) << "calls of the system's are steps, too: " << came.report;
    EXPECT_FALSE(has(came.report, "within Weft")) << came.report;
}

TEST(Simulated, AnOperatorOfAnAtomicIsAStepOfTheProgram) {
    const sim::result came = sim::explore({.seeds = 1}, [] {
        sim::atomic<int> count{0};
        ++count;
        sim::check(count == 0, "nothing was counted");
    });
    ASSERT_TRUE(came.failed);
    EXPECT_TRUE(has(came.report, "fetch-add sim.hpp:")) << came.report;
}

TEST(Simulated, TheReportNamesTheStatesOfUnitsAndWhatStreamsAreAsked) {
    const sim::result came = sim::explore({.seeds = 1}, [] {
        weft::runtime runtime({.streams = 2, .pool = weft::pool_kind::private_fifo});
        weft::stream_ref(weft_stream_at(1)).suspend();
        const weft::thread left({.name = "left"}, [] { weft::this_thread::suspend(); });
        const weft::thread unborn({.pool = weft::stream_ref(weft_stream_at(1)).pool(), .name = "unborn"}, [] {});
        weft::event().wait();
    });
    ASSERT_TRUE(came.failed);
    EXPECT_TRUE(has(came.report, "): suspended\n")) << came.report;
    EXPECT_TRUE(has(came.report, "): ready\n")) << came.report;
    EXPECT_TRUE(has(came.report, "): waiting for event 0x")) << came.report;
    EXPECT_TRUE(has(came.report, "stream 1: is at work; is asked to see to: pause\n")) << came.report;
}

// Units that lock two mutexes in opposite orders wait for one another, sooner or later.
TEST(Simulated, ADeadlockOfUnitsIsToldWithWhatEachWaitsFor) {
    const sim::result came = sim::explore({.seeds = 2000}, [] {
        weft::runtime runtime({.streams = 2});
        weft::mutex a, b;
        weft::thread one([&] {
            const std::lock_guard first(a);
            const std::lock_guard second(b);
        });
        weft::thread other([&] {
            const std::lock_guard first(b);
            const std::lock_guard second(a);
        });
        one.join();
        other.join();
    });
    ASSERT_TRUE(came.failed);
    EXPECT_TRUE(has(came.report, "): waiting for mutex 0x")) << came.report;
}

TEST(Simulated, WhatIsNotGivenBackIsTold) {
    const sim::result came = sim::explore({.seeds = 1}, [] { static_cast<void>(weft_init(nullptr)); });
    ASSERT_TRUE(came.failed);
    EXPECT_TRUE(has(came.report, "this was not given back")) << came.report;
    EXPECT_FALSE(sim::explore({.seeds = 1, .leaks = false}, [] { static_cast<void>(weft_init(nullptr)); }).failed);
}

}   // namespace
