// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime starts and stops again and again.
#include <vector>

#include "test/stress/stress.hpp"

using namespace weft_test;

namespace {

void start_work_stop(std::size_t streams, int work) {
    Runtime runtime(streams);
    std::vector<std::unique_ptr<Ult>> units;
    std::atomic<int> runs{0}, elsewhere{0};
    for (int i = 0; i < work; ++i) {
        units.push_back(std::make_unique<Ult>([&runs] { ++runs; }));
        ASSERT_EQ(weft_ult_spawn(
                      pool_of(streams - 1), [](void* count) { static_cast<std::atomic<int>*>(count)->fetch_add(1); },
                      &elsewhere, nullptr, nullptr),
                  WEFT_OK);
        while (elsewhere.load() <= i) weft_unit_yield();
    }
    for (auto& unit : units) ASSERT_EQ(unit->free(), WEFT_OK);
    ASSERT_EQ(runs, work);
}

}   // namespace

TEST(StartStop, AThousandTimesWithOneStream) {
    const Deadline deadline(120);
    start_work_stop(1, 1);
    const std::size_t before = resident_bytes();
    for (int i = 0; i < (sanitized ? 200 : 1000); ++i) start_work_stop(1, i % 3);
    if (!sanitized) {
        EXPECT_LT(resident_bytes(), before + (4 << 20)) << "nothing is left behind";
    }
}

TEST(StartStop, SomeHundredTimesWithThreeStreams) {
    const Deadline deadline(120);
    start_work_stop(3, 1);
    const std::size_t before = resident_bytes();
    for (int i = 0; i < (sanitized ? 60 : 300); ++i) start_work_stop(3, i % 3);
    if (!sanitized) {
        EXPECT_LT(resident_bytes(), before + (8 << 20)) << "nothing is left behind";
    }
}

// Detached units are still running, on all streams, when the runtime is finalized: all of them run
// to their end first.
TEST(StartStop, FinalizeRunsWhatIsReady) {
    const Deadline deadline(120);
    for (int i = 0; i < (sanitized ? 30 : 200); ++i) {
        static std::atomic<int> runs;
        runs = 0;
        {
            Runtime runtime(1 + static_cast<std::size_t>(i % 3));
            for (int unit = 0; unit < 50; ++unit) {
                ASSERT_EQ(weft_ult_spawn(
                              nullptr,
                              [](void*) {
                                  weft_unit_yield();
                                  ASSERT_EQ(weft_ult_spawn(
                                                nullptr, [](void*) { runs.fetch_add(1); }, nullptr, nullptr, nullptr),
                                            WEFT_OK);
                                  runs.fetch_add(1);
                              },
                              nullptr, nullptr, nullptr),
                          WEFT_OK);
            }
        }
        ASSERT_EQ(runs, 100);
    }
}

TEST(StartStop, OfOsThreadsThatStartAtOnceOneSucceeds) {
    const Deadline deadline(120);
    for (int i = 0; i < (sanitized ? 50 : 300); ++i) {
        std::atomic<int> started{0}, refused{0}, arrived{0};
        auto start = [&] {
            arrived.fetch_add(1);
            while (arrived.load() < 3) std::this_thread::yield();
            const weft_status status = weft_init(nullptr);
            if (status != WEFT_OK) {
                EXPECT_EQ(status, WEFT_WRONG_CONTEXT) << weft_error_text();
                refused.fetch_add(1);
                return;
            }
            started.fetch_add(1);
            while (started.load() + refused.load() < 3) std::this_thread::yield();
            EXPECT_EQ(weft_finalize(), WEFT_OK);
        };
        std::vector<std::thread> threads;
        for (int t = 0; t < 3; ++t) threads.emplace_back(start);
        for (auto& thread : threads) thread.join();
        ASSERT_EQ(started, 1);
    }
}
