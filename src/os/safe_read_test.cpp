// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that may not exist is read, or reported as missing, and nothing faults; also where the
// first method is refused.
#include "os/safe_read.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "os/fault.hpp"
#include "os/memory.hpp"

namespace weft::os {
namespace {

// Both methods, where a build can refuse the first.
template <class Check>
void both_ways(Check check) {
    check();
    if constexpr (!config::checked) return;
    fault_hook.store([](Seam seam) { return seam == Seam::safe_read; });
    check();
    fault_hook.store(nullptr);
}

TEST(SafeRead, CopiesWhatIsThere) {
    both_ways([] {
        std::vector<char> from(100'000);
        for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i * 7);
        std::vector<char> to(from.size());
        EXPECT_EQ(safe_read(from.data(), to.data(), from.size()), from.size());
        EXPECT_EQ(from, to);
        int one = 17, other = 0;
        EXPECT_EQ(safe_read(&one, &other, sizeof one), sizeof one);
        EXPECT_EQ(other, 17);
        EXPECT_EQ(safe_read(&one, &other, 0), 0u);
    });
}

TEST(SafeRead, EndsWhereTheMemoryEnds) {
    const std::size_t page = page_bytes();
    auto* pages = static_cast<char*>(map(4 * page));
    ASSERT_NE(pages, nullptr);
    std::memset(pages, 'x', 4 * page);
    ASSERT_TRUE(protect(pages + 3 * page, page));
    both_ways([&] {
        std::vector<char> to(4 * page);
        EXPECT_EQ(safe_read(pages, to.data(), 4 * page), 3 * page);
        EXPECT_EQ(to[3 * page - 1], 'x');
        EXPECT_EQ(safe_read(pages + 3 * page - 5, to.data(), 100), 5u);
    });
    unprotect(pages + 3 * page, page);
    unmap(pages, 4 * page);
}

TEST(SafeRead, OfWhatIsNoMemoryComesToNothingAndErrnoStays) {
    both_ways([] {
        char to[64];
        errno = 123;
        EXPECT_EQ(safe_read(nullptr, to, sizeof to), 0u);
        EXPECT_EQ(safe_read(reinterpret_cast<void*>(std::uintptr_t{0x10}), to, sizeof to), 0u);
        EXPECT_EQ(safe_read(reinterpret_cast<void*>(~std::uintptr_t{0} - 100), to, sizeof to), 0u);
        EXPECT_EQ(safe_read(reinterpret_cast<void*>(std::uintptr_t{1} << 63), to, sizeof to), 0u);
        EXPECT_EQ(errno, 123);
        const std::size_t page = page_bytes();
        void* gone = map(page);
        unmap(gone, page);
        EXPECT_EQ(safe_read(gone, to, sizeof to), 0u);
    });
}

}   // namespace
}   // namespace weft::os
