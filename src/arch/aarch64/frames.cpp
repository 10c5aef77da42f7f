// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arch/frames.hpp"

#include "arch/aarch64/frame.h"

namespace weft::arch {
namespace {

constexpr unsigned x19 = 19, x29 = 29, sp = 31;                          // DWARF for the Arm 64-bit Architecture, 4.1
constexpr std::uintptr_t address_bits = (std::uintptr_t{1} << 48) - 1;   // Linux gives larger addresses only on request

}   // namespace

std::uintptr_t plain_address(std::uintptr_t word) { return word & address_bits; }

std::uintptr_t resume_address(const SuspendedWords& words) { return plain_address(words[FRAME_X30 / 8]); }

Registers registers_of(std::uintptr_t context, const SuspendedWords& words, bool called) {
    Registers found;
    found.set(x29, words[FRAME_X29 / 8]);
    if (!called) {
        found.pc = resume_address(words);
        found.set(sp, context + FRAME_SIZE);
        return found;
    }
    // what weft_context_call pushed: x29, x30, x19 to x28, d8 to d15, and a word for the caller
    const std::uintptr_t* kept = words + FRAME_SIZE / 8;
    found.set(x29, kept[0]);
    found.pc = plain_address(kept[1]);
    for (unsigned i = 0; i < 10; ++i) found.set(x19 + i, kept[2 + i]);
    found.set(sp, context + FRAME_SIZE + 176);
    return found;
}

unsigned stack_register() { return sp; }

}   // namespace weft::arch
