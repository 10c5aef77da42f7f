// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The context switch of AArch64, inlined: see x86_64/context.hpp for why. It leaves by `br` and
// lands on a `bti j` of its own. The address to resume at is signed with the stack pointer, by hint
// instructions that older processors ignore, so an overwritten frame does not resume. Not kept: the
// signal mask, FPCR (units of a stream share it). x18 is an ordinary register on Linux; where it
// holds a shadow call stack (-ffixed-x18) this port does not work.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/aarch64/frame.h"
#include "arch/aarch64/thread_pointer.hpp"
#include "arch/types.hpp"

extern "C" {
[[gnu::visibility("hidden")]] void weft_context_entry();
[[gnu::visibility("hidden")]] weft::arch::Called weft_context_call(void* argument, void* top,
                                                                   weft::arch::CalledMain main, void** saved,
                                                                   std::uintptr_t kept);
[[gnu::visibility("hidden")]] void weft_context_call_light(void* argument, void* top, weft::arch::CalledMain main);
}

namespace weft::arch {

struct Frame {
    Main main;
    void* resume;
};
static_assert(offsetof(Frame, main) == FRAME_X29);
static_assert(offsetof(Frame, resume) == FRAME_X30);
static_assert(sizeof(Frame) == FRAME_SIZE);

inline constexpr std::size_t stack_alignment = 16;

// A context on the fresh stack that ends at `top` (aligned to 16): its first resumption calls main.
inline void* prepare(void* top, Main main) {
    register void* resume asm("x17") = reinterpret_cast<void*>(weft_context_entry);
    register void* modifier asm("x16") = top;
    asm("hint #8" : "+r"(resume) : "r"(modifier));   // pacia1716: with the stack pointer, as swap signs
    auto* frame = reinterpret_cast<Frame*>(static_cast<char*>(top) - sizeof(Frame));
    frame->main = main;
    frame->resume = resume;
    return frame;
}

// See x86_64/context.hpp.
[[gnu::always_inline]] inline Message swap(void** saved, void* next, Message message) {
    // Never taken, and emits no instruction. It shows the optimiser a call through a pointer: gcc
    // does not expect that assembly runs other functions of the program, and its interprocedural
    // passes (ipa-reference, from -O1 on) would keep static variables in registers over a call to
    // the function that holds this.
    asm goto("" : : : : called);
    {
        // Read first: a sanitizer's call in between would clobber the registers named below.
        void (*const call)(void*) = message.call;
        void* const argument = message.argument;
        register void** x0 asm("x0") = saved;
        register void* x1 asm("x1") = next;
        register void (*x2)(void*) asm("x2") = call;
        register void* x3 asm("x3") = argument;
        asm volatile(
            "adr     x30, 1f\n\t"
            "hint    #25\n\t"   // paciasp
            "stp     x29, x30, [sp, #-16]!\n\t"
            "mov     x9, sp\n\t"
            "str     x9, [x0]\n\t"
            "mov     sp, x1\n\t"   // from here on the code runs on the other stack
            "ldp     x29, x30, [sp], #16\n\t"
            "hint    #29\n\t"   // autiasp
            "br      x30\n"
            "1:\n\t"
            "hint    #36\n\t"   // bti j
            : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)
            :
            : "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19",
              "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "memory", "cc", "v0", "v1", "v2",
              "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18",
              "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "p0", "p1",
              "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13", "p14", "p15");
        return {x2, x3};
    }
called:
    message.call(message.argument);
    __builtin_unreachable();
}

// Resumes `next` with `message` and forgets the running context.
[[noreturn, gnu::always_inline]] inline void jump(void* next, Message message) {
    asm goto("" : : : : called);   // for the reason given in swap
    {
        void (*const call)(void*) = message.call;
        void* const argument = message.argument;
        register void* x1 asm("x1") = next;
        register void (*x2)(void*) asm("x2") = call;
        register void* x3 asm("x3") = argument;
        asm volatile(
            "mov     sp, x1\n\t"
            "ldp     x29, x30, [sp], #16\n\t"
            "hint    #29\n\t"   // autiasp
            "br      x30\n\t"
            :
            : "r"(x1), "r"(x2), "r"(x3)
            : "x30", "memory");
        __builtin_unreachable();
    }
called:
    message.call(message.argument);
    __builtin_unreachable();
}

// See x86_64/context.hpp.
[[gnu::always_inline]] inline Called call(void** saved, void* top, CalledMain main, void* argument,
                                          std::uintptr_t kept) {
    return weft_context_call(argument, top, main, saved, kept);
}

// See x86_64/context.hpp.
[[gnu::always_inline]] inline void call_light(void* top, CalledMain main, void* argument) {
    weft_context_call_light(argument, top, main);
}

// See x86_64/context.hpp. Here it is a return like any other: a jump would need a landing pad
// (BTI).
template <class Answer>
[[gnu::always_inline]] inline Answer return_by_jump(Answer answer) {
    return answer;
}

// The stack pointer of a suspended context: nothing below it is in use.
inline void* stack_pointer(void* context) { return context; }

}   // namespace weft::arch
