// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units that leave for one another by name, without a turn in a pool: by a yield, suspended, or for
// good.
#include <string>

#include "test/behaviour/several.hpp"

using namespace weft_test;

namespace {

using Call = weft_status (*)(weft_unit*);

// Records which units run, in their order.
struct Track {
    std::string steps;
    void operator()(char step) { steps += step; }
};

}   // namespace

TEST(YieldTo, AReadyUnitRunsNextAndTheCallerYieldsSuspendsOrEnds) {
    for (const auto kind : {WEFT_POOL_PRIVATE, WEFT_POOL_SHARED}) {
        auto settings = with_streams(1);
        settings.pool = kind;
        settings.scheduler = WEFT_SCHED_BASIC;
        Runtime runtime(settings);
        Track track;
        std::unique_ptr<Ult> target;
        Ult yields([&] {
            track('a');
            EXPECT_EQ(weft_unit_yield_to(target->handle()), WEFT_OK);
            track('b');
        });
        Ult between([&] { track('-'); });
        target = std::make_unique<Ult>([&] { track('t'); });
        yields.join();
        between.join();
        EXPECT_EQ(track.steps, "at-b");
        track.steps.clear();
        Ult suspends([&] {
            track('a');
            EXPECT_EQ(weft_unit_hand_off(target->handle(), WEFT_TO_READY, WEFT_BY_SUSPEND), WEFT_OK);
            track('b');
        });
        Ult behind([&] { track('-'); });
        target = std::make_unique<Ult>([&] {
            track('t');
            EXPECT_EQ(suspends.state(), WEFT_UNIT_SUSPENDED);
            EXPECT_EQ(weft_unit_resume(suspends.handle()), WEFT_OK);
        });
        suspends.join();
        behind.join();
        EXPECT_EQ(track.steps, "at-b");
        track.steps.clear();
        Ult ends([&] {
            track('a');
            weft_unit_hand_off(target->handle(), WEFT_TO_READY, WEFT_BY_EXIT);
            track('!');
        });
        Ult last([&] { track('-'); });
        target = std::make_unique<Ult>([&] {
            track('t');
            EXPECT_EQ(weft_unit_try_join(ends.handle()), WEFT_OK);
        });
        last.join();
        EXPECT_EQ(ends.join(), WEFT_OK);
        EXPECT_EQ(track.steps, "at-");
        target.reset();
    }
}

TEST(YieldTo, OneThatIsNextAnywayRunsNextAndTheCallerGoesBehindTheOthers) {
    Runtime runtime;
    Track track;
    Ult* next = nullptr;
    Ult yields([&] {
        track('a');
        EXPECT_EQ(weft_unit_yield_to(next->handle()), WEFT_OK);
        track('b');
        EXPECT_EQ(weft_unit_yield_to(next->handle()), WEFT_WRONG_STATE);   // it has ended
    });
    Ult target([&] { track('t'); }), behind([&] { track('-'); });
    next = &target;
    behind.join();
    yields.join();
    EXPECT_EQ(track.steps, "at-b");
    EXPECT_EQ(target.state(), WEFT_UNIT_DONE);
}

TEST(YieldTo, OneThatWasAskedForSomethingDoesItBeforeItLeavesForTheNext) {
    if ((weft_features() & WEFT_FEATURE_CANCEL) == 0) GTEST_SKIP() << "nobody can be asked";
    Runtime runtime;
    Track track;
    Ult* next = nullptr;
    Ult cancelled([&] {
        EXPECT_EQ(weft_unit_cancel(weft_unit_self()), WEFT_OK);
        weft_unit_yield_to(next->handle());
        track('!');
    });
    Ult target([&] { track('t'); });
    next = &target;
    EXPECT_EQ(cancelled.outcome(), WEFT_OUTCOME_CANCELLED);
    target.join();
    EXPECT_EQ(track.steps, "t");
}

TEST(YieldTo, ATaskletThatIsNextIsRefused) {
    Runtime runtime;
    auto rtc = options();
    rtc.kind = WEFT_KIND_RTC;
    Ult* next = nullptr;
    Ult yields([&] { EXPECT_EQ(weft_unit_yield_to(next->handle()), WEFT_WRONG_KIND); });
    Ult tasklet([] {}, &rtc);
    next = &tasklet;
    yields.join();
    tasklet.join();
}

