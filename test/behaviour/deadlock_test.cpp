// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When no unit can ever run again, the program learns which units wait for what; and it learns that
// only then.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "base/config.hpp"
#include "test/behaviour/several.hpp"
#include "test/behaviour/variable.hpp"
#include "weft/guest.h"

using namespace weft_test;

// For the reason that exit_test.cpp gives.
extern "C" [[gnu::visibility("default")]] int __lsan_is_turned_off() { return weft_initialized(); }

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds long_enough = 700ms;   // for two checks

weft_unit* spawn(const char* name, void (*body)(void*), void* argument = nullptr, weft_pool* pool = nullptr) {
    weft_unit_options named = options();
    named.name = name;
    weft_unit* unit = nullptr;
    if (weft_ult_spawn(pool, body, argument, &named, &unit) != WEFT_OK) std::abort();
    return unit;
}

void begin(std::size_t streams, const char* what = "report") {
    setenv("WEFT_DEADLOCK", what, 1);
    weft_settings settings = with_streams(streams);
    if (weft_init(&settings) != WEFT_OK) std::abort();
}

struct Heard {
    std::string text;
    int status = 0;
};

// What a program writes to standard error. The program is a process of its own, since a thread of
// this process that listened could be one that wakes a unit. Listens until the program ends, or for
// a while after its report, or as long as `silence` without output; then it ends the program.
Heard hear(void (*program)(), std::chrono::milliseconds silence = 10s) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);   // it is ended together with the processes that it forks
        dup2(ends[1], STDERR_FILENO);
        close(ends[1]);
        program();
        _exit(0);
    }
    close(ends[1]);
    Heard heard;
    bool ended = false;
    while (!ended && heard.text.size() < 100'000) {
        const bool told = heard.text.find("end of the report") != std::string::npos;
        pollfd more{ends[0], POLLIN, 0};
        if (poll(&more, 1, static_cast<int>((told ? long_enough : silence).count())) != 1) break;
        char some[4096];
        const ssize_t bytes = read(ends[0], some, sizeof some);
        ended = bytes <= 0;
        if (!ended) heard.text.append(some, static_cast<std::size_t>(bytes));
    }
    if (!ended) kill(-child, SIGKILL);   // it is stuck, as intended
    close(ends[0]);
    waitpid(child, &heard.status, 0);
    return heard;
}

bool has(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

class Deadlock : public testing::Test {
protected:
    void SetUp() override {
        if (weft::config::thread_sanitizer)
            GTEST_SKIP()
                << "the thread sanitizer has an OS thread of its own, which could wake somebody for all that is known";
    }
};

weft_mutex first = WEFT_MUTEX_INIT, second = WEFT_MUTEX_INIT;
weft_cond condition = WEFT_COND_INIT;
weft_event never_set = WEFT_EVENT_INIT;
weft_unit* units[2];

void crosswise(std::size_t streams) {
    begin(streams);
    static weft_barrier both;
    weft_barrier_init(&both, 2, nullptr, nullptr);
    units[0] = spawn(
        "left",
        [](void*) {
            weft_mutex_lock(&first);
            weft_barrier_wait(&both);
            weft_mutex_lock(&second);
        },
        nullptr, pool_of(0));
    units[1] = spawn(
        "right",
        [](void*) {
            weft_mutex_lock(&second);
            weft_barrier_wait(&both);
            weft_mutex_lock(&first);
        },
        nullptr, pool_of(streams - 1));
    weft_unit_join_many(units, 2);
}

void expect_report(const Heard& heard) {
    EXPECT_EQ(times(heard.text, "weft: deadlock:"), 1u) << heard.text;
    EXPECT_EQ(times(heard.text, "weft: end of the report"), 1u) << heard.text;
}

}   // namespace

TEST_F(Deadlock, OfTwoUnitsAndTwoMutexesIsToldWithWhoHoldsWhat) {
    for (void (*program)() : {+[] { crosswise(1); }, +[] { crosswise(3); }}) {
        const Heard heard = hear(program);
        expect_report(heard);
        EXPECT_TRUE(has(heard.text, "'left' (")) << heard.text;
        EXPECT_TRUE(has(heard.text, "'right' (")) << heard.text;
        EXPECT_EQ(times(heard.text, "waiting) for mutex"), 2u) << heard.text;
        EXPECT_EQ(times(heard.text, ", held by unit"), 2u) << heard.text;
        EXPECT_TRUE(has(heard.text, "'left'; spawned at") && has(heard.text, "'right'; spawned at")) << heard.text;
        EXPECT_TRUE(has(heard.text, "(full, waiting) for ")) << "the primary unit waits, too: " << heard.text;
        EXPECT_TRUE(has(heard.text, "    0x")) << "frames" << heard.text;
    }
}

