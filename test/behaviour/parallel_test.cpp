// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lazy fork-join: weft::invoke and weft_invoke.
#include <weft/parallel.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/forks.hpp"
#include "test/behaviour/waiting.hpp"
#include "test/behaviour/windows.hpp"

using namespace weft_test;

// forks.c
extern "C" {
weft_status fork_in_c(void (*f)(void* argument), void* f_argument, void (*g)(void* argument), void* g_argument);
long fib_by_invoke(int n);
long fib_by_jobs(int n);
extern weft_status (*const invoke_by_address)(void (*f)(void* argument), void* f_argument, void (*g)(void* argument),
                                              void* g_argument);
}

namespace {

constexpr weft_kind all_kinds[] = {WEFT_KIND_FULL, WEFT_KIND_LSA, WEFT_KIND_ROC,
                                   WEFT_KIND_SS,   WEFT_KIND_SC,  WEFT_KIND_RTC};
constexpr weft_kind ult_kinds[] = {WEFT_KIND_FULL, WEFT_KIND_LSA, WEFT_KIND_ROC, WEFT_KIND_SS, WEFT_KIND_SC};

weft_unit_options of_kind(weft_kind kind) {
    weft_unit_options made = options();
    made.kind = kind;
    return made;
}

weft_settings two_with(weft_pool_kind pool) {
    weft_settings settings = with_streams(2);
    settings.pool = pool;
    return settings;
}

long fib(int n) {
    if (n < 2) return n;
    auto [a, b] = weft::invoke([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
    return a + b;
}

std::uint64_t created() { return counter("/units/count/created"); }
std::uint64_t stolen() { return counter("/units/count/stolen"); }
std::uint64_t slept() { return counter("/streams/count/slept"); }

void run_as(weft_kind kind, std::function<void()> body) {
    const auto chosen = of_kind(kind);
    weft_unit* unit = nullptr;
    ASSERT_EQ(weft_ult_spawn(
                  nullptr, [](void* raw) { (*static_cast<std::function<void()>*>(raw))(); }, &body, &chosen, &unit),
              WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
}

}   // namespace

// ---- the second branch is not taken -------------------------------------------------------------

TEST(Invoke, CallsTheSecondBranchInPlaceWhereNobodyTakesIt) {
    Runtime runtime;
    for (const weft_kind kind : all_kinds) {
        run_as(kind, [] {
            const std::uint64_t before = created();
            weft_unit* const self = weft_unit_self();
            int order = 0;
            char* first_frame = nullptr;
            weft::invoke(
                [&] {
                    char here;
                    first_frame = &here;
                    EXPECT_EQ(order++, 0);
                    EXPECT_EQ(weft_unit_self(), self);
                },
                [&] {
                    char here;
                    EXPECT_LT(std::abs(first_frame - &here), 4096);
                    EXPECT_EQ(order++, 1);
                    EXPECT_EQ(weft_unit_self(), self);
                });
            EXPECT_EQ(order, 2);
            EXPECT_EQ(fib(15), 610);
            EXPECT_EQ(created(), before);
        });
    }
    EXPECT_EQ(fib(15), 610);
    EXPECT_EQ(stolen(), 0u);
}

TEST(Invoke, ReturnsWhatTheBranchesReturn) {
    Runtime runtime;
    const auto both = weft::invoke([] { return 1; }, [] { return std::string("two"); });
    static_assert(std::is_same_v<decltype(both), const std::pair<int, std::string>>);
    EXPECT_EQ(both.first, 1);
    EXPECT_EQ(both.second, "two");
    EXPECT_EQ(weft::invoke([] {}, [] { return 2; }), 2);
    EXPECT_EQ(weft::invoke([] { return 1; }, [] {}), 1);
    auto [only_moved, third, fourth] = weft::invoke([] { return std::make_unique<int>(1); }, [] {}, [] { return 3; },
                                                    [] { return std::string("four"); });
    EXPECT_EQ(*only_moved, 1);
    EXPECT_EQ(third, 3);
    EXPECT_EQ(fourth, "four");
    int ran = 0;
    static_assert(std::is_void_v<decltype(weft::invoke([] {}, [] {}, [] {}))>);
    weft::invoke([&] { ++ran; }, [&] { ++ran; }, [&] { ++ran; });
    EXPECT_EQ(ran, 3);
    int object = 0;
    EXPECT_EQ(weft::invoke([&]() -> int& { return object; }, [] { return 1; }).first, 0);
}

// Counts the calls of this object, as if it were not copied.
struct Counting {
    int calls = 0;
    atomic<bool>* begun = nullptr;

    void operator()() {
        ++calls;
        if (begun != nullptr) begun->store(true);
    }
};

TEST(Invoke, CallsTheVeryBranchThatItIsGivenByName) {
    Runtime runtime(2);
    atomic<bool> begun{false};
    Counting here, there{0, &begun};
    weft::invoke([] {}, here);
    weft::invoke(
        [&] {
            EXPECT_TRUE(holds_at_last([&] {
                weft::invoke([] {}, [] {});
                return begun.load();
            }));
        },
        there);
    EXPECT_EQ(here.calls, 1);
    EXPECT_EQ(there.calls, 1);
}

// The second branch is the last thing that the function does, so the compiler may make a loop of
// it; the branch that a thief takes has its own `n`.
TEST(Invoke, ABranchThatIsCopiedHasWhatItWasGiven) {
    struct Countdown {
        static void run(int n, atomic<int>* seen) {
            if (n == 0) return;
            weft::invoke(
                [n, seen] {
                    seen[n].fetch_add(1);
                    if (n % 64 == 0) weft_unit_yield();
                },
                [n, seen] { run(n - 1, seen); });
        }
    };
    for (const std::size_t streams : {1, 2}) {
        Runtime runtime(streams);
        atomic<int> seen[301] = {};
        weft_unit_options large = options();
        large.stack_bytes = std::size_t{1} << 22;
        Ult unit([&] { Countdown::run(300, seen); }, &large);
        EXPECT_EQ(unit.join(), WEFT_OK);
        for (int n = 1; n <= 300; ++n) EXPECT_EQ(seen[n].load(), 1) << n;
    }
}

TEST(Invoke, ForksAsDeepAsTheStackAllows) {
    // which keeps 65,536 frames of a stack, and no more
    constexpr long depth = weft::config::thread_sanitizer ? 2'000 : 100'000;
    for (const std::size_t streams : {1, 2}) {
        Runtime runtime(streams);
        struct Deep {
            static long sum(long left) {
                if (left == 0) return 0;
                return weft::invoke([&] { return sum(left - 1); }, [] { return 1L; }).first + 1;
            }
        };
        weft_unit_options large = options();
        large.stack_bytes = std::size_t{1} << 29;
        long sum = 0;
        Ult unit([&] { sum = Deep::sum(depth); }, &large);
        EXPECT_EQ(unit.join(), WEFT_OK);
        EXPECT_EQ(sum, depth);
    }
}

TEST(Invoke, AUnitLeavesInTheMidstOfThousandsOfForks) {
    constexpr int depth = 5'000;
    for (const std::size_t streams : {1, 2}) {
        Runtime runtime(streams);
        struct Deep {
            static int sum(int left) {
                if (left == 0) {
                    weft_unit_yield();
                    return 0;
                }
                const auto [a, b] = weft::invoke([left] { return sum(left - 1); }, [] { return 1; });
                return a + b;
            }
        };
        weft_unit_options large = options();
        large.stack_bytes = std::size_t{1} << 24;
        int sum = 0;
        Ult unit([&] { sum = Deep::sum(depth); }, &large);
        EXPECT_EQ(unit.join(), WEFT_OK);
        EXPECT_EQ(sum, depth);
    }
}

TEST(Invoke, WorksOutsideOfStreamsAndInCallsThatAreNoUnits) {
    EXPECT_EQ(fib(10), 55);   // before the runtime
    Runtime runtime;
    long on_thread = 0, posted = 0;
    std::thread([&] {
        on_thread = fib(10);
        EXPECT_EQ(weft_invoke([](void*) {}, nullptr, [](void* to) { ++*static_cast<long*>(to); }, &on_thread), WEFT_OK);
    }).join();
    EXPECT_EQ(on_thread, 56);
    struct Call {
        long& to;
        atomic<bool> made{false};
    } call{posted};
    ASSERT_EQ(weft_stream_post(
                  weft_stream_self(),
                  [](void* raw) {
                      auto* made = static_cast<Call*>(raw);
                      made->to = fib(10);
                      made->made = true;
                  },
                  &call),
              WEFT_OK);
    until_set(call.made);
    EXPECT_EQ(posted, 55);
}

TEST(Invoke, RefusesNoFunctionInC) {
    Runtime runtime;
    int ran = 0;
    const auto count = [](void* to) { ++*static_cast<int*>(to); };
    EXPECT_EQ(weft_invoke(nullptr, nullptr, count, &ran), WEFT_INVALID);
    EXPECT_EQ(weft_invoke(count, &ran, nullptr, nullptr), WEFT_INVALID);
    EXPECT_NE(std::string(weft_error_text()).find('g'), std::string::npos);
    EXPECT_EQ(fork_in_c(count, &ran, nullptr, nullptr), WEFT_INVALID);
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(weft_invoke(count, &ran, count, &ran), WEFT_OK);
    EXPECT_EQ(ran, 2);
}

TEST(InvokeInC, CallsTheSecondBranchInPlaceWhereNobodyTakesIt) {
    EXPECT_EQ(fib_by_invoke(10), 55);   // before the runtime
    EXPECT_EQ(fib_by_jobs(10), 55);
    Runtime runtime;
    for (const weft_kind kind : all_kinds) {
        run_as(kind, [] {
            const std::uint64_t before = created();
            EXPECT_EQ(fib_by_invoke(15), 610);
            EXPECT_EQ(fib_by_jobs(15), 610);
            EXPECT_EQ(created(), before);
        });
    }
    EXPECT_EQ(stolen(), 0u);
}

TEST(InvokeInC, IsTheLibrarysCallToOtherLanguages) {
    Runtime runtime;
    std::string order;
    const auto f = [](void* to) { *static_cast<std::string*>(to) += "f"; };
    const auto g = [](void* to) { *static_cast<std::string*>(to) += "g"; };
    EXPECT_EQ(weft_invoke_called(f, &order, g, &order), WEFT_OK);
    EXPECT_EQ(invoke_by_address(f, &order, g, &order), WEFT_OK);
    EXPECT_EQ(order, "fgfg");
}

TEST(InvokeInC, OtherStreamsTakeBranches) {
    for (const auto pool : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE}) {
        Runtime runtime(two_with(pool));
        for (const weft_kind kind : all_kinds) {
            run_as(kind, [] {
                const std::uint64_t before = stolen();
                EXPECT_TRUE(holds_at_last([&] {
                    EXPECT_EQ(fib_by_invoke(12), 144);
                    EXPECT_EQ(fib_by_jobs(12), 144);
                    return stolen() > before;
                }));
            });
        }
        until([] { return units_alive() == 1; });
    }
}

// Both branches suspend, and come back on whichever stream is free.
TEST(InvokeInC, AUnitThatSuspendsInABranchJoinsWhereItComesBack) {
    Runtime runtime(two_with(WEFT_POOL_SHARED));
    for (int i = 0; i < 20; ++i) {
        atomic<int> ran{0};
        const auto branch = [](void* to) {
            for (int k = 0; k < 3; ++k) weft_unit_yield();
            weft_sleep_until(in_ms(0));
            EXPECT_EQ(fib_by_invoke(8), 21);
            EXPECT_EQ(fib_by_jobs(8), 21);
            static_cast<atomic<int>*>(to)->fetch_add(1);
        };
        run_as(WEFT_KIND_FULL, [&] {
            EXPECT_EQ(fork_in_c(branch, &ran, branch, &ran), WEFT_OK);
            EXPECT_EQ(weft_invoke_called(branch, &ran, branch, &ran), WEFT_OK);
        });
        EXPECT_EQ(ran.load(), 4);
    }
}

// ---- another stream takes it --------------------------------------------------------------------

TEST(Invoke, AnotherStreamTakesTheSecondBranchAndRunsItAsAUnit) {
    for (const auto pool : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE}) {
        Runtime runtime(two_with(pool));
        for (const weft_kind kind : all_kinds) {
            run_as(kind, [kind] {
                const std::uint64_t before = created();
                weft_unit* const self = weft_unit_self();
                weft_stream* const here = weft_stream_self();
                EXPECT_EQ(have_taken([&] {
                              EXPECT_NE(weft_unit_self(), self);
                              EXPECT_NE(weft_stream_self(), here);
                              weft_kind as = WEFT_KIND_DEFAULT;
                              EXPECT_EQ(weft_unit_kind_get(weft_unit_self(), &as), WEFT_OK);
                              EXPECT_EQ(as == WEFT_KIND_RTC,
                                        kind == WEFT_KIND_RTC);   // it can do what its caller could
                              return fib(10);
                          }),
                          55);
                EXPECT_GT(created(), before);
                EXPECT_EQ(weft_unit_self(), self);
            });
        }
        EXPECT_GE(stolen(), std::size(all_kinds));
        until([] { return units_alive() == 1; });
    }
}

TEST(Invoke, ShowsAUnitsFirstForkBeforeAnybodyAsks) {
    Runtime runtime(2);
    for (int i = 0; i < 20; ++i) {
        Ult unit(
            [] {
                atomic<bool> taken{false};
                weft::invoke([&] { EXPECT_TRUE(holds_at_last([&] { return taken.load(); })); }, [&] { taken = true; });
            },
            nullptr, pool_of(0));
        EXPECT_EQ(unit.join(), WEFT_OK);
    }
}

TEST(Invoke, TheOldestIsTakenFirst) {
    Runtime runtime(2);
    std::string order;
    atomic<bool> taken{false};
    weft::invoke(
        [&] {
            weft::invoke([&] { EXPECT_TRUE(holds_at_last([&] { return taken.load(); })); }, [&] { order += "inner "; });
        },
        [&] {
            order += "outer ";
            taken = true;
        });
    EXPECT_EQ(order, "outer inner ");
}

TEST(Invoke, WakesAStreamThatSleeps) {
    for (const std::uint64_t spin_ns : {std::uint64_t{1}, std::uint64_t{0}}) {
        weft_settings settings = two_with(WEFT_POOL_PRIVATE);
        settings.spin_ns = spin_ns;
        Runtime runtime(settings);
        for (int i = 0; i < 20; ++i) {
            const std::uint64_t before = slept();
            have_taken([] {});
            ASSERT_TRUE(holds_at_last([&] { return slept() > before; }));   // it has run out of work, and asked
        }
    }
}

// A fork that was not requested is its stream's own. The stream's next fork publishes it, since the
// other stream left a steal request before it slept.
TEST(Invoke, ShowsAnOlderForkToAStreamThatFellAsleepMeanwhile) {
    weft_settings settings = two_with(WEFT_POOL_PRIVATE);
    settings.spin_ns = 1;
    Runtime runtime(settings);
    atomic<bool> busy{false}, over{false}, older_ran{false};
    Ult holds_the_other(
        [&] {
            busy = true;
            EXPECT_TRUE(holds_at_last([&] { return over.load(); }));
        },
        nullptr, pool_of(1));
    ASSERT_TRUE(holds_at_last([&] { return busy.load(); }));
    for (int i = 0; i < 3; ++i) weft::invoke([] {}, [] {});   // the first, and those requested before it was busy
    const std::uint64_t before = stolen();
    weft::invoke(
        [&] {
            const std::uint64_t slept_before = slept();
            over = true;
            ASSERT_TRUE(holds_at_last([&] { return slept() > slept_before; }));
            EXPECT_EQ(stolen(), before);
            weft::invoke([&] { EXPECT_TRUE(holds_at_last([&] { return older_ran.load(); })); }, [] {});
        },
        [&] { older_ran = true; });
    EXPECT_GT(stolen(), before);
}

// One stream searches for work, so no other is woken for a published branch; then it finds a unit
// instead, and must wake another stream for the branch.
TEST(Invoke, ABranchIsTakenThoughWhoLookedForWorkHasFoundOther) {
    weft_settings settings = two_with(WEFT_POOL_PRIVATE);
    settings.streams = 3;
    settings.spin_ns = 100'000;
    Runtime runtime(settings);
    for (int i = 0; i < 20; ++i) {
        weft_sleep_until(in_ms(1));   // the others sleep
        Ult([] {}, nullptr, pool_of(2)).join();
        atomic<bool> taken{false};
        const auto hold = [&] { EXPECT_TRUE(holds_at_last([&] { return taken.load(); })); };
        Ult forks([&] {
            Ult other(hold, nullptr, pool_of(2));
            weft::invoke(hold, [&] { taken = true; });
            EXPECT_EQ(other.free(), WEFT_OK);
        });
        EXPECT_EQ(forks.free(), WEFT_OK);
    }
}

TEST(Invoke, SpreadsATreeOverStreams) {
    for (const std::size_t streams : {2, 4}) {
        for (const auto pool : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE}) {
            weft_settings settings = two_with(pool);
            settings.streams = streams;
            Runtime runtime(settings);
            for (const weft_kind kind : all_kinds) {
                for (int i = 0; i < 3; ++i) run_as(kind, [] { EXPECT_EQ(fib(19), 4181); });
            }
            EXPECT_EQ(fib(19), 4181);
        }
    }
}

