// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A unit that its joiner waits for at once is called instead of switched to (src/core/call.hpp). A
// program sees the same as with any other unit: each test does something to such a unit that a
// plain call would not survive.
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/config.hpp"
#include "test/behaviour/atomic.hpp"
#include "test/behaviour/support.hpp"

namespace {

using namespace weft_test;

// Whether units are called in this build: see arch/x86_64/context.hpp.
constexpr bool calls = !weft::config::address_sanitizer && !weft::config::thread_sanitizer;

// The first unit that ends leaves its stack for the next one; only then can a unit be called.
void warm_up() {
    Ult first([] {});
    EXPECT_EQ(first.free(), WEFT_OK);
}

TEST(Call, TheUnitRunsOnAStackOfItsOwnAndItsJoinerIsSeenToWait) {
    Runtime runtime;
    warm_up();
    weft_unit* joiner = weft_unit_self();
    bool stands_on_it = false;
    weft_unit_state seen{}, own{};
    Ult child([&] {
        char local = 0;
        weft_stack_info stack{};
        stack.size = sizeof stack;
        EXPECT_EQ(weft_unit_stack_get(weft_unit_self(), &stack), WEFT_OK);
        stands_on_it =
            &local >= static_cast<char*>(stack.lowest) && &local < static_cast<char*>(stack.lowest) + stack.bytes;
        weft_unit_state_get(joiner, &seen);
        weft_unit_state_get(weft_unit_self(), &own);
        EXPECT_EQ(weft_unit_resume(joiner), WEFT_WRONG_STATE);   // a resume cannot end a join
    });
    EXPECT_EQ(child.free(), WEFT_OK);
    EXPECT_TRUE(stands_on_it);
    EXPECT_EQ(seen, WEFT_UNIT_SUSPENDED);
    EXPECT_EQ(own, WEFT_UNIT_RUNNING);
    EXPECT_EQ(weft_unit_self(), joiner);
}

// What weft_unit_each reports about one unit at this moment.
weft_unit_info told_of(const weft_unit* unit) {
    struct Search {
        const weft_unit* unit;
        weft_unit_info found{};
    } search{unit};
    EXPECT_EQ(weft_unit_each(
                  [](const weft_unit_info* info, void* raw) {
                      auto& looking = *static_cast<Search*>(raw);
                      if (info->unit == looking.unit) looking.found = *info;
                  },
                  &search),
              WEFT_OK);
    return search.found;
}

TEST(Call, TheListOfUnitsTellsThatTheJoinerJoins) {
    Runtime runtime;
    weft_unit* const primary = weft_unit_self();
    for (const bool called : {false, true}) {   // the first unit is switched to, the second one is called
        weft_unit* handle = nullptr;
        Ult child([&] {
            const weft_unit_info joiner = told_of(primary);
            EXPECT_STREQ(joiner.waits_for, "join") << called;
            EXPECT_EQ(joiner.waits_object, handle);
            EXPECT_STREQ(told_of(weft_unit_self()).waits_for, "");
        });
        handle = child.handle();
        EXPECT_EQ(child.free(), WEFT_OK);
        EXPECT_STREQ(told_of(primary).waits_for, "");
    }
}

TEST(JoinMany, TheListOfUnitsTellsThatItsCallerWaitsForMany) {
    weft_settings settings = with_streams(2);
    settings.pool = WEFT_POOL_SHARED;
    Runtime runtime(settings);
    weft_unit* const primary = weft_unit_self();
    std::string seen;
    Ult first(
        [&] {
            weft_unit_info info{};
            while ((info = told_of(primary)).state != WEFT_UNIT_SUSPENDED ||
                   std::strcmp(info.waits_for, "join_many") != 0)
                std::this_thread::yield();
            seen = info.waits_for;
        },
        nullptr, pool_of(1));
    Ult second([] {}, nullptr, pool_of(1));
    weft_unit* both[] = {first.handle(), second.handle()};
    EXPECT_EQ(weft_unit_join_many(both, 2), WEFT_OK);
    EXPECT_EQ(seen, "join_many");
    EXPECT_STREQ(told_of(primary).waits_for, "");
}

TEST(Call, TheJoinerComesBackWhenTheUnitSuspendedMeanwhile) {
    Runtime runtime;
    warm_up();
    std::string story;
    weft_unit* suspended = nullptr;
    Ult child([&] {
        story += "a";
        weft_unit_suspend([](weft_unit* unit, void* to) { *static_cast<weft_unit**>(to) = unit; }, &suspended);
        story += "c";
    });
    Ult waker([&] {
        story += "b";
        EXPECT_EQ(weft_unit_resume(suspended), WEFT_OK);
    });
    EXPECT_EQ(child.free(), WEFT_OK);
    story += "d";
    EXPECT_EQ(waker.free(), WEFT_OK);
    EXPECT_EQ(story, "abcd");
}

TEST(Call, TheJoinerComesBackWhenTheUnitYieldedMeanwhile) {
    Runtime runtime;
    warm_up();
    int others = 0;
    Ult child([&] {
        for (int i = 0; i < 10; ++i) EXPECT_EQ(weft_unit_yield(), WEFT_OK);
    });
    Ult other([&] {
        for (int i = 0; i < 5; ++i) {
            ++others;
            EXPECT_EQ(weft_unit_yield(), WEFT_OK);
        }
    });
    EXPECT_EQ(child.free(), WEFT_OK);
    EXPECT_EQ(others, 5);
    EXPECT_EQ(other.free(), WEFT_OK);
}

TEST(Call, TheJoinerGoesOnAtOnceWhoeverElseIsReady) {
    if (!calls) GTEST_SKIP() << "nobody is called there";
    Runtime runtime;
    warm_up();
    std::string order;
    Ult first([&] { order += "1"; });
    Ult second([&] { order += "2"; });
    Ult third([&] { order += "3"; });
    EXPECT_EQ(first.free(), WEFT_OK);
    order += "j";
    EXPECT_EQ(second.free(), WEFT_OK);
    EXPECT_EQ(third.free(), WEFT_OK);
    EXPECT_EQ(order, "1j23");
}

TEST(Call, TheJoinerGoesBehindThoseThatAreReadyWhenTheUnitHasSuspended) {
    Runtime runtime;
    warm_up();
    std::string order;
    Ult first([&] {
        order += "1";
        weft_unit_yield();
        order += "1";
    });
    Ult second([&] { order += "2"; });
    EXPECT_EQ(first.free(), WEFT_OK);
    order += "j";
    EXPECT_EQ(second.free(), WEFT_OK);
    EXPECT_EQ(order, "121j");
}

TEST(Call, UnitsThatCallEachOtherAllComeBackWhenTheInnermostSuspends) {
    constexpr int deep = 200;
    Runtime runtime;
    warm_up();
    struct Nest {
        int level = 0;
        std::string order;
        weft_unit* innermost = nullptr;
        void go() {
            if (level == deep) {
                Ult waker([this] {
                    EXPECT_EQ(order, "");
                    EXPECT_EQ(weft_unit_resume(innermost), WEFT_OK);
                });
                weft_unit_suspend([](weft_unit* unit, void* to) { *static_cast<weft_unit**>(to) = unit; }, &innermost);
                EXPECT_EQ(waker.free(), WEFT_OK);
                return;
            }
            ++level;
            Ult next([this] { go(); });
            EXPECT_EQ(next.free(), WEFT_OK);
            order += "u";
        }
    } nest;
    Ult outer([&] { nest.go(); });
    EXPECT_EQ(outer.free(), WEFT_OK);
    EXPECT_EQ(nest.order, std::string(deep, 'u'));
}

TEST(Call, OfARowThatIsJoinedTogetherOneThatSuspendsLetsTheOthersRun) {
    Runtime runtime;
    warm_up();
    for (const bool freed : {false, true}) {
        std::string order;
        weft_unit* suspended = nullptr;
        auto name = [&](const char* what) { return [&order, what] { order += what; }; };
        Ult first(name("1")), second([&] {
            order += "2";
            weft_unit_suspend([](weft_unit* unit, void* to) { *static_cast<weft_unit**>(to) = unit; }, &suspended);
            order += "b";
        });
        Ult third(name("3")), fourth([&] {
            order += "4";
            EXPECT_EQ(weft_unit_resume(suspended), WEFT_OK);
        });
        Ult fifth(name("5"));
        weft_unit* units[] = {first.handle(), second.handle(), nullptr,
                              third.handle(), fourth.handle(), fifth.handle()};
        if (freed) {
            EXPECT_EQ(weft_unit_join_free_many(units, 6), WEFT_OK);
            for (weft_unit* unit : units) EXPECT_EQ(unit, nullptr);
            for (Ult* gone : {&first, &second, &third, &fourth, &fifth}) gone->forget();
        } else {
            EXPECT_EQ(weft_unit_join_many(units, 6), WEFT_OK);
            for (Ult* kept : {&first, &second, &third, &fourth, &fifth}) EXPECT_EQ(kept->free(), WEFT_OK);
        }
        EXPECT_EQ(order, "12345b");
    }
}

TEST(Call, OfARowOneThatHasNotReturnedIsTold) {
    Runtime runtime;
    warm_up();
    Ult first([] {}), second([] { throw std::runtime_error("second"); }), third([] { weft_unit_exit(); }),
        fourth([] {});
    weft_unit* units[] = {first.handle(), second.handle(), third.handle(), fourth.handle()};
    EXPECT_EQ(weft_unit_join_many(units, 4), WEFT_NOT_RETURNED);
    EXPECT_NE(value_of(weft_unit_exception_get, units[1]), nullptr);
    EXPECT_EQ(first.free(), WEFT_OK);
    EXPECT_EQ(second.end(), WEFT_OUTCOME_EXCEPTION);
    EXPECT_EQ(third.free(), WEFT_OK);
    EXPECT_EQ(fourth.free(), WEFT_OK);
}

TEST(Call, OfARowThatIsJoinedInAnotherOrderThanItIsRunInAllHaveEnded) {
    Runtime runtime;
    warm_up();
    for (const bool freed : {false, true}) {
        std::string order;
        auto name = [&](const char* what) { return [&order, what] { order += what; }; };
        Ult first(name("1")), second(name("2")), third(name("3")), fourth(name("4"));
        weft_unit* units[] = {first.handle(), third.handle(), second.handle(), fourth.handle()};
        if (freed) {
            EXPECT_EQ(weft_unit_join_free_many(units, 4), WEFT_OK);
            for (Ult* gone : {&first, &second, &third, &fourth}) gone->forget();
        } else {
            EXPECT_EQ(weft_unit_join_many(units, 4), WEFT_OK);
            for (Ult* kept : {&first, &second, &third, &fourth}) EXPECT_EQ(kept->state(), WEFT_UNIT_DONE);
        }
        EXPECT_EQ(order, "1234");
    }
}

TEST(Call, OfARowOneThatAnotherWaitsForEndsForBoth) {
    Runtime runtime;
    warm_up();
    std::vector<weft_unit*> row;
    weft_status others = WEFT_BUSY, rows = WEFT_BUSY;
    Ult other([&] { others = weft_unit_join(row[1]); });   // row[1] is not the next unit then: `joiner` is
    Ult joiner([&] { rows = weft_unit_join_many(row.data(), row.size()); });
    Ult first([] {}), second([] {}), third([] {});
    row = {first.handle(), second.handle(), third.handle()};
    EXPECT_EQ(joiner.free(), WEFT_OK);
    EXPECT_EQ(other.free(), WEFT_OK);
    EXPECT_EQ(rows, WEFT_OK);
    EXPECT_EQ(others, WEFT_OK);
}

TEST(Call, BetweenTwoOfARowTheStreamDoesWhatItIsAskedFor) {
    Runtime runtime;
    warm_up();
    bool called = false, seen = false;
    Ult first([&] {
        EXPECT_EQ(weft_stream_post(
                      weft_stream_self(), [](void* to) { *static_cast<bool*>(to) = true; }, &called),
                  WEFT_OK);
    });
    Ult second([&] { seen = called; });
    weft_unit* units[] = {first.handle(), second.handle()};
    EXPECT_EQ(weft_unit_join_many(units, 2), WEFT_OK);
    EXPECT_TRUE(seen);
}

TEST(Call, ATaskletRunsOnTheSchedulersStackAndLeavesErrnoAlone) {
    Runtime runtime;
    warm_up();
    struct Seen {
        weft_unit* self = nullptr;
        int error = -1;
        weft_status yielded = WEFT_OK;
    } seen;
    errno = ERANGE;
    weft_unit* tasklet = nullptr;
    const auto suspended = counter("/units/count/suspended");
    ASSERT_EQ(weft_tasklet_spawn(
                  nullptr,
                  [](void* raw) {
                      auto& mine = *static_cast<Seen*>(raw);
                      mine = {weft_unit_self(), errno, weft_unit_yield()};
                      errno = EDOM;
                  },
                  &seen, nullptr, &tasklet),
              WEFT_OK);
    weft_unit* const handle = tasklet;
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
    EXPECT_EQ(seen.self, handle);
    EXPECT_EQ(seen.error, 0);
    EXPECT_EQ(seen.yielded, WEFT_WRONG_KIND);
    EXPECT_EQ(errno, ERANGE);
    if (!calls) return;
    EXPECT_EQ(counter("/units/count/suspended"), suspended);   // not by a switch
}

TEST(Call, ATaskletThatIsFreedAtOnceHasTheEndOfAnyOther) {
    Runtime runtime;
    warm_up();
    weft_unit* tasklet = nullptr;
    ASSERT_EQ(weft_tasklet_spawn(
                  nullptr, [](void*) { throw std::runtime_error("tasklet"); }, nullptr, nullptr, &tasklet),
              WEFT_OK);
    EXPECT_EQ(end_of(tasklet), WEFT_OUTCOME_EXCEPTION);

    static weft_key* key;
    static int dropped;
    dropped = 0;
    ASSERT_EQ(weft_key_create([](void* value) { dropped += *static_cast<int*>(value); }, &key), WEFT_OK);
    int one = 1;
    ASSERT_EQ(
        weft_tasklet_spawn(
            nullptr, [](void* value) { EXPECT_EQ(weft_local_set(key, value), WEFT_OK); }, &one, nullptr, &tasklet),
        WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
    EXPECT_EQ(dropped, 1);
    EXPECT_EQ(weft_key_free(key), WEFT_OK);

    // A tasklet can neither wait for a unit that it has spawned nor call it; others run that unit.
    weft_unit* child = nullptr;
    ASSERT_EQ(weft_tasklet_spawn(
                  nullptr,
                  [](void* to) {
                      auto& unit = *static_cast<weft_unit**>(to);
                      ASSERT_EQ(weft_tasklet_spawn(
                                    nullptr, [](void*) {}, nullptr, nullptr, &unit),
                                WEFT_OK);
                      EXPECT_EQ(weft_unit_join_free(unit), WEFT_WRONG_KIND);
                  },
                  &child, nullptr, &tasklet),
              WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(child), WEFT_OK);
    EXPECT_EQ(units_alive(), 1u);
}

TEST(Call, ADetachedUnitThatItSpawnsRunsToo) {
    Runtime runtime;
    warm_up();
    bool ran = false;
    Ult child([&] {
        EXPECT_EQ(weft_ult_spawn(
                      nullptr, [](void* to) { *static_cast<bool*>(to) = true; }, &ran, nullptr, nullptr),
                  WEFT_OK);
    });
    EXPECT_EQ(child.free(), WEFT_OK);
    EXPECT_EQ(weft_unit_yield(), WEFT_OK);
    EXPECT_TRUE(ran);
}

TEST(Call, ExitEndsItAndItsJoinerGoesOn) {
    Runtime runtime;
    warm_up();
    bool came_back = false;
    Ult child([&] {
        weft_unit_exit();
        came_back = true;
    });
    EXPECT_EQ(child.free(), WEFT_OK);
    EXPECT_FALSE(came_back);
    Ult in_catch([] {
        try {
            throw 1;
        } catch (int) {
            weft_unit_exit();
        }
    });
    EXPECT_EQ(in_catch.free(), WEFT_OK);
    EXPECT_EQ(std::uncaught_exceptions(), 0);
    EXPECT_EQ(std::current_exception(), nullptr);
}

TEST(Call, AnExceptionOfItIsAStatusAndLeavesTheJoinersAlone) {
    Runtime runtime;
    warm_up();
    Ult child([] { throw std::runtime_error("thrown"); });
    EXPECT_EQ(child.outcome(), WEFT_OUTCOME_EXCEPTION);
    EXPECT_NE(value_of(weft_unit_exception_get, child.handle()), nullptr);
    EXPECT_EQ(child.end(), WEFT_OUTCOME_EXCEPTION);
    try {
        throw std::runtime_error("mine");
    } catch (const std::runtime_error&) {
        // The joiner handles an exception; the unit starts with none nevertheless.
        Ult other([] {
            EXPECT_EQ(std::current_exception(), nullptr);
            try {
                throw 2;
            } catch (int) {}
        });
        EXPECT_EQ(other.free(), WEFT_OK);
        ASSERT_NE(std::current_exception(), nullptr);
        try {
            throw;
        } catch (const std::runtime_error& error) {
            EXPECT_STREQ(error.what(), "mine");
        }
    }
}

TEST(Call, ErrnoOfTheJoinerIsItsOwn) {
    Runtime runtime;
    warm_up();
    errno = EDOM;
    int seen = -1;
    Ult child([&] {
        seen = errno;
        errno = ERANGE;
    });
    EXPECT_EQ(child.free(), WEFT_OK);
    EXPECT_EQ(errno, EDOM);
    EXPECT_EQ(seen, 0);
}

TEST(Call, ASecondJoinerWaitsBesideTheOneThatCalls) {
    Runtime runtime;
    warm_up();
    weft_status second = WEFT_BUSY;
    weft_unit* handle = nullptr;
    Ult child([&] { EXPECT_EQ(weft_unit_yield(), WEFT_OK); });
    handle = child.handle();
    Ult other([&] { second = weft_unit_join(handle); });
    EXPECT_EQ(child.join(), WEFT_OK);
    EXPECT_EQ(other.join(), WEFT_OK);
    EXPECT_EQ(second, WEFT_OK);
}

// Each level spawns the next one and waits for it: as many joiners wait below as there are levels.
int depth_of(int levels) {
    if (levels == 0) return 0;
    int below = -1;
    Ult child([&] { below = depth_of(levels - 1); });
    EXPECT_EQ(child.free(), WEFT_OK);
    return below + 1;
}

TEST(Call, CallsNest) {
    Runtime runtime;
    warm_up();
    EXPECT_EQ(depth_of(2000), 2000);
}

TEST(Call, ATaskletIsRefusedAsAlways) {
    Runtime runtime;
    warm_up();
    struct Both {
        weft_unit* child = nullptr;
        weft_status status = WEFT_OK;
    } both;
    weft_unit* tasklet = nullptr;
    ASSERT_EQ(weft_tasklet_spawn(
                  nullptr,
                  [](void* raw) {
                      auto* at = static_cast<Both*>(raw);
                      at->status = weft_unit_join(at->child);
                  },
                  &both, nullptr, &tasklet),
              WEFT_OK);
    Ult child([] {});
    both.child = child.handle();
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
    EXPECT_EQ(both.status, WEFT_WRONG_KIND);
    EXPECT_EQ(child.free(), WEFT_OK);
}

TEST(Call, AUnitThatAsksForAnotherStackHasIt) {
    Runtime runtime;
    warm_up();
    auto where = [](weft_stack_info& stack) {
        char local = 0;
        stack.size = sizeof stack;
        EXPECT_EQ(weft_unit_stack_get(weft_unit_self(), &stack), WEFT_OK);
        return &local >= static_cast<char*>(stack.lowest) && &local < static_cast<char*>(stack.lowest) + stack.bytes;
    };
    auto asked = options();
    asked.stack_bytes = 1 << 20;
    {
        Ult big(
            [&] {
                weft_stack_info stack{};
                EXPECT_TRUE(where(stack));
                EXPECT_GE(stack.bytes, asked.stack_bytes - 64);
            },
            &asked);
        EXPECT_EQ(big.free(), WEFT_OK);
    }
    static std::vector<char> own(128 << 10);
    asked.stack = own.data();
    asked.stack_bytes = own.size();
    Ult users(
        [&] {
            weft_stack_info stack{};
            EXPECT_TRUE(where(stack));
            EXPECT_GE(static_cast<char*>(stack.lowest), own.data());
            EXPECT_LE(static_cast<char*>(stack.lowest) + stack.bytes, own.data() + own.size());
        },
        &asked);
    EXPECT_EQ(users.free(), WEFT_OK);
    asked = options();
    asked.measure_stack = true;
    Ult measured(
        [] {
            volatile char used[10000];
            for (std::size_t i = 0; i < sizeof used; i += 64) used[i] = 1;
        },
        &asked);
    EXPECT_EQ(measured.join(), WEFT_OK);
    weft_stack_info stack{};
    stack.size = sizeof stack;
    EXPECT_EQ(weft_unit_stack_get(measured.handle(), &stack), WEFT_OK);
    EXPECT_GE(stack.most_bytes, 10000u);
}

TEST(Call, NoStackIsLostWhenOthersEndBeforeTheUnit) {
    Runtime runtime;
    warm_up();
    auto round = [] {
        Ult child([] {
            Ult other([] {});
            EXPECT_EQ(weft_unit_yield(), WEFT_OK);   // the other unit ends, and leaves its stack for the next one
            EXPECT_EQ(other.free(), WEFT_OK);
        });
        EXPECT_EQ(child.free(), WEFT_OK);
    };
    round();
    const auto before = counter("/stacks/count/live");
    for (int i = 0; i < 100; ++i) round();
    EXPECT_EQ(counter("/stacks/count/live"), before);
}

// A unit that only spawns and joins never passes through its scheduler by itself.
struct Busy {
    atomic<bool> stop{false};
    atomic<std::uint64_t> rounds{0};
    weft_unit* unit = nullptr;

    explicit Busy(weft_pool* pool) {
        EXPECT_EQ(weft_ult_spawn(
                      pool,
                      [](void* raw) {
                          auto* self = static_cast<Busy*>(raw);
                          while (!self->stop) {
                              weft_unit* child = nullptr;
                              EXPECT_EQ(weft_ult_spawn(
                                            nullptr, [](void*) {}, nullptr, nullptr, &child),
                                        WEFT_OK);
                              EXPECT_EQ(weft_unit_join_free(child), WEFT_OK);
                              ++self->rounds;
                          }
                      },
                      this, nullptr, &unit),
                  WEFT_OK);
        await(10);
    }
    void await(std::uint64_t more) {
        const std::uint64_t target = rounds + more;
        while (rounds < target) std::this_thread::yield();
    }
    ~Busy() {
        stop = true;
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    }
};

weft_settings two_private() {
    weft_settings settings = with_streams(2);
    settings.pool = WEFT_POOL_PRIVATE;
    return settings;
}

TEST(Call, AStreamThatOnlyCallsIsSuspendedAndResumed) {
    Runtime runtime(two_private());
    Busy busy(pool_of(1));
    ASSERT_EQ(weft_stream_suspend(weft_stream_at(1)), WEFT_OK);
    // The stream stops at its next join; after that, `rounds` does not change.
    std::uint64_t before = 0;
    do {
        before = busy.rounds;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));   // it would change in that time
    } while (busy.rounds != before);
    ASSERT_EQ(weft_stream_resume(weft_stream_at(1)), WEFT_OK);
    busy.await(100);
}

