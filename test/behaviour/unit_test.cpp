// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The life of units on one stream, through the C interface.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/support.hpp"

using namespace weft_test;

TEST(Unit, RunsItsBodyOnceAndIsJoined) {
    Runtime runtime;
    int runs = 0;
    Ult unit([&] { ++runs; });
    EXPECT_EQ(runs, 0) << "spawning is parent-first";
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(unit.state(), WEFT_UNIT_DONE);
    EXPECT_EQ(unit.join(), WEFT_OK) << "a unit that has ended can be joined again";
}

TEST(Unit, APrivatePoolIsFirstInFirstOut) {
    Runtime runtime;
    std::vector<int> order;
    Ult a([&] {
        order.push_back(1);
        weft_unit_yield();
        order.push_back(4);
    });
    Ult b([&] {
        order.push_back(2);
        weft_unit_yield();
        order.push_back(5);
    });
    Ult c([&] { order.push_back(3); });
    c.free();
    b.free();
    a.free();
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4, 5}));
}

TEST(Unit, TryJoinTellsWhetherItHasEnded) {
    Runtime runtime;
    Ult unit([] {});
    EXPECT_EQ(weft_unit_try_join(unit.handle()), WEFT_BUSY);
    weft_unit_yield();
    EXPECT_EQ(weft_unit_try_join(unit.handle()), WEFT_OK);
}

TEST(Unit, ManyAreSpawnedJoinedAndFreedAtOnce) {
    Runtime runtime;
    constexpr std::size_t count = 1000;
    static std::size_t sum;
    sum = 0;
    std::vector<void*> arguments(count);
    for (std::size_t i = 0; i < count; ++i) arguments[i] = reinterpret_cast<void*>(i);
    std::vector<weft_unit*> units(count);
    auto add = [](void* number) { sum += reinterpret_cast<std::size_t>(number); };
    ASSERT_EQ(weft_unit_spawn_many(nullptr, count, add, arguments.data(), nullptr, units.data()), WEFT_OK);
    EXPECT_EQ(weft_unit_join_many(units.data(), count), WEFT_OK);
    EXPECT_EQ(sum, count * (count - 1) / 2);
    EXPECT_EQ(weft_unit_join_free_many(units.data(), count), WEFT_OK);
    EXPECT_EQ(units[0], nullptr);
}

TEST(Unit, JoinManySuspendsOnceHoweverManyTheyAre) {
    Runtime runtime;
    std::vector<std::unique_ptr<Ult>> made;
    std::vector<weft_unit*> units;
    for (int i = 0; i < 100; ++i) {
        made.push_back(std::make_unique<Ult>([] { weft_unit_yield(); }));
        units.push_back(made.back()->handle());
    }
    const std::uint64_t before = counter("/units/count/suspended");
    EXPECT_EQ(weft_unit_join_many(units.data(), units.size()), WEFT_OK);
    EXPECT_EQ(counter("/units/count/suspended") - before, 1u);
}

TEST(Unit, ADetachedOneFreesItself) {
    Runtime runtime;
    static int runs;
    runs = 0;
    ASSERT_EQ(weft_ult_spawn(
                  nullptr, [](void*) { ++runs; }, nullptr, nullptr, nullptr),
              WEFT_OK);
    Ult late([] { ++runs; });
    weft_unit* handle = nullptr;
    ASSERT_EQ(weft_ult_spawn(
                  nullptr, [](void*) { ++runs; }, nullptr, nullptr, &handle),
              WEFT_OK);
    EXPECT_EQ(weft_unit_detach(handle), WEFT_OK);
    weft_unit_yield();
    EXPECT_EQ(runs, 3);
    EXPECT_EQ(units_alive(), 2u) << "the primary unit and the one with a handle";
}

TEST(UnitDeathTest, ADetachedOneThatThrowsEndsTheProcess) {
    testing::FLAGS_gtest_death_test_style = "fast";
    EXPECT_DEATH(
        {
            Runtime runtime;
            weft_ult_spawn(
                nullptr, [](void*) { throw std::runtime_error("nobody will know"); }, nullptr, nullptr, nullptr);
            weft_unit_yield();
        },
        "nobody will know");
}