TEST(Invoke, GivesATakenBranchAStackAsLargeAsTheCallers) {
    Runtime runtime(2);
    weft_unit_options large = options();
    large.stack_bytes = 4 << 20;
    std::size_t bytes = 0;
    const auto measure = [&] {
        have_taken([&] {
            weft_stack_info info{};
            info.size = sizeof info;
            EXPECT_EQ(weft_unit_stack_get(weft_unit_self(), &info), WEFT_OK);
            bytes = info.bytes;
        });
    };
    Ult(measure, &large).join();
    EXPECT_GE(bytes, large.stack_bytes - 8192);
    const std::unique_ptr<char[]> memory(new char[2 << 20]);
    weft_unit_options mine = options();
    mine.stack = memory.get();
    mine.stack_bytes = 2 << 20;
    Ult(measure, &mine).join();
    EXPECT_GE(bytes, mine.stack_bytes - 8192);
}

// ---- units that leave their stream with forks outstanding ---------------------------------------

TEST(Invoke, AStreamTakesTheBranchOfItsOwnUnitThatWaits) {
    Runtime runtime;
    for (const weft_kind kind : ult_kinds) {
        run_as(kind, [] {
            atomic<bool> ran{false};
            weft_unit* const self = weft_unit_self();
            weft::invoke(
                [&] {
                    for (int i = 0; i < 1'000 && !ran.load(); ++i) weft_sleep_until(in_ms(1));
                    EXPECT_TRUE(ran.load());
                },
                [&] {
                    EXPECT_NE(weft_unit_self(), self);
                    ran = true;
                });
        });
    }
    EXPECT_EQ(stolen(), std::size(ult_kinds));
}

TEST(Invoke, AUnitThatHasForkedLeavesTheNextOneNothing) {
    Runtime runtime;
    for (const weft_kind kind : all_kinds) {
        for (const bool joined : {false, true}) {   // the scheduler begins it, or its joiner
            const auto chosen = of_kind(kind);
            Ult first([] { weft::invoke([] {}, [] {}); }, &chosen);
            while (!joined && first.state() != WEFT_UNIT_DONE) weft_unit_yield();
            EXPECT_EQ(first.free(), WEFT_OK);
            run_as(WEFT_KIND_LSA, [] {   // a new unit publishes what it leaves behind
                bool ran = false;
                weft::invoke(
                    [&] {
                        for (int i = 0; i < 1'000 && !ran; ++i) weft_sleep_until(in_ms(1));
                        EXPECT_TRUE(ran);
                    },
                    [&] { ran = true; });
            });
        }
    }
}

TEST(Invoke, UnitsThatYieldToEachOtherKeepTheirForksApart) {
    for (const std::size_t streams : {1, 2}) {
        for (const auto pool : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED}) {
            weft_settings settings = two_with(pool);
            settings.streams = streams;
            Runtime runtime(settings);
            struct Tree {
                static int leaves(int depth) {
                    if (depth == 0) {
                        weft_unit_yield();
                        return 1;
                    }
                    auto [a, b] = weft::invoke([=] { return leaves(depth - 1); },
                                               [=] {
                                                   weft_unit_yield();
                                                   return leaves(depth - 1);
                                               });
                    return a + b;
                }
            };
            for (const weft_kind kind : ult_kinds) {
                const auto chosen = of_kind(kind);
                int sums[4] = {};
                {
                    std::vector<std::unique_ptr<Ult>> units;
                    for (int& sum : sums)
                        units.push_back(std::make_unique<Ult>([&] { sum = Tree::leaves(5); }, &chosen));
                }
                for (const int sum : sums) EXPECT_EQ(sum, 32);
            }
            until([] { return units_alive() == 1; });
        }
    }
}

TEST(Invoke, ABranchThatWasTakenMaySuspendAndItsCallerWaits) {
    for (const auto pool : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE}) {
        Runtime runtime(two_with(pool));
        for (const weft_kind kind : ult_kinds) {
            run_as(kind, [] {
                const std::uint64_t begin = weft_now_ns();
                bool ran = false;
                have_taken([&] {
                    EXPECT_EQ(weft_sleep_until(in_ms(5)), WEFT_OK);
                    ran = true;
                });
                EXPECT_TRUE(ran);
                EXPECT_GE(weft_now_ns() - begin, 5 * ms);
            });
        }
    }
}

