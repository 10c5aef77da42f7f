// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where harts lie in the machine, according to hwloc. The library is loaded by the first question,
// never before: loading costs 5 to 15 ms and some megabytes. topology_none.cpp replaces
// topology.cpp where the headers of hwloc were missing when Weft was built.
#pragma once

#include <cstddef>

#include "os/cpuset.hpp"

namespace weft::hart {

enum class Answer : unsigned char {
    ok,
    no_such,       // no hart or node has that number
    unsupported,   // hwloc is not installed, or does not understand the machine
    no_memory,
};

struct Position {
    unsigned cpu = 0;       // the operating system's number
    unsigned core = 0;      // logical index
    unsigned package = 0;   // logical index
    unsigned numa = 0;      // the operating system's number of the nearest node
};

// Harts are numbered from 0 in the order of the CPUs of process_cpus(). Each call may be made from
// any thread, and answers through its last argument, which it writes only when it returns ok.
Answer place(std::size_t hart, Position& found) noexcept;

// The NUMA nodes that have CPUs of this process.
Answer numa_count(std::size_t& count) noexcept;

// The CPUs of this process at one of these nodes, by the operating system's number.
Answer numa_cpus(unsigned node, os::CpuSet& cpus) noexcept;

// Releases the library and all it holds; the next question loads it again.
void topology_release() noexcept;

// In the child of a fork: a load that another thread had begun is abandoned.
void topology_forked() noexcept;

}   // namespace weft::hart
