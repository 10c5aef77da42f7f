// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/local.hpp"

#include <cxxabi.h>
#include <cerrno>

namespace weft::os {

ExceptionGlobals* exception_globals() { return reinterpret_cast<ExceptionGlobals*>(abi::__cxa_get_globals()); }

int* errno_address() { return &errno; }

void* thread_identity() { return &errno; }

}   // namespace weft::os
