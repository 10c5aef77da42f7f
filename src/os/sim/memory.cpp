// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory in simulation: the process's own, but each block and each page is accounted for, and a
// released block lies fallow for a while, so that a write to it is detected.
#include "os/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "base/assert.hpp"
#include "os/fault.hpp"
#include "os/mapping.hpp"
#include "os/sim/machine.hpp"

namespace weft::os {

std::size_t page_bytes() { return 4096; }

void* map(std::size_t bytes, std::size_t alignment) {
    sim::system_call("map");
    if (sim::seam_fails() || fault(Seam::map)) return nullptr;
    void* const start = map_aligned(bytes, alignment, page_bytes());
    if (start != nullptr) sim::pages_taken(start, bytes);
    return start;
}

void unmap(void* address, std::size_t bytes) {
    sim::system_call("unmap", address);
    sim::pages_given_back(address, bytes);
    [[maybe_unused]] const int answer = munmap(address, bytes);
    WEFT_ASSERT(answer == 0);
}

void discard(void* address, std::size_t bytes) {
    sim::system_call("discard", address);
    madvise(address, bytes, MADV_DONTNEED);
}

void populate(void*, std::size_t) {}
void advise_huge(void*, std::size_t, bool) {}

// Guards cost a system call each and detect errors that no schedule causes: in simulation they are
// requested but not installed.
bool guard_install(void* address, std::size_t) {
    sim::system_call("guard", address);
    return !sim::seam_fails() && !fault(Seam::guard);
}

void guard_remove(void*, std::size_t) {}

bool protect(void* address, std::size_t) {
    sim::system_call("protect", address);
    return !sim::seam_fails() && !fault(Seam::protect);
}

void unprotect(void*, std::size_t) {}

std::size_t mapping_limit() { return 65530; }

void* allocate(std::size_t bytes) {
    sim::system_call("allocate");
    if (sim::seam_fails() || fault(Seam::allocate)) return nullptr;
    void* const block = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (block != nullptr) sim::block_taken(block, bytes);
    return block;
}

void* allocate_plain(std::size_t bytes) { return allocate(bytes); }

void release(void* block) {
    if (block == nullptr) return;
    sim::system_call("release", block);
    sim::block_given_back(block);
}

void keep_for_good(void* block) { sim::block_kept(block); }

}   // namespace weft::os
