// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clocks and timers. All calls work at any time.
#include <new>

#include "clock.hpp"

namespace weft::argobots {
namespace {

// Elapsed time is taken from the monotonic clock, which cannot be set between a start and a stop.
struct Timer {
    std::uint64_t started_ns = 0;
    std::uint64_t stopped_ns = 0;

    double seconds() const {
        return static_cast<double>(static_cast<std::int64_t>(stopped_ns - started_ns)) / ns_per_s;
    }
};

Timer* to_timer(ABT_timer timer) { return reinterpret_cast<Timer*>(timer); }

int make(const Timer& like, ABT_timer* newtimer) {
    auto* timer = new (std::nothrow) Timer(like);
    *newtimer = timer == nullptr ? ABT_TIMER_NULL : reinterpret_cast<ABT_timer>(timer);
    return timer == nullptr ? ABT_ERR_MEM : ABT_SUCCESS;
}

}   // namespace
}   // namespace weft::argobots

using namespace weft::argobots;

extern "C" {

double ABT_get_wtime(void) {
    const timespec now = real_time();
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / ns_per_s;
}

int ABT_timer_create(ABT_timer* newtimer) { return make(Timer(), newtimer); }

int ABT_timer_dup(ABT_timer timer, ABT_timer* newtimer) {
    if (is_null(timer)) {
        *newtimer = ABT_TIMER_NULL;
        return ABT_ERR_INV_TIMER;
    }
    return make(*to_timer(timer), newtimer);
}

int ABT_timer_free(ABT_timer* timer) {
    if (is_null_at(timer)) return ABT_ERR_INV_TIMER;
    delete to_timer(*timer);
    *timer = ABT_TIMER_NULL;
    return ABT_SUCCESS;
}

int ABT_timer_start(ABT_timer timer) {
    if (is_null(timer)) return ABT_ERR_INV_TIMER;
    to_timer(timer)->started_ns = weft_now_ns();
    return ABT_SUCCESS;
}

int ABT_timer_stop(ABT_timer timer) {
    if (is_null(timer)) return ABT_ERR_INV_TIMER;
    to_timer(timer)->stopped_ns = weft_now_ns();
    return ABT_SUCCESS;
}

int ABT_timer_read(ABT_timer timer, double* secs) {
    if (is_null(timer)) return ABT_ERR_INV_TIMER;
    *secs = to_timer(timer)->seconds();
    return ABT_SUCCESS;
}

int ABT_timer_stop_and_read(ABT_timer timer, double* secs) {
    if (const int error = ABT_timer_stop(timer); error != ABT_SUCCESS) return error;
    return ABT_timer_read(timer, secs);
}

int ABT_timer_stop_and_add(ABT_timer timer, double* secs) {
    if (const int error = ABT_timer_stop(timer); error != ABT_SUCCESS) return error;
    *secs += to_timer(timer)->seconds();
    return ABT_SUCCESS;
}

int ABT_timer_get_overhead(double* overhead) {
    constexpr int times = 1000;
    Timer timer;
    double sum = 0;
    for (int i = 0; i < times; ++i) {
        ABT_timer_start(reinterpret_cast<ABT_timer>(&timer));
        ABT_timer_stop_and_add(reinterpret_cast<ABT_timer>(&timer), &sum);
    }
    *overhead = sum / times;
    return ABT_SUCCESS;
}

}   // extern "C"