TEST(Unit, DetachingOneThatHasEndedFreesIt) {
    Runtime runtime;
    weft_unit* handle = nullptr;
    ASSERT_EQ(weft_ult_spawn(
                  nullptr, [](void*) {}, nullptr, nullptr, &handle),
              WEFT_OK);
    ASSERT_EQ(weft_unit_join(handle), WEFT_OK);
    EXPECT_EQ(weft_unit_detach(handle), WEFT_OK);
    EXPECT_EQ(units_alive(), 1u);
}

TEST(Unit, SuspendPublishesOnceItsStackIsLeftAndResumeMakesItReady) {
    Runtime runtime;
    static weft_unit* published;
    published = nullptr;
    bool resumed = false;
    Ult sleeper([&] {
        EXPECT_EQ(weft_unit_suspend([](weft_unit* unit, void*) { published = unit; }, nullptr), WEFT_OK);
        resumed = true;
    });
    weft_unit_yield();
    ASSERT_EQ(published, sleeper.handle());
    EXPECT_EQ(sleeper.state(), WEFT_UNIT_SUSPENDED);
    EXPECT_EQ(weft_unit_resume(published), WEFT_OK);
    EXPECT_EQ(weft_unit_resume(published), WEFT_WRONG_STATE) << "it is ready already";
    EXPECT_EQ(sleeper.join(), WEFT_OK);
    EXPECT_TRUE(resumed);
}

TEST(Unit, AResumeFromInsidePublishIsNotLost) {
    Runtime runtime;
    int steps = 0;
    Ult unit([&] {
        weft_unit_suspend([](weft_unit* self, void*) { EXPECT_EQ(weft_unit_resume(self), WEFT_OK); }, nullptr);
        ++steps;
    });
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_EQ(steps, 1);
}

TEST(Unit, OneThatWaitsInAJoinIsNotResumedByAnybody) {
    Runtime runtime;
    static weft_unit* inner;
    Ult blocked([] { weft_unit_suspend([](weft_unit* unit, void*) { inner = unit; }, nullptr); });
    Ult joiner([&] { EXPECT_EQ(blocked.join(), WEFT_OK); });
    weft_unit_yield();
    EXPECT_EQ(weft_unit_resume(joiner.handle()), WEFT_WRONG_STATE);
    EXPECT_EQ(weft_unit_resume(inner), WEFT_OK);
    EXPECT_EQ(joiner.join(), WEFT_OK);
}

TEST(Unit, YieldToRunsTheOneItNames) {
    Runtime runtime;
    std::vector<int> order;
    Ult first([&] { order.push_back(1); });
    Ult second([&] { order.push_back(2); });
    EXPECT_EQ(weft_unit_yield_to(second.handle()), WEFT_OK);
    EXPECT_EQ(order, (std::vector<int>{2, 1})) << "the caller went to the end of its pool, behind the first";
    EXPECT_EQ(weft_unit_yield_to(second.handle()), WEFT_WRONG_STATE) << "it has ended";
}

TEST(Unit, ChildFirstRunsTheChildBeforeTheSpawnReturns) {
    Runtime runtime;
    auto chosen = options();
    chosen.child_first = true;
    std::vector<int> order;
    Ult parent([&] {
        order.push_back(1);
        Ult child([&] { order.push_back(2); }, &chosen);
        order.push_back(3);
    });
    EXPECT_EQ(parent.join(), WEFT_OK);
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(Unit, ExitEndsItFromAnyDepth) {
    Runtime runtime;
    bool after = false;
    Ult unit([&] {
        [] { weft_unit_exit(); }();
        after = true;
    });
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_FALSE(after);
    EXPECT_EQ(weft_unit_exit(), WEFT_WRONG_STATE) << "the primary unit's end is the program's";
}

TEST(Unit, KnowsItself) {
    Runtime runtime;
    auto chosen = options();
    chosen.name = "a name that is longer than twenty-three bytes";
    chosen.kind = WEFT_KIND_FULL;
    weft_unit* self = nullptr;
    std::string name;
    weft_kind kind{};
    Ult unit(
        [&] {
            self = weft_unit_self();
            name = value_of(weft_unit_name_get, self);
            weft_unit_kind_get(self, &kind);
            weft_pool* mine = nullptr;
            EXPECT_EQ(weft_unit_pool_get(self, &mine), WEFT_OK);
            EXPECT_EQ(mine, pool_of(0));
            EXPECT_EQ(weft_unit_name_set(self, "new"), WEFT_OK);
            EXPECT_STREQ(value_of(weft_unit_name_get, self), "new");
        },
        &chosen);
    unit.join();
    EXPECT_EQ(self, unit.handle());
    EXPECT_EQ(name, "a name that is longer t");
    EXPECT_EQ(kind, WEFT_KIND_FULL);
}

TEST(Unit, IdsAreNeverUsedTwice) {
    Runtime runtime;
    std::set<std::uint64_t> ids{value_of(weft_unit_id_get, weft_unit_self())};
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 100; ++i) {
            Ult unit([] {});
            EXPECT_TRUE(ids.insert(value_of(weft_unit_id_get, unit.handle())).second);
        }
        weft_memory_trim();
    }
    atomic<bool> over{false};
    std::thread outside([&] {
        {
            Ult unit([] {}, nullptr, pool_of(0));
            EXPECT_TRUE(ids.insert(value_of(weft_unit_id_get, unit.handle())).second);
        }
        over.store(true);   // this stream must run the unit before that
    });
    while (!over.load()) weft_unit_yield();
    outside.join();
}

