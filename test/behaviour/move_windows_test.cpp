// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The race windows of a migration, forced (windows.hpp): a joiner of a unit that leaves its private
// pool, a waiter for the move, and a new request meanwhile.
#include <thread>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/several.hpp"
#include "test/behaviour/windows.hpp"

using namespace weft_test;

namespace {

class MoveWindows : public testing::Test {
protected:
    void TearDown() override { weft::probe_hook.store(nullptr); }
};

// Runs on stream 1, from a private pool, until it is notified to end.
class Restless {
public:
    explicit Restless(weft_pool* pool)
        : unit_(
              [this] {
                  runs_ = true;
                  while (!end_) weft_unit_yield();
              },
              nullptr, pool) {
        must_happen("it runs", [this] { return runs_.load(); });
    }
    weft_unit* handle() const { return unit_.handle(); }
    Ult& unit() { return unit_; }
    void end() { end_ = true; }
    weft_pool* pool() const {
        weft_pool* pool = nullptr;
        EXPECT_EQ(weft_unit_pool_get(handle(), &pool), WEFT_OK);
        return pool;
    }

private:
    atomic<bool> runs_{false}, end_{false};
    Ult unit_;
};

}   // namespace

TEST_F(MoveWindows, AJoinerThatHasReadTheOldPoolFindsTheUnitShared) {
    Runtime runtime(streams_with(3, WEFT_POOL_PRIVATE));
    weft_pool* shared = nullptr;
    ASSERT_EQ(weft_pool_create(WEFT_POOL_SHARED, &shared), WEFT_OK);
    {
        Stream drawer(shared);
        for (weft_pool* target : {shared, pool_of(2)}) {
            Restless restless(pool_of(1));
            Stop stop(Probe::join_after_pool, nullptr);
            std::thread joiner([&] { EXPECT_EQ(restless.unit().join(), WEFT_OK); });
            stop.await();
            EXPECT_EQ(weft_unit_migrate_to_pool(restless.handle(), target), WEFT_OK);
            must_happen("it moves", [&] { return restless.pool() == target; });
            stop.let_go();
            restless.end();
            joiner.join();
        }
    }
    EXPECT_EQ(weft_pool_free(shared), WEFT_OK);
}

TEST_F(MoveWindows, AJoinerThatComesBetweenTheTwoStepsIsWoken) {
    Runtime runtime(streams_with(3, WEFT_POOL_PRIVATE));
    for (const bool outside : {false, true}) {
        Restless restless(pool_of(1));
        Stop stop(Probe::move_before_pool, carrier(1));
        EXPECT_EQ(weft_unit_migrate_to_pool(restless.handle(), pool_of(2)), WEFT_OK);
        stop.await();
        atomic<bool> joined{false};
        auto join = [&] {
            EXPECT_EQ(restless.unit().join(), WEFT_OK);
            joined = true;
        };
        std::unique_ptr<Ult> unit;
        std::thread thread;
        if (outside) {
            thread = std::thread(join);
        } else {
            unit = std::make_unique<Ult>(join, nullptr, pool_of(2));
            must_happen("the joiner waits", [&] { return unit->state() == WEFT_UNIT_SUSPENDED; });
        }
        stop.let_go();
        restless.end();
        must_happen("it is woken", [&] { return joined.load(); });
        if (outside) thread.join();
    }
}

