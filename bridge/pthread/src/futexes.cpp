// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Futexes, as programs and their libraries use them: through the C library's syscall(). Hosted
// units wait here, and wakers wake them first. All other operations, and all other calls, go to the
// kernel.
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>

#include <cerrno>
#include <cstdint>

#include "caller.hpp"
#include "deadline.hpp"
#include "lot.hpp"
#include "real.hpp"
#include "signals.hpp"

namespace {

using Call = long (*)(long, ...);

// Calls the kernel directly, until the C library's syscall() can be looked up: a constructor of
// another library may run before this library's.
long call_kernel(long number, long a, long b, long c, long d, long e, long f) {
    long answer;
#if defined(__x86_64__)
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(answer)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    answer = x0;
#else
#error "Weft has no port for this processor"
#endif
    if (answer >= 0 || answer < -4095) return answer;
    errno = static_cast<int>(-answer);
    return -1;
}

}   // namespace

extern "C" {

Call weft_pthread_real_syscall __attribute__((visibility("hidden"))) =
    reinterpret_cast<Call>(reinterpret_cast<void*>(call_kernel));

// `caller`: the return address of syscall().
[[gnu::visibility("hidden"), gnu::used]] long weft_pthread_futex(long number, std::uint32_t* word, long operation,
                                                                 long value, const timespec* time, std::uint32_t* other,
                                                                 long bits, const void* caller);

}   // extern "C"

// syscall(): any other call is passed on unchanged, in the caller's own frame, so that a child
// which the kernel starts on another stack needs no frame of this library.
#if defined(__x86_64__)
static_assert(SYS_futex == 202);
__asm__(R"(
    .text
    .globl syscall
    .type syscall, @function
syscall:
    .cfi_startproc
    endbr64
    cmpq $202, %rdi
    je 1f
    movq weft_pthread_real_syscall(%rip), %rax
    jmp *%rax
1:  movq (%rsp), %rax
    movq 8(%rsp), %r10
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    pushq %rax
    .cfi_adjust_cfa_offset 8
    pushq %r10
    .cfi_adjust_cfa_offset 8
    call weft_pthread_futex
    addq $24, %rsp
    .cfi_adjust_cfa_offset -24
    ret
    .cfi_endproc
    .size syscall, . - syscall
)");
#elif defined(__aarch64__)
static_assert(SYS_futex == 98);
__asm__(R"(
    .text
    .globl syscall
    .type syscall, %function
syscall:
    .cfi_startproc
    hint #34
    cmp x0, #98
    b.eq 1f
    adrp x16, weft_pthread_real_syscall
    ldr x16, [x16, :lo12:weft_pthread_real_syscall]
    br x16
1:  mov x7, x30
    b weft_pthread_futex
    .cfi_endproc
    .size syscall, . - syscall
)");
#endif

namespace weft_pthread {

namespace {

[[gnu::constructor]] void find_syscall() {
    if (void* const found = dlsym(RTLD_NEXT, "syscall")) weft_pthread_real_syscall = reinterpret_cast<Call>(found);
}

long fail(int error) {
    errno = error;
    return -1;
}

std::uint32_t value_of(const std::uint32_t* word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }

[[gnu::noinline]] long wait_parked(std::uint32_t* word, std::uint32_t expected, const timespec* time,
                                   const Deadline& deadline, std::uint32_t bits) {
    if (value_of(word) != expected) return fail(EAGAIN);
    Waiter self(word, bits);
    bool has_waited = false;
    for (PollInterval interval;; has_waited = true) {
        self.enter();
        // The value has changed: the waiter may have been woken by a caller that bypasses this
        // library.
        if (value_of(word) != expected) return has_waited ? 0 : fail(EAGAIN);
        if (deadline.over()) return fail(ETIMEDOUT);
        const Waiter::Outcome outcome = self.wait_for(deadline.next(interval.next_ns()));
        if (outcome.why == Why::waker) return 0;
        if (outcome.why == Why::signal && interrupts(outcome.signal, time == nullptr)) return fail(EINTR);
    }
}

}   // namespace

}   // namespace weft_pthread

using namespace weft_pthread;   // NOLINT: entry points

long weft_pthread_futex(long number, std::uint32_t* word, long operation, long value, const timespec* time,
                        std::uint32_t* other, long bits, const void* caller) {
    const auto to_kernel = [&](long count) {
        return weft_pthread_real_syscall(number, word, operation, count, time, other, bits);
    };
    const auto of_waiter = static_cast<std::uint32_t>(bits);
    constexpr std::uint32_t all = FUTEX_BITSET_MATCH_ANY;
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET: {
        const bool plain = (operation & FUTEX_CMD_MASK) == FUTEX_WAIT;
        if (!may_switch() || is_weft(caller) || word == nullptr ||
            reinterpret_cast<std::uintptr_t>(word) % sizeof *word != 0)
            return to_kernel(value);
        if ((!plain && of_waiter == 0) || (time != nullptr && (time->tv_sec < 0 || !is_valid(*time))))
            return fail(EINVAL);
        const clockid_t clock = (operation & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
        const Deadline deadline = time == nullptr ? Deadline()
                                  : plain         ? Deadline(ns_of(*time))
                                                  : Deadline(clock, *time);
        return wait_parked(word, static_cast<std::uint32_t>(value), time, deadline, plain ? all : of_waiter);
    }
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET: {
        const auto most = static_cast<int>(value);
        if (most <= 0) return to_kernel(value);
        // seq_cst: pairs with the fence in Waiter::enter; the word may have been changed by a plain
        // store
        std::atomic_thread_fence(std::memory_order_seq_cst);
        const bool plain = (operation & FUTEX_CMD_MASK) == FUTEX_WAKE;
        const unsigned woken =
            Lot::any(word) ? Lot::wake(word, static_cast<unsigned>(most), plain ? all : of_waiter).count : 0;
        if (woken == static_cast<unsigned>(most)) return most;
        const long more = to_kernel(most - static_cast<int>(woken));
        return more < 0 ? (woken != 0 ? static_cast<long>(woken) : more) : more + woken;
    }
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
    case FUTEX_WAKE_OP:
        // Waiters are neither moved nor selected here: all check again.
        std::atomic_thread_fence(std::memory_order_seq_cst);   // pairs with the fence in Waiter::enter
        if (Lot::any(word)) Lot::wake(word, ~0u);
        if ((operation & FUTEX_CMD_MASK) == FUTEX_WAKE_OP && Lot::any(other)) Lot::wake(other, ~0u);
        return to_kernel(value);
    default: return to_kernel(value);
    }
}
