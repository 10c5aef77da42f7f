// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <chrono>

#include "test_support.hpp"

using namespace weft_pthread_test;

// Interposes Weft's function, also for the bridge, and counts how often a thread has slept by it.
static std::atomic<int> naps;
extern "C" [[gnu::visibility("default")]] weft_status weft_sleep_for(std::uint64_t duration_ns) noexcept {
    static const auto next = reinterpret_cast<decltype(&weft_sleep_for)>(dlsym(RTLD_NEXT, "weft_sleep_for"));
    ++naps;
    return next(duration_ns);
}

namespace {

using Sleeps = Bridge;

TEST_F(Sleeps, OthersRunMeanwhile) {
    in_child([] {
        Runtime runtime;
        std::atomic<bool> over{false};
        std::atomic<long> turns{0};
        const Hosted other([&] {
            for (; !over; ++turns) weft_unit_yield();
        });
        const Hosted sleeper([&] {
            auto slept = [&, last = 0L](auto call, long ms) mutable {
                last = turns;
                const std::uint64_t before_ns = weft_now_ns();
                EXPECT_EQ(call(), 0);
                EXPECT_GE(weft_now_ns() - before_ns, static_cast<std::uint64_t>(ms) * 1'000'000);
                EXPECT_GT(turns, last);
            };
            const timespec two_ms{0, 2'000'000};
            slept([&] { return nanosleep(&two_ms, nullptr); }, 2);
            slept([] { return usleep(2000); }, 2);
            slept([&] { return clock_nanosleep(CLOCK_REALTIME, 0, &two_ms, nullptr); }, 2);
            slept([&] { return thrd_sleep(&two_ms, nullptr); }, 2);
            for (const clockid_t clock : {CLOCK_REALTIME, CLOCK_MONOTONIC}) {
                timespec time{};
                clock_gettime(clock, &time);
                time.tv_nsec += 3'000'000;
                if (time.tv_nsec >= 1'000'000'000) time = {time.tv_sec + 1, time.tv_nsec - 1'000'000'000};
                slept([&] { return clock_nanosleep(clock, TIMER_ABSTIME, &time, nullptr); }, 1);
                EXPECT_EQ(clock_nanosleep(clock, TIMER_ABSTIME, &time, nullptr), 0);
            }
            slept([] { return static_cast<int>(sleep(1)); }, 1000);
            over = true;
            const timespec wrong{0, 1'000'000'000};
            EXPECT_EQ(nanosleep(&wrong, nullptr), -1);
            EXPECT_EQ(errno, EINVAL);
            EXPECT_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, &wrong, nullptr), EINVAL);
        });
    });
}

std::atomic<int> handled{0};

TEST_F(Sleeps, ASignalEndsThemWhenItsHandlerHasRun) {
    in_child([] {
        Runtime runtime;
        struct sigaction action {};
        action.sa_handler = [](int) { ++handled; };
        action.sa_flags = SA_RESTART;   // does not apply to sleeps
        sigaction(SIGUSR1, &action, nullptr);
        signal(SIGUSR2, SIG_IGN);
        pthread_t its{};
        int waits = 0;
        const Hosted unit([&] {
            its = pthread_self();
            const timespec long_time{100, 0};
            timespec left{};
            waits = 1;
            EXPECT_EQ(nanosleep(&long_time, &left), -1);
            EXPECT_EQ(errno, EINTR);
            EXPECT_EQ(handled, 1);
            EXPECT_GE(left.tv_sec, 90);
            EXPECT_LT(left.tv_sec, 100);
            waits = 2;
            EXPECT_GE(sleep(100), 90U);
            EXPECT_EQ(handled, 2);
            waits = 3;
            EXPECT_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, &left), EINTR);
        });
        for (int i = 1; i <= 3; ++i) {
            until([&] { return waits == i; });
            until_suspended(unit);
            EXPECT_EQ(pthread_kill(its, SIGUSR2), 0);   // it has no handler
            for (int j = 0; j < 5; ++j) weft_unit_yield();
            until_suspended(unit);
            EXPECT_EQ(waits, i);
            EXPECT_EQ(pthread_kill(its, SIGUSR1), 0);
        }
    });
}

TEST_F(Sleeps, OneThatSleepsIsCancelled) {
    in_child([] {
        Runtime runtime;
        pthread_t its{};
        bool unwound = false;
        {
            const Hosted unit([&] {
                its = pthread_self();
                struct Guard {
                    bool& unwound;
                    ~Guard() { unwound = true; }
                } const guard{unwound};
                sleep(100);
                ADD_FAILURE() << "it has not been cancelled";
            });
            until_suspended(unit);
            EXPECT_EQ(pthread_cancel(its), 0);
        }
        EXPECT_TRUE(unwound);
    });
}

