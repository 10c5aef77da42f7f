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

// By the kernel's number; 0: the OS thread that calls, whichever thread's code it runs. Past
// whoever stands before the C library's call. A place that is no more is passed over: the thread
// stays where it may be.
void confine(long thread, int place) {
    const cpu_set_t set = cpus_of(place);
    syscall(SYS_sched_setaffinity, thread, sizeof set, &set);
}

// Where an OS thread has been told to be, by its stream: a word for each of so many, which others
// may have written, and then it is told once more. The lower bits have the place, + 1.
constexpr unsigned place_bits = 16, notes = 256;
std::atomic<std::uint64_t> noted[notes];

void be_carried_in(int place) {
    const auto stream = reinterpret_cast<std::uintptr_t>(weft_stream_self());
    std::atomic<std::uint64_t>& note = noted[(stream >> 7 ^ stream >> 15) % notes];
    const std::uint64_t wanted = stream << place_bits | static_cast<std::uint64_t>(place + 1);
    // relaxed, both: of one OS thread only what itself has written counts
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
    weft_hart_limit();   // reads how many CPUs the process has, which this thread's are soon not
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
        // So many in each place, one after the other; those that are left over from the first place
        // on.
        const unsigned each = threads / places;
        for (unsigned i = 0; i < threads; ++i) {
            const int place = nth(i < each * places ? i / each : i - each * places);
            if (policy == Bind::spread) settle(slot(i), place, static_cast<unsigned>(place), 1);
            else settle(slot(i), place, from.first_place, places);
        }
    } else {
        // As many parts as threads, the first ones larger. Thread 0 has the one that it is in, and
        // stays where it is there.
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
        // what a hosted unit is told of its affinity
        if (const auto parked = static_cast<long>(weft_hosted_thread_id())) confine(parked, place);
    }
    be_carried_in(place);
}

void come_back_to_place() {
    const Thread* const me = this_thread_or_null;
    if (me != nullptr && !me->native) be_carried_in(me->place);
}

void leave_place() {
    // of an OS thread of the program's own, which serves others while it waits
    const Thread* const own = thread_of_os_thread();
    be_carried_in(own == nullptr ? nowhere : own->place);
}

}   // namespace weft_openmp
