// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See arch/look.hpp. GCC turns a relaxed load into a load and a comparison; here it is one
// comparison with memory.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "base/config.hpp"

namespace weft::arch {

template <class T>
[[gnu::always_inline]] inline bool any_of(const atomic<T>& word, T bits) {
    static_assert(sizeof(T) == 1 || sizeof(T) == 4);
    // relaxed: as arch/look.hpp promises
    if constexpr (config::thread_sanitizer) return (word.load(std::memory_order_relaxed) & bits) != 0;
    bool any;
    if constexpr (sizeof(T) == 1) {
        asm volatile("testb   %2, %1" : "=@ccnz"(any) : "m"(word), "iq"(bits));
    } else {
        asm volatile("testl   %2, %1" : "=@ccnz"(any) : "m"(word), "ir"(bits));
    }
    return any;
}

using FourBytes [[gnu::may_alias]] = std::uint32_t;

// For four adjacent bytes, aligned to four, of which other threads may write single ones.
[[gnu::always_inline]] inline bool any_of_four(const FourBytes& bytes, std::uint32_t bits) {
    if constexpr (config::thread_sanitizer) {
        // relaxed: as arch/look.hpp promises
        return (atomic_ref(const_cast<FourBytes&>(bytes)).load(std::memory_order_relaxed) & bits) != 0;
    }
    bool any;
    asm volatile("testl   %2, %1" : "=@ccnz"(any) : "m"(bytes), "ir"(bits));
    return any;
}

template <class T>
[[gnu::always_inline]] inline bool is_zero(const atomic<T>& word) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    // relaxed: as arch/look.hpp promises
    if constexpr (config::thread_sanitizer) return word.load(std::memory_order_relaxed) == T{};
    bool zero;
    if constexpr (sizeof(T) == 4) {
        asm volatile("cmpl    $0, %1" : "=@ccz"(zero) : "m"(word));
    } else {
        asm volatile("cmpq    $0, %1" : "=@ccz"(zero) : "m"(word));
    }
    return zero;
}

}   // namespace weft::arch
