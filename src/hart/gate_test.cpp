#include "hart/gate.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <thread>

#include "os/fault.hpp"

namespace weft {
namespace {

TEST(Gate, AnOpeningThatComesBeforeTheWaitIsNotLost) {
    Gate gate;
    gate.open();
    EXPECT_TRUE(gate.wait());
}

TEST(Gate, OpeningsCountAsOneAndAreUsedUp) {
    Gate gate;
    gate.open();
    gate.open();
    EXPECT_TRUE(gate.wait());
    EXPECT_FALSE(gate.wait(1'000));
}

TEST(Gate, AWaitWithALimitEndsWhenNobodyComes) {
    Gate gate;
    const std::uint64_t begin = os::now_ns();
    EXPECT_FALSE(gate.wait(2'000'000));
    EXPECT_GE(os::now_ns() - begin, 2'000'000u);
    EXPECT_FALSE(gate.wait(0));
    gate.open();   // nobody waits any more: kept for the next
    EXPECT_TRUE(gate.wait(0));
}

// Each lets the other through, over and over: the gates are used again at once, and the plain numbers carry what
// the openings publish.
TEST(Gate, TwoCarriersLetEachOtherThrough) {
    constexpr int rounds = 5'000;
    Gate there, back;
    int ball = 0;
    std::thread other([&] {
        for (int i = 0; i < rounds; ++i) {
            there.wait();
            ++ball;
            back.open();
        }
    });
    for (int i = 0; i < rounds; ++i) {
        EXPECT_EQ(ball, i);
        there.open();
        EXPECT_TRUE(back.wait());
    }
    other.join();
    EXPECT_EQ(ball, rounds);
}

TEST(Gate, ASignalDoesNotLetTheCarrierThrough) {
    struct sigaction action = {};
    struct sigaction before = {};
    static atomic<int> signals;
    signals.store(0);
    action.sa_handler = [](int) { signals.fetch_add(1); };
    ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
    Gate gate;
    atomic<bool> opened{false};
    std::thread carrier([&] {
        EXPECT_TRUE(gate.wait());
        EXPECT_TRUE(opened.load());
    });
    for (int i = 1; i <= 50; ++i) {
        pthread_kill(carrier.native_handle(), SIGUSR1);
        while (signals.load() < i) std::this_thread::yield();
    }
    opened.store(true);
    gate.open();
    carrier.join();
    sigaction(SIGUSR1, &before, nullptr);
}

TEST(Gate, WakesForNoReasonDoNotLetTheCarrierThrough) {
    if constexpr (!config::checked) GTEST_SKIP() << "faults are injected in checked builds";
    static atomic<int> waits;
    waits.store(0);
    os::fault_hook.store([](os::Door door) { return door == os::Door::futex_wait && waits.fetch_add(1) < 100; });
    Gate gate;
    atomic<bool> opened{false};
    std::thread carrier([&] {
        EXPECT_TRUE(gate.wait());
        EXPECT_TRUE(opened.load());
    });
    while (waits.load() < 100) std::this_thread::yield();
    opened.store(true);
    gate.open();
    carrier.join();
    os::fault_hook.store(nullptr);
}

}   // namespace
}   // namespace weft
