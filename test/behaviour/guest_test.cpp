// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Guests: OS threads of the application that enter the runtime.
#include "weft/guest.h"

#include <pthread.h>
#include <sched.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/config.hpp"
#include "test/behaviour/atomic.hpp"
#include "test/behaviour/forks.hpp"
#include "test/behaviour/guests.hpp"
#include "weft/guest.hpp"
#include "weft/hart.h"
#include "weft/parallel.hpp"

namespace {

using namespace weft_test;

TEST(Guest, IsAUltInsideAndNoneOutside) {
    Runtime runtime;
    with_threads(1, [](int) {
        EXPECT_EQ(weft_unit_self(), nullptr);
        {
            Inside inside;
            EXPECT_NE(weft_unit_self(), nullptr);
            EXPECT_EQ(weft_unit_yield(), WEFT_OK);
            bool ran = false;
            Ult unit([&ran] { ran = true; });
            EXPECT_EQ(unit.join(), WEFT_OK);
            EXPECT_TRUE(ran);
            EXPECT_EQ(weft_sleep_for(1000), WEFT_OK);
        }
        EXPECT_EQ(weft_unit_self(), nullptr);
    });
}

TEST(Guest, EntriesNest) {
    Runtime runtime;
    with_threads(1, [](int) {
        for (int round = 0; round < 3; ++round) {
            Inside outer;
            weft_unit* const self = weft_unit_self();
            {
                Inside inner;
                EXPECT_EQ(weft_unit_self(), self);
                Inside innermost;
                EXPECT_EQ(weft_unit_self(), self);
            }
            EXPECT_EQ(weft_unit_self(), self);
            EXPECT_EQ(weft_unit_yield(), WEFT_OK);
        }
    });
}

TEST(Guest, WhoHasNotEnteredCannotLeave) {
    EXPECT_EQ(weft_guest_leave(), WEFT_WRONG_STATE);
    Runtime runtime;
    with_threads(1, [](int) {
        EXPECT_EQ(weft_guest_leave(), WEFT_WRONG_STATE);
        { Inside inside; }
        EXPECT_EQ(weft_guest_leave(), WEFT_WRONG_STATE);
    });
}

TEST(Guest, AUnitThatHasNotEnteredCannotLeave) {
    Runtime runtime(with_streams(1));
    const auto leaves_as_often_as_it_has_entered = [] {
        weft_unit* const self = weft_unit_self();
        EXPECT_EQ(weft_guest_leave(), WEFT_WRONG_STATE);
        EXPECT_NE(std::string(weft_error_text()).find("weft_guest_enter"), std::string::npos) << weft_error_text();
        EXPECT_EQ(weft_guest_enter(), WEFT_OK);
        EXPECT_EQ(weft_guest_enter(), WEFT_OK);
        EXPECT_EQ(weft_guest_leave(), WEFT_OK);
        EXPECT_EQ(weft_unit_yield(), WEFT_OK);
        EXPECT_EQ(weft_guest_leave(), WEFT_OK);
        EXPECT_EQ(weft_guest_leave(), WEFT_WRONG_STATE);
        EXPECT_EQ(weft_unit_self(), self);
    };
    leaves_as_often_as_it_has_entered();
    for (int life = 0; life < 3; ++life) {
        Ult unit(leaves_as_often_as_it_has_entered);
        EXPECT_EQ(unit.join(), WEFT_OK);
    }
}

// The next unit may have the same descriptor, or be another life of the unit.
TEST(Guest, WhatAUnitHasNotLeftIsNotTheNextOnes) {
    Runtime runtime(with_streams(1));
    weft_unit* unit = nullptr;
    const auto enters = [](void*) { EXPECT_EQ(weft_guest_enter(), WEFT_OK); };
    const auto leaves = [](void*) { EXPECT_EQ(weft_guest_leave(), WEFT_WRONG_STATE); };
    ASSERT_EQ(weft_ult_spawn(nullptr, enters, nullptr, nullptr, &unit), WEFT_OK);
    ASSERT_EQ(weft_unit_join(unit), WEFT_OK);
    ASSERT_EQ(weft_unit_revive(unit, nullptr, leaves, nullptr), WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    for (const auto body : {+enters, +leaves}) {
        ASSERT_EQ(weft_ult_spawn(nullptr, body, nullptr, nullptr, &unit), WEFT_OK);
        EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    }
}

TEST(Guest, AUnitIsInsideAlready) {
    Runtime runtime;
    const auto in_and_out = [] {
        weft_unit* const self = weft_unit_self();
        EXPECT_EQ(weft_guest_enter(), WEFT_OK);
        EXPECT_EQ(weft_guest_enter(), WEFT_OK);
        EXPECT_EQ(weft_guest_leave(), WEFT_OK);
        EXPECT_EQ(weft_unit_self(), self);
        EXPECT_EQ(weft_guest_leave(), WEFT_OK);
        EXPECT_EQ(weft_unit_self(), self);
    };
    in_and_out();
    Ult unit(in_and_out);
    EXPECT_EQ(unit.join(), WEFT_OK);
}

TEST(Guest, ManyMoreThanThereAreHartsAreAdmittedAndNoMoreAtOnceThanThereAre) {
    weft_settings settings = with_streams(1);
    // otherwise a guest that is inside and gets no CPU for long is taken for a guest that waits,
    // and another is admitted
    settings.rescue = WEFT_RESCUE_IGNORE;
    Runtime runtime(settings);
    const int limit = static_cast<int>(weft_hart_limit());
    constexpr int rounds = 30;
    atomic<int> inside{0}, most{0};
    std::vector<int> been(16);
    with_threads(16, [&](int self) {
        for (int round = 0; round < rounds; ++round) {
            Inside in;
            const int now = ++inside;
            for (int seen = most.load(); seen < now && !most.compare_exchange_strong(seen, now);) {}
            for (int i = 0; i < 3; ++i) sched_yield();
            ++been[static_cast<std::size_t>(self)];
            --inside;
        }
    });
    EXPECT_LE(most.load(), limit);
    EXPECT_EQ(been, std::vector<int>(16, rounds));
}

// Two threads come and go for the only hart that is left, and then wait for each other outside,
// where neither serves guests any more.
TEST(Guest, ThatGoesLeavesNobodyWaitingForAHart) {
    Runtime runtime;
    constexpr int rounds = 12;
    const int others = static_cast<int>(weft_hart_limit()) - 1;
    std::mutex mutex;
    std::condition_variable changed;
    int stayed = 0, here = 0;
    atomic<int> inside{0};
    const auto come_and_go = [&](int self) {
        for (int round = 1; round <= rounds; ++round) {
            for (int stay = 0; stay < 2 + self % 2; ++stay) {
                Inside in;
                EXPECT_EQ(++inside, 1);
                --inside;
            }
            std::unique_lock lock(mutex);
            if (++here == round * 2) changed.notify_all();
            changed.wait(lock, [&] { return here >= round * 2; });
        }
    };
    with_threads(others + 2, [&](int self) {
        if (self < others) {
            Inside in;
            std::unique_lock lock(mutex);
            ++stayed;
            changed.notify_all();
            changed.wait(lock, [&] { return here == rounds * 2; });
        } else {
            {
                std::unique_lock lock(mutex);
                changed.wait(lock, [&] { return stayed == others; });
            }
            come_and_go(self);
        }
    });
}

TEST(Guest, ThatHasLeftMayEndWhileItsHartIsTaken) {
    Runtime runtime;
    const int others = static_cast<int>(weft_hart_limit()) - 1;
    atomic<int> inside{0}, left{0}, comes{0};
    atomic<bool> over{false};
    with_threads(others + 1, [&](int self) {
        if (self < others) {
            Inside in;
            ++inside;
            while (!over) std::this_thread::yield();
            return;
        }
        while (inside.load() != others) std::this_thread::yield();
        for (int round = 1; round <= 4; ++round) {
            std::thread ends([&] {
                { Inside in; }
                left = round;
                while (comes.load() != round) std::this_thread::yield();
            });
            while (left.load() != round) std::this_thread::yield();
            std::thread lacks_one([&] {
                comes = round;
                Inside in;
            });
            ends.join();
            lacks_one.join();
        }
        over = true;
    });
}

TEST(Guest, JoinsUnitsThatGuestsAndUnitsHaveSpawned) {
    Runtime runtime(2);
    atomic<int> ran{0};
    with_threads(4, [&](int) {
        Inside in;
        for (int round = 0; round < 5; ++round) {
            std::vector<std::unique_ptr<Ult>> units;
            for (int i = 0; i < 4; ++i) {
                units.push_back(std::make_unique<Ult>([&] {
                    Ult child([&] { ++ran; });
                    EXPECT_EQ(child.join(), WEFT_OK);
                }));
            }
            for (auto& unit : units) EXPECT_EQ(unit->join(), WEFT_OK);
        }
    });
    EXPECT_EQ(ran.load(), 80);
}

// A unit that names the guest's own pool goes where the guest's spawns go.
TEST(Guest, SpawnsIntoThePoolThatItBelongsTo) {
    Runtime runtime;
    with_threads(1, [](int) {
        Inside in;
        weft_pool* mine = nullptr;
        ASSERT_EQ(weft_unit_pool_get(weft_unit_self(), &mine), WEFT_OK);
        bool ran = false;
        Ult unit([&ran] { ran = true; }, nullptr, mine);
        EXPECT_EQ(unit.join(), WEFT_OK);
        EXPECT_TRUE(ran);
    });
}

TEST(Guest, CallsTeamsAtTheSameTimeAsOthers) {
    Runtime runtime;
    atomic<int> ran{0};
    with_threads(6, [&](int) {
        for (int round = 0; round < 5; ++round) {
            Inside in;
            weft_barrier barrier;
            EXPECT_EQ(weft_barrier_init(&barrier, 4, nullptr, nullptr), WEFT_OK);
            auto body = [&] {
                ++ran;
                weft_barrier_wait(&barrier);
            };
            const auto here = os_thread();
            EXPECT_EQ(weft_spmd(
                          4, [](void* raw) { (*static_cast<decltype(body)*>(raw))(); }, &body),
                      WEFT_OK)
                << weft_error_text();
            EXPECT_TRUE(pthread_equal(here, os_thread()));
        }
    });
    EXPECT_EQ(ran.load(), 6 * 5 * 4);
}

// A domain that runs its contexts in the order in which they become ready.
struct SmallDomain {
    std::mutex lock;
    std::vector<weft_unit*> ready;
    weft_unit* fresh = nullptr;
    atomic<int> ran{0};
    weft_latch* done = nullptr;
    weft_domain* domain = nullptr;

    weft_status begin() {
        weft_domain_ops ops{};
        ops.size = sizeof ops;
        ops.enter = [](void* raw) {
            auto& self = *static_cast<SmallDomain*>(raw);
            std::lock_guard guard(self.lock);
            if (self.fresh != nullptr) {
                weft_context_run(
                    std::exchange(self.fresh, nullptr),
                    [](void* of) {
                        auto& in = *static_cast<SmallDomain*>(of);
                        ++in.ran;
                        weft_latch_count_down(in.done, 1);
                    },
                    raw);
            } else if (!self.ready.empty()) {
                weft_context_resume(self.ready.back());
                self.ready.pop_back();
            }
        };
        ops.unblock = [](void* raw, weft_unit* context) {
            auto& self = *static_cast<SmallDomain*>(raw);
            std::lock_guard guard(self.lock);
            self.ready.push_back(context);
        };
        return weft_domain_register(&ops, this, &domain);
    }
};

TEST(Guest, RegistersADomainWithItsOwnHartAndHasItBack) {
    Runtime runtime;
    with_threads(5, [](int) {
        for (int round = 0; round < 5; ++round) {
            Inside in;
            SmallDomain own;
            weft_latch done;
            EXPECT_EQ(weft_latch_init(&done, 1), WEFT_OK);
            own.done = &done;
            ASSERT_EQ(own.begin(), WEFT_OK) << weft_error_text();
            EXPECT_EQ(value_of(weft_domain_parent_get, own.domain), nullptr);
            EXPECT_EQ(weft_guest_leave(), WEFT_BUSY) << "with a domain";
            weft_unit* context = nullptr;
            ASSERT_EQ(weft_context_create(nullptr, 0, &context), WEFT_OK);
            own.fresh = context;
            EXPECT_EQ(weft_latch_wait(&done), WEFT_OK);
            EXPECT_EQ(weft_unit_join_free(context), WEFT_OK);
            EXPECT_EQ(own.ran.load(), 1);
            EXPECT_EQ(weft_domain_unregister(own.domain), WEFT_OK);
            EXPECT_EQ(weft_domain_self(), nullptr);
            EXPECT_EQ(weft_unit_yield(), WEFT_OK);
        }
    });
}

// The child runs on the guest's thread, with its hart, although the guest could go on: the guest
// needs another hart then.
TEST(Guest, GoesOnThoughAChildThatRanFirstTakesItsHartIntoADomain) {
    Runtime runtime;
    with_threads(1, [](int) {
        Inside in;
        weft_unit_options options{};
        options.size = sizeof options;
        options.kind = WEFT_KIND_FULL;
        options.child_first = true;
        weft_unit* child = nullptr;
        const auto team_of_one = [](void*) {
            EXPECT_EQ(weft_spmd(
                          1, [](void*) {}, nullptr),
                      WEFT_OK);
        };
        ASSERT_EQ(weft_ult_spawn(nullptr, team_of_one, nullptr, &options, &child), WEFT_OK);
        EXPECT_EQ(weft_unit_join_free(child), WEFT_OK);
    });
}

TEST(Guest, IsNotCountedAmongTheCarriersOfTheRuntime) {
    Runtime runtime;
    EXPECT_EQ(counter("/harts/count/carriers"), 0u);
    with_threads(2, [](int) {
        Inside in;
        EXPECT_EQ(counter("/harts/count/carriers"), 0u);
    });
    weft_barrier barrier;
    ASSERT_EQ(weft_barrier_init(&barrier, 2, nullptr, nullptr), WEFT_OK);
    EXPECT_EQ(weft_spmd(
                  2, [](void* raw) { weft_barrier_wait(static_cast<weft_barrier*>(raw)); }, &barrier),
              WEFT_OK);
    EXPECT_LE(counter("/harts/count/carriers"), weft_hart_limit());
}

TEST(Guest, ForksAndOthersTakeItsBranches) {
    Runtime runtime(2);
    with_threads(3, [](int) {
        Inside in;
        struct Fib {
            static int of(int n) {
                if (n < 2) return n;
                int a = 0, b = 0;
                weft::invoke([&] { a = of(n - 1); }, [&] { b = of(n - 2); });
                return a + b;
            }
        };
        EXPECT_EQ(Fib::of(12), 144);
    });
}

// A stream sends steal requests to guests, too, and the branch goes on where the stream's units do.
TEST(Guest, WhatItForksIsTakenByAStream) {
    Runtime runtime(2);
    with_threads(1, [](int) {
        Inside in;
        for (int i = 0; i < 3; ++i) {
            weft_stream* const own = weft_stream_self();
            have_taken([&] {
                EXPECT_NE(weft_stream_self(), own);
                EXPECT_EQ(weft_unit_yield(), WEFT_OK);
                EXPECT_NE(weft_stream_self(), own);
            });
        }
    });
}

TEST(Guest, ThatEndsInsideHasLeft) {
    Runtime runtime;
    with_threads(3, [](int) { EXPECT_EQ(weft_guest_enter(), WEFT_OK); });
    with_threads(1, [](int) {
        EXPECT_EQ(weft_guest_enter(), WEFT_OK);
        EXPECT_EQ(weft_guest_enter(), WEFT_OK);
    });
    EXPECT_EQ(counter("/harts/count/granted"), 1u) << "the primary unit's";
}

TEST(Guest, ThatHasLeftKeepsItsHartUntilSomebodyLacksIt) {
    if (weft_hart_limit() < 2) GTEST_SKIP() << "there is one hart";
    Runtime runtime;
    weft_latch left, end;
    ASSERT_EQ(weft_latch_init(&left, 1), WEFT_OK);
    ASSERT_EQ(weft_latch_init(&end, 1), WEFT_OK);
    std::thread thread([&] {
        const std::uint64_t before = counter("/harts/count/lent");
        { Inside in; }
        const std::uint64_t lent = counter("/harts/count/lent");
        EXPECT_GT(lent, before);
        { Inside again; }
        EXPECT_EQ(counter("/harts/count/lent"), lent) << "it had it still";
        EXPECT_EQ(weft_latch_count_down(&left, 1), WEFT_OK);
        EXPECT_EQ(weft_latch_wait(&end), WEFT_OK);
    });
    EXPECT_EQ(weft_latch_wait(&left), WEFT_OK);
    EXPECT_EQ(counter("/harts/count/granted"), 2u);
    // As many guests as there are harts, all at once.
    const int count = static_cast<int>(weft_hart_limit());
    atomic<int> here{0};
    weft_latch ready;
    ASSERT_EQ(weft_latch_init(&ready, 1), WEFT_OK);
    std::thread others([&] {
        with_plain_threads(count, [&](int) {
            Inside in;
            ++here;
            while (here.load() != count) sched_yield();
        });
        EXPECT_EQ(weft_latch_count_down(&ready, 1), WEFT_OK);
    });
    EXPECT_EQ(weft_latch_wait(&ready), WEFT_OK);   // stream 0 has given its own hart back
    others.join();
    EXPECT_EQ(weft_latch_count_down(&end, 1), WEFT_OK);
    thread.join();
}

TEST(Guest, FinalizeIsRefusedAsLongAsOneIsInside) {
    weft_settings settings = with_streams(1);
    ASSERT_EQ(weft_init(&settings), WEFT_OK);
    weft_latch in, out;
    ASSERT_EQ(weft_latch_init(&in, 1), WEFT_OK);
    ASSERT_EQ(weft_latch_init(&out, 1), WEFT_OK);
    std::thread thread([&] {
        Inside inside;
        EXPECT_EQ(weft_latch_count_down(&in, 1), WEFT_OK);
        EXPECT_EQ(weft_latch_wait(&out), WEFT_OK);
        bool ran = false;
        Ult unit([&ran] { ran = true; });
        EXPECT_EQ(unit.join(), WEFT_OK);
        EXPECT_TRUE(ran) << "the runtime runs on";
    });
    EXPECT_EQ(weft_latch_wait(&in), WEFT_OK);
    EXPECT_EQ(weft_finalize(), WEFT_BUSY);
    EXPECT_NE(std::string(weft_error_text()).find("1 guest"), std::string::npos) << weft_error_text();
    EXPECT_EQ(weft_latch_count_down(&out, 1), WEFT_OK);
    weft_status status;
    // there may be only one hart
    while ((status = weft_finalize()) == WEFT_BUSY) EXPECT_EQ(weft_sleep_for(10'000), WEFT_OK);
    EXPECT_EQ(status, WEFT_OK) << weft_error_text();
    thread.join();
}

// One thread that outlives each of the runtimes.
TEST(Guest, EntersOneRuntimeAfterTheOther) {
    atomic<int> turn{0};
    std::thread thread([&] {
        for (int round = 0; round < 5; ++round) {
            while (turn.load() != 2 * round + 1) sched_yield();
            for (int i = 0; i < 3; ++i) {
                Inside in;
                EXPECT_EQ(weft_unit_yield(), WEFT_OK);
            }
            ++turn;
        }
    });
    for (int round = 0; round < 5; ++round) {
        Runtime runtime(1 + static_cast<std::size_t>(round) % 2);
        ++turn;
        while (turn.load() != 2 * round + 2) EXPECT_EQ(weft_sleep_for(10'000), WEFT_OK);   // there may be only one hart
    }
    thread.join();
}

TEST(Guest, ItsStreamIsNoneOfTheProgramsToStopOrBind) {
    Runtime runtime;
    with_threads(1, [](int) {
        Inside in;
        weft_stream* const self = weft_stream_self();
        ASSERT_NE(self, nullptr);
        EXPECT_EQ(weft_stream_count(), 1u);
        std::size_t rank = 0;
        EXPECT_EQ(weft_stream_rank_get(self, &rank), WEFT_OK);
        EXPECT_EQ(weft_stream_at(rank), nullptr);
        EXPECT_EQ(weft_stream_join_free(self), WEFT_WRONG_CONTEXT);
        EXPECT_EQ(weft_stream_stop(self, false), WEFT_WRONG_CONTEXT);
        EXPECT_EQ(weft_stream_suspend(self), WEFT_WRONG_CONTEXT);
        EXPECT_EQ(weft_stream_resume(self), WEFT_WRONG_CONTEXT);
        EXPECT_EQ(weft_stream_bind_hart(self, 0), WEFT_WRONG_CONTEXT);
        EXPECT_EQ(weft_stream_bind_cpus(self, "0"), WEFT_WRONG_CONTEXT);
        EXPECT_EQ(weft_stream_unbind(self), WEFT_WRONG_CONTEXT);
        EXPECT_EQ(weft_stream_post(
                      self, [](void*) {}, nullptr),
                  WEFT_WRONG_CONTEXT);
        weft_sched* sched = nullptr;
        EXPECT_EQ(weft_stream_sched_get(self, &sched), WEFT_OK);
        EXPECT_EQ(weft_stream_sched_set(self, sched), WEFT_WRONG_CONTEXT);
        weft_pool* pool = nullptr;
        EXPECT_EQ(weft_stream_pool_get(self, &pool), WEFT_OK);
        EXPECT_EQ(pool, pool_of(0)) << "where its spawns go";
        weft_unit_options options = weft_test::options();
        options.bound = true;
        weft_unit* unit = nullptr;
        EXPECT_EQ(weft_ult_spawn(
                      nullptr, [](void*) {}, nullptr, &options, &unit),
                  WEFT_WRONG_CONTEXT);
        weft_unit* const guest = weft_unit_self();
        EXPECT_EQ(weft_unit_join(guest), WEFT_WRONG_STATE);
        EXPECT_EQ(weft_unit_migrate_to_pool(guest, pool),
                  weft::config::migration ? WEFT_WRONG_STATE : WEFT_UNSUPPORTED);
        EXPECT_EQ(weft_unit_exit(), WEFT_WRONG_STATE);
    });
}

TEST(Guest, ValuesUnderKeysEndWithTheStay) {
    Runtime runtime;
    static atomic<int> destroyed{0};
    destroyed.store(0);
    weft_key* key = nullptr;
    ASSERT_EQ(weft_key_create([](void*) { ++destroyed; }, &key), WEFT_OK);
    with_threads(1, [&](int) {
        for (int stay = 1; stay <= 2; ++stay) {
            {
                Inside in;
                EXPECT_EQ(weft_local_get(key), nullptr);
                EXPECT_EQ(weft_local_set(key, &destroyed), WEFT_OK);
                { Inside nested; }
                EXPECT_EQ(weft_local_get(key), &destroyed);
            }
            EXPECT_EQ(destroyed.load(), stay);
        }
    });
    EXPECT_EQ(weft_key_free(key), WEFT_OK);
}

TEST(Concurrent, IsAUnitFromTheFirstBeginToTheLastEnd) {
    EXPECT_EQ(weft_concurrent_begin(), WEFT_WRONG_CONTEXT);
    EXPECT_EQ(weft_concurrent_end(), WEFT_WRONG_CONTEXT);
    EXPECT_FALSE(weft_concurrent());
    const Runtime runtime(1);
    EXPECT_FALSE(weft_concurrent());
    EXPECT_EQ(weft_concurrent_end(), WEFT_WRONG_STATE);
    EXPECT_EQ(weft_concurrent_begin(), WEFT_OK);
    EXPECT_EQ(weft_concurrent_begin(), WEFT_OK);
    Ult other([] { EXPECT_FALSE(weft_concurrent()) << "of another unit"; });
    EXPECT_EQ(other.join(), WEFT_OK);
    EXPECT_EQ(weft_concurrent_end(), WEFT_OK);
    EXPECT_TRUE(weft_concurrent());
    EXPECT_EQ(weft_concurrent_end(), WEFT_OK);
    EXPECT_FALSE(weft_concurrent());
}

TEST(Concurrent, FollowsANativeUnitThatWaits) {
    const Runtime runtime(1);
    weft_latch go_on;
    ASSERT_EQ(weft_latch_init(&go_on, 1), WEFT_OK);
    Ult one([&] {
        EXPECT_EQ(weft_concurrent_begin(), WEFT_OK);
        EXPECT_EQ(weft_latch_wait(&go_on), WEFT_OK);
        EXPECT_TRUE(weft_concurrent());   // its end ends it
    });
    Ult other([&] {
        EXPECT_FALSE(weft_concurrent());
        EXPECT_EQ(weft_latch_count_down(&go_on, 1), WEFT_OK);
    });
    EXPECT_EQ(one.join(), WEFT_OK);
    EXPECT_EQ(other.join(), WEFT_OK);
}

TEST(Concurrent, IsAGuestAtMostUntilItLeaves) {
    const Runtime runtime(1);
    with_threads(1, [](int) {
        {
            const Inside inside;
            EXPECT_EQ(weft_concurrent_begin(), WEFT_OK);
            EXPECT_TRUE(weft_concurrent());
        }
        EXPECT_FALSE(weft_concurrent());
        const Inside again;
        EXPECT_FALSE(weft_concurrent());
    });
}

TEST(Guest, IsInsideForTheTimeOfAScope) {
    Runtime runtime;
    with_threads(1, [](int) {
        try {
            weft::guest in;
            EXPECT_NE(weft_unit_self(), nullptr);
        } catch (const weft::error& refused) {
            ADD_FAILURE() << refused.what();
        }
        EXPECT_EQ(weft_unit_self(), nullptr);
    });
}

}   // namespace