TEST(Unit, UsesTheStackItIsGiven) {
    Runtime runtime;
    std::vector<char> memory(64 << 10);
    auto chosen = options();
    chosen.stack = memory.data();
    chosen.stack_bytes = memory.size();
    char* inside = nullptr;
    {
        Ult unit(
            [&] {
                char local = 0;
                inside = &local;
                weft_unit_yield();
                weft_stack_info info{};
                info.size = sizeof info;
                EXPECT_EQ(weft_unit_stack_get(weft_unit_self(), &info), WEFT_OK);
                EXPECT_EQ(info.guarded, WEFT_UNSUPPORTED);
            },
            &chosen);
        EXPECT_EQ(unit.join(), WEFT_OK);
        memset(memory.data(), 0x5a, memory.size());   // the memory belongs to the user again
    }
    EXPECT_GE(inside, memory.data());
    EXPECT_LT(inside, memory.data() + memory.size());
    chosen.stack_bytes = 1000;
    weft_unit* refused = nullptr;
    EXPECT_EQ(weft_ult_spawn(
                  nullptr, [](void*) {}, nullptr, &chosen, &refused),
              WEFT_INVALID);
    EXPECT_NE(std::string(weft_error_text()).find("1000"), std::string::npos) << weft_error_text();
}

TEST(Unit, AStackThatIsTooSmallIsRefusedAndNotMadeLarger) {
    Runtime runtime;
    auto chosen = options();
    weft_unit* unit = nullptr;
    for (weft_kind kind : {WEFT_KIND_DEFAULT, WEFT_KIND_FULL, WEFT_KIND_LSA, WEFT_KIND_ROC, WEFT_KIND_AUTO}) {
        chosen.kind = kind;
        for (std::size_t bytes : {std::size_t{1}, std::size_t{100}, WEFT_STACK_LEAST - 1}) {
            chosen.stack_bytes = bytes;
            EXPECT_EQ(weft_ult_spawn(
                          nullptr, [](void*) {}, nullptr, &chosen, &unit),
                      WEFT_INVALID);
            const std::string why = weft_error_text();
            for (const std::string& part :
                 {std::to_string(bytes), std::to_string(WEFT_STACK_LEAST), std::string("WEFT_STACK_BYTES")}) {
                EXPECT_NE(why.find(part), std::string::npos) << why;
            }
        }
        chosen.stack_bytes = WEFT_STACK_LEAST;
        EXPECT_EQ(Ult([] {}, &chosen).join(), WEFT_OK);
    }
}

TEST(Unit, HasTheStackSizeItAsksFor) {
    Runtime runtime;
    auto chosen = options();
    chosen.stack_bytes = 1 << 20;
    for (weft_kind kind : {WEFT_KIND_FULL, WEFT_KIND_LSA}) {
        chosen.kind = kind;
        Ult unit(
            [&] {
                weft_stack_info info{};
                info.size = sizeof info;
                EXPECT_EQ(weft_unit_stack_get(weft_unit_self(), &info), WEFT_OK);
                EXPECT_GE(info.bytes + 64 * 1024, std::size_t{1} << 20);
                EXPECT_EQ(info.guarded, WEFT_OK);
                volatile char deep[900 << 10];
                deep[0] = 1;
                EXPECT_EQ(deep[0], 1);
            },
            &chosen);
        EXPECT_EQ(unit.join(), WEFT_OK);
    }
}

