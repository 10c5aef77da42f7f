// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/biased_lock.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace {

struct Count {
    long value = 0;
};
using Lock = weft::os::BiasedLock<Count>;

TEST(BiasedLock, ItsOwnerEntersWhileNoThreadHasRevokedIt) {
    if (!weft::os::prepare_process_barrier()) GTEST_SKIP() << "the kernel has no membarrier";
    Lock lock;
    EXPECT_EQ(lock.enter(), 0u);
    EXPECT_TRUE(lock.inside());
    lock.leave();
    EXPECT_FALSE(lock.inside());
    EXPECT_TRUE(lock.revoke());
    EXPECT_EQ(lock.enter(), Lock::revoked);
    lock.leave();
    EXPECT_FALSE(lock.revoke());   // by another thread
    lock.restore();
    EXPECT_EQ(lock.enter(), 0u);
    lock.leave();
}

TEST(BiasedLock, ARequestIsSeenByTheOwnerThatEnters) {
    Lock lock;
    constexpr Lock::Bits request = 2;
    EXPECT_EQ(lock.set(request), 0u);
    EXPECT_EQ(lock.enter(), request);
    EXPECT_TRUE(lock.inside());
    EXPECT_EQ(lock.clear(request), request);
    lock.leave();
    EXPECT_EQ(lock.enter(), 0u);
    lock.leave();
}

TEST(BiasedLock, IsNotRevokedWhileItsOwnerStandsInside) {
    if (!weft::os::prepare_process_barrier()) GTEST_SKIP() << "the kernel has no membarrier";
    Lock lock;
    lock.enter();
    std::thread([&lock] { EXPECT_FALSE(lock.revoke()); }).join();
    EXPECT_EQ(lock.wanted(), 0u);
    lock.leave();
    std::thread([&lock] {
        EXPECT_TRUE(lock.revoke());
        lock.restore();
    }).join();
}

TEST(BiasedLock, OnlyOneThreadIsInside) {
    if (!weft::os::prepare_process_barrier()) GTEST_SKIP() << "the kernel has no membarrier";
    constexpr int others = 3;
    constexpr long most = 20'000;   // of each kind
    Lock lock;
    weft::atomic<bool> over{false};
    weft::atomic<long> revoked{0};
    std::vector<std::thread> team;
    for (int t = 0; t < others; ++t) {
        team.emplace_back([&] {
            while (!over.load()) {
                if (!lock.revoke()) continue;
                ++lock.data().value;
                lock.restore();
                revoked.fetch_add(1);
            }
        });
    }
    long entered = 0;
    while (entered < most || revoked.load() < most / 10) {
        if ((lock.enter() & Lock::revoked) == 0) {
            ++lock.data().value;
            ++entered;
        }
        lock.leave();
    }
    over.store(true);
    for (auto& thread : team) thread.join();
    EXPECT_EQ(lock.data().value, entered + revoked.load());
}

}   // namespace