// A joiner calls the unit that is next anyway, bypassing the check of units that leave, from
// whatever pool; its forks must not lie below those of the unit that it calls.
TEST(Invoke, AUnitThatJoinsTheNextOneKeepsItsForksApart) {
    for (const auto pool : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE}) {
        weft_settings settings = with_streams(1);
        settings.pool = pool;
        Runtime runtime(settings);
        int ran = 0;
        const auto forks_and_yields = [&] {
            weft::invoke(
                [] {
                    weft_unit_yield();
                    weft_unit_yield();
                },
                [&] { ++ran; });
        };
        Ult caller([&] {
            Ult([] {}).join();   // which leaves the stack that the next one is called on
            weft::invoke(
                [&] {
                    Ult called(forks_and_yields), other(forks_and_yields);
                    called.join();
                },
                [&] { ++ran; });
        });
        EXPECT_EQ(caller.join(), WEFT_OK);
        EXPECT_EQ(ran, 3);
    }
}

TEST(Invoke, AUnitJoinsOnAnotherStreamWhatItForkedOnThis) {
    auto settings = two_with(WEFT_POOL_SHARED);
    settings.scheduler = WEFT_SCHED_BASIC;   // otherwise the other stream may steal it from its new pool
    Runtime runtime(settings);
    for (int i = 0; i < 20; ++i) {
        int ran = 0;
        Ult unit([&] {
            weft::invoke(
                [&] {
                    weft_stream* const before = weft_stream_self();
                    EXPECT_EQ(weft_unit_migrate_to_pool(weft_unit_self(),
                                                        before == weft_stream_at(0) ? pool_of(1) : pool_of(0)),
                              WEFT_OK);
                    weft_unit_yield();
                    EXPECT_NE(weft_stream_self(), before);
                    EXPECT_EQ(fib(8), 21);
                },
                [&] { ++ran; });
        });
        EXPECT_EQ(unit.join(), WEFT_OK);
        EXPECT_EQ(ran, 1);
    }
}

