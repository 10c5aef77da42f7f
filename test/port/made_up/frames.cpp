// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See context.hpp.
#include "arch/frames.hpp"

namespace weft::arch {

std::uintptr_t resume_address(const SuspendedWords& words) { __builtin_trap(); }
Registers registers_of(std::uintptr_t context, const SuspendedWords& words, bool called) { __builtin_trap(); }
std::uintptr_t plain_address(std::uintptr_t word) { __builtin_trap(); }
unsigned stack_register() { __builtin_trap(); }

}  // namespace weft::arch
