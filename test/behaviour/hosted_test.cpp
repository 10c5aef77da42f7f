// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hosted units: ULTs that are pthreads to whatever they call, wherever they go on.
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cfenv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "arch/arch.hpp"
#include "test/behaviour/atomic.hpp"
#include "test/behaviour/hosted.hpp"

namespace {

using namespace weft_test;

weft_unit_options fresh() {
    weft_unit_options made = hosted();
    made.fresh = true;
    return made;
}

[[gnu::noinline]] int error() { return errno; }

thread_local int plain = 7;

// ---- one unit -----------------------------------------------------------------------------------

TEST(Hosted, RunsAndEnds) {
    Runtime runtime;
    int ran = 0;
    EXPECT_EQ(run_hosted([&] { ++ran; }), WEFT_OUTCOME_RETURNED);
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(counter("/hosts/count/live"), 1u);
    EXPECT_EQ(counter("/hosts/count/in-use"), 0u);
}

TEST(Hosted, IsAPthreadOfItsOwnAndSoIsNobodyElse) {
    Runtime runtime;
    const pthread_t mine = self();
    plain = 1;
    errno = 11;
    pthread_t its{};
    EXPECT_EQ(run_hosted([&] {
                  its = self();
                  EXPECT_EQ(plain, 7);
                  EXPECT_EQ(errno, 0);
                  plain = 2;
                  errno = 22;
                  yield();
                  EXPECT_TRUE(pthread_equal(its, self()));
                  EXPECT_EQ(plain, 2);
                  EXPECT_EQ(error(), 22);
              }),
              WEFT_OUTCOME_RETURNED);
    EXPECT_FALSE(pthread_equal(its, mine));
    EXPECT_TRUE(pthread_equal(self(), mine));
    EXPECT_EQ(plain, 1);
    EXPECT_EQ(error(), 11);
}

TEST(Hosted, LeavesForUnitsOfOtherKindsAndComesBack) {
    Runtime runtime;
    const pthread_t mine = self();
    for (const weft_kind kind : {WEFT_KIND_FULL, WEFT_KIND_LSA, WEFT_KIND_ROC, WEFT_KIND_SS, WEFT_KIND_SC,
                                 WEFT_KIND_TASKLET, WEFT_KIND_HOSTED}) {
        SCOPED_TRACE(kind);
        EXPECT_EQ(run_hosted([&] {
                      const pthread_t its = self();
                      weft_unit_options other = options();
                      other.kind = kind;
                      for (const bool suspends : {false, true}) {
                          pthread_t there = its;
                          Ult child(
                              [&] {
                                  there = self();
                                  if (suspends && kind != WEFT_KIND_TASKLET) yield();
                                  EXPECT_TRUE(pthread_equal(there, self()));
                              },
                              &other);
                          EXPECT_EQ(child.free(), WEFT_OK);
                          EXPECT_EQ(pthread_equal(there, mine) != 0, kind != WEFT_KIND_HOSTED);
                          EXPECT_TRUE(pthread_equal(its, self()));
                      }
                  }),
                  WEFT_OUTCOME_RETURNED);
        EXPECT_TRUE(pthread_equal(self(), mine));
    }
}

// By whose thread pointer a leaving unit is published: not by its own, since a waker may let it go
// on at once, elsewhere.
TEST(Hosted, WhoLeavesIsMadeKnownByWhoeverComesNext) {
    Runtime runtime;
    const pthread_t carrier = self();
    pthread_t known_by{}, second{};
    auto leave = [&] {
        weft_unit_suspend(
            [](weft_unit* unit, void* by) {
                *static_cast<pthread_t*>(by) = self();
                EXPECT_EQ(weft_unit_resume(unit), WEFT_OK);
            },
            &known_by);
    };
    const auto how = hosted();
    // two pthreads exist now
    EXPECT_EQ(run_hosted([] { EXPECT_EQ(run_hosted([] {}), WEFT_OK); }), WEFT_OUTCOME_RETURNED);
    EXPECT_EQ(run_hosted([&] {
                  leave();   // for the primary unit, or the scheduler
                  EXPECT_TRUE(pthread_equal(known_by, carrier));
                  Ult other(
                      [&] {
                          second = self();
                          yield();
                          yield();
                      },
                      &how);
                  leave();   // for a unit that begins
                  EXPECT_TRUE(pthread_equal(known_by, second));
                  known_by = {};
                  leave();   // for a unit that goes on
                  EXPECT_TRUE(pthread_equal(known_by, second));
              }),
              WEFT_OUTCOME_RETURNED);
}

TEST(Hosted, AnExceptionIsKeptForItsJoinerAndMayBeHandledAcrossASuspension) {
    Runtime runtime;
    EXPECT_EQ(run_hosted([] {
                  try {
                      throw std::runtime_error("one");
                  } catch (const std::runtime_error& caught) {
                      try {
                          throw std::logic_error("two");
                      } catch (...) {
                          yield();
                          EXPECT_NE(std::current_exception(), nullptr);
                      }
                      yield();
                      EXPECT_STREQ(caught.what(), "one");
                  }
                  EXPECT_EQ(std::current_exception(), nullptr);
              }),
              WEFT_OUTCOME_RETURNED);
    EXPECT_EQ(run_hosted([] { throw std::runtime_error("out"); }), WEFT_OUTCOME_EXCEPTION);
}

TEST(Hosted, ItsStackIsThePthreads) {
    Runtime runtime;
    auto how = hosted();
    how.stack_bytes = 16 << 20;
    EXPECT_EQ(run_hosted(
                  [&] {
                      pthread_attr_t attributes;
                      ASSERT_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
                      void* lowest;
                      size_t bytes;
                      ASSERT_EQ(pthread_attr_getstack(&attributes, &lowest, &bytes), 0);
                      pthread_attr_destroy(&attributes);
                      const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0)),
                                 from = reinterpret_cast<uintptr_t>(lowest);
                      EXPECT_GE(here, from);
                      EXPECT_LT(here, from + bytes);
                      EXPECT_GE(here - from, how.stack_bytes - (64 << 10));
                      weft_stack_info info{};
                      info.size = sizeof info;
                      EXPECT_EQ(weft_unit_stack_get(weft_unit_self(), &info), WEFT_OK);
                      EXPECT_EQ(info.lowest, lowest);
                  },
                  how),
              WEFT_OUTCOME_RETURNED);
}