TEST(Invoke, GoesOnWhileStreamsComeAndGo) {
    Runtime runtime;
    atomic<bool> over{false};
    std::size_t rounds = 0;
    Ult unit([&] {
        while (!over.load()) {
            EXPECT_EQ(fib(14), 377);
            ++rounds;
            weft_unit_yield();
            std::this_thread::yield();   // the streams get a turn
        }
    });
    for (int i = 0; i < 20; ++i) {
        Stream one, two;
        for (int k = 0; k < 10; ++k) weft_unit_yield();
    }
    over = true;
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_GT(rounds, 0u);
}

// The taken branch waits when its stream is freed; it belongs to its caller's pool, and goes on
// there.
TEST(Invoke, ATakenBranchOutlivesTheStreamThatTookIt) {
    Runtime runtime;
    weft_event event = {};
    atomic<bool> waits{false}, went_on{false};
    auto taker = std::make_unique<Stream>();
    Ult caller([&] {
        have_taken([&] {
            waits = true;
            EXPECT_EQ(weft_event_wait(&event, nullptr), WEFT_OK);
            went_on = true;
        });
        EXPECT_TRUE(went_on.load());
    });
    until_set(waits);
    taker.reset();
    EXPECT_FALSE(went_on.load());
    EXPECT_EQ(weft_event_set(&event, nullptr), WEFT_OK);
    EXPECT_EQ(caller.join(), WEFT_OK);
}

