// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hosts: parked pthreads, on whose stacks and with whose thread pointers hosted units run
// (README.md says how). A host belongs to exactly one of: a unit, the idle hosts, the ending hosts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/arch.hpp"
#include "base/atomic.hpp"
#include "base/sanitizer.hpp"
#include "mem/stack.hpp"
#include "os/host.hpp"
#include "os/lock.hpp"

namespace weft::context {

// The part of a host's stack that is free for a unit, and the host itself.
struct Host : mem::Stack {
    os::HostThread thread;
    arch::FloatingPoint floating_point{};   // of the unit that has left the host
    Host* next_host = nullptr;              // idle, or ending
    Host* next_of_all = nullptr;
    bool spoilt = false;   // no other unit may have it
    unsigned uses = 0;
    atomic<std::uint64_t> signals{0};   // those that wait for the unit, by their bits
    atomic<std::uint32_t> runs_on{0};   // the kernel's number of the unit's carrier; 0: the unit does not run
};
// The host of a hosted unit's stack.
inline Host& host_of(mem::Stack& stack) { return static_cast<Host&>(stack); }

// An OS thread's own state, while it runs units of which some are hosted.
struct Carrier {
    void* thread_pointer = nullptr;
    int* errno_address = nullptr;
    os::ExceptionGlobals* exceptions = nullptr;
    arch::FloatingPoint floating_point{};        // while the thread runs with a host's thread pointer
    arch::FloatingPoint left_floating_point{};   // of the hosted unit that is left for another
    Host* host = nullptr;                        // the host whose thread pointer the thread runs with; null: its own
    bool prepared = false;                       // for its first hosted unit
    void* fiber = nullptr;                       // the thread sanitizer's fiber for it meanwhile

    Carrier() = default;
    Carrier(const Carrier&) = delete;
    ~Carrier() { sanitizer::fiber_destroy(fiber); }
};

struct HostsWanted {
    std::size_t bytes;   // of stack; 0: the C library's default
    bool fresh;          // only one that no unit has had
};

class Hosts {
public:
    Hosts() = default;
    Hosts(const Hosts&) = delete;

    // An idle host; null: there is none that fits.
    Host* take_idle(const HostsWanted& wanted);
    // A new host; null: the kernel refused, or no memory. `cpus`: as for os::host_start.
    Host* start(const HostsWanted& wanted, const os::CpuSet* cpus);
    // That many units are about to need one host each. Starts those that will be missing, and waits
    // for none of them: the kernel starts one while the next is requested. Returns how many the
    // kernel refused, or memory was missing for; their units find out by themselves.
    std::size_t prepare(std::size_t count, std::size_t bytes, const os::CpuSet* cpus);
    // Ends an idle host that is promised to no unit. False: there is none.
    bool end_one_to_spare();
    // Takes back a host that no code runs on.
    void give(Host& host);
    // Ends all hosts, also those of units that never continue.
    void stop();

    // The host that is this pthread, or null. It may end at any time, as a pthread may.
    Host* find(std::uintptr_t pthread);

    // Counters.
    std::size_t live() const { return live_.load(); }
    std::size_t started() const { return started_.load(); }
    std::size_t refused() const { return refused_.load(); }
    // Hosts that no second unit could have.
    std::size_t used_up() const { return used_up_.load(); }
    // Hosts with units.
    std::size_t in_use() const { return in_use_.load(); }

private:
    Host* launch(std::size_t bytes, const os::CpuSet* cpus);
    Host* take_coming(std::size_t bytes);
    void settle(Host& host);
    void count_taken();
    bool make_room();
    enum class Promised : bool { no, yes };
    bool end_idle(Promised which);   // yes: also a host that is promised to a unit
    void forget(const Host* host);
    void end(Host* host);
    void reap();

    os::Lock starting_;   // one host is started at a time
    os::Lock lock_;       // guards what follows
    Host* idle_ = nullptr;
    Host* coming_ = nullptr;   // started, and perhaps not parked yet: the oldest first
    Host** coming_end_ = &coming_;
    std::size_t at_hand_ = 0;     // idle or coming
    std::size_t announced_ = 0;   // units that hosts were prepared for and that have none yet
    Host* ending_ = nullptr;
    Host* all_ = nullptr;
    atomic<std::size_t> live_{0};
    atomic<std::size_t> started_{0};
    atomic<std::size_t> refused_{0};
    atomic<std::size_t> used_up_{0};
    atomic<std::size_t> in_use_{0};
};

}   // namespace weft::context