TEST_F(Deadlock, OfACircleOfJoins) {
    const Heard heard = hear([] {
        begin(1);   // neither begins before both exist
        units[0] = spawn("joins the second", [](void*) { weft_unit_join(units[1]); });
        units[1] = spawn("joins the first", [](void*) { weft_unit_join(units[0]); });
        weft_event_wait(&never_set, nullptr);
    });
    expect_report(heard);
    EXPECT_EQ(times(heard.text, "for the end of unit"), 2u) << heard.text;
    EXPECT_TRUE(has(heard.text, "'joins the second'; spawned") && has(heard.text, "'joins the first'; spawned"))
        << heard.text;
}

TEST_F(Deadlock, OfWhatNobodySignalsSetsOrResumes) {
    const Heard heard = hear([] {
        begin(2);
        spawn("unsignalled", [](void*) {
            weft_mutex_lock(&first);
            weft_cond_wait(&condition, &first);
        });
        spawn("unset", [](void*) {
            weft_future* future = nullptr;
            weft_future_create(1, nullptr, nullptr, &future);
            weft_future_wait(future, nullptr);
        });
        spawn("unresumed", [](void*) { weft_unit_suspend(nullptr, nullptr); });
        weft_event_wait(&never_set, nullptr);
    });
    expect_report(heard);
    EXPECT_TRUE(has(heard.text, "waiting) for condition") && has(heard.text, "until it is resumed")) << heard.text;
}

TEST_F(Deadlock, OfOsThreadsThatWaitForUnitsToo) {
    const Heard heard = hear([] {
        begin(2);
        units[0] = spawn("stuck", [](void*) { weft_event_wait(&never_set, nullptr); });
        units[1] = spawn("stuck, too", [](void*) { weft_event_wait(&never_set, nullptr); });
        std::thread joins([] { weft_unit_join(units[0]); });
        std::thread waits([] { weft_event_wait(&never_set, nullptr); });
        weft_unit_join(units[1]);
    });
    expect_report(heard);
}

// Parked pthreads of hosted units wake no unit.
TEST_F(Deadlock, OfHostedUnits) {
    const Heard heard = hear([] {
        begin(2);
        weft_unit_options hosted = options();
        hosted.kind = WEFT_KIND_HOSTED;
        hosted.name = "as a pthread";
        for (weft_unit*& unit : units) {
            if (weft_ult_spawn(
                    nullptr, [](void*) { weft_event_wait(&never_set, nullptr); }, nullptr, &hosted, &unit) != WEFT_OK)
                std::abort();
        }
        weft_unit_join(units[0]);
    });
    expect_report(heard);
    EXPECT_EQ(times(heard.text, "'as a pthread' (hosted, waiting) for event"), 2u) << heard.text;
}

TEST_F(Deadlock, OfOneThatComesWhenTheLastOsThreadOutsideHasEnded) {
    const Heard heard = hear([] {
        begin(1);
        std::thread([] { std::this_thread::sleep_for(250ms); }).detach();
        weft_event_wait(&never_set, nullptr);
    });
    expect_report(heard);
}

// The test starts no runtime, and none of the OS threads belongs to Weft.
TEST_F(Deadlock, OfGuestsThatWaitForEachOther) {
    const Heard heard = hear([] {
        static weft_event one = WEFT_EVENT_INIT, other = WEFT_EVENT_INIT;
        setenv("WEFT_DEADLOCK", "report", 1);
        weft_guest_enter();
        std::thread thread([] {
            weft_guest_enter();
            weft_event_wait(&one, nullptr);
            weft_event_set(&other, nullptr);
            weft_guest_leave();
        });
        weft_event_wait(&other, nullptr);
        weft_event_set(&one, nullptr);
    });
    expect_report(heard);
}

TEST_F(Deadlock, OfOneThatComesWhenTheLastGuestHasEnded) {
    const Heard heard = hear([] {
        begin(1);
        std::thread([] {
            weft_guest_enter();
            weft_guest_leave();
            std::this_thread::sleep_for(250ms);
        }).detach();
        weft_event_wait(&never_set, nullptr);
    });
    expect_report(heard);
}

TEST_F(Deadlock, InTheChildOfAFork) {
    const Heard heard = hear([] {
        // the sanitizer's allocator does not survive a fork while another OS thread allocates, as a
        // thread does that is just starting
        begin(weft::config::address_sanitizer ? 1 : 2);
        units[0] = spawn("of the parent", [](void*) { weft_unit_suspend(nullptr, nullptr); });
        units[1] = spawn("forks", [](void*) {
            if (fork() == 0) weft_event_wait(&never_set, nullptr);
            waitpid(-1, nullptr, 0);
        });
        weft_unit_join(units[1]);
    });
    expect_report(heard);
    EXPECT_TRUE(has(heard.text, "'forks'")) << heard.text;
    EXPECT_FALSE(has(heard.text, "'of the parent'")) << heard.text;
}

TEST_F(Deadlock, AbortsWhereThatIsAskedFor) {
    const Heard heard = hear([] {
        begin(1, "abort");
        weft_event_wait(&never_set, nullptr);
    });
    expect_report(heard);
    EXPECT_TRUE(WIFSIGNALED(heard.status) && WTERMSIG(heard.status) == SIGABRT);
}

