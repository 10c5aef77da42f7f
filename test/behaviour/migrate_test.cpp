// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Migration requests: when a unit moves, who is notified, and that it is joined and freed like any
// other.
#include <memory>
#include <thread>
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/several.hpp"

using namespace weft_test;

namespace {

weft_pool* pool_of(const Ult& unit) {
    weft_pool* pool = nullptr;
    EXPECT_EQ(weft_unit_pool_get(unit.handle(), &pool), WEFT_OK);
    return pool;
}

void go_to(weft_unit* unit, weft_pool* pool) {
    EXPECT_EQ(weft_unit_migrate_to_pool(unit, pool), WEFT_OK) << weft_error_text();
}

// A user-defined pool: a list under a lock.
class Own {
public:
    Own() {
        weft_pool_ops ops{};
        ops.size = sizeof ops;
        ops.push = [](void* self, weft_unit* unit) {
            auto& own = *static_cast<Own*>(self);
            const std::lock_guard guard(own.lock_);
            own.units_.push_back(unit);
        };
        ops.pop = [](void* self) -> weft_unit* {
            auto& own = *static_cast<Own*>(self);
            const std::lock_guard guard(own.lock_);
            if (own.units_.empty()) return nullptr;
            weft_unit* first = own.units_.front();
            own.units_.erase(own.units_.begin());
            return first;
        };
        ops.length = [](const void* self) {
            auto& own = *static_cast<const Own*>(self);
            const std::lock_guard guard(own.lock_);
            return own.units_.size();
        };
        EXPECT_EQ(weft_pool_create_user(&ops, this, &pool), WEFT_OK);
    }
    ~Own() { EXPECT_EQ(weft_pool_free(pool), WEFT_OK) << weft_error_text(); }

    weft_pool* pool = nullptr;

private:
    mutable std::mutex lock_;
    std::vector<weft_unit*> units_;
};

}   // namespace

TEST(Migrate, AUnitThatHasNotStartedRunsWhereItWasSent) {
    Runtime runtime;
    Stream there;
    weft_stream* ran_on = nullptr;
    Ult unit([&] { ran_on = weft_stream_self(); });
    go_to(unit.handle(), there.pool());
    EXPECT_EQ(pool_of(unit), weft_test::pool_of(0)) << "it was only asked";
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_EQ(ran_on, there.handle());
    EXPECT_EQ(pool_of(unit), there.pool());
}

TEST(Migrate, ATaskletThatHasNotStartedRunsWhereItWasSentAndOneThatHasIsRefused) {
    Runtime runtime;
    Stream there;
    static weft_stream* ran_on;
    static weft_status refused;
    static weft_pool* target;
    target = there.pool();
    ran_on = nullptr;
    weft_unit* unit = nullptr;
    ASSERT_EQ(weft_tasklet_spawn(
                  nullptr,
                  [](void*) {
                      ran_on = weft_stream_self();
                      refused = weft_unit_migrate_to_pool(weft_unit_self(), weft_test::pool_of(0));
                  },
                  nullptr, nullptr, &unit),
              WEFT_OK);
    go_to(unit, target);
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    EXPECT_EQ(ran_on, there.handle());
    EXPECT_EQ(refused, WEFT_WRONG_STATE);
}

TEST(Migrate, ARunningUnitGoesInsteadOfYielding) {
    Runtime runtime;
    Stream there;
    std::vector<weft_stream*> on;
    Ult unit([&] {
        on.push_back(weft_stream_self());
        go_to(weft_unit_self(), there.pool());
        on.push_back(weft_stream_self());
        weft_unit_yield();
        on.push_back(weft_stream_self());
        weft_unit_yield();
        on.push_back(weft_stream_self());
    });
    EXPECT_EQ(unit.join(), WEFT_OK);
    weft_stream* const here = weft_stream_self();
    EXPECT_EQ(on, (std::vector<weft_stream*>{here, here, there.handle(), there.handle()}));
}

TEST(Migrate, ASuspendedUnitGoesWhenItIsResumed) {
    Runtime runtime;
    Stream there;
    Bed bed;
    weft_stream* woke_on = nullptr;
    Ult unit([&] {
        bed.sleep();
        woke_on = weft_stream_self();
    });
    until([&] { return bed.occupied(); });
    go_to(unit.handle(), there.pool());
    EXPECT_EQ(bed.wake(), WEFT_OK);
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_EQ(woke_on, there.handle());
}

