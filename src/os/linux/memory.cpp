// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/assert.hpp"
#include "os/fault.hpp"
#include "os/mapping.hpp"

namespace weft::os {
namespace {

// Not in Debian 12's headers; the numbers are the kernel's
// (include/uapi/asm-generic/mman-common.h).
constexpr int madv_guard_install = 102;
constexpr int madv_populate_write = 23;   // Linux 5.14
constexpr int madv_guard_remove = 103;

}   // namespace

std::size_t page_bytes() {
    static const std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return bytes;
}

void* map(std::size_t bytes, std::size_t alignment) {
    if (fault(Seam::map)) return nullptr;
    return map_aligned(bytes, alignment, page_bytes());
}

void unmap(void* address, std::size_t bytes) {
    [[maybe_unused]] int answer = munmap(address, bytes);
    WEFT_ASSERT(answer == 0);
}

void discard(void* address, std::size_t bytes) { madvise(address, bytes, MADV_DONTNEED); }

void populate(void* address, std::size_t bytes) { madvise(address, bytes, madv_populate_write); }

void advise_huge(void* address, std::size_t bytes, bool wanted) {
    madvise(address, bytes, wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

bool guard_install(void* address, std::size_t bytes) {
    if (fault(Seam::guard)) return false;
    return madvise(address, bytes, madv_guard_install) == 0;
}

void guard_remove(void* address, std::size_t bytes) { madvise(address, bytes, madv_guard_remove); }

bool protect(void* address, std::size_t bytes) {
    if (fault(Seam::protect)) return false;
    return mprotect(address, bytes, PROT_NONE) == 0;
}

void unprotect(void* address, std::size_t bytes) { mprotect(address, bytes, PROT_READ | PROT_WRITE); }

std::size_t mapping_limit() {
    std::size_t limit = 65530;
    if (FILE* file = std::fopen("/proc/sys/vm/max_map_count", "re")) {
        if (std::fscanf(file, "%zu", &limit) != 1) limit = 65530;
        std::fclose(file);
    }
    return limit;
}

void* allocate(std::size_t bytes) {
    if (fault(Seam::allocate)) return nullptr;
    return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
}

void* allocate_plain(std::size_t bytes) { return fault(Seam::allocate) ? nullptr : std::malloc(bytes); }

void release(void* block) { std::free(block); }

void keep_for_good(void*) {}

}   // namespace weft::os
