// Valgrind is told where stacks lie, so that it knows a switch from an overflow. CMake chooses valgrind_on.cpp where its
// header is found, valgrind_off.cpp elsewhere. Outside valgrind a call costs a few nanoseconds.
#pragma once

namespace weft::mem {

unsigned valgrind_stack_register(void* low, void* high);
void valgrind_stack_deregister(unsigned id);

}  // namespace weft::mem
