// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mem/stack.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "mem/test_support.hpp"
#include "os/memory.hpp"
#include "os/stack.hpp"
#include "os/thread.hpp"

extern "C" {
void __asan_poison_memory_region(void const volatile* address, std::size_t size);
void* __asan_region_is_poisoned(void* address, std::size_t size);
}

namespace {

using namespace weft::mem;
using weft::Random;
namespace os = weft::os;
using test::Faults;

constexpr std::size_t KiB = 1024;

const char* name_of(Guard guard) {
    switch (guard) {
    case Guard::automatic: return "automatic";
    case Guard::install: return "install";
    case Guard::mprotect: return "mprotect";
    case Guard::canary: return "canary";
    case Guard::none: return "none";
    }
    return "?";
}

bool page_guarded(const Stack& stack) { return os::unreadable(stack.lowest - 4); }
bool has_pages(const Stack& stack) {
    return os::lowest_resident(stack.lowest, stack.bytes) != stack.lowest + stack.bytes;
}
bool install_here() { return StackStore({.guard = Guard::install}).usable(); }

std::vector<Stack*> take_many(StackCache& cache, std::size_t count, std::size_t bytes = 0) {
    std::vector<Stack*> stacks;
    for (std::size_t i = 0; i < count; ++i) stacks.push_back(cache.take(bytes));
    return stacks;
}

void give_all(StackCache& cache, const std::vector<Stack*>& stacks) {
    for (Stack* stack : stacks) cache.give(stack);
}

// ---- sizes --------------------------------------------------------------------------------------

TEST(Stack, IsAtLeastAsLargeAsAskedAndAsASignalNeeds) {
    StackStore store({});
    StackCache cache(store);
    for (std::size_t asked : {std::size_t{1}, 16 * KiB, 16 * KiB + 1, 20 * KiB, 64 * KiB, 100 * KiB, 1024 * KiB,
                              65536 * KiB, 65537 * KiB, 100'000 * KiB}) {
        Stack* stack = cache.take(asked);
        ASSERT_NE(stack, nullptr) << asked;
        EXPECT_GE(stack->bytes, asked);
        EXPECT_LE(stack->bytes, std::max(asked * 2, 32 * KiB));
        EXPECT_GE(static_cast<std::size_t>(stack->top - stack->lowest), stack_minimum());
        EXPECT_LE(stack->top, stack->lowest + stack->bytes);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(stack->top) % 16, 0u);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(stack->lowest) % os::page_bytes(), 0u);
        std::memset(stack->lowest, 0x5a,
                    asked > 1024 * KiB ? 4096 : static_cast<std::size_t>(stack->top - stack->lowest));
        stack->top[-1] = 1;
        cache.give(stack);
    }
    EXPECT_EQ(cache.take(~std::size_t{0} / 2), nullptr);
    Stack* stack = cache.take();
    EXPECT_EQ(stack->bytes, 64 * KiB);
    cache.give(stack);
}