TEST(Migrate, AUnitThatWaitsForAnEventGoesWhenItsWaitIsOver) {
    Runtime runtime;
    Stream there;
    weft_event event = WEFT_EVENT_INIT;
    weft_stream* woke_on = nullptr;
    Ult unit([&] {
        EXPECT_EQ(weft_event_wait(&event, nullptr), WEFT_OK);
        woke_on = weft_stream_self();
    });
    until([&] { return unit.state() == WEFT_UNIT_SUSPENDED; });
    go_to(unit.handle(), there.pool());
    EXPECT_EQ(weft_event_set(&event, nullptr), WEFT_OK);
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_EQ(woke_on, there.handle());
}

TEST(Migrate, AJoinerGoesWhenItsWaitIsOver) {
    Runtime runtime;
    Stream there;
    for (const bool called : {false, true}) {
        Bed bed;
        weft_stream* woke_on = nullptr;
        auto lazy = options();
        lazy.kind = WEFT_KIND_LSA;   // a unit that its joiner may call
        Ult unit([&] {
            EXPECT_EQ(Ult([] {}, &lazy).free(), WEFT_OK);   // leaves its stack, on which the next one is called
            Ult child([&] { bed.sleep(); }, &lazy);
            if (!called) weft_unit_yield();   // the scheduler begins the child
            EXPECT_EQ(child.free(), WEFT_OK);
            if (called) weft_unit_yield();   // a unit that has called its child moves at its next yield
            woke_on = weft_stream_self();
        });
        std::thread helper([&] {   // so that only the child is ready when the unit waits for it
            until([&] { return bed.occupied() && unit.state() == WEFT_UNIT_SUSPENDED; });
            go_to(unit.handle(), there.pool());
            EXPECT_EQ(bed.wake(), WEFT_OK);
        });
        EXPECT_EQ(unit.join(), WEFT_OK);
        helper.join();
        EXPECT_EQ(woke_on, there.handle());
    }
}

TEST(Migrate, FromEveryPoolToEveryPoolAndBackWithJoinersOfAllSorts) {
    Runtime runtime;
    Own own;
    weft_pool* pools[] = {make_pool(WEFT_POOL_PRIVATE), make_pool(WEFT_POOL_SHARED), make_pool(WEFT_POOL_DEQUE),
                          own.pool, make_pool(WEFT_POOL_PRIVATE)};
    {
        std::vector<std::unique_ptr<Stream>> streams;
        for (weft_pool* pool : pools) streams.push_back(std::make_unique<Stream>(pool));
        for (weft_pool* from : pools) {
            for (weft_pool* to : pools) {
                if (from == to) continue;
                for (int joiner = 0; joiner < 4; ++joiner) {
                    Ult unit(
                        [&] {
                            for (weft_pool* next : {to, from, to}) {
                                go_to(weft_unit_self(), next);
                                weft_unit_yield();
                                weft_pool* now = nullptr;
                                EXPECT_EQ(weft_unit_pool_get(weft_unit_self(), &now), WEFT_OK);
                                EXPECT_EQ(now, next);
                                weft_unit_yield();
                            }
                        },
                        nullptr, from);
                    if (joiner == 0) {
                        EXPECT_EQ(unit.join(), WEFT_OK);
                    } else if (joiner == 1) {
                        std::thread([&] { EXPECT_EQ(unit.join(), WEFT_OK); }).join();
                    } else {   // a unit of the source pool, or of the target pool
                        Ult neighbour([&] { EXPECT_EQ(unit.join(), WEFT_OK); }, nullptr, joiner == 2 ? from : to);
                        EXPECT_EQ(neighbour.join(), WEFT_OK);
                    }
                }
            }
        }
    }
    for (weft_pool* pool : pools) {
        if (pool == own.pool) continue;
        EXPECT_EQ(weft_pool_free(pool), WEFT_OK) << weft_error_text();
    }
    EXPECT_EQ(units_alive(), 1u);
}

