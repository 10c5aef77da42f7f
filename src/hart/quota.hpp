// How many harts the process may use: its CPU set, and the CPU quota of its cgroups.
#pragma once

#include <cstddef>

namespace weft::hart {

// min(CPUs in the affinity mask, quota), at least 1. Read anew at most once a second.
std::size_t limit();

}  // namespace weft::hart
