#include "os/cpuset.hpp"

#include <sched.h>

#include <cstdlib>

namespace weft::os {
namespace {

// The kernel's own form of a set, as many bytes as CpuSet::limit.
struct KernelSet {
    static constexpr std::size_t bytes = CpuSet::limit / 8;
    unsigned long words[bytes / sizeof(unsigned long)] = {};
    cpu_set_t* set() { return reinterpret_cast<cpu_set_t*>(words); }
};

}  // namespace

std::size_t CpuSet::at(std::size_t index) const {
    for (std::size_t cpu = 0; cpu < limit; ++cpu) {
        if (bits_.test(cpu) && index-- == 0) return cpu;
    }
    return limit;
}

std::string CpuSet::text() const {
    std::string text;
    for (std::size_t cpu = 0; cpu < limit; ++cpu) {
        if (!bits_.test(cpu)) continue;
        std::size_t last = cpu;
        while (last + 1 < limit && bits_.test(last + 1)) ++last;
        if (!text.empty()) text += ',';
        text += std::to_string(cpu);
        if (last > cpu) text += '-' + std::to_string(last);
        cpu = last;
    }
    return text;
}

bool CpuSet::parse(const char* text) {
    CpuSet read;
    const char* at = text;
    auto number = [&at](std::size_t& value) {
        if (*at < '0' || *at > '9') return false;
        char* end;
        const unsigned long parsed = std::strtoul(at, &end, 10);
        at = end;
        value = parsed;
        return parsed < limit;
    };
    do {
        std::size_t first, last;
        if (!number(first)) return false;
        last = first;
        if (*at == '-') {
            ++at;
            if (!number(last) || last < first) return false;
        }
        for (std::size_t cpu = first; cpu <= last; ++cpu) read.add(cpu);
    } while (*at++ == ',');
    if (at[-1] == '\n' ? *at != '\0' : at[-1] != '\0') return false;   // the kernel's files end in a newline
    *this = read;
    return true;
}

bool affinity_get(std::uint32_t thread, CpuSet& cpus) {
    KernelSet kernel;
    if (sched_getaffinity(static_cast<pid_t>(thread), KernelSet::bytes, kernel.set()) != 0) return false;
    CpuSet read;
    for (std::size_t cpu = 0; cpu < CpuSet::limit; ++cpu) {
        if (CPU_ISSET_S(cpu, KernelSet::bytes, kernel.set())) read.add(cpu);
    }
    cpus = read;
    return true;
}

bool affinity_set(std::uint32_t thread, const CpuSet& cpus) {
    KernelSet kernel;
    for (std::size_t cpu = 0; cpu < CpuSet::limit; ++cpu) {
        if (cpus.has(cpu)) CPU_SET_S(cpu, KernelSet::bytes, kernel.set());
    }
    return sched_setaffinity(static_cast<pid_t>(thread), KernelSet::bytes, kernel.set()) == 0;
}

}  // namespace weft::os
