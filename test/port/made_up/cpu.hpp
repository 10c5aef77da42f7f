// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See context.hpp.
#pragma once

#include <cstdint>

namespace weft::arch {

inline void* local_word() { __builtin_trap(); }
inline void set_local_word(void* word) { __builtin_trap(); }
inline void pause() { __builtin_trap(); }
inline std::uint64_t cycles() { __builtin_trap(); }

}  // namespace weft::arch
