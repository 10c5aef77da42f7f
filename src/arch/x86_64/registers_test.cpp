// The registers that a called function must keep (System V) come back from a switch as they were, whatever
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
// Loads `in`, calls call(argument), stores what the registers hold then to `out`.
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
using testing::Place;

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
        Place home = testing::this_thread();
        Coroutine& other;
    } both{.other = other};
    while (!other.done()) {
        KeptRegisters seen = {};
        weft_test_with_registers([](void* raw) {
            auto& pair = *static_cast<Both*>(raw);
            pair.other.resume(pair.home);
        }, &both, &mine, &seen);
        EXPECT_EQ(seen, mine);
    }
    EXPECT_EQ(seen_by_them[0], theirs);
    EXPECT_EQ(seen_by_them[1], theirs);
}

bool lands(void* context) {
    const auto* frame = static_cast<const Frame*>(context);
    return std::memcmp(reinterpret_cast<const void*>(frame->resume), weft_test_landing_pad, 4) == 0;
}

TEST(Landing, AFreshAndASuspendedContextResumeAtAnEndbr64) {
    Place home = testing::this_thread();
    Coroutine coroutine([](Coroutine& self, Message) { self.leave(); });
    EXPECT_TRUE(lands(coroutine.place().saved));
    coroutine.resume(home);
    EXPECT_TRUE(lands(coroutine.place().saved));
    EXPECT_TRUE(lands(home.saved));
    coroutine.resume(home);
}

}  // namespace
}  // namespace weft::arch
