// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/cpuset.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "os/fault.hpp"

namespace weft::os {
namespace {

// The kernel's own form of a set, as large as CpuSet::limit requires.
struct KernelSet {
    static constexpr std::size_t bytes = CpuSet::limit / 8;
    unsigned long words[bytes / sizeof(unsigned long)] = {};
    cpu_set_t* set() { return reinterpret_cast<cpu_set_t*>(words); }
};

}   // namespace

// Uses the kernel's calls: the functions in front of the C library's (bridge/pthread) take a hosted
// unit for a thread of its own, and here the carrier is meant.
bool affinity_get(std::uint32_t thread, CpuSet& cpus) {
    KernelSet kernel;
    if (syscall(SYS_sched_getaffinity, thread, KernelSet::bytes, kernel.set()) <= 0) return false;
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
    return syscall(SYS_sched_setaffinity, thread, KernelSet::bytes, kernel.set()) == 0;
}

bool idle_time(const CpuSet& cpus, std::uint64_t& ns) {
    if (const Load* const load = load_for_test()) return ns = load->idle_ns(), true;
    const int kept = errno;
    // System calls by number: the caller may be a hosted unit, which must not be cancelled here.
    const long file = syscall(SYS_openat, AT_FDCWD, "/proc/stat", O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno = kept, false;
    std::uint64_t ticks = 0;
    std::size_t found = 0, have = 0;
    char text[1024];   // the lines of processors come first and are shorter
    for (bool more = true; more;) {
        const long length = syscall(SYS_read, file, text + have, sizeof text - 1 - have);
        if (length <= 0) break;
        text[have += static_cast<std::size_t>(length)] = '\0';
        char* line = text;
        for (char* end; more && (end = std::strchr(line, '\n')) != nullptr; line = end + 1) {
            *end = '\0';
            more = std::strncmp(line, "cpu", 3) == 0;
            unsigned cpu;
            unsigned long long idle, waits;          // "cpuN user nice system idle iowait ..."
            if (!more || line[3] == ' ') continue;   // all processors together
            if (std::sscanf(line, "cpu%u %*u %*u %*u %llu %llu", &cpu, &idle, &waits) != 3 || !cpus.has(cpu)) continue;
            ticks += idle + waits;
            ++found;
        }
        have = std::strlen(line);
        std::memmove(text, line, have);
    }
    syscall(SYS_close, file);
    errno = kept;
    ns = ticks * (1'000'000'000 / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK)));
    return found != 0;
}

}   // namespace weft::os
