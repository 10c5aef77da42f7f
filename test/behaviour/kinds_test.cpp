// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The six kinds of unit: what each may do, what happens when it suspends, and what it is refused.
#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <string>

#include <weft/sync.hpp>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/several.hpp"
#include "test/behaviour/variable.hpp"
#include "test/behaviour/waiting.hpp"

using namespace weft_test;

namespace {

constexpr weft_kind all_kinds[] = {WEFT_KIND_FULL, WEFT_KIND_LSA, WEFT_KIND_ROC,
                                   WEFT_KIND_SS,   WEFT_KIND_SC,  WEFT_KIND_RTC};
constexpr weft_kind ult_kinds[] = {WEFT_KIND_FULL, WEFT_KIND_LSA, WEFT_KIND_ROC, WEFT_KIND_SS, WEFT_KIND_SC};
constexpr weft_kind light_kinds[] = {WEFT_KIND_ROC, WEFT_KIND_SS, WEFT_KIND_SC};

weft_unit_options of_kind(weft_kind kind) {
    weft_unit_options made = options();
    made.kind = kind;
    return made;
}

std::uint64_t promoted() { return counter("/units/count/promoted"); }

weft_kind kind_of(weft_unit* unit) {
    weft_kind kind = WEFT_KIND_DEFAULT;
    EXPECT_EQ(weft_unit_kind_get(unit, &kind), WEFT_OK);
    return kind;
}

// Runs ready units, from the primary unit, until `unit` has ended.
void run_until_done(weft_unit* unit) {
    while (weft_unit_try_join(unit) == WEFT_BUSY) weft_unit_yield();
}

}   // namespace

TEST(Kinds, EachRunsItsBodyOnceAndIsOfItsKind) {
    for (const auto pool_kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE, WEFT_POOL_PRIORITY}) {
        weft_settings settings = with_streams(1);
        settings.pool = pool_kind == WEFT_POOL_PRIORITY ? WEFT_POOL_SHARED : pool_kind;
        Runtime runtime(settings);
        for (const weft_kind kind : all_kinds) {
            const auto chosen = of_kind(kind);
            constexpr std::size_t count = 50;
            static int ran;
            ran = 0;
            weft_unit* units[count];
            for (weft_unit*& unit : units)
                ASSERT_EQ(weft_ult_spawn(
                              nullptr, [](void*) { ++ran; }, nullptr, &chosen, &unit),
                          WEFT_OK)
                    << weft_error_text();
            for (weft_unit* unit : units) EXPECT_EQ(kind_of(unit), kind);
            EXPECT_EQ(weft_unit_join_free_many(units, count), WEFT_OK);
            EXPECT_EQ(ran, 50);
        }
        EXPECT_EQ(promoted(), 0u);
        EXPECT_EQ(units_alive(), 1u);
    }
}

// The scheduler begins each unit, not its joiner; it begins each kind in its own way.
TEST(Kinds, EachIsBegunByTheScheduler) {
    Runtime runtime;
    for (const weft_kind kind : all_kinds) {
        const auto chosen = of_kind(kind);
        int ran = 0;
        Ult first([&] { ++ran; }, &chosen), second([&] { ++ran; }, &chosen);
        run_until_done(second.handle());
        EXPECT_EQ(ran, 2);
    }
    EXPECT_EQ(promoted(), 0u);
}

// Units that begin alike are called one after another.
TEST(Kinds, BetweenTwoOfARowTheSchedulerDoesWhatItsStreamIsAskedFor) {
    Runtime runtime;
    for (const weft_kind kind : {WEFT_KIND_ROC, WEFT_KIND_SS, WEFT_KIND_SC, WEFT_KIND_RTC}) {
        const auto chosen = of_kind(kind), tasklet = of_kind(WEFT_KIND_RTC);
        bool called = false, seen = false;
        Ult brings_the_scheduler([] {}, &tasklet);   // a ULT that yields to a ULT bypasses the scheduler
        Ult first(
            [&] {
                EXPECT_EQ(weft_stream_post(
                              weft_stream_self(), [](void* to) { *static_cast<bool*>(to) = true; }, &called),
                          WEFT_OK);
            },
            &chosen);
        Ult second([&] { seen = called; }, &chosen);
        run_until_done(second.handle());
        EXPECT_TRUE(seen) << kind;
    }
}

