// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units with a floating-point environment of their own beside code that is no such unit: callbacks
// of schedulers and pools, OS threads that the runtime starts, calls that are made elsewhere for a
// unit, its jobs, contexts of domains, guests and hosted units.
#include <cfenv>
#include <memory>
#include <vector>

#include <weft/weft.hpp>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/forks.hpp"
#include "test/behaviour/guests.hpp"
#include "test/behaviour/hosted.hpp"
#include "test/behaviour/own_float.hpp"
#include "test/behaviour/variable.hpp"
#include "test/behaviour/waiting.hpp"

using namespace weft_test;

namespace {

// A user-defined scheduler, or a built-in one with a user-defined pool: their callbacks check the
// environment in which they are called, and set nothing.
struct Callbacks {
    std::vector<weft_unit*> waiting;
    int calls = 0;

    void see(const char* what) {
        ++calls;
        EXPECT_EQ(rounding(), FE_TONEAREST) << what;
    }
    weft_sched* scheduler(weft_pool* pool, bool stateless) {
        weft_sched_ops table{};
        table.size = sizeof table;
        if (stateless)
            table.pick = [](void* self, weft_sched* by) -> weft_unit* {
                static_cast<Callbacks*>(self)->see("pick");
                return popped(by);
            };
        else
            table.run = [](void* self, weft_sched* by) {
                while (!weft_sched_check_stop(by)) {
                    static_cast<Callbacks*>(self)->see("run");
                    weft_unit* const unit = popped(by);
                    EXPECT_EQ(unit != nullptr ? weft_sched_run_unit(by, unit) : weft_sched_wait(by), WEFT_OK);
                }
            };
        weft_sched* made = nullptr;
        EXPECT_EQ(weft_sched_create_user(&table, this, &pool, 1, &made), WEFT_OK) << weft_error_text();
        return made;
    }
    weft_pool* pool() {
        weft_pool_ops table{};
        table.size = sizeof table;
        table.push = [](void* self, weft_unit* unit) { static_cast<Callbacks*>(self)->waiting.push_back(unit); };
        table.pop = [](void* raw) -> weft_unit* {
            auto& self = *static_cast<Callbacks*>(raw);
            self.see("pop");
            if (self.waiting.empty()) return nullptr;
            weft_unit* const first = self.waiting.front();
            self.waiting.erase(self.waiting.begin());
            return first;
        };
        table.length = [](const void* self) { return static_cast<const Callbacks*>(self)->waiting.size(); };
        weft_pool* made = nullptr;
        EXPECT_EQ(weft_pool_create_user(&table, this, &made), WEFT_OK) << weft_error_text();
        return made;
    }

private:
    static weft_unit* popped(weft_sched* by) {
        weft_pool* pool = nullptr;
        weft_unit* unit = nullptr;
        EXPECT_EQ(weft_sched_pool_get(by, 0, &pool), WEFT_OK);
        EXPECT_EQ(weft_pool_pop(pool, &unit), WEFT_OK);
        return unit;
    }
};

bool has_hosted() {
    weft_unit* unit = nullptr;
    const auto how = hosted();
    return weft_ult_spawn(
               nullptr, [](void*) {}, nullptr, &how, &unit) == WEFT_OK &&
           weft_unit_join_free(unit) == WEFT_OK;
}

// Units with and without an environment of their own take turns there, and leave in each way.
void take_turns(weft_pool* pool) {
    weft_mutex mutex WEFT_MUTEX_INIT;
    std::vector<std::unique_ptr<Ult>> units;
    const auto how = own_float();
    for (int i = 0; i < 12; ++i) {
        units.push_back(std::make_unique<Ult>(
            [&mutex, i] {
                const int mode = i % 3 == 0 ? FE_TONEAREST : modes[i % 4];
                if (mode != FE_TONEAREST) std::fesetround(mode);
                for (int round = 0; round < 6; ++round) {
                    EXPECT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
                    EXPECT_EQ(weft_unit_yield(), WEFT_OK);
                    EXPECT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
                    EXPECT_EQ(weft_unit_yield(), WEFT_OK);
                    EXPECT_EQ(rounding(), mode);
                }
            },
            i % 3 == 0 ? nullptr : &how, pool));
    }
    for (auto& unit : units) EXPECT_EQ(unit->free(), WEFT_OK);
}

}   // namespace

