// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program of its own, because the number of harts is read once in a process.
#include <sched.h>

#include "test/behaviour/several.hpp"

using namespace weft_test;

namespace {

TEST(HartLimit, IsThatOfTheProcessThoughTheFirstWhoAsksIsBoundToOneOfItsCpus) {
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    if (CPU_COUNT(&allowed) < 2) GTEST_SKIP() << "there is one CPU: it is the limit whoever asks";
    Runtime runtime(2);
    ASSERT_EQ(weft_stream_bind_hart(weft_stream_at(0), 0), WEFT_OK) << weft_error_text();
    ASSERT_EQ(weft_stream_bind_hart(weft_stream_at(1), 1), WEFT_OK) << weft_error_text();
    const std::size_t limit = weft_hart_limit();
    ASSERT_EQ(weft_stream_unbind(weft_stream_at(0)), WEFT_OK);
    EXPECT_GE(limit, 2u) << "unless a quota of the cgroup's says less";
}

}   // namespace