TEST(Kinds, OneThatSuspendsIsPromotedOnce) {
    for (const auto pool_kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE}) {
        weft_settings settings = with_streams(1);
        settings.pool = pool_kind;
        Runtime runtime(settings);
        for (const weft_kind kind : ult_kinds) {
            const auto chosen = of_kind(kind);
            const bool light = std::count(std::begin(light_kinds), std::end(light_kinds), kind) != 0;
            const std::uint64_t before = promoted();
            std::string order;
            {
                Ult a(
                    [&] {
                        for (int i = 0; i < 3; ++i) {
                            order += 'a';
                            weft_unit_yield();
                        }
                    },
                    &chosen);
                Ult b(
                    [&] {
                        for (int i = 0; i < 3; ++i) {
                            order += 'b';
                            weft_unit_yield();
                        }
                    },
                    &chosen);
                Ult c([&] { order += 'c'; }, &chosen);
                run_until_done(b.handle());
                run_until_done(a.handle());
            }
            EXPECT_EQ(std::count(order.begin(), order.end(), 'c'), 1);
            EXPECT_EQ(std::count(order.begin(), order.end(), 'a'), 3);
            EXPECT_EQ(std::count(order.begin(), order.end(), 'b'), 3);
            EXPECT_EQ(promoted() - before, light ? 2u : 0u) << kind;
        }
        EXPECT_EQ(units_alive(), 1u);
    }
}

// The two are called one after another, and the second needs what the first does not: a stack on
// which the scheduler begins anew.
TEST(Kinds, AnScThatSuspendsIsPromotedWhereATaskletIsCalledBeforeIt) {
    Runtime runtime;
    const auto tasklets = of_kind(WEFT_KIND_RTC), sc = of_kind(WEFT_KIND_SC);
    std::string order;
    Ult tasklet([&] { order += "t"; }, &tasklets), unit(
                                                       [&] {
                                                           order += "1";
                                                           EXPECT_EQ(weft_unit_yield(), WEFT_OK);
                                                           order += "2";
                                                       },
                                                       &sc);
    run_until_done(unit.handle());
    EXPECT_EQ(order, "t12");
}

// The unit stands where tasklets are called if the scheduler has only been left.
TEST(Kinds, AnScThatHasNotSuspendedKeepsItsFrameWhenItEndsATaskletThatIsNext) {
    for (const auto pool : {WEFT_POOL_SHARED, WEFT_POOL_DEQUE, WEFT_POOL_PRIVATE}) {
        weft_settings settings = with_streams(1);
        settings.pool = pool;
        Runtime runtime(settings);
        // so that the scheduler has been left, and its context is saved
        Ult before([] { EXPECT_EQ(weft_unit_yield(), WEFT_OK); });
        run_until_done(before.handle());
        const auto sc = of_kind(WEFT_KIND_SC);
        // freed at once, or joined and freed; the first unit has a descriptor that no unit had
        // before
        for (const bool joined : {false, true}) {
            weft::event ended;   // waited for, so that the pool holds only the tasklet
            Ult unit(
                [&] {
                    volatile char frame[2048];
                    for (volatile char& each : frame) each = 'u';
                    weft_unit* tasklet = nullptr;
                    EXPECT_EQ(weft_tasklet_spawn(
                                  nullptr,
                                  [](void*) {
                                      volatile char below[4096];
                                      for (volatile char& each : below) each = 't';
                                  },
                                  nullptr, nullptr, &tasklet),
                              WEFT_OK);
                    if (joined) {
                        EXPECT_EQ(weft_unit_join(tasklet), WEFT_OK);
                    }
                    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
                    EXPECT_TRUE(std::all_of(frame, frame + sizeof frame, [](char each) { return each == 'u'; }));
                    ended.set();
                },
                &sc);
            ended.wait();
        }
    }
}

