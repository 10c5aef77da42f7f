// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arch/frames.hpp"

#include "arch/x86_64/frame.h"

namespace weft::arch {
namespace {

constexpr unsigned rbx = 3, rbp = 6, rsp = 7, r12 = 12;   // System V ABI, figure 3.36: DWARF register number mapping

}   // namespace

std::uintptr_t resume_address(const SuspendedWords& words) { return words[FRAME_RESUME / 8]; }

Registers registers_of(std::uintptr_t context, const SuspendedWords& words, bool called) {
    Registers found;
    found.set(rbp, words[FRAME_RBP / 8]);
    if (!called) {
        found.pc = resume_address(words);
        found.set(rsp, context + FRAME_SIZE);
        return found;
    }
    found.set(rbx, words[2]);
    for (unsigned i = 0; i < 4; ++i) found.set(r12 + i, words[3 + i]);
    found.pc = words[8];   // words[7] is for the caller
    found.set(rsp, context + 72);
    return found;
}

std::uintptr_t plain_address(std::uintptr_t word) { return word; }

unsigned stack_register() { return rsp; }

}   // namespace weft::arch