TEST(Unit, TellsHowDeepItsStackWasUsed) {
    Runtime runtime;
    auto chosen = options();
    chosen.measure_stack = true;
    chosen.stack_bytes = 256 << 10;
    Ult deep(
        [] {
            volatile char used[100 << 10];
            for (std::size_t i = 0; i < sizeof used; i += 512) used[i] = 1;
        },
        &chosen);
    Ult shallow([] {}, &chosen);
    deep.join();
    shallow.join();
    weft_stack_info info{};
    info.size = sizeof info;
    ASSERT_EQ(weft_unit_stack_get(deep.handle(), &info), WEFT_OK);
    EXPECT_GE(info.most_bytes, std::size_t{100} << 10);
    EXPECT_LE(info.most_bytes, std::size_t{140} << 10);
    ASSERT_EQ(weft_unit_stack_get(shallow.handle(), &info), WEFT_OK);
    EXPECT_LE(info.most_bytes, std::size_t{40} << 10);
}

TEST(Unit, AnExceptionOfTheBodyIsItsOutcomeAndIsKept) {
    Runtime runtime;
    Ult unit([] { throw std::runtime_error("from the body"); });
    EXPECT_EQ(unit.outcome(), WEFT_OUTCOME_EXCEPTION);
    auto* kept = static_cast<std::exception_ptr*>(value_of(weft_unit_exception_get, unit.handle()));
    ASSERT_NE(kept, nullptr);
    try {
        std::rethrow_exception(*kept);
        FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "from the body");
    }
    Ult fine([] {});
    fine.join();
    EXPECT_EQ(value_of(weft_unit_exception_get, fine.handle()), nullptr);
}