TEST(Kinds, ATaskletThatTriesToSuspendGetsAStatusAndGoesOn) {
    Runtime runtime;
    const auto chosen = of_kind(WEFT_KIND_RTC);
    bool went_on = false;
    weft_unit* other = nullptr;
    Ult tasklet(
        [&] {
            EXPECT_EQ(weft_unit_yield(), WEFT_WRONG_KIND);
            EXPECT_EQ(weft_unit_suspend(nullptr, nullptr), WEFT_WRONG_KIND);
            EXPECT_EQ(weft_unit_join(other), WEFT_WRONG_KIND);
            EXPECT_EQ(weft_sleep_until(weft_now_ns() + ms), WEFT_WRONG_KIND);
            went_on = true;
        },
        &chosen);
    ASSERT_EQ(weft_ult_spawn(
                  nullptr, [](void*) {}, nullptr, nullptr, &other),
              WEFT_OK);
    EXPECT_EQ(tasklet.join(), WEFT_OK);
    EXPECT_TRUE(went_on);
    EXPECT_EQ(weft_unit_join_free(other), WEFT_OK);
}

TEST(Kinds, AnyMixtureLiesInOnePool) {
    for (const auto pool_kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE, WEFT_POOL_LIFO}) {
        Runtime runtime;
        weft_pool* pool = make_pool(pool_kind);
        {
            Stream stream(pool);
            constexpr std::size_t count = 120;
            static atomic<std::size_t> ran;
            ran = 0;
            weft_unit* units[count];
            for (std::size_t i = 0; i < count; ++i) {
                const auto chosen = of_kind(all_kinds[i * 7 % 6]);
                const bool suspends = i % 3 == 0 && chosen.kind != WEFT_KIND_RTC;
                auto body = [](void* yields) {
                    for (std::uintptr_t left = reinterpret_cast<std::uintptr_t>(yields); left > 0; --left)
                        EXPECT_EQ(weft_unit_yield(), WEFT_OK);
                    ++ran;
                };
                ASSERT_EQ(weft_ult_spawn(pool, body, reinterpret_cast<void*>(suspends ? i % 4 : 0), &chosen, &units[i]),
                          WEFT_OK);
            }
            EXPECT_EQ(weft_unit_join_free_many(units, count), WEFT_OK);
            EXPECT_EQ(ran, count);
        }
        EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
        EXPECT_EQ(units_alive(), 1u);
    }
}

TEST(Kinds, APromotedUnitGoesOnOnAnotherStream) {
    Runtime runtime(2);
    weft_pool* there = make_pool(WEFT_POOL_SHARED);
    {
        Stream stream(there);
        for (const weft_kind kind : ult_kinds) {
            weft_pool* from = make_pool(WEFT_POOL_SHARED);
            {
                Stream first(from);
                const auto chosen = of_kind(kind);
                atomic<bool> begun{false};
                const weft_stream* seen[2] = {};
                Ult unit(
                    [&] {
                        char below[64];
                        std::fill(std::begin(below), std::end(below), 'x');
                        seen[0] = weft_stream_self();
                        begun = true;
                        until([&] { return weft_stream_self() != seen[0]; });
                        seen[1] = weft_stream_self();
                        EXPECT_EQ(std::count(std::begin(below), std::end(below), 'x'), 64);
                    },
                    &chosen, from);
                until_set(begun);
                EXPECT_EQ(weft_unit_migrate_to_pool(unit.handle(), there), WEFT_OK) << weft_error_text();
                EXPECT_EQ(unit.free(), WEFT_OK);
                EXPECT_EQ(seen[0], first.handle());
                EXPECT_EQ(seen[1], stream.handle());
            }
            EXPECT_EQ(weft_pool_free(from), WEFT_OK);
        }
    }
    EXPECT_EQ(weft_pool_free(there), WEFT_OK);
}

