// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The check for a deadlock, in one process and in simulation; deadlock_test.cpp tests what it
// writes.
#include <chrono>
#include <thread>

#include "base/config.hpp"
#include "inspect/deadlock.hpp"
#include "process/outside_wait.hpp"
#include "test/behaviour/several.hpp"
#include "test/behaviour/variable.hpp"

using namespace weft_test;

namespace {

using namespace std::chrono_literals;

std::uint64_t reports() { return counter("/units/count/deadlocks"); }

weft_event go = WEFT_EVENT_INIT, never_set = WEFT_EVENT_INIT;

}   // namespace

TEST(DeadlockWatch, TellsOnceWhenNobodyIsLeftAndNotBefore) {
    if (weft::config::thread_sanitizer)
        GTEST_SKIP()
            << "the thread sanitizer has an OS thread of its own, which could wake somebody for all that is known";
    go = never_set = WEFT_EVENT_INIT;
    const Variable asked("WEFT_DEADLOCK", "report");
    const Runtime runtime(2);
    // The check takes this thread for one that waits, so the thread sees what happens once all
    // threads wait.
    std::thread hidden([] {
        const weft::OutsideWait hides;
        while (reports() == 0) std::this_thread::sleep_for(50ms);
        for (int i = 0; i < 5; ++i) {
            std::this_thread::sleep_for(150ms);
            EXPECT_EQ(reports(), 1u);
        }
        EXPECT_EQ(weft_event_set(&never_set, nullptr), WEFT_OK);
    });
    std::thread seen([] {
        for (int i = 0; i < 5; ++i) {
            std::this_thread::sleep_for(150ms);
            EXPECT_EQ(reports(), 0u) << "there is somebody who will wake the unit";
        }
        EXPECT_EQ(weft_event_set(&go, nullptr), WEFT_OK);
        EXPECT_EQ(weft_event_wait(&never_set, nullptr), WEFT_OK);
    });
    const Ult unit(
        [] {
            EXPECT_EQ(weft_event_wait(&go, nullptr), WEFT_OK);
            EXPECT_EQ(weft_event_wait(&never_set, nullptr), WEFT_OK);
        },
        nullptr, pool_of(1));
    EXPECT_EQ(weft_unit_join(unit.handle()), WEFT_OK);
    hidden.join();
    seen.join();
}
