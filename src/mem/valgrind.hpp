// Valgrind is told where stacks lie, so that it knows a switch from an overflow. CMake chooses
// valgrind_on.cpp where its header is found, valgrind_off.cpp elsewhere. Outside valgrind a call
// costs a few nanoseconds.
#pragma once

#include <cstddef>

namespace weft::mem {

unsigned valgrind_stack_register(void* low, void* high);
void valgrind_stack_deregister(unsigned id);

// The memory was a stack, and is its owner's to use again: below a stack pointer nothing may be.
void valgrind_make_usable(void* memory, std::size_t bytes);

}   // namespace weft::mem
