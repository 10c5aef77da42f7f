// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mem/valgrind.hpp"

namespace weft::mem {

unsigned valgrind_stack_register(void*, void*) { return 0; }
void valgrind_stack_deregister(unsigned) {}
void valgrind_make_usable(void*, std::size_t) {}

}   // namespace weft::mem
