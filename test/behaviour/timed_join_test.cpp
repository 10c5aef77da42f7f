// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A join with a deadline, of units on the same stream, of units in another stream's private pool,
// and from OS threads.
#include "test/behaviour/atomic.hpp"
#include "test/behaviour/waiting.hpp"

using namespace weft_test;

namespace {

enum class Home { own_private, foreign_private, shared };

struct Case {
    As as;
    Home home;
};

class TimedJoin : public testing::TestWithParam<Case> {
protected:
    TimedJoin()
        : shared_(make_pool(WEFT_POOL_SHARED)),
          private_(make_pool(WEFT_POOL_PRIVATE)),
          both_(shared_),
          other_(private_) {}
    ~TimedJoin() override {
        EXPECT_EQ(both_.free(), WEFT_OK);
        EXPECT_EQ(other_.free(), WEFT_OK);
        EXPECT_EQ(weft_pool_free(shared_), WEFT_OK);
        EXPECT_EQ(weft_pool_free(private_), WEFT_OK);
    }
    weft_pool* pool() const {
        switch (GetParam().home) {
        case Home::own_private: return pool_of(0);
        case Home::foreign_private: return private_;
        case Home::shared: return shared_;
        }
        return nullptr;
    }

private:
    Runtime runtime_;
    weft_pool* shared_;
    weft_pool* private_;
    Stream both_, other_;
};

INSTANTIATE_TEST_SUITE_P(Of, TimedJoin,
                         testing::Values(Case{As::unit, Home::own_private}, Case{As::unit, Home::foreign_private},
                                         Case{As::unit, Home::shared}, Case{As::thread, Home::own_private},
                                         Case{As::thread, Home::foreign_private}, Case{As::thread, Home::shared}));

TEST_P(TimedJoin, EndsAtTheDeadlineAndMayBeTriedAgain) {
    Bed bed;
    Ult target([&] { bed.sleep(); }, nullptr, pool());
    until([&] { return bed.occupied(); });
    atomic<bool> tried_again{false};
    Doing joiner(GetParam().as, [&] {
        for (int i = 0; i < 3; ++i) {
            const std::uint64_t deadline = in_ms(2);
            EXPECT_EQ(weft_unit_join_until(target.handle(), deadline), WEFT_TIMED_OUT) << weft_error_text();
            EXPECT_GE(weft_now_ns(), deadline);
        }
        EXPECT_EQ(weft_unit_join_until(target.handle(), 0), WEFT_TIMED_OUT);
        tried_again = true;
        EXPECT_EQ(weft_unit_join_until(target.handle(), never_in_this_test()), WEFT_OK);
    });
    until_set(tried_again);
    EXPECT_FALSE(joiner.done());
    EXPECT_EQ(bed.wake(), WEFT_OK);
    joiner.join();
    EXPECT_EQ(target.free(), WEFT_OK);
}

TEST_P(TimedJoin, LeavesNobodyBehindWhoWouldKeepOthersFromJoining) {
    Bed bed;
    Ult target([&] { bed.sleep(); }, nullptr, pool());
    until([&] { return bed.occupied(); });
    Doing joiner(GetParam().as, [&] { EXPECT_EQ(weft_unit_join_until(target.handle(), in_ms(2)), WEFT_TIMED_OUT); });
    joiner.join();
    EXPECT_EQ(bed.wake(), WEFT_OK);
    EXPECT_EQ(target.free(), WEFT_OK) << weft_error_text();
}

// The unit's stream does not check its remote calls before the deadline.
TEST_P(TimedJoin, ComesBackThoughTheUnitsStreamIsBusy) {
    if (GetParam().home == Home::own_private) GTEST_SKIP() << "the busy stream would be the joiner's";
    atomic<bool> started{false}, stop{false};
    Ult target(
        [&] {
            started = true;
            while (!stop) std::this_thread::yield();
        },
        nullptr, pool());
    until_set(started);
    Doing joiner(GetParam().as, [&] {
        EXPECT_EQ(weft_unit_join_until(target.handle(), in_ms(2)), WEFT_TIMED_OUT);
        EXPECT_EQ(weft_unit_join_until(target.handle(), in_ms(2)), WEFT_TIMED_OUT);
    });
    joiner.join();
    stop = true;
    EXPECT_EQ(target.free(), WEFT_OK) << weft_error_text();
}

// What a debugger wants to know about a unit that waits.
TEST(TimedJoins, AreSeenWithTheUnitAndTheDeadline) {
    Runtime runtime;
    Bed bed;
    Ult target([&] { bed.sleep(); });
    const std::uint64_t deadline = never_in_this_test();
    Ult joiner([&] { EXPECT_EQ(weft_unit_join_until(target.handle(), deadline), WEFT_OK); });
    until([&] { return bed.occupied() && waiting_for("join") == 1; });
    static weft_unit_info seen;
    weft_unit_each(
        [](const weft_unit_info* info, void* who) {
            if (info->unit == who) seen = *info;
        },
        joiner.handle());
    EXPECT_EQ(seen.waits_object, target.handle());
    EXPECT_EQ(seen.waits_until_ns, deadline);
    EXPECT_EQ(bed.wake(), WEFT_OK);
    EXPECT_EQ(joiner.join(), WEFT_OK);
}

TEST(TimedJoins, AreRefusedAsOthersAre) {
    Runtime runtime;
    EXPECT_EQ(weft_unit_join_until(nullptr, 0), WEFT_INVALID);
    EXPECT_EQ(weft_unit_join_until(weft_unit_self(), 0), WEFT_WRONG_STATE);
    Ult itself([&] { EXPECT_EQ(weft_unit_join_until(weft_unit_self(), in_ms(1)), WEFT_WRONG_STATE); });
    itself.join();
    EXPECT_EQ(weft_unit_join_until(itself.handle(), 0), WEFT_OK) << "it has ended";
    Bed bed;
    Ult target([&] { bed.sleep(); });
    Ult first([&] { EXPECT_EQ(target.join(), WEFT_OK); });
    until([&] { return bed.occupied() && waiting_for("join") == 1; });
    static weft_unit* of;
    of = target.handle();
    weft_unit* tasklet = nullptr;
    ASSERT_EQ(weft_tasklet_spawn(
                  nullptr, [](void*) { EXPECT_EQ(weft_unit_join_until(of, in_ms(1)), WEFT_WRONG_KIND); }, nullptr,
                  nullptr, &tasklet),
              WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
    EXPECT_EQ(bed.wake(), WEFT_OK);
}

}   // namespace
