// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Notifies valgrind where stacks lie, so that it can tell a switch from an overflow. CMake chooses
// valgrind_on.cpp where valgrind's header is found, valgrind_off.cpp elsewhere. Outside valgrind a
// call costs a few nanoseconds.
#pragma once

#include <cstddef>

namespace weft::mem {

unsigned valgrind_stack_register(void* low, void* high);
void valgrind_stack_deregister(unsigned id);

// The memory was a stack, and its owner may use it again: valgrind forbids accesses below a stack
// pointer.
void valgrind_make_usable(void* memory, std::size_t bytes);

}   // namespace weft::mem