TEST(Invoke, ABranchThatIsTakenOfABoundCallerIsNotBound) {
    Runtime runtime;
    Stream other(make_pool(WEFT_POOL_SHARED));
    weft_pool *bound = nullptr, *of_branch = nullptr;
    Ult caller(
        [&] {
            weft_pool* former = nullptr;
            EXPECT_EQ(weft_unit_bind(&former), WEFT_OK) << weft_error_text();
            EXPECT_EQ(weft_unit_pool_get(weft_unit_self(), &bound), WEFT_OK);
            have_taken([&] { EXPECT_EQ(weft_unit_pool_get(weft_unit_self(), &of_branch), WEFT_OK); });
            EXPECT_EQ(weft_unit_unbind(former), WEFT_OK);
        },
        nullptr, other.pool());
    EXPECT_EQ(caller.join(), WEFT_OK);   // stream 0 takes the branch
    EXPECT_NE(bound, other.pool());
    EXPECT_EQ(of_branch, pool_of(0));
}

// ---- exceptions ---------------------------------------------------------------------------------

TEST(InvokeThrows, WhatTheFirstBranchThrowsAndTheSecondIsNotCalled) {
    Runtime runtime;
    bool ran = false;
    EXPECT_THROW(weft::invoke([] { throw std::runtime_error("first"); }, [&] { ran = true; }), std::runtime_error);
    EXPECT_THROW(weft::invoke([]() -> int { throw std::runtime_error("first"); },
                              [&] {
                                  ran = true;
                                  return 1;
                              }),
                 std::runtime_error);
    EXPECT_FALSE(ran);
    EXPECT_EQ(fib(10), 55);   // nothing is left in the list
}

