// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Start and stop ten thousand times.
#include "test/stress/stress.hpp"

using namespace weft_test;

TEST(StartStop, TenThousandTimes) {
    const Deadline deadline(300);
    std::size_t before = 0;
    for (int i = 0; i < 10'000; ++i) {
        Runtime runtime;
        Ult unit([] { weft_unit_yield(); });
        ASSERT_EQ(unit.join(), WEFT_OK);
        if (i == 100) before = resident_bytes();
    }
    if (!sanitized) {
        EXPECT_LT(resident_bytes(), before + (4 << 20)) << "nothing is left behind";
    }
}

TEST(StartStop, TwoThousandTimesWithThreeStreams) {
    const Deadline deadline(300);
    for (int i = 0; i < (sanitized ? 500 : 2000); ++i) {
        Runtime runtime(3);
        std::atomic<int> runs{0};
        for (std::size_t rank = 0; rank < 3; ++rank) {
            Ult unit([&] { runs.fetch_add(1); }, nullptr, pool_of(rank));
            ASSERT_EQ(unit.join(), WEFT_OK);
        }
        ASSERT_EQ(runs, 3);
    }
}
