// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an unwinder needs to know about the processor: the registers by their numbers in unwind
// information, and which of them a suspended context keeps on its stack (frame.h, switch.S).
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::arch {

// The registers of one frame. Those that were not saved are not known.
struct Registers {
    static constexpr unsigned most = 32;

    std::uintptr_t values[most] = {};
    std::uint32_t known = 0;
    std::uintptr_t pc = 0;

    bool has(unsigned which) const { return which < most && (known >> which & 1) != 0; }
    void set(unsigned which, std::uintptr_t value) {
        values[which] = value;
        known |= 1u << which;
    }
};

// The lowest words of a suspended stack: as many as the larger of the two ways to leave a stack
// saves.
inline constexpr std::size_t suspended_words = 24;
using SuspendedWords = std::uintptr_t[suspended_words];

// Where the context continues.
std::uintptr_t resume_address(const SuspendedWords& words);

// The registers of the function that holds the switch; with `called`, for a context that
// weft_context_call left, those of its caller.
Registers registers_of(std::uintptr_t context, const SuspendedWords& words, bool called);

// A return address without a signature.
std::uintptr_t plain_address(std::uintptr_t word);

unsigned stack_register();

}   // namespace weft::arch
