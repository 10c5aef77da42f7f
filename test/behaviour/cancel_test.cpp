// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cancelled units end where they check for it, and nowhere else.

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/notes.hpp"
#include "test/behaviour/several.hpp"

using namespace weft_test;

namespace {

struct Counted {
    atomic<int>& count;
    ~Counted() { ++count; }
};

}   // namespace

TEST(Cancel, AUnitThatHasNotStartedEndsWithoutItsBody) {
    Runtime runtime;
    bool ran = false;
    Ult unit([&] { ran = true; });
    EXPECT_EQ(weft_unit_cancel(unit.handle()), WEFT_OK);
    EXPECT_EQ(unit.outcome(), WEFT_OUTCOME_CANCELLED);
    EXPECT_EQ(unit.end(), WEFT_OUTCOME_CANCELLED);
    EXPECT_FALSE(ran);
    EXPECT_EQ(units_alive(), 1u);
}

TEST(Cancel, AllKindsInAllPoolsEndSoAndAreJoinedFromAnywhere) {
    Runtime runtime;
    for (const auto kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED, WEFT_POOL_DEQUE}) {
        weft_pool* pool = make_pool(kind);
        static atomic<int> ran;
        ran = 0;
        weft_unit* units[4];
        auto full = options(), lsa = options();
        full.kind = WEFT_KIND_FULL;
        lsa.kind = WEFT_KIND_LSA;
        auto body = [](void*) { ++ran; };
        ASSERT_EQ(weft_ult_spawn(pool, body, nullptr, &full, &units[0]), WEFT_OK);
        ASSERT_EQ(weft_ult_spawn(pool, body, nullptr, &lsa, &units[1]), WEFT_OK);
        ASSERT_EQ(weft_tasklet_spawn(pool, body, nullptr, nullptr, &units[2]), WEFT_OK);
        ASSERT_EQ(weft_tasklet_spawn(pool, body, nullptr, nullptr, &units[3]), WEFT_OK);
        for (int i = 0; i < 3; ++i) EXPECT_EQ(weft_unit_cancel(units[i]), WEFT_OK);
        {
            Stream stream(pool);
            std::thread outside([&] { EXPECT_EQ(outcome_of(units[0]), WEFT_OUTCOME_CANCELLED); });
            EXPECT_EQ(weft_unit_join_many(units + 1, 2), WEFT_NOT_RETURNED);
            EXPECT_EQ(weft_unit_join(units[3]), WEFT_OK);
            outside.join();
        }
        EXPECT_EQ(weft_unit_join_free_many(units, 4), WEFT_NOT_RETURNED);
        EXPECT_EQ(units[3], nullptr);
        for (int i = 0; i < 3; ++i) EXPECT_EQ(end_of(units[i]), WEFT_OUTCOME_CANCELLED);
        EXPECT_EQ(ran, 1);
        EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    }
    EXPECT_EQ(units_alive(), 1u);
}

TEST(Cancel, AUnitEndsBeforeItYieldsItself) {
    Runtime runtime;
    int step = 0;
    Ult unit([&] {
        EXPECT_EQ(weft_unit_cancel(weft_unit_self()), WEFT_OK);
        ++step;
        weft_unit_yield();
        ++step;
    });
    Ult other([] {});
    EXPECT_EQ(unit.outcome(), WEFT_OUTCOME_CANCELLED);
    EXPECT_EQ(step, 1);
}

TEST(Cancel, AUnitThatWaitsInItsPoolEndsWhenItsTurnComes) {
    for (const auto kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED}) {
        auto settings = with_streams(1);
        settings.pool = kind;
        Runtime runtime(settings);
        int turns = 0;
        Ult unit([&] {
            for (;;) {
                ++turns;
                weft_unit_yield();
            }
        });
        while (turns < 3) weft_unit_yield();
        EXPECT_EQ(weft_unit_cancel(unit.handle()), WEFT_OK);
        EXPECT_EQ(unit.outcome(), WEFT_OUTCOME_CANCELLED);
        EXPECT_EQ(turns, 3);
    }
}

TEST(Cancel, ASuspendedUnitEndsWhenItIsResumed) {
    Runtime runtime;
    Bed bed;
    bool woke = false;
    Ult unit([&] {
        bed.sleep();
        woke = true;
    });
    until([&] { return bed.occupied(); });
    EXPECT_EQ(weft_unit_cancel(unit.handle()), WEFT_OK);
    weft_unit_yield();
    EXPECT_EQ(unit.state(), WEFT_UNIT_SUSPENDED) << "the request alone wakes nobody";
    EXPECT_EQ(bed.wake(), WEFT_OK);
    EXPECT_EQ(unit.outcome(), WEFT_OUTCOME_CANCELLED);
    EXPECT_FALSE(woke);
}

