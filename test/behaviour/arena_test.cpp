// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fork-join arenas: which harts help with their jobs, and which do not.
#include <weft/weft.hpp>

#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/forks.hpp"
#include "test/behaviour/guests.hpp"
#include "test/behaviour/waiting.hpp"

using namespace weft_test;

namespace {

long fib(int n) {
    if (n < 2) return n;
    auto [a, b] = weft::invoke([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
    return a + b;
}

template <class Body>
weft_status execute(weft_arena* arena, Body&& body) {
    using Function = std::remove_reference_t<Body>;
    return weft_arena_execute(
        arena, [](void* raw) { (*static_cast<Function*>(raw))(); }, &body);
}

std::uint64_t stolen() { return counter("/units/count/stolen"); }

// Calls f(0) to f(count - 1); other harts may take each of the calls.
template <class F>
void each(int first, int count, const F& f) {
    if (count == 1) return f(first);
    weft::invoke([&] { each(first, count / 2, f); }, [&] { each(first + count / 2, count - count / 2, f); });
}

// Yields until `condition` holds; another context, or another hart, makes it true.
template <class Condition>
bool holds_after_yields(Condition condition) {
    return holds_at_last([&] {
        EXPECT_EQ(weft_unit_yield(), WEFT_OK);
        return condition();
    });
}

// Runs bodies as ULTs on two streams, all at once.
void at_once(std::size_t count, const std::function<void(std::size_t)>& body) {
    std::vector<std::unique_ptr<Ult>> units;
    for (std::size_t i = 0; i < count; ++i)
        units.push_back(std::make_unique<Ult>([&body, i] { body(i); }, nullptr, pool_of(i % 2)));
    for (auto& unit : units) EXPECT_EQ(unit->join(), WEFT_OK);
}

TEST(Arena, ACallbackOnItsHartIsOutsideOfIt) {
    Runtime runtime(with_streams(2));
    const weft::arena arena;
    struct Seen {
        atomic<bool> inside{false}, over{false};
        weft_unit* spawned = nullptr;
        weft_domain* domain = nullptr;
    } seen;
    Ult unit(
        [&] {
            arena.execute([&] {
                seen.inside = true;
                while (!seen.over) weft_unit_yield();
            });
        },
        nullptr, pool_of(1));
    until([&] { return seen.inside.load(); });
    EXPECT_EQ(weft_stream_post(
                  weft_stream_at(1),
                  [](void* raw) {
                      auto& at = *static_cast<Seen*>(raw);
                      EXPECT_EQ(weft_ult_spawn(
                                    nullptr,
                                    [](void* here) {
                                        static_cast<Seen*>(here)->domain = weft_domain_self();
                                        static_cast<Seen*>(here)->over = true;
                                    },
                                    raw, nullptr, &at.spawned),
                                WEFT_OK);
                  },
                  &seen),
              WEFT_OK);
    EXPECT_EQ(unit.free(), WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(seen.spawned), WEFT_OK);
    EXPECT_EQ(seen.domain, nullptr);
}

TEST(Arena, WhatIsSpawnedChildFirstForAPoolBeginsThere) {
    Runtime runtime(with_streams(2));
    const weft::arena arena;
    weft_domain* seen = nullptr;
    weft_unit* child = nullptr;
    arena.execute([&] {
        weft_unit_options options{};
        options.size = sizeof options;
        options.child_first = true;
        EXPECT_EQ(weft_ult_spawn(
                      pool_of(0), [](void* to) { *static_cast<weft_domain**>(to) = weft_domain_self(); }, &seen,
                      &options, &child),
                  WEFT_OK);
        EXPECT_EQ(weft_ult_spawn(
                      nullptr, [](void*) { EXPECT_NE(weft_domain_self(), nullptr); }, nullptr, &options, nullptr),
                  WEFT_OK);
    });
    EXPECT_EQ(weft_unit_join_free(child), WEFT_OK);
    EXPECT_EQ(seen, nullptr);
}

TEST(Arena, ThatYieldsLetsTheUnitsOfItsStreamHaveATurn) {
    Runtime runtime;   // one stream, with a private pool
    const weft::arena arena;
    atomic<bool> flag{false};
    Ult sets([&] { flag = true; });
    arena.execute([&] {
        while (!flag) EXPECT_EQ(weft_unit_yield(), WEFT_OK);
    });
    EXPECT_EQ(sets.free(), WEFT_OK);
}

// The unit enters on a hart of the first arena, which may end meanwhile.
TEST(Arena, IsEnteredByAUnitThatAContextOfAnotherOneHasLeftFor) {
    weft_settings settings = with_streams(2);
    settings.pool = WEFT_POOL_SHARED;
    Runtime runtime(settings);
    const weft::arena first, second;
    for (int round = 0; round < 3; ++round) {
        long sum = 0;
        Ult left_for([&] { sum = second.execute([] { return fib(4); }); });
        first.execute([&] {
            weft::invoke(
                [&] {
                    const weft_status left = weft_unit_yield_to(left_for.handle());
                    // the unit may have begun elsewhere, and wait in the second arena for a hart
                    EXPECT_TRUE(left == WEFT_OK || left == WEFT_WRONG_STATE || left == WEFT_UNSUPPORTED) << left;
                },
                [] { fib(2); });
        });
        EXPECT_EQ(left_for.free(), WEFT_OK);
        EXPECT_EQ(sum, 3);
    }
}

}   // namespace

TEST(Arena, CallsTheFunctionAsTheSameUnit) {
    for (const std::size_t harts : {0, 1, 2, 5}) {
        Runtime runtime;
        weft::arena arena(harts);
        EXPECT_EQ(arena.harts(), harts == 0 ? weft_hart_limit() : harts);
        const auto play = [&] {
            weft_unit* const self = weft_unit_self();
            EXPECT_EQ(weft_arena_self(), nullptr);
            EXPECT_EQ(arena.execute([&] {
                EXPECT_EQ(weft_unit_self(), self);
                EXPECT_EQ(weft_arena_self(), arena.native_handle());
                return fib(12);
            }),
                      144);
            EXPECT_EQ(weft_arena_self(), nullptr);
            EXPECT_EQ(weft_domain_self(), nullptr);
            EXPECT_EQ(weft_unit_self(), self);
        };
        play();   // the primary unit, which is bound to stream 0
        for (const weft_kind kind : {WEFT_KIND_FULL, WEFT_KIND_LSA, WEFT_KIND_ROC, WEFT_KIND_SS, WEFT_KIND_SC}) {
            weft_unit_options chosen = options();
            chosen.kind = kind;
            EXPECT_EQ(Ult(play, &chosen).join(), WEFT_OK);
        }
    }
}

TEST(Arena, AHartOfItsOwnTakesWhatIsForked) {
    if (weft_hart_limit() < 2) GTEST_SKIP() << "there is one hart";
    for (const std::size_t streams : {1, 2}) {
        Runtime runtime(streams);
        weft::arena arena(2);
        for (const bool primary : {true, false}) {
            const auto play = [&] {
                arena.execute([&] {
                    for (int i = 0; i < 5; ++i) {
                        weft_stream* const here = weft_stream_self();
                        have_taken([&] {
                            EXPECT_NE(weft_stream_self(), here);
                            EXPECT_EQ(weft_arena_self(), arena.native_handle());
                            EXPECT_EQ(fib(10), 55);
                        });
                    }
                });
            };
            if (primary) {
                play();
            } else {
                EXPECT_EQ(Ult(play).join(), WEFT_OK);
            }
        }
        EXPECT_GE(stolen(), 10u);
    }
}

// The application's streams have nothing to do, and yet do not help; nor does the arena help with
// jobs that are forked outside.
TEST(Arena, NobodyElseTakesWhatIsForkedInIt) {
    Runtime runtime(2);
    weft::arena arena(1);
    Ult caller([&] {
        arena.execute([] {
            weft_stream* const here = weft_stream_self();
            const std::uint64_t before = counter("/units/count/created");
            for (int i = 0; i < 200; ++i) {
                weft::invoke([] { std::this_thread::yield(); }, [&] { EXPECT_EQ(weft_stream_self(), here); });
            }
            EXPECT_EQ(counter("/units/count/created"), before);
        });
    });
    EXPECT_EQ(caller.join(), WEFT_OK);
}

// The contexts of a custom domain fork for themselves: outside the domain, it is not known which
// other contexts they may run beside.
TEST(Arena, WhatADomainWithoutOneForksIsSharedWithNobody) {
    Runtime runtime(2);
    atomic<long> sum{0};
    auto body = [&] {
        EXPECT_EQ(weft_arena_self(), nullptr);
        for (int i = 0; i < 50; ++i) {
            weft_stream* here = weft_stream_self();
            weft::invoke(
                [&] {
                    weft_unit_yield();
                    here = weft_stream_self();
                    std::this_thread::yield();
                },
                [&] { EXPECT_EQ(weft_stream_self(), here); });
        }
        sum += fib(12);
    };
    const auto before = stolen();
    weft::spmd(3, body);
    EXPECT_EQ(stolen(), before);
    EXPECT_EQ(sum.load(), 3 * 144);
}

TEST(Arena, WhatWasForkedBeforeIsSharedWithWhomItWas) {
    Runtime runtime(2);
    weft::arena arena(1);
    for (int i = 0; i < 20; ++i) {
        atomic<bool> taken{false};
        Ult caller(
            [&] {
                weft::invoke([] {}, [] {});   // the first job, which is published without a request
                weft::invoke([&] { arena.execute([&] { EXPECT_TRUE(holds_at_last([&] { return taken.load(); })); }); },
                             [&] {
                                 EXPECT_EQ(weft_arena_self(), nullptr);
                                 taken = true;
                             });
            },
            nullptr, pool_of(0));
        EXPECT_EQ(caller.join(), WEFT_OK);
    }
}

TEST(Arena, WhatWasForkedBeforeMayOutliveIt) {
    Runtime runtime(2);
    for (int i = 0; i < 20; ++i) {
        atomic<bool> taken{false}, over{false};
        Ult caller(
            [&] {
                weft::invoke([] {}, [] {});
                weft::invoke(
                    [&] {
                        weft::arena(1).execute([&] { EXPECT_TRUE(holds_at_last([&] { return taken.load(); })); });
                        over = true;
                    },
                    [&] {
                        taken = true;
                        EXPECT_TRUE(holds_after_yields([&] {
                            EXPECT_EQ(weft_arena_self(), nullptr);
                            return over.load();
                        }));
                    });
            },
            nullptr, pool_of(0));
        EXPECT_EQ(caller.join(), WEFT_OK);
    }
}

TEST(Arena, RunsTheAlgorithms) {
    Runtime runtime;
    weft::arena arena;
    std::vector<int> numbers(20'000);
    std::iota(numbers.begin(), numbers.end(), 0);
    arena.execute([&] {
        weft::parallel_for(numbers.begin(), numbers.end(), [](int& number) { number *= 2; });
        EXPECT_EQ(weft::parallel_reduce(numbers, 0L), 20'000L * 19'999);
        weft::parallel_sort(numbers, std::greater<>());
        EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end(), std::greater<>()));
        std::vector<long> sums(numbers.size());
        weft::parallel_scan(numbers.begin(), numbers.end(), sums.begin());
        EXPECT_EQ(sums.back(), 20'000L * 19'999);
        atomic<int> ran{0};
        weft::task_group group;
        for (int i = 0; i < 100; ++i) {
            group.run([&] {
                EXPECT_EQ(weft_arena_self(), arena.native_handle());
                ++ran;
            });
        }
        EXPECT_TRUE(group.wait());
        EXPECT_EQ(ran.load(), 100);
    });
}

TEST(Arena, NestsToAnyDepth) {
    Runtime runtime(2);
    weft::arena outer(2), inner(3);
    struct Nest {
        weft::arena& one;
        weft::arena& other;
        long down(int depth) const {
            if (depth == 0) return fib(8);
            return one.execute([&] {
                const auto sums = weft::invoke(
                    [&] {
                        return Nest{other, one}.down(depth - 1);
                    },
                    [&] {
                        return Nest{other, one}.down(depth - 1);
                    });
                return sums.first + sums.second;
            });
        }
    };
    const auto play = [&] { EXPECT_EQ((Nest{outer, inner}.down(4)), 16 * 21); };
    for (int round = 0; round < 3; ++round) {
        play();
        EXPECT_EQ(Ult(play).join(), WEFT_OK);
    }
}

TEST(Arena, OneWithinItselfIsAPlainCall) {
    Runtime runtime;
    weft::arena arena, other;
    arena.execute([&] {
        weft_domain* const domain = weft_domain_self();
        arena.execute([&] { EXPECT_EQ(weft_domain_self(), domain); });
        other.execute([&] {
            EXPECT_EQ(value_of(weft_domain_parent_get, weft_domain_self()), domain);
            arena.execute([&] {
                EXPECT_NE(weft_domain_self(), domain);
                EXPECT_EQ(weft_arena_self(), arena.native_handle());
                EXPECT_EQ(fib(10), 55);
            });
        });
    });
}

TEST(Arena, ServesSeveralCallersAtOnce) {
    Runtime runtime(2);
    weft::arena arena(3);
    for (int round = 0; round < 10; ++round) {
        at_once(6, [&](std::size_t i) {
            const long sum = arena.execute([&] {
                weft_unit_yield();
                return fib(8 + static_cast<int>(i));
            });
            constexpr long right[] = {21, 34, 55, 89, 144, 233};
            EXPECT_EQ(sum, right[i]);
        });
    }
}

TEST(Arena, IsCalledInTeamsAndCallsThem) {
    Runtime runtime(2);
    weft::arena arena;
    atomic<long> sum{0};
    auto in_arena = [&] {
        EXPECT_EQ(execute(arena.native_handle(),
                          [&] {
                              atomic<int> members{0};
                              auto count = [&] {
                                  EXPECT_EQ(weft_arena_self(), nullptr);
                                  ++members;
                              };
                              failing([&] { weft::spmd(2, count); });
                              EXPECT_EQ(members.load(), 2);
                              sum += fib(10);
                          }),
                  WEFT_OK);
    };
    weft::spmd(3, in_arena);
    EXPECT_EQ(sum.load(), 3 * 55);
    arena.execute([&] {
        each(0, 8, [&](int) {
            EXPECT_EQ(execute(arena.native_handle(), [&] { sum += fib(3); }), WEFT_OK);
            weft_arena* own = nullptr;
            EXPECT_EQ(weft_arena_create(2, &own), WEFT_OK);
            EXPECT_EQ(execute(own, [&] { sum += fib(6); }), WEFT_OK);
            EXPECT_EQ(weft_arena_free(own), WEFT_OK);
        });
    });
    EXPECT_EQ(sum.load(), 3 * 55 + 8 * (2 + 8));
}

TEST(Arena, ABranchThatWaitsBlocksNoHart) {
    Runtime runtime;
    weft::arena arena(1);
    arena.execute([&] {
        atomic<bool> ran{false};
        weft::invoke(
            [&] {
                for (int i = 0; i < 1'000 && !ran.load(); ++i) weft_sleep_until(in_ms(1));
                EXPECT_TRUE(ran.load());
            },
            [&] { ran = true; });
    });
}

TEST(Arena, AContextThatYieldsLetsJobsHaveTheirTurn) {
    Runtime runtime;
    weft::arena arena(1);
    arena.execute([&] {
        atomic<bool> ran{false};
        weft::invoke([&] { EXPECT_TRUE(holds_after_yields([&] { return ran.load(); })); }, [&] { ran = true; });
    });
}

TEST(Arena, AContextThatYieldsLetsACallWithinHaveTheHart) {
    Runtime runtime;
    weft::arena arena(1), inner(1);
    for (const std::uint64_t sleep_ns : {0, 100'000}) {
        arena.execute([&] {
            atomic<bool> ran{false};
            weft::invoke([&] { EXPECT_TRUE(holds_after_yields([&] { return ran.load(); })); },
                         [&] {
                             EXPECT_EQ(execute(inner.native_handle(),
                                               [&] {
                                                   EXPECT_EQ(weft_sleep_for(sleep_ns), WEFT_OK);
                                                   ran = true;
                                               }),
                                       WEFT_OK);
                         });
        });
    }
}

TEST(Arena, AUnitThatIsSpawnedInItIsAnotherHartsToRun) {
    if (weft_hart_limit() < 2) GTEST_SKIP() << "there is one hart";
    Runtime runtime;
    weft::arena arena(2);
    arena.execute([&] {
        atomic<bool> ran{false};
        const Ult unit([&] {
            EXPECT_EQ(weft_arena_self(), arena.native_handle());
            ran = true;
        });
        EXPECT_TRUE(holds_at_last([&] { return ran.load(); }));
    });
}

TEST(Arena, HandsOnWhatTheFunctionReturnsOrThrows) {
    Runtime runtime;
    const weft::arena arena;
    EXPECT_EQ(*arena.execute([] { return std::make_unique<int>(7); }), 7);
    static_assert(std::is_void_v<decltype(arena.execute([] {}))>);
    EXPECT_THROW(arena.execute([]() -> int { throw std::runtime_error("lost"); }), std::runtime_error);
    EXPECT_THROW(arena.execute([] { weft::invoke([] { fib(5); }, [] { throw std::runtime_error("second"); }); }),
                 std::runtime_error);
    EXPECT_EQ(weft_domain_self(), nullptr);
}

// The arena is lent no hart, and uses none, while its only context sleeps; afterwards it has two
// again.
TEST(Arena, OneThatHasNothingToDoGivesItsHartsBack) {
    if (weft_hart_limit() < 2) GTEST_SKIP() << "there is one hart";
    Runtime runtime;
    weft::arena arena(2);
    arena.execute([&] {
        const std::uint64_t first = counter("/streams/count/slept");
        have_taken([] {});
        const std::uint64_t before = counter("/streams/count/slept");
        EXPECT_EQ(weft_sleep_for(20'000'000), WEFT_OK);
        EXPECT_LE(counter("/streams/count/slept"), before + 6);   // no hart goes round in circles
        // stream 0, and the thread that took the job; an OS thread that is held up sleeps a little
        // later
        EXPECT_TRUE(holds_at_last([&] {
            EXPECT_EQ(weft_sleep_for(1'000'000), WEFT_OK);
            return counter("/streams/count/slept") >= first + 2;
        }));
        have_taken([] {});
    });
}

// A newcomer without a hart gets its share at the next switch points.
TEST(Arena, GivesBackTheHartsThatOthersHaveABetterClaimTo) {
    if (weft_hart_limit() < 2) GTEST_SKIP() << "there is one hart";
    Runtime runtime(2);
    weft::arena first, second(1);
    atomic<bool> over{false};
    atomic<weft_stream*> one_there{nullptr};
    atomic<weft_domain*> domain{nullptr};
    Ult one(
        [&] {
            first.execute([&] {
                each(0, static_cast<int>(4 * weft_hart_limit()), [&](int) {
                    while (!over.load()) {
                        weft_stream* none = nullptr;
                        if (!one_there.compare_exchange_strong(none, weft_stream_self()) && none != weft_stream_self())
                            domain = weft_domain_self();
                        EXPECT_EQ(weft_unit_yield(), WEFT_OK);
                        std::this_thread::yield();
                    }
                });
            });
        },
        nullptr, pool_of(0));
    Ult other(
        [&] {
            // this wait takes no hart from the first arena; afterwards that has two
            while (domain.load() == nullptr) EXPECT_EQ(weft_sleep_for(100'000), WEFT_OK);
            second.execute(
                [&] { EXPECT_TRUE(holds_at_last([&] { return weft::domain_ref(domain.load()).wanted() == 0; })); });
            over = true;
        },
        nullptr, pool_of(1));
    EXPECT_EQ(other.join(), WEFT_OK);
    EXPECT_EQ(one.join(), WEFT_OK);
}

TEST(Arena, AThreadThatIsOutsideCallsInIt) {
    if (weft_hart_limit() < 2) GTEST_SKIP() << "there is one hart";
    Runtime runtime(2);
    weft::arena arena(2);
    with_threads(1, [&](int) {
        for (int i = 0; i < 3; ++i) {
            arena.execute([&] {
                EXPECT_EQ(weft_arena_self(), arena.native_handle());
                have_taken([&] { EXPECT_EQ(weft_arena_self(), arena.native_handle()); });
                EXPECT_EQ(fib(8), 21);
            });
            EXPECT_EQ(weft_unit_self(), nullptr);
        }
    });
}

TEST(Arena, AUnitInItDoesNotEndBefore) {
    Runtime runtime;
    weft::arena arena;
    bool came_out = false;
    Ult unit([&] {
        arena.execute([] { EXPECT_EQ(weft_unit_exit(), WEFT_WRONG_STATE); });
        came_out = true;
    });
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_TRUE(came_out);
}

TEST(Arena, WhatCannotBeIsRefused) {
    weft_arena* arena = nullptr;
    EXPECT_EQ(weft_arena_create(2, nullptr), WEFT_INVALID);
    ASSERT_EQ(weft_arena_create(2, &arena), WEFT_OK);
    std::size_t harts = 7;
    EXPECT_EQ(weft_arena_harts_get(nullptr, &harts), WEFT_INVALID);
    EXPECT_EQ(harts, 7u);
    EXPECT_EQ(weft_arena_self(), nullptr);
    {
        Runtime runtime;
        EXPECT_EQ(weft_arena_execute(
                      nullptr, [](void*) {}, nullptr),
                  WEFT_INVALID);
        EXPECT_EQ(weft_arena_execute(arena, nullptr, nullptr), WEFT_INVALID);
        EXPECT_EQ(execute(arena,
                          [&] {
                              EXPECT_EQ(weft_arena_free(arena), WEFT_BUSY);
                              EXPECT_EQ(weft_domain_unregister(weft_domain_self()), WEFT_WRONG_CONTEXT);
                          }),
                  WEFT_OK);
        weft_unit* tasklet = nullptr;
        ASSERT_EQ(weft_tasklet_spawn(
                      nullptr,
                      [](void* raw) {
                          EXPECT_EQ(weft_arena_execute(
                                        static_cast<weft_arena*>(raw), [](void*) {}, nullptr),
                                    WEFT_WRONG_CONTEXT);
                      },
                      arena, nullptr, &tasklet),
                  WEFT_OK);
        EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
    }
    EXPECT_EQ(weft_arena_free(arena), WEFT_OK);
    EXPECT_EQ(weft_arena_free(nullptr), WEFT_OK);
}
