// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Argobots' times are of the real-time clock. Weft's are of the monotonic clock, which cannot be
// set.
#pragma once

#include <ctime>

#include "common.hpp"

namespace weft::argobots {

constexpr std::int64_t ns_per_s = 1'000'000'000;

inline timespec real_time() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return now;
}

// The time on the monotonic clock at which the real-time clock will reach `when`, if it is not set
// meanwhile. The real-time clock is read first, so the deadline is never too early.
inline std::uint64_t deadline_of(const timespec& when) {
    const timespec now = real_time();
    const std::uint64_t monotonic = weft_now_ns();
    constexpr std::int64_t longest_s = 100LL * 365 * 24 * 3600;   // a hundred years: no sum below overflows
    if (when.tv_sec < now.tv_sec) return monotonic;
    const std::int64_t seconds = when.tv_sec - now.tv_sec;
    if (seconds > longest_s) return WEFT_FOREVER;
    const std::int64_t left = seconds * ns_per_s + (when.tv_nsec - now.tv_nsec);
    return left <= 0 ? monotonic : monotonic + static_cast<std::uint64_t>(left);
}

}   // namespace weft::argobots
