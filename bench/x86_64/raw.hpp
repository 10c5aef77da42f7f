// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lower bounds of the processor, x86-64: hand-written switches, and a call on another stack.
// They are the yardstick for the library's switches and not part of the library. raw.S has the
// switches that are called.
#pragma once

#include <cstddef>

extern "C" {
// Switches from the running stack, whose pointer it stores in *saved, to the stack that `next`
// points to: six registers are pushed and popped, then a jump to the address on top.
void bench_switch(void** saved, void* next);
// Like bench_switch, but ends in `ret`, which the processor mispredicts each time.
void bench_switch_ret(void** saved, void* next);
// Continues on that stack and saves nothing of the current one, to which nothing returns.
[[noreturn]] void bench_enter(void* next);
}

namespace bench {

inline constexpr std::size_t saved_registers = 6;

// Prepares a stack on which the first switch to it continues in `entry` (which must not return), as
// if called.
inline void* prepare_stack(void* top, void (*entry)()) {
    auto** word = static_cast<void**>(top);
    *--word = nullptr;   // a null return address; keeps the alignment of a call
    *--word = reinterpret_cast<void*>(entry);
    for (std::size_t i = 0; i < saved_registers; ++i) *--word = nullptr;
    return word;
}

// Calls body(argument) on the stack that ends at `top` (aligned to 16) and returns when it does.
[[gnu::always_inline]] inline void call_on(void* top, void (*body)(void*), void* argument) {
    asm volatile(
        "movq    %%rsp, %%rbx\n\t"
        "movq    %%rsi, %%rsp\n\t"
        "call    *%%rax\n\t"
        "movq    %%rbx, %%rsp\n\t"
        : "+D"(argument), "+S"(top), "+a"(body)
        :
        : "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
          "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

// One uncontended atomic read-modify-write that the compiler cannot remove.
[[gnu::always_inline]] inline void read_modify_write(long& word) {
    asm volatile("lock incq %0" : "+m"(word) : : "memory", "cc");
}

}   // namespace bench
