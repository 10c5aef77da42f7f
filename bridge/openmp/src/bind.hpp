// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Binding: which place each thread of a team is in (OpenMP 5.1, 2.6.2), and running it there.
//
// Any hart may run a member, so a bound member moves the OS thread that carries it: after it has
// begun a region in another place, and after it has waited, if that OS thread has been moved to
// another place meanwhile. Programs that bind nothing pay a load of one word where a thread has
// slept.
#pragma once

#include <sched.h>
#include <vector>

#include "icv.hpp"

namespace weft_openmp {

struct Slot;
struct Team;
struct Thread;

// The CPUs of each place; empty where nothing is bound.
const std::vector<std::vector<int>>& bound_places();
// Whether there are any places: OMP_PLACES, OMP_PROC_BIND or GOMP_CPU_AFFINITY asks for them. Known
// once the library has been loaded.
inline bool binding = false;
// The process's CPUs, where threads are bound.
const cpu_set_t& unbound_cpus();
// Called by the library's constructor, on the first thread.
void begin_binding();

// The place and the partition of a thread outside of all regions.
void place_alone(Slot& slot);
// Those of a thread that has been in `from`, in a region that begins as if outside of all others:
// the thread stays in its place, and its teams may use all places.
void place_apart(Slot& slot, const Slot& from);
// The places of a team whose thread 0, which makes it, is in `from`.
void place_team(Team& team, const Slot& from, Bind policy);
// From now on the thread is in its slot's place.
void take_place(Thread& me);
// The thread goes on after a wait, perhaps on another OS thread.
void come_back_to_place();
inline void come_back() {
    if (binding) [[unlikely]]
        come_back_to_place();
}
// The calling OS thread no longer serves teams.
void leave_place();

}   // namespace weft_openmp
