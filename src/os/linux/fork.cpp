// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/fork.hpp"

#include <pthread.h>

#include "os/fault.hpp"

namespace weft::os {

bool at_fork(void (*child)()) { return !fault(Seam::allocate) && pthread_atfork(nullptr, nullptr, child) == 0; }

}   // namespace weft::os
