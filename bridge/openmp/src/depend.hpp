// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the depend clause orders: a task runs once all earlier siblings that name the same addresses
// have ended, unless both only read.
#pragma once

#include <cstddef>

namespace weft_openmp {

struct Task;
struct Thread;

// Notes what `task`, which the running task has made, depends on. `depend` is what the compiler
// passes to GOMP_task. Returns whether the task may run now; otherwise it is enqueued when the last
// of those that it depends on has ended.
bool depend(Thread& me, Task& task, void** depend);
// Waits until all tasks have ended that a task with this clause would depend on.
void wait_for_depended(Thread& me, void** depend);
// The task has ended.
void complete_node(Task& task);

}   // namespace weft_openmp