TEST(Unit, SaysHowItHasEndedOnceItHas) {
    Runtime runtime;
    weft_unit* sleeper = nullptr;
    Ult returns([] {}), exits([] { weft_unit_exit(); }), throws([] { throw 1; }), sleeps([&] {
        EXPECT_EQ(weft_unit_suspend([](weft_unit* unit, void* to) { *static_cast<weft_unit**>(to) = unit; }, &sleeper),
                  WEFT_OK);
    });
    weft_unit_outcome outcome = WEFT_OUTCOME_CANCELLED;
    for (const Ult* unit : {&returns, &exits, &throws, &sleeps}) {
        EXPECT_EQ(weft_unit_outcome_get(unit->handle(), &outcome), WEFT_BUSY);
        EXPECT_NE(std::string(weft_error_text()).find("has not ended"), std::string::npos) << weft_error_text();
        EXPECT_EQ(outcome, WEFT_OUTCOME_CANCELLED) << "nothing is written";
    }
    EXPECT_EQ(returns.outcome(), WEFT_OUTCOME_RETURNED);
    EXPECT_EQ(exits.outcome(), WEFT_OUTCOME_RETURNED);
    EXPECT_EQ(throws.outcome(), WEFT_OUTCOME_EXCEPTION);
    EXPECT_EQ(weft_unit_outcome_get(sleeper, &outcome), WEFT_BUSY);
    EXPECT_EQ(weft_unit_outcome_get(nullptr, &outcome), WEFT_INVALID);
    EXPECT_EQ(weft_unit_outcome_get(returns.handle(), nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_unit_resume(sleeper), WEFT_OK);
    EXPECT_EQ(sleeps.end(), WEFT_OUTCOME_RETURNED);
}

TEST(Unit, IsFreedWithoutAWaitOnceItHasEnded) {
    Runtime runtime(2);
    for (const std::size_t rank : {0u, 1u}) {
        weft_pool* pool = nullptr;
        ASSERT_EQ(weft_stream_pool_get(weft_stream_at(rank), &pool), WEFT_OK);
        weft_unit* unit = nullptr;
        atomic<bool> go{false};
        ASSERT_EQ(weft_ult_spawn(
                      pool,
                      [](void* raw) {
                          while (!*static_cast<atomic<bool>*>(raw)) weft_unit_yield();
                          throw 1;
                      },
                      &go, nullptr, &unit),
                  WEFT_OK);
        EXPECT_EQ(weft_unit_free(unit), WEFT_BUSY);
        go = true;
        weft_status status;
        while ((status = weft_unit_free(unit)) == WEFT_BUSY) weft_unit_yield();
        EXPECT_EQ(status, WEFT_OK);
    }
    EXPECT_EQ(weft_unit_free(nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_unit_free(weft_unit_self()), WEFT_BUSY) << "the primary unit";
    EXPECT_EQ(units_alive(), 1u);
}

TEST(Unit, ThatHasNotReturnedIsJoinedAndKept) {
    Runtime runtime;
    weft_unit* throws = nullptr;
    ASSERT_EQ(weft_ult_spawn(
                  nullptr, [](void*) { throw 4; }, nullptr, nullptr, &throws),
              WEFT_OK);
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(weft_unit_join_free(throws), WEFT_NOT_RETURNED);
        EXPECT_NE(std::string(weft_error_text()).find("an exception has ended unit"), std::string::npos)
            << weft_error_text();
    }
    ASSERT_NE(value_of(weft_unit_exception_get, throws), nullptr);
    try {
        std::rethrow_exception(*static_cast<const std::exception_ptr*>(value_of(weft_unit_exception_get, throws)));
    } catch (int thrown) {
        EXPECT_EQ(thrown, 4);
    }
    EXPECT_EQ(weft_unit_free(throws), WEFT_OK);
    EXPECT_EQ(units_alive(), 1u);
}

TEST(Unit, TwoThatYieldInsideCatchRethrowTheirOwnExceptions) {
    Runtime runtime;
    int right = 0;
    auto body = [&right](std::string name) {
        for (int i = 0; i < 50; ++i) {
            try {
                try {
                    throw std::runtime_error(name);
                } catch (...) {
                    weft_unit_yield();
                    throw;
                }
            } catch (const std::runtime_error& error) {
                right += name == error.what();
            }
        }
    };
    Ult a([&] { body("a"); });
    Ult b([&] { body("b"); });
    a.free();
    b.free();
    EXPECT_EQ(right, 100);
}

TEST(Unit, StartsWithNoExceptionAndNoErrnoWhoeverRunsItsStream) {
    Runtime runtime;
    try {
        throw 1;
    } catch (int) {
        errno = EDOM;
        int seen_errno = -1;
        std::exception_ptr seen;
        int tasklet_errno[2] = {-1, -1};
        Ult unit([&] {
            seen_errno = errno;
            seen = std::current_exception();
            errno = ERANGE;
        });
        weft_unit* tasklet = nullptr;
        auto look = [](void* to) {
            static_cast<int*>(to)[0] = errno;
            static_cast<int*>(to)[1] = std::current_exception() != nullptr;
        };
        ASSERT_EQ(weft_tasklet_spawn(nullptr, look, tasklet_errno, nullptr, &tasklet), WEFT_OK);
        unit.join();
        weft_unit_join_free(tasklet);
        EXPECT_EQ(seen_errno, 0);
        EXPECT_EQ(seen, nullptr);
        EXPECT_EQ(tasklet_errno[0], 0);
        EXPECT_EQ(tasklet_errno[1], 0);
        EXPECT_NE(std::current_exception(), nullptr) << "ours is still there";
    }
}

TEST(Unit, KeepsItsErrnoAcrossASuspension) {
    Runtime runtime;
    auto body = [](int value) {
        errno = value;
        for (int i = 0; i < 10; ++i) {
            weft_unit_yield();
            EXPECT_EQ(errno, value);
        }
    };
    Ult a([&] { body(EDOM); });
    Ult b([&] { body(ERANGE); });
    a.free();
    b.free();
}

TEST(Tasklet, RunsToCompletionAndIsRefusedEverythingThatSuspends) {
    Runtime runtime;
    static weft_unit* other;
    Ult waits([] {});
    other = waits.handle();
    static int checked;
    checked = 0;
    weft_unit* tasklet = nullptr;
    ASSERT_EQ(weft_tasklet_spawn(
                  nullptr,
                  [](void*) {
                      EXPECT_EQ(weft_unit_yield(), WEFT_WRONG_KIND);
                      EXPECT_EQ(weft_unit_suspend(nullptr, nullptr), WEFT_WRONG_KIND);
                      EXPECT_EQ(weft_unit_exit(), WEFT_WRONG_KIND);
                      weft_unit* unit = nullptr;
                      EXPECT_EQ(weft_ult_spawn(
                                    nullptr, [](void*) {}, nullptr, nullptr, &unit),
                                WEFT_OK);
                      EXPECT_EQ(weft_unit_join(unit), WEFT_WRONG_KIND);
                      EXPECT_EQ(weft_unit_detach(unit), WEFT_OK);
                      EXPECT_EQ(weft_unit_yield_to(other), WEFT_WRONG_KIND);
                      checked = 1;
                  },
                  nullptr, nullptr, &tasklet),
              WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
    EXPECT_EQ(checked, 1);
}

TEST(Tasklet, AnExceptionIsKeptAsAUltsIs) {
    Runtime runtime;
    weft_unit* tasklet = nullptr;
    ASSERT_EQ(weft_tasklet_spawn(
                  nullptr, [](void*) { throw 7; }, nullptr, nullptr, &tasklet),
              WEFT_OK);
    EXPECT_EQ(outcome_of(tasklet), WEFT_OUTCOME_EXCEPTION);
    EXPECT_NE(value_of(weft_unit_exception_get, tasklet), nullptr);
    EXPECT_EQ(end_of(tasklet), WEFT_OUTCOME_EXCEPTION);
}

TEST(Misuse, EachHasItsStatusAndLosesNothing) {
    EXPECT_EQ(weft_ult_spawn(
                  nullptr, [](void*) {}, nullptr, nullptr, nullptr),
              WEFT_NOT_INITIALIZED);
    EXPECT_EQ(weft_unit_yield(), WEFT_WRONG_CONTEXT);
    EXPECT_EQ(weft_finalize(), WEFT_NOT_INITIALIZED);
    Runtime runtime;
    EXPECT_EQ(weft_ult_spawn(nullptr, nullptr, nullptr, nullptr, nullptr), WEFT_INVALID);
    EXPECT_STREQ(weft_error_text(), "body is null; it is required");
    EXPECT_EQ(weft_unit_join(nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_unit_join(weft_unit_self()), WEFT_WRONG_STATE);
    EXPECT_EQ(weft_unit_join_free(weft_unit_self()), WEFT_WRONG_STATE);
    auto chosen = options();
    chosen.kind = static_cast<weft_kind>(99);
    EXPECT_EQ(weft_ult_spawn(
                  nullptr, [](void*) {}, nullptr, &chosen, nullptr),
              WEFT_WRONG_KIND);
    chosen.kind = WEFT_KIND_LSA;
    EXPECT_EQ(weft_tasklet_spawn(
                  nullptr, [](void*) {}, nullptr, &chosen, nullptr),
              WEFT_WRONG_KIND);
    chosen = options();
    chosen.size = 0;
    EXPECT_EQ(weft_ult_spawn(
                  nullptr, [](void*) {}, nullptr, &chosen, nullptr),
              WEFT_INVALID);
    Ult unit([] {});
    Ult first([&] { EXPECT_EQ(unit.join(), WEFT_OK); });
    Ult second([&] { weft_unit_join(unit.handle()); });
    EXPECT_EQ(unit.join(), WEFT_OK);
}

TEST(Misuse, OneThatOthersWaitForIsNeitherFreedNorDetached) {
    Runtime runtime;
    static weft_unit* inner;
    Ult unit([] { weft_unit_suspend([](weft_unit* self, void*) { inner = self; }, nullptr); });
    Ult first([&] { EXPECT_EQ(unit.join(), WEFT_OK); });
    weft_unit_yield();
    EXPECT_EQ(weft_unit_join_free(unit.handle()), WEFT_BUSY);
    EXPECT_EQ(weft_unit_detach(unit.handle()), WEFT_BUSY);
    weft_unit_resume(inner);
    EXPECT_EQ(first.join(), WEFT_OK);
}
