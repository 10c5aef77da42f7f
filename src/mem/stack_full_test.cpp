// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tens of thousands of stacks: the limits of a kernel without guard-install, and their absence with
// it.
#include <gtest/gtest.h>

#include <cstdio>
#include <vector>

#include "mem/stack.hpp"
#include "mem/test_support.hpp"
#include "os/clock.hpp"
#include "os/memory.hpp"
#include "os/stack.hpp"

namespace {

using namespace weft::mem;
namespace os = weft::os;

// The thread sanitizer has room for some 8,000 fibers, and each stack has one.
constexpr bool many_fit = !weft::config::thread_sanitizer;

struct Crowd {
    explicit Crowd(const StackSettings& settings) : store(settings), cache(store) {}
    bool fill(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            Stack* stack = cache.take();
            if (stack == nullptr) return false;
            stack->top[-1] = 1;
            stacks.push_back(stack);
        }
        return true;
    }
    void empty() {
        for (Stack* stack : stacks) cache.give(stack);
        stacks.clear();
        cache.flush();
    }
    std::size_t guarded_by(Guard guard) const {
        std::size_t count = 0;
        for (const Stack* stack : stacks) count += stack->guarded == guard;
        return count;
    }
    StackStore store;
    StackCache cache;
    std::vector<Stack*> stacks;
};

TEST(StackCrowd, AHundredThousandGuardedStacksNeedFewMappings) {
    if (!many_fit) GTEST_SKIP() << "too many fibers";
    constexpr std::size_t count = 100'000;
    Crowd crowd({.guard = Guard::install});
    if (!crowd.store.usable()) GTEST_SKIP() << "this kernel has no MADV_GUARD_INSTALL";
    const std::size_t mappings = test::mappings().count;
    const std::size_t pages = test::resident_pages();
    const std::uint64_t start = os::now_ns();
    ASSERT_TRUE(crowd.fill(count));
    const std::uint64_t taken = os::now_ns();
    const std::size_t more = test::mappings().count - mappings;
    std::printf("%zu stacks: %.0f ns each, %zu more mappings\n", count, static_cast<double>(taken - start) / count,
                more);
    EXPECT_LE(more, 2000u) << "at most about one a chunk";
    EXPECT_EQ(crowd.store.live(), count);
    EXPECT_EQ(crowd.guarded_by(Guard::install), count);
    for (std::size_t i = 0; i < count; i += 997) EXPECT_TRUE(os::unreadable(crowd.stacks[i]->lowest - 4));
    const std::size_t full = test::resident_pages();
    EXPECT_GE(full - pages, count);   // the page that each one has touched
    crowd.empty();
    std::printf("given back: %.0f ns each\n", static_cast<double>(os::now_ns() - taken) / count);
    EXPECT_EQ(crowd.store.live(), 0u);
    EXPECT_LE(crowd.store.idle_bytes(), std::size_t{64} << 20);
    if (test::sanitized) return;   // their shadow memory stays
    EXPECT_LE(test::resident_pages(), pages + count / 10)
        << "what is idle beyond the threshold goes back to the system";
}

TEST(StackCrowd, MprotectStopsAtItsShareOfTheMappingsAndCanariesGoOn) {
    const std::size_t limit = os::mapping_limit() / 4;
    if (!many_fit || limit > 100'000) GTEST_SKIP() << "too many";
    Crowd crowd({.guard = Guard::mprotect});
    ASSERT_TRUE(crowd.fill(limit + 2000));
    EXPECT_EQ(crowd.guarded_by(Guard::mprotect), limit);
    EXPECT_EQ(crowd.guarded_by(Guard::canary), 2000u);
    EXPECT_GE(crowd.store.guarded_by_canary(), 2000u);
    for (Stack* stack : crowd.stacks) ASSERT_TRUE(canary_intact(*stack));
    void* others = os::map(os::page_bytes());   // the rest of the program can still map
    ASSERT_NE(others, nullptr);
    os::unmap(others, os::page_bytes());
    crowd.empty();
    crowd.store.trim(0);
    const std::size_t left = crowd.store.guarded_by_canary();   // canaries of the chunk that was being carved
    EXPECT_LT(left, 64u) << "the counters go with the stacks";
    ASSERT_TRUE(crowd.fill(1000));
    EXPECT_EQ(crowd.guarded_by(Guard::mprotect), 1000u - left) << "and so does the share";
    crowd.empty();
}

}   // namespace