TEST(Hosted, KeepsTheFloatingPointControlWords) {
    Runtime runtime;
    EXPECT_EQ(run_hosted([] {
                  ASSERT_EQ(fesetround(FE_UPWARD), 0);
                  auto how = hosted();
                  Ult other(
                      [] {
                          EXPECT_EQ(fegetround(), FE_TONEAREST);
                          fesetround(FE_DOWNWARD);
                          yield();
                          EXPECT_EQ(fegetround(), FE_DOWNWARD);
                      },
                      &how);
                  yield();
                  EXPECT_EQ(fegetround(), FE_UPWARD);
                  EXPECT_EQ(other.free(), WEFT_OK);
                  EXPECT_EQ(fegetround(), FE_UPWARD);
              }),
              WEFT_OUTCOME_RETURNED);
    EXPECT_EQ(fegetround(), FE_TONEAREST);
}

TEST(Hosted, ASystemCallSetsTheThreadPointerWhereThereIsNoInstruction) {
    Runtime runtime;
    const bool before = weft::arch::sets_thread_pointer_by_instruction.exchange(false);
    const pthread_t mine = self();
    EXPECT_EQ(counter("/hosts/switch-by-instruction"), 0u);
    EXPECT_EQ(run_hosted([] {
                  const pthread_t its = self();
                  const auto how = hosted();
                  Ult other(
                      [its] {
                          EXPECT_FALSE(pthread_equal(self(), its));
                          yield();
                          EXPECT_FALSE(pthread_equal(self(), its));
                      },
                      &how);
                  yield();
                  EXPECT_TRUE(pthread_equal(self(), its));
                  EXPECT_EQ(other.free(), WEFT_OK);
              }),
              WEFT_OUTCOME_RETURNED);
    EXPECT_TRUE(pthread_equal(self(), mine));
    weft::arch::sets_thread_pointer_by_instruction.store(before);
}

TEST(Hosted, MayBeTheKindOfAllUnits) {
    auto settings = with_streams(1);
    settings.kind = WEFT_KIND_HOSTED;
    Runtime runtime(settings);
    const pthread_t mine = self();
    for (int i = 0; i < 3; ++i) {
        pthread_t its = mine;
        Ult unit([&] { its = self(); });
        EXPECT_EQ(unit.free(), WEFT_OK);
        EXPECT_FALSE(pthread_equal(its, mine));
    }
}

