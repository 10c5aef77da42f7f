// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "task.hpp"

#include <pthread.h>
#include <algorithm>
#include <cstdlib>

#include <weft/guest.h>
#include <weft/sync.h>

#include "depend.hpp"
#include "members.hpp"
#include "team.hpp"
#include "unit_task.hpp"

namespace weft_openmp {

namespace {

// Free tasks of which threads had too many.
struct Surplus {
    SpinLock lock;
    Task* first = nullptr;
};
Surplus surplus;

bool descends(const Task& task, const Task* under) {
    if (under == nullptr) return true;
    // relaxed, and all that follow: a thief guesses about the task; what it steals after all has
    // been right
    const std::uint32_t depth = under->depth.load(std::memory_order_relaxed);
    const Task* at = &task;
    for (std::uint32_t steps = at->depth.load(std::memory_order_relaxed); steps > depth && at != nullptr; --steps)
        at = at->parent.load(std::memory_order_relaxed);
    return at == under;
}

template <class Visit>
bool some_victim(const Thread& me, Visit visit) {
    const TeamPool::Table& table =
        *me.slot->team_pool->table.load(std::memory_order_acquire);   // acquire: pairs with grow
    // relaxed: the region's size, or a guess from the dock
    const unsigned count = std::min(table.count, me.team->size.load(std::memory_order_relaxed));
    unsigned at = me.slot->next_victim;
    for (unsigned i = 0; i < count; ++i, ++at) {
        if (at >= count) at = 0;
        Slot* const victim = table.slots[at].load(std::memory_order_acquire);   // acquire: pairs with grow
        if (victim == nullptr || victim == me.slot) continue;
        if (visit(*victim)) {
            me.slot->next_victim = at;
            return true;
        }
    }
    return false;
}

// From the team's queue: tasks with a priority, and tasks that no thread of the team has queued.
Task* take_queued(Team& team, const Task* under) {
    if (team.queued.load() == 0) return nullptr;
    Task* found = nullptr;
    team.queue_lock.lock();
    Task* before = nullptr;
    for (Task** link = &team.first; *link != nullptr; before = *link, link = &before->next) {
        if (!descends(**link, under)) continue;
        found = *link;
        *link = found->next;
        if (team.last == found) team.last = before;
        team.queued.fetch_sub(1);
        break;
    }
    team.queue_lock.unlock();
    return found;
}

bool queued_for(const Thread& me, const Task* under) {
    Team& team = *me.team;
    if (team.queued.load() == 0) return false;
    if (under == nullptr) return true;
    bool found = false;
    team.queue_lock.lock();
    for (const Task* task = team.first; task != nullptr && !found; task = task->next) found = descends(*task, under);
    team.queue_lock.unlock();
    return found;
}

void queue(Team& team, Task& task) {
    team.queue_lock.lock();
    Task** link = &team.first;
    if (team.last != nullptr && team.last->priority >= task.priority) link = &team.last->next;
    while (*link != nullptr && (*link)->priority >= task.priority) link = &(*link)->next;
    task.next = *link;
    *link = &task;
    if (task.next == nullptr) team.last = &task;
    team.queued.fetch_add(1);
    team.queue_lock.unlock();
}

struct Found {
    Task* task = nullptr;
    bool timed = false;   // the thread's Thief learns how long it has run
};

// Short tasks have been left to the thread that makes them: in a moment there may be more, or none.
void look_away() {
    constexpr int moment = 16;   // 0.3 to 0.7 us
    for (int i = 0; i < moment; ++i) relax();
}

Found find_task(Thread& me, const Task* under, bool idle) {
    Team& team = *me.team;
    if (Task* const task = take_queued(team, under)) return {task};
    Deque& own = me.slot->deque;
    if (const Task* const newest = own.newest(); newest != nullptr && descends(*newest, under)) {
        if (Task* const task = own.pop()) return {task};
    }
    Found found;
    bool left = false;
    some_victim(me, [&](Slot& victim) {
        found.task = victim.deque.steal([&](const Task& task) {
            if (!descends(task, under)) return false;
            if (me.thief.takes(victim.deque.length()) || crowded()) return true;   // a wanted hart does not just watch
            left = true;
            return false;
        });
        if (found.task == nullptr) return false;
        found.timed = me.thief.took();
        return true;
    });
    if (left && found.task == nullptr && idle) look_away();
    return found;
}

// A thread is to search for tasks: preferably one that may run any.
void call_help(Team& team) {
    if (crowded()) return;   // no hart would run it; a thread checks before it sleeps
    if (!team.helpers.wake_one()) {
        team.closer.wake();
        team.waiters.wake();
    }
    // The thread that is woken may be a guest on whose OS thread this runs, and the only one that
    // comes.
    if (weft_guest_awaited()) [[unlikely]]
        give_way();
}

// The thread that held the lock is gone in the child, and may have been in the middle of a change.
[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] {
    surplus.first = nullptr;
    surplus.lock.unlock();
});

}   // namespace

