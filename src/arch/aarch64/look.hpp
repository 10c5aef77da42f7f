// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See arch/look.hpp. A load and a branch are two instructions here.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace weft::arch {

template <class T>
[[gnu::always_inline]] inline bool any_of(const atomic<T>& word, T bits) {
    return (word.load(std::memory_order_relaxed) & bits) != 0;   // relaxed: as arch/look.hpp promises
}

using FourBytes [[gnu::may_alias]] = std::uint32_t;

[[gnu::always_inline]] inline bool any_of_four(const FourBytes& bytes, std::uint32_t bits) {
    // relaxed: as arch/look.hpp promises
    return (atomic_ref(const_cast<FourBytes&>(bytes)).load(std::memory_order_relaxed) & bits) != 0;
}

template <class T>
[[gnu::always_inline]] inline bool is_zero(const atomic<T>& word) {
    return word.load(std::memory_order_relaxed) == T{};   // relaxed: as arch/look.hpp promises
}

}   // namespace weft::arch
