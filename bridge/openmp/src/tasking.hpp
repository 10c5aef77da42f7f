// Groups of tasks: what taskgroup, taskloop and the reductions of tasks share. And tasks that the library makes.
#pragma once

#include <cstdint>

namespace weft_openmp {

struct Thread;

// The running task begins a group within the one that it is in; tasks that it makes from now on, and theirs, belong to it. reductions: null, or what they take part in.
void begin_group(Thread& me, std::uintptr_t* reductions);
// Waits for all tasks of the group.
void end_group(Thread& me);
// The group that has just begun has these reductions (reduction.cpp).
void start_group_reductions(Thread& me, std::uintptr_t* reductions);

// What GOMP_task does, for a task that may be deferred: a target region's. copy(to, from) fills its memory in, of that size
// and alignment, when it is made.
void make_task(void (*body)(void* data), void* from, void (*copy)(void* to, void* from), long bytes, long alignment,
               void** dependences);

}  // namespace weft_openmp