// The unit is local to a private pool, whose stream answers joiners by remote calls, until it moves
// to a pool where joiners announce themselves.
TEST(Migrate, AJoinerFromElsewhereLearnsOfTheEndWhereverItMeetsTheUnit) {
    Runtime runtime;
    weft_pool* const home = make_pool(WEFT_POOL_PRIVATE);
    weft_pool* const target = make_pool(WEFT_POOL_SHARED);
    {
        Stream first(home), second(target);
        for (int i = 0; i < 40; ++i) {
            Ult unit(
                [&] {
                    go_to(weft_unit_self(), target);
                    weft_unit_yield();
                },
                nullptr, home);
            EXPECT_EQ(unit.join(), WEFT_OK);
        }
    }
    for (weft_pool* pool : {home, target}) EXPECT_EQ(weft_pool_free(pool), WEFT_OK) << weft_error_text();
}

// A unit that returns to the private pool it was created in is joined there by units of that pool,
// detached, and joined by many.
TEST(Migrate, AUnitThatCameBackEndsLikeOthers) {
    Runtime runtime;
    Stream there;
    weft_pool* const here = weft_test::pool_of(0);
    auto round_trip = [&] {
        go_to(weft_unit_self(), there.pool());
        weft_unit_yield();
        go_to(weft_unit_self(), here);
        weft_unit_yield();
    };
    for (int i = 0; i < 20; ++i) {
        Ult one(round_trip), two(round_trip), three(round_trip);
        weft_unit* many[] = {one.handle(), two.handle(), three.handle()};
        EXPECT_EQ(weft_unit_join_many(many, 3), WEFT_OK);
    }
    static atomic<int> ended;
    static weft_pool* target;
    ended = 0;
    target = there.pool();
    for (int i = 0; i < 20; ++i) {
        weft_unit* unit = nullptr;
        ASSERT_EQ(weft_ult_spawn(
                      nullptr,
                      [](void*) {
                          go_to(weft_unit_self(), target);
                          weft_unit_yield();
                          ++ended;
                      },
                      nullptr, nullptr, i % 2 == 0 ? &unit : nullptr),
                  WEFT_OK);
        if (unit != nullptr) {
            weft_unit_yield();
            EXPECT_EQ(weft_unit_detach(unit), WEFT_OK);
        }
    }
    until([] { return ended == 20; });
    until([] { return units_alive() == 1; });
}