TEST(OwnFloatBeside, SchedulersOfTheProgramHaveTheirStreams) {
    for (const bool stateless : {true, false}) {
        Runtime runtime;
        Callbacks callbacks;
        weft_pool* const pool = make_pool(WEFT_POOL_SHARED);
        {
            Stream stream(nullptr, callbacks.scheduler(pool, stateless));
            take_turns(pool);
        }
        EXPECT_GT(callbacks.calls, 20);
        EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    }
}

TEST(OwnFloatBeside, PoolsOfTheProgramAreAskedWithTheirStreams) {
    Runtime runtime;
    Callbacks callbacks;
    weft_pool* const pool = callbacks.pool();
    {
        Ult inside(
            [&] {
                const auto how = own_float();
                for (int i = 0; i < 4; ++i) {   // drawn from the pool itself, which only one stream knows
                    Ult unit(
                        [i] {
                            std::fesetround(modes[i]);
                            for (int round = 0; round < 6; ++round) EXPECT_EQ(weft_unit_yield(), WEFT_OK);
                            EXPECT_EQ(rounding(), modes[i]);
                        },
                        &how, pool);
                    EXPECT_EQ(weft_unit_yield(), WEFT_OK);
                }
            },
            nullptr, pool);
        Stream stream(pool);
        EXPECT_EQ(inside.free(), WEFT_OK);
    }
    EXPECT_GT(callbacks.calls, 20);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(OwnFloatBeside, ThreadsThatItHasStartedBeginWithItsStreams) {
    for (const bool is_hosted : {false, true}) {
        Runtime runtime;
        if (is_hosted && !has_hosted()) continue;
        const auto how = is_hosted ? hosted() : own_float();
        Ult starts(
            [] {
                std::fesetround(FE_UPWARD);
                weft_pool* const pool = make_pool(WEFT_POOL_SHARED);
                {
                    Stream stream(pool);
                    Ult there([] { EXPECT_EQ(rounding(), FE_TONEAREST); }, nullptr, pool);
                    EXPECT_EQ(there.free(), WEFT_OK);
                    EXPECT_EQ(weft_blocking([](void*) {}, nullptr), WEFT_OK);   // the first call: a thread is started
                }
                EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
                EXPECT_EQ(rounding(), FE_UPWARD);
            },
            &how);
        EXPECT_EQ(starts.free(), WEFT_OK);
        EXPECT_EQ(weft_blocking([](void*) { EXPECT_EQ(rounding(), FE_TONEAREST); }, nullptr), WEFT_OK);
    }
}

TEST(OwnFloatBeside, WhatOthersCallForItIsCalledWithItsOwn) {
    for (const auto call : {weft_blocking, weft_on_stream_stack}) {
        for (const bool is_hosted : {false, true}) {
            Runtime runtime;
            if (is_hosted && !has_hosted()) continue;
            const auto how = is_hosted ? hosted() : own_float();
            Ult calls(
                [call] {
                    std::fesetround(FE_UPWARD);
                    EXPECT_EQ(call(
                                  [](void*) {
                                      EXPECT_EQ(rounding(), FE_UPWARD);
                                      std::fesetround(FE_DOWNWARD);
                                  },
                                  nullptr),
                              WEFT_OK);
                    EXPECT_EQ(rounding(), FE_DOWNWARD) << "as after any call";
                },
                &how);
            EXPECT_EQ(calls.free(), WEFT_OK);
            EXPECT_EQ(call([](void*) { EXPECT_EQ(rounding(), FE_TONEAREST); }, nullptr), WEFT_OK);
            EXPECT_EQ(rounding(), FE_TONEAREST);
        }
    }
}

namespace {

// Both branches see the mode, wherever they run; the first gives another stream time to take the
// second.
void fork_and_see(int mode) {
    atomic<bool> begun{false};
    weft::invoke(
        [&]() noexcept {
            EXPECT_EQ(rounding(), mode);
            for (int i = 0; i < 100 && !begun.load(); ++i) EXPECT_EQ(weft_unit_yield(), WEFT_OK);
            EXPECT_EQ(rounding(), mode);
        },
        [&]() noexcept {
            begun = true;
            EXPECT_EQ(rounding(), mode);
            weft_unit_yield();
            EXPECT_EQ(rounding(), mode);
        });
    EXPECT_EQ(rounding(), mode);
}

}   // namespace

TEST(OwnFloatBeside, JobsOfItRunWithItsOwnWhoeverTakesThem) {
    for (const std::size_t streams : {1, 2}) {
        Runtime runtime(with_streams(streams));
        std::vector<std::unique_ptr<Ult>> units;
        const auto how = own_float();
        for (const int mode : modes) {
            units.push_back(std::make_unique<Ult>(
                [mode] {
                    std::fesetround(mode);
                    for (int i = 0; i < 20; ++i) fork_and_see(mode);
                },
                &how));
        }
        units.push_back(std::make_unique<Ult>([] {
            for (int i = 0; i < 20; ++i) fork_and_see(FE_TONEAREST);
        }));
        for (auto& unit : units) EXPECT_EQ(unit->free(), WEFT_OK);
        EXPECT_EQ(rounding(), FE_TONEAREST);
    }
}

TEST(OwnFloatBeside, JobsOfTaskletsRunWithTheirOwnersWhoeverTakesThem) {
    Runtime runtime(with_streams(2));
    const auto fork = [](void* raw) {
        const int mode = *static_cast<const int*>(raw);
        if (mode != FE_TONEAREST) std::fesetround(mode);
        for (int i = 0; i < 20; ++i) {
            weft::invoke([mode]() noexcept { EXPECT_EQ(rounding(), mode); },
                         [mode]() noexcept { EXPECT_EQ(rounding(), mode); });
        }
        EXPECT_EQ(rounding(), mode);
    };
    const auto how = own_float();
    weft_unit* row[12] = {};
    int of[12];
    for (int i = 0; i < 12; ++i) {
        of[i] = i % 3 == 0 ? FE_TONEAREST : modes[i % 4];
        ASSERT_EQ(weft_tasklet_spawn(nullptr, fork, &of[i], i % 3 == 0 ? nullptr : &how, &row[i]), WEFT_OK);
    }
    EXPECT_EQ(weft_unit_join_free_many(row, 12), WEFT_OK);
    EXPECT_EQ(rounding(), FE_TONEAREST);
}

namespace {

int seen_there = -1;

// Offers a job for a moment in which another stream may take it.
void offer_for_a_moment() {
    atomic<bool> begun{false};
    weft::invoke(
        [&]() noexcept {
            const std::uint64_t until_ns = weft_now_ns() + ms;
            while (!begun.load() && weft_now_ns() < until_ns) weft::invoke([] {}, [] {});
        },
        [&]() noexcept {
            begun = true;
            seen_there = rounding();
        });
}

}   // namespace

// A tasklet that waits for a job of its own searches for another unit's job for a moment, and runs
// that on its own stack.
TEST(OwnFloatBeside, AJobThatATaskletRunsForAnotherRunsWithTheOtherOnes) {
    Runtime runtime(with_streams(2));
    for (int round = 0; round < 20; ++round) {
        const bool has_own = round % 4 != 0;
        const auto how = own_float();
        weft_unit* tasklet = nullptr;
        static int seen_here;
        seen_here = seen_there = -1;
        ASSERT_EQ(weft_tasklet_spawn(
                      nullptr,
                      [](void* own) {
                          if (own != nullptr) std::fesetround(FE_UPWARD);
                          have_taken([own] {
                              if (own != nullptr) std::fesetround(FE_DOWNWARD);
                              offer_for_a_moment();
                          });
                          seen_here = rounding();
                      },
                      has_own ? &runtime : nullptr, has_own ? &how : nullptr, &tasklet),
                  WEFT_OK);
        EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
        EXPECT_EQ(seen_there, has_own ? FE_DOWNWARD : FE_TONEAREST);
        EXPECT_EQ(seen_here, has_own ? FE_UPWARD : FE_TONEAREST);
    }
    EXPECT_EQ(rounding(), FE_TONEAREST);
}

namespace {

// Members of a team, each with a mode of its own, if they may have one.
void team_of(bool each_its_own) {
    static bool own;
    own = each_its_own;
    EXPECT_EQ(weft_spmd(
                  5,
                  [](void*) {
                      const int mode = own ? modes[weft_spmd_member() % 4] : FE_TONEAREST;
                      EXPECT_EQ(rounding(), FE_TONEAREST);
                      if (own) std::fesetround(mode);
                      for (int i = 0; i < 10; ++i) {
                          EXPECT_EQ(weft_unit_yield(), WEFT_OK);
                          EXPECT_EQ(rounding(), mode);
                      }
                  },
                  nullptr),
              WEFT_OK)
        << weft_error_text();
}

}   // namespace

TEST(OwnFloatBeside, TeamsThatItHasCalledBeginWithTheirStreams) {
    for (const std::size_t streams : {1, 2}) {
        Runtime runtime(with_streams(streams));
        const auto how = own_float();
        Ult caller(
            [] {
                std::fesetround(FE_UPWARD);
                team_of(false);
                EXPECT_EQ(rounding(), FE_UPWARD);
            },
            &how);
        EXPECT_EQ(caller.free(), WEFT_OK);
        EXPECT_EQ(rounding(), FE_TONEAREST);
    }
}

TEST(OwnFloatBeside, MembersOfTeamsHaveTheirOwnByTheSetting) {
    if ((weft_features() & WEFT_FEATURE_OBSERVERS) == 0) GTEST_SKIP() << "it needs them";
    const Variable chosen("WEFT_OWN_FLOAT", "1");
    for (const std::size_t streams : {1, 2}) {
        Runtime runtime(with_streams(streams));
        for (int i = 0; i < 3; ++i) team_of(true);   // contexts of teams are reused
        EXPECT_EQ(rounding(), FE_TONEAREST);
    }
}

TEST(OwnFloatBeside, HelpersOfAnArenaRunItsJobsWithItsOwn) {
    Runtime runtime(with_streams(2));
    const auto how = own_float();
    Ult caller(
        [] {
            std::fesetround(FE_DOWNWARD);
            weft::arena arena(2);
            arena.execute([] {
                EXPECT_EQ(rounding(), FE_DOWNWARD);
                for (int i = 0; i < 10; ++i) fork_and_see(FE_DOWNWARD);
            });
            EXPECT_EQ(rounding(), FE_DOWNWARD);
        },
        &how);
    EXPECT_EQ(caller.free(), WEFT_OK);
    EXPECT_EQ(rounding(), FE_TONEAREST);
}

TEST(OwnFloatBeside, UnitsThatItGoesToByTheirNamesHaveNoneOfIt) {
    Runtime runtime;
    const auto how = own_float();
    bool over = false;
    Ult plain([&] {
        while (!over) {
            EXPECT_EQ(rounding(), FE_TONEAREST);
            EXPECT_EQ(weft_unit_yield(), WEFT_OK);
        }
    });
    Ult other(
        [&] {
            std::fesetround(FE_DOWNWARD);
            while (!over) {
                EXPECT_EQ(weft_unit_yield(), WEFT_OK);
                EXPECT_EQ(rounding(), FE_DOWNWARD);
            }
        },
        &how);
    Ult goes(
        [&] {
            std::fesetround(FE_UPWARD);
            for (int i = 0; i < 6; ++i) {
                EXPECT_EQ(weft_unit_yield_to(plain.handle()), WEFT_OK);
                EXPECT_EQ(rounding(), FE_UPWARD);
                EXPECT_EQ(weft_unit_yield_to(other.handle()), WEFT_OK);
                EXPECT_EQ(rounding(), FE_UPWARD);
            }
            over = true;
        },
        &how);
    EXPECT_EQ(goes.free(), WEFT_OK);
    EXPECT_EQ(other.free(), WEFT_OK);
    EXPECT_EQ(plain.free(), WEFT_OK);
    EXPECT_EQ(rounding(), FE_TONEAREST);
}

TEST(OwnFloatBeside, UnitsThatItRunsAsASchedulerHaveNoneOfIt) {
    Runtime runtime;
    weft_pool* const pool = make_pool(WEFT_POOL_SHARED);
    const auto how = own_float();
    Ult runs(
        [&] {
            std::fesetround(FE_UPWARD);
            for (const weft_unit_options* const of : {static_cast<const weft_unit_options*>(nullptr), &how}) {
                std::fesetround(FE_UPWARD);
                Ult child(
                    [of] {
                        EXPECT_EQ(rounding(), of == nullptr ? FE_TONEAREST : FE_UPWARD) << "as where it was spawned";
                        if (of != nullptr) std::fesetround(FE_DOWNWARD);
                    },
                    of, pool);
                weft_unit* unit = nullptr;
                EXPECT_EQ(weft_pool_pop(pool, &unit), WEFT_OK);
                EXPECT_EQ(weft_unit_run(unit), WEFT_OK) << weft_error_text();
                EXPECT_EQ(rounding(), FE_UPWARD);
                EXPECT_EQ(child.free(), WEFT_OK);
            }
        },
        &how);
    EXPECT_EQ(runs.free(), WEFT_OK);
    EXPECT_EQ(rounding(), FE_TONEAREST);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(OwnFloatBeside, HostedUnitsHaveNoneOfIt) {
    Runtime runtime;
    if (!has_hosted()) GTEST_SKIP() << "there are none here";
    const auto native = own_float();
    const auto host = hosted();
    std::vector<std::unique_ptr<Ult>> units;
    for (int i = 0; i < 12; ++i) {
        const auto body = [i] {
            EXPECT_EQ(rounding(), FE_TONEAREST);
            const int mode = i % 3 == 0 ? FE_TONEAREST : modes[i % 4];
            if (mode != FE_TONEAREST) std::fesetround(mode);
            for (int round = 0; round < 10; ++round) {
                EXPECT_EQ(weft_unit_yield(), WEFT_OK);
                EXPECT_EQ(rounding(), mode);
            }
        };
        units.push_back(std::make_unique<Ult>(body, i % 3 == 0 ? nullptr : i % 3 == 1 ? &native : &host));
    }
    for (auto& unit : units) EXPECT_EQ(unit->free(), WEFT_OK);
    EXPECT_EQ(rounding(), FE_TONEAREST);
}

TEST(OwnFloatBeside, GuestsHaveNoneOfIt) {
    Runtime runtime;
    Doing guest(As::thread, [] {
        std::fesetround(FE_TOWARDZERO);
        EXPECT_EQ(weft_guest_enter(), WEFT_OK) << weft_error_text();
        {
            const auto how = own_float();
            Ult unit(
                [] {
                    EXPECT_EQ(rounding(), FE_TOWARDZERO) << "as where it was spawned";
                    std::fesetround(FE_UPWARD);
                    EXPECT_EQ(weft_unit_yield(), WEFT_OK);
                    EXPECT_EQ(rounding(), FE_UPWARD);
                },
                &how);
            EXPECT_EQ(weft_unit_yield(), WEFT_OK);
            EXPECT_EQ(rounding(), FE_TOWARDZERO);
            EXPECT_EQ(unit.free(), WEFT_OK);
        }
        EXPECT_EQ(rounding(), FE_TOWARDZERO);
        EXPECT_EQ(weft_guest_leave(), WEFT_OK);
    });
    guest.join();
    EXPECT_EQ(rounding(), FE_TONEAREST);
}

namespace {

int seen_at_end = -1;

}   // namespace

TEST(OwnFloatBeside, DestructorsOfItsValuesRunWithItsOwn) {
    Runtime runtime;
    weft_key* key = nullptr;
    ASSERT_EQ(weft_key_create([](void*) { seen_at_end = std::fegetround(); }, &key), WEFT_OK);
    const auto how = own_float();
    for (const bool exits : {false, true}) {
        Ult unit(
            [&] {
                std::fesetround(FE_UPWARD);
                EXPECT_EQ(weft_local_set(key, &seen_at_end), WEFT_OK);
                if (exits) weft_unit_exit();
            },
            &how);
        EXPECT_EQ(unit.free(), WEFT_OK);
        EXPECT_EQ(std::exchange(seen_at_end, -1), FE_UPWARD);
        EXPECT_EQ(rounding(), FE_TONEAREST);
    }
    EXPECT_EQ(weft_key_free(key), WEFT_OK);
}

// A key that follows units also keeps others from being called in their place; when it no longer
// follows, it must lift only its own restriction.
TEST(OwnFloatBeside, NobodyIsCalledInItsPlaceOnceAKeyNoLongerFollowsIt) {
    Runtime runtime;
    weft_key_options options{};
    options.size = sizeof options;
    options.leaves = options.returns = [](void*) {};
    weft_key* key = nullptr;
    ASSERT_EQ(weft_key_create_with(&options, &key), WEFT_OK) << weft_error_text();
    const auto how = own_float();
    Ult unit(
        [&] {
            EXPECT_EQ(weft_local_set(key, &options), WEFT_OK);
            EXPECT_EQ(weft_local_set(key, nullptr), WEFT_OK);
            std::fesetround(FE_UPWARD);
            Ult child([] { EXPECT_EQ(rounding(), FE_TONEAREST); });
            EXPECT_EQ(child.free(), WEFT_OK);
        },
        &how);
    EXPECT_EQ(unit.free(), WEFT_OK);
    EXPECT_EQ(weft_key_free(key), WEFT_OK);
}