TEST(Kinds, OneThatWaitsCanBeCancelledTimedOutAndResumed) {
    Runtime runtime;
    for (const weft_kind kind : ult_kinds) {
        const auto chosen = of_kind(kind);
        int after = 0;
        Ult cancelled(
            [&] {
                while (weft_unit_yield() == WEFT_OK) {}
            },
            &chosen);
        Ult sleeper(
            [&] {
                weft_unit_suspend(nullptr, nullptr);
                ++after;
            },
            &chosen);
        Ult dozer(
            [&] {
                EXPECT_EQ(weft_sleep_until(weft_now_ns() + ms / 10), WEFT_OK);
                ++after;
            },
            &chosen);
        until([&] { return sleeper.state() == WEFT_UNIT_SUSPENDED; });
        EXPECT_EQ(weft_unit_join_until(sleeper.handle(), weft_now_ns()), WEFT_TIMED_OUT);
        EXPECT_EQ(weft_unit_cancel(cancelled.handle()), WEFT_OK);
        EXPECT_EQ(cancelled.end(), WEFT_OUTCOME_CANCELLED);
        EXPECT_EQ(weft_unit_resume(sleeper.handle()), WEFT_OK);
        EXPECT_EQ(sleeper.free(), WEFT_OK);
        EXPECT_EQ(dozer.free(), WEFT_OK);
        EXPECT_EQ(after, 2);
    }
    EXPECT_EQ(units_alive(), 1u);
}

TEST(Kinds, OneThatEndsInTheMiddleOfItsBodyLeavesAScheduler) {
    Runtime runtime;
    for (const weft_kind kind : ult_kinds) {
        const auto chosen = of_kind(kind);
        bool passed = false, next = false;
        Ult leaves(
            [&] {
                weft_unit_exit();
                passed = true;
            },
            &chosen);
        Ult follows([&] { next = true; }, &chosen);
        run_until_done(follows.handle());
        EXPECT_EQ(leaves.free(), WEFT_OK);
        EXPECT_FALSE(passed);
        EXPECT_TRUE(next);
    }
}

TEST(Kinds, EachKeepsErrnoAndTheExceptionThatItHandles) {
    Runtime runtime;
    for (const weft_kind kind : ult_kinds) {
        const auto chosen = of_kind(kind);
        auto body = [&](int number) {
            errno = number;
            weft_unit_yield();
            EXPECT_EQ(errno, number);
            try {
                throw number;
            } catch (int) {
                weft_unit_yield();
                try {
                    throw;
                } catch (int seen) {
                    EXPECT_EQ(seen, number);
                }
            }
        };
        Ult a([&] { body(1); }, &chosen), b([&] { body(2); }, &chosen);
        run_until_done(b.handle());
    }
}

TEST(Kinds, AnExceptionThatLeavesTheBodyIsTheJoiners) {
    Runtime runtime;
    for (const weft_kind kind : all_kinds) {
        const auto chosen = of_kind(kind);
        Ult at_once([] { throw std::runtime_error("at once"); }, &chosen);
        Ult later(
            [&] {
                if (kind != WEFT_KIND_RTC) weft_unit_yield();
                throw std::runtime_error("later");
            },
            &chosen);
        run_until_done(later.handle());
        EXPECT_EQ(at_once.end(), WEFT_OUTCOME_EXCEPTION);
        EXPECT_EQ(later.end(), WEFT_OUTCOME_EXCEPTION);
    }
}

namespace {

// Spawns and joins down to the leaves; all units are of kind `kind`.
struct Fib {
    weft_kind kind;
    int n;
    long result = 0;

    static void run(void* raw) {
        auto& self = *static_cast<Fib*>(raw);
        if (self.n < 2) {
            self.result = self.n;
            return;
        }
        Fib one{self.kind, self.n - 1}, two{self.kind, self.n - 2};
        const auto chosen = of_kind(self.kind);
        weft_unit* unit = nullptr;
        EXPECT_EQ(weft_ult_spawn(nullptr, run, &one, &chosen, &unit), WEFT_OK);
        run(&two);
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        self.result = one.result + two.result;
    }
};

}   // namespace

