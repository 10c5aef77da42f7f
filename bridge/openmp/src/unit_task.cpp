// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unit_task.hpp"

#include <pthread.h>

#include <weft/embed/hosted.h>
#include <weft/unit.h>

#include "fatal.hpp"
#include "members.hpp"
#include "others.hpp"
#include "records.hpp"
#include "team.hpp"
#include "unit_thread.hpp"

namespace weft_openmp {

namespace {

struct Record {
    Thread thread;
    OfUnit value{OfUnit::What::task, &thread};
    Record* next_record = nullptr;
};
Records<Record> records;

[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] { records.forget_in_child(); });

Record& take_record() {
    Record* const record = records.take();
    return record != nullptr ? *record : *new Record;
}

void be_task(void* raw) {
    Task& task = *static_cast<Task*>(raw);
    Team& team = *task.team;
    Record& record = take_record();
    Thread& me = record.thread;
    me.of_unit = true;
    me.shown.belong_to_this_unit();
    me.team = &team;
    me.slot = task.slot;
    me.task = &task;
    me.under = nullptr;
    be_of_unit(&record.value);
    run_task(me, task, nullptr);
    me.stand_alone();
    if (others() && weft_hosted()) use_thread_up();
    be_of_unit(nullptr);
    records.give(record);
    // Only now can other threads see all that the task has counted: the last one wakes those that
    // wait for all. The team may be in its next region by then, or the team pool dismissed.
    if (team.units.fetch_sub(1) == 1) wake_for_all(team);
    leave(*team.team_pool);
}

}   // namespace

bool may_be_unit(const Thread& me, const Task& task) {
    return me.team->level != 0 && (task.group == nullptr || !task.group->reduces);
}

bool runs_at_once(const Thread& me) { return me.of_unit && me.task->group != nullptr && me.task->group->reduces; }

void spawn_task(Task& task) {
    Team& team = *task.team;
    const Environment& said = environment();
    weft_unit_options options{};
    options.size = sizeof options;
    options.kind = said.task_kind;
    // SC runs on its scheduler's stack, which has its own setting; and a unit of kind auto that
    // asks for a stack would never run as SC.
    if (said.task_kind != WEFT_KIND_SC && said.task_kind != WEFT_KIND_AUTO)
        options.stack_bytes = said.unit_stack_bytes();
    options.name = "openmp task";
    options.site = reinterpret_cast<const void*>(task.body);
    team.units.fetch_add(1);
    team.team_pool->users.fetch_add(1, std::memory_order_relaxed);   // relaxed: the team waits for the task
    const weft_status status =
        weft_ult_spawn(pool_for_tasks(*team.team_pool->members), be_task, &task, &options, nullptr);
    if (status != WEFT_OK) fatal("Thread creation failed", status);
}

}   // namespace weft_openmp