TEST(Hosted, WhatItCannotBeIsRefused) {
    Runtime runtime;
    char memory[1];
    weft_unit* unit = nullptr;
    auto how = hosted();
    how.measure_stack = true;
    EXPECT_EQ(weft_ult_spawn(
                  nullptr, [](void*) {}, nullptr, &how, &unit),
              WEFT_UNSUPPORTED);
    how = hosted();
    how.stack = memory;
    how.stack_bytes = 1 << 20;
    EXPECT_EQ(weft_ult_spawn(
                  nullptr, [](void*) {}, nullptr, &how, &unit),
              WEFT_INVALID);
    how = options();
    how.kind = WEFT_KIND_LSA;
    how.fresh = true;
    EXPECT_EQ(weft_ult_spawn(
                  nullptr, [](void*) {}, nullptr, &how, &unit),
              WEFT_INVALID);
    EXPECT_EQ(run_hosted([] { EXPECT_EQ(weft_unit_run(weft_unit_self()), WEFT_WRONG_KIND); }), WEFT_OUTCOME_RETURNED);
}

TEST(Hosted, LivesAgain) {
    Runtime runtime;
    auto how = hosted();
    int ran = 0;
    weft_unit* unit;
    ASSERT_EQ(weft_ult_spawn(
                  nullptr, [](void* raw) { ++*static_cast<int*>(raw); }, &ran, &how, &unit),
              WEFT_OK);
    ASSERT_EQ(weft_unit_join(unit), WEFT_OK);
    ASSERT_EQ(weft_unit_revive(
                  unit, nullptr,
                  [](void* raw) {
                      yield();
                      *static_cast<int*>(raw) += 10;
                  },
                  &ran),
              WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    EXPECT_EQ(ran, 11);
}

TEST(Hosted, MayBeCancelled) {
    Runtime runtime;
    const auto how = hosted();
    Ult cancelled(
        [] {
            for (;;) yield();
        },
        &how);
    yield();
    EXPECT_EQ(weft_unit_cancel(cancelled.handle()), WEFT_OK);
    EXPECT_EQ(cancelled.end(), WEFT_OUTCOME_CANCELLED);
}

TEST(Hosted, MayExitAndSpawnChildFirst) {
    Runtime runtime;
    EXPECT_EQ(run_hosted([] {
                  weft_unit_exit();
                  ADD_FAILURE();
              }),
              WEFT_OUTCOME_RETURNED);
    EXPECT_EQ(run_hosted([] {
                  auto first = hosted();
                  first.child_first = true;
                  const pthread_t mine = self();
                  int ran = 0;
                  Ult child(
                      [&] {
                          ++ran;
                          EXPECT_FALSE(pthread_equal(self(), mine));
                      },
                      &first);
                  EXPECT_EQ(child.free(), WEFT_OK);
                  EXPECT_EQ(ran, 1);
                  EXPECT_TRUE(pthread_equal(self(), mine));
              }),
              WEFT_OUTCOME_RETURNED);
}

TEST(Hosted, OneThatExitsInAHandlerLeavesNoExceptionToTheNext) {
    Runtime runtime;
    EXPECT_EQ(run_hosted([] {
                  try {
                      throw 1;
                  } catch (int) {
                      weft_unit_exit();
                  }
              }),
              WEFT_OUTCOME_RETURNED);
    EXPECT_EQ(run_hosted([] { EXPECT_EQ(std::current_exception(), nullptr); }), WEFT_OUTCOME_RETURNED);
    EXPECT_EQ(counter("/hosts/count/started"), 1u);
}

// To the C library the parked thread is the same thread, so it must have finished what it does
// there.
TEST(Hosted, AFreshPthreadDoesNotTouchTheErrnoOfItsUnit) {
    Runtime runtime;
    for (int i = 1; i <= 200; ++i) {
        EXPECT_EQ(run_hosted(
                      [&] {
                          errno = i;
                          for (int turn = 0; turn < 20; ++turn) std::this_thread::yield();
                          EXPECT_EQ(errno, i);
                      },
                      fresh()),
                  WEFT_OUTCOME_RETURNED);
    }
}

TEST(Hosted, SuspendsIsResumedFromAfarAndBlocks) {
    Runtime runtime(2);
    EXPECT_EQ(run_hosted([] {
                  const pthread_t mine = self();
                  for (int i = 0; i < 100; ++i) {
                      weft_unit_suspend([](weft_unit* unit, void*) { EXPECT_EQ(weft_unit_resume(unit), WEFT_OK); },
                                        nullptr);
                      EXPECT_TRUE(pthread_equal(self(), mine));
                  }
                  int called = 0;
                  EXPECT_EQ(weft_blocking(
                                [](void* raw) {
                                    ++*static_cast<int*>(raw);
                                    errno = 5;
                                },
                                &called),
                            WEFT_OK);
                  EXPECT_EQ(error(), 5);
                  EXPECT_EQ(called, 1);
                  EXPECT_TRUE(pthread_equal(self(), mine));
                  EXPECT_EQ(weft_sleep_for(1000), WEFT_OK);
                  EXPECT_TRUE(pthread_equal(self(), mine));
              }),
              WEFT_OUTCOME_RETURNED);
}

// ---- one after the other ------------------------------------------------------------------------

TEST(HostedPool, APthreadIsUsedAgainAndPlainVariablesAreAsTheLastUnitLeftThem) {
    Runtime runtime;
    pthread_t first{}, second{};
    EXPECT_EQ(run_hosted([&] {
                  first = self();
                  plain = 42;
              }),
              WEFT_OUTCOME_RETURNED);
    EXPECT_EQ(run_hosted([&] {
                  second = self();
                  EXPECT_EQ(plain, 42);
              }),
              WEFT_OUTCOME_RETURNED);
    EXPECT_TRUE(pthread_equal(first, second));
    EXPECT_EQ(counter("/hosts/count/started"), 1u);
}

TEST(HostedPool, AFreshOneHasThemAsTheyBegin) {
    Runtime runtime;
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(run_hosted([&] { EXPECT_EQ(std::exchange(plain, 42), 7); }, fresh()), WEFT_OUTCOME_RETURNED);
    }
    EXPECT_EQ(counter("/hosts/count/started"), 3u);
    EXPECT_EQ(run_hosted([&] { EXPECT_EQ(plain, 42); }), WEFT_OUTCOME_RETURNED);
    EXPECT_EQ(counter("/hosts/count/started"), 3u);
}

