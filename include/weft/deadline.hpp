// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times and durations of std::chrono as the deadlines of the C interface.
#pragma once

#include <weft/language.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>

#include <weft/sync.h>
#include <weft/status.hpp>

namespace weft {
inline namespace v0 {

namespace detail {

// True: the call has succeeded; false: the deadline came first. Any other status is thrown as an
// error.
inline bool in_time(weft_status status) {
    if (status == WEFT_TIMED_OUT) return false;
    check(status);
    return true;
}

// A time of the monotonic clock in nanoseconds, rounded up. A time beyond what the clock can show
// becomes WEFT_FOREVER.
template <class Duration>
std::uint64_t deadline_of(const std::chrono::time_point<std::chrono::steady_clock, Duration>& time) noexcept {
    using seconds = std::chrono::duration<long double>;
    const auto since = time.time_since_epoch();
    if (since <= since.zero()) return 0;
    if (seconds(since).count() >= 9.2e9L) return WEFT_FOREVER;
    return static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::nanoseconds>(since).count());
}

template <class Rep, class Period>
std::uint64_t deadline_in(const std::chrono::duration<Rep, Period>& duration) noexcept {
    using seconds = std::chrono::duration<long double>;
    if (duration <= duration.zero()) return 0;
    if (seconds(duration).count() >= 9.2e9L) return WEFT_FOREVER;
    const auto in_ns = static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::nanoseconds>(duration).count());
    return weft_now_ns() + in_ns;
}

// Calls wait(deadline_ns) until it returns true or Clock shows `time`. A clock other than the
// monotonic one may be set meanwhile, so it is read again after each wait.
template <class Clock, class Duration, class Wait>
bool wait_by(const std::chrono::time_point<Clock, Duration>& time, Wait&& wait) {
    if constexpr (std::same_as<Clock, std::chrono::steady_clock>) {
        return wait(deadline_of(time));
    } else {
        for (;;) {
            if (wait(deadline_in(time - Clock::now()))) return true;
            if (Clock::now() >= time) return false;
        }
    }
}

}   // namespace detail

}   // namespace v0
}   // namespace weft
