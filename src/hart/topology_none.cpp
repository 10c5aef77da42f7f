// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A build without the headers of hwloc: the topology is unknown.
#include "hart/topology.hpp"

namespace weft::hart {

Answer place(std::size_t, Position&) noexcept { return Answer::unsupported; }
Answer numa_count(std::size_t&) noexcept { return Answer::unsupported; }
Answer numa_cpus(unsigned, os::CpuSet&) noexcept { return Answer::unsupported; }
void topology_release() noexcept {}
void topology_forked() noexcept {}

}   // namespace weft::hart
