// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The context switch of x86-64, inlined: a clobber list tells the compiler that no register
// survives, so it saves what is live and nothing else (1.2 to 1.5 ns against 2.6 for a called
// switch that saves six registers, and 13.5 for one that ends in `ret`, on the machine of
// doc/decisions/0002).
//
// It leaves by an indirect jump and lands on an endbr64 of its own. Not kept: the signal mask (a
// system call), MXCSR and the x87 control word (units of a stream share them).
//
// Whatever holds a swap is compiled without a red zone (CMakeLists.txt): the swap pushes, and
// stepping over 128 unused bytes would cost two instructions each time.
//
// The function that holds a swap must be noinline, and hold neither an alloca nor a local aligned
// beyond 16: clang then needs rbx as a base pointer and ignores that it is clobbered. It must not
// be compiled for AVX-512, whose registers can be named in a clobber list only there
// (CMakeLists.txt turns it off).
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/types.hpp"
#include "arch/x86_64/frame.h"
#include "arch/x86_64/thread_pointer.hpp"

extern "C" {
[[gnu::visibility("hidden")]] void weft_context_entry();
[[gnu::visibility("hidden")]] weft::arch::Called weft_context_call(void* argument, void* top,
                                                                   weft::arch::CalledMain main, void** saved,
                                                                   std::uintptr_t kept);
[[gnu::visibility("hidden")]] void weft_context_call_light(void* argument, void* top, weft::arch::CalledMain main);
[[gnu::visibility("hidden")]] void weft_context_return_by_jump() noexcept;
}

namespace weft::arch {

struct Frame {
    void (*resume)();
    Main main;
};
static_assert(offsetof(Frame, resume) == FRAME_RESUME);
static_assert(offsetof(Frame, main) == FRAME_RBP);
static_assert(sizeof(Frame) == FRAME_SIZE);

inline constexpr std::size_t stack_alignment = 16;

// A context on the fresh stack that ends at `top` (aligned to 16): its first resumption calls main.
inline void* prepare(void* top, Main main) {
    auto* frame = reinterpret_cast<Frame*>(static_cast<char*>(top) - sizeof(Frame));
    frame->resume = weft_context_entry;
    frame->main = main;
    return frame;
}

// Leaves the running context, its stack pointer in *saved, and resumes `next` with `message`.
// Returns the message with which this context is resumed.
[[gnu::always_inline]] inline Message swap(void** saved, void* next, Message message) {
    // Never taken, and emits no instruction. It shows the optimiser a call through a pointer: gcc
    // does not expect that assembly runs other functions of the program, and its interprocedural
    // passes (ipa-reference, from -O1 on) would keep static variables in registers over a call to
    // the function that holds this.
    asm goto("" : : : : called);
    asm volatile(
        "pushq   %%rbp\n\t"   // not in the clobber list: it may be the frame pointer
        "leaq    1f(%%rip), %%rax\n\t"
        "pushq   %%rax\n\t"
        "movq    %%rsp, (%0)\n\t"
        "movq    %1, %%rsp\n\t"   // from here on the code runs on the other stack
        "popq    %%rax\n\t"
        "jmpq    *%%rax\n"
        "1:\n\t"
        "endbr64\n\t"
        "popq    %%rbp\n\t"
        : "+D,S"(saved), "+S,D"(next), "+d,d"(message.call), "+c,c"(message.argument)
        :
        : "rax", "rbx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc", "xmm0", "xmm1", "xmm2",
          "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
          "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)");
    return message;
called:
    message.call(message.argument);
    __builtin_unreachable();
}

// Resumes `next` with `message` and forgets the running context.
[[noreturn, gnu::always_inline]] inline void jump(void* next, Message message) {
    asm goto("" : : : : called);   // for the reason given in swap
    asm volatile(
        "movq    %%rsi, %%rsp\n\t"
        "popq    %%rax\n\t"
        "jmpq    *%%rax\n\t"
        :
        : "S"(next), "d"(message.call), "c"(message.argument)
        : "rax", "memory");
    __builtin_unreachable();
called:
    message.call(message.argument);
    __builtin_unreachable();
}

// Suspends the running context, its stack pointer in *saved, and calls main(argument) on the fresh
// stack that ends at `top`. The context continues when main returns, which costs a return and no
// switch, or when it is resumed as after a swap, and then makes the message's call first; main must
// not return after that. So a context that waits for what it starts pays no more than a call.
// `kept` comes back either way: a caller that keeps nothing else in registers over the call need
// not save those of its own caller, which are saved here in any case. Not to be used under
// sanitizers: they cannot follow a return from one stack to another.
[[gnu::always_inline]] inline Called call(void** saved, void* top, CalledMain main, void* argument,
                                          std::uintptr_t kept) {
    return weft_context_call(argument, top, main, saved, kept);
}

// Calls main(argument) on the fresh stack that ends at `top`. The running context is not saved: it
// continues only when main returns; if main never returns, it is lost. Not to be used under
// sanitizers either.
[[gnu::always_inline]] inline void call_light(void* top, CalledMain main, void* argument) {
    weft_context_call_light(argument, top, main);
}

// For the last step of a function: returns `answer` to that function's caller. The processor
// predicts this return by the earlier ones, not by the latest call, which is another context's
// where a switch lies in between.
template <class Answer>
[[gnu::always_inline]] inline Answer return_by_jump(Answer answer) {
    return reinterpret_cast<Answer (*)(Answer) noexcept>(weft_context_return_by_jump)(answer);
}

// The stack pointer of a suspended context: nothing below it is in use.
inline void* stack_pointer(void* context) { return context; }

}   // namespace weft::arch