TEST_F(Deadlock, IsNotLookedForWhereThatIsAskedFor) {
    const Heard heard = hear(
        [] {
            begin(1, "ignore");
            weft_event_wait(&never_set, nullptr);
        },
        long_enough);
    EXPECT_EQ(heard.text, "");
}

// Everything that will wake a unit, or could.
TEST_F(Deadlock, IsNoneWhileSomethingIsPending) {
    void (*const programs[])() = {
        [] {   // a timer
            begin(1);
            weft_event_wait_until(&never_set, weft_now_ns() + 600'000'000, nullptr);
        },
        [] {   // a blocking call
            begin(2);
            weft_blocking([](void*) { std::this_thread::sleep_for(long_enough); }, nullptr);
        },
        [] {   // a poller
            begin(2);
            static weft_event come = WEFT_EVENT_INIT;
            static const std::uint64_t until = weft_now_ns() + 600'000'000;
            weft_poller* poller = nullptr;
            weft_poller_register(
                [](void*) {
                    if (weft_now_ns() > until) weft_event_set(&come, nullptr);
                    return false;
                },
                nullptr, nullptr, &poller);
            weft_event_wait(&come, nullptr);
        },
        [] {   // a poller with a descriptor
            begin(1);
            static int ends[2];
            static weft_event come = WEFT_EVENT_INIT;
            if (pipe(ends) != 0) std::abort();
            weft_poller_hint hint{};
            hint.size = sizeof hint;
            hint.has_descriptor = true;
            hint.descriptor = ends[0];
            weft_poller* poller = nullptr;
            weft_poller_register([](void*) { return false; }, nullptr, &hint, &poller);
            weft_event_wait_until(&come, weft_now_ns() + 600'000'000, nullptr);
        },
        [] {   // an OS thread
            begin(2);
            static weft_event come = WEFT_EVENT_INIT;
            std::thread later([] {
                std::this_thread::sleep_for(long_enough);
                weft_event_set(&come, nullptr);
            });
            weft_event_wait(&come, nullptr);
            later.join();
        },
        [] {   // an OS thread that was a guest, and has left its hart reclaimable
            begin(2);
            static weft_event come = WEFT_EVENT_INIT;
            std::thread later([] {
                weft_guest_enter();
                weft_guest_leave();
                std::this_thread::sleep_for(long_enough);
                weft_event_set(&come, nullptr);
            });
            weft_event_wait(&come, nullptr);
            later.join();
        },
        [] {   // a guest that computes
            static weft_event come = WEFT_EVENT_INIT;
            weft_guest_enter();
            std::thread later([] {
                weft_guest_enter();
                std::this_thread::sleep_for(long_enough);
                weft_event_set(&come, nullptr);
                weft_guest_leave();
            });
            weft_event_wait(&come, nullptr);
            weft_guest_leave();
            later.join();
        },
        [] {   // the primary unit, which is busy outside
            begin(2);
            spawn(
                "daemon", [](void*) { weft_event_wait(&never_set, nullptr); }, nullptr, pool_of(1));
            std::this_thread::sleep_for(long_enough);
        },
        [] {   // an OS thread's wait with a deadline
            begin(1);
            static weft_event come = WEFT_EVENT_INIT;
            std::thread later([] {
                weft_event_wait_until(&never_set, weft_now_ns() + 600'000'000, nullptr);
                weft_event_set(&come, nullptr);
            });
            weft_event_wait(&come, nullptr);
            later.join();
        },
    };
    int number = 0;
    for (void (*program)() : programs) {
        const Heard heard = hear(program);
        EXPECT_EQ(heard.text, "") << "program " << number;
        EXPECT_TRUE(WIFEXITED(heard.status)) << "program " << number;
        ++number;
    }
}

TEST_F(Deadlock, IsNoneWhileAStreamIsSuspended) {
    const Heard heard = hear(
        [] {
            begin(2);
            weft_stream_suspend(weft_stream_at(1));
            weft_event_wait(&never_set, nullptr);
        },
        long_enough);
    EXPECT_EQ(heard.text, "");
}

TEST_F(Deadlock, IsToldOnceForEachState) {
    const Heard heard = hear([] {
        begin(1);
        static weft_stream* const zero = weft_stream_self();
        // Only a signal handler could do this, and no runtime can know of that.
        signal(SIGALRM, [](int) {
            weft_stream_post(
                zero, [](void*) { weft_event_set(&never_set, nullptr); }, nullptr);
        });
        itimerval soon{{0, 0}, {0, 600'000}};
        setitimer(ITIMER_REAL, &soon, nullptr);
        weft_event_wait(&never_set, nullptr);
        weft_event_reset(&never_set);
        weft_event_wait(&never_set, nullptr);
    });
    EXPECT_EQ(times(heard.text, "weft: deadlock:"), 2u) << heard.text;
}
