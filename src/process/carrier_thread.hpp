// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The OS thread of a stream, its carrier. carrier/streams.cpp owns it.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "context/host.hpp"
#include "mem/overflow.hpp"
#include "mem/stack.hpp"
#include "os/cpuset.hpp"
#include "os/thread.hpp"

namespace weft {

struct CarrierThread {
    // its own: of the primary unit, or where the carrier waits for the scheduler to end
    mem::Stack stack{};
    void* context = nullptr;   // where it continues then; stream 0 has none
    context::Carrier own;      // the OS thread's own state, while hosted units run
    mem::AlternateStack signal_stack;
    atomic<std::uint32_t> thread_id{0};   // 0: not started. Other threads read it
    bool starts_late = false;             // started with the first need for it (start_when_needed)
    os::Thread thread;
    os::CpuSet binding;   // guarded by the runtime's lock; empty: not bound
};

}   // namespace weft
