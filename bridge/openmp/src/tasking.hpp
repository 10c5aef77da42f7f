// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups of tasks, as taskgroup, taskloop and the reductions of tasks use them. And tasks that the
// library makes.
#pragma once

#include <cstdint>

namespace weft_openmp {

struct Group;
struct Task;
struct Team;
struct Thread;

// The task, which runs or is to run, begins a group within the one that it is in. Tasks that it
// makes from then on belong to it, and so do their tasks.
Group& begin_group(Task& task);
// Waits for all tasks of the group.
void end_group(Thread& me);
// Gives these reductions (reduction.cpp) to the group that has just begun.
void start_group_reductions(Thread& me, std::uintptr_t* reductions);
// The region is cancelled: the compiler may leave it without taking these reductions back.
void leave_reductions_to_team(Team& team, std::uintptr_t* words);

// Does what GOMP_task does, for a task that may be deferred: a target region's. copy(to, from)
// fills in the task's memory, of that size and alignment, when the task is made.
void make_task(void (*body)(void* data), void* from, void (*copy)(void* to, void* from), long bytes, long alignment,
               void** dependences);

}   // namespace weft_openmp