TEST(Call, AStreamThatOnlyCallsTakesWhatOthersSendIt) {
    Runtime runtime(two_private());
    Busy busy(pool_of(1));
    Ult sent([] {}, nullptr, pool_of(1));
    EXPECT_EQ(sent.free(), WEFT_OK);   // the unit and the announcement of its joiner both arrive in the inbox
}

// ---- pools that other streams may draw from -----------------------------------------------------

class CallFrom : public ::testing::TestWithParam<weft_pool_kind> {
protected:
    static weft_settings settings() {
        weft_settings made = with_streams(1);
        made.pool = GetParam();
        return made;
    }
    Runtime runtime{settings()};
};
INSTANTIATE_TEST_SUITE_P(Pools, CallFrom,
                         ::testing::Values(WEFT_POOL_SHARED, WEFT_POOL_DEQUE, WEFT_POOL_LIFO, WEFT_POOL_PRIORITY,
                                           WEFT_POOL_BLOCKING));

TEST_P(CallFrom, TheUnitThatIsNextIsCalledWithoutASuspension) {
    for (const bool joined : {true, false}) {   // joined and then freed, or freed at once
        warm_up();
        const auto suspended = counter("/units/count/suspended"), finished = counter("/units/count/finished");
        errno = ERANGE;
        for (int i = 0; i < 10; ++i) {
            weft_unit_state joiners{};
            weft_unit* const joiner = weft_unit_self();
            Ult child([&] {
                EXPECT_EQ(errno, 0);
                weft_unit_state_get(joiner, &joiners);
            });
            if (joined) {
                EXPECT_EQ(child.join(), WEFT_OK);
                EXPECT_EQ(child.state(), WEFT_UNIT_DONE);
            }
            EXPECT_EQ(child.free(), WEFT_OK);
            EXPECT_EQ(joiners, WEFT_UNIT_SUSPENDED);
        }
        EXPECT_EQ(errno, ERANGE);
        EXPECT_EQ(counter("/units/count/finished") - finished, 10u);
        EXPECT_EQ(units_alive(), 1u);
        if (calls) {
            EXPECT_EQ(counter("/units/count/suspended"), suspended);
        }
    }
}