TEST(Stack, DefaultSizeIsTheSettings) {
    for (std::size_t wanted : {32 * KiB, 256 * KiB, 70'000 * KiB}) {
        StackStore store({.default_bytes = wanted});
        StackCache cache(store);
        Stack* stack = cache.take();
        ASSERT_NE(stack, nullptr);
        EXPECT_EQ(stack->bytes, wanted);
        cache.give(stack);
        EXPECT_EQ(store.live(), 0u);
    }
}

TEST(Stack, HotEndsFallOnManyCacheSets) {
    StackStore store({});
    StackCache cache(store);
    std::set<std::uintptr_t> sets;
    auto stacks = take_many(cache, 64);
    for (Stack* stack : stacks) sets.insert(reinterpret_cast<std::uintptr_t>(stack->top) % 4096 / 64);
    EXPECT_EQ(sets.size(), 32u);
    give_all(cache, stacks);
}

TEST(Stack, StacksDoNotOverlap) {
    StackStore store({.guard = Guard::none});
    StackCache cache(store);
    std::set<std::pair<char*, char*>> ranges;
    auto stacks = take_many(cache, 200, 16 * KiB);
    for (Stack* stack : stacks) ranges.insert({stack->lowest, stack->lowest + stack->bytes});
    ASSERT_EQ(ranges.size(), stacks.size());
    for (auto at = ranges.begin(); std::next(at) != ranges.end(); ++at) EXPECT_LE(at->second, std::next(at)->first);
    give_all(cache, stacks);
}

TEST(Stack, WhatWasGivenLastIsTakenFirst) {
    StackStore store({});
    StackCache cache(store);
    auto stacks = take_many(cache, 3);
    give_all(cache, stacks);
    EXPECT_EQ(cache.take(), stacks[2]);
    EXPECT_EQ(cache.take(64 * KiB), stacks[1]);
    EXPECT_EQ(cache.take(), stacks[0]);
    give_all(cache, stacks);
}

// ---- guards -------------------------------------------------------------------------------------

TEST(Stack, EachGuardThatCanBeChosenProtects) {
    for (Guard guard : {Guard::automatic, Guard::install, Guard::mprotect, Guard::canary, Guard::none}) {
        SCOPED_TRACE(name_of(guard));
        StackStore store({.guard_bytes = 5000, .guard = guard});
        if (guard == Guard::install && !store.usable()) continue;
        ASSERT_TRUE(store.usable());
        StackCache cache(store);
        for (Stack* stack : take_many(cache, 70)) {
            ASSERT_NE(stack, nullptr);
            const bool page = stack->guarded == Guard::install || stack->guarded == Guard::mprotect;
            if (guard == Guard::automatic) {
                EXPECT_TRUE(page);
            } else {
                EXPECT_EQ(stack->guarded, guard);
            }
            if (guard != Guard::none) {
                EXPECT_EQ(page_guarded(*stack), page);
            }
            EXPECT_EQ(stack->guard_bytes, guard == Guard::none ? 0 : 2 * os::page_bytes());
            EXPECT_TRUE(!page || os::unreadable(stack->lowest - stack->guard_bytes));
            EXPECT_FALSE(os::unreadable(stack->lowest));
            EXPECT_TRUE(canary_intact(*stack));
            cache.give(stack);
        }
        EXPECT_EQ(store.guarded_by_canary(), guard == Guard::canary ? store.existing() : 0);
        EXPECT_EQ(store.unguarded(), guard == Guard::none ? store.existing() : 0);
    }
}

TEST(Stack, WithoutGuardInstallAutomaticGoesToMprotectAndThenToCanaries) {
    if (!weft::config::checked) GTEST_SKIP() << "needs the fault hook of a checked build";
    Faults faults;
    faults.fail_all(os::Seam::guard);
    StackStore store({});
    ASSERT_TRUE(store.usable());
    StackCache cache(store);
    Stack* by_mprotect = cache.take();
    ASSERT_NE(by_mprotect, nullptr);
    EXPECT_EQ(by_mprotect->guarded, Guard::mprotect);
    EXPECT_TRUE(page_guarded(*by_mprotect));
    EXPECT_EQ(store.guarded_by_canary(), 0u);
    faults.fail_all(os::Seam::protect);
    auto stacks = take_many(cache, 100);
    std::size_t canaries = 0;
    for (Stack* stack : stacks) canaries += stack->guarded == Guard::canary;
    EXPECT_GE(canaries, 80u);
    EXPECT_GE(store.guarded_by_canary(), canaries);
    give_all(cache, stacks);
    cache.give(by_mprotect);
}

TEST(Stack, GuardInstallAskedForWhereTheKernelHasNoneIsSaid) {
    if (!weft::config::checked) GTEST_SKIP() << "needs the fault hook of a checked build";
    Faults faults;
    faults.fail_all(os::Seam::guard);
    StackStore store({.guard = Guard::install});
    EXPECT_FALSE(store.usable());
    StackCache cache(store);
    EXPECT_EQ(cache.take(), nullptr);
    EXPECT_EQ(cache.take(100 * KiB * KiB), nullptr);
    EXPECT_EQ(store.live(), 0u);
}

TEST(Stack, OnesThatCouldNotBeGuardedAreTriedAgainNotLost) {
    if (!weft::config::checked) GTEST_SKIP() << "needs the fault hook of a checked build";
    StackStore store({.guard = Guard::install});
    if (!store.usable()) GTEST_SKIP() << "this kernel has no MADV_GUARD_INSTALL";
    StackCache cache(store);
    Stack* first = cache.take();
    ASSERT_NE(first, nullptr);
    cache.give(first);
    const std::size_t before = test::mappings().bytes;
    auto stacks = take_many(cache, 8);   // the ready ones
    {
        Faults faults;
        faults.fail_all(os::Seam::guard);
        for (int i = 0; i < 1000; ++i) ASSERT_EQ(cache.take(), nullptr);
    }
    EXPECT_TRUE(test::sanitized || test::mappings().bytes <= before + (8 << 20));
    stacks.push_back(cache.take());
    ASSERT_NE(stacks.back(), nullptr);
    EXPECT_TRUE(page_guarded(*stacks.back()));
    give_all(cache, stacks);
}

TEST(Stack, ABrokenCanaryIsSeen) {
    StackStore store({.guard = Guard::canary, .idle_bytes = 0});
    StackCache cache(store);
    Stack* stack = cache.take();
    EXPECT_TRUE(canary_intact(*stack));
    std::memset(stack->lowest + 16, 0xff, 4096);
    EXPECT_TRUE(canary_intact(*stack));
    for (int byte : {0, 7, 8, 15}) {
        stack->lowest[byte] ^= 1;
        EXPECT_FALSE(canary_intact(*stack)) << byte;
        stack->lowest[byte] ^= 1;
        EXPECT_TRUE(canary_intact(*stack));
    }
    auto others = take_many(cache, 63);   // so that the chunk stays when they are idle
    Stack* kept = others.back();
    others.pop_back();
    cache.give(stack);
    give_all(cache, others);
    cache.flush();   // now without pages, and so without the canary
    EXPECT_FALSE(has_pages(*stack));
    others = take_many(cache, 63);
    for (Stack* each : others) EXPECT_TRUE(canary_intact(*each));
    EXPECT_NE(std::find(others.begin(), others.end(), stack), others.end());
    give_all(cache, others);
    cache.give(kept);
}

TEST(Stack, AnAddressInTheGuardOrJustBelowIsKnown) {
    StackStore store({.guard_bytes = 3 * 4096, .guard = Guard::canary});
    StackCache cache(store);
    Stack* stack = cache.take();
    EXPECT_FALSE(in_guard(*stack, stack->lowest));
    EXPECT_FALSE(in_guard(*stack, stack->top));
    EXPECT_TRUE(in_guard(*stack, stack->lowest - 1));
    EXPECT_TRUE(in_guard(*stack, stack->lowest - stack->guard_bytes));
    EXPECT_TRUE(in_guard(*stack, stack->lowest - stack->guard_bytes - os::page_bytes()));
    EXPECT_FALSE(in_guard(*stack, stack->lowest - stack->guard_bytes - os::page_bytes() - 1));
    EXPECT_FALSE(in_guard(*stack, nullptr));
    cache.give(stack);
}

// ---- idle memory --------------------------------------------------------------------------------

TEST(Stack, IdleStacksBeyondTheThresholdLoseTheirPagesButNotTheirGuards) {
    StackStore store({.idle_bytes = 100 * 64 * KiB});
    StackCache cache(store);
    auto stacks = take_many(cache, 300);
    for (Stack* stack : stacks) stack->top[-1] = 1;
    // Every other stack stays in use, so no chunk is idle as a whole.
    std::vector<Stack*> idle, used;
    for (std::size_t i = 0; i < stacks.size(); ++i) (i % 2 ? idle : used).push_back(stacks[i]);
    give_all(cache, idle);
    cache.flush();
    EXPECT_LE(store.idle_bytes(), 100 * 64 * KiB);
    EXPECT_EQ(store.idle_bytes() + store.cold_bytes() >= idle.size() * 64 * KiB, true);
    std::size_t without = 0;
    for (Stack* stack : idle) without += !has_pages(*stack);
    EXPECT_GE(without, 50u);
    EXPECT_LE(without, 50u + 64u);
    EXPECT_EQ(store.live(), used.size());
    auto again = take_many(cache, 200);
    for (Stack* stack : again) {
        EXPECT_TRUE(page_guarded(*stack));
        std::memset(stack->lowest, 1, static_cast<std::size_t>(stack->top - stack->lowest));
    }
    give_all(cache, again);
    give_all(cache, used);
}

TEST(Stack, TrimTakesThePagesOfIdleStacks) {
    StackStore store({});
    StackCache cache(store);
    auto stacks = take_many(cache, 100);
    for (Stack* stack : stacks) stack->top[-1] = 1;
    Stack* used = stacks.back();
    stacks.pop_back();
    give_all(cache, stacks);
    cache.flush();
    EXPECT_EQ(store.cold_bytes(), 0u) << "below the threshold nothing is taken";
    const std::size_t idle = store.idle_bytes();
    EXPECT_GE(idle, 99 * 64 * KiB);
    EXPECT_EQ(store.trim(idle), 0u);
    const std::size_t trimmed = store.trim(idle / 2);
    EXPECT_EQ(store.idle_bytes(), idle - trimmed);
    EXPECT_LE(store.idle_bytes(), idle / 2);
    store.trim(0);
    EXPECT_EQ(store.idle_bytes(), 0u);
    EXPECT_EQ(used->top[-1], 1);
    cache.give(used);
}

TEST(Stack, ChunksThatAreIdleAsAWholeAreUnmapped) {
    StackStore store({.idle_bytes = 0});
    StackCache cache(store);
    auto stacks = take_many(cache, 64 * 4);
    char* const address = stacks[100]->lowest;
    EXPECT_TRUE(test::mappings(address).holds);
    give_all(cache, stacks);
    cache.flush();
    EXPECT_EQ(store.existing(), 0u);
    EXPECT_EQ(store.cold_bytes(), 0u);
    EXPECT_FALSE(test::mappings(address).holds);
    Stack* again = cache.take();
    ASSERT_NE(again, nullptr);
    cache.give(again);
}

TEST(Stack, OneLargerThanAnyClassIsUnmappedWhenGivenBack) {
    StackStore store({});
    StackCache cache(store);
    Stack* stack = cache.take(65 * KiB * KiB);
    ASSERT_NE(stack, nullptr);
    EXPECT_TRUE(page_guarded(*stack));
    char* const address = stack->lowest;
    *address = 1;
    EXPECT_EQ(store.live(), 1u);
    cache.give(stack);
    EXPECT_FALSE(test::mappings(address).holds);
    EXPECT_EQ(store.existing(), 0u);
}

TEST(Stack, ACacheKeepsFewAndTheDepotServesTheOthers) {
    StackStore store({});
    StackCache first(store), second(store);
    auto stacks = take_many(first, 200);
    EXPECT_EQ(store.live(), 200u);
    give_all(first, stacks);
    EXPECT_EQ(store.live(), 0u);
    EXPECT_GE(store.idle_bytes(), (200 - 64) * 64 * KiB);
    const std::size_t existing = store.existing();
    auto others = take_many(second, 130);
    EXPECT_EQ(store.existing(), existing) << "the depot's idle stacks come first";
    EXPECT_EQ(store.created(), existing);
    give_all(second, others);
}

// Stacks that move from one stream to another must not pile up there while the first stream makes
// new ones.
TEST(Stack, OneTakesAnotherGivesForeverInBoundedMemory) {
    StackStore store({});
    StackCache taker(store), giver(store);
    for (int i = 0; i < 20'000; ++i) giver.give(taker.take());
    EXPECT_LE(store.existing(), 64u + 32u + 8u);
}

// ---- the user's ---------------------------------------------------------------------------------

TEST(Stack, MemoryOfTheUserBecomesAStack) {
    auto memory = std::make_unique<char[]>(stack_minimum() + 4096);
    EXPECT_EQ(user_stack(memory.get(), stack_minimum() - 1), nullptr);
    EXPECT_EQ(user_stack(nullptr, 1 << 20), nullptr);
    for (std::size_t skew : {0, 1, 8, 77}) {
        char* const start = memory.get() + skew;
        const std::size_t bytes = stack_minimum() + 2 * skew;
        Stack* stack = user_stack(start, bytes);
        ASSERT_NE(stack, nullptr);
        EXPECT_TRUE(stack->user);
        EXPECT_EQ(stack->guarded, Guard::none);
        EXPECT_GE(stack->lowest, start);
        EXPECT_LE(stack->top, reinterpret_cast<char*>(stack));
        EXPECT_LE(reinterpret_cast<char*>(stack + 1), start + bytes);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(stack->top) % 16, 0u);
        EXPECT_EQ(stack->bytes, static_cast<std::size_t>(stack->top - stack->lowest));
        EXPECT_GE(stack->bytes + 192, bytes);
        std::memset(stack->lowest, 0x11, stack->bytes);
        EXPECT_TRUE(canary_intact(*stack));
        user_stack_done(stack);
    }
}

// ---- the high-water mark ------------------------------------------------------------------------

void touch_down_to(Stack& stack, std::size_t depth) {
    for (std::size_t at = 64; at < depth; at += 64) *(stack.lowest + stack.bytes - at) = 1;
}

TEST(Stack, TheMostThatWasUsedIsMeasuredToAPage) {
    for (Guard guard : {Guard::automatic, Guard::mprotect, Guard::canary, Guard::none}) {
        SCOPED_TRACE(name_of(guard));
        StackStore store({.guard = guard});
        StackCache cache(store);
        for (std::size_t bytes : {64 * KiB, 4096 * KiB}) {
            Stack* stack = cache.take(bytes);
            std::memset(stack->lowest + 16, 0x77, stack->bytes - 16);   // by its last user
            EXPECT_EQ(measure(*stack), 0u) << "not asked for";
            measure_begin(*stack);
            EXPECT_LE(measure(*stack), os::page_bytes());
            touch_down_to(*stack, 20'000);
            EXPECT_GE(measure(*stack), 20'000u - 64);
            EXPECT_LE(measure(*stack), 20'000u + os::page_bytes());
            EXPECT_TRUE(canary_intact(*stack));
            touch_down_to(*stack, stack->bytes - 100);
            EXPECT_EQ(measure(*stack), stack->bytes);
            cache.give(stack);
            EXPECT_EQ(measure(*stack), 0u);
        }
    }
}

TEST(Stack, TheMostThatWasUsedOfTheUsersIsMeasured) {
    auto memory = std::make_unique<char[]>(100'000);
    Stack* stack = user_stack(memory.get(), 100'000);
    measure_begin(*stack);
    EXPECT_EQ(measure(*stack), 0u);
    touch_down_to(*stack, 30'000);
    EXPECT_GE(measure(*stack), 30'000u - 64);
    EXPECT_LE(measure(*stack), 30'000u);
    touch_down_to(*stack, stack->bytes);
    EXPECT_GE(measure(*stack), stack->bytes - 64);
    user_stack_done(stack);
}

// ---- sanitizers ---------------------------------------------------------------------------------

TEST(Stack, ARecycledStackIsNotPoisoned) {
    if constexpr (weft::config::address_sanitizer) {
        StackStore store({});
        StackCache cache(store);
        Stack* stack = cache.take();
        __asan_poison_memory_region(stack->lowest + 1024, 64);   // as if by a frame that never returned
        cache.give(stack);
        ASSERT_EQ(cache.take(), stack);
        EXPECT_EQ(__asan_region_is_poisoned(stack->lowest, stack->bytes), nullptr);
        cache.give(stack);
    } else {
        GTEST_SKIP() << "a test of the address sanitizer's build";
    }
}

TEST(Stack, KeepsItsFiber) {
    if constexpr (weft::config::thread_sanitizer) {
        StackStore store({});
        StackCache cache(store);
        Stack* stack = cache.take();
        void* const fiber = stack->fiber;
        ASSERT_NE(fiber, nullptr);
        cache.give(stack);
        EXPECT_EQ(cache.take()->fiber, fiber);
        cache.give(stack);
        for (int i = 0; i < 1000; ++i) cache.give(cache.take());
        EXPECT_NE(stack->fiber, nullptr);
    } else {
        GTEST_SKIP() << "a test of the thread sanitizer's build";
    }
}

// ---- no memory ----------------------------------------------------------------------------------

TEST(Stack, TheStoreTakesItsMemoryWithIt) {
    char* in_use;
    {
        StackStore store({});
        StackCache cache(store);
        in_use = cache.take()->lowest;
        cache.give(cache.take(70 * KiB * KiB));
    }
    EXPECT_FALSE(test::mappings(in_use).holds);
}

// Every system call in a scenario fails once: the result is null or a lesser guard, and the store
// works afterwards.
TEST(Stack, NoMemoryIsNullAndNothingIsLost) {
    if (!weft::config::checked) GTEST_SKIP() << "needs the fault hook of a checked build";
    Faults faults;
    std::vector<Guard> modes{Guard::automatic, Guard::mprotect, Guard::canary, Guard::none};
    if (install_here()) modes.push_back(Guard::install);
    for (Guard guard : modes) {
        SCOPED_TRACE(name_of(guard));
        auto scenario = [guard](std::size_t* failed) {
            StackStore store({.guard = guard, .idle_bytes = 0});
            {
                StackCache cache(store);
                std::vector<Stack*> stacks;
                for (std::size_t bytes : {16 * KiB, 64 * KiB, 2048 * KiB, 65600 * KiB}) {
                    for (int i = 0; i < (bytes < 65600 * KiB ? 10 : 2); ++i) {
                        Stack* stack = cache.take(bytes);
                        if (stack == nullptr) {
                            ++*failed;
                            stack = cache.take(bytes);   // only the k-th call fails
                        }
                        if (stack == nullptr) return false;
                        if (guard == Guard::install && stack->guarded != Guard::install) return false;
                        stack->top[-1] = 1;
                        stacks.push_back(stack);
                    }
                }
                if (store.live() != stacks.size()) return false;
                give_all(cache, stacks);
            }
            return store.live() == 0;
        };
        std::size_t failed = 0;
        ASSERT_TRUE(scenario(&failed));
        const std::size_t before = test::mappings().bytes;
        std::size_t failures = 0;
        std::uint32_t k = 0;
        do {
            faults.fail_kth(++k);
            failed = 0;
            ASSERT_TRUE(scenario(&failed)) << "k = " << k;
            EXPECT_LE(failed, 1u);
            failures += failed;
        } while (faults.reached());
        faults.fail_kth(0);
        EXPECT_GE(failures, 14u);   // at least a mapping and a record for each chunk
        EXPECT_TRUE(test::sanitized || test::mappings().bytes <= before + 1024 * KiB);
    }
}

// ---- all at once --------------------------------------------------------------------------------

TEST(Stack, ManyThreadsNeverShareAStack) {
    constexpr int threads = 4;
    const int rounds = test::sanitized ? 4'000 : 30'000;
    const std::uint64_t seed = test::seed();
    StackStore store({.idle_bytes = 40 * 64 * KiB});
    std::vector<weft::atomic<Stack*>> market(64);
    weft::atomic<int> wrong{0};
    std::vector<std::thread> team;
    for (int t = 0; t < threads; ++t) {
        team.emplace_back([&, t] {
            Random random(seed + static_cast<std::uint64_t>(t));
            auto cache = std::make_unique<StackCache>(store);
            const std::size_t sizes[] = {0, 0, 0, 16 * KiB, 16 * KiB, 512 * KiB, 70'000 * KiB};
            for (int i = 0; i < rounds; ++i) {
                const std::uint32_t pick = random.below(700);
                Stack* stack = cache->take(sizes[pick == 0 ? 6 : pick % 6]);
                if (stack == nullptr) {
                    wrong.fetch_add(1);
                    continue;
                }
                auto& stamp = reinterpret_cast<std::uint64_t*>(stack->top)[-1];
                stamp = reinterpret_cast<std::uint64_t>(stack);   // the thread sanitizer reports two at once
                if (Stack* other = market[random.below(64)].exchange(stack)) {
                    auto& theirs = reinterpret_cast<std::uint64_t*>(other->top)[-1];
                    if (theirs != reinterpret_cast<std::uint64_t>(other)) wrong.fetch_add(1);
                    theirs = 0;
                    cache->give(other);
                }
                if (random.below(500) == 0) cache->flush();
                if (random.below(2000) == 0) store.trim(0);
                if (random.below(2000) == 0) cache = std::make_unique<StackCache>(store);
            }
        });
    }
    for (auto& thread : team) thread.join();
    EXPECT_EQ(wrong.load(), 0);
    std::size_t held = 0;
    for (auto& place : market) held += place.load() != nullptr;
    EXPECT_EQ(store.live(), held);
    StackCache last(store);
    for (auto& place : market) {
        if (Stack* stack = place.load()) last.give(stack);
    }
    EXPECT_EQ(store.live(), 0u);
    last.flush();
    store.trim(0);
    EXPECT_LE(store.existing(), 64u * 3) << "idle chunks stay";   // in each class the one that is being carved
}

}   // namespace
