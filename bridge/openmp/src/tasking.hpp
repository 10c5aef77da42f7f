// Groups of tasks: what taskgroup, taskloop and the reductions of tasks share.
#pragma once

#include <cstdint>

namespace weft_openmp {

struct Group;
struct Task;
struct Team;
struct Thread;

// The task, which runs or is to, begins a group within the one that it is in; tasks that it makes from then on, and
// theirs, belong to it.
Group& begin_group(Task& task);
// Waits for all tasks of the group.
void end_group(Thread& me);
// The group that has just begun has these reductions (reduction.cpp).
void start_group_reductions(Thread& me, std::uintptr_t* reductions);
// The region is cancelled: the compiler may leave it without taking these reductions back.
void leave_reductions_to_team(Team& team, std::uintptr_t* words);

}  // namespace weft_openmp