TEST_F(MoveWindows, ARemoteCallThatComesAfterTheMoveAnnouncesItsJoiner) {
    Runtime runtime(streams_with(3, WEFT_POOL_PRIVATE));
    for (int round = 0; round < 20; ++round) {
        atomic<bool> runs{false}, go{false}, away{false}, end{false};
        Ult unit(
            [&] {
                runs = true;
                while (!go) std::this_thread::yield();
                EXPECT_EQ(weft_unit_migrate_to_pool(weft_unit_self(), pool_of(2)), WEFT_OK);
                weft_unit_yield();
                away = true;
                while (!end) weft_unit_yield();
            },
            nullptr, pool_of(1));
        must_happen("it runs", [&] { return runs.load(); });
        Ult joiner([&] { EXPECT_EQ(unit.join(), WEFT_OK); });
        while (joiner.state() != WEFT_UNIT_SUSPENDED)
            weft_unit_yield();   // its remote call is in the inbox of stream 1
        go = true;
        must_happen("the unit is elsewhere", [&] { return away.load(); });
        end = true;
        EXPECT_EQ(joiner.join(), WEFT_OK);
    }
}

TEST_F(MoveWindows, ARequestMadeWhileTheUnitMovesIsHeeded) {
    for (const Probe where : {Probe::move_before_pool, Probe::move_before_push}) {
        Runtime runtime(streams_with(4, WEFT_POOL_PRIVATE));
        Restless restless(pool_of(1));
        Stop stop(where, carrier(1));
        EXPECT_EQ(weft_unit_migrate_to_pool(restless.handle(), pool_of(2)), WEFT_OK);
        stop.await();
        if (forced && where == Probe::move_before_push) {
            EXPECT_EQ(restless.pool(), pool_of(2));
            EXPECT_EQ(restless.unit().state(), WEFT_UNIT_READY);
        }
        EXPECT_EQ(weft_unit_migrate_to_pool(restless.handle(), pool_of(3)), WEFT_OK);
        stop.let_go();
        must_happen("it goes on", [&] { return restless.pool() == pool_of(3); });
        EXPECT_EQ(weft_unit_migrate_wait(restless.handle()), WEFT_OK);
        restless.end();
        EXPECT_EQ(restless.unit().join(), WEFT_OK);
    }
}

TEST_F(MoveWindows, AWaiterIsNotToldBeforeTheUnitHasLeft) {
    Runtime runtime(streams_with(3, WEFT_POOL_PRIVATE));
    Restless restless(pool_of(1));
    Stop stop(Probe::move_before_pool, carrier(1));
    EXPECT_EQ(weft_unit_migrate_to_pool(restless.handle(), pool_of(2)), WEFT_OK);
    stop.await();
    atomic<bool> told{false};
    std::thread waiter([&] {
        EXPECT_EQ(weft_unit_migrate_wait(restless.handle()), WEFT_OK);
        EXPECT_EQ(restless.pool(), pool_of(2));
        told = true;
    });
    if (forced) {
        std::this_thread::yield();
        EXPECT_FALSE(told);
    }
    stop.let_go();
    waiter.join();
    restless.end();
    EXPECT_EQ(restless.unit().join(), WEFT_OK);
}

TEST_F(MoveWindows, AWaiterThatComesBeforeTheEndIsPublishedLearnsOfTheEnd) {
    for (const auto kind : {WEFT_POOL_SHARED, WEFT_POOL_PRIVATE}) {
        Runtime runtime(streams_with(3, kind));
        atomic<bool> runs{false}, asked{false};
        Ult unit(
            [&] {
                runs = true;
                while (!asked) std::this_thread::yield();
            },
            nullptr, pool_of(1));
        must_happen("it runs", [&] { return runs.load(); });
        EXPECT_EQ(weft_unit_migrate_to_pool(unit.handle(), pool_of(2)), WEFT_OK);
        Stop stop(Probe::finish_before_publish, carrier(1));
        asked = true;
        stop.await();
        Ult waiter([&] { EXPECT_EQ(weft_unit_migrate_wait(unit.handle()), WEFT_WRONG_STATE); }, nullptr, pool_of(2));
        must_happen("the waiter waits", [&] { return !forced || waiter.state() == WEFT_UNIT_SUSPENDED; });
        stop.let_go();
        EXPECT_EQ(waiter.join(), WEFT_OK);
        EXPECT_EQ(unit.join(), WEFT_OK);
    }
}