Task* first_free_task(Thread& me) {
    surplus.lock.lock();
    for (unsigned i = 0; i < most_free / 2 && surplus.first != nullptr; ++i) {
        Task* const task = surplus.first;
        surplus.first = task->next;
        task->next = me.free_tasks;
        me.free_tasks = task;
        ++me.free_count;
    }
    surplus.lock.unlock();
    if (me.free_tasks != nullptr) return me.free_tasks;
    ++me.free_count;
    return me.free_tasks = new Task;
}

void give_surplus(Thread& me) {
    surplus.lock.lock();
    for (; me.free_count > most_free / 2 && me.free_tasks != nullptr; --me.free_count) {
        Task* const one = me.free_tasks;
        me.free_tasks = one->next;
        one->next = surplus.first;
        surplus.first = one;
    }
    surplus.lock.unlock();
}

void empty_task(Task& task) {
    if (task.holds_memory) std::free(task.data);
    task.holds_memory = false;
    if (task.dependences != nullptr) forget_dependences(task);
}

void give_tasks_back(Thread& me) {
    surplus.lock.lock();
    while (me.free_tasks != nullptr) {
        Task* const one = me.free_tasks;
        me.free_tasks = one->next;
        one->next = surplus.first;
        surplus.first = one;
    }
    surplus.lock.unlock();
    me.free_count = 0;
}

bool all_tasks_ended(const Team& team) {
    // Reads a table that stays: the thread that has ended the last task may be here while the next
    // region enlarges the team pool. What it finds then is of no use, and does no harm.
    const TeamPool::Table& table = *team.team_pool->table.load(std::memory_order_acquire);   // acquire: pairs with grow
    const unsigned count = std::min(table.count, team.size.load(std::memory_order_relaxed));   // relaxed: the region's
    const auto sum = [&](std::atomic<std::uint64_t> Slot::*which) {
        std::uint64_t total = 0;
        for (unsigned i = 0; i < count; ++i) {
            // acquire: pairs with grow
            if (const Slot* const slot = table.slots[i].load(std::memory_order_acquire)) total += (slot->*which).load();
        }
        return total;
    };
    // The ends are summed first: a task that ends between the two sums has been counted as created,
    // as have its children.
    const std::uint64_t ended = team.ended_elsewhere.load() + sum(&Slot::ended);
    const std::uint64_t created = team.created_elsewhere.load() + sum(&Slot::created);
    return ended == created;
}

void enqueue(Task& task) {
    if (tasks_are_units && task.unit) return spawn_task(task);
    Team& team = *task.team;
    Thread& me = this_thread();
    if (me.team != &team || me.of_unit || task.priority != 0 || !me.slot->deque.push(&task)) queue(team, task);
    call_help(team);
}

// The task does not run, and is not needed as a parent.
void let_go(Thread& me, Task& task) {
    for (Task* at = &task; at != nullptr;) {
        Task* const parent = at->implicit ? nullptr : at->parent.load(std::memory_order_relaxed);   // relaxed: its own
        at->pending.store(Task::running, std::memory_order_relaxed);   // relaxed: no other thread has it
        free_task(me, at);
        // acq_rel: all that other threads did with it comes before its reuse
        if (parent == nullptr ||
            parent->pending.fetch_sub(Task::one_completed, std::memory_order_acq_rel) != Task::one_completed)
            return;
        at = parent;
    }
}

void outlive(Thread& me, Task& task) {
    // relaxed, both: its own; its parent runs
    task.parent.load(std::memory_order_relaxed)->pending.fetch_add(Task::one_completed, std::memory_order_relaxed);
    // acq_rel: as in let_go
    if (task.pending.fetch_sub(Task::running, std::memory_order_acq_rel) == Task::running) let_go(me, task);
}

void wake_for_all(Team& team) {
    if (team.closer.any()) team.closer.wake();
    if (team.waiters.any()) team.waiters.wake();
}

