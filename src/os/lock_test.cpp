// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/lock.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

#include "os/fault.hpp"
#include "os/thread.hpp"

namespace {

using weft::os::Lock;

TEST(Lock, OnlyOneThreadIsInside) {
    constexpr int threads = 4, rounds = 20000;
    Lock lock;
    int inside = 0;
    long total = 0;
    weft::atomic<bool> crowded{false};
    std::vector<std::thread> team;
    for (int t = 0; t < threads; ++t) {
        team.emplace_back([&] {
            for (int i = 0; i < rounds; ++i) {
                std::lock_guard hold(lock);
                if (++inside != 1) crowded.store(true);
                if (i % 64 == 0) weft::os::thread_yield();   // as if the holder were preempted
                ++total;
                --inside;
            }
        });
    }
    for (auto& thread : team) thread.join();
    EXPECT_FALSE(crowded.load());
    EXPECT_EQ(total, long{threads} * rounds);
}

TEST(Lock, CannotBeTriedWhileItIsHeld) {
    Lock lock;
    ASSERT_TRUE(lock.try_lock());
    EXPECT_FALSE(lock.try_lock());
    lock.unlock();
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
}

weft::atomic<int> waits{0};

// All waiters pass the futex seam before the holder releases the lock: each must be woken by the
// one before it.
TEST(Lock, EverySleeperIsWoken) {
    if (!weft::config::checked) GTEST_SKIP() << "needs the fault hook of a checked build";
    constexpr int threads = 5;
    waits.store(0);
    weft::os::fault_hook.store([](weft::os::Seam seam) {
        if (seam == weft::os::Seam::futex_wait) waits.fetch_add(1);
        return false;
    });
    Lock lock;
    lock.lock();
    std::vector<std::thread> team;
    for (int t = 0; t < threads; ++t) {
        team.emplace_back([&] { std::lock_guard hold(lock); });
    }
    while (waits.load() < threads) weft::os::thread_yield();   // none of them spins forever
    for (int i = 0; i < 200; ++i) weft::os::thread_yield();
    EXPECT_EQ(waits.load(), threads) << "who sleeps does not come back by itself";
    lock.unlock();
    for (auto& thread : team) thread.join();
    weft::os::fault_hook.store(nullptr);
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
}

}   // namespace
