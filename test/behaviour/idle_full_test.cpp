// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An idle process uses no CPU.
#include <ctime>

#include <sys/resource.h>

#include "test/behaviour/several.hpp"

using namespace weft_test;

namespace {

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

double cpu_seconds() {
    rusage usage{};
    EXPECT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double wall_seconds() {
    timespec now{};
    EXPECT_EQ(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// The share of one core that the process uses while there is nothing to do for ten seconds.
double idle_share() {
    // Work comes first, so that the test measures the way back to sleep, and not streams that never
    // woke.
    for (std::size_t rank = 0; rank < 4; ++rank) {
        Ult unit([] { weft_unit_yield(); }, nullptr, pool_of(rank));
        EXPECT_EQ(unit.join(), WEFT_OK);
    }
    const double cpu = cpu_seconds(), wall = wall_seconds();
    // Stream 0 idles like the others: its primary unit waits for an OS thread that sleeps.
    Bed bed;
    std::thread clock([&] {
        timespec left{10, 0};
        while (nanosleep(&left, &left) != 0) {}
        until([&] { return bed.occupied(); });
        EXPECT_EQ(bed.wake(), WEFT_OK);
    });
    bed.sleep();
    clock.join();
    return (cpu_seconds() - cpu) / (wall_seconds() - wall);
}

}   // namespace

TEST(Idle, FourStreamsUseLessThanAHundredthOfACore) {
    for (weft_pool_kind pool : {WEFT_POOL_PRIVATE, WEFT_POOL_DEQUE}) {
        weft_settings settings = with_streams(4);
        settings.pool = pool;
        settings.timing = pool == WEFT_POOL_DEQUE;   // it must not keep them awake
        Runtime runtime(settings);
        EXPECT_LT(idle_share(), 0.01);
    }
}
