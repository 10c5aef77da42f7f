// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The seam to a memory barrier on every processor that runs a thread of this process (membarrier
// with PRIVATE_EXPEDITED). With it, a store and a later load of another thread need only
// light_fence() (base/atomic.hpp) between them.
//
// The kernel must be told first. That takes 3 to 30 us in a process with one thread, and 12 to 20
// ms in one with several, so the call that tells it is separate.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "os/single_threaded.hpp"

namespace weft::os {

// Whether process_barrier() may be called. It becomes true at most once, and stays so unless a
// filter of system calls comes later.
bool process_barrier_ready();

// Tells the kernel, unless that has been done or tried. Returns process_barrier_ready(): false also
// where the kernel refuses, or another thread is telling it. May take 20 ms: from a thread that has
// nothing else to do.
bool prepare_process_barrier();

// prepare_process_barrier() where that is cheap.
inline void prepare_process_barrier_cheaply() {
    if (single_threaded()) prepare_process_barrier();
}

// In the child of a fork, which has one thread.
void prepare_process_barrier_again();

// Afterwards all that other threads of the process stored before their last light_fence() is
// visible here, and what they load after their next one is no older than what was stored here.
// False: a filter of system calls has come, and process_barrier_ready() is false from now on.
bool process_barrier();

}   // namespace weft::os
