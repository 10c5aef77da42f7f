// How many harts the process may use: the CPUs of its affinity mask, or fewer when a cgroup that it
// belongs to, at any height, has a CPU quota. Owns the one copy of the process's mask.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"
#include "os/clock.hpp"
#include "os/cpuset.hpp"

namespace weft::hart {

inline constexpr std::size_t no_limit = ~std::size_t{0};

// Where to look; tests lay out trees of their own.
struct QuotaFiles {
    const char* cgroup = "/proc/self/cgroup";
    const char* mountinfo = "/proc/self/mountinfo";
    const char* root = "";   // stands before every mount point that mountinfo names
};

// The CPU quota of the process's cgroup and of all its ancestors that can be seen, whichever is the
// tightest: quota divided by period, rounded down, at least 1. Both cgroup versions, also at once.
// no_limit when there is none; a file that is missing or cannot be understood says nothing.
std::size_t quota_harts(const QuotaFiles& files = {}) noexcept;

// The CPUs that the process may use: the mask of the thread that asked first, for later ones may be
// pinned, and from then on, whenever a Limit is read, that of the thread that speaks for it. Empty:
// the kernel does not tell.
os::CpuSet process_cpus() noexcept;

// Whose mask that is from now on: an OS thread's that nobody has bound, by its number; 0: it stays
// what it is.
void let_speak(std::uint32_t thread) noexcept;

// A limit that is read again when it is asked for and a second old, by one of those who ask.
class Limit {
public:
    using Clock = std::uint64_t (*)();
    static constexpr std::uint64_t lasts_ns = 1'000'000'000;

    constexpr explicit Limit(const QuotaFiles& files = {}, Clock clock = os::now_ns) : files_(files), clock_(clock) {}

    std::size_t get() noexcept;
    std::size_t read() noexcept;   // now

private:
    QuotaFiles files_;
    Clock clock_;
    atomic<std::size_t> known_{0};   // 0: not yet
    atomic<std::uint64_t> due_{0};   // when to read it anew
};

// In the child of a fork. Its one OS thread may use all CPUs of the process.
void quota_forked() noexcept;

// min(process_cpus, quota_harts, what is allowed), at least 1: the process's one Limit. From any
// thread.
std::size_t limit() noexcept;

// No more than so many from now on (WEFT_HARTS); no_limit: as many as there are.
void allow(std::size_t harts) noexcept;

// limit(), read now, the mask included: to be called from a thread that Weft has not pinned.
std::size_t limit_anew() noexcept;

}   // namespace weft::hart
