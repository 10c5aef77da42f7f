// Binding: which place each thread of a team is in (OpenMP 5.1, 2.6.2), and that it runs there.
//
// Members are run by whatever hart there is, so one that is bound tells the OS thread that carries
// it where to be: after it has begun a region in another place, and after it has waited, if that OS
// thread has been told of another place meanwhile. Programs that bind nothing pay a look at one
// word where a thread has slept.
#pragma once

#include <sched.h>
#include <vector>

#include "icv.hpp"

namespace weft_openmp {

struct Slot;
struct Team;
struct Thread;

// CPUs of the places that there are; none where nothing is bound.
const std::vector<std::vector<int>>& bound_places();
// Whether there are any: OMP_PLACES, OMP_PROC_BIND or GOMP_CPU_AFFINITY has said so. Known once the
// library has been loaded.
inline bool binding = false;
// The process's, while there is binding.
const cpu_set_t& unbound_cpus();
// By the library's constructor, on the first thread.
void begin_binding();

// The place and the partition of a thread outside of all regions.
void place_alone(Slot& slot);
// Those of a thread that has been in `from`, in a region that begins as if outside of all others:
// it stays in its place, and has all for its teams.
void place_apart(Slot& slot, const Slot& from);
// The places of a team that thread 0 makes, which is in `from`.
void place_team(Team& team, const Slot& from, Bind policy);
// The thread is in its slot's place from now on.
void take_place(Thread& me);
// The thread goes on after it has waited, perhaps on another OS thread.
void come_back_to_place();
inline void come_back() {
    if (binding) [[unlikely]]
        come_back_to_place();
}
// The calling OS thread serves teams no longer.
void leave_place();

}   // namespace weft_openmp