// The unit has published the branch when it left, and joins it on whichever stream it is then.
TEST(InvokeThrows, WhatABranchThrowsThatHasSuspended) {
    Runtime runtime(two_with(WEFT_POOL_SHARED));
    const auto moves = [] {
        for (int i = 0; i < 3; ++i) weft_unit_yield();
        weft_sleep_until(in_ms(0));
    };
    for (int i = 0; i < 20; ++i) {
        run_as(WEFT_KIND_FULL, [&] {
            int ended = 0;
            EXPECT_THROW(weft::invoke(
                             [&] {
                                 moves();
                                 throw std::runtime_error("first");
                             },
                             [&] { moves(); }),
                         std::runtime_error);
            EXPECT_THROW(weft::invoke([&] { moves(); },
                                      [&]() -> int {
                                          moves();
                                          throw std::logic_error("second");
                                      }),
                         std::logic_error);
            weft::invoke([&] { moves(); }, [&] { ++ended; });
            EXPECT_EQ(ended, 1);
        });
    }
}

TEST(InvokeThrows, WhatTheSecondBranchThrowsInPlace) {
    Runtime runtime;
    EXPECT_THROW(weft::invoke([] { return std::string("dropped"); }, [] { throw std::runtime_error("second"); }),
                 std::runtime_error);
    EXPECT_EQ(fib(10), 55);
}

