// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sleeps and sched_yield: other units run meanwhile.
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include <weft/domain.h>
#include <weft/hart.h>
#include <weft/io.h>

#include "caller.hpp"
#include "deadline.hpp"
#include "lot.hpp"
#include "real.hpp"
#include "signals.hpp"

namespace weft_pthread {

namespace {

Real<int (*)(const timespec*, timespec*)> real_nanosleep("nanosleep");
Real<int (*)(clockid_t, int, const timespec*, timespec*)> real_clock_nanosleep("clock_nanosleep", "GLIBC_2.17");
Real<unsigned (*)(unsigned)> real_sleep("sleep");
Real<int (*)(useconds_t)> real_usleep("usleep");
Real<int (*)(const timespec*, timespec*)> real_thrd_sleep("thrd_sleep");

// Sleeps until the deadline; false: a handler ran first.
[[gnu::noinline]] bool sleep_parked(const Deadline& deadline) {
    pthread_testcancel();
    for (Waiter self(&deadline); !deadline.over();) {
        self.enter();
        pthread_testcancel();   // a later cancellation finds it in the lot
        const Waiter::Outcome outcome = self.wait_for(deadline.next());
        if (outcome.why == Why::cancel) pthread_testcancel();
        if (outcome.why == Why::signal && interrupts(outcome.signal, false)) return false;
    }
    return true;
}

// 0, or EINTR with the remaining time.
int sleep_for(std::uint64_t duration_ns, timespec* left) {
    const Deadline deadline(duration_ns);
    if (sleep_parked(deadline)) return 0;
    if (left != nullptr) {
        const std::uint64_t ns = deadline.left_ns();
        *left = {static_cast<time_t>(ns / second_ns), static_cast<long>(ns % second_ns)};
    }
    return EINTR;
}

bool is_duration(const timespec& time) { return time.tv_sec >= 0 && is_valid(time); }

// Whether any party waits for a hart: a hint. relaxed: by the call's contract
bool somebody_lacks_a_hart() { return __atomic_load_n(weft_domain_lacked(nullptr), __ATOMIC_RELAXED) != 0; }

// How a thread yields repeatedly. If other units compute between its yields, yielding suffices. If
// each yield returns at once, the units that it yields to have nothing to do. The party that is
// waited for may lack a hart, as a guest or in another domain, and a yield reaches it only when the
// hart's turn is over. So if any party lacks a hart, the caller makes way for it, or, if it cannot,
// sleeps briefly from time to time. If none lacks a hart, a sleep would only delay the next step;
// then the kernel is asked to give the processor to other threads. Streams that take turns are not
// visible here: a sleep each millisecond is for those.
class Yields {
public:
    void next() {
        const bool yielded = weft_unit_yield() == WEFT_OK;
        const std::uint64_t now_ns = weft_now_ns();
        const bool quick = now_ns - last_ns_ < quick_ns;
        last_ns_ = now_ns;
        if (!quick) {
            in_a_row_ = 0;
            nap_ns_ = least_nap_ns;
            awake_since_ns_ = now_ns;
        } else if (++in_a_row_ % patient == 0) {
            look_around();
        }
        if (!yielded) syscall(SYS_sched_yield);
    }

private:
    static constexpr std::uint64_t quick_ns = 20'000, least_nap_ns = 25'000, most_nap_ns = 400'000,
                                   longest_ns = 1'000'000;
    static constexpr unsigned patient = 16, most_turns = 32;

    [[gnu::noinline]] void look_around() {
        if (weft_hart_make_way()) {
            in_a_row_ = 0;
            awake_since_ns_ = last_ns_ = weft_now_ns();
            return;
        }
        const bool lacked = somebody_lacks_a_hart();
        if (lacked ? in_a_row_ >= most_turns : last_ns_ - awake_since_ns_ >= longest_ns) {
            weft_sleep_for(nap_ns_);
            if (lacked && nap_ns_ < most_nap_ns) nap_ns_ *= 2;
            in_a_row_ = most_turns / 2;
            awake_since_ns_ = last_ns_ = weft_now_ns();
        } else {
            syscall(SYS_sched_yield);
            last_ns_ = weft_now_ns();
        }
    }

    std::uint64_t last_ns_, nap_ns_, awake_since_ns_;
    unsigned in_a_row_;
};

[[gnu::noinline]] int yield_parked() {
    [[gnu::tls_model("initial-exec")]] static constinit thread_local Yields yields{};
    const NotCancelled inside;   // it is no cancellation point
    yields.next();
    return 0;
}

int yield(const void* caller) {
    return may_switch() && !is_weft(caller) ? yield_parked() : static_cast<int>(syscall(SYS_sched_yield));
}

}   // namespace

}   // namespace weft_pthread

using namespace weft_pthread;   // NOLINT: entry points

extern "C" {

[[gnu::visibility("default")]] int sched_yield() noexcept { return yield(__builtin_return_address(0)); }
// <pthread.h> declares it under another name.
[[gnu::visibility("default")]] int yield_of_pthread() noexcept __asm__("pthread_yield");
[[gnu::visibility("default")]] int yield_of_pthread() noexcept { return yield(__builtin_return_address(0)); }
[[gnu::visibility("default")]] void thrd_yield() { yield(__builtin_return_address(0)); }

[[gnu::visibility("default")]] int nanosleep(const timespec* duration, timespec* left) {
    if (!may_switch()) return real_nanosleep.get()(duration, left);
    const int error = is_duration(*duration) ? sleep_for(ns_of(*duration), left) : EINVAL;
    if (error == 0) return 0;
    errno = error;
    return -1;
}

[[gnu::visibility("default")]] int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
    if ((clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) || !may_switch())
        return real_clock_nanosleep.get()(clock, flags, time, left);
    if (!is_duration(*time)) return EINVAL;
    if ((flags & TIMER_ABSTIME) == 0) return sleep_for(ns_of(*time), left);
    return sleep_parked({clock, *time}) ? 0 : EINTR;
}

[[gnu::visibility("default")]] unsigned sleep(unsigned seconds) {
    if (!may_switch()) return real_sleep.get()(seconds);
    timespec left{};
    if (sleep_for(seconds * second_ns, &left) == 0) return 0;
    // rounded, like the C library's
    return static_cast<unsigned>(left.tv_sec) + (left.tv_nsec >= static_cast<long>(second_ns / 2) ? 1 : 0);
}

[[gnu::visibility("default")]] int usleep(useconds_t duration) {
    if (!may_switch()) return real_usleep.get()(duration);
    if (sleep_for(std::uint64_t{duration} * 1000, nullptr) == 0) return 0;
    errno = EINTR;
    return -1;
}

[[gnu::visibility("default")]] int thrd_sleep(const timespec* duration, timespec* left) {
    if (!may_switch()) return real_thrd_sleep.get()(duration, left);
    if (!is_duration(*duration)) return -2;   // C11: a negative number for any other error
    return sleep_for(ns_of(*duration), left) == 0 ? 0 : -1;
}

}   // extern "C"
