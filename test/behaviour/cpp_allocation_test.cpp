// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What spawning from C++ allocates: nothing for a callable that fits into a pointer, one block
// otherwise. This program's own operator new counts the blocks; where a sanitizer replaces it,
// nothing can be counted.
#include <array>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include "test/behaviour/atomic.hpp"

namespace {

weft_test::atomic<int> allocations{0};
weft_test::atomic<int> live{0};

void* counted(std::size_t bytes) {
    void* const memory = std::malloc(bytes);
    if (memory == nullptr) throw std::bad_alloc();
    allocations.fetch_add(1);
    live.fetch_add(1);
    return memory;
}

void uncounted(void* memory) noexcept {
    if (memory != nullptr) live.fetch_sub(1);
    std::free(memory);
}

}   // namespace

// Weak, because clang links its sanitizers' own operator into the program.
[[gnu::weak]] void* operator new(std::size_t bytes) { return counted(bytes); }
[[gnu::weak]] void operator delete(void* memory) noexcept { uncounted(memory); }
[[gnu::weak]] void operator delete(void* memory, std::size_t) noexcept { uncounted(memory); }

namespace {

class CppAllocation : public testing::Test {
protected:
    CppAllocation() {
        // Makes the allocations that the library makes only once.
        for (int i = 0; i < 100; ++i) weft::thread([] {}).join();
    }

    void SetUp() override {
        if (during([] { ::operator delete(::operator new(1)); }) == 0) GTEST_SKIP() << "operator new is a sanitizer's";
    }

    template <class Work>
    static int during(Work&& work) {
        const int before = allocations;
        work();
        return allocations - before;
    }

    weft::runtime runtime_{{.streams = 1}};
};

TEST_F(CppAllocation, ACallableThatFitsAPointerNeedsNoMemory) {
    int number = 0;
    EXPECT_EQ(during([&] { weft::thread([&number] { ++number; }).join(); }), 0);
    EXPECT_EQ(during([&] { weft::tasklet([&number] { ++number; }).join(); }), 0);
    EXPECT_EQ(during([] { weft::thread([] {}).join(); }), 0);
    EXPECT_EQ(number, 2);
}

TEST_F(CppAllocation, AValueLiesInTheBlockOfItsBody) {
    int number = 0;
    EXPECT_EQ(during([&] { weft::spawn([&number] { ++number; }).join(); }), 0);
    EXPECT_EQ(during([&] { number += weft::spawn([] { return 4; }).join(); }), 1);
    EXPECT_EQ(during([&] { number += weft::spawn([](int more) { return more; }, 5).join(); }), 1);
    EXPECT_EQ(number, 10);
}

TEST_F(CppAllocation, ALargerOneNeedsOneBlock) {
    std::array<int, 64> large{};
    large[63] = 9;
    int seen = 0;
    int argument = 0;
    EXPECT_EQ(during([&] { weft::thread([large, &seen] { seen = large[63]; }).join(); }), 1);
    EXPECT_EQ(
        during([&] { weft::thread([large, &argument](int a, int b) { argument = a + b + large[63]; }, 1, 2).join(); }),
        1);
    EXPECT_EQ(seen, 9);
    EXPECT_EQ(argument, 12);
}

TEST_F(CppAllocation, WhatWasAllocatedIsFreed) {
    const int before = live;
    std::array<int, 64> large{};
    for (int i = 0; i < 50; ++i) {
        weft::thread([large] { static_cast<void>(large); }).join();
        weft::thread leaves([large] {
            static_cast<void>(large);
            weft::this_thread::exit();
        });
        leaves.join();
        weft::spawn_many(10, [large](std::size_t) { static_cast<void>(large); }).join();
    }
    EXPECT_EQ(live, before);
}

}   // namespace
