// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the processor provides besides the switch: the thread-local word, pause, the cycle counter.
#pragma once

#include <cstdint>

namespace weft::arch {

// The thread-local word of the running OS thread (defined in switch.S). Volatile assembly: it is
// read anew each time, so no compiler can keep one thread's word across a switch to another thread.
[[gnu::always_inline]] inline void* local_word() {
    void* word;
    asm volatile(
        "movq    weft_local_word@gottpoff(%%rip), %0\n\t"
        "movq    %%fs:(%0), %0"
        : "=r"(word));
    return word;
}

[[gnu::always_inline]] inline void set_local_word(void* word) {
    void* offset;
    asm volatile(
        "movq    weft_local_word@gottpoff(%%rip), %0\n\t"
        "movq    %1, %%fs:(%0)"
        : "=&r"(offset)
        : "r"(word)
        : "memory");
}

// Tells the core that it waits in a loop.
inline void pause() { asm volatile("pause"); }

// A counter that only grows, at a constant rate; not ordered with the instructions around it.
inline std::uint64_t cycles() {
    std::uint32_t low, high;
    asm volatile("rdtsc" : "=a"(low), "=d"(high));
    return (static_cast<std::uint64_t>(high) << 32) | low;
}

}   // namespace weft::arch
