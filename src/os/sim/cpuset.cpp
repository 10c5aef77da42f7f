// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/cpuset.hpp"

#include "os/fault.hpp"
#include "os/sim/machine.hpp"

namespace weft::os {
namespace {

CpuSet* set_of(std::uint32_t thread) { return sim::hart_cpus(thread == 0 ? sim::hart_number() : thread - 1); }

}   // namespace

bool affinity_get(std::uint32_t thread, CpuSet& cpus) {
    sim::system_call("affinity");
    const CpuSet* set = set_of(thread);
    if (set == nullptr) return false;
    cpus = *set;
    return true;
}

// Like the kernel: CPUs that the machine does not have are ignored, and at least one must be left.
bool affinity_set(std::uint32_t thread, const CpuSet& cpus) {
    sim::system_call("affinity");
    CpuSet* set = set_of(thread);
    const CpuSet there = cpus & sim::machine_cpus();
    if (set == nullptr || there.empty()) return false;
    *set = there;
    return true;
}

bool idle_time(const CpuSet&, std::uint64_t& ns) {
    const Load* const load = load_for_test();
    if (load != nullptr) ns = load->idle_ns();
    return load != nullptr;
}

}   // namespace weft::os