TEST(HostedPool, UnitsBeginWithThePthreadsThatWerePreparedForThem) {
    Runtime runtime;
    EXPECT_EQ(weft_hosted_prepare(1, 100), WEFT_INVALID);
    EXPECT_EQ(weft_hosted_prepare(5, 0), WEFT_OK);
    EXPECT_EQ(counter("/hosts/count/started"), 5u);
    EXPECT_EQ(counter("/hosts/count/in-use"), 0u);
    const auto how = hosted();
    std::vector<std::unique_ptr<Ult>> units;
    for (int i = 0; i < 5; ++i) units.push_back(std::make_unique<Ult>([] { yield(); }, &how));   // all at once
    for (const auto& unit : units) EXPECT_EQ(unit->free(), WEFT_OK);
    EXPECT_EQ(counter("/hosts/count/started"), 5u);
    EXPECT_EQ(weft_hosted_prepare(5, 0), WEFT_OK);   // they are idle now
    EXPECT_EQ(counter("/hosts/count/started"), 5u);
    EXPECT_EQ(weft_hosted_prepare(2, 0), WEFT_OK);   // and those five are promised
    EXPECT_EQ(counter("/hosts/count/started"), 7u);
}

TEST(HostedPool, APreparedStackThatIsTooSmallIsLeftForAnotherUnit) {
    Runtime runtime;
    EXPECT_EQ(weft_hosted_prepare(1, 0), WEFT_OK);
    weft_unit_options large = hosted();
    large.stack_bytes = 64 << 20;
    EXPECT_EQ(run_hosted(
                  [] {
                      weft_stack_info stack{};
                      stack.size = sizeof stack;
                      EXPECT_EQ(weft_unit_stack_get(weft_unit_self(), &stack), WEFT_OK);
                      EXPECT_GE(stack.bytes, std::size_t{64} << 20);
                  },
                  large),
              WEFT_OUTCOME_RETURNED);
    EXPECT_EQ(counter("/hosts/count/started"), 2u);
    EXPECT_EQ(weft_hosted_prepare(1, 64 << 20), WEFT_OK);
    EXPECT_EQ(counter("/hosts/count/started"), 2u);
}

// An attempt to start a thread of the program: it succeeds once at most `left` pthreads are left.
struct Attempt {
    std::uint64_t left;
    int made = 0;

    static bool make(void* raw) {
        auto& self = *static_cast<Attempt*>(raw);
        ++self.made;
        return counter("/hosts/count/live") <= self.left;
    }
};

