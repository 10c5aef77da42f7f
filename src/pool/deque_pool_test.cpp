// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "pool/check.hpp"

namespace weft {
namespace {

// The test's thread is the owner.
class DequePoolTest : public testing::Test {
protected:
    void SetUp() override {
        if (!os::prepare_process_barrier()) GTEST_SKIP() << "the kernel has no membarrier";
        os::set_local(this);
        pool_.owner.store(this);
        units_ = std::vector<std::unique_ptr<Unit>>(100);
        for (auto& unit : units_) {
            unit = std::make_unique<Unit>();
            unit->pool = &pool_;
            unit->id = ++id_;
            unit->life.move(State::free, State::ready);
        }
        // The first push of a pool answers a request.
        push(99);
        EXPECT_EQ(pop(), 99);
        pool_.own.data().in_vain = 0;
    }
    void TearDown() override { os::set_local(nullptr); }

    void push(int number) { pool::push(pool_, units_[static_cast<std::size_t>(number)].get()); }
    void yield(int number) { pool::push(pool_, units_[static_cast<std::size_t>(number)].get(), pool::From::yielded); }
    int number_of(const Unit* unit) const {
        for (std::size_t i = 0; i < units_.size(); ++i) {
            if (units_[i].get() == unit) return static_cast<int>(i);
        }
        return -1;
    }
    int pop() { return number_of(pool::pop(pool_)); }
    // On another thread. -1: there was nothing, and it has requested a steal.
    int steal() {
        int stolen = -1;
        std::thread([&] {
            stolen = number_of(pool::pop(pool_));
            if (stolen < 0) pool::request_steal(pool_, this);
        }).join();
        return stolen;
    }
    static void spend(std::uint64_t ns) {
        const std::uint64_t begin_ns = os::now_ns();
        while (os::now_ns() - begin_ns <= ns) continue;
    }
    // A stream watches, and the owner has found that its units are short.
    void begin_declining() {
        pool_.restraint.set_active(true);
        std::thread([&] { EXPECT_TRUE(pool::watch(pool_, this)); }).join();
        EXPECT_EQ(steal(), -1);
    }

