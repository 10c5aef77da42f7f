#include <valgrind/valgrind.h>

#include "mem/valgrind.hpp"

namespace weft::mem {

unsigned valgrind_stack_register(void* low, void* high) { return static_cast<unsigned>(VALGRIND_STACK_REGISTER(low, high)); }
void valgrind_stack_deregister(unsigned id) { VALGRIND_STACK_DEREGISTER(id); }

}  // namespace weft::mem