TEST_P(CallFrom, AUnitThatSuspendsEndsLikeAnyOther) {
    for (int i = 0; i < 5; ++i) {
        std::string order;
        weft_unit* suspended = nullptr;
        Ult child([&] {
            order += "1";
            Ult grandchild([&] {
                order += "2";
                weft_unit_yield();
                order += "3";
            });
            EXPECT_EQ(grandchild.free(), WEFT_OK);
            Ult waker([&] { EXPECT_EQ(weft_unit_resume(suspended), WEFT_OK); });
            weft_unit_suspend([](weft_unit* unit, void* to) { *static_cast<weft_unit**>(to) = unit; }, &suspended);
            EXPECT_EQ(waker.free(), WEFT_OK);
            throw std::runtime_error("child");
        });
        EXPECT_EQ(child.end(), WEFT_OUTCOME_EXCEPTION);
        EXPECT_EQ(order, "123");
    }
}

TEST_P(CallFrom, AllOfARowThatReturnAreFreedWhateverBecomesOfTheOthers) {
    warm_up();
    for (const bool freed : {false, true}) {
        std::string order;
        weft_unit* suspended = nullptr;
        const auto suspend = [&] {
            weft_unit_suspend([](weft_unit* unit, void* to) { *static_cast<weft_unit**>(to) = unit; }, &suspended);
        };
        Ult begun([&] {
            suspend();
            throw std::runtime_error("the first of the row, though not the first to end");
        });
        while (suspended == nullptr) weft_unit_yield();
        Ult first([&] { EXPECT_EQ(weft_unit_resume(suspended), WEFT_OK); });
        Ult second([&] { order += "2"; }), third([] { weft_unit_yield(); }), fourth([&] { order += "4"; });
        EXPECT_EQ(weft_unit_cancel(fourth.handle()), WEFT_OK);
        weft_unit* units[] = {begun.handle(),  nullptr,        first.handle(),
                              second.handle(), third.handle(), fourth.handle()};
        if (freed) {
            weft_unit* const left[] = {begun.handle(), nullptr, nullptr, nullptr, nullptr, fourth.handle()};
            EXPECT_EQ(weft_unit_join_free_many(units, 6), WEFT_NOT_RETURNED);
            EXPECT_NE(std::string(weft_error_text()).find("exception"), std::string::npos)
                << "of the first: " << weft_error_text();
            EXPECT_TRUE(std::equal(std::begin(units), std::end(units), left));
            for (Ult* gone : {&first, &second, &third}) gone->forget();
        } else {
            EXPECT_EQ(weft_unit_join_many(units, 6), WEFT_NOT_RETURNED);
            for (Ult* kept : {&first, &second, &third}) EXPECT_EQ(kept->free(), WEFT_OK);
        }
        EXPECT_EQ(begun.end(), WEFT_OUTCOME_EXCEPTION);
        EXPECT_EQ(fourth.end(), WEFT_OUTCOME_CANCELLED);
        EXPECT_EQ(order, "2");
    }
    EXPECT_EQ(units_alive(), 1u);
}

