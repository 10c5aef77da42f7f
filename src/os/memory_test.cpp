// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pages and small blocks: what the seams promise, guards included.
#include "os/memory.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "os/fault.hpp"

namespace weft::os {
namespace {

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

void write_byte(char* at) { *static_cast<volatile char*>(at) = 1; }

// A mapping that goes with the test.
struct Pages {
    std::size_t bytes;
    char* start;
    explicit Pages(std::size_t wanted, std::size_t alignment = 0)
        : bytes(wanted), start(static_cast<char*>(map(wanted, alignment))) {}
    ~Pages() {
        if (start != nullptr) unmap(start, bytes);
    }
};

// Touches the page in a child process; true: it faulted there. The sanitizers' handlers are removed
// first.
bool faults(char* at) {
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        write_byte(at);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

// qemu-user accepts any advice and does nothing.
bool advice_is_heard(char* page) { return madvise(page, page_bytes(), 9'999) != 0; }

// How many of the pages are in memory.
std::size_t resident(char* start, std::size_t bytes) {
    const std::size_t pages = bytes / page_bytes();
    unsigned char in_memory[1024] = {};
    EXPECT_LE(pages, sizeof(in_memory));
    EXPECT_EQ(mincore(start, bytes, in_memory), 0);
    std::size_t count = 0;
    for (std::size_t page = 0; page < pages; ++page) count += in_memory[page] & 1;
    return count;
}

TEST(Map, GivesZeroedPagesThatAreCommittedWhenTouched) {
    const std::size_t page = page_bytes();
    EXPECT_EQ(page, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
    Pages pages(16 * page);
    ASSERT_NE(pages.start, nullptr);
    EXPECT_EQ(number(pages.start) % page, 0u);
    EXPECT_EQ(resident(pages.start, pages.bytes), 0u);
    for (std::size_t i = 0; i < pages.bytes; ++i) ASSERT_EQ(pages.start[i], 0) << i;
    write_byte(pages.start + 5 * page);
    EXPECT_EQ(pages.start[5 * page], 1);
}

TEST(Map, KeepsTheAlignmentThatIsAskedForAndNothingMore) {
    const std::size_t page = page_bytes();
    for (std::size_t alignment = page; alignment <= 4u << 20; alignment *= 2) {
        Pages pages(3 * page, alignment);
        ASSERT_NE(pages.start, nullptr);
        EXPECT_EQ(number(pages.start) % alignment, 0u) << alignment;
        std::memset(pages.start, 1, pages.bytes);
    }
}

TEST(Map, OfMoreThanThereIsIsNull) { EXPECT_EQ(map(std::size_t{1} << 62), nullptr); }

TEST(Map, AlignedPagesAreGivenBackWholly) {
    auto mappings = [] {
        std::ifstream maps("/proc/self/maps");
        int lines = 0;
        for (std::string line; std::getline(maps, line);) ++lines;
        return lines;
    };
    const std::size_t bytes = 2 * page_bytes();
    unmap(map(bytes, 1u << 21), bytes);   // the C library has by now opened what it needs
    const int before = mappings();
    for (int i = 0; i < 100; ++i) {
        void* pages = map(bytes, 1u << 21);
        ASSERT_NE(pages, nullptr);
        unmap(pages, bytes);
    }
    EXPECT_LE(mappings(), before + 4);
}

TEST(Discard, GivesTheMemoryBackAndItReadsAsZero) {
    const std::size_t page = page_bytes();
    Pages pages(8 * page);
    ASSERT_NE(pages.start, nullptr);
    advise_huge(pages.start, pages.bytes, false);
    std::memset(pages.start, 7, pages.bytes);
    EXPECT_EQ(resident(pages.start, pages.bytes), 8u);
    discard(pages.start, 4 * page);
    EXPECT_EQ(pages.start[0], 0);
    EXPECT_EQ(pages.start[4 * page - 1], 0);
    EXPECT_EQ(pages.start[4 * page], 7);
}

// ---- guards -------------------------------------------------------------------------------------

TEST(Guard, ThatIsInstalledFaultsAndItsNeighboursDoNot) {
    const std::size_t page = page_bytes();
    Pages pages(4 * page);
    ASSERT_NE(pages.start, nullptr);
    if (!advice_is_heard(pages.start)) GTEST_SKIP() << "this kernel accepts advice that does not exist";
    if (!guard_install(pages.start + page, page)) GTEST_SKIP() << "this kernel has no MADV_GUARD_INSTALL";
    EXPECT_FALSE(faults(pages.start));
    EXPECT_TRUE(faults(pages.start + page));
    EXPECT_TRUE(faults(pages.start + 2 * page - 1));
    EXPECT_FALSE(faults(pages.start + 2 * page));
    guard_remove(pages.start + page, page);
    EXPECT_FALSE(faults(pages.start + page));
}

TEST(Guard, ThatIsInstalledStaysWhenTheMemoryAroundItIsDiscarded) {
    const std::size_t page = page_bytes();
    Pages pages(4 * page);
    ASSERT_NE(pages.start, nullptr);
    if (!advice_is_heard(pages.start)) GTEST_SKIP() << "this kernel accepts advice that does not exist";
    if (!guard_install(pages.start, page)) GTEST_SKIP() << "this kernel has no MADV_GUARD_INSTALL";
    write_byte(pages.start + page);
    discard(pages.start, pages.bytes);
    EXPECT_TRUE(faults(pages.start));
    EXPECT_FALSE(faults(pages.start + page));
}

TEST(Guard, ByProtectionFaultsUntilItIsTakenAway) {
    const std::size_t page = page_bytes();
    Pages pages(4 * page);
    ASSERT_NE(pages.start, nullptr);
    ASSERT_TRUE(protect(pages.start + page, page));
    EXPECT_FALSE(faults(pages.start));
    EXPECT_TRUE(faults(pages.start + page));
    EXPECT_FALSE(faults(pages.start + 2 * page));
    unprotect(pages.start + page, page);
    write_byte(pages.start + page);
    EXPECT_EQ(pages.start[page], 1);
}

TEST(Guard, OfMemoryThatIsNotOursIsRefused) {
    const std::size_t page = page_bytes();
    auto* start = static_cast<char*>(map(page));
    ASSERT_NE(start, nullptr);
    const bool heard = advice_is_heard(start);
    unmap(start, page);
    EXPECT_FALSE(protect(start, page));
    if (heard) {
        EXPECT_FALSE(guard_install(start, page));
    }
}

// ---- blocks, limits, faults ---------------------------------------------------------------------

TEST(Allocate, AlignsToACacheLineAndFailsWithNull) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{64}, std::size_t{65}, std::size_t{100'000}}) {
        auto* block = static_cast<char*>(allocate(bytes));
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(number(block) % 64, 0u);
        std::memset(block, 1, bytes);
        release(block);
    }
    release(nullptr);
}

struct Counted {
    int& alive;
    int value;
    Counted(int& count, int given) : alive(count), value(given) { ++alive; }
    ~Counted() { --alive; }
};

TEST(Allocate, MakesAndDestroysObjects) {
    int alive = 0;
    Counted* object = make<Counted>(alive, 5);
    ASSERT_NE(object, nullptr);
    EXPECT_EQ(object->value, 5);
    EXPECT_EQ(alive, 1);
    destroy(object);
    EXPECT_EQ(alive, 0);
    destroy(static_cast<Counted*>(nullptr));
}

TEST(MappingLimit, IsTheKernels) {
    std::size_t expected = 65530;
    std::ifstream("/proc/sys/vm/max_map_count") >> expected;
    EXPECT_EQ(mapping_limit(), expected);
}

TEST(Fault, EachSeamFailsAsTheKernelWouldWhenATestSaysSo) {
    if constexpr (!config::checked) GTEST_SKIP() << "faults are injected in checked builds only";
    const std::size_t page = page_bytes();
    Pages pages(2 * page);
    ASSERT_NE(pages.start, nullptr);
    int alive = 0;
    fault_hook.store([](Seam) { return true; });
    void* const mapped = map(page);
    const bool guarded = guard_install(pages.start, page), is_protected = protect(pages.start, page);
    void* const block = allocate(1);
    Counted* const object = make<Counted>(alive, 1);
    fault_hook.store(nullptr);
    EXPECT_EQ(mapped, nullptr);
    EXPECT_FALSE(guarded);
    EXPECT_FALSE(is_protected);
    EXPECT_EQ(block, nullptr);
    EXPECT_EQ(object, nullptr);
    EXPECT_EQ(alive, 0);
    write_byte(pages.start);   // and nothing was done
}

}   // namespace
}   // namespace weft::os
