// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Neighbours: where other processes compute on the same processors and harts wait for each other
// again and again, some harts are withheld for a while. hart/neighbours.hpp decides; this file
// observes and acts. src/hart/README.md, "Neighbours", has the rules, doc/decisions/0036 the
// reasons.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"
#include "hart/neighbours.hpp"
#include "os/futex.hpp"
#include "os/lock.hpp"

namespace weft {

struct Process;

struct Neighbourhood {
    atomic<std::uint64_t> due_ns{0};              // a waiter does not check before
    atomic<std::uint64_t> look_ns{os::forever};   // when the reactor is to check; forever: none are withheld
    atomic<std::size_t> withheld{0};              // for reports
    atomic<std::uint64_t> withholdings{0};

    os::Lock lock;   // guards what follows; taken before the runtime's and the base's
    hart::Neighbours judged;
    std::uint64_t round = 0;                   // the number of the latest check of the OS threads
    std::uint64_t idle_ns = 0, switches = 0;   // at the latest check
};

// The caller has a hart, and has waited for another hart for longer than usual.
void wait_is_overdue(Process& of);

// The reactor's part; returns when it is to be called again.
std::uint64_t look_at_neighbours(Process& of, std::uint64_t now_ns);

}   // namespace weft
