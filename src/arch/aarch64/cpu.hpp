// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the processor provides besides the switch: the thread-local word, pause, the cycle counter.
#pragma once

#include <cstdint>

namespace weft::arch {

// See x86_64/cpu.hpp.
[[gnu::always_inline]] inline void* local_word() {
    void* word;
    void* base;
    asm volatile(
        "mrs     %1, tpidr_el0\n\t"
        "adrp    %0, :gottprel:weft_local_word\n\t"
        "ldr     %0, [%0, :gottprel_lo12:weft_local_word]\n\t"
        "ldr     %0, [%1, %0]"
        : "=&r"(word), "=&r"(base));
    return word;
}

[[gnu::always_inline]] inline void set_local_word(void* word) {
    void* offset;
    void* base;
    asm volatile(
        "mrs     %1, tpidr_el0\n\t"
        "adrp    %0, :gottprel:weft_local_word\n\t"
        "ldr     %0, [%0, :gottprel_lo12:weft_local_word]\n\t"
        "str     %2, [%1, %0]"
        : "=&r"(offset), "=&r"(base)
        : "r"(word)
        : "memory");
}

// Tells the core that it waits in a loop. `isb` delays it for a few tens of cycles, as x86's pause
// does; `yield` does nothing on most cores.
inline void pause() { asm volatile("isb" ::: "memory"); }

// A counter that only grows, at a constant rate; not ordered with the instructions around it.
inline std::uint64_t cycles() {
    std::uint64_t value;
    asm volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
}

}   // namespace weft::arch
