// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maps pages at an alignment larger than a page: for the seams that map.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace weft::os {

// Committed as they are touched. Null: refused.
inline void* map_aligned(std::size_t bytes, std::size_t alignment, std::size_t page) {
    const std::size_t slack = alignment > page ? alignment - page : 0;
    void* const found =
        mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED) return nullptr;
    if (slack == 0) return found;
    auto* const start = static_cast<char*>(found);
    const std::size_t before = (alignment - reinterpret_cast<std::uintptr_t>(start) % alignment) % alignment;
    if (before > 0) munmap(start, before);
    if (slack > before) munmap(start + before + bytes, slack - before);
    return start + before;
}

}   // namespace weft::os