TEST_P(CallFrom, WhoOnlyCallsKeepsNobodyOut) {
    warm_up();
    bool older_ran = false, primary_ran = false, begun = false;
    Ult caller([&] {
        begun = true;
        const bool promised = GetParam() != WEFT_POOL_LIFO;
        const auto call_until = [&](const bool& ran) {
            for (int i = 0; i < (promised ? 10'000'000 : 1'000) && !ran; ++i) ASSERT_EQ(Ult([] {}).free(), WEFT_OK);
        };
        call_until(primary_ran);
        EXPECT_TRUE(primary_ran);
        Ult older([&] { older_ran = true; });
        call_until(older_ran);
        EXPECT_EQ(older_ran, promised);
    });
    // Where no stack for calls can be had the caller waits for each unit, and is ready whenever it
    // is looked at.
    while (!begun) weft_unit_yield();
    primary_ran = true;
    EXPECT_EQ(caller.free(), WEFT_OK);
}

long fib_by_units(int n) {
    if (n < 2) return n;
    long below = 0;
    Ult child([&] { below = fib_by_units(n - 2); });
    const long other = fib_by_units(n - 1);
    EXPECT_EQ(child.free(), WEFT_OK);
    return below + other;
}

// The oldest unit of a deque is the largest part of the remaining work: a joiner that begins it
// early has begun many things at once.
TEST(Call, OnesThatNestInADequeAreLeftAloneForAMillisecond) {
    constexpr int levels = 16;   // 1,596 units
    weft_settings settings = with_streams(1);
    settings.pool = WEFT_POOL_DEQUE;
    Runtime runtime(settings);
    warm_up();
    const auto suspended = counter("/units/count/suspended"), began_ns = weft_now_ns();
    EXPECT_EQ(fib_by_units(levels), 987);
    const auto turns = (weft_now_ns() - began_ns) / 1'000'000;
    // At each turn of the scheduler, all units that have called each other suspend, and the units
    // of earlier turns come back one by one.
    if (calls) {
        EXPECT_LE(counter("/units/count/suspended") - suspended, turns * 2 * levels);
    }
}

// ---- children that begin at once ----------------------------------------------------------------

weft_unit_options child_first(weft_kind kind) {
    auto how = options();
    how.child_first = true;
    how.kind = kind;
    return how;
}

weft_settings one_stream(weft_pool_kind pool) {
    weft_settings settings = with_streams(1);
    settings.pool = pool;
    return settings;
}

class ChildFirst : public ::testing::TestWithParam<std::tuple<weft_kind, weft_pool_kind>> {
protected:
    Runtime runtime{one_stream(std::get<1>(GetParam()))};
    weft_unit_options how = child_first(std::get<0>(GetParam()));
};
INSTANTIATE_TEST_SUITE_P(Kinds, ChildFirst,
                         ::testing::Combine(::testing::Values(WEFT_KIND_FULL, WEFT_KIND_LSA, WEFT_KIND_ROC),
                                            ::testing::Values(WEFT_POOL_PRIVATE, WEFT_POOL_DEQUE)));

TEST_P(ChildFirst, RunsBeforeItsParentGoesOnWhichKeepsItsErrno) {
    for (int i = 0; i < 3; ++i) {
        std::string order;
        errno = ERANGE;
        Ult child(
            [&] {
                order += "c";
                EXPECT_EQ(errno, 0);
                errno = EDOM;
            },
            &how);
        order += "p";
        EXPECT_EQ(errno, ERANGE);
        EXPECT_EQ(child.state(), WEFT_UNIT_DONE);
        EXPECT_EQ(child.free(), WEFT_OK);
        EXPECT_EQ(order, "cp");
    }
}

TEST_P(ChildFirst, AChildThatYieldsLetsItsParentGoOn) {
    for (int i = 0; i < 3; ++i) {
        std::string order;
        Ult child(
            [&] {
                order += "1";
                EXPECT_EQ(weft_unit_yield(), WEFT_OK);
                order += "2";
            },
            &how);
        order += "p";
        EXPECT_EQ(child.free(), WEFT_OK);
        EXPECT_EQ(order, "1p2");
    }
}

TEST_P(ChildFirst, TheParentIsReadyAndMayBeNamed) {
    for (int i = 0; i < 3; ++i) {
        weft_unit* const parent = weft_unit_self();
        std::string order;
        Ult child(
            [&] {
                weft_unit_state state{};
                EXPECT_EQ(weft_unit_state_get(parent, &state), WEFT_OK);
                EXPECT_EQ(state, WEFT_UNIT_READY);
                order += "1";
                EXPECT_EQ(weft_unit_yield_to(parent), WEFT_OK) << weft_error_text();
                order += "2";
            },
            &how);
        order += "p";
        EXPECT_EQ(child.free(), WEFT_OK);
        EXPECT_EQ(order, "1p2");
    }
}

TEST_P(ChildFirst, AChildThatExitsOrThrowsOrIsDetachedLetsItsParentGoOn) {
    for (int i = 0; i < 3; ++i) {
        Ult exits([] { weft_unit_exit(); }, &how), throws([] { throw std::runtime_error("child"); }, &how);
        EXPECT_EQ(exits.free(), WEFT_OK);
        EXPECT_EQ(throws.end(), WEFT_OUTCOME_EXCEPTION);
        int runs = 0;
        auto run = [](void* times) { ++*static_cast<int*>(times); };
        auto yield_and_run = [](void* times) {
            weft_unit_yield();
            ++*static_cast<int*>(times);
        };
        EXPECT_EQ(weft_ult_spawn(nullptr, run, &runs, &how, nullptr), WEFT_OK);
        EXPECT_EQ(runs, 1);
        EXPECT_EQ(weft_ult_spawn(nullptr, yield_and_run, &runs, &how, nullptr), WEFT_OK);
        EXPECT_EQ(runs, 1);
        while (runs < 2) weft_unit_yield();
    }
}

TEST_P(ChildFirst, AParentThatIsAskedToEndMeanwhileDoesSoWhenItComesBack) {
    if ((weft_features() & WEFT_FEATURE_CANCEL) == 0) GTEST_SKIP() << "nobody can be asked";
    for (int i = 0; i < 3; ++i) {
        weft_unit *asked = nullptr, *made = nullptr;
        auto ask = [](void* unit) {
            EXPECT_EQ(weft_unit_cancel(*static_cast<weft_unit**>(unit)), WEFT_OK);
            EXPECT_EQ(weft_unit_yield(), WEFT_OK);
        };
        bool went_on = false;
        Ult parent([&] {
            asked = weft_unit_self();
            EXPECT_EQ(weft_ult_spawn(nullptr, ask, &asked, &how, &made), WEFT_OK);
            went_on = true;
        });
        EXPECT_EQ(parent.end(), WEFT_OUTCOME_CANCELLED);
        EXPECT_FALSE(went_on);
        EXPECT_EQ(weft_unit_join_free(made), WEFT_OK);
    }
}

TEST_P(ChildFirst, ChildrenOfChildrenAllComeBackWhenTheInnermostSuspends) {
    constexpr int deep = 50;
    std::string order;
    weft_unit* innermost = nullptr;
    std::function<void(int)> go = [&](int level) {
        if (level == deep) {
            weft_unit_suspend([](weft_unit* unit, void* to) { *static_cast<weft_unit**>(to) = unit; }, &innermost);
            order += "i";
            return;
        }
        Ult child([&, level] { go(level + 1); }, &how);
        order += "u";
        EXPECT_EQ(child.free(), WEFT_OK);
    };
    Ult outer([&] { go(0); });
    weft_unit_yield();
    while (order.size() < deep) weft_unit_yield();
    EXPECT_EQ(order, std::string(deep, 'u'));
    EXPECT_EQ(weft_unit_resume(innermost), WEFT_OK);
    EXPECT_EQ(outer.free(), WEFT_OK);
    EXPECT_EQ(order, std::string(deep, 'u') + "i");
}

// The first child comes to its end when its parent is about to be run again, but has spawned the
// second one in the same place meanwhile.
TEST_P(ChildFirst, AChildThatSuspendsEndsWhileItsParentIsReadyBehindAnother) {
    std::string order;
    weft_unit *first = nullptr, *children[2] = {};
    struct Suspends {
        weft_unit*& self;
        std::string& order;
    } suspends{first, order};
    auto suspend = [](void* raw) {
        auto& mine = *static_cast<Suspends*>(raw);
        weft_unit_suspend([](weft_unit* unit, void* to) { *static_cast<weft_unit**>(to) = unit; }, &mine.self);
        mine.order += "1";
    };
    auto resume = [](void* raw) {
        auto& mine = *static_cast<Suspends*>(raw);
        EXPECT_EQ(weft_unit_resume(mine.self), WEFT_OK);
        mine.order += "2";
        EXPECT_EQ(weft_unit_yield(), WEFT_OK);
        mine.order += "3";
    };
    Ult parent([&] {
        for (int i = 0; i < 2; ++i)
            EXPECT_EQ(weft_ult_spawn(nullptr, i == 0 ? +suspend : +resume, &suspends, &how, &children[i]), WEFT_OK);
        order += "p";
        EXPECT_EQ(weft_unit_join_free_many(children, 2), WEFT_OK);
    });
    EXPECT_EQ(parent.free(), WEFT_OK);
    EXPECT_EQ(order[0], '2');
    for (const char each : {'1', '3', 'p'}) EXPECT_NE(order.find(each), std::string::npos);
    EXPECT_EQ(order.size(), 4u);
}

// The parent has been run by another stream when its child returns, or has not; it waits for the
// child with and without a deadline.
TEST(Call, AParentThatItsChildLeavesInADequeMayBeStolenMeanwhile) {
    weft_settings settings = with_streams(2);
    settings.pool = WEFT_POOL_DEQUE;
    Runtime runtime(settings);
    weft_unit_options how = child_first(WEFT_KIND_DEFAULT);
    for (int round = 0; round < 20; ++round) {
        Ult([&] {
            int sum = 0;
            for (int i = 0; i < 6; ++i) {
                atomic<int> runs{0};
                weft_unit* child = nullptr;
                struct Child {
                    atomic<int>& runs;
                    int work;
                } what{runs, round};
                auto body = [](void* raw) {
                    auto& mine = *static_cast<Child*>(raw);
                    for (int k = 0; k < mine.work; ++k) mine.runs.fetch_add(1);
                    if (mine.work % 3 == 0) weft_unit_yield();
                };
                EXPECT_EQ(weft_ult_spawn(nullptr, body, &what, &how, &child), WEFT_OK);
                if (round % 2 == 0) weft_unit_join_until(child, weft_now_ns() + 1);
                EXPECT_EQ(weft_unit_join_free(child), WEFT_OK);
                sum += runs.load();
            }
            EXPECT_EQ(sum, 6 * round);
        }).join();
    }
}

TEST(Call, IsNoSuspensionForTheCounters) {
    Runtime runtime;
    warm_up();
    const auto finished = counter("/units/count/finished"), suspended = counter("/units/count/suspended"),
               resumed = counter("/units/count/resumed");
    for (int i = 0; i < 10; ++i) {
        Ult child([] {});
        EXPECT_EQ(child.free(), WEFT_OK);
    }
    EXPECT_EQ(counter("/units/count/finished") - finished, 10u);
    if (!calls) return;
    EXPECT_EQ(counter("/units/count/suspended"), suspended);
    EXPECT_EQ(counter("/units/count/resumed"), resumed);
}

}   // namespace