    std::uint64_t id_ = 0;
    DequePool pool_;
    std::vector<std::unique_ptr<Unit>> units_;
};

TEST_F(DequePoolTest, ItsOwnerTakesTheNewestFirstAndWhatHasYieldedLast) {
    push(0), push(1), yield(2), push(3), yield(4);
    EXPECT_EQ(pool::length(pool_), 5u);
    EXPECT_FALSE(pool::quiet(pool_));
    pool::check_whole(pool_);
    for (const int expected : {3, 1, 0, 2, 4, -1}) EXPECT_EQ(pop(), expected);
    EXPECT_TRUE(pool::quiet(pool_));
}

TEST_F(DequePoolTest, AThiefGetsTheOldestOnceTheOwnerHasAnsweredItsRequest) {
    push(0), push(1), push(2);
    EXPECT_EQ(steal(), -1);   // it requests
    push(3);
    EXPECT_EQ(steal(), 0);
    EXPECT_EQ(steal(), 1);
    EXPECT_EQ(steal(), -1);
    EXPECT_EQ(pop(), 3);   // answers as well
    EXPECT_EQ(steal(), 2);
}

TEST_F(DequePoolTest, ARequestPublishesHalfOfTheUnitsAndNotMoreThanAFew) {
    for (int i = 0; i < 50; ++i) push(i);
    EXPECT_EQ(steal(), -1);
    push(50);
    for (int i = 0; i < static_cast<int>(DequePool::most_published); ++i) EXPECT_EQ(steal(), i);
    EXPECT_EQ(steal(), -1);
    EXPECT_EQ(pop(), 50);
}

TEST_F(DequePoolTest, AThiefTakesFromAnOwnerThatDoesNotCome) {
    for (int i = 0; i < 4; ++i) push(i);
    std::thread([this] {
        EXPECT_EQ(number_of(pool::pop(pool_)), -1);
        EXPECT_FALSE(pool::quiet_after_all(pool_));
        EXPECT_EQ(number_of(pool::pop(pool_)), 0);
        EXPECT_EQ(number_of(pool::pop(pool_)), 1);
        EXPECT_EQ(number_of(pool::pop(pool_)), -1);
        EXPECT_EQ(number_of(pool::pop_after_all(pool_)), 2);
        EXPECT_EQ(number_of(pool::pop_after_all(pool_)), 3);
        EXPECT_TRUE(pool::quiet_after_all(pool_));
    }).join();
    EXPECT_EQ(pop(), -1);
}

TEST_F(DequePoolTest, WhatHasYieldedIsTakenFromAnOwnerThatDoesNotCome) {
    yield(0), yield(1);
    std::thread([this] {
        EXPECT_EQ(number_of(pool::pop_after_all(pool_)), 0);
        EXPECT_EQ(number_of(pool::pop_after_all(pool_)), 1);
    }).join();
}

TEST_F(DequePoolTest, ItsOwnerDoesWithoutWhatAnotherThreadHasTakenOver) {
    push(0), push(1);
    ASSERT_TRUE(pool_.own.revoke());
    EXPECT_FALSE(pool::pop_if(pool_, units_[1].get()));
    EXPECT_EQ(pop(), -1);
    push(2), yield(3);
    EXPECT_EQ(pop(), 2);
    EXPECT_EQ(pop(), 3);
    pool_.own.restore();
    EXPECT_EQ(pop(), 1);
    EXPECT_EQ(pop(), 0);
}

TEST_F(DequePoolTest, ItDeclinesRequestsOnceUnitsHaveBeenPublishedInVain) {
    // In a round that takes long, on a busy machine, the unit was worth it: counting begins anew.
    unsigned rounds = 0;
    for (; rounds < 1'000 && !pool_.restraint.active(); ++rounds) {
        EXPECT_EQ(steal(), -1);
        push(0);
        EXPECT_EQ(pool_.ring.length(), 1u);
        EXPECT_EQ(pop(), 0);
    }
    EXPECT_TRUE(pool_.restraint.active());
    EXPECT_GE(rounds, DequePool::patience);
    // A unit that its owner has not come to for a while was worth it.
    EXPECT_EQ(steal(), -1);
    push(0);
    spend(DequePool::worth_ns);
    EXPECT_EQ(pop(), 0);
    EXPECT_FALSE(pool_.restraint.active());
}

TEST_F(DequePoolTest, ItDeclinesARequestWhenItHasTakenOutItsOldestUnit) {
    begin_declining();
    push(0);
    EXPECT_EQ(pool_.ring.length(), 0u);
    EXPECT_FALSE(pool_.restraint.declined());
    EXPECT_EQ(pop(), 0);
    EXPECT_TRUE(pool_.restraint.declined());
    EXPECT_EQ(pool_.own.wanted(), 0u);   // its next pushes and pops are on the fast path
}

TEST_F(DequePoolTest, ItPublishesAUnitThatWaitsThoughItDeclinesRequests) {
    begin_declining();
    push(0);
    for (unsigned i = 0; i < 16 && pool_.ring.looks_empty(); ++i) {   // less than a turn
        push(1);
        spend(DequePool::worth_ns / 4);
        EXPECT_EQ(pop(), 1);
    }
    EXPECT_EQ(steal(), 0);
}

TEST_F(DequePoolTest, ItDeclinesNothingWhileNoStreamWatches) {
    pool_.restraint.set_active(true);
    EXPECT_EQ(steal(), -1);
    push(0);
    EXPECT_EQ(steal(), 0);
}

TEST_F(DequePoolTest, ItDeclinesNothingWhileASleeperListensThatCannotWatch) {
    begin_declining();
    push(0);
    EXPECT_EQ(pop(), 0);
    ASSERT_TRUE(pool_.restraint.declined());
    Sleeper sleeper;
    IdleList::Entry place(sleeper);
    std::thread([&] { pool::listen(pool_, place); }).join();
    EXPECT_FALSE(pool_.restraint.declined());
    push(1);
    EXPECT_EQ(steal(), 1);
    std::thread([&] { pool::stop_listening(pool_, place); }).join();
    EXPECT_EQ(steal(), -1);
    push(2);
    EXPECT_EQ(pop(), 2);
    EXPECT_TRUE(pool_.restraint.declined());
}

TEST_F(DequePoolTest, AStreamThatWatchesSleepsUntilTheEndOfADecline) {
    begin_declining();
    push(0);
    EXPECT_EQ(pop(), 0);
    std::thread([&] {
        EXPECT_LE(pool::keep_watching(pool_, this), os::now_ns() + Restraint::longest_ns);
        int another = 0;
        EXPECT_EQ(pool::keep_watching(pool_, &another), os::forever);
        pool::stop_watching(pool_, this);
        EXPECT_FALSE(pool::is_watched(pool_));
        EXPECT_LE(pool::keep_watching(pool_, &another), os::now_ns() + Restraint::longest_ns);
        EXPECT_TRUE(pool::is_watched(pool_));
        EXPECT_TRUE(pool::has_declined(pool_));
    }).join();
}

TEST_F(DequePoolTest, AStreamThatHasWatchedLooksAgainBeforeItSleeps) {
    begin_declining();
    push(0);   // the request is being weighed
    std::thread([&] {
        EXPECT_EQ(pool::keep_watching(pool_, this), 0u);
        EXPECT_FALSE(pool::quiet_after_all(pool_));
    }).join();
    EXPECT_EQ(steal(), 0);
}

TEST_F(DequePoolTest, AllIsPublishedWhenItsOwnerLeaves) {
    for (int i = 0; i < 20; ++i) push(i);
    yield(20);
    pool_.drawers.fetch_add(1);
    pool::detach(pool_, this);
    for (int i = 0; i <= 20; ++i) EXPECT_EQ(steal(), i);
    EXPECT_EQ(pool_.owner.load(), nullptr);
}

TEST_F(DequePoolTest, NoUnitWaitsForeverBehindUnitsThatAreAlwaysReplaced) {
    push(0), yield(1);
    std::thread([this] { pool::push(pool_, units_[2].get()); }).join();   // from elsewhere
    std::vector<int> waited(3, -1);
    for (int round = 0; round < 200; ++round) {
        push(3 + round % 2);
        const int popped = pop();
        ASSERT_GE(popped, 0);
        if (popped < 3) {
            waited[static_cast<std::size_t>(popped)] = round;
            ASSERT_GE(pop(), 3);
        }
    }
    for (const int rounds : waited) {
        EXPECT_GE(rounds, 0);
        EXPECT_LE(rounds, 3 * static_cast<int>(DequePool::turn));
    }
}

}   // namespace
}   // namespace weft
