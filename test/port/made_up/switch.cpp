// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of a port that is in switch.S. See context.hpp.
#include "arch/arch.hpp"

extern "C" {
[[gnu::visibility("default")]] extern thread_local void* weft_local_word;

void weft_context_entry() { __builtin_trap(); }
void weft_context_call() { __builtin_trap(); }
thread_local void* weft_local_word = nullptr;
}
