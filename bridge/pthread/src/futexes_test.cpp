// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <semaphore>

#include "test_support.hpp"

using namespace weft_pthread_test;

namespace {

using Futexes = Bridge;

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* time = nullptr,
           std::uint32_t bits = 0) {
    return syscall(SYS_futex, &word, operation, value, time, nullptr, bits);
}

TEST_F(Futexes, UnitsAndThreadsWakeEachOther) {
    in_child([] {
        Runtime runtime;
        std::atomic<std::uint32_t> turn{0};
        constexpr std::uint32_t rounds = 500;
        auto body = [&](std::uint32_t mine) {
            for (std::uint32_t i = 0; i < rounds; ++i) {
                for (std::uint32_t now; (now = turn) % 3 != mine;) futex(turn, FUTEX_WAIT_PRIVATE, now);
                ++turn;
                EXPECT_GE(futex(turn, FUTEX_WAKE_PRIVATE, INT_MAX), 0);
            }
        };
        std::thread third([&] { body(2); });
        {
            const Hosted first([&] { body(0); }), second([&] { body(1); });
        }
        third.join();
        EXPECT_EQ(turn, 3 * rounds);
    });
}

TEST_F(Futexes, AWakerIsToldHowMany) {
    in_child([] {
        Runtime runtime;
        std::atomic<std::uint32_t> word{7};
        int awake = 0;
        auto body = [&](std::uint32_t bits) {
            EXPECT_EQ(futex(word, FUTEX_WAIT_BITSET_PRIVATE, 7, nullptr, bits), 0);
            ++awake;
        };
        const Hosted first([&] { body(1); }), second([&] { body(2); }), third([&] { body(2); });
        until_suspended(first);
        until_suspended(second);
        until_suspended(third);
        EXPECT_EQ(futex(word, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, nullptr, 4), 0);
        EXPECT_EQ(futex(word, FUTEX_WAKE_BITSET_PRIVATE, 1, nullptr, 2), 1);
        EXPECT_EQ(futex(word, FUTEX_WAKE_PRIVATE, 1), 1);
        EXPECT_EQ(futex(word, FUTEX_WAKE_PRIVATE, INT_MAX), 1);
        until([&] { return awake == 3; });
    });
}

TEST_F(Futexes, AnswersAreTheKernels) {
    in_child([] {
        Runtime runtime;
        const Hosted unit([] {
            std::atomic<std::uint32_t> word{1};
            EXPECT_EQ(futex(word, FUTEX_WAIT_PRIVATE, 2), -1);
            EXPECT_EQ(errno, EAGAIN);
            const timespec short_time{0, 5'000'000}, wrong{0, -1}, past{};
            const std::uint64_t before_ns = weft_now_ns();
            EXPECT_EQ(futex(word, FUTEX_WAIT_PRIVATE, 1, &short_time), -1);
            EXPECT_EQ(errno, ETIMEDOUT);
            EXPECT_GE(weft_now_ns() - before_ns, 5'000'000U);
            EXPECT_EQ(futex(word, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 1, &past, 1), -1);
            EXPECT_EQ(errno, ETIMEDOUT);
            EXPECT_EQ(futex(word, FUTEX_WAIT_PRIVATE, 1, &wrong), -1);
            EXPECT_EQ(errno, EINVAL);
            EXPECT_EQ(futex(word, FUTEX_WAIT_BITSET_PRIVATE, 1, nullptr, 0), -1);
            EXPECT_EQ(errno, EINVAL);
            EXPECT_EQ(syscall(SYS_futex, nullptr, FUTEX_WAIT_PRIVATE, 0, nullptr), -1);
            EXPECT_EQ(errno, EFAULT);
            EXPECT_EQ(syscall(SYS_futex, &word, 99, 0), -1);
            EXPECT_EQ(errno, ENOSYS);
        });
    });
}

TEST_F(Futexes, WhoChangesTheWordAndWakesElsewhereIsSeen) {
    in_child([] {
        Runtime runtime;
        std::atomic<std::uint32_t> word{1};
        const Hosted unit([&] { EXPECT_EQ(futex(word, FUTEX_WAIT_PRIVATE, 1), 0); });
        until_suspended(unit);
        word = 2;   // and no wake follows
    });
}

void do_nothing(int) {}

TEST_F(Futexes, ASignalEndsTheWait) {
    in_child([] {
        Runtime runtime;
        struct sigaction action {};
        action.sa_handler = do_nothing;
        sigaction(SIGUSR1, &action, nullptr);
        std::atomic<std::uint32_t> word{1};
        pthread_t its{};
        const Hosted unit([&] {
            its = pthread_self();
            EXPECT_EQ(futex(word, FUTEX_WAIT_PRIVATE, 1), -1);
            EXPECT_EQ(errno, EINTR);
        });
        until_suspended(unit);
        EXPECT_EQ(pthread_kill(its, SIGUSR1), 0);
    });
}

TEST_F(Futexes, AtomicsAndSemaphoresOfCppAreMadeOfThem) {
    in_child([] {
        Runtime runtime;
        std::atomic<int> word{0};
        std::counting_semaphore<> semaphore(0);
        const Hosted first([&] {
            word.wait(0);
            semaphore.release();
        });
        const Hosted second([&] { semaphore.acquire(); });
        until_suspended(first);
        word = 1;
        word.notify_one();
    });
}

TEST_F(Futexes, OtherCallsGoOnAsTheyCame) {
    EXPECT_EQ(syscall(SYS_getpid), getpid());
    EXPECT_EQ(syscall(SYS_close, -1), -1);
    EXPECT_EQ(errno, EBADF);
    const int text = static_cast<int>(syscall(SYS_memfd_create, "six", 0));
    ASSERT_EQ(ftruncate(text, 8192), 0);
    ASSERT_EQ(pwrite(text, "x", 1, 4096), 1);
    // A call with six arguments.
    auto* const mapped =
        reinterpret_cast<char*>(syscall(SYS_mmap, nullptr, 4096, 1 /* PROT_READ */, 2 /* MAP_PRIVATE */, text, 4096));
    EXPECT_EQ(*mapped, 'x');
    close(text);
}

}   // namespace
