// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The registers that a called function must keep (System V) are unchanged after a switch, whatever
// the other context did to them; and every switch lands where IBT allows it.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "arch/testing.hpp"

struct KeptRegisters {
    std::uint64_t rbx, rbp, r12, r13, r14, r15;
    bool operator==(const KeptRegisters&) const = default;
};

extern "C" {
// Loads `in`, calls call(argument), stores the registers' values then to `out`.
void weft_test_with_registers(void (*call)(void*), void* argument, const KeptRegisters* in, KeptRegisters* out);
extern const unsigned char weft_test_landing_pad[4];
}

asm(R"(
        .text
        .type   weft_test_with_registers, @function
weft_test_with_registers:
        endbr64
        pushq   %rbx
        pushq   %rbp
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        pushq   %rcx
        movq    %rdi, %rax
        movq    %rsi, %rdi
        movq    (%rdx), %rbx
        movq    8(%rdx), %rbp
        movq    16(%rdx), %r12
        movq    24(%rdx), %r13
        movq    32(%rdx), %r14
        movq    40(%rdx), %r15
        call    *%rax
        popq    %rcx
        movq    %rbx, (%rcx)
        movq    %rbp, 8(%rcx)
        movq    %r12, 16(%rcx)
        movq    %r13, 24(%rcx)
        movq    %r14, 32(%rcx)
        movq    %r15, 40(%rcx)
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbp
        popq    %rbx
        ret
        .size   weft_test_with_registers, . - weft_test_with_registers
        .section .rodata
weft_test_landing_pad:
        endbr64
        .text
)");

