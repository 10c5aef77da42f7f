// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks: implicit ones, of which each thread of a team has one, and explicit ones.
//
// A deferred explicit task lies in the deque of the thread that met it, from which other threads
// steal. A thread that waits runs tasks meanwhile, on top of its own task. If it waits in the
// middle of a tied task, it runs only descendants of that task (OpenMP 5.1, 2.12.6: the task
// scheduling constraint).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "icv.hpp"
#include "wait.hpp"

namespace weft_openmp {

struct Team;
struct Thread;
struct Slot;
struct Dependences;   // of a task's children (depend.cpp)
struct DependNode;    // what other tasks depend on: one of those children (depend.cpp)

// Tasks whose end is waited for together: those of a taskgroup, of a taskloop, or of a construct
// with a reduction of tasks.
struct Group {
    Group* outer = nullptr;
    std::atomic<std::uint32_t> tasks{0};   // that have not ended
    std::atomic<bool> cancelled{false};
    // false: it serves only a construct's reduction, and `cancel taskgroup` passes over it
    bool region = true;
    bool reduces = false;                   // it has reductions, or a group around it has
    bool made_memory = false;               // for the team's threads' reductions: freed by the thread that began it
    std::uintptr_t* reductions = nullptr;   // its own, as the compiler describes them (reduction.cpp)
};
// The group that `cancel taskgroup` means in a task of this group; null: there is none.
inline Group* taskgroup_of(Group* group) {
    while (group != nullptr && !group->region) group = group->outer;
    return group;
}

// In memory that stays memory of tasks forever: a thief may read a task that has ended.
struct alignas(64) Task {
    static constexpr std::size_t inline_bytes = 64;
    static constexpr std::uint64_t one_completed = std::uint64_t{1} << 32;
    // more than children can end before they are counted
    static constexpr std::uint64_t running = std::uint64_t{1} << 31;
    static constexpr std::uint32_t is_untied = 1, is_final = 2;   // in `said`
    // In `said`, in a bit that the compiler leaves alone: cancellation does not discard the task.
    // Its body alone destroys what a copy function has made; and a thread that is to fulfil an
    // event may wait for the body, or hold the event already.
    static constexpr std::uint32_t runs_always = std::uint32_t{1} << 31;

    std::atomic<Task*> parent{nullptr};
    std::atomic<std::uint32_t> depth{0};   // below the implicit task, which has 0
    // from its directive: the compiler's flags, and `is_final` where an ancestor is final
    std::uint32_t said = 0;
    // written by its own thread: deferred children, less those that the thread itself has run,
    // which `pending` does not count yet
    std::int32_t made = 0;
    bool family = false;    // it has had children: what they used may have to outlive it
    Team* team = nullptr;   // of a deferred task, and of implicit ones
    const Icv* icv = nullptr;
    Group* group = nullptr;
    void (*body)(void* data) = nullptr;   // of a deferred task
    void* data = nullptr;
    // The lower half has `running`, while the task runs or is to run, and its deferred children,
    // less those that have ended. The thread that makes a child counts it in `made`, and there
    // takes off a child that it ends itself while it waits. It adds that to this word only when
    // other threads are to see it, since this line is often another thread's. The upper half has
    // children that have ended, but still are parents of their own children. At 0 the task is no
    // longer needed.
    alignas(64) std::atomic<std::uint64_t> pending{running};
    Task* next = nullptr;   // in a list of free tasks, or of those that are queued by priority
    Dependences* dependences = nullptr;
    DependNode* node = nullptr;
    bool implicit = false, holds_memory = false;
    bool unit = false;   // where tasks are units: this one is, once it may run
    int priority = 0;
    // Detached (detach clause): it ends with its body or with its event, whichever ends later. 0:
    // not detached.
    std::atomic<std::uint32_t> ends_to_come{0};
    Slot* slot = nullptr;   // where tasks are units: of the thread that it counts as
    alignas(16) unsigned char bytes[inline_bytes];

    bool tied() const { return (said & is_untied) == 0; }
    bool final() const { return (said & is_final) != 0; }
};

// A free task, which is its thread's first, and stays so (new_task and free_task: team.hpp).
Task* first_free_task(Thread& me);
// A thread that has so many free tasks has too many.
inline constexpr unsigned most_free = 256;
void give_surplus(Thread& me);
// Frees what the task has beyond its fields. A free task has none of that, has made nothing, and is
// `running`: the thread that takes it need not say so.
void empty_task(Task& task);
// At a thread's end: other threads get its free tasks.
void give_tasks_back(Thread& me);
// Runs the body, unless the task is cancelled, and ends the task. Above `under`, as in
// run_some_task.
void run_task(Thread& me, Task& task, const Task* under);
// An undeferred task has ended before its children: it stays until they have ended.
void outlive(Thread& me, Task& task);
// Ends a task, and wakes its waiters. `own`: its parent stands below it on this thread's stack.
void end_task(Task& task, bool own = false);

// Runs a task of the thread's team, if there is one that may begin above `under` (null: in a
// barrier, or at the dock). Whether there was one. A task of another thread may be left to that
// thread for a moment (thief.hpp), for which an idle thread waits here.
bool run_some_task(Thread& me, const Task* under, bool idle = true);
// Whether run_some_task would find a task, as far as can be told without taking it.
bool may_find_task(const Thread& me, const Task* under);
// Whether all deferred tasks have ended. All threads of the team wait in one barrier, apart from
// what they run there.
bool all_tasks_ended(const Team& team);
// Threads that may wait for the end of all tasks check again.
void wake_for_all(Team& team);
// Queues a task that may run now.
void enqueue(Task& task);
// With so many tasks in a team's queue, new ones are run at once.
inline constexpr std::uint32_t most_queued = 256;
// Frees what the task's children have depended on: they have all ended.
void forget_dependences(Task& task);

}   // namespace weft_openmp