TEST(Kinds, EachSpawnsAndJoinsItsOwn) {
    for (const std::size_t streams : {1, 2}) {
        Runtime runtime(streams);
        for (const weft_kind kind : ult_kinds) {
            Fib root{kind, 10};
            Ult unit([&] { Fib::run(&root); });
            EXPECT_EQ(unit.free(), WEFT_OK);
            EXPECT_EQ(root.result, 55);
        }
        EXPECT_EQ(units_alive(), 1u);
    }
}

TEST(Kinds, StacksOfThePromotedComeBack) {
    Runtime runtime;
    for (const weft_kind kind : light_kinds) {
        const auto chosen = of_kind(kind);
        auto round = [&] {
            weft_unit* units[20];
            for (weft_unit*& unit : units)
                ASSERT_EQ(weft_ult_spawn(
                              nullptr, [](void*) { weft_unit_yield(); }, nullptr, &chosen, &unit),
                          WEFT_OK);
            weft_unit_yield();
            EXPECT_EQ(weft_unit_join_free_many(units, 20), WEFT_OK);
        };
        round();
        const std::uint64_t created = counter("/stacks/count/created"), before = promoted();
        for (int i = 0; i < 20; ++i) round();
        EXPECT_EQ(promoted() - before, 400u) << kind;
        EXPECT_EQ(counter("/stacks/count/created"), created) << kind;
    }
}

TEST(Kinds, WhatStandsOnTheSchedulersStackIsRefusedMoreThanThat) {
    weft_settings settings = with_streams(1);
    settings.scheduler_stack_bytes = 128 << 10;
    Runtime runtime(settings);
    static char memory[256 << 10];
    weft_unit* unit = nullptr;
    auto nothing = [](void*) {};
    for (const weft_kind kind : {WEFT_KIND_SC, WEFT_KIND_RTC}) {
        auto chosen = of_kind(kind);
        chosen.stack_bytes = (128 << 10) + 1;
        EXPECT_EQ(weft_ult_spawn(nullptr, nothing, nullptr, &chosen, &unit), WEFT_INVALID);
        const std::string why = weft_error_text();
        for (const char* part : {"131072", "131073", "WEFT_SCHEDULER_STACK_BYTES"})
            EXPECT_NE(why.find(part), std::string::npos) << why;
        EXPECT_EQ(weft_unit_spawn_many(nullptr, 1, nothing, nullptr, &chosen, &unit), WEFT_INVALID);
        chosen.stack_bytes = sizeof memory;
        chosen.stack = memory;
        EXPECT_EQ(weft_ult_spawn(nullptr, nothing, nullptr, &chosen, &unit), WEFT_INVALID);
        chosen.stack = nullptr;
        chosen.stack_bytes = 100 << 10;
        ASSERT_EQ(weft_ult_spawn(nullptr, nothing, nullptr, &chosen, &unit), WEFT_OK) << weft_error_text();
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    }
    auto measured = of_kind(WEFT_KIND_SC);
    measured.measure_stack = true;
    EXPECT_EQ(weft_ult_spawn(nullptr, nothing, nullptr, &measured, &unit), WEFT_UNSUPPORTED);
}

TEST(Kinds, WhatDoesNotCountOfATaskletIsPassedOver) {
    Runtime runtime;
    auto given = options();
    given.child_first = true;
    weft_unit* unit = nullptr;
    ASSERT_EQ(weft_tasklet_spawn(
                  nullptr, [](void*) {}, nullptr, &given, &unit),
              WEFT_OK)
        << weft_error_text();
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    given.kind = WEFT_KIND_RTC;   // a ULT spawn, which has been given both
    EXPECT_EQ(weft_ult_spawn(
                  nullptr, [](void*) {}, nullptr, &given, &unit),
              WEFT_UNSUPPORTED);
}

