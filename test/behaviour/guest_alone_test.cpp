// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime that starts by itself when a guest enters and there is no runtime. It stays as long
// as the process, so this process has no other runtime.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include "os/fault.hpp"
#include "test/behaviour/atomic.hpp"
#include "test/behaviour/guests.hpp"
#include "weft/algorithm.hpp"
#include "weft/arena.hpp"
#include "weft/spmd.h"

namespace {

using namespace weft_test;
using weft::os::Seam;

// Registered before any runtime starts, so it is called after the runtime's own handler.
bool asked_at_exit = false;
[[maybe_unused]] const int registered = std::atexit([] {
    if (!asked_at_exit) return;
    Inside in;
    Ult unit([] { std::fprintf(stderr, "[unit]"); });
    unit.join();
});

TEST(GuestAlone, GoesOnUntilTheLastHandlerOfExitHasEnded) {
    const auto program = [] {
        { Inside in; }
        asked_at_exit = true;
        std::exit(7);
    };
    EXPECT_EXIT(program(), testing::ExitedWithCode(7), "\\[unit\\]$");
}

TEST(GuestAlone, TheFirstOfManyAtOnceStartsARuntimeAndTheOthersFindIt) {
    atomic<int> ran{0};
    with_plain_threads(8, [&](int) {
        Inside in;
        EXPECT_TRUE(weft_initialized());
        EXPECT_EQ(weft_stream_count(), 1u);
        Ult unit([&] { ++ran; });
        EXPECT_EQ(unit.join(), WEFT_OK);
    });
    EXPECT_EQ(ran.load(), 8);
    EXPECT_TRUE(weft_initialized());
}

TEST(GuestAlone, WhatWeftInitHasEnteredOnlyWeftFinalizeLeaves) {
    { Inside in; }   // the runtime has started by itself
    ASSERT_EQ(weft_init(nullptr), WEFT_OK);
    EXPECT_EQ(weft_guest_leave(), WEFT_WRONG_STATE);
    EXPECT_NE(weft_unit_self(), nullptr);
    { Inside in; }
    EXPECT_NE(weft_unit_self(), nullptr);
    EXPECT_EQ(weft_finalize(), WEFT_OK);
    EXPECT_EQ(weft_unit_self(), nullptr);
    EXPECT_EQ(weft_guest_leave(), WEFT_WRONG_STATE);
}

TEST(GuestAlone, ItsStreamsHaveOsThreadsOfTheirOwn) {
    Inside in;
    const auto here = os_thread();
    weft_stream* zero = nullptr;
    Ult unit([&] {
        EXPECT_FALSE(pthread_equal(here, os_thread()));
        zero = weft_stream_self();
    });
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_EQ(zero, weft_stream_at(0));
    EXPECT_EQ(weft_stream_join_free(weft_stream_at(0)), WEFT_WRONG_CONTEXT);
}

// Everything sleeps when the unit comes, so no idle stream retries to start stream 0's OS thread.
TEST(GuestAlone, AUnitOfStreamZeroRunsOnceTheKernelHasAnOsThreadForIt) {
    if (!weft::config::checked) return;   // a release build has no injector
    static atomic<bool> refused;
    const auto program = [] {
        weft_pool* pool = nullptr;
        {
            Inside in;
            if (weft_stream_pool_get(weft_stream_at(0), &pool) != WEFT_OK) std::exit(1);
        }
        weft::os::fault_hook.store([](Seam seam) { return seam == Seam::thread && !refused.exchange(true); });
        Ult unit([] {}, nullptr, pool);
        if (unit.join() != WEFT_OK) std::exit(1);
        std::exit(refused ? 7 : 1);
    };
    EXPECT_EXIT(program(), testing::ExitedWithCode(7), "");
}

TEST(GuestAlone, InitAndFinalizeNestOnAPlainThread) {
    { Inside in; }   // the runtime starts
    const weft_settings settings = with_streams(3);
    EXPECT_EQ(weft_finalize(), WEFT_NOT_INITIALIZED);
    EXPECT_EQ(weft_init(&settings), WEFT_OK) << weft_error_text();
    EXPECT_NE(weft_unit_self(), nullptr);
    EXPECT_EQ(weft_stream_count(), 1u) << "settings of calls that nest are ignored";
    EXPECT_EQ(weft_init(nullptr), WEFT_OK);
    EXPECT_EQ(weft_finalize(), WEFT_OK);
    EXPECT_NE(weft_unit_self(), nullptr);
    EXPECT_EQ(weft_finalize(), WEFT_OK);
    EXPECT_EQ(weft_unit_self(), nullptr);
    EXPECT_TRUE(weft_initialized());
    EXPECT_EQ(weft_finalize(), WEFT_NOT_INITIALIZED);
}

TEST(GuestAlone, InitAndFinalizeNestInUnits) {
    Inside in;
    EXPECT_EQ(weft_finalize(), WEFT_NOT_INITIALIZED) << "the entry was no weft_init";
    Ult unit([] {
        EXPECT_EQ(weft_init(nullptr), WEFT_OK);
        EXPECT_EQ(weft_finalize(), WEFT_OK);
        EXPECT_EQ(weft_finalize(), WEFT_NOT_INITIALIZED);
    });
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_NE(weft_unit_self(), nullptr);
}

TEST(GuestAlone, ManyShareMutexesAndTeams) {
    weft_mutex mutex = WEFT_MUTEX_INIT;
    struct Sum {
        weft_mutex& mutex;
        int value = 0;
    } sum{mutex};
    with_plain_threads(12, [&](int) {
        for (int round = 0; round < 4; ++round) {
            Inside in;
            EXPECT_EQ(weft_spmd(
                          3,
                          [](void* raw) {
                              auto& to = *static_cast<Sum*>(raw);
                              EXPECT_EQ(weft_mutex_lock(&to.mutex), WEFT_OK);
                              ++to.value;
                              EXPECT_EQ(weft_mutex_unlock(&to.mutex), WEFT_OK);
                          },
                          &sum),
                      WEFT_OK)
                << weft_error_text();
        }
    });
    EXPECT_EQ(sum.value, 12 * 4 * 3);
}

// While its OS thread blocks in a member of another team, the guest has a hart that nothing else
// may use.
TEST(GuestAlone, AHartThatWasSentHomeToOneIsLentAgainWhileItsOsThreadBlocks) {
    static constexpr int members = 5, threads = 8, rounds = 15;
    struct Team {
        int ends[members][2];
        weft_barrier barrier;
    };
    for (int round = 0; round < rounds; ++round) {
        with_plain_threads(threads, [](int self) {
            if (self % 2 != 0) {
                for (int i = 0; i < 6; ++i) {
                    EXPECT_EQ(weft_spmd(
                                  3,
                                  [](void*) {
                                      for (int nap = 0; nap < 3; ++nap)
                                          EXPECT_EQ(weft_sleep_for(100'000 * (1 + weft_spmd_member())), WEFT_OK);
                                  },
                                  nullptr),
                              WEFT_OK);
                }
                return;
            }
            Team team;
            for (auto& ends : team.ends) ASSERT_EQ(pipe(ends), 0);
            EXPECT_EQ(weft_barrier_init(&team.barrier, members, nullptr, nullptr), WEFT_OK);
            for (int i = 0; i < 2; ++i) {
                EXPECT_EQ(weft_spmd(
                              members,
                              [](void* raw) {
                                  auto& of = *static_cast<Team*>(raw);
                                  const auto number = static_cast<std::size_t>(weft_spmd_member());
                                  char byte = 0;
                                  for (int k = 0; k < 3; ++k) EXPECT_GE(weft_barrier_wait(&of.barrier), 0);
                                  if (number != 0) {
                                      EXPECT_EQ(read(of.ends[number][0], &byte, 1), 1);
                                  }
                                  EXPECT_EQ(write(of.ends[(number + 1) % members][1], &byte, 1), 1);
                              },
                              &team),
                          WEFT_OK);
                char byte;
                EXPECT_EQ(read(team.ends[0][0], &byte, 1), 1);
            }
            for (auto& ends : team.ends) {
                close(ends[0]);
                close(ends[1]);
            }
        });
    }
}

// The threads are outside before and after the call.
TEST(GuestAlone, TeamsAndDomainsAreForThreadsThatHaveNotEntered) {
    with_plain_threads(6, [](int) {
        atomic<int> ran{0};
        EXPECT_EQ(weft_spmd(
                      5, [](void* raw) { ++*static_cast<atomic<int>*>(raw); }, &ran),
                  WEFT_OK)
            << weft_error_text();
        EXPECT_EQ(ran.load(), 5);
        EXPECT_EQ(weft_unit_self(), nullptr);
        weft_domain_ops ops{};
        ops.size = sizeof ops;
        weft_unit* ready = nullptr;
        ops.enter = [](void* raw) {
            if (weft_unit* const unit = std::exchange(*static_cast<weft_unit**>(raw), nullptr))
                weft_context_resume(unit);
        };
        ops.unblock = [](void* raw, weft_unit* unit) { *static_cast<weft_unit**>(raw) = unit; };
        weft_domain* domain = nullptr;
        ASSERT_EQ(weft_domain_register(&ops, &ready, &domain), WEFT_OK) << weft_error_text();
        EXPECT_EQ(weft_domain_self(), domain);
        EXPECT_EQ(weft_guest_leave(), WEFT_BUSY);
        EXPECT_EQ(weft_sleep_for(1000), WEFT_OK);
        EXPECT_EQ(weft_domain_unregister(domain), WEFT_OK);
        EXPECT_EQ(weft_unit_self(), nullptr);
    });
}

TEST(GuestAlone, ArenasAreForThreadsThatHaveNotEntered) {
    weft::arena arena;
    with_plain_threads(6, [&](int) {
        std::vector<int> numbers(20'000);
        arena.execute([&] {
            weft::parallel_for(std::size_t{0}, numbers.size(),
                               [&](std::size_t i) { numbers[i] = static_cast<int>(i); });
        });
        EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), 0L), 199'990'000L);
        EXPECT_EQ(weft_unit_self(), nullptr);
    });
}

TEST(GuestAlone, UsesNoProcessorTimeWhileNobodyIsInside) {
    with_plain_threads(4, [](int) { Inside in; });
    usleep(20'000);
    const auto used_us = [] {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1'000'000 + usage.ru_utime.tv_usec +
               usage.ru_stime.tv_usec;
    };
    const long before = used_us();
    usleep(200'000);
    EXPECT_LT(used_us() - before, 20'000);
}

[[noreturn]] void enter_under_settings() {
    setenv("WEFT_STREAMS", "many", 1);
    const bool refused =
        weft_guest_enter() == WEFT_ENVIRONMENT && !weft_initialized() && weft_guest_leave() == WEFT_WRONG_STATE;
    setenv("WEFT_STREAMS", "3", 1);
    const bool entered = weft_guest_enter() == WEFT_OK && weft_stream_count() == 3 && weft_guest_leave() == WEFT_OK;
    std::exit(refused && entered ? 7 : 1);
}

TEST(GuestAloneDeathTest, AValueOfTheEnvironmentThatIsNoneIsRefusedAndNothingIsLeftBehind) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(enter_under_settings(), testing::ExitedWithCode(7), "");
}

[[noreturn]] void exit_while_some_are_inside() {
    static weft_event never = WEFT_EVENT_INIT;
    static atomic<int> come{0};
    for (int i = 0; i < 3; ++i) {
        std::thread([] {
            weft_guest_enter();
            ++come;
            weft_event_wait(&never, nullptr);
        }).detach();
    }
    while (come.load() != 3) usleep(1000);
    std::exit(weft_guest_enter() == WEFT_OK ? 7 : 1);
}

TEST(GuestAloneDeathTest, AProcessEndsWithGuestsInside) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(exit_while_some_are_inside(), testing::ExitedWithCode(7), "");
}

}   // namespace
