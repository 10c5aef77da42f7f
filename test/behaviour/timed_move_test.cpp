// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A wait for a migration with a deadline, of units on the same stream, of units in another stream's
// private pool, and from OS threads.
#include "test/behaviour/atomic.hpp"
#include "test/behaviour/waiting.hpp"
#include "weft/unit.hpp"

using namespace weft_test;

namespace {

enum class Home { own_private, foreign_private, shared };

struct Case {
    As as;
    Home home;
};

class TimedMove : public testing::TestWithParam<Case> {
protected:
    TimedMove() : runtime_(with_streams(3)) {
        for (int i = 0; i < 3; ++i) pools_.push_back(make_pool(i == 1 ? WEFT_POOL_PRIVATE : WEFT_POOL_SHARED));
        for (weft_pool* pool : pools_) streams_.push_back(std::make_unique<Stream>(pool));
    }
    ~TimedMove() override {
        for (auto& stream : streams_) EXPECT_EQ(stream->free(), WEFT_OK);
        for (weft_pool* pool : pools_) EXPECT_EQ(weft_pool_free(pool), WEFT_OK);
    }
    weft_pool* from() const { return GetParam().home == Home::own_private ? pool_of(0) : pools_[from_index()]; }
    weft_pool* to() const { return pools_[2]; }
    void ask(Ult& target) const {
        EXPECT_EQ(weft_unit_migrate_to_pool(target.handle(), to()), WEFT_OK) << weft_error_text();
    }
    void expect_there(Ult& target) const {
        weft_pool* pool = nullptr;
        EXPECT_EQ(weft_unit_pool_get(target.handle(), &pool), WEFT_OK);
        EXPECT_EQ(pool, to());
    }

private:
    std::size_t from_index() const { return GetParam().home == Home::foreign_private ? 1 : 0; }