TEST(YieldTo, ASuspendedUnitIsResumedAndRunsNext) {
    Runtime runtime;
    for (const Call call :
         {Call{hand_off<WEFT_TO_SUSPENDED, WEFT_BY_YIELD>}, Call{hand_off<WEFT_TO_SUSPENDED, WEFT_BY_SUSPEND>},
          Call{hand_off<WEFT_TO_SUSPENDED, WEFT_BY_EXIT>}}) {
        Track track;
        Bed bed;
        weft_unit* caller = nullptr;
        Ult target([&] {
            bed.sleep();
            track('t');
            EXPECT_EQ(weft_unit_resume(caller),
                      (call == Call{hand_off<WEFT_TO_SUSPENDED, WEFT_BY_SUSPEND>}) ? WEFT_OK : WEFT_WRONG_STATE);
        });
        until([&] { return bed.occupied(); });
        Ult unit([&] {
            track('a');
            EXPECT_EQ(call(target.handle()), WEFT_OK);
            track('b');
        });
        caller = unit.handle();
        Ult between([&] { track('-'); });
        EXPECT_EQ(unit.join(), WEFT_OK);
        between.join();
        EXPECT_EQ(track.steps, (call == Call{hand_off<WEFT_TO_SUSPENDED, WEFT_BY_EXIT>}) ? "at-" : "at-b");
    }
}

TEST(YieldTo, TwoUnitsHandEachOtherTheStream) {
    Runtime runtime;
    weft_unit* units[2] = {};
    int turns = 0;
    auto body = [&](int me) {
        return [&, me] {
            units[me] = weft_unit_self();
            weft_unit_suspend(nullptr, nullptr);
            for (int i = 0; i < 1000; ++i) {
                ++turns;
                if (i == 999) break;
                EXPECT_EQ(weft_unit_hand_off(units[1 - me], WEFT_TO_SUSPENDED, WEFT_BY_SUSPEND), WEFT_OK);
            }
            if (me == 0) weft_unit_hand_off(units[1], WEFT_TO_SUSPENDED, WEFT_BY_EXIT);
        };
    };
    Ult one(body(0)), two(body(1));
    until([&] { return units[0] != nullptr && units[1] != nullptr; });
    EXPECT_EQ(weft_unit_hand_off(units[0], WEFT_TO_SUSPENDED, WEFT_BY_YIELD), WEFT_OK);
    EXPECT_EQ(one.join(), WEFT_OK);
    EXPECT_EQ(two.join(), WEFT_OK);
    EXPECT_EQ(turns, 2000);
}

TEST(YieldTo, AUnitOfASharedPoolThatNobodyDrawsFromRunsHere) {
    Runtime runtime;
    weft_pool* pool = make_pool(WEFT_POOL_SHARED);
    weft_stream* ran_on = nullptr;
    Ult other([&] { ran_on = weft_stream_self(); }, nullptr, pool);
    EXPECT_EQ(weft_unit_yield_to(other.handle()), WEFT_OK);
    EXPECT_EQ(ran_on, weft_stream_self());
    EXPECT_EQ(other.free(), WEFT_OK);
    EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
}

TEST(YieldTo, TheUnitThatEndsMayHaveItsStackFromTheUserAndValues) {
    Runtime runtime;
    static std::vector<char> memory;
    memory.resize(128 << 10);
    weft_key* key = nullptr;
    static int destroyed;
    destroyed = 0;
    ASSERT_EQ(weft_key_create(
                  [](void*) {
                      weft_unit_yield();
                      ++destroyed;
                  },
                  &key),
              WEFT_OK);
    auto chosen = options();
    chosen.stack = memory.data();
    chosen.stack_bytes = memory.size();
    bool ran = false;
    std::unique_ptr<Ult> target;
    Ult unit(
        [&] {
            weft_local_set(key, key);
            weft_unit_hand_off(target->handle(), WEFT_TO_READY, WEFT_BY_EXIT);
        },
        &chosen);
    target = std::make_unique<Ult>([&] {
        ran = true;
        EXPECT_EQ(destroyed, 1);
    });
    EXPECT_EQ(unit.join(), WEFT_OK);
    EXPECT_EQ(target->join(), WEFT_OK);
    EXPECT_TRUE(ran);
    EXPECT_EQ(weft_key_free(key), WEFT_OK);
}

TEST(YieldTo, ACancelledUnitLeavesForNobody) {
    Runtime runtime;
    for (const Call call : {Call{weft_unit_yield_to}, Call{hand_off<WEFT_TO_READY, WEFT_BY_SUSPEND>}}) {
        bool ran = false;
        std::unique_ptr<Ult> target;
        Ult unit([&] {
            weft_unit_cancel(weft_unit_self());
            call(target->handle());
        });
        target = std::make_unique<Ult>([&] {
            ran = true;
            EXPECT_EQ(weft_unit_try_join(unit.handle()), WEFT_NOT_RETURNED) << "it has ended before";
        });
        EXPECT_EQ(unit.outcome(), WEFT_OUTCOME_CANCELLED);
        EXPECT_EQ(target->join(), WEFT_OK);
        EXPECT_TRUE(ran);
    }
}
