// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "sync/objects.hpp"

namespace weft::sync {
namespace {

// An object that a program has overwritten: bits of the word that do not match its ring.

TEST(SyncCheckDeathTest, AMutexWithWaitersThatAreNotThereStopsTheProcess) {
    if constexpr (!config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    weft_mutex memory = WEFT_MUTEX_INIT;
    memory.word = (Mutex::held | Mutex::waiters).word;
    EXPECT_DEATH(at<Mutex>(&memory).unlock_slow(), "does not hold");
    EXPECT_DEATH(at<Mutex>(&memory).check_whole(), "does not hold");
}

TEST(SyncCheckDeathTest, AMutexThatIsHeldByNobodyStopsTheSimulator) {
    if constexpr (!config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    weft_mutex memory = WEFT_MUTEX_INIT;
    at<Mutex>(&memory).check_whole();
    memory.word = Mutex::held.word;
    EXPECT_DEATH(at<Mutex>(&memory).check_whole(), "does not hold");
}

TEST(SyncCheckDeathTest, ASemaphoreWithSomethingLeftForWaitersStopsTheProcess) {
    if constexpr (!config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    weft_semaphore memory{};
    at<Semaphore>(&memory).check_whole();
    memory.word = Semaphore::waiters | 1;
    EXPECT_DEATH(at<Semaphore>(&memory).release(1), "does not hold");
}

TEST(SyncCheckDeathTest, AReadWriteLockThatIsReadAndWrittenStopsTheProcess) {
    if constexpr (!config::checked) GTEST_SKIP() << "structures are checked in checked builds";
    weft_rwlock memory{};
    at<RwLock>(&memory).check_whole();
    memory.word = RwLock::waiters | 2;
    EXPECT_DEATH(at<RwLock>(&memory).unlock(nullptr), "does not hold");
}

}   // namespace
}   // namespace weft::sync
