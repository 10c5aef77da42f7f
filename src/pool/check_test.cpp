// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pool/check.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

void make_ready(Unit& unit, Pool& of) {
    unit.pool = &of;
    unit.life.move(State::free, State::ready);
}

TEST(PoolCheckDeathTest, AUnitOfAnotherPoolStopsTheProcess) {
    if constexpr (!config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    SharedPool pool(WEFT_POOL_SHARED), other(WEFT_POOL_SHARED);
    Unit unit;
    make_ready(unit, other);
    EXPECT_DEATH(pool::push(pool, &unit), "does not hold");
}

TEST(PoolCheckDeathTest, AUnitThatIsNotReadyStopsTheProcess) {
    if constexpr (!config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    SharedPool pool(WEFT_POOL_SHARED);
    Unit unit;
    unit.pool = &pool;
    EXPECT_DEATH(pool::push(pool, &unit), "does not hold");
}

TEST(PoolCheckDeathTest, ACountThatIsWrongStopsTheProcess) {
    if constexpr (!config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    LockedPool pool(WEFT_POOL_LIFO);
    Unit unit;
    make_ready(unit, pool);
    pool.count.store(1);
    EXPECT_DEATH(pool::push(pool, &unit), "does not hold");
}

TEST(PoolCheckDeathTest, AUnitThatIsNotCountedStopsTheSimulator) {
    if constexpr (!config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    PrivatePool pool;
    Unit first, second;
    make_ready(first, pool);
    make_ready(second, pool);
    pool.keep(&first);
    pool::check_whole(pool);
    pool.ready.push_back(&second);
    EXPECT_DEATH(pool::check_whole(pool), "does not hold");
}

TEST(PoolCheckDeathTest, WhatHasCeasedToBeReadyInAPoolStopsTheSimulator) {
    if constexpr (!config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    DequePool pool;
    Unit unit;
    make_ready(unit, pool);
    pool::push(pool, &unit);
    pool::check_whole(pool);
    unit.life.move(State::ready, State::running);
    EXPECT_DEATH(pool::check_whole(pool), "does not hold");
}

}   // namespace
}   // namespace weft