TEST(InvokeThrows, WhatTheSecondBranchThrowsElsewhere) {
    Runtime runtime(2);
    for (const weft_kind kind : all_kinds) {
        run_as(kind, [] {
            try {
                have_taken([]() -> int { throw std::runtime_error("second"); });
                ADD_FAILURE();
            } catch (const std::runtime_error& thrown) {
                EXPECT_STREQ(thrown.what(), "second");
            }
        });
    }
}

TEST(InvokeThrows, OfTwoExceptionsTheFirstAndWaitsForTheSecondBranch) {
    Runtime runtime(2);
    for (const bool second_throws : {false, true}) {
        for (const weft_kind kind : all_kinds) {
            run_as(kind, [second_throws] {
                atomic<bool> ended{false};
                try {
                    have_taken(
                        [&] {
                            std::this_thread::sleep_for(std::chrono::milliseconds(2));
                            ended = true;
                            if (second_throws) throw std::runtime_error("second");
                            return std::string("a result that is dropped, and long enough to lie on the heap");
                        },
                        [] { throw std::logic_error("first"); });
                    ADD_FAILURE();
                } catch (const std::logic_error& thrown) {
                    EXPECT_STREQ(thrown.what(), "first");
                    EXPECT_TRUE(ended.load());
                }
            });
        }
    }
}

TEST(InvokeThrows, AndMayBeCalledWhereAnExceptionIsHandled) {
    Runtime runtime(2);
    try {
        throw std::runtime_error("outer");
    } catch (const std::runtime_error& thrown) {
        have_taken([] { weft_sleep_until(in_ms(2)); });
        EXPECT_EQ(fib(12), 144);
        EXPECT_STREQ(thrown.what(), "outer");
    }
    EXPECT_EQ(std::current_exception(), nullptr);
}

TEST(InvokeThrows, AResultThatIsMovedOutOfATakenBranch) {
    Runtime runtime(2);
    auto kept = have_taken([] { return std::make_unique<int>(7); });
    EXPECT_EQ(*kept, 7);
}

// As many results are destroyed as are made, whether in place or by a thief.
struct Counted {
    static inline atomic<int> alive{0};
    Counted() { ++alive; }
    Counted(Counted&&) noexcept { ++alive; }
    ~Counted() { --alive; }
};

TEST(InvokeThrows, NoResultIsLost) {
    Runtime runtime(2);
    const auto make = [] { return Counted(); };
    for (int i = 0; i < 20; ++i) {
        have_taken(make);
        EXPECT_THROW(have_taken(make, [] { throw std::runtime_error("first"); }), std::runtime_error);
        static_cast<void>(weft::invoke(make, make));
        EXPECT_THROW(weft::invoke(make, []() -> int { throw std::runtime_error("second"); }), std::runtime_error);
        EXPECT_THROW(weft::invoke(make,
                                  [&] {
                                      have_taken([] {}, [] { throw std::runtime_error("inner"); });
                                      return make();
                                  }),
                     std::runtime_error);
    }
    EXPECT_EQ(Counted::alive.load(), 0);
}

