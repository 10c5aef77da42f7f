// What the depend clause orders: a task runs when those siblings before it have ended that name the
// same addresses, unless both only read.
#pragma once

#include <cstddef>

namespace weft_openmp {

struct Task;
struct Thread;

// Notes what `task`, which the running task has made, depends on. `depend` is what the compiler
// gives to GOMP_task. Whether it may run now; otherwise it is enqueued when the last of those has
// ended.
bool depend(Thread& me, Task& task, void** depend);
// Waits until those have ended that a task with this clause would depend on.
void wait_for_depended(Thread& me, void** depend);
// The task has ended.
void complete_node(Task& task);

}   // namespace weft_openmp
