// Tasks: implicit ones, of which each thread of a team has one, and explicit ones.
//
// An explicit task that is deferred lies in the deque of the thread that met it, from which others
// steal. Whoever waits runs tasks meanwhile, on top of his own task; one who waits in the middle of
// a tied task only descendants of that (OpenMP 5.1, 2.12.6: the task scheduling constraint).
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
struct DependNode;    // what others depend on: one of those children (depend.cpp)

// Tasks that somebody waits for together: those of a taskgroup, of a taskloop, or of a construct
// with a reduction of tasks.
struct Group {
    Group* outer = nullptr;
    std::atomic<std::uint32_t> tasks{0};   // that have not ended
    std::atomic<bool> cancelled{false};
    // false: only of a construct's reduction, which `cancel taskgroup` passes over
    bool region = true;
    bool reduces = false;                   // it has reductions, or a group around it has
    bool made_memory = false;               // for the reductions of the team's threads: whoever has begun it frees that
    std::uintptr_t* reductions = nullptr;   // its own, as the compiler describes them (reduction.cpp)
};
// The one that `cancel taskgroup` means in a task of this group; null: there is none.
inline Group* taskgroup_of(Group* group) {
    while (group != nullptr && !group->region) group = group->outer;
    return group;
}

// In memory that stays memory of tasks for ever: a thief may look at one that has ended.
struct alignas(64) Task {
    static constexpr std::size_t inline_bytes = 64;
    static constexpr std::uint64_t one_completed = std::uint64_t{1} << 32;
    // more than children can end before they are counted
    static constexpr std::uint64_t running = std::uint64_t{1} << 31;
    static constexpr std::uint32_t is_untied = 1, is_final = 2;   // in `said`
    // In `said`, where the compiler says nothing: cancellation does not discard the task. Its body
    // alone destroys what a copy function has made; and whoever is to fulfil an event may wait for
    // the body, or hold the event already.
    static constexpr std::uint32_t runs_always = std::uint32_t{1} << 31;

    std::atomic<Task*> parent{nullptr};
    std::atomic<std::uint32_t> depth{0};   // below the implicit task, which has 0
    // by its directive: the compiler's flags, and `is_final` where an ancestor is
    std::uint32_t said = 0;
    // by its own thread: deferred children, less those that the thread itself has run, which
    // `pending` does not count yet
    std::int32_t made = 0;
    bool family = false;    // it has had any: what they used may have to outlive it
    Team* team = nullptr;   // of one that is deferred, and of implicit ones
    const Icv* icv = nullptr;
    Group* group = nullptr;
    void (*body)(void* data) = nullptr;   // of one that is deferred
    void* data = nullptr;
    // In the lower half `running`, while it runs or is to, and its deferred children, less those
    // that have ended: who makes a child counts it in `made`, as he does when he ends one in which
    // he waits, and adds that here only when others are to see it, since this line is often another
    // thread's. In the upper half children that have ended, but still are their own children's
    // parents. Nobody needs it any more at 0.
    alignas(64) std::atomic<std::uint64_t> pending{running};
    Task* next = nullptr;   // in a list of free ones, or of those that are queued by priority
    Dependences* dependences = nullptr;
    DependNode* node = nullptr;
    bool implicit = false, holds_memory = false;
    bool unit = false;   // where tasks are units: this one is, once it may run
    int priority = 0;
    // Detached (detach clause): the body's end and the event's, whichever comes later, end it. 0:
    // not detached.
    std::atomic<std::uint32_t> ends_to_come{0};
    Slot* slot = nullptr;   // where tasks are units: of the thread that it counts as one of
    alignas(16) unsigned char bytes[inline_bytes];

    bool tied() const { return (said & is_untied) == 0; }
    bool final() const { return (said & is_final) != 0; }
};

// A free one and its thread's first, which stays so (new_task and free_task: team.hpp).
Task* first_free_task(Thread& me);
// The thread has too many free ones.
inline constexpr unsigned most_free = 256;
void give_surplus(Thread& me);
// What it has beyond its fields. A free task has none of that, has made nothing, and is `running`:
// whoever takes it need not say so.
void empty_task(Task& task);
// At a thread's end: others use what it has kept.
void give_tasks_back(Thread& me);
// The body, unless the task is cancelled, and the end. Above `under`, as run_some_task has it.
void run_task(Thread& me, Task& task, const Task* under);
// One that was not deferred has ended before its children: it stays until they have.
void outlive(Thread& me, Task& task);
// Tells those that wait for it. `own`: its parent stands below it on this thread's stack.
void end_task(Task& task, bool own = false);

// Runs a task of the thread's team, if there is one that may begin above `under` (null: in a
// barrier, or at the dock). Whether there was. One of another thread's may be left to that for a
// moment (thief.hpp), for which an idle thread waits here.
bool run_some_task(Thread& me, const Task* under, bool idle = true);
// Whether run_some_task would find one, as far as can be told without taking it.
bool may_find_task(const Thread& me, const Task* under);
// Whether all tasks that were deferred have ended. All threads of the team wait in one barrier, but
// for what they run there.
bool all_tasks_ended(const Team& team);
// Those that may wait for the end of all tasks look again.
void wake_for_all(Team& team);
// Queues a task that may run now.
void enqueue(Task& task);
// So many tasks in a team's queue, and those that are made are run at once.
inline constexpr std::uint32_t most_queued = 256;
// Of an implicit task, at the region's end.
void forget_dependences(Task& task);

}   // namespace weft_openmp