TEST(Kinds, SsAndScAreRefusedToChildFirst) {
    Runtime runtime;
    weft_unit* unit = nullptr;
    for (const weft_kind kind : ult_kinds) {
        auto chosen = of_kind(kind);
        chosen.child_first = true;
        const bool refused = kind == WEFT_KIND_SS || kind == WEFT_KIND_SC;
        EXPECT_EQ(weft_ult_spawn(
                      nullptr, [](void*) {}, nullptr, &chosen, &unit),
                  refused ? WEFT_UNSUPPORTED : WEFT_OK)
            << kind;
        if (!refused) {
            EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        }
    }
    auto tasklet = of_kind(WEFT_KIND_RTC);
    tasklet.child_first = true;
    EXPECT_EQ(weft_ult_spawn(
                  nullptr, [](void*) {}, nullptr, &tasklet, &unit),
              WEFT_UNSUPPORTED);
}

TEST(Kinds, SsAndScNeedASchedulerThatPicks) {
    Runtime runtime;
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);
    weft_sched_ops ops{};
    ops.size = sizeof ops;
    ops.run = run_all;
    weft_sched* sched = nullptr;
    ASSERT_EQ(weft_sched_create_user(&ops, nullptr, &pool, 1, &sched), WEFT_OK);
    weft_unit* before[2] = {};
    const weft_kind needy[] = {WEFT_KIND_SS, WEFT_KIND_SC};
    static atomic<int> ran;
    ran = 0;
    auto yields = [](void*) {
        weft_unit_yield();
        ++ran;
    };
    for (int i = 0; i < 2; ++i) {   // no stream draws from the pool yet
        const auto chosen = of_kind(needy[i]);
        ASSERT_EQ(weft_ult_spawn(pool, yields, nullptr, &chosen, &before[i]), WEFT_OK);
    }
    {
        Stream stream(nullptr, sched);
        for (const weft_kind kind : all_kinds) {
            const auto chosen = of_kind(kind);
            weft_unit* unit = nullptr;
            const bool refused = kind == WEFT_KIND_SS || kind == WEFT_KIND_SC;
            EXPECT_EQ(weft_ult_spawn(
                          pool, [](void*) {}, nullptr, &chosen, &unit),
                      refused ? WEFT_UNSUPPORTED : WEFT_OK)
                << kind;
            if (!refused) {
                EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
            } else {
                EXPECT_NE(std::string(weft_error_text()).find("take RoC"), std::string::npos) << weft_error_text();
            }
        }
        // Units that were spawned before the stream existed run as ULTs with stacks of their own.
        EXPECT_EQ(weft_unit_join_free_many(before, 2), WEFT_OK);
        EXPECT_EQ(ran, 2);
    }
    const auto chosen = of_kind(WEFT_KIND_SC);
    weft_unit* unit = nullptr;
    EXPECT_EQ(weft_ult_spawn(pool, yields, nullptr, &chosen, &unit), WEFT_OK) << "its scheduler has gone";
    {
        Stream stream(pool);
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    }
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(Kinds, UnderASchedulerThatIsAUnitAllRunToo) {
    Runtime runtime;
    weft_pool* pool = make_pool(WEFT_POOL_PRIVATE);
    static atomic<int> ran;
    ran = 0;
    std::vector<weft_unit*> units;
    for (const weft_kind kind : ult_kinds) {
        const auto chosen = of_kind(kind);
        units.push_back(nullptr);
        ASSERT_EQ(weft_ult_spawn(
                      pool,
                      [](void*) {
                          weft_unit_yield();
                          ++ran;
                      },
                      nullptr, &chosen, &units.back()),
                  WEFT_OK);
    }
    weft_sched* sched = make_sched(WEFT_SCHED_BASIC, {pool});
    weft_unit* of_it = nullptr;
    ASSERT_EQ(weft_sched_push(sched, pool_of(0), nullptr, &of_it), WEFT_OK) << weft_error_text();
    EXPECT_EQ(weft_unit_join_free_many(units.data(), units.size()), WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(of_it), WEFT_OK);
    EXPECT_EQ(ran, 5);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(Kinds, TheSettingIsOfThoseThatDoNotSay) {
    for (const weft_kind kind : all_kinds) {
        weft_settings settings = with_streams(1);
        settings.kind = kind;
        Runtime runtime(settings);
        Ult unit([] {});
        EXPECT_EQ(kind_of(unit.handle()), kind);
        auto named = options();
        named.name = "named";
        Ult other([] {}, &named);
        EXPECT_EQ(kind_of(other.handle()), kind);
    }
}

class KindOfTheSettings : public ::testing::TestWithParam<const char*> {};

TEST_P(KindOfTheSettings, GivesWayToRocWhereItDoesNotSuit) {
    Variable variable("WEFT_KIND", GetParam());
    Runtime runtime;
    auto large = options(), first = options(), measured = options();
    large.stack_bytes = 1 << 20;
    first.child_first = true;
    measured.measure_stack = true;
    for (const weft_unit_options* chosen : {&large, &first, &measured}) {
        Ult unit([] { weft_unit_yield(); }, chosen);
        EXPECT_EQ(kind_of(unit.handle()), WEFT_KIND_ROC);
        EXPECT_EQ(unit.free(), WEFT_OK);
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, KindOfTheSettings, ::testing::Values("sc", "rtc"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST(Kinds, ARevivedOneIsPromotedAnew) {
    Runtime runtime;
    for (const weft_kind kind : light_kinds) {
        const auto chosen = of_kind(kind);
        const std::uint64_t before = promoted();
        weft_unit* unit = nullptr;
        auto suspends = [](void*) {
            EXPECT_EQ(
                weft_unit_suspend([](weft_unit* self, void*) { EXPECT_EQ(weft_unit_resume(self), WEFT_OK); }, nullptr),
                WEFT_OK);
        };
        ASSERT_EQ(weft_ult_spawn(nullptr, suspends, nullptr, &chosen, &unit), WEFT_OK);
        EXPECT_EQ(weft_unit_join(unit), WEFT_OK);
        ASSERT_EQ(weft_unit_revive(unit, nullptr, suspends, nullptr), WEFT_OK) << weft_error_text();
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
        EXPECT_EQ(promoted() - before, 2u);
    }
}

TEST(Kinds, AnObserverIsToldOfThePromotionBeforeTheUnitLeaves) {
    Runtime runtime;
    static std::vector<weft_observed> seen;
    weft_observer_options how{};
    how.size = sizeof how;
    how.events = WEFT_OBSERVED_ALL;
    how.call = [](const weft_observation* what, void*) {
        if (weft_unit_kind_get(what->unit, nullptr) == WEFT_INVALID && what->what != WEFT_OBSERVED_FREE)
            seen.push_back(what->what);
    };
    weft_observer* observer = nullptr;
    const auto chosen = of_kind(WEFT_KIND_SC);
    weft_unit* unit = nullptr;
    ASSERT_EQ(weft_observer_register(&how, &observer), WEFT_OK);
    seen.clear();
    ASSERT_EQ(weft_ult_spawn(
                  nullptr,
                  [](void*) {
                      weft_unit_yield();
                      weft_unit_yield();
                  },
                  nullptr, &chosen, &unit),
              WEFT_OK);
    EXPECT_EQ(weft_observer_unregister(observer), WEFT_OK);
    seen.clear();
    ASSERT_EQ(weft_observer_register(&how, &observer), WEFT_OK);
    run_until_done(unit);
    EXPECT_EQ(weft_observer_unregister(observer), WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    const auto at = std::find(seen.begin(), seen.end(), WEFT_OBSERVED_PROMOTE);
    ASSERT_NE(at, seen.end());
    EXPECT_EQ(std::count(seen.begin(), seen.end(), WEFT_OBSERVED_PROMOTE), 1);
    ASSERT_NE(at + 1, seen.end());
    EXPECT_EQ(at[1], WEFT_OBSERVED_YIELD);
}

TEST(Kinds, ACallOnTheStreamsStackIsMadeWhereverTheUnitStands) {
    Runtime runtime;
    for (const weft_kind kind : all_kinds) {
        const auto chosen = of_kind(kind);
        int called = 0;
        Ult unit(
            [&] {
                EXPECT_EQ(weft_on_stream_stack([](void* count) { ++*static_cast<int*>(count); }, &called), WEFT_OK);
                if (kind != WEFT_KIND_RTC) weft_unit_yield();
                EXPECT_EQ(weft_on_stream_stack([](void* count) { ++*static_cast<int*>(count); }, &called), WEFT_OK);
            },
            &chosen);
        run_until_done(unit.handle());
        EXPECT_EQ(called, 2);
    }
}

TEST(Kinds, WhatIsCalledOnTheStreamsStackIsNoUnitOfAnyKind) {
    // From a shared pool, the scheduler begins each unit, an SC on its own stack; from a private
    // pool, the unit that leaves begins the next one.
    for (const auto pool_kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED}) {
        weft_settings settings = with_streams(1);
        settings.pool = pool_kind;
        Runtime runtime(settings);
        for (const weft_kind kind : all_kinds) {
            if (kind == WEFT_KIND_RTC) continue;   // its call is a plain one
            const auto chosen = of_kind(kind);
            bool called = false;
            Ult unit(
                [&] {
                    EXPECT_EQ(weft_on_stream_stack(
                                  [](void* raw) {
                                      EXPECT_EQ(weft_unit_self(), nullptr);
                                      EXPECT_EQ(weft_unit_yield(), WEFT_WRONG_CONTEXT);
                                      EXPECT_EQ(weft_unit_suspend(nullptr, nullptr), WEFT_WRONG_CONTEXT);
                                      *static_cast<bool*>(raw) = true;
                                  },
                                  &called),
                              WEFT_OK);
                    EXPECT_NE(weft_unit_self(), nullptr);
                },
                &chosen);
            run_until_done(unit.handle());
            EXPECT_TRUE(called) << "kind " << kind;
        }
    }
}

TEST(Kinds, AStreamHasAKindOfItsOwn) {
    Runtime runtime;
    auto chosen = stream_options();
    chosen.kind = WEFT_KIND_SS;
    {
        Stream stream(&chosen);
        weft_kind seen[3] = {};
        Ult outer(
            [&] {
                {
                    Ult inner([] {});
                    seen[0] = kind_of(inner.handle());
                }
                EXPECT_EQ(weft_stream_kind_set(stream.handle(), WEFT_KIND_SC), WEFT_OK);
                {
                    Ult inner([] {});
                    seen[1] = kind_of(inner.handle());
                }
                EXPECT_EQ(weft_stream_kind_set(stream.handle(), WEFT_KIND_DEFAULT), WEFT_OK);
                Ult inner([] {});
                seen[2] = kind_of(inner.handle());
            },
            nullptr, stream.pool());
        EXPECT_EQ(outer.join(), WEFT_OK);
        EXPECT_EQ(seen[0], WEFT_KIND_SS);
        EXPECT_EQ(seen[1], WEFT_KIND_SC);
        EXPECT_EQ(seen[2], kind_of(outer.handle())) << "as the settings say";
        EXPECT_EQ(weft_stream_kind_set(stream.handle(), WEFT_KIND_SC), WEFT_WRONG_CONTEXT);
    }
    EXPECT_EQ(weft_stream_kind_set(weft_stream_self(), static_cast<weft_kind>(99)), WEFT_WRONG_KIND);
    chosen.kind = static_cast<weft_kind>(99);
    weft_stream* none = nullptr;
    EXPECT_EQ(weft_stream_create(&chosen, &none), WEFT_WRONG_KIND);
}