TEST(HostedPool, IdleOnesEndOneAfterTheOtherForWhoeverNeedsTheRoom) {
    EXPECT_EQ(weft_hosted_make_room(Attempt::make, nullptr), WEFT_NOT_INITIALIZED);
    Runtime runtime;
    const auto how = hosted();
    std::vector<std::unique_ptr<Ult>> units;
    for (int i = 0; i < 3; ++i) units.push_back(std::make_unique<Ult>([] { yield(); }, &how));
    for (const auto& unit : units) EXPECT_EQ(unit->free(), WEFT_OK);
    ASSERT_EQ(counter("/hosts/count/live"), 3u);
    Attempt attempt{1};
    EXPECT_EQ(weft_hosted_make_room(Attempt::make, &attempt), WEFT_OK);
    EXPECT_EQ(counter("/hosts/count/live"), 1u);
    EXPECT_GE(attempt.made, 2);
    EXPECT_EQ(run_hosted([] {}), WEFT_OUTCOME_RETURNED);
    EXPECT_EQ(counter("/hosts/count/started"), 3u);
}

TEST(HostedPool, ThoseThatArePromisedMakeNoRoom) {
    Runtime runtime;
    EXPECT_EQ(weft_hosted_prepare(2, 0), WEFT_OK);
    Attempt attempt{1};
    EXPECT_EQ(weft_hosted_make_room(Attempt::make, &attempt), WEFT_SYSTEM);
    EXPECT_EQ(counter("/hosts/count/live"), 2u);
    EXPECT_GE(attempt.made, 1);
}

TEST(HostedPool, ThoseThatNoUnitTakesEndWithTheRuntime) {
    for (int i = 0; i < 3; ++i) {
        Runtime runtime;
        EXPECT_EQ(weft_hosted_prepare(4, 0), WEFT_OK);
    }
    EXPECT_EQ(weft_hosted_prepare(1, 0), WEFT_NOT_INITIALIZED);
}

// What a thread does at its end, before the unit can be joined.
struct Dying {
    std::vector<std::string>* told = nullptr;
    ~Dying() {
        if (told == nullptr) return;
        told->push_back("object");
        yield();   // it may switch
    }
};
thread_local Dying dying;

TEST(HostedPool, DestructorsRunBeforeTheUnitIsJoined) {
    Runtime runtime;
    static std::vector<std::string> told;
    told.clear();
    pthread_key_t key, other;
    ASSERT_EQ(pthread_key_create(&key,
                                 [](void* value) {
                                     told.emplace_back(static_cast<const char*>(value));
                                     yield();
                                 }),
              0);
    ASSERT_EQ(pthread_key_create(&other, nullptr), 0);
    for (int i = 0; i < 3; ++i) {
        SCOPED_TRACE(i);
        told.clear();
        const pthread_t mine = self();
        EXPECT_EQ(run_hosted([&] {
                      EXPECT_EQ(pthread_getspecific(key), nullptr);
                      EXPECT_EQ(pthread_getspecific(other), nullptr);
                      EXPECT_EQ(dying.told, nullptr);
                      dying.told = &told;
                      static char value[] = "key";
                      EXPECT_EQ(pthread_setspecific(key, value), 0);
                      EXPECT_EQ(pthread_setspecific(other, value), 0);
                      yield();
                  }),
                  WEFT_OUTCOME_RETURNED);
        EXPECT_EQ(told, (std::vector<std::string>{"object", "key"}));
        EXPECT_TRUE(pthread_equal(self(), mine));
    }
    // A compiler assumes from now on that the objects are alive in their thread, so that thread
    // gets no other unit.
    EXPECT_EQ(counter("/hosts/count/started"), 3u);
    EXPECT_EQ(counter("/hosts/count/used-up"), 3u);
    EXPECT_EQ(pthread_key_delete(key), 0);
    EXPECT_EQ(pthread_key_delete(other), 0);
}

// ---- many units ---------------------------------------------------------------------------------

// What belongs to one pthread, and must be the same after each switch.
struct Own {
    const pthread_t thread = self();
    int* const local = &plain;
    int* const error_address = &errno;
    void* keyed = nullptr;
};

struct Many {
    static constexpr int units = 64, switches = 10'000;

    pthread_key_t key{};
    atomic<int> destroyed{0}, moved{0};
    pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_t recursive{}, checking{}, robust{};
    long under_normal = 0, under_recursive = 0, under_checking = 0, under_robust = 0;

