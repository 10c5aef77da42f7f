// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lower bounds of the processor, AArch64: see x86_64/raw.hpp. Here the called switches save the
// twelve registers and the eight halves of vector registers that a call preserves.
#pragma once

#include <cstddef>

extern "C" {
void bench_switch(void** saved, void* next);       // ends in `br`
void bench_switch_ret(void** saved, void* next);   // ends in `ret`
[[noreturn]] void bench_enter(void* next);
}

namespace bench {

inline constexpr std::size_t saved_words = 20;   // x19 to x30, d8 to d15

inline void* prepare_stack(void* top, void (*entry)()) {
    auto** frame = static_cast<void**>(top) - saved_words;
    for (std::size_t i = 0; i < saved_words; ++i) frame[i] = nullptr;
    frame[11] = reinterpret_cast<void*>(entry);   // x30
    return frame;
}

[[gnu::always_inline]] inline void call_on(void* top, void (*body)(void*), void* argument) {
    register void* x0 asm("x0") = argument;
    register void* x9 asm("x9") = top;
    register void (*x10)(void*) asm("x10") = body;
    asm volatile(
        "mov     x19, sp\n\t"
        "mov     sp, x9\n\t"
        "blr     x10\n\t"
        "mov     sp, x19\n\t"
        : "+r"(x0), "+r"(x9), "+r"(x10)
        :
        : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19",
          "x30", "memory", "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20",
          "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}

[[gnu::always_inline]] inline void read_modify_write(long& word) { __atomic_fetch_add(&word, 1, __ATOMIC_SEQ_CST); }

}   // namespace bench