namespace weft::arch {
namespace {

using testing::Coroutine;
using testing::ReturnPoint;

TEST(Registers, WhatACalledFunctionMustKeepSurvivesASwitch) {
    const KeptRegisters mine = {0x1111, 0x2222, 0x3333, 0x4444, 0x5555, 0x6666};
    const KeptRegisters theirs = {~0x1u, ~0x2u, ~0x3u, ~0x4u, ~0x5u, ~0x6u};
    KeptRegisters seen_by_them[2] = {};
    Coroutine other([&](Coroutine& self, Message) {
        for (KeptRegisters& seen : seen_by_them) {
            weft_test_with_registers([](void* raw) { static_cast<Coroutine*>(raw)->leave(); }, &self, &theirs, &seen);
        }
    });
    struct Both {
        ReturnPoint home = testing::this_thread();
        Coroutine& other;
    } both{.other = other};
    while (!other.done()) {
        KeptRegisters seen = {};
        weft_test_with_registers(
            [](void* raw) {
                auto& pair = *static_cast<Both*>(raw);
                pair.other.resume(pair.home);
            },
            &both, &mine, &seen);
        EXPECT_EQ(seen, mine);
    }
    EXPECT_EQ(seen_by_them[0], theirs);
    EXPECT_EQ(seen_by_them[1], theirs);
}

// A context that arch::call starts either returns to its caller or leaves, and the caller is
// resumed by a switch.
TEST(Registers, WhatACalledFunctionMustKeepSurvivesACallOnAnotherStackHoweverItEnds) {
    if constexpr (config::address_sanitizer || config::thread_sanitizer)
        GTEST_SKIP() << "not used under this sanitizer";
    const KeptRegisters mine = {0x1111, 0x2222, 0x3333, 0x4444, 0x5555, 0x6666};
    static constexpr KeptRegisters theirs = {~0x1u, ~0x2u, ~0x3u, ~0x4u, ~0x5u, ~0x6u};
    struct Call {
        void* caller = nullptr;
        void* called = nullptr;
        bool leaves = false;
        alignas(16) char stack[64 * 1024];
        void* top() { return stack + sizeof stack; }
    };
    static Call job;
    for (const bool leaves : {false, true, false}) {
        job.leaves = leaves;
        KeptRegisters seen = {};
        weft_test_with_registers(
            [](void*) {
                call(
                    &job.caller, job.top(),
                    [](void*) {
                        KeptRegisters unused;
                        auto end = [](void*) {
                            if (job.leaves) swap(&job.called, job.caller, {});
                        };
                        weft_test_with_registers(end, nullptr, &theirs, &unused);
                        return std::uintptr_t{1};
                    },
                    nullptr, 0);
            },
            nullptr, &mine, &seen);
        EXPECT_EQ(seen, mine) << (leaves ? "resumed" : "returned");
    }
}

// ---- registers that a called function need not keep ---------------------------------------------

// Overwrites each of them.
[[gnu::always_inline]] inline void trash_registers() {
    asm volatile(
        "pcmpeqd %%xmm0, %%xmm0\n\t"
        "pcmpeqd %%xmm1, %%xmm1\n\t"
        "pcmpeqd %%xmm2, %%xmm2\n\t"
        "pcmpeqd %%xmm3, %%xmm3\n\t"
        "pcmpeqd %%xmm4, %%xmm4\n\t"
        "pcmpeqd %%xmm5, %%xmm5\n\t"
        "pcmpeqd %%xmm6, %%xmm6\n\t"
        "pcmpeqd %%xmm7, %%xmm7\n\t"
        "pcmpeqd %%xmm8, %%xmm8\n\t"
        "pcmpeqd %%xmm9, %%xmm9\n\t"
        "pcmpeqd %%xmm10, %%xmm10\n\t"
        "pcmpeqd %%xmm11, %%xmm11\n\t"
        "pcmpeqd %%xmm12, %%xmm12\n\t"
        "pcmpeqd %%xmm13, %%xmm13\n\t"
        "pcmpeqd %%xmm14, %%xmm14\n\t"
        "pcmpeqd %%xmm15, %%xmm15\n\t"
        "movq $-1, %%rax\n\t"
        "movq $-1, %%r8\n\t"
        "movq $-1, %%r9\n\t"
        "movq $-1, %%r10\n\t"
        "movq $-1, %%r11\n\t"
        :
        :
        : "rax", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
          "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

void trashing_body(Coroutine& self, ReturnPoint& home) {
    for (;;) {
        testing::leaving(self.place(), home);
        trash_registers();
        swap(&self.place().saved, home.saved, {});
        testing::arrived(self.place());
    }
}

// More live numbers than there are registers of either kind: the compiler keeps them wherever it
// assumes that they survive.
[[gnu::noinline]] int lost_over_a_switch(ReturnPoint& from, ReturnPoint& to, const volatile std::uint64_t* whole,
                                         const volatile double* real) {
    std::uint64_t w[16];
    double r[32];
#pragma GCC unroll 32
    for (int i = 0; i < 16; ++i) w[i] = whole[i];
#pragma GCC unroll 32
    for (int i = 0; i < 32; ++i) r[i] = real[i];
    testing::leaving(from, to);
    swap(&from.saved, to.saved, {});
    testing::arrived(from);
    int lost = 0;
#pragma GCC unroll 32
    for (int i = 0; i < 16; ++i) lost += w[i] != whole[i];
#pragma GCC unroll 32
    for (int i = 0; i < 32; ++i) lost += r[i] != real[i];
    return lost;
}

TEST(Registers, WhatTheCompilerKeepsInTheOthersSurvivesASwitchToo) {
    ReturnPoint home = testing::this_thread();
    Coroutine coroutine([&](Coroutine& self, Message) { trashing_body(self, home); });
    std::uint64_t whole[16];
    double real[32];
    for (int i = 0; i < 16; ++i) whole[i] = 1000u + static_cast<unsigned>(i);
    for (int i = 0; i < 32; ++i) real[i] = 0.5 + i;
    coroutine.resume(home);
    EXPECT_EQ(lost_over_a_switch(home, coroutine.place(), whole, real), 0);
    EXPECT_EQ(lost_over_a_switch(home, coroutine.place(), whole, real), 0);
}

bool lands(void* context) {
    const auto* frame = static_cast<const Frame*>(context);
    return std::memcmp(reinterpret_cast<const void*>(frame->resume), weft_test_landing_pad, 4) == 0;
}

TEST(Landing, AFreshAndASuspendedContextResumeAtAnEndbr64) {
    ReturnPoint home = testing::this_thread();
    bool home_lands = false;
    Coroutine coroutine([&](Coroutine& self, Message) {
        home_lands = lands(home.saved);
        self.leave();
    });
    EXPECT_TRUE(lands(coroutine.place().saved));
    coroutine.resume(home);
    EXPECT_TRUE(lands(coroutine.place().saved));
    EXPECT_TRUE(home_lands);
    coroutine.resume(home);
    EXPECT_TRUE(coroutine.done());
}

}   // namespace
}   // namespace weft::arch
