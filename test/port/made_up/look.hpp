// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See context.hpp.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace weft::arch {

template <class T> bool any_of(const atomic<T>& word, T bits) { __builtin_trap(); }
using FourBytes [[gnu::may_alias]] = std::uint32_t;
inline bool any_of_four(const FourBytes& bytes, std::uint32_t bits) { __builtin_trap(); }
template <class T> bool is_zero(const atomic<T>& word) { __builtin_trap(); }

}  // namespace weft::arch
