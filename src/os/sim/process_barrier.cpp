// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/process_barrier.hpp"

#include "os/fault.hpp"
#include "os/sim/machine.hpp"

namespace weft::os {
namespace {

// One virtual hart runs at a time: plain words.
bool tried = false, ready = false;

}   // namespace

bool process_barrier_ready() { return ready; }

bool prepare_process_barrier() {
    if (tried) return ready;
    tried = true;
    sim::system_call("membarrier-register");
    ready = !sim::seam_fails() && !fault(Seam::process_barrier);
    return ready;
}

void prepare_process_barrier_again() {}

bool process_barrier() {
    sim::system_call("membarrier");
    sim::empty_all_buffers();
    return true;
}

}   // namespace weft::os
