// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A port to no processor: it has what src/arch/arch.hpp asks for and nothing else, and none of it
// works. port_test.py compiles the library with it, and leaves out each declaration in turn; so
// there is one declaration per line.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/types.hpp"
#include "port/made_up/thread_pointer.hpp"

extern "C" {
[[gnu::visibility("hidden")]] void weft_context_entry();
[[gnu::visibility("hidden")]] void weft_context_call();
}

namespace weft::arch {

inline constexpr std::size_t stack_alignment = 16;
inline void* prepare(void* top, Main main) { __builtin_trap(); }
inline Message swap(void** saved, void* next, Message message) { __builtin_trap(); }
[[noreturn]] inline void jump(void* next, Message message) { __builtin_trap(); }
inline Called call(void** saved, void* top, CalledMain main, void* argument, std::uintptr_t kept) { __builtin_trap(); }
inline void call_light(void* top, CalledMain main, void* argument) { __builtin_trap(); }
template <class Answer> inline Answer return_by_jump(Answer answer) { __builtin_trap(); }
inline void* stack_pointer(void* context) { __builtin_trap(); }

}  // namespace weft::arch
