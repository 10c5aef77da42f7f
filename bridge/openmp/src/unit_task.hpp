// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Deferred tasks that are units of their own (WEFT_OMP_TASK_KIND): each waits alone, and its hart
// goes on with other contexts.
//
// Such a unit is a context of the members' domain, of the kind that the environment says, and has a
// record of its own for what OpenMP calls a thread. It counts as the thread that has made it, so
// two tasks of one thread number may run at once: it is for programs whose tasks keep no state for
// each thread.
#pragma once

#include <cstdint>

namespace weft_openmp {

struct Task;
struct Team;
struct Thread;

// With so many of them in a team, new tasks are run at once, as other tasks are.
inline constexpr std::uint32_t most_units = 4096;

// Whether a task that the thread defers may be a unit: inside a region, whose end waits for it, and
// outside of reductions of tasks, which have a copy for each thread number.
bool may_be_unit(const Thread& me, const Task& task);
// Whether a unit runs at once what it makes: tasks of a reduction that it has begun itself. They
// use the copy of its thread number, which no other task uses, since the unit makes all tasks of
// that reduction.
bool runs_at_once(const Thread& me);
// Makes a unit of the task, which may run now. May switch.
void spawn_task(Task& task);

}   // namespace weft_openmp
