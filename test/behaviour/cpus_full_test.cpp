// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A process without domains whose CPU set changes while it runs.
#include "test/behaviour/cpus.hpp"
#include "test/behaviour/waiting.hpp"

using namespace weft_test;

namespace {

// The time until the limit is `harts`.
std::uint64_t time_until_limit_is(std::size_t harts) {
    const std::uint64_t since_ns = weft_now_ns();
    while (weft_hart_limit() != harts && weft_now_ns() - since_ns < 5'000 * ms)
        EXPECT_EQ(weft_sleep_for(10 * ms), WEFT_OK);
    return weft_now_ns() - since_ns;
}

class CpuSetOf : public testing::TestWithParam<std::size_t> {};

}   // namespace

TEST_P(CpuSetOf, AProcessThatChangesIsFollowedWithinASecond) {
    const cpu_set_t all = all_cpus(), one = first_of(all);
    const auto cpus = static_cast<std::size_t>(CPU_COUNT(&all));
    if (cpus < 2 || weft_hart_limit() != cpus) GTEST_SKIP() << "there is one CPU, or a quota";
    Runtime runtime(GetParam());
    set_affinity(one);
    EXPECT_LE(time_until_limit_is(1), 1'500 * ms);
    set_affinity(all);
    EXPECT_LE(time_until_limit_is(cpus), 1'500 * ms);
}

// The mask of a bound stream is not the process's.
TEST_P(CpuSetOf, AStreamThatIsBoundIsNotTakenForTheProcesss) {
    const cpu_set_t all = all_cpus();
    const auto cpus = static_cast<std::size_t>(CPU_COUNT(&all));
    if (cpus < 2 || weft_hart_limit() != cpus) GTEST_SKIP() << "there is one CPU, or a quota";
    Runtime runtime(GetParam());
    for (std::size_t rank = 0; rank < GetParam(); ++rank)
        EXPECT_EQ(weft_stream_bind_hart(weft_stream_at(rank), 0), WEFT_OK);
    EXPECT_EQ(weft_sleep_for(1'200 * ms), WEFT_OK);
    EXPECT_EQ(weft_hart_limit(), cpus);
    sched_setaffinity(0, sizeof all, &all);
}

INSTANTIATE_TEST_SUITE_P(Streams, CpuSetOf, testing::Values(1u, 2u));