TEST(Migrate, AStreamASchedulerAndAnywhereStandForAPool) {
    Runtime runtime;
    Stream there;
    EXPECT_EQ(weft_unit_migrate_to_stream(weft_unit_self(), there.handle()), WEFT_WRONG_STATE);
    std::vector<weft_stream*> on;
    auto look = [&] {
        weft_unit_yield();
        on.push_back(weft_stream_self());
    };
    weft_pool* pools[] = {make_pool(WEFT_POOL_SHARED), make_pool(WEFT_POOL_SHARED)};
    weft_sched* sched = nullptr;
    ASSERT_EQ(weft_sched_create(WEFT_SCHED_BASIC, pools, 2, &sched), WEFT_OK);
    {
        Stream third(nullptr, sched);
        Ult unit([&] {
            weft_unit* const self = weft_unit_self();
            EXPECT_EQ(weft_unit_migrate_to_stream(self, there.handle()), WEFT_OK);
            look();
            EXPECT_EQ(weft_unit_migrate_to_sched(self, sched), WEFT_OK);
            look();
            EXPECT_EQ(weft_unit_migrate_to_sched(self, sched), WEFT_INVALID) << "it is in one of its pools";
            EXPECT_EQ(weft_unit_migrate(self), WEFT_OK);
            look();
        });
        EXPECT_EQ(unit.join(), WEFT_OK);
        ASSERT_EQ(on.size(), 3u);
        EXPECT_EQ(on[0], there.handle());
        EXPECT_EQ(on[1], third.handle());
        EXPECT_NE(on[2], third.handle());
    }
    for (weft_pool* pool : pools) EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(Migrate, AnywhereNeedsAnotherStream) {
    Runtime runtime;
    Ult unit([] { EXPECT_EQ(weft_unit_migrate(weft_unit_self()), WEFT_UNSUPPORTED); });
    EXPECT_EQ(unit.join(), WEFT_OK);
}

TEST(Migrate, TheCallbackRunsOnceForEachRequestThatWasHeeded) {
    Runtime runtime;
    Stream there;
    struct Seen {
        int times = 0;
        weft_unit* unit = nullptr;
        weft_pool* pool = nullptr;
        weft_stream* on = nullptr;
    } seen;
    auto chosen = options();
    chosen.on_migration = [](weft_unit* unit, void* argument) {
        auto& to = *static_cast<Seen*>(argument);
        ++to.times;
        to.unit = unit;
        weft_unit_pool_get(unit, &to.pool);
        to.on = weft_stream_self();
    };
    chosen.on_migration_argument = &seen;
    Ult unit(
        [&] {
            weft_unit* const self = weft_unit_self();
            weft_pool* const here = weft_test::pool_of(0);
            go_to(self, there.pool());
            go_to(self, there.pool());   // replaces the first request
            EXPECT_EQ(seen.times, 0);
            weft_unit_yield();
            EXPECT_EQ(seen.times, 1);
            EXPECT_EQ(seen.unit, self);
            EXPECT_EQ(seen.pool, there.pool());
            EXPECT_EQ(seen.on, weft_stream_at(0)) << "on the stream that it leaves";
            weft_unit_yield();
            EXPECT_EQ(seen.times, 1);
            EXPECT_EQ(weft_unit_on_migration(self, nullptr, nullptr), WEFT_OK);
            go_to(self, here);
            weft_unit_yield();
            EXPECT_EQ(weft_stream_self(), weft_stream_at(0));
            EXPECT_EQ(seen.times, 1);
        },
        &chosen);
    EXPECT_EQ(unit.join(), WEFT_OK);
}

TEST(Migrate, TheBlockingFormReturnsWhenTheUnitHasGone) {
    Runtime runtime;
    Stream from, to;
    for (const bool outside : {false, true}) {
        atomic<bool> stop{false};
        Ult unit(
            [&] {
                while (!stop) weft_unit_yield();
            },
            nullptr, from.pool());
        auto move = [&] {
            go_to(unit.handle(), to.pool());
            EXPECT_EQ(weft_unit_migrate_wait(unit.handle()), WEFT_OK);
            EXPECT_EQ(pool_of(unit), to.pool());
            go_to(unit.handle(), from.pool());   // no longer local by now
            EXPECT_EQ(weft_unit_migrate_wait(unit.handle()), WEFT_OK);
            EXPECT_EQ(pool_of(unit), from.pool());
            EXPECT_EQ(weft_unit_migrate_wait(unit.handle()), WEFT_OK) << "nothing is asked for";
        };
        if (outside) {
            std::thread(move).join();
        } else {
            move();
        }
        stop = true;
        EXPECT_EQ(unit.join(), WEFT_OK);
    }
}

TEST(Migrate, AUnitWaitsForItsOwnMoveByMaking) {
    Runtime runtime;
    Stream there;
    Ult unit([&] {
        go_to(weft_unit_self(), there.pool());
        EXPECT_EQ(weft_unit_migrate_wait(weft_unit_self()), WEFT_OK);
        EXPECT_EQ(weft_stream_self(), there.handle());
        EXPECT_EQ(weft_unit_migrate_wait(weft_unit_self()), WEFT_OK);
        EXPECT_EQ(weft_stream_self(), there.handle());
    });
    EXPECT_EQ(unit.join(), WEFT_OK);
}

TEST(Migrate, WhoWaitsForTheMoveOfAUnitThatEndsLearnsIt) {
    Runtime runtime;
    Stream there;
    for (const auto kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED}) {
        weft_pool* pool = make_pool(kind);
        {
            Stream from(pool);
            for (const bool outside : {false, true}) {
                atomic<bool> running{false}, stop{false};
                Ult unit(
                    [&] {
                        running = true;
                        while (!stop) std::this_thread::yield();
                    },
                    nullptr, pool);
                until_set(running);
                go_to(unit.handle(), there.pool());
                std::thread stopper([&] {
                    std::this_thread::yield();
                    stop = true;
                });
                auto wait = [&] { EXPECT_EQ(weft_unit_migrate_wait(unit.handle()), WEFT_WRONG_STATE); };
                if (outside) {
                    std::thread(wait).join();
                } else {
                    wait();
                }
                stopper.join();
                EXPECT_EQ(unit.join(), WEFT_OK);
                EXPECT_EQ(pool_of(unit), pool);
                EXPECT_EQ(weft_unit_migrate_wait(unit.handle()), WEFT_WRONG_STATE);
            }
        }
        EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    }
}

