// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/local.hpp"

#include <cxxabi.h>
#include <cerrno>

#include "os/sim/machine.hpp"

namespace weft::os {

// All virtual harts use the OS thread's: the content changes with the running hart.
ExceptionGlobals* exception_globals() { return reinterpret_cast<ExceptionGlobals*>(abi::__cxa_get_globals()); }

int* errno_address() { return &errno; }

void* thread_identity() { return sim::hart_identity(); }

}   // namespace weft::os
