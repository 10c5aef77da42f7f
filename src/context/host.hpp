// Hosts: parked pthreads, on whose stacks and by whose thread pointers hosted units run (README.md
// tells how). A host belongs to one of: a unit, the idle ones, those that end.
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

// The part of its stack that is free for a unit, and whose that is.
struct Host : mem::Stack {
    os::HostThread thread;
    arch::FloatingPoint floating_point{};   // of the unit that has left
    Host* next_host = nullptr;              // idle, or ending
    Host* next_of_all = nullptr;
    bool spoilt = false;   // no other unit is to have it
    unsigned uses = 0;
    atomic<std::uint64_t> signals{0};   // that wait for the unit, by their bits
    atomic<std::uint32_t> runs_on{0};   // the kernel's number of its carrier; 0: it does not run
};
// Of the stack of a hosted unit.
inline Host& host_of(mem::Stack& stack) { return static_cast<Host&>(stack); }

// What an OS thread has of its own, while it runs units of which some are hosted.
struct Carrier {
    void* thread_pointer = nullptr;
    int* errno_address = nullptr;
    os::ExceptionGlobals* exceptions = nullptr;
    arch::FloatingPoint floating_point{};        // while it is a host's
    arch::FloatingPoint left_floating_point{};   // of the hosted unit that is left for another
    Host* host = nullptr;                        // by whose thread pointer it runs; null: its own
    bool prepared = false;                       // for the first
    void* fiber = nullptr;                       // what the thread sanitizer takes it for meanwhile

    Carrier() = default;
    Carrier(const Carrier&) = delete;
    ~Carrier() { sanitizer::fiber_destroy(fiber); }
};

struct HostsWanted {
    std::size_t bytes;   // of stack; 0: as the C library has it
    bool fresh;          // one that no unit has had
};

class Hosts {
public:
    Hosts() = default;
    Hosts(const Hosts&) = delete;

    // An idle one; null: there is none such.
    Host* take_idle(const HostsWanted& wanted);
    // A new one; null: the kernel refused, or no memory. `cpus`: as os::host_start.
    Host* start(const HostsWanted& wanted, const os::CpuSet* cpus);
    // So many units are about to need one each. Starts those that will be missing, and waits for
    // none of them: the kernel starts one while the next is asked for. Returns how many the kernel
    // refused, or there is no memory for; their units find out for themselves.
    std::size_t prepare(std::size_t count, std::size_t bytes, const os::CpuSet* cpus);
    // An idle one ends that no unit has been promised. False: there is none.
    bool end_one_to_spare();
    // Nobody stands on it any more.
    void give(Host& host);
    // All of them end, also those of units that never go on.
    void stop();

    // The one that is this pthread, or null. It may end at any time, as a pthread may.
    Host* find(std::uintptr_t pthread);

    // Counters.
    std::size_t live() const { return live_.load(); }
    std::size_t started() const { return started_.load(); }
    std::size_t refused() const { return refused_.load(); }
    // That no second unit could have.
    std::size_t used_up() const { return used_up_.load(); }
    // With units.
    std::size_t in_use() const { return in_use_.load(); }

private:
    Host* launch(std::size_t bytes, const os::CpuSet* cpus);
    Host* take_coming(std::size_t bytes);
    void settle(Host& host);
    void count_taken();
    bool make_room();
    enum class Promised : bool { no, yes };
    bool end_idle(Promised which);   // yes: also one that a unit has been promised
    void forget(const Host* host);
    void end(Host* host);
    void reap();

    os::Lock starting_;   // one is started at a time
    os::Lock lock_;       // guards what follows
    Host* idle_ = nullptr;
    Host* coming_ = nullptr;   // started, and perhaps not parked yet: the oldest first
    Host** coming_end_ = &coming_;
    std::size_t at_hand_ = 0;     // idle or coming
    std::size_t announced_ = 0;   // units that have been prepared for and have none yet
    Host* ending_ = nullptr;
    Host* all_ = nullptr;
    atomic<std::size_t> live_{0};
    atomic<std::size_t> started_{0};
    atomic<std::size_t> refused_{0};
    atomic<std::size_t> used_up_{0};
    atomic<std::size_t> in_use_{0};
};

}   // namespace weft::context
