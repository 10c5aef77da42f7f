// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <valgrind/memcheck.h>
#include <valgrind/valgrind.h>

#include "mem/valgrind.hpp"

namespace weft::mem {

unsigned valgrind_stack_register(void* low, void* high) {
    return static_cast<unsigned>(VALGRIND_STACK_REGISTER(low, high));
}
void valgrind_stack_deregister(unsigned id) { VALGRIND_STACK_DEREGISTER(id); }

void valgrind_make_usable(void* memory, std::size_t bytes) {
    // The macro's result is not needed.
    static_cast<void>(VALGRIND_MAKE_MEM_UNDEFINED(memory, bytes));
}

}   // namespace weft::mem
