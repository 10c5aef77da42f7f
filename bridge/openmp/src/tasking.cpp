// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The entry points of explicit tasks, of groups of them, and of cancellation.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "depend.hpp"
#include "fatal.hpp"
#include "loop.hpp"
#include "members.hpp"
#include "routine.hpp"
#include "tasking.hpp"
#include "team.hpp"
#include "unit_task.hpp"

namespace weft_openmp {

namespace {

enum : unsigned {
    untied = Task::is_untied,
    final = Task::is_final,
    mergeable = 4,
    depend_given = 8,
    priority_given = 16,
    up = 256,
    grainsize = 512,
    if_given = 1024,
    no_group = 2048,
    reduction = 4096,
    detach_given = 8192,
    strict = 16384
};

// What the compiler says of a task besides its body.
struct Directive {
    void* data;
    void (*copy)(void*, void*);
    long bytes, alignment;
    unsigned flags;
    bool if_clause = true;
    void** dependences = nullptr;
    int priority = 0;
    void* detach = nullptr;
};

// Memory for the task's copy of its arguments, aligned as they require.
void* room_for(Task& task, std::size_t bytes, std::size_t alignment) {
    if (bytes <= Task::inline_bytes && alignment <= 16) return task.data = task.bytes;
    alignment = std::max<std::size_t>(alignment, 16);
    task.data = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (task.data == nullptr) fatal_error("Out of memory allocating %zu bytes", bytes);
    task.holds_memory = true;
    return task.data;
}

// A child of the running task, which goes on when the child has ended; count_child adds what a
// deferred child needs.
inline Task& make_child(Thread& me, Task& task, unsigned flags) {
    count(me.counts.tasks);
    Task& parent = *me.task;
    // relaxed: the thread that takes the task from where it lies acquires what precedes; a thief's
    // guess may be wrong
    task.parent.store(&parent, std::memory_order_relaxed);
    task.depth.store(parent.depth.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    task.said = flags | (parent.said & Task::is_final);
    task.icv = parent.icv;
    task.group = parent.group;
    return task;
}

// The child is deferred: its parent counts it, its group does, and so does the next barrier, which
// waits for it.
void count_child(Thread& me, Task& task, void (*body)(void*)) {
    task.team = me.team;
    task.body = body;
    task.priority = 0;
    ++me.task->made;
    me.task->family = true;
    // relaxed: the group's waiter is the task's ancestor
    if (task.group != nullptr) task.group->tasks.fetch_add(1, std::memory_order_relaxed);
    if (!me.team->tasked.load(std::memory_order_relaxed)) me.team->tasked.store(true);   // relaxed: only ever set
    if (tasks_are_units) [[unlikely]] {
        task.unit = may_be_unit(me, task);
        task.slot = me.slot;
        if (me.of_unit) {
            me.team->created_elsewhere.fetch_add(1);   // the slot is another thread's, which alone counts there
            return;
        }
    }
    // relaxed: its own; a thread that sees the task's end sees this
    me.slot->created.store(me.slot->created.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

inline bool cancelled(const Thread& me) {
    // relaxed, and below: noticed now or later
    if (me.team->cancelled.load(std::memory_order_relaxed)) [[unlikely]]
        return true;
    const Group* group = me.task->group;
    if (group == nullptr) [[likely]]
        return false;
    do {
        if (group->cancelled.load(std::memory_order_relaxed)) return true;
    } while ((group = group->outer) != nullptr);
    return false;
}

// Whether, as far as the thread can tell, enough tasks lie there for other threads. A further one
// is run at once, as libgomp does, and costs no more than a call.
bool enough_deferred(const Thread& me) {
    // relaxed: a guess
    if (tasks_are_units) [[unlikely]]
        return me.team->units.load(std::memory_order_relaxed) >= most_units;
    return me.slot->deque.plenty(me.team->size.load(std::memory_order_relaxed)) ||   // relaxed: the region's size
           me.team->queued.load(std::memory_order_relaxed) >= most_queued;           // relaxed: a guess
}

// With so many unfinished children for each thread of the team, a thread that makes dependent tasks
// runs some: what they use is in the cache then.
constexpr std::uint32_t enough_unfinished = 128;

// Whether no other thread could run a deferred task: it is run at once. A unit can be run by any
// hart, and waits alone.
bool alone(const Thread& me) { return me.team->size == 1 && !(tasks_are_units && me.team->level != 0); }

// Children of the task that have not ended. At 0 a new child depends on none of them, whatever they
// used. Called by the task's thread, or while that thread sleeps.
std::uint32_t children_left(const Task& task) {
    // acquire: pairs with the children's ends
    const std::uint64_t pending = task.pending.load(std::memory_order_acquire);
    return static_cast<std::uint32_t>(pending - Task::running) + static_cast<std::uint32_t>(task.made);
}

void copy_arguments(Thread& me, Task& task, const Directive& told) {
    const auto bytes = static_cast<std::size_t>(told.bytes);
    void* const to = room_for(task, bytes, static_cast<std::size_t>(told.alignment));
    if (told.copy == nullptr) {
        if (bytes != 0) std::memcpy(to, told.data, bytes);   // data may be null then
        return;
    }
    // Constructors run as the new task.
    Task* const before = me.task;
    me.task = &task;
    told.copy(to, told.data);
    me.task = before;
    task.said |= Task::runs_always;
}

}   // namespace

Group& begin_group(Task& task) {
    auto* const group = new Group;
    group->outer = task.group;
    group->reduces = group->outer != nullptr && group->outer->reduces;
    task.group = group;
    return *group;
}

void end_group(Thread& me) {
    const std::unique_ptr<Group> group(me.task->group);
    // acquire: pairs with the tasks' ends
    wait_in_task(me, [&group] { return group->tasks.load(std::memory_order_acquire) == 0; });
    me.task->group = group->outer;
}

}   // namespace weft_openmp

using namespace weft_openmp;   // NOLINT: entry points

namespace {

// The most frequent kind of task that is run at once. Each store counts here: there is little else.
inline void plain_undeferred(Thread& me, void (*body)(void*), void* data, unsigned flags) {
    // The first free task, which is the first again when it has ended: it is counted as free all
    // the while.
    Task& task = *me.free_tasks;
    me.free_tasks = task.next;
    Task* const before = me.task;
    me.task = &make_child(me, task, flags);
    body(data);
    me.task = before;
    if (task.family) [[unlikely]] {
        --me.free_count;
        return end_undeferred(me, task);
    }
    if (me.free_tasks != task.next) task.next = me.free_tasks;
    me.free_tasks = &task;
}

// For a task of any kind. The directive is one argument, so that the caller keeps none of it in
// registers.
[[gnu::noinline]] void any_task(void (*body)(void*), const Directive& told) {
    Thread& me = this_thread();
    const unsigned flags = told.flags;
    const bool detached = (flags & detach_given) != 0 && told.detach != nullptr;
    if (cancelled(me) && !detached) return;
    const std::uint32_t left = (flags & depend_given) != 0 ? children_left(*me.task) : 0;
    const bool depends = left != 0;
    const bool at_once =
        !told.if_clause || ((flags | me.task->said) & final) != 0 || (tasks_are_units && runs_at_once(me));
    if (!detached && (at_once || (!depends && (alone(me) || enough_deferred(me))))) {
        Task& task = make_child(me, *new_task(me), flags);
        if (depends) wait_for_depended(me, told.dependences);
        // A later task can no longer depend on it: it will have ended.
        if (told.copy == nullptr) task.data = told.data;
        else copy_arguments(me, task, told);
        run_undeferred(me, task, body);
        return;
    }
    // A task that waits for others does not lie in the deque, and is deferred however many there
    // are. So a thread that makes more and more of them runs one that may run for each. It does not
    // wait for what the new task depends on: that might be an event that this thread has still to
    // fulfil.
    // relaxed: the region's size
    if (left >= enough_unfinished * me.team->size.load(std::memory_order_relaxed) && !at_once)
        run_some_task(me, me.task, false);
    Task& task = make_child(me, *new_task(me), flags);
    count_child(me, task, body);
    if ((flags & priority_given) != 0) task.priority = std::clamp(told.priority, 0, environment().max_task_priority);
    copy_arguments(me, task, told);
    if (detached) {
        task.said |= Task::runs_always;
        task.ends_to_come.store(2, std::memory_order_relaxed);   // relaxed: no other thread knows the event yet
        *static_cast<void**>(told.detach) = &task;
        *static_cast<void**>(task.data) = &task;
    }
    if ((flags & depend_given) != 0 && !depend(me, task, told.dependences)) return;
    if (at_once) return run_task(me, task, me.task->tied() ? me.task : me.under);
    enqueue(task);
}

}   // namespace

void weft_openmp::make_task(void (*body)(void*), void* from, void (*copy)(void*, void*), long bytes, long alignment,
                            void** dependences) {
    any_task(body, {from, copy, bytes, alignment, dependences != nullptr ? depend_given : 0U, true, dependences});
}

OPENMP_API void GOMP_task(void (*body)(void*), void* data, void (*copy)(void*, void*), long bytes, long alignment,
                          bool if_clause, unsigned flags, void** dependences, int priority, void* detach) {
    Thread* const me = this_thread_or_null;   // null where tasks are units
    if ((flags & (untied | depend_given | detach_given)) == 0 && copy == nullptr && me != nullptr &&
        me->free_tasks != nullptr && !cancelled(*me)) {
        const bool alone = me->team->size.load(std::memory_order_relaxed) == 1;   // relaxed: the region's size
        if (!if_clause || alone || ((flags | me->task->said) & final) != 0 || me->slot->deque.still_plenty())
            return plain_undeferred(*me, body, data, flags);
    }
    any_task(body, {data, copy, bytes, alignment, flags, if_clause, dependences, priority, detach});
}

OPENMP_API void GOMP_taskwait() {
    Thread& me = this_thread();
    Task& task = *me.task;
    if (children_left(task) != 0) wait_in_task(me, [&task] { return children_left(task) == 0; });
    if (task.dependences != nullptr) forget_dependences(task);
}
OPENMP_API void GOMP_taskwait_depend(void** dependences) { wait_for_depended(this_thread(), dependences); }

OPENMP_API void GOMP_taskyield() {
    Thread& me = this_thread();
    if (!run_some_task(me, me.task->tied() ? me.task : me.under, false) && tasks_are_units) give_way();
}

OPENMP_API void GOMP_taskgroup_start() { begin_group(*this_thread().task); }
OPENMP_API void GOMP_taskgroup_end() {
    Thread& me = this_thread();
    if (me.task->group == nullptr) return;
    std::uintptr_t* const reductions = me.task->group->reductions;
    end_group(me);
    if (reductions == nullptr) return;
    // relaxed: a thread that leaves the region here has seen it
    if (me.team->cancelled.load(std::memory_order_relaxed)) leave_reductions_to_team(*me.team, reductions);
}

// The event's handle is the task.
OPENMP_API void omp_fulfill_event(Task* task) {
    if (task->ends_to_come.fetch_sub(1) == 1) end_task(*task);
}
// Its one argument comes by value in Fortran as well.
OPENMP_API void omp_fulfill_event_(Task* task) { omp_fulfill_event(task); }
OPENMP_ANY void any_omp_fulfill_event(void* event) {
    const OtherRuntime* const other = others() ? other_of_code(OPENMP_CALLER) : nullptr;
    if (other != nullptr && other->omp_fulfill_event != nullptr) other->omp_fulfill_event(event);
    else omp_fulfill_event(static_cast<Task*>(event));
}
OPENMP_ANY_NAMED(omp_fulfill_event)

// ---- taskloop -----------------------------------------------------------------------------------

namespace {

// The iterations of a taskloop, cut into tasks. `Value` is the type of the loop's variable, long or
// unsigned long long; data begins with the task's start and end.
template <class Value>
void taskloop(void (*body)(void*), void* data, void (*copy)(void*, void*), long bytes, long alignment, unsigned flags,
              unsigned long tasks, int priority, Value start, Value end, Value step) {
    Thread& me = this_thread();
    const bool rising = (flags & up) != 0;
    auto* const head = static_cast<std::uintptr_t*>(data);
    if (rising ? start >= end : start <= end) {
        // There is no task, but the compiler's reductions are taken back all the same.
        if ((flags & (no_group | reduction)) == reduction) {
            begin_group(*me.task);
            start_group_reductions(me, reinterpret_cast<std::uintptr_t*>(head[2]));
            end_group(me);
        }
        return;
    }
    const auto distance = rising ? static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(start)
                                 : static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(end);
    const auto stride = rising ? static_cast<std::uint64_t>(step) : -static_cast<std::uint64_t>(step);
    const std::uint64_t iterations = (distance - 1) / stride + 1;
    // `count` tasks; the first `larger` of them have one iteration more than `each`.
    std::uint64_t count, each, larger;
    if ((flags & grainsize) != 0) {
        const std::uint64_t grain = std::max<std::uint64_t>(tasks, 1);
        if ((flags & strict) != 0) {
            count = (iterations - 1) / grain + 1;
            each = grain;   // the last one has what is left
            larger = 0;
        } else {
            count = std::max<std::uint64_t>(iterations / grain, 1);
            each = iterations / count;
            larger = iterations % count;
        }
    } else {
        // relaxed: the region's size
        count = std::min<std::uint64_t>(tasks == 0 ? me.team->size.load(std::memory_order_relaxed) : tasks, iterations);
        each = iterations / count;
        larger = iterations % count;
    }
    const bool grouped = (flags & no_group) == 0;
    if (grouped) {
        begin_group(*me.task);
        if ((flags & reduction) != 0) start_group_reductions(me, reinterpret_cast<std::uintptr_t*>(head[2]));
    }
    const bool undeferred = (flags & if_given) == 0 || (flags & final) != 0 || me.task->final() || alone(me) ||
                            (tasks_are_units && runs_at_once(me));
    std::uint64_t first = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t last = std::min(iterations, first + each + (i < larger ? 1 : 0));
        const Value from =
            static_cast<Value>(static_cast<std::uint64_t>(start) + first * static_cast<std::uint64_t>(step));
        const Value to =
            last == iterations
                ? end
                : static_cast<Value>(static_cast<std::uint64_t>(start) + last * static_cast<std::uint64_t>(step));
        first = last;
        if (cancelled(me)) break;
        const bool at_once = undeferred || enough_deferred(me);
        Task& task = make_child(me, *new_task(me), flags);
        if (!at_once) count_child(me, task, body);
        if ((flags & priority_given) != 0) task.priority = std::clamp(priority, 0, environment().max_task_priority);
        copy_arguments(me, task, {data, copy, bytes, alignment, flags});
        static_cast<Value*>(task.data)[0] = from;
        static_cast<Value*>(task.data)[1] = to;
        if (at_once) run_undeferred(me, task, body);
        else enqueue(task);
    }
    if (grouped) end_group(me);
}

}   // namespace

OPENMP_API void GOMP_taskloop(void (*body)(void*), void* data, void (*copy)(void*, void*), long bytes, long alignment,
                              unsigned flags, unsigned long tasks, int priority, long start, long end, long step) {
    taskloop(body, data, copy, bytes, alignment, flags, tasks, priority, start, end, step);
}
OPENMP_API void GOMP_taskloop_ull(void (*body)(void*), void* data, void (*copy)(void*, void*), long bytes,
                                  long alignment, unsigned flags, unsigned long tasks, int priority,
                                  unsigned long long start, unsigned long long end, unsigned long long step) {
    taskloop(body, data, copy, bytes, alignment, flags, tasks, priority, start, end, step);
}

// ---- cancellation -------------------------------------------------------------------------------

namespace {

enum : int { cancel_parallel = 1, cancel_loop = 2, cancel_sections = 4, cancel_taskgroup = 8 };

bool is_cancelled(const Thread& me, int which) {
    if (me.team->cancelled.load(std::memory_order_relaxed)) return true;   // relaxed: noticed now or later
    // relaxed: noticed now or later
    if ((which & (cancel_loop | cancel_sections)) != 0)
        return me.team->construct_cancelled.load(std::memory_order_relaxed);
    if ((which & cancel_taskgroup) == 0) return false;
    const Group* const group = taskgroup_of(me.task->group);
    return group != nullptr && group->cancelled.load(std::memory_order_relaxed);   // relaxed: noticed now or later
}

}   // namespace

OPENMP_API bool GOMP_cancellation_point(int which) {
    return environment().cancellation && is_cancelled(this_thread(), which);
}

OPENMP_API bool GOMP_cancel(int which, bool do_cancel) {
    if (!environment().cancellation) return false;
    Thread& me = this_thread();
    if (!do_cancel) return is_cancelled(me, which);
    if ((which & (cancel_loop | cancel_sections)) != 0) {
        me.team->construct_cancelled.store(true, std::memory_order_relaxed);   // relaxed: noticed now or later, or not
    } else if ((which & cancel_taskgroup) != 0) {
        Group* const group = taskgroup_of(me.task->group);
        if (group == nullptr) return false;
        group->cancelled.store(true);
    } else {
        cancel_region(*me.team);
    }
    return true;
}
