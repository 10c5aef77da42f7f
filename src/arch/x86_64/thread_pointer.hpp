// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The thread pointer, through which a program finds the data of its OS thread, and what else hosted
// units keep: the floating-point control words.
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "base/atomic.hpp"

namespace weft::arch {

// Whether the kernel lets programs set the thread pointer by an instruction, which takes a few
// nanoseconds; else it is a system call. Written once, before other threads first read it.
inline constinit atomic<bool> sets_thread_pointer_by_instruction{false};
inline constexpr unsigned long instruction_capability = 2;   // HWCAP2_FSGSBASE, of AT_HWCAP2

// The base of %fs points to its own address (the ABI of thread-local storage).
[[gnu::always_inline]] inline void* thread_pointer() {
    void* pointer;
    asm volatile("movq    %%fs:0, %0" : "=r"(pointer));
    return pointer;
}

[[gnu::always_inline]] inline void set_thread_pointer(void* pointer) {
    if (sets_thread_pointer_by_instruction.load(std::memory_order_relaxed)) [[likely]] {   // relaxed: either way works
        asm volatile("wrfsbase %0" : : "r"(pointer) : "memory");
    } else {
        std::uint64_t call = 158;   // arch_prctl
        asm volatile("syscall" : "+a"(call) : "D"(0x1002UL /* ARCH_SET_FS */), "S"(pointer) : "rcx", "r11", "memory");
    }
}

// The host that the thread pointer belongs to, or null: a word beside the thread-local one
// (switch.S). A signal handler may call it, too.
[[gnu::always_inline]] inline void* host_word() {
    void* word;
    asm volatile(
        "movq    weft_host_word@gottpoff(%%rip), %0\n\t"
        "movq    %%fs:(%0), %0"
        : "=r"(word));
    return word;
}

[[gnu::always_inline]] inline void set_host_word(void* word) {
    void* offset;
    asm volatile(
        "movq    weft_host_word@gottpoff(%%rip), %0\n\t"
        "movq    %1, %%fs:(%0)"
        : "=&r"(offset)
        : "r"(word)
        : "memory");
}

// Where the running OS thread has its thread-local word: other threads write the word while they
// run with this thread's pointer.
inline void** local_word_address() {
    char* offset;
    asm volatile("movq    weft_local_word@gottpoff(%%rip), %0" : "=r"(offset));
    return reinterpret_cast<void**>(static_cast<char*>(thread_pointer()) + reinterpret_cast<std::uintptr_t>(offset));
}

// The signature with which glibc registers its threads' restartable sequences.
inline constexpr std::uint32_t restartable_signature = 0x53053053;

// Rounding, precision, traps, and exception flags.
struct FloatingPoint {
    std::uint32_t sse;
    std::uint16_t x87;
};

[[gnu::always_inline]] inline FloatingPoint floating_point() {
    FloatingPoint now;
    asm volatile("stmxcsr %0\n\tfnstcw  %1" : "=m"(now.sse), "=m"(now.x87));
    return now;
}

// `now` is the result of floating_point(): a word that is already right is not written, since a
// write takes much longer than the check.
[[gnu::always_inline]] inline void set_floating_point(const FloatingPoint& to, const FloatingPoint& now) {
    if (to.sse != now.sse) [[unlikely]] {
        asm volatile("ldmxcsr %0" : : "m"(to.sse));
    }
    if (to.x87 != now.x87) [[unlikely]] {
        asm volatile("fldcw   %0" : : "m"(to.x87));
    }
}

// Uses less than 62 bits.
inline std::uint64_t pack(const FloatingPoint& from) { return from.sse | std::uint64_t{from.x87} << 32; }
inline FloatingPoint unpack(std::uint64_t packed) {
    return {static_cast<std::uint32_t>(packed), static_cast<std::uint16_t>(packed >> 32)};
}

// The stack pointer of the function that this is inlined into.
[[gnu::always_inline]] inline char* here_on_stack() {
    char* pointer;
    asm volatile("movq    %%rsp, %0" : "=r"(pointer));
    return pointer;
}

// The stack pointer of the code that a signal has interrupted: `context` is the handler's argument.
inline char* interrupted_stack(const void* context) {
    return reinterpret_cast<char*>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
}
// The instruction that a signal has interrupted.
inline std::uintptr_t interrupted_code(const void* context) {
    return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
}

// Sets *announced to 1, wakes the thread that waits for that with a futex if the word was 2, and
// sleeps until *released is not zero. Touches neither stack nor thread-local memory (such as
// errno), which belong to another thread from the announcement on: so the two system calls are made
// here, and the second one is repeated.
[[gnu::always_inline]] inline void park_without_stack(void* announced, const void* released) {
    unsigned long operation = 129;   // FUTEX_WAKE_PRIVATE
    unsigned long value = 1;         // waiter
    asm volatile(
        "movl    $1, %%eax\n\t"
        "xchgl   %%eax, (%%rdi)\n\t"
        "cmpl    $2, %%eax\n\t"   // no thread waits: a wake would search among all parked threads
        "jne     2f\n\t"
        "movl    $202, %%eax\n\t"   // futex
        "syscall\n\t"
        "2:\n\t"
        "movq    %[released], %%rdi\n\t"
        "movl    $128, %%esi\n\t"   // FUTEX_WAIT_PRIVATE
        "xorl    %%edx, %%edx\n\t"
        "1:\n\t"
        "movl    $202, %%eax\n\t"
        "xorl    %%r10d, %%r10d\n\t"   // for as long as it takes
        "syscall\n\t"
        "cmpl    $0, (%%rdi)\n\t"
        "je      1b"
        : "+D"(announced), "+S"(operation), "+d"(value)
        : [released] "r"(released)
        : "rax", "rcx", "r10", "r11", "memory", "cc");
}

}   // namespace weft::arch
