// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bind.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cstdint>

#include <weft/embed/hosted.h>
#include <weft/hart.h>
#include <weft/stream.h>

#include "places.hpp"
#include "team.hpp"

namespace weft_openmp {

namespace {

cpu_set_t everywhere;   // where the process may run; read before anything is bound
constexpr int nowhere = -1;

cpu_set_t cpus_of(int place) {
    if (place == nowhere) return everywhere;
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : bound_places()[static_cast<std::size_t>(place)]) CPU_SET(cpu, &set);
    return set;
}

// `thread` is the kernel's number; 0: the calling OS thread, whichever thread's code it runs. By a
// system call, past any interposer of the C library's function. A place that no longer exists is
// ignored: the thread stays where it may run.
void confine(long thread, int place) {
    const cpu_set_t set = cpus_of(place);
    syscall(SYS_sched_setaffinity, thread, sizeof set, &set);
}

// The place to which each OS thread was confined last, by its stream. Streams may share a word; an
// OS thread whose word another one has overwritten is confined once more. The lower bits hold the
// place + 1.
constexpr unsigned place_bits = 16, notes = 256;
std::atomic<std::uint64_t> noted[notes];

void be_carried_in(int place) {
    const auto stream = reinterpret_cast<std::uintptr_t>(weft_stream_self());
    std::atomic<std::uint64_t>& note = noted[(stream >> 7 ^ stream >> 15) % notes];
    const std::uint64_t wanted = stream << place_bits | static_cast<std::uint64_t>(place + 1);
    // relaxed, both: an OS thread relies only on what it has written itself
    if (stream != 0 && note.load(std::memory_order_relaxed) == wanted) return;
    confine(0, place);
    note.store(wanted, std::memory_order_relaxed);
}

void settle(Slot& slot, int place, unsigned first, unsigned count) {
    slot.place = place;
    slot.first_place = first;
    slot.places = count;
}

}   // namespace

const cpu_set_t& unbound_cpus() { return everywhere; }

void begin_binding() {
    if (bound_places().empty() || sched_getaffinity(0, sizeof everywhere, &everywhere) != 0) return;
    binding = true;
    weft_hart_limit();   // reads how many CPUs the process has; this thread soon has fewer
    confine(0, 0);
}

void place_alone(Slot& slot) {
    if (!binding) return;
    const auto places = static_cast<unsigned>(bound_places().size());
    settle(slot, 0, 0, places);
}

void place_apart(Slot& slot, const Slot& from) {
    settle(slot, from.place, 0, static_cast<unsigned>(bound_places().size()));
}

void place_team(Team& team, const Slot& from, Bind policy) {
    // relaxed: the region has not begun
    const unsigned threads = team.size.load(std::memory_order_relaxed), places = from.places;
    const unsigned at = static_cast<unsigned>(from.place) - from.first_place;
    const auto slot = [&team](unsigned i) -> Slot& { return *team.team_pool->slots[i]; };
    const auto nth = [&](unsigned i) { return static_cast<int>(from.first_place + (at + i) % places); };
    if (policy == Bind::primary) {
        for (unsigned i = 0; i < threads; ++i) settle(slot(i), from.place, from.first_place, places);
    } else if (policy != Bind::spread || threads > places) {
        // Equally many threads in each place, one place after the other. The threads left
        // over go to the places from the first one on.
        const unsigned each = threads / places;
        for (unsigned i = 0; i < threads; ++i) {
            const int place = nth(i < each * places ? i / each : i - each * places);
            if (policy == Bind::spread) settle(slot(i), place, static_cast<unsigned>(place), 1);
            else settle(slot(i), place, from.first_place, places);
        }
    } else {
        // As many parts as threads, the first parts larger. Thread 0 gets the part that it is in,
        // and keeps its place there.
        const unsigned least = places / threads, larger = places % threads;
        const auto start = [&](unsigned part) { return part * least + std::min(part, larger); };
        unsigned own = 0;
        while (start(own + 1) <= at) ++own;
        for (unsigned i = 0; i < threads; ++i) {
            const unsigned part = (own + i) % threads, first = from.first_place + start(part);
            settle(slot(i), i == 0 ? from.place : static_cast<int>(first), first, start(part + 1) - start(part));
        }
    }
}

void take_place(Thread& me) {
    const int place = me.slot->place;
    if (me.native) return;   // it counts as one of its place, but its stream carries other units as well
    if (me.place != place) {
        me.place = place;
        // what the hosted unit reads as its affinity
        if (const auto parked = static_cast<long>(weft_hosted_thread_id())) confine(parked, place);
    }
    be_carried_in(place);
}

void come_back_to_place() {
    const Thread* const me = this_thread_or_null;
    if (me != nullptr && !me->native) be_carried_in(me->place);
}

void leave_place() {
    // an OS thread of the program, which serves other threads while it waits
    const Thread* const own = thread_of_os_thread();
    be_carried_in(own == nullptr ? nowhere : own->place);
}

}   // namespace weft_openmp
