// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many harts the process may use: the CPUs of its affinity mask, or fewer when its cgroup or
// any ancestor of it has a CPU quota. Owns the one copy of the process's mask.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"
#include "os/clock.hpp"
#include "os/cpuset.hpp"

namespace weft::hart {

inline constexpr std::size_t no_limit = ~std::size_t{0};

// Where to read; tests lay out trees of their own.
struct QuotaFiles {
    const char* cgroup = "/proc/self/cgroup";
    const char* mountinfo = "/proc/self/mountinfo";
    const char* root = "";   // stands before every mount point that mountinfo names
};

// The tightest CPU quota of the process's cgroup and of all its visible ancestors: quota divided by
// period, rounded down, at least 1. Both cgroup versions, also at once. no_limit when there is
// none; a file that is missing or cannot be understood says nothing.
std::size_t quota_harts(const QuotaFiles& files = {}) noexcept;

// The CPUs that the process may use: at first the mask of the thread that called first, because
// later callers may be pinned; from then on, whenever a Limit is read, the mask of the thread that
// let_speak() names. Empty: the kernel does not say.
os::CpuSet process_cpus() noexcept;

// From now on process_cpus() is the mask of the OS thread of that number, which no code has bound;
// 0: the mask stays what it is.
void let_speak(std::uint32_t thread) noexcept;

// A limit. The first caller that finds it a second old reads it again.
class Limit {
public:
    using Clock = std::uint64_t (*)();
    static constexpr std::uint64_t lasts_ns = 1'000'000'000;

    constexpr explicit Limit(const QuotaFiles& files = {}, Clock clock = os::now_ns) : files_(files), clock_(clock) {}

    std::size_t get() noexcept;
    std::size_t read() noexcept;   // reads it now

private:
    QuotaFiles files_;
    Clock clock_;
    atomic<std::size_t> known_{0};   // 0: not read yet
    atomic<std::uint64_t> due_{0};   // when to read it again
};

// In the child of a fork. Its one OS thread may use all CPUs of the process.
void quota_forked() noexcept;

// min(process_cpus, quota_harts, the number given to allow()), at least 1: the process's one Limit.
// From any thread.
std::size_t limit() noexcept;

// At most that many harts from now on (WEFT_HARTS); no_limit: as many as there are.
void allow(std::size_t harts) noexcept;

// limit(), read now, the mask included: call it only from a thread that Weft has not pinned.
std::size_t limit_anew() noexcept;

}   // namespace weft::hart
