// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The end of a wait: a time of one of the C library's clocks, converted to weft_now_ns's.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>

#include <weft/sync.h>

namespace weft_pthread {

inline constexpr std::uint64_t second_ns = 1'000'000'000;

inline bool is_valid(const timespec& time) { return time.tv_nsec >= 0 && time.tv_nsec < static_cast<long>(second_ns); }
inline std::uint64_t ns_of(const timespec& time) {
    if (time.tv_sec < 0) return 0;
    constexpr std::uint64_t most = WEFT_FOREVER / second_ns - 1;   // some 580 years
    return std::min<std::uint64_t>(static_cast<std::uint64_t>(time.tv_sec), most) * second_ns +
           static_cast<std::uint64_t>(time.tv_nsec);
}

class Deadline {
public:
    Deadline() = default;   // never
    Deadline(clockid_t clock, const timespec& time) : clock_(clock), time_ns_(ns_of(time)) {}
    // A deadline so long from now.
    explicit Deadline(std::uint64_t duration_ns) : clock_(CLOCK_MONOTONIC) {
        const std::uint64_t now_ns = weft_now_ns();
        time_ns_ = duration_ns < WEFT_FOREVER - now_ns ? now_ns + duration_ns : WEFT_FOREVER;
    }

    bool over() const { return time_ns_ != WEFT_FOREVER && now_ns() >= time_ns_; }

    // When to check again: at the deadline, or `at_most_ns` from now. The real-time clock may be
    // set during a wait for it, so such a wait checks it from time to time.
    std::uint64_t next(std::uint64_t at_most_ns = WEFT_FOREVER) const {
        if (time_ns_ == WEFT_FOREVER && at_most_ns == WEFT_FOREVER) return WEFT_FOREVER;
        const std::uint64_t here_ns = now_ns();
        std::uint64_t left_ns = std::min(time_ns_ > here_ns ? time_ns_ - here_ns : 0, at_most_ns);
        if (clock_ != CLOCK_MONOTONIC) left_ns = std::min(left_ns, second_ns);
        const std::uint64_t now_ns = weft_now_ns();
        return left_ns < WEFT_FOREVER - now_ns ? now_ns + left_ns : WEFT_FOREVER;
    }

    std::uint64_t left_ns() const {
        const std::uint64_t here_ns = now_ns();
        return time_ns_ > here_ns ? time_ns_ - here_ns : 0;
    }

private:
    std::uint64_t now_ns() const {
        if (clock_ == CLOCK_MONOTONIC) return weft_now_ns();
        timespec now{};
        clock_gettime(clock_, &now);
        return ns_of(now);
    }

    clockid_t clock_ = CLOCK_MONOTONIC;
    std::uint64_t time_ns_ = WEFT_FOREVER;
};

// How long to wait before the object is checked again, since a change that bypasses this library
// (inside the C library, in another process) wakes no waiter here. Doubles each time.
class PollInterval {
public:
    std::uint64_t next_ns() {
        const std::uint64_t now_ns = next_ns_;
        next_ns_ = std::min(2 * next_ns_, most_ns);
        return now_ns;
    }
    void renew() { next_ns_ = least_ns; }

private:
    static constexpr std::uint64_t least_ns = 200'000, most_ns = 12'800'000;
    std::uint64_t next_ns_ = least_ns;
};

}   // namespace weft_pthread
