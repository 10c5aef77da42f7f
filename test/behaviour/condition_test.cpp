// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The condition: a signalled waiter goes on, all others keep waiting, and a waiter holds the mutex
// again when its wait returns.
#include <algorithm>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/waiting.hpp"

using namespace weft_test;

namespace {

struct Shared {
    weft_mutex mutex = WEFT_MUTEX_INIT;
    weft_cond cond = WEFT_COND_INIT;
    int tokens = 0;
    atomic<int> waiting{0};
    atomic<int> through{0};

    void lock() { ASSERT_EQ(weft_mutex_lock(&mutex), WEFT_OK) << weft_error_text(); }
    void unlock() { ASSERT_EQ(weft_mutex_unlock(&mutex), WEFT_OK) << weft_error_text(); }
    void take() {
        lock();
        ++waiting;
        while (tokens == 0) ASSERT_EQ(weft_cond_wait(&cond, &mutex), WEFT_OK) << weft_error_text();
        --tokens;
        ++through;
        unlock();
    }
    void give(int count) {
        lock();
        tokens += count;
        unlock();
    }
};

class ConditionAs : public testing::TestWithParam<As> {};
INSTANTIATE_TEST_SUITE_P(Waiting, ConditionAs, testing::Values(As::unit, As::thread));

TEST_P(ConditionAs, LetsOneGoForASignalWithTheMutexHeldOrNot) {
    Runtime runtime;
    for (bool held : {true, false}) {
        Shared shared;
        std::vector<std::unique_ptr<Doing>> all;
        for (int i = 0; i < 3; ++i) all.push_back(std::make_unique<Doing>(GetParam(), [&] { shared.take(); }));
        until([&] { return shared.waiting == 3; });
        let_others_wait();
        for (int i = 1; i <= 3; ++i) {
            shared.lock();
            shared.tokens = 1;
            if (held) {
                EXPECT_EQ(weft_cond_signal(&shared.cond), WEFT_OK);
            }
            shared.unlock();
            if (!held) {
                EXPECT_EQ(weft_cond_signal(&shared.cond), WEFT_OK);
            }
            until([&] { return shared.through == i; });
        }
    }
}

TEST_P(ConditionAs, LetsAllGoForABroadcast) {
    Runtime runtime;
    for (bool held : {true, false}) {
        Shared shared;
        std::vector<std::unique_ptr<Doing>> all;
        for (int i = 0; i < 5; ++i) all.push_back(std::make_unique<Doing>(GetParam(), [&] { shared.take(); }));
        until([&] { return shared.waiting == 5; });
        let_others_wait();
        shared.lock();
        shared.tokens = 5;
        if (held) {
            EXPECT_EQ(weft_cond_broadcast(&shared.cond), WEFT_OK);
        }
        shared.unlock();
        if (!held) {
            EXPECT_EQ(weft_cond_broadcast(&shared.cond), WEFT_OK);
        }
        until([&] { return shared.through == 5; });
    }
}

TEST(Condition, ServesWaitersInTheirOrder) {
    Runtime runtime;
    Shared shared;
    std::string order;
    std::vector<std::unique_ptr<Ult>> all;
    for (char name : {'a', 'b', 'c'}) {
        all.push_back(std::make_unique<Ult>([&, name] {
            shared.take();
            order += name;
        }));
        until([&] { return waiting_for("condition") == all.size(); });
    }
    shared.lock();
    shared.tokens = 3;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(weft_cond_signal(&shared.cond), WEFT_OK);
    shared.unlock();
    all.clear();
    EXPECT_EQ(order, "abc");
}

// A pending signal is delivered when its signaller itself waits: the waiter gets the mutex and the
// stream.
TEST(Condition, HandsTheTurnToAndFro) {
    Runtime runtime;
    Shared shared;
    int turn = 0, turns = 0;
    auto play = [&](int me) {
        shared.lock();
        for (int i = 0; i < 300; ++i) {
            while (turn != me) ASSERT_EQ(weft_cond_wait(&shared.cond, &shared.mutex), WEFT_OK);
            ++turns;
            turn = 1 - me;
            ASSERT_EQ(weft_cond_signal(&shared.cond), WEFT_OK);
        }
        shared.unlock();
    };
    Ult a([&] { play(0); }), b([&] { play(1); });
    a.join();
    b.join();
    EXPECT_EQ(turns, 600);
}

TEST(Condition, ThatPassesTheTurnToAndFroLetsOthersRun) {
    Runtime runtime;
    Shared shared;
    int turn = 0;
    bool stop = false;
    auto play = [&](int me) {
        shared.lock();
        while (!stop) {
            while (turn != me && !stop) ASSERT_EQ(weft_cond_wait(&shared.cond, &shared.mutex), WEFT_OK);
            turn = 1 - me;
            ASSERT_EQ(weft_cond_signal(&shared.cond), WEFT_OK);
        }
        shared.unlock();
    };
    Ult a([&] { play(0); }), b([&] { play(1); });
    Ult third([&] {
        for (int i = 0; i < 10; ++i) weft_unit_yield();
        stop = true;
    });
    EXPECT_EQ(third.join(), WEFT_OK);   // it ends although the two never stop by themselves
}

// The second unit has a stream to itself and spins for its turn; the first has a stream where
// another is ready, which runs while it waits.
TEST(Condition, PassesTheMutexToOneThatSpinsOnAnotherStream) {
    const Runtime runtime(two_that_look_long());
    weft_pool* pool = nullptr;
    ASSERT_EQ(weft_stream_pool_get(weft_stream_at(1), &pool), WEFT_OK);
    Shared shared;
    int turn = 0, turns = 0;
    constexpr int rounds = 300;
    auto play = [&](int me) {
        for (int i = 0; i < rounds; ++i) {
            shared.lock();
            while (turn != me) ASSERT_EQ(weft_cond_wait(&shared.cond, &shared.mutex), WEFT_OK);
            ++turns;
            turn = 1 - me;
            ASSERT_EQ(weft_cond_signal(&shared.cond), WEFT_OK);
            while (turn != me && turns < 2 * rounds) {
                ASSERT_EQ(weft_cond_wait(&shared.cond, &shared.mutex), WEFT_OK);
            }
            if (turns == 2 * rounds) {
                ASSERT_EQ(weft_cond_broadcast(&shared.cond), WEFT_OK);
            }
            shared.unlock();
        }
    };
    bool over = false;
    std::size_t yields = 0;
    Ult third([&] {
        for (; !over; ++yields) ASSERT_EQ(weft_unit_yield(), WEFT_OK);
    });
    Ult second([&] { play(1); }, nullptr, pool);
    play(0);
    EXPECT_EQ(second.join(), WEFT_OK);
    over = true;
    EXPECT_EQ(turns, 2 * rounds);
    EXPECT_GT(yields, 0u);
}

TEST(Condition, OwesASignalOnlyToThoseWhoWaited) {
    Runtime runtime;
    Shared shared;
    Ult waits([&] { shared.take(); });
    until([&] { return waiting_for("condition") == 1; });
    shared.lock();
    shared.tokens = 1;
    for (int i = 0; i < 5; ++i) EXPECT_EQ(weft_cond_signal(&shared.cond), WEFT_OK);
    // The four surplus signals must not wake the unit that waits now.
    EXPECT_EQ(weft_cond_wait_until(&shared.cond, &shared.mutex, in_ms(5)), WEFT_TIMED_OUT);
    shared.unlock();
    EXPECT_EQ(waits.join(), WEFT_OK);
}

// Two units wait. The one that the signal passes the turn to waits again and signals no other.
TEST(Condition, PassesTheTurnOnceForOneSignal) {
    Runtime runtime;
    Shared shared;
    bool stop = false;
    int woken = 0;
    auto play = [&](bool signals) {
        shared.lock();
        if (signals) {
            EXPECT_EQ(weft_cond_signal(&shared.cond), WEFT_OK);
        }
        while (!stop) {
            EXPECT_EQ(weft_cond_wait(&shared.cond, &shared.mutex), WEFT_OK);
            if (!stop) ++woken;
        }
        shared.unlock();
    };
    Ult a([&] { play(false); }), b([&] { play(false); });
    until([] { return waiting_for("condition") == 2; });
    Ult signaller([&] { play(true); });
    until([] { return waiting_for("condition") == 3; });
    for (int i = 0; i < 20; ++i) weft_unit_yield();
    EXPECT_EQ(woken, 1);
    shared.lock();
    stop = true;
    EXPECT_EQ(weft_cond_broadcast(&shared.cond), WEFT_OK);
    shared.unlock();
}

// The first waiter's deadline has passed, and it has not left the queue yet: the signal is for the
// other waiter.
TEST(Condition, LosesNoSignalToOneWhoseTimeHasCome) {
    Runtime runtime;
    for (int round = 0; round < 20; ++round) {
        Shared shared;
        weft_status status = WEFT_OK;
        const std::uint64_t deadline = in_ms(3);
        Ult late([&] {
            shared.lock();
            status = weft_cond_wait_until(&shared.cond, &shared.mutex, deadline);
            shared.unlock();
        });
        Ult waits([&] { shared.take(); });
        until([&] { return waiting_for("condition") == 2 || weft_now_ns() >= deadline; });   // later on a busy machine
        shared.give(1);
        just_after(deadline, [&] { EXPECT_EQ(weft_cond_signal(&shared.cond), WEFT_OK); });
        late.join();
        if (status == WEFT_TIMED_OUT) {
            for (int i = 0; i < 10; ++i) weft_unit_yield();
            EXPECT_EQ(shared.through.load(), 1);
        }
        EXPECT_EQ(weft_cond_signal(&shared.cond), WEFT_OK);
    }
}

// The mutex was released while another unit waited for it, and it is free now: the signal must not
// wait for the next holder.
TEST(Condition, IsSignalledAtOnceByOneWhoHeldTheMutexBefore) {
    Runtime runtime;
    for (const weft_mutex& kind : {weft_mutex WEFT_MUTEX_INIT, weft_mutex WEFT_MUTEX_RECURSIVE_INIT}) {
        Shared shared;
        shared.mutex = kind;
        Ult waits([&] { shared.take(); });
        until([] { return waiting_for("condition") == 1; });
        shared.lock();
        shared.tokens = 1;
        bool gone = false;
        Ult comes_and_goes([&] {
            shared.lock();
            shared.unlock();
            gone = true;
        });
        until([] { return waiting_for("mutex") == 1; });
        shared.unlock();
        until([&] { return gone; });
        EXPECT_EQ(weft_cond_signal(&shared.cond), WEFT_OK);
        for (int i = 0; i < 10; ++i) weft_unit_yield();
        EXPECT_EQ(shared.through.load(), 1);
        shared.give(0);   // its unlocking would deliver a pending signal
    }
}

TEST_P(ConditionAs, WaitsUntilTheDeadlineAndHoldsTheMutexAgain) {
    Runtime runtime;
    Shared shared;
    Doing late(GetParam(), [&] {
        shared.lock();
        const std::uint64_t deadline = in_ms(5);
        EXPECT_EQ(weft_cond_wait_until(&shared.cond, &shared.mutex, deadline), WEFT_TIMED_OUT);
        EXPECT_GE(weft_now_ns(), deadline);
        EXPECT_EQ(weft_cond_wait_until(&shared.cond, &shared.mutex, 0), WEFT_TIMED_OUT);
        shared.unlock();
    });
    late.join();
    EXPECT_EQ(weft_mutex_try_lock(&shared.mutex), WEFT_OK);
    EXPECT_EQ(weft_cond_settle(&shared.cond, &shared.mutex), WEFT_OK) << "nobody waits any more";
    shared.unlock();
}

// The signal that is pending for the first condition is not forgotten because of the second.
TEST(Condition, MayBeOneOfTwoThatTheHolderSignals) {
    Runtime runtime;
    Shared shared;
    weft_cond second = WEFT_COND_INIT;
    int through = 0;
    Ult first([&] { shared.take(); });
    Ult other([&] {
        shared.lock();
        EXPECT_EQ(weft_cond_wait(&second, &shared.mutex), WEFT_OK);
        ++through;
        shared.unlock();
    });
    until([] { return waiting_for("condition") == 2; });
    shared.lock();
    shared.tokens = 1;
    EXPECT_EQ(weft_cond_signal(&shared.cond), WEFT_OK);
    EXPECT_EQ(weft_cond_signal(&second), WEFT_OK);
    shared.unlock();
    for (int i = 0; i < 20; ++i) weft_unit_yield();
    EXPECT_EQ(shared.through.load() + through, 2);
    EXPECT_EQ(weft_cond_broadcast(&shared.cond), WEFT_OK);
}

// One well-known implementation is late by the full time-out.
TEST_P(ConditionAs, ReturnsFromATimedWaitAsSoonAsItIsSignalled) {
    Runtime runtime;
    Shared shared;
    atomic<bool> waits{false};
    Doing timed(GetParam(), [&] {
        shared.lock();
        waits = true;
        EXPECT_EQ(weft_cond_wait_until(&shared.cond, &shared.mutex, never_in_this_test()), WEFT_OK);
        shared.unlock();
    });
    until_set(waits);
    let_others_wait();
    const std::uint64_t before = weft_now_ns();
    shared.lock();
    EXPECT_EQ(weft_cond_signal(&shared.cond), WEFT_OK);
    shared.unlock();
    timed.join();
    EXPECT_LT(weft_now_ns() - before, 20'000 * ms);
}

TEST(Condition, GivesARecursiveMutexBackAsDeepAsItWas) {
    Runtime runtime;
    weft_mutex mutex = WEFT_MUTEX_RECURSIVE_INIT;
    weft_cond cond = WEFT_COND_INIT;
    Ult waits([&] {
        ASSERT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
        ASSERT_EQ(weft_mutex_lock(&mutex), WEFT_OK);
        ASSERT_EQ(weft_cond_wait(&cond, &mutex), WEFT_OK);
        ASSERT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
        Ult other([&] { EXPECT_EQ(weft_mutex_try_lock(&mutex), WEFT_BUSY); });
        other.join();
        ASSERT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
    });
    until([&] { return waiting_for("condition") == 1; });
    ASSERT_EQ(weft_mutex_lock(&mutex), WEFT_OK) << "the waiter has let it go altogether";
    ASSERT_EQ(weft_cond_signal(&cond), WEFT_OK);
    ASSERT_EQ(weft_mutex_unlock(&mutex), WEFT_OK);
}

TEST(Condition, MaySettleWhatItOwesBeforeItsMemoryGoes) {
    Runtime runtime;
    Shared shared;
    auto* brief = new weft_cond(WEFT_COND_INIT);
    Ult waits([&] {
        shared.lock();
        EXPECT_EQ(weft_cond_wait(brief, &shared.mutex), WEFT_OK);
        shared.unlock();
    });
    until([&] { return waiting_for("condition") == 1; });
    shared.lock();
    EXPECT_EQ(weft_cond_settle(brief, &shared.mutex), WEFT_BUSY);
    EXPECT_EQ(weft_cond_signal(brief), WEFT_OK);
    EXPECT_EQ(weft_cond_settle(brief, &shared.mutex), WEFT_OK);
    delete brief;
    shared.unlock();
    EXPECT_EQ(waits.join(), WEFT_OK);
}

TEST(Condition, IsNotWaitedForWhenTheReasonHasCome) {
    Runtime runtime;
    Shared shared;
    atomic<bool> stop{false};
    auto stopped = [](void* raw) { return static_cast<atomic<bool>*>(raw)->load(); };
    Ult waits([&] {
        shared.lock();
        while (!stop) EXPECT_EQ(weft_cond_wait_unless(&shared.cond, &shared.mutex, stopped, &stop), WEFT_OK);
        EXPECT_EQ(weft_cond_wait_unless(&shared.cond, &shared.mutex, stopped, &stop), WEFT_OK);
        shared.unlock();
    });
    until([&] { return waiting_for("condition") == 1; });
    stop = true;
    EXPECT_EQ(weft_cond_interrupt(&shared.cond), WEFT_OK);
}

TEST(Condition, RefusesWhatMakesNoSense) {
    Runtime runtime;
    Shared shared;
    weft_mutex other = WEFT_MUTEX_INIT;
    EXPECT_EQ(weft_cond_wait(nullptr, &other), WEFT_INVALID);
    EXPECT_EQ(weft_cond_signal(nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_cond_wait(&shared.cond, &shared.mutex), WEFT_WRONG_STATE) << "the mutex is not held";
    Ult waits([&] { shared.take(); });
    until([&] { return waiting_for("condition") == 1; });
    ASSERT_EQ(weft_mutex_lock(&other), WEFT_OK);
    EXPECT_EQ(weft_cond_wait(&shared.cond, &other), WEFT_INVALID) << "two mutexes at once";
    ASSERT_EQ(weft_mutex_unlock(&other), WEFT_OK);
    shared.give(1);
    EXPECT_EQ(weft_cond_signal(&shared.cond), WEFT_OK);
    waits.join();
    weft_unit* tasklet = nullptr;
    ASSERT_EQ(weft_tasklet_spawn(
                  nullptr,
                  [](void*) {
                      weft_mutex mine = WEFT_MUTEX_INIT;
                      weft_cond cond = WEFT_COND_INIT;
                      ASSERT_EQ(weft_mutex_lock(&mine), WEFT_OK);
                      EXPECT_EQ(weft_cond_wait(&cond, &mine), WEFT_WRONG_KIND);
                      ASSERT_EQ(weft_mutex_unlock(&mine), WEFT_OK);
                  },
                  nullptr, nullptr, &tasklet),
              WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
}

}   // namespace