TEST(Cancel, AJoinGoesToItsEndFirst) {
    Runtime runtime;
    Bed bed;
    int step = 0;
    Ult child([&] { bed.sleep(); });
    Ult unit([&] {
        EXPECT_EQ(child.free(), WEFT_OK);
        ++step;
        weft_unit_yield();
        ++step;
    });
    until([&] { return bed.occupied() && unit.state() == WEFT_UNIT_SUSPENDED; });
    EXPECT_EQ(weft_unit_cancel(unit.handle()), WEFT_OK);
    EXPECT_EQ(bed.wake(), WEFT_OK);
    EXPECT_EQ(unit.outcome(), WEFT_OUTCOME_CANCELLED);
    EXPECT_EQ(step, 1);
    EXPECT_EQ(units_alive(), 2u) << "the child was freed by its joiner";
}

TEST(Cancel, AUnitThatDoesNotLookEndsAsItWould) {
    Runtime runtime;
    Ult unit([] { EXPECT_EQ(weft_unit_cancel(weft_unit_self()), WEFT_OK); });
    EXPECT_EQ(unit.join(), WEFT_OK);
}

TEST(Cancel, AUnitThatHasDisabledItsEndEndsOnceThatIsEnabled) {
    Runtime runtime;
    int step = 0;
    Ult unit([&] {
        EXPECT_EQ(weft_unit_end_disable(), WEFT_OK);
        EXPECT_EQ(weft_unit_end_disable(), WEFT_OK);
        EXPECT_EQ(weft_unit_cancel(weft_unit_self()), WEFT_OK);
        weft_unit_yield();
        EXPECT_EQ(weft_unit_exit(), WEFT_WRONG_STATE);
        EXPECT_EQ(weft_unit_end_enable(), WEFT_OK);
        weft_unit_yield();
        step = 1;
        EXPECT_EQ(weft_unit_end_enable(), WEFT_OK);
        EXPECT_EQ(weft_unit_end_enable(), WEFT_WRONG_STATE);
        step = 2;
        weft_unit_yield();
        step = 3;
    });
    EXPECT_EQ(unit.outcome(), WEFT_OUTCOME_CANCELLED);
    EXPECT_EQ(step, 2);
}

TEST(Cancel, ASuspendedUnitThatHasDisabledItsEndGoesOn) {
    Runtime runtime;
    Bed bed;
    bool went_on = false;
    Ult unit([&] {
        EXPECT_EQ(weft_unit_end_disable(), WEFT_OK);
        bed.sleep();
        went_on = true;
    });
    until([&] { return bed.occupied(); });
    EXPECT_EQ(weft_unit_cancel(unit.handle()), WEFT_OK);
    EXPECT_EQ(bed.wake(), WEFT_OK);
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_TRUE(went_on);
}

TEST(Cancel, TheEndIsDisabledInUltsOnly) {
    EXPECT_EQ(weft_unit_end_disable(), WEFT_WRONG_CONTEXT);
    EXPECT_EQ(weft_unit_end_enable(), WEFT_WRONG_CONTEXT);
    Runtime runtime;
    weft_unit* const tasklet = spawn_tasklet([](void*) { EXPECT_EQ(weft_unit_end_disable(), WEFT_WRONG_CONTEXT); });
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
}

TEST(Cancel, FramesAreLeftAndHandlersAreLetGo) {
    Runtime runtime;
    atomic<int> destroyed{0};
    Ult unit([&] {
        try {
            throw Counted{destroyed};
        } catch (const Counted&) {
            destroyed = 0;   // temporaries of the throw
            const Counted in_frame{destroyed};
            weft_unit_cancel(weft_unit_self());
            weft_unit_yield();
        }
    });
    Ult other([] { EXPECT_EQ(std::current_exception(), nullptr); });
    EXPECT_EQ(unit.outcome(), WEFT_OUTCOME_CANCELLED);
    EXPECT_EQ(destroyed, 1) << "the exception, and not what stood in the frame";
    EXPECT_EQ(other.join(), WEFT_OK);
}

TEST(Cancel, ADetachedUnitFreesItself) {
    Runtime runtime;
    static Bed bed;
    weft_unit* unit = nullptr;
    ASSERT_EQ(weft_ult_spawn(
                  nullptr, [](void*) { bed.sleep(); }, nullptr, nullptr, &unit),
              WEFT_OK);
    until([] { return bed.occupied(); });
    EXPECT_EQ(weft_unit_cancel(unit), WEFT_OK);
    EXPECT_EQ(weft_unit_detach(unit), WEFT_OK);
    EXPECT_EQ(bed.wake(), WEFT_OK);
    until([] { return units_alive() == 1; });
}

TEST(Cancel, ARunningUnitIsCancelledFromOutside) {
    Runtime runtime;
    Stream stream;
    atomic<bool> running{false};
    Ult unit(
        [&] {
            for (;;) {
                running = true;
                weft_unit_yield();
            }
        },
        nullptr, stream.pool());
    until_set(running);
    EXPECT_EQ(weft_unit_cancel(unit.handle()), WEFT_OK);
    EXPECT_EQ(unit.outcome(), WEFT_OUTCOME_CANCELLED);
}

TEST(Cancel, IsRefusedForThePrimaryUnitAndForOneThatHasEnded) {
    Runtime runtime;
    EXPECT_EQ(weft_unit_cancel(nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_unit_cancel(weft_unit_self()), WEFT_WRONG_STATE);
    Ult unit([] {});
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_EQ(weft_unit_cancel(unit.handle()), WEFT_WRONG_STATE);
}