TEST_F(Sleeps, OneThatMayNotBeCancelledSleepsOn) {
    in_child([] {
        Runtime runtime;
        pthread_t its{};
        bool slept = false;
        {
            const Hosted unit([&] {
                its = pthread_self();
                int before = 0;
                pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
                EXPECT_EQ(usleep(20'000), 0);
                slept = true;
            });
            until_suspended(unit);
            EXPECT_EQ(pthread_cancel(its), 0);
        }
        EXPECT_TRUE(slept);
    });
}

TEST_F(Sleeps, WhoLooksAndYieldsLetsTheOthersRun) {
    in_child([] {
        Runtime runtime;
        std::atomic<int> turn{0};
        auto body = [&](int mine) {
            for (int i = 0; i < 100; ++i) {
                while (turn % 3 != mine) {
                    if (mine == 0) sched_yield();
                    else if (mine == 1) std::this_thread::yield();
                    else thrd_yield();
                }
                ++turn;
            }
        };
        const Hosted first([&] { body(0); }), second([&] { body(1); }), third([&] { body(2); });
    });
}

TEST_F(Sleeps, ALookerThatYieldsStaysAwakeWhereAllHaveHarts) {
    in_child([] {
        Runtime runtime;
        // Retrying tells a failure from a busy machine.
        bool stayed = false;
        for (int tries = 0; tries < 10 && !stayed; ++tries) {
            naps = 0;
            const Hosted looker([] {
                for (int i = 0; i < 400; ++i) sched_yield();
            });
            until([&] { return weft_unit_join(looker.handle()) == WEFT_OK; });
            stayed = naps == 0;
        }
        EXPECT_TRUE(stayed);
    });
}

TEST_F(Sleeps, ALookerThatYieldsSleepsNowAndThenWhereSomebodyLacksAHart) {
    in_child([] {
        cpu_set_t cpus;
        ASSERT_EQ(sched_getaffinity(0, sizeof cpus, &cpus), 0);
        const int first = [&] {
            int cpu = 0;
            while (!CPU_ISSET(cpu, &cpus)) ++cpu;
            return cpu;
        }();
        CPU_ZERO(&cpus);
        CPU_SET(first, &cpus);
        ASSERT_EQ(sched_setaffinity(0, sizeof cpus, &cpus), 0);   // and so there is one hart
        Runtime runtime;
        std::atomic<bool> come{false};
        std::thread other([&] {
            EXPECT_EQ(weft_guest_enter(), WEFT_OK);
            come = true;
            EXPECT_EQ(weft_guest_leave(), WEFT_OK);
        });
        while (__atomic_load_n(weft_domain_lacked(nullptr), __ATOMIC_RELAXED) == 0) syscall(SYS_sched_yield);
        naps = 0;
        int looks = 0;
        for (; !come; ++looks) sched_yield();
        EXPECT_GE(naps, 1);
        EXPECT_LT(looks, 1000);
        other.join();
    });
}

TEST_F(Sleeps, WhoLooksForASleeperIsToldWhenItHasWoken) {
    in_child([] {
        Runtime runtime;
        std::atomic<bool> awake{false};
        const Hosted sleeper([&] {
            usleep(5000);
            awake = true;
        });
        const Hosted looker([&] {
            while (!awake) sched_yield();
        });
    });
}

bool switched = false;

TEST_F(Sleeps, AHandlerDoesNotSwitch) {
    in_child([] {
        Runtime runtime;
        struct sigaction action {};
        action.sa_handler = [](int) {
            switched = false;
            const timespec one_ms{0, 1'000'000};
            nanosleep(&one_ms, nullptr);
            sched_yield();
            EXPECT_FALSE(switched);
        };
        struct sigaction told {};
        EXPECT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
        EXPECT_EQ(sigaction(SIGUSR1, nullptr, &told), 0);
        EXPECT_EQ(told.sa_handler, action.sa_handler);
        std::atomic<bool> over{false};
        const Hosted other([&] {
            for (; !over; switched = true) weft_unit_yield();
        });
        const Hosted unit([&] {
            for (int i = 0; i < 5; ++i) {
                raise(SIGUSR1);
                sched_yield();   // afterwards it does
                EXPECT_TRUE(switched);
            }
            over = true;
        });
    });
}

TEST_F(Sleeps, OldActionsAreTheProgramsOwn) {
    auto* const handler = +[](int) {};
    EXPECT_EQ(signal(SIGUSR2, handler), SIG_DFL);
    EXPECT_EQ(signal(SIGUSR2, SIG_IGN), handler);
    EXPECT_EQ(sysv_signal(SIGUSR2, handler), SIG_IGN);
    struct sigaction told {};
    EXPECT_EQ(sigaction(SIGUSR2, nullptr, &told), 0);
    EXPECT_EQ(told.sa_handler, handler);
    struct sigaction plain {};
    plain.sa_handler = SIG_DFL;
    EXPECT_EQ(sigaction(SIGUSR2, &plain, &told), 0);
    EXPECT_EQ(told.sa_handler, handler);
    EXPECT_EQ(sigaction(1000, &told, nullptr), -1);
    EXPECT_EQ(signal(SIGKILL, handler), SIG_ERR);
}

}   // namespace
