// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A unit that only one stream may run hangs, or none does: what is reported, and what it costs.
// stuck_alone_test.cpp has the rest.
#include <sys/resource.h>

#include <filesystem>
#include <thread>

#include "base/config.hpp"
#include "test/behaviour/stuck.hpp"

using namespace weft_test;

TEST(StuckAlone, WithRescueOffItIsToldAsWell) {
    EXPECT_NE(said_of_a_reader(one_stream(WEFT_RESCUE_OFF)).find("in read,"), std::string::npos);
}

TEST(StuckAlone, TheSameInASharedPoolThatOneStreamDrawsFrom) {
    EXPECT_NE(said_of_a_reader(one_stream(WEFT_RESCUE_ON, WEFT_POOL_SHARED)).find("in read,"), std::string::npos);
}

TEST(StuckAlone, IgnoredNothingIsTold) { EXPECT_EQ(said_of_a_reader(one_stream(WEFT_RESCUE_IGNORE)), ""); }

// On one of two streams, whose pool the other does not draw from.
TEST(StuckAlone, AReadOnAStreamWithAPoolOfItsOwnIsTold) {
    weft_settings settings = one_stream(WEFT_RESCUE_ON, WEFT_POOL_PRIVATE);
    settings.streams = 2;
    EXPECT_NE(said_of_a_reader(settings).find("in read,"), std::string::npos);
}

TEST(StuckAlone, NothingIsToldWhereNothingWaitsOrUnitsTakeTurns) {
    Said said;
    {
        Runtime runtime(one_stream());
        const std::uint64_t end_ns = in_ms(1'300);
        const auto body = [&] {
            while (weft_now_ns() < end_ns) EXPECT_EQ(weft_unit_yield(), WEFT_OK);
        };
        { Ult one(body), other(body); }
        std::this_thread::sleep_for(std::chrono::milliseconds(1'300));   // the primary unit, which no unit waits for
    }
    EXPECT_EQ(said.text(), "");
}

namespace {

std::uint64_t kernel_switches() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return static_cast<std::uint64_t>(used.ru_nvcsw);
}

std::size_t threads() {
    const std::filesystem::directory_iterator all("/proc/self/task");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}   // namespace

// Nor does the sentry's thread exist before the first unit.
TEST(StuckAlone, AnIdleProgramIsNotDisturbed) {
    if (weft::config::thread_sanitizer) GTEST_SKIP() << "the sanitizer has a thread that looks ten times a second";
    const std::size_t before = threads();
    Runtime runtime(one_stream());
    EXPECT_EQ(threads(), before);
    {
        Ult unit([] {});
    }
    EXPECT_EQ(weft_sleep_for(1'500 * ms), WEFT_OK);   // until the sentry has seen that all streams sleep
    const std::uint64_t switches = kernel_switches();
    EXPECT_EQ(weft_sleep_for(1'000 * ms), WEFT_OK);
    EXPECT_LE(kernel_switches() - switches, 5u);   // a look ten times a second would show
}