    Many() {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
        pthread_mutex_init(&recursive, &attributes);
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
        pthread_mutex_init(&checking, &attributes);
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_NORMAL);
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
        pthread_mutex_init(&robust, &attributes);
        pthread_mutexattr_destroy(&attributes);
    }
    ~Many() {
        for (pthread_mutex_t* mutex : {&normal, &recursive, &checking, &robust})
            EXPECT_EQ(pthread_mutex_destroy(mutex), 0);
    }
};

// Held across a switch; a unit that finds it held lets others run.
void lock_across(pthread_mutex_t& mutex, long& guarded) {
    int answer;
    while ((answer = pthread_mutex_trylock(&mutex)) == EBUSY) yield();
    ASSERT_EQ(answer, 0);
    const long before = guarded;
    yield();
    EXPECT_EQ(guarded, before);
    guarded = before + 1;
    EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
}

// Contended among OS threads: one carrier may wait for the other.
void lock_here(pthread_mutex_t& mutex, long& guarded) {
    ASSERT_EQ(pthread_mutex_lock(&mutex), 0);
    ++guarded;
    ASSERT_EQ(pthread_mutex_unlock(&mutex), 0);
}

void start_and_join_a_thread() {
    pthread_t started;
    int result = 0;
    ASSERT_EQ(pthread_create(
                  &started, nullptr,
                  [](void* raw) -> void* {
                      *static_cast<int*>(raw) = plain;
                      return raw;
                  },
                  &result),
              0);
    void* returned = nullptr;
    ASSERT_EQ(pthread_join(started, &returned), 0);
    EXPECT_EQ(returned, &result);
    EXPECT_EQ(result, 7);
}

void suspend_in_catch(int step) {
    try {
        throw step;
    } catch (int caught) {
        yield();
        EXPECT_EQ(caught, step);
        try {
            throw;
        } catch (int again) {
            EXPECT_EQ(again, step);
        }
    }
}

void live_as_pthread(Many& many) {
    Own own;
    plain = 7;
    own.keyed = std::malloc(1);
    ASSERT_EQ(pthread_setspecific(many.key, own.keyed), 0);
    weft_stream* at = weft_stream_self();
    for (int step = 0; step < Many::switches; ++step) {
        plain = step;
        errno = step;
        void* const block = std::malloc(1 + static_cast<size_t>(step) % 700);
        yield();
        std::free(block);
        if (std::exchange(at, weft_stream_self()) != at) ++many.moved;
        ASSERT_TRUE(pthread_equal(self(), own.thread));
        ASSERT_EQ(&plain, own.local);
        ASSERT_EQ(plain, step);
        ASSERT_EQ(&errno, own.error_address);
        ASSERT_EQ(errno, step);
        ASSERT_EQ(pthread_getspecific(many.key), own.keyed);
        switch (step % 1000) {
        case 100: lock_across(many.recursive, many.under_recursive); break;
        case 200: lock_across(many.checking, many.under_checking); break;
        case 300: lock_across(many.robust, many.under_robust); break;
        case 400: suspend_in_catch(step); break;
        case 999: start_and_join_a_thread(); break;
        default:
            if (step % 10 == 5) lock_here(many.normal, many.under_normal);
        }
    }
    plain = 7;
}

TEST(HostedMany, EachIsTheSamePthreadAfterTenThousandSwitchesOnTwoStreams) {
    static Many* many;
    Many all;
    many = &all;
    ASSERT_EQ(pthread_key_create(&all.key,
                                 [](void* value) {
                                     std::free(value);
                                     ++many->destroyed;
                                 }),
              0);
    {
        Runtime runtime;
        Two two;
        const auto how = hosted();
        std::vector<std::unique_ptr<Ult>> units;
        for (int i = 0; i < Many::units; ++i)
            units.push_back(std::make_unique<Ult>([&] { live_as_pthread(all); }, &how, two.pool));
        for (const auto& unit : units) EXPECT_EQ(unit->free(), WEFT_OK);
        EXPECT_EQ(all.destroyed.load(), Many::units);
        EXPECT_LE(counter("/hosts/count/started"), std::uint64_t{Many::units});
        EXPECT_EQ(counter("/hosts/count/refused"), 0u);
    }
    constexpr long each = Many::switches / 1000;
    EXPECT_GT(all.moved.load(), 0);
    EXPECT_EQ(all.under_recursive, Many::units * each);
    EXPECT_EQ(all.under_checking, Many::units * each);
    EXPECT_EQ(all.under_robust, Many::units * each);
    EXPECT_EQ(all.under_normal, Many::units * Many::switches / 10);
    EXPECT_EQ(pthread_key_delete(all.key), 0);
}

}   // namespace
