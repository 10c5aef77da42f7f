// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sleep and wake, and the clock that times them.
#include "os/futex.hpp"

#include <gtest/gtest.h>

#include <pthread.h>
#include <signal.h>

#include <cerrno>
#include <thread>
#include <vector>

#include "os/clock.hpp"
#include "os/fault.hpp"
#include "os/thread.hpp"

namespace weft::os {
namespace {

constexpr std::uint64_t millisecond = 1'000'000;

TEST(Clock, NeverRunsBackwards) {
    std::uint64_t last = now_ns();
    for (int i = 0; i < 100'000; ++i) {
        const std::uint64_t now = now_ns();
        ASSERT_GE(now, last);
        last = now;
    }
}

TEST(Clock, IsTheMonotonicOneAndCountsInNanoseconds) {
    timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    const std::uint64_t now = now_ns();
    clock_gettime(CLOCK_MONOTONIC, &after);
    auto ns = [](const timespec& at) {
        return static_cast<std::uint64_t>(at.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(at.tv_nsec);
    };
    EXPECT_GE(now, ns(before));
    EXPECT_LE(now, ns(after));
}

TEST(Futex, AWaitOnAnotherValueReturnsAtOnce) {
    atomic<std::uint32_t> word{1};
    futex_wait(word, 0);   // without a limit: it would sleep forever
    EXPECT_EQ(word.load(), 1u);
}

TEST(Futex, AWaitEndsWithItsTimeWhenNobodyWakes) {
    atomic<std::uint32_t> word{0};
    const std::uint64_t start = now_ns(), wanted = 20 * millisecond;
    std::uint64_t passed = 0;
    while (passed < wanted) {   // a signal may end it early
        futex_wait(word, 0, wanted - passed);
        passed = now_ns() - start;
    }
    EXPECT_GE(passed, wanted);
    EXPECT_EQ(word.load(), 0u);
}

TEST(Futex, AWakeReachesTheSleeper) {
    atomic<std::uint32_t> word{0};
    atomic<bool> woken{false};
    std::thread sleeper([&] {
        while (word.load() == 0) futex_wait(word, 0);
        woken.store(true);
    });
    word.store(1);
    futex_wake(word, 1);
    sleeper.join();
    EXPECT_TRUE(woken.load());
}

// Ping-pong: a lost wake would leave both asleep forever.
TEST(Futex, NoWakeIsLostOverManyTurns) {
    constexpr std::uint32_t turns = config::thread_sanitizer || config::address_sanitizer ? 1000 : 5000;
    atomic<std::uint32_t> word{0};
    auto player = [&](std::uint32_t mine) {
        for (;;) {
            const std::uint32_t now = word.load();
            if (now >= turns) return;
            if (now % 2 != mine) {
                futex_wait(word, now);
            } else {
                word.store(now + 1);
                futex_wake(word, 1);
            }
        }
    };
    std::thread one(player, 0), other(player, 1);
    one.join();
    other.join();
    EXPECT_EQ(word.load(), turns);
}

TEST(Futex, AWakeOfAllWakesAllAndAWakeOfNobodyIsNothing) {
    atomic<std::uint32_t> word{0};
    futex_wake(word, 1);
    futex_wake(word, 100);
    std::vector<std::thread> sleepers;
    for (int i = 0; i < 4; ++i) {
        sleepers.emplace_back([&] {
            while (word.load() == 0) futex_wait(word, 0);
        });
    }
    word.store(1);
    futex_wake(word, 100);
    for (std::thread& sleeper : sleepers) sleeper.join();
    EXPECT_EQ(word.load(), 1u);
}

TEST(Futex, ASignalMayEndAWaitAndTheWaiterSeesForItself) {
    struct sigaction handler = {}, before;
    handler.sa_handler = [](int) {};
    sigaction(SIGUSR1, &handler, &before);
    atomic<std::uint32_t> word{0};
    atomic<std::uint32_t> returns{0};
    std::thread sleeper([&] {
        while (word.load() == 0) {
            futex_wait(word, 0);
            returns.fetch_add(1);
        }
    });
    while (returns.load() == 0) {
        pthread_kill(sleeper.native_handle(), SIGUSR1);
        thread_yield();
    }
    EXPECT_EQ(word.load(), 0u);   // it returned though no thread changed the word
    word.store(1);
    futex_wake(word, 1);
    sleeper.join();
    sigaction(SIGUSR1, &before, nullptr);
}

TEST(Futex, AWaitLeavesErrnoAlone) {
    atomic<std::uint32_t> word{1};
    errno = EDOM;
    futex_wait(word, 0);   // the kernel answers EAGAIN
    EXPECT_EQ(errno, EDOM);
    futex_wait(word, 1, 1000);   // and here ETIMEDOUT
    EXPECT_EQ(errno, EDOM);
}

TEST(Futex, AnInjectedFaultEndsAWaitAsASignalWould) {
    if constexpr (!config::checked) GTEST_SKIP() << "faults are injected in checked builds only";
    atomic<std::uint32_t> word{0};
    fault_hook.store([](Seam seam) { return seam == Seam::futex_wait; });
    futex_wait(word, 0);   // would sleep forever
    fault_hook.store(nullptr);
    EXPECT_EQ(word.load(), 0u);
}

}   // namespace
}   // namespace weft::os