    Runtime runtime_;
    std::vector<weft_pool*> pools_;
    std::vector<std::unique_ptr<Stream>> streams_;
};

INSTANTIATE_TEST_SUITE_P(Of, TimedMove,
                         testing::Values(Case{As::unit, Home::own_private}, Case{As::unit, Home::foreign_private},
                                         Case{As::unit, Home::shared}, Case{As::thread, Home::own_private},
                                         Case{As::thread, Home::foreign_private}, Case{As::thread, Home::shared}));

TEST_P(TimedMove, EndsAtTheDeadlineAndMayBeTriedAgain) {
    Bed bed;
    Ult target([&] { bed.sleep(); }, nullptr, from());
    until([&] { return bed.occupied(); });
    ask(target);
    atomic<bool> tried_again{false};
    Doing waiter(GetParam().as, [&] {
        for (int i = 0; i < 3; ++i) {
            const std::uint64_t deadline = in_ms(2);
            EXPECT_EQ(weft_unit_migrate_wait_until(target.handle(), deadline), WEFT_TIMED_OUT) << weft_error_text();
            EXPECT_GE(weft_now_ns(), deadline);
        }
        EXPECT_EQ(weft_unit_migrate_wait_until(target.handle(), 0), WEFT_TIMED_OUT);
        try {
            EXPECT_FALSE(weft::unit_ref(target.handle()).wait_for_migration_for(std::chrono::milliseconds(1)));
        } catch (const weft::error& refused) {   // where memory is refused
            ADD_FAILURE() << refused.what();
        }
        tried_again = true;
        EXPECT_EQ(weft_unit_migrate_wait_until(target.handle(), never_in_this_test()), WEFT_OK);
        expect_there(target);
        EXPECT_EQ(weft_unit_migrate_wait_until(target.handle(), 0), WEFT_OK) << "nothing is asked for";
    });
    until_set(tried_again);
    let_others_wait();
    EXPECT_FALSE(waiter.done());
    EXPECT_EQ(bed.wake(), WEFT_OK);
    waiter.join();
    EXPECT_EQ(target.free(), WEFT_OK);
}

// The unit's stream does not check its remote calls before the deadline: the last wait gives up
// before it is enrolled.
TEST_P(TimedMove, ComesBackThoughTheUnitsStreamIsBusy) {
    if (GetParam().home == Home::own_private) GTEST_SKIP() << "the busy stream would be the waiter's";
    atomic<bool> started{false}, stop{false};
    Ult target(
        [&] {
            started = true;
            while (!stop) std::this_thread::yield();
            weft_unit_yield();
        },
        nullptr, from());
    until_set(started);
    ask(target);
    Doing waiter(GetParam().as, [&] {
        EXPECT_EQ(weft_unit_migrate_wait_until(target.handle(), in_ms(2)), WEFT_TIMED_OUT);
        EXPECT_EQ(weft_unit_migrate_wait_until(target.handle(), 0), WEFT_TIMED_OUT);
    });
    waiter.join();
    stop = true;
    EXPECT_EQ(target.join(), WEFT_OK) << weft_error_text();
    expect_there(target);
}

TEST_P(TimedMove, LearnsThatTheUnitHasEndedWhereItWas) {
    if (GetParam().home == Home::own_private) GTEST_SKIP() << "the busy stream would be the waiter's";
    atomic<bool> started{false}, stop{false}, waits{false};
    Ult target(
        [&] {
            started = true;
            while (!stop) std::this_thread::yield();
        },
        nullptr, from());
    until_set(started);
    ask(target);
    Doing waiter(GetParam().as, [&] {
        waits = true;
        EXPECT_EQ(weft_unit_migrate_wait_until(target.handle(), never_in_this_test()), WEFT_WRONG_STATE);
    });
    until_set(waits);
    let_others_wait();
    stop = true;
    waiter.join();
    EXPECT_EQ(target.join(), WEFT_OK);
}

TEST(TimedMoves, AreSeenWithTheUnitAndTheDeadline) {
    Runtime runtime(with_streams(2));
    Bed bed;
    Ult target([&] { bed.sleep(); });
    until([&] { return bed.occupied(); });
    weft_pool* shared = make_pool(WEFT_POOL_SHARED);
    {
        Stream there(shared);
        EXPECT_EQ(weft_unit_migrate_to_pool(target.handle(), shared), WEFT_OK);
        const std::uint64_t deadline = never_in_this_test();
        Ult waiter([&] { EXPECT_EQ(weft_unit_migrate_wait_until(target.handle(), deadline), WEFT_OK); });
        until([&] { return waiting_for("migration") == 1; });
        static weft_unit_info seen;
        weft_unit_each(
            [](const weft_unit_info* info, void* who) {
                if (info->unit == who) seen = *info;
            },
            waiter.handle());
        EXPECT_EQ(seen.waits_object, target.handle());
        EXPECT_EQ(seen.waits_until_ns, deadline);
        EXPECT_EQ(bed.wake(), WEFT_OK);
        EXPECT_EQ(waiter.join(), WEFT_OK);
        EXPECT_EQ(target.join(), WEFT_OK);
    }
    EXPECT_EQ(weft_pool_free(shared), WEFT_OK);
}

TEST(TimedMoves, OfTheCallingUnitGoWhateverTheDeadline) {
    Runtime runtime(with_streams(2));
    weft_pool* shared = make_pool(WEFT_POOL_SHARED);
    {
        Stream there(shared);
        Ult unit([&] {
            EXPECT_EQ(weft_unit_migrate_to_pool(weft_unit_self(), shared), WEFT_OK);
            EXPECT_EQ(weft_unit_migrate_wait_until(weft_unit_self(), 0), WEFT_OK);
            EXPECT_EQ(weft_stream_self(), there.handle());
        });
        EXPECT_EQ(unit.join(), WEFT_OK);
    }
    EXPECT_EQ(weft_pool_free(shared), WEFT_OK);
}

TEST(TimedMoves, AreRefusedAsOthersAre) {
    Runtime runtime;
    EXPECT_EQ(weft_unit_migrate_wait_until(nullptr, 0), WEFT_INVALID);
    Ult ended([] {});
    EXPECT_EQ(ended.join(), WEFT_OK);
    EXPECT_EQ(weft_unit_migrate_wait_until(ended.handle(), 0), WEFT_OK) << "nothing was asked for";
    static weft_unit* of;
    of = ended.handle();
    weft_unit* tasklet = nullptr;
    ASSERT_EQ(weft_tasklet_spawn(
                  nullptr, [](void*) { EXPECT_EQ(weft_unit_migrate_wait_until(of, in_ms(1)), WEFT_WRONG_KIND); },
                  nullptr, nullptr, &tasklet),
              WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
}

}   // namespace