void end_task(Task& task, bool own) {
    Thread& me = this_thread();
    Team& team = *task.team;
    Group* const group = task.group;
    Task* const parent = task.parent.load(std::memory_order_relaxed);   // relaxed: its own
    if (task.node != nullptr) complete_node(task);
    // acq_rel, here and below: what the task has done comes before what its waiters do, and before
    // the memory is used again
    bool parent_waits, parent_goes;
    if (has_left_none(task)) {
        free_task(me, &task);
        if (own) {
            --parent->made;
            parent_goes = parent_waits = false;   // it is awake, and checks itself
        } else {
            const std::uint64_t before = parent->pending.fetch_sub(1, std::memory_order_acq_rel);
            parent_goes = before == 1;
            parent_waits = static_cast<std::uint32_t>(before) == Task::running + 1;
        }
    } else {
        const std::uint64_t before = parent->pending.fetch_add(Task::one_completed - 1, std::memory_order_acq_rel);
        parent_goes = false;
        parent_waits = static_cast<std::uint32_t>(before) == Task::running + 1;
        if (task.pending.fetch_sub(Task::running, std::memory_order_acq_rel) == Task::running) let_go(me, task);
    }
    if (parent_goes) let_go(me, *parent);
    const bool group_ends = group != nullptr && group->tasks.fetch_sub(1) == 1;
    if ((parent_waits || group_ends) && team.waiters.any()) team.waiters.wake();
    if (me.team == &team) {
        if (me.of_unit) [[unlikely]] {
            team.ended_elsewhere.fetch_add(1);
            if (me.task != &task) wake_for_all(team);   // else its unit does, if it is the last (unit_task.cpp)
            return;
        }
        // relaxed: its own; seq_cst: the closer may be about to sleep
        me.slot->ended.store(me.slot->ended.load(std::memory_order_relaxed) + 1);
        if (team.closer.any() && !me.slot->deque.any() && all_tasks_ended(team)) team.closer.wake();
    } else {
        team.ended_elsewhere.fetch_add(1);
        wake_for_all(team);
    }
}

namespace {

// Whether the task is not to begin, because its group or its region is cancelled.
inline bool discarded(const Task& task) {
    // relaxed, and below: it may be noticed late
    bool cancelled = task.team->cancelled.load(std::memory_order_relaxed);
    if (task.group != nullptr) [[unlikely]] {
        const Group* const group = taskgroup_of(task.group);
        cancelled |= group != nullptr && group->cancelled.load(std::memory_order_relaxed);
    }
    if (!cancelled) [[likely]]
        return false;
    return (task.said & Task::runs_always) == 0;
}

}   // namespace

void run_task(Thread& me, Task& task, const Task* under) {
    Task* const before = me.task;
    const Task* const under_before = me.under;
    me.under = under;
    me.task = &task;
    if (!discarded(task)) task.body(task.data);
    me.task = before;
    me.under = under_before;
    // relaxed: the task is not detached, or this is not 0 yet
    if (task.ends_to_come.load(std::memory_order_relaxed) == 0 || task.ends_to_come.fetch_sub(1) == 1)
        end_task(task, task.parent.load(std::memory_order_relaxed) == before);
}

bool run_some_task(Thread& me, const Task* under, bool idle) {
    Team& team = *me.team;
    // its slot is another thread's, and so would be the number under which the task runs
    if (me.of_unit) [[unlikely]]
        return false;
    // relaxed: a thread that waits for a task has made it, or is woken for it
    if (!team.tasked.load(std::memory_order_relaxed)) return false;
    const auto [task, timed] = find_task(me, under, idle);
    if (task == nullptr) return false;
    if (me.slot->number >= team.size) [[unlikely]] {
        // A member that was in the dock of a larger team when this one began: it is none of its
        // threads.
        queue(team, *task);
        call_help(team);
        return false;
    }
    // each thread that finds work wakes another while there is more
    if (team.helpers.any() && may_find_task(me, nullptr)) call_help(team);
    const std::uint64_t from_ns = timed ? weft_now_ns() : 0;
    run_task(me, *task, under);
    if (timed) me.thief.ran(weft_now_ns() - from_ns);
    return true;
}

bool may_find_task(const Thread& me, const Task* under) {
    const Team& team = *me.team;
    if (me.of_unit || !team.tasked.load()) return false;
    if (queued_for(me, under)) return true;
    if (const Task* const newest = me.slot->deque.newest(); newest != nullptr && descends(*newest, under)) return true;
    return some_victim(me, [under](const Slot& victim) {
        const Task* const oldest = victim.deque.oldest();
        return oldest != nullptr && descends(*oldest, under);
    });
}

}   // namespace weft_openmp
