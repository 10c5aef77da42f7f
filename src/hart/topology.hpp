// Where the harts lie in the machine.
#pragma once

#include <cstddef>

#include "os/cpuset.hpp"

namespace weft::hart {

enum class Answer { ok, no_such, unsupported, no_memory };

struct Place {
    unsigned cpu, core, package, numa;
};

Answer place(std::size_t hart, Place& found);
Answer numa_count(std::size_t& count);
Answer numa_cpus(unsigned node, os::CpuSet& cpus);

}  // namespace weft::hart
