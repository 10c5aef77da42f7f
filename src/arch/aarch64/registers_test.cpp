// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The registers that a called function must keep (AAPCS64) are unchanged after a switch, whatever
// the other context did to them; every switch lands where BTI allows it, and resumes only addresses
// that were signed for its place.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "arch/testing.hpp"

struct KeptRegisters {
    std::uint64_t x19_to_x29[11];
    double d8_to_d15[8];
    bool operator==(const KeptRegisters&) const = default;
};
static_assert(sizeof(KeptRegisters) == 152);

extern "C" {
// Loads `in`, calls call(argument), stores the registers' values then to `out`.
void weft_test_with_registers(void (*call)(void*), void* argument, const KeptRegisters* in, KeptRegisters* out);
void weft_test_bad_landing();
extern char __executable_start, etext;
}

asm(R"(
        .text
        .type   weft_test_with_registers, %function
weft_test_with_registers:
        paciasp
        stp     x29, x30, [sp, #-192]!
        stp     x19, x20, [sp, #16]
        stp     x21, x22, [sp, #32]
        stp     x23, x24, [sp, #48]
        stp     x25, x26, [sp, #64]
        stp     x27, x28, [sp, #80]
        stp     d8, d9, [sp, #96]
        stp     d10, d11, [sp, #112]
        stp     d12, d13, [sp, #128]
        stp     d14, d15, [sp, #144]
        str     x3, [sp, #160]
        mov     x9, x0
        mov     x0, x1
        ldp     x19, x20, [x2, #0]
        ldp     x21, x22, [x2, #16]
        ldp     x23, x24, [x2, #32]
        ldp     x25, x26, [x2, #48]
        ldp     x27, x28, [x2, #64]
        ldr     x29, [x2, #80]
        ldp     d8, d9, [x2, #88]
        ldp     d10, d11, [x2, #104]
        ldp     d12, d13, [x2, #120]
        ldp     d14, d15, [x2, #136]
        blr     x9
        ldr     x3, [sp, #160]
        stp     x19, x20, [x3, #0]
        stp     x21, x22, [x3, #16]
        stp     x23, x24, [x3, #32]
        stp     x25, x26, [x3, #48]
        stp     x27, x28, [x3, #64]
        str     x29, [x3, #80]
        stp     d8, d9, [x3, #88]
        stp     d10, d11, [x3, #104]
        stp     d12, d13, [x3, #120]
        stp     d14, d15, [x3, #136]
        ldp     x19, x20, [sp, #16]
        ldp     x21, x22, [sp, #32]
        ldp     x23, x24, [sp, #48]
        ldp     x25, x26, [sp, #64]
        ldp     x27, x28, [sp, #80]
        ldp     d8, d9, [sp, #96]
        ldp     d10, d11, [sp, #112]
        ldp     d12, d13, [sp, #128]
        ldp     d14, d15, [sp, #144]
        ldp     x29, x30, [sp], #192
        autiasp
        ret
        .size   weft_test_with_registers, . - weft_test_with_registers

        .type   weft_test_bad_landing, %function
weft_test_bad_landing:                  // no landing pad: a jump to here must fault on a guarded page
        nop
        ret
        .size   weft_test_bad_landing, . - weft_test_bad_landing
)");

namespace weft::arch {
namespace {

using testing::Coroutine;
using testing::ReturnPoint;

constexpr unsigned long hwcap_paca = 1ul << 30;
constexpr unsigned long hwcap2_bti = 1ul << 17;
constexpr int prot_bti = 0x10;   // not in Debian 12's headers

// Two contents that have nothing in common.
void fill(KeptRegisters& mine, KeptRegisters& theirs) {
    for (int i = 0; i < 11; ++i) {
        mine.x19_to_x29[i] = 0x1111u * static_cast<unsigned>(i + 1);
        theirs.x19_to_x29[i] = ~mine.x19_to_x29[i];
    }
    for (int i = 0; i < 8; ++i) {
        mine.d8_to_d15[i] = 1.5 * i + 1;
        theirs.d8_to_d15[i] = -mine.d8_to_d15[i];
    }
}

TEST(Registers, WhatACalledFunctionMustKeepSurvivesASwitch) {
    KeptRegisters mine = {}, theirs = {};
    fill(mine, theirs);
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
    KeptRegisters mine = {};
    static KeptRegisters theirs = {};
    fill(mine, theirs);
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
        "fmov d0, xzr\n\t"
        "fmov d1, xzr\n\t"
        "fmov d2, xzr\n\t"
        "fmov d3, xzr\n\t"
        "fmov d4, xzr\n\t"
        "fmov d5, xzr\n\t"
        "fmov d6, xzr\n\t"
        "fmov d7, xzr\n\t"
        "fmov d8, xzr\n\t"
        "fmov d9, xzr\n\t"
        "fmov d10, xzr\n\t"
        "fmov d11, xzr\n\t"
        "fmov d12, xzr\n\t"
        "fmov d13, xzr\n\t"
        "fmov d14, xzr\n\t"
        "fmov d15, xzr\n\t"
        "fmov d16, xzr\n\t"
        "fmov d17, xzr\n\t"
        "fmov d18, xzr\n\t"
        "fmov d19, xzr\n\t"
        "fmov d20, xzr\n\t"
        "fmov d21, xzr\n\t"
        "fmov d22, xzr\n\t"
        "fmov d23, xzr\n\t"
        "fmov d24, xzr\n\t"
        "fmov d25, xzr\n\t"
        "fmov d26, xzr\n\t"
        "fmov d27, xzr\n\t"
        "fmov d28, xzr\n\t"
        "fmov d29, xzr\n\t"
        "fmov d30, xzr\n\t"
        "fmov d31, xzr\n\t"
        "mov x4, #-1\n\t"
        "mov x5, #-1\n\t"
        "mov x6, #-1\n\t"
        "mov x7, #-1\n\t"
        "mov x8, #-1\n\t"
        "mov x9, #-1\n\t"
        "mov x10, #-1\n\t"
        "mov x11, #-1\n\t"
        "mov x12, #-1\n\t"
        "mov x13, #-1\n\t"
        "mov x14, #-1\n\t"
        "mov x15, #-1\n\t"
        "mov x16, #-1\n\t"
        "mov x17, #-1\n\t"
        "mov x18, #-1\n\t"
        :
        :
        : "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "v0", "v1",
          "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18",
          "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
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

// ---- landing ------------------------------------------------------------------------------------

// `address` without its signature (xpaclri, a hint).
void* stripped(void* address) {
    register void* x30 asm("x30") = address;
    asm("hint #7" : "+r"(x30));
    return x30;
}

bool lands(void* context) {
    std::uint32_t instruction;
    std::memcpy(&instruction, stripped(static_cast<const Frame*>(context)->resume), sizeof(instruction));
    return instruction == 0xd503249f;   // bti j
}

TEST(Landing, AFreshAndASuspendedContextResumeAtABti) {
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

TEST(Landing, TheResumeAddressIsSignedWhereTheProcessorAuthenticates) {
    if ((getauxval(AT_HWCAP) & hwcap_paca) == 0) GTEST_SKIP() << "this processor does not authenticate pointers";
    // A signature may be zero by chance, so several are checked; with 7 bits or more, eight zeros
    // mean that there is no signature.
    int fresh_signed = 0, suspended_signed = 0;
    ReturnPoint home = testing::this_thread();
    for (int i = 0; i < 8; ++i) {
        Coroutine coroutine([](Coroutine& self, Message) { self.leave(); }, 65536u + 4096u * static_cast<unsigned>(i));
        auto resume = [&] { return static_cast<Frame*>(coroutine.place().saved)->resume; };
        fresh_signed += resume() != stripped(resume());
        coroutine.resume(home);
        suspended_signed += resume() != stripped(resume());
        coroutine.resume(home);
    }
    EXPECT_GT(fresh_signed, 0);
    EXPECT_GT(suspended_signed, 0);
}

// From now on a jump into this program's text must land on a landing pad.
void guard_text() {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto start = reinterpret_cast<std::uintptr_t>(&__executable_start) / page * page;
    const auto end = (reinterpret_cast<std::uintptr_t>(&etext) + page - 1) / page * page;
    if (mprotect(reinterpret_cast<void*>(start), end - start, PROT_READ | PROT_EXEC | prot_bti) != 0) _exit(9);
}

void switch_back_and_forth() {
    ReturnPoint home = testing::this_thread();
    int rounds = 0;
    Coroutine coroutine([&](Coroutine& self, Message) {
        while (++rounds < 1000) self.leave();
    });
    while (!coroutine.done()) coroutine.resume(home);
    if (rounds != 1000) _exit(8);
}

TEST(LandingDeathTest, SwitchesWorkOnGuardedPagesAndABadJumpFaults) {
    if ((getauxval(AT_HWCAP2) & hwcap2_bti) == 0) GTEST_SKIP() << "this processor has no branch target identification";
    GTEST_FLAG_SET(death_test_style, "fast");   // no other thread runs; an emulated program cannot start itself again
    EXPECT_EXIT(
        {
            guard_text();
            switch_back_and_forth();
            _exit(0);
        },
        ::testing::ExitedWithCode(0), "");
    EXPECT_EXIT(
        {
            guard_text();
            asm volatile("br %0" : : "r"(weft_test_bad_landing) : "memory");
            _exit(0);
        },
        ::testing::KilledBySignal(SIGILL), "");
}

// Two contexts that are suspended at the same place of the code differ only in the signature.
void resume_with_the_signature_of_another() {
    ReturnPoint home = testing::this_thread();
    auto body = [](Coroutine& self, Message) { self.leave(); };
    Coroutine victim(body);
    victim.resume(home);
    auto& resume = static_cast<Frame*>(victim.place().saved)->resume;
    for (int i = 0; i < 20; ++i) {
        Coroutine other(body, 65536u + 4096u * static_cast<unsigned>(i));
        other.resume(home);
        void* const theirs = static_cast<Frame*>(other.place().saved)->resume;
        if (theirs == resume) continue;   // the signatures are equal by chance
        resume = theirs;
        victim.resume(home);
    }
}

TEST(LandingDeathTest, AnAddressSignedForAnotherStackDoesNotResume) {
    if ((getauxval(AT_HWCAP) & hwcap_paca) == 0) GTEST_SKIP() << "this processor does not authenticate pointers";
    GTEST_FLAG_SET(death_test_style, "fast");
    EXPECT_EXIT(
        {
            resume_with_the_signature_of_another();
            _exit(0);
        },
        [](int status) { return WIFSIGNALED(status); }, "");
}

}   // namespace
}   // namespace weft::arch
