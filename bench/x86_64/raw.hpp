// What the processor itself allows, x86-64: switches written by hand, and a call on another stack.
// The yardstick for the library's own; nothing here is part of it. raw.S has the called ones.
#pragma once

#include <cstddef>

extern "C" {
// Leaves the running stack, its pointer in *saved, for the one that `next` points to: six registers
// are pushed and popped, then a jump to the address on top.
void bench_switch(void** saved, void* next);
// As bench_switch, but ends in `ret`: the return predictor is wrong each time.
void bench_switch_ret(void** saved, void* next);
// Goes on there, and saves nothing of what is left: for good.
[[noreturn]] void bench_enter(void* next);
}

namespace bench {

inline constexpr std::size_t saved_registers = 6;

// A stack whose first resumption by one of the switches above lands in `entry` (which must not
// return), as if called.
inline void* prepare_stack(void* top, void (*entry)()) {
    auto** word = static_cast<void**>(top);
    *--word = nullptr;   // a return address that is none; keeps the alignment of a call
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

// One uncontended atomic read-modify-write, whatever the compiler thinks of it.
[[gnu::always_inline]] inline void read_modify_write(long& word) {
    asm volatile("lock incq %0" : "+m"(word) : : "memory", "cc");
}

}   // namespace bench
