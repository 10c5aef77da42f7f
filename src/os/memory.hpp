// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Seams to memory: pages from the kernel, and small blocks from the C library. All of them return
// null or false when there is none left; none throws.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace weft::os {

std::size_t page_bytes();

// Whole pages, zeroed, committed when touched, not counted against overcommit; null: none
// available. `alignment` is a power of two, at least a page; 0: a page.
void* map(std::size_t bytes, std::size_t alignment = 0);
void unmap(void* address, std::size_t bytes);

// Returns the memory of whole pages to the kernel; they read as zero afterwards. Guards stay.
void discard(void* address, std::size_t bytes);

// Commits whole pages, as touching each would, by one call (Linux 5.14); advice, without a result.
void populate(void* address, std::size_t bytes);

// Asks for huge pages, or says that they are unwanted; advice, without a result.
void advise_huge(void* address, std::size_t bytes, bool wanted);

// MADV_GUARD_INSTALL: an access faults from now on, without splitting the mapping. False: not on
// this kernel, or no memory.
bool guard_install(void* address, std::size_t bytes);
void guard_remove(void* address, std::size_t bytes);

// mprotect(PROT_NONE), which splits the mapping. False: out of mappings.
bool protect(void* address, std::size_t bytes);
void unprotect(void* address, std::size_t bytes);

// vm.max_map_count, or 65530 when it cannot be read.
std::size_t mapping_limit();

// A small block from the C library, aligned to 64; null: no memory.
void* allocate(std::size_t bytes);
// Like allocate(), but aligned as malloc aligns, which takes the C library a tenth of the time: for
// what units have in their thousands.
void* allocate_plain(std::size_t bytes);
void release(void* block);

// The block stays until the process ends: leak accounting leaves it out.
void keep_for_good(void* block);

template <class T, class... Arguments>
T* make(Arguments&&... arguments) {
    void* block = allocate(sizeof(T));
    if (block == nullptr) return nullptr;
    if constexpr (std::is_constructible_v<T, Arguments...>) {
        return new (block) T(std::forward<Arguments>(arguments)...);
    } else {
        return new (block) T{std::forward<Arguments>(arguments)...};   // an aggregate
    }
}

template <class T>
T* make_plain() {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    void* block = allocate_plain(sizeof(T));
    return block == nullptr ? nullptr : new (block) T();
}

template <class T>
void destroy(T* object) {
    if (object == nullptr) return;
    object->~T();
    release(object);
}

}   // namespace weft::os
