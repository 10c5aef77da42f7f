// Neighbours: where other processes compute on our processors and harts wait for each other again
// and again, some harts are withheld for a while. What is decided is in hart/neighbours.hpp; here
// it is looked, and done. src/hart/README.md, "Neighbours", has the rules, doc/decisions/0036 the
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
    atomic<std::uint64_t> due_ns{0};              // who waits does not look before
    atomic<std::uint64_t> look_ns{os::forever};   // when the reactor is to; forever: none are withheld
    atomic<std::size_t> withheld{0};              // as is told
    atomic<std::uint64_t> withholdings{0};

    os::Lock lock;   // guards what follows; before the runtime's and the base's
    hart::Neighbours judged;
    std::uint64_t round = 0;                   // the number of the latest look at the OS threads
    std::uint64_t idle_ns = 0, switches = 0;   // at that one
};

// The caller has a hart, and has waited for another one for longer than usual.
void wait_is_overdue(Process& of);

// What the reactor does; returns when it is to do so again.
std::uint64_t look_at_neighbours(Process& of, std::uint64_t now_ns);

}   // namespace weft
