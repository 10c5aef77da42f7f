// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See x86_64/thread_pointer.hpp.
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "base/atomic.hpp"

namespace weft::arch {

// Always true here: programs may write tpidr_el0.
inline constinit atomic<bool> sets_thread_pointer_by_instruction{true};
inline constexpr unsigned long instruction_capability = 0;

[[gnu::always_inline]] inline void* thread_pointer() {
    void* pointer;
    asm volatile("mrs     %0, tpidr_el0" : "=r"(pointer));
    return pointer;
}

[[gnu::always_inline]] inline void set_thread_pointer(void* pointer) {
    asm volatile("msr     tpidr_el0, %0" : : "r"(pointer) : "memory");
}

[[gnu::always_inline]] inline void* host_word() {
    void* word;
    void* base;
    asm volatile(
        "mrs     %1, tpidr_el0\n\t"
        "adrp    %0, :gottprel:weft_host_word\n\t"
        "ldr     %0, [%0, :gottprel_lo12:weft_host_word]\n\t"
        "ldr     %0, [%1, %0]"
        : "=&r"(word), "=&r"(base));
    return word;
}

[[gnu::always_inline]] inline void set_host_word(void* word) {
    void* offset;
    void* base;
    asm volatile(
        "mrs     %1, tpidr_el0\n\t"
        "adrp    %0, :gottprel:weft_host_word\n\t"
        "ldr     %0, [%0, :gottprel_lo12:weft_host_word]\n\t"
        "str     %2, [%1, %0]"
        : "=&r"(offset), "=&r"(base)
        : "r"(word)
        : "memory");
}

inline void** local_word_address() {
    char* offset;
    asm volatile(
        "adrp    %0, :gottprel:weft_local_word\n\t"
        "ldr     %0, [%0, :gottprel_lo12:weft_local_word]"
        : "=r"(offset));
    return reinterpret_cast<void**>(static_cast<char*>(thread_pointer()) + reinterpret_cast<std::uintptr_t>(offset));
}

// The signature with which glibc registers its threads' restartable sequences.
inline constexpr std::uint32_t restartable_signature = 0xd428bc00;

struct FloatingPoint {
    std::uint64_t control;
    std::uint64_t status;
};

[[gnu::always_inline]] inline FloatingPoint floating_point() {
    FloatingPoint now;
    asm volatile("mrs     %0, fpcr\n\tmrs     %1, fpsr" : "=r"(now.control), "=r"(now.status));
    return now;
}

[[gnu::always_inline]] inline void set_floating_point(const FloatingPoint& to, const FloatingPoint& now) {
    if (to.control != now.control) [[unlikely]] {
        asm volatile("msr     fpcr, %0" : : "r"(to.control));
    }
    if (to.status != now.status) [[unlikely]] {
        asm volatile("msr     fpsr, %0" : : "r"(to.status));
    }
}

// The bits of the status above these belong to AArch32.
inline std::uint64_t pack(const FloatingPoint& from) {
    return (from.control & 0xffffffff) | (from.status & 0x0fffffff) << 32;
}
inline FloatingPoint unpack(std::uint64_t packed) { return {packed & 0xffffffff, packed >> 32}; }

[[gnu::always_inline]] inline char* here_on_stack() {
    char* pointer;
    asm volatile("mov     %0, sp" : "=r"(pointer));
    return pointer;
}

// The stack pointer of the code that a signal has interrupted: `context` is the handler's argument.
inline char* interrupted_stack(const void* context) {
    return reinterpret_cast<char*>(static_cast<const ucontext_t*>(context)->uc_mcontext.sp);
}
// The instruction that a signal has interrupted.
inline std::uintptr_t interrupted_code(const void* context) {
    return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.pc);
}

[[gnu::always_inline]] inline void park_without_stack(void* announced, const void* released) {
    asm volatile(
        "mov     x9, %[released]\n\t"
        "mov     x0, %[announced]\n\t"
        "mov     w10, #1\n\t"
        "2:\n\t"
        "ldaxr   w11, [x0]\n\t"
        "stlxr   w12, w10, [x0]\n\t"
        "cbnz    w12, 2b\n\t"
        "cmp     w11, #2\n\t"   // no thread waits: a wake would search among all parked threads
        "b.ne    1f\n\t"
        "mov     x1, #129\n\t"   // FUTEX_WAKE_PRIVATE
        "mov     x2, #1\n\t"     // waiter
        "mov     x8, #98\n\t"    // futex
        "svc     #0\n\t"
        "1:\n\t"
        "mov     x0, x9\n\t"
        "mov     x1, #128\n\t"   // FUTEX_WAIT_PRIVATE
        "mov     x2, #0\n\t"
        "mov     x3, #0\n\t"   // for as long as it takes
        "mov     x8, #98\n\t"
        "svc     #0\n\t"
        "ldar    w10, [x9]\n\t"
        "cbz     w10, 1b"
        :
        : [announced] "r"(announced), [released] "r"(released)
        : "x0", "x1", "x2", "x3", "x8", "x9", "x10", "x11", "x12", "memory", "cc");
}

}   // namespace weft::arch