// ---- cancellation -------------------------------------------------------------------------------

TEST(InvokeEnds, AUnitIsCancelledAfterItsJoin) {
    Runtime runtime;
    atomic<bool> yields{false}, asked{false};
    bool second = false, after_join = false, after_yield = false;
    Ult unit([&] {
        weft::invoke(
            [&] {
                yields = true;
                until_set(asked);
                weft_unit_yield();
            },
            [&] { second = true; });
        after_join = true;
        weft_unit_yield();
        after_yield = true;
    });
    until_set(yields);
    EXPECT_EQ(weft_unit_cancel(unit.handle()), WEFT_OK);
    asked = true;
    EXPECT_EQ(unit.outcome(), WEFT_OUTCOME_CANCELLED);
    EXPECT_TRUE(second);
    EXPECT_TRUE(after_join);
    EXPECT_FALSE(after_yield);
}

TEST(InvokeEnds, ATakenBranchThatIsCancelledComesToItsEnd) {
    Runtime runtime(2);
    bool ended = false;
    have_taken([&] {
        EXPECT_EQ(weft_unit_cancel(weft_unit_self()), WEFT_OK);
        weft_unit_yield();
        weft_sleep_until(in_ms(1));
        ended = true;
    });
    EXPECT_TRUE(ended);
}

TEST(InvokeEnds, NoUnitExitsBetweenAForkAndItsJoin) {
    Runtime runtime(2);
    bool second = false;
    Ult target([] {}, nullptr, pool_of(0));
    Ult unit([&] {
        weft::invoke(
            [&] {
                EXPECT_EQ(weft_unit_exit(), WEFT_WRONG_STATE);
                weft_unit_yield();
                EXPECT_EQ(weft_unit_exit(), WEFT_WRONG_STATE);
                EXPECT_EQ(weft_unit_hand_off(target.handle(), WEFT_TO_READY, WEFT_BY_EXIT), WEFT_WRONG_STATE);
            },
            [&] { second = true; });
        have_taken([] { EXPECT_EQ(weft_unit_exit(), WEFT_WRONG_STATE); });
        weft_unit_exit();
        ADD_FAILURE();
    });
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_TRUE(second);
}

// ---- race windows -------------------------------------------------------------------------------

// The thief has run the branch, and the branch's caller waits before the thief reports the end; and
// the other way round.
TEST(InvokeWindows, TheEndOfATakenBranchIsNotMissed) {
    for (const weft_kind kind : {WEFT_KIND_FULL, WEFT_KIND_SC, WEFT_KIND_RTC}) {
        Runtime runtime(streams_with(2, WEFT_POOL_PRIVATE));
        {
            const std::uint64_t before = counter("/units/count/suspended");
            Stop stop(Probe::job_before_done, carrier(1));
            const auto chosen = of_kind(kind);
            Ult unit(
                [&] {
                    atomic<bool> begun{false};
                    weft::invoke(
                        [&] {
                            EXPECT_TRUE(holds_at_last([&] { return begun.load(); }));
                            stop.await();
                        },
                        [&] { begun = true; });
                },
                &chosen);
            while (weft_unit_try_join(unit.handle()) == WEFT_BUSY && counter("/units/count/suspended") == before &&
                   kind != WEFT_KIND_RTC)
                weft_unit_yield();
            stop.let_go();
            EXPECT_EQ(unit.join(), WEFT_OK);
        }
        weft::probe_hook.store(nullptr);
    }
}

// A job has been published, and a stream takes it that searches by itself, before it is woken.
TEST(InvokeWindows, AStreamThatIsAboutToSleepSeesWhatIsShownAtThatMoment) {
    Runtime runtime(streams_with(2, WEFT_POOL_PRIVATE));
    for (const auto where : {Probe::sleep_before_recheck, Probe::sleep_before_wait}) {
        {
            Stop stop(where, carrier(1));
            Ult rouse([] {}, nullptr, pool_of(1));
            stop.await();
            atomic<bool> begun{false};
            weft::invoke(
                [&] {
                    stop.let_go();
                    EXPECT_TRUE(holds_at_last([&] { return begun.load(); }));
                },
                [&] { begun = true; });
        }
        weft::probe_hook.store(nullptr);
    }
}