TEST(Migrate, AUnitInADomainGoesWhenItIsBack) {
    auto settings = with_streams(2);
    settings.pool = WEFT_POOL_PRIVATE;
    Runtime runtime(settings);
    Ult unit([] {
        EXPECT_EQ(weft_unit_migrate_to_stream(weft_unit_self(), weft_stream_at(1)), WEFT_OK);
        EXPECT_EQ(weft_spmd(
                      2,
                      [](void*) {
                          for (int i = 0; i < 5; ++i) weft_unit_yield();
                      },
                      nullptr),
                  WEFT_OK);
        weft_unit_yield();
        EXPECT_EQ(weft_stream_self(), weft_stream_at(1));
    });
    EXPECT_EQ(unit.free(), WEFT_OK);
}

TEST(Migrate, ACancelledUnitDoesNotGo) {
    Runtime runtime;
    Stream there;
    Ult unit([] {});
    go_to(unit.handle(), there.pool());
    EXPECT_EQ(weft_unit_cancel(unit.handle()), WEFT_OK);
    EXPECT_EQ(unit.outcome(), WEFT_OUTCOME_CANCELLED);
    EXPECT_EQ(pool_of(unit), weft_test::pool_of(0));
}

TEST(Migrate, WhatIsRefusedHasItsStatus) {
    Runtime runtime;
    Stream there;
    bool migratable = false;
    EXPECT_EQ(weft_unit_migrate_to_pool(nullptr, there.pool()), WEFT_INVALID);
    EXPECT_EQ(weft_unit_migrate_to_stream(nullptr, there.handle()), WEFT_INVALID);
    EXPECT_EQ(weft_unit_migrate_to_sched(nullptr, nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_unit_migrate(nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_unit_migrate_wait(nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_unit_on_migration(nullptr, nullptr, nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_unit_migratable_set(nullptr, true), WEFT_INVALID);
    EXPECT_EQ(weft_unit_migratable_get(nullptr, &migratable), WEFT_INVALID);
    weft_unit* const primary = weft_unit_self();
    EXPECT_EQ(weft_unit_migrate_to_pool(primary, there.pool()), WEFT_WRONG_STATE);
    EXPECT_EQ(weft_unit_migratable_set(primary, true), WEFT_WRONG_STATE);
    EXPECT_EQ(weft_unit_migratable_get(primary, &migratable), WEFT_OK);
    EXPECT_FALSE(migratable);
    auto chosen = options();
    chosen.not_migratable = true;
    Ult unit([] {}, &chosen);
    EXPECT_EQ(weft_unit_migrate_to_pool(unit.handle(), nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_unit_migratable_get(unit.handle(), &migratable), WEFT_OK);
    EXPECT_FALSE(migratable);
    EXPECT_EQ(weft_unit_migrate_to_pool(unit.handle(), there.pool()), WEFT_UNSUPPORTED);
    EXPECT_EQ(weft_unit_migratable_set(unit.handle(), true), WEFT_OK);
    EXPECT_EQ(weft_unit_migrate_to_pool(unit.handle(), weft_test::pool_of(0)), WEFT_INVALID) << "it is there";
    EXPECT_EQ(weft_unit_migrate_to_pool(unit.handle(), there.pool()), WEFT_OK);
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_EQ(weft_unit_migrate_to_pool(unit.handle(), weft_test::pool_of(0)), WEFT_WRONG_STATE);
    weft_unit* tasklet = nullptr;
    static weft_status status;
    static weft_unit* other;
    Ult waits([] {});
    other = waits.handle();
    go_to(other, there.pool());
    ASSERT_EQ(weft_tasklet_spawn(
                  nullptr, [](void*) { status = weft_unit_migrate_wait(other); }, nullptr, nullptr, &tasklet),
              WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
    EXPECT_EQ(status, WEFT_WRONG_KIND);
}
