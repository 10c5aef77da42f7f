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
            unit->life.move(State::free, State::ready);
        }
        // The first push of a pool answers a request.
        push(99);
        EXPECT_EQ(pop(), 99);
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
    int steal() const {
        int stolen = -1;
        std::thread([&] { stolen = number_of(pool::pop(const_cast<DequePool&>(pool_))); }).join();
        return stolen;
    }

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
