// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams that steal from each other where the kernel has no membarrier, or a filter of system
// calls refuses it: each unit is published at once.
#include <thread>
#include <vector>

#include "os/fault.hpp"
#include "os/process_barrier.hpp"
#include "test/behaviour/atomic.hpp"
#include "test/behaviour/notes.hpp"
#include "test/behaviour/support.hpp"

using namespace weft_test;

namespace {

TEST(NoBarrier, UnitsRunOnAllStreamsAllTheSame) {
    if constexpr (!weft::config::checked) GTEST_SKIP() << "calls are refused in checked builds";
    weft::os::fault_hook.store([](weft::os::Seam seam) { return seam == weft::os::Seam::process_barrier; });
    Runtime runtime(2);   // deques
    EXPECT_FALSE(weft::os::process_barrier_ready());
    static atomic<int> met;
    met = 0;
    // Two units that wait for each other need two streams.
    auto meet = [](void*) {
        met.fetch_add(1);
        while (met.load() != 2) std::this_thread::yield();
    };
    weft_unit* units[2] = {spawn(meet), spawn(meet)};
    for (weft_unit* unit : units) EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    static atomic<int> runs;
    runs = 0;
    std::vector<weft_unit*> many(1000);
    auto run = [](void*) {
        runs.fetch_add(1);
        weft_unit_yield();
    };
    EXPECT_EQ(weft_unit_spawn_many(nullptr, many.size(), run, nullptr, nullptr, many.data()), WEFT_OK);
    EXPECT_EQ(weft_unit_join_free_many(many.data(), many.size()), WEFT_OK);
    EXPECT_EQ(runs.load(), 1000);
    EXPECT_FALSE(weft::os::process_barrier_ready());
    weft::os::fault_hook.store(nullptr);
}

}   // namespace
