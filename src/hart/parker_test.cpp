// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hart/parker.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <thread>

#include "os/fault.hpp"

namespace weft {
namespace {

TEST(Parker, AnUnparkThatComesBeforeTheParkIsNotLost) {
    Parker parker;
    parker.unpark();
    EXPECT_TRUE(parker.park());
}

TEST(Parker, UnparksCountAsOneAndAreUsedUp) {
    Parker parker;
    parker.unpark();
    parker.unpark();
    EXPECT_TRUE(parker.park());
    EXPECT_FALSE(parker.park(1'000));
}

TEST(Parker, AWaitWithALimitEndsWhenNobodyComes) {
    Parker parker;
    const std::uint64_t begin = os::now_ns();
    EXPECT_FALSE(parker.park(2'000'000));
    EXPECT_GE(os::now_ns() - begin, 2'000'000u);
    EXPECT_FALSE(parker.park(0));
    parker.unpark();   // no thread waits any more: the permit is kept for the next park
    EXPECT_TRUE(parker.park(0));
}

// Each wakes the other, over and over: the parkers are used again at once, and the plain numbers
// carry what the unparks publish.
TEST(Parker, TwoCarriersLetEachOtherThrough) {
    constexpr int rounds = 5'000;
    Parker there, back;
    int ball = 0;
    std::thread other([&] {
        for (int i = 0; i < rounds; ++i) {
            there.park();
            ++ball;
            back.unpark();
        }
    });
    for (int i = 0; i < rounds; ++i) {
        EXPECT_EQ(ball, i);
        there.unpark();
        EXPECT_TRUE(back.park());
    }
    other.join();
    EXPECT_EQ(ball, rounds);
}

TEST(Parker, ASignalDoesNotLetTheCarrierThrough) {
    struct sigaction action = {};
    struct sigaction before = {};
    static atomic<int> signals;
    signals.store(0);
    action.sa_handler = [](int) { signals.fetch_add(1); };
    ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
    Parker parker;
    atomic<bool> opened{false};
    std::thread carrier([&] {
        EXPECT_TRUE(parker.park());
        EXPECT_TRUE(opened.load());
    });
    for (int i = 1; i <= 50; ++i) {
        pthread_kill(carrier.native_handle(), SIGUSR1);
        while (signals.load() < i) std::this_thread::yield();
    }
    opened.store(true);
    parker.unpark();
    carrier.join();
    sigaction(SIGUSR1, &before, nullptr);
}

TEST(Parker, WakesForNoReasonDoNotLetTheCarrierThrough) {
    if constexpr (!config::checked) GTEST_SKIP() << "faults are injected in checked builds";
    static atomic<int> waits;
    waits.store(0);
    os::fault_hook.store([](os::Seam seam) { return seam == os::Seam::futex_wait && waits.fetch_add(1) < 100; });
    Parker parker;
    atomic<bool> opened{false};
    std::thread carrier([&] {
        EXPECT_TRUE(parker.park());
        EXPECT_TRUE(opened.load());
    });
    while (waits.load() < 100) std::this_thread::yield();
    opened.store(true);
    parker.unpark();
    carrier.join();
    os::fault_hook.store(nullptr);
}

}   // namespace
}   // namespace weft
