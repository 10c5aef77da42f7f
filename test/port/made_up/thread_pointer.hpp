// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See context.hpp.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace weft::arch {

inline constinit atomic<bool> sets_thread_pointer_by_instruction{false};
inline constexpr unsigned long instruction_capability = 0;
inline void* thread_pointer() { __builtin_trap(); }
inline void set_thread_pointer(void* pointer) { __builtin_trap(); }
inline void* host_word() { __builtin_trap(); }
inline void set_host_word(void* word) { __builtin_trap(); }
inline void** local_word_address() { __builtin_trap(); }
inline constexpr std::uint32_t restartable_signature = 0;
struct FloatingPoint {};
inline FloatingPoint floating_point() { __builtin_trap(); }
inline void set_floating_point(const FloatingPoint& to, const FloatingPoint& now) { __builtin_trap(); }
inline std::uint64_t pack(const FloatingPoint& from) { __builtin_trap(); }
inline FloatingPoint unpack(std::uint64_t packed) { __builtin_trap(); }
inline char* here_on_stack() { __builtin_trap(); }
inline char* interrupted_stack(const void* context) { __builtin_trap(); }
inline std::uintptr_t interrupted_code(const void* context) { __builtin_trap(); }
inline void park_without_stack(void* announced, const void* released) { __builtin_trap(); }

}  // namespace weft::arch
