// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of atomics in simulation: by the atomics' own operations, which are points of pre-emption
// (see src/arch/look.hpp).
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "weft/location.hpp"

namespace weft::arch {

template <class T>
inline bool any_of(const atomic<T>& word, T bits, const weft::location& at = weft::location::current()) {
    return (word.load(std::memory_order_relaxed, at) & bits) != 0;   // relaxed: as src/arch/look.hpp promises
}

using FourBytes [[gnu::may_alias]] = std::uint32_t;

template <class Bytes>
inline bool any_of_four(const Bytes& bytes, std::uint32_t bits, const weft::location& at = weft::location::current()) {
    // relaxed: as src/arch/look.hpp promises
    return (atomic_ref(const_cast<Bytes&>(bytes)).load(std::memory_order_relaxed, at) & bits) != 0;
}

template <class T>
inline bool is_zero(const atomic<T>& word, const weft::location& at = weft::location::current()) {
    return word.load(std::memory_order_relaxed, at) == T{};   // relaxed: as src/arch/look.hpp promises
}

}   // namespace weft::arch
