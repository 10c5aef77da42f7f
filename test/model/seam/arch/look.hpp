// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See src/arch/look.hpp.
#pragma once

#include "base/atomic.hpp"

namespace weft::arch {

template <class T>
[[gnu::always_inline]] inline bool any_of(const atomic<T>& word, T bits) {
    return (word.load(std::memory_order_relaxed) & bits) != 0;   // relaxed: as asked for
}

template <class T>
[[gnu::always_inline]] inline bool is_zero(const atomic<T>& word) {
    return word.load(std::memory_order_relaxed) == T{};   // relaxed: as asked for
}

}   // namespace weft::arch
