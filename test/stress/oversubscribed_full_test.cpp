// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sixteen streams on two harts: locks whose holders are preempted, streams that starve, wake-ups
// that come late.
#include <sched.h>

#include "test/stress/random.hpp"

using namespace weft_test;

namespace {

void pin_to_two_cpus() {
    cpu_set_t allowed, two;
    CPU_ZERO(&two);
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&two) < 2; ++cpu) {
        if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &two);
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof two, &two), 0);
}

}   // namespace

TEST(Oversubscribed, SixteenStreamsOnTwoHartsFinishAllWork) {
    const Deadline deadline(240);
    pin_to_two_cpus();
    for (const auto kind : {WEFT_POOL_DEQUE, WEFT_POOL_SHARED, WEFT_POOL_PRIVATE}) {
        weft_settings settings = with_streams(16);
        settings.pool = kind;
        Runtime runtime(settings);
        std::atomic<int> runs{0};
        constexpr int per_stream = scaled(6000), levels = 3;
        std::vector<std::unique_ptr<Ult>> roots;
        for (std::size_t rank = 0; rank < 16; ++rank) {
            roots.push_back(std::make_unique<Ult>(
                [&runs, rank] {
                    for (int i = 0; i < per_stream; ++i) {
                        std::vector<std::unique_ptr<Ult>> children;
                        for (std::size_t level = 0; level < levels; ++level) {
                            children.push_back(std::make_unique<Ult>(
                                [&runs] {
                                    runs.fetch_add(1);
                                    weft_unit_yield();
                                },
                                nullptr, pool_of((rank + level) % 16)));
                        }
                    }
                },
                nullptr, pool_of(rank)));
        }
        for (auto& root : roots) EXPECT_EQ(root->join(), WEFT_OK);
        EXPECT_EQ(runs, 16 * per_stream * levels);
    }
}

TEST(Oversubscribed, RandomProgramsOnTwoHartsFinish) {
    pin_to_two_cpus();
    const std::uint64_t seed = first_seed();
    for (std::uint64_t i = 0; i < (sanitized ? 10u : 60u); ++i) {
        const Deadline deadline(120);
        SCOPED_TRACE("WEFT_SEED=" + std::to_string(seed + i));
        RandomProgram(seed + i, sanitized ? 500 : 4000).run();
        ASSERT_FALSE(HasFailure());
    }
}
