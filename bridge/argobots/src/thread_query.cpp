// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queries of work units about themselves and about others, and the attributes that units are
// created with.
#include <atomic>
#include <new>

#include <abt_weft.h>

#include "environment.hpp"
#include "init.hpp"
#include "pool.hpp"
#include "record.hpp"
#include "thread.hpp"
#include "xstream.hpp"

using namespace weft::argobots;

namespace {

using Body = void (*)(void*);

Body body_of(const weft_unit* unit) {
    const void* site = nullptr;
    weft_unit_spawn_site_get(unit, &site);
    return reinterpret_cast<Body>(const_cast<void*>(site));
}

std::atomic<std::uint64_t> ids{0};   // given out in this run

// A unit gets its number, from 0 on, when it is first queried.
int id_of(weft_unit* unit, std::uint64_t* id) {
    Record* record = obtain_record(unit);
    if (record == nullptr) return ABT_ERR_MEM;
    std::uint64_t has = record->id.load();
    if (has == 0) {
        const std::uint64_t next = ids.fetch_add(1) + 1;
        has = record->id.compare_exchange_strong(has, next) ? next : has;
    }
    *id = has - 1;
    return ABT_SUCCESS;
}

// ABT_POOL_NULL: the unit belongs to a pool that is not the bridge's, like the pool of libgomp's
// threads.
ABT_pool abt_pool_of(const weft_unit* unit) {
    weft_pool* const pool = pool_of_unit(unit);
    return pool_of(pool) == nullptr ? ABT_POOL_NULL : reinterpret_cast<ABT_pool>(pool);
}

bool has_started(const weft_unit* unit) {
    weft_unit_info info{};
    info.size = sizeof info;
    weft_unit_info_get(unit, &info);
    return info.started;
}

// The stream on which the unit runs or last ran: the stream that draws from its pool. If several
// do, one of them, since switches are not recorded.
Xstream* last_xstream(const weft_unit* unit) {
    if (unit == weft_unit_self()) return this_xstream();
    if (!has_started(unit)) return nullptr;
    Xstream* found = nullptr;
    const weft_pool* pool = pool_of_unit(unit);
    each_xstream([&](Xstream& xstream) {
        if (found == nullptr && xstream.sched->has(pool)) found = &xstream;
    });
    return found;
}

// The stack that ABT_thread_get_stack and a unit's attribute report: as many bytes as were
// requested, ending where the stack begins. If the program has asked for a guard, the guard
// precedes them, as in Argobots.
struct StackTold {
    void* address = nullptr;
    std::size_t bytes = 0;
};

StackTold stack_of(const weft_unit* unit) {
    StackTold told;
    told.bytes = stack_bytes_of(unit);
    const Record* record = record_of(unit);
    if (record != nullptr && record->stack != nullptr) {
        told.address = record->stack;
        return told;
    }
    weft_stack_info info{};
    info.size = sizeof info;
    if (told.bytes == 0 || weft_unit_stack_get(unit, &info) != WEFT_OK || info.lowest == nullptr) return told;
    char* lowest = static_cast<char*>(info.lowest);
    if (environment().guards_asked()) {
        lowest -= environment().sys_page_bytes;
        info.bytes += environment().sys_page_bytes;
    } else if (info.bytes > told.bytes) {
        lowest += info.bytes - told.bytes;
    }
    told.address = lowest;
    return told;
}

ABT_thread_attr to_handle(ThreadAttr* attr) { return reinterpret_cast<ABT_thread_attr>(attr); }

int self_unit(weft_unit** self) {
    *self = weft::here::unit();
    return *self == nullptr ? ABT_ERR_INV_XSTREAM : ABT_SUCCESS;
}

// ABT_self_get_thread's slow path: identifying the caller takes a call.
[[gnu::noinline]] int ask_for_self(ABT_thread* thread) {
    weft_unit* self;
    if (const int error = self_unit(&self); error != ABT_SUCCESS) return error;
    *thread = to_thread(self);
    return ABT_SUCCESS;
}

// For the 1.x calls that only ULTs may make.
int self_ult(weft_unit** self) {
    *self = nullptr;
    if (!initialized()) return ABT_ERR_UNINITIALIZED;
    if (const int error = must_be_ult(); error != ABT_SUCCESS) return error;
    *self = weft_unit_self();
    return ABT_SUCCESS;
}

int self_tasklet(weft_unit** self) {
    *self = nullptr;
    if (!initialized()) return ABT_ERR_UNINITIALIZED;
    const Caller who = caller();
    if (who == Caller::external) return ABT_ERR_INV_XSTREAM;
    if (who == Caller::ult) return ABT_ERR_INV_TASK;
    *self = weft_unit_self();
    return ABT_SUCCESS;
}

}   // namespace

void weft::argobots::reset_ids() { ids.store(0); }

extern "C" {

// ---- of a work unit -----------------------------------------------------------------------------

int ABT_thread_get_last_xstream(ABT_thread thread, ABT_xstream* xstream) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    Xstream* last = last_xstream(to_unit(thread));
    *xstream = last == nullptr ? ABT_XSTREAM_NULL : last->abt();
    return ABT_SUCCESS;
}

int ABT_thread_get_state(ABT_thread thread, ABT_thread_state* state) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    weft_unit_state now{};
    weft_unit_state_get(to_unit(thread), &now);
    switch (now) {
    case WEFT_UNIT_READY: *state = ABT_THREAD_STATE_READY; break;
    case WEFT_UNIT_RUNNING: *state = ABT_THREAD_STATE_RUNNING; break;
    case WEFT_UNIT_SUSPENDED: *state = ABT_THREAD_STATE_BLOCKED; break;
    case WEFT_UNIT_DONE: *state = ABT_THREAD_STATE_TERMINATED; break;
    }
    return ABT_SUCCESS;
}

int ABT_task_get_state(ABT_task task, ABT_task_state* state) {
    if (is_null(task) || !is_tasklet(to_unit(task))) return ABT_ERR_INV_TASK;
    weft_unit_state now{};
    weft_unit_state_get(to_unit(task), &now);
    *state = now == WEFT_UNIT_DONE    ? ABT_TASK_STATE_TERMINATED
             : now == WEFT_UNIT_READY ? ABT_TASK_STATE_READY
                                      : ABT_TASK_STATE_RUNNING;
    return ABT_SUCCESS;
}

int ABT_thread_get_last_pool(ABT_thread thread, ABT_pool* pool) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    *pool = abt_pool_of(to_unit(thread));
    return ABT_SUCCESS;
}

int ABT_thread_get_last_pool_id(ABT_thread thread, int* id) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    return ABT_pool_get_id(abt_pool_of(to_unit(thread)), id);
}

int ABT_thread_get_unit(ABT_thread thread, ABT_unit* unit) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    *unit = unit_handle(to_unit(thread));
    return ABT_SUCCESS;
}

int ABT_thread_set_associated_pool(ABT_thread thread, ABT_pool pool) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    return set_pool(to_unit(thread), *pool_of(pool));
}

int ABT_thread_is_primary(ABT_thread thread, ABT_bool* flag) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    *flag = to_bool(is_primary(to_unit(thread)));
    return ABT_SUCCESS;
}

int ABT_thread_is_unnamed(ABT_thread thread, ABT_bool* flag) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    bool detached = false;
    weft_unit_detached_get(to_unit(thread), &detached);
    *flag = to_bool(detached);
    return ABT_SUCCESS;
}

int ABT_thread_equal(ABT_thread thread1, ABT_thread thread2, ABT_bool* result) {
    *result = to_bool(thread1 == thread2 || (is_null(thread1) && is_null(thread2)));
    return ABT_SUCCESS;
}

int ABT_thread_get_stacksize(ABT_thread thread, size_t* stacksize) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    *stacksize = stack_bytes_of(to_unit(thread));
    return ABT_SUCCESS;
}

int ABT_thread_get_stack(ABT_thread thread, void** stackaddr, size_t* stacksize) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    const StackTold told = stack_of(to_unit(thread));
    if (stackaddr != nullptr) *stackaddr = told.address;
    if (stacksize != nullptr) *stacksize = told.bytes;
    return ABT_SUCCESS;
}

int ABT_thread_get_id(ABT_thread thread, ABT_unit_id* thread_id) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    return id_of(to_unit(thread), thread_id);
}

int ABT_thread_set_arg(ABT_thread thread, void* arg) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    return weft_unit_argument_set(to_unit(thread), arg) == WEFT_OK ? ABT_SUCCESS : ABT_ERR_INV_THREAD;
}

int ABT_thread_get_arg(ABT_thread thread, void** arg) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    return weft_unit_argument_get(to_unit(thread), arg) == WEFT_OK ? ABT_SUCCESS : ABT_ERR_INV_THREAD;
}

int ABT_thread_get_thread_func(ABT_thread thread, void (**thread_func)(void*)) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    *thread_func = body_of(to_unit(thread));
    return ABT_SUCCESS;
}

int ABT_thread_get_attr(ABT_thread thread, ABT_thread_attr* attr) {
    if (is_null(thread) || is_tasklet(to_unit(thread))) return ABT_ERR_INV_THREAD;
    auto* made = new (std::nothrow) ThreadAttr;
    if (made == nullptr) return ABT_ERR_MEM;
    const weft_unit* unit = to_unit(thread);
    const StackTold told = stack_of(unit);
    made->stack = told.address;
    made->stack_bytes = told.bytes;
    weft_unit_migratable_get(unit, &made->migratable);
    weft_unit_kind_get(unit, &made->kind);
    if (const Record* record = record_of(unit)) {
        made->on_migration = record->on_migration;
        made->on_migration_argument = record->on_migration_argument;
    }
    *attr = to_handle(made);
    return ABT_SUCCESS;
}

int ABT_task_get_xstream(ABT_task task, ABT_xstream* xstream) {
    return is_null(task) ? ABT_ERR_INV_TASK : ABT_thread_get_last_xstream(task, xstream);
}
int ABT_task_get_last_pool(ABT_task task, ABT_pool* pool) {
    return is_null(task) ? ABT_ERR_INV_TASK : ABT_thread_get_last_pool(task, pool);
}
int ABT_task_get_last_pool_id(ABT_task task, int* id) {
    return is_null(task) ? ABT_ERR_INV_TASK : ABT_thread_get_last_pool_id(task, id);
}
int ABT_task_equal(ABT_task task1, ABT_task task2, ABT_bool* result) { return ABT_thread_equal(task1, task2, result); }
int ABT_task_get_id(ABT_task task, uint64_t* task_id) {
    return is_null(task) ? ABT_ERR_INV_TASK : ABT_thread_get_id(task, task_id);
}
int ABT_task_get_arg(ABT_task task, void** arg) {
    return is_null(task) ? ABT_ERR_INV_TASK : ABT_thread_get_arg(task, arg);
}

// ---- of the caller ------------------------------------------------------------------------------

int ABT_thread_self(ABT_thread* thread) {
    *thread = ABT_THREAD_NULL;
    weft_unit* self;
    if (const int error = self_ult(&self); error != ABT_SUCCESS) return error;
    *thread = to_thread(self);
    return ABT_SUCCESS;
}

int ABT_thread_self_id(ABT_unit_id* id) {
    weft_unit* self;
    if (const int error = self_ult(&self); error != ABT_SUCCESS) return error;
    return id_of(self, id);
}

int ABT_task_self(ABT_task* task) {
    *task = ABT_TASK_NULL;
    weft_unit* self;
    if (const int error = self_tasklet(&self); error != ABT_SUCCESS) return error;
    *task = to_thread(self);
    return ABT_SUCCESS;
}

int ABT_task_self_id(uint64_t* id) {
    weft_unit* self;
    if (const int error = self_tasklet(&self); error != ABT_SUCCESS) return error;
    return id_of(self, id);
}

int ABT_self_get_thread(ABT_thread* thread) {
    const weft_running* const self = weft::here::running();
    if (self == nullptr) [[unlikely]]
        return ask_for_self(thread);
    *thread = reinterpret_cast<ABT_thread>(weft::here::unit_of(self));
    return ABT_SUCCESS;
}

int ABT_self_get_thread_id(ABT_unit_id* id) {
    weft_unit* self;
    if (const int error = self_unit(&self); error != ABT_SUCCESS) return error;
    return id_of(self, id);
}

int ABT_self_get_type(ABT_unit_type* type) {
    *type = ABT_UNIT_TYPE_EXT;
    if (!initialized()) return ABT_ERR_UNINITIALIZED;
    const Caller who = caller();
    if (who == Caller::external) return ABT_ERR_INV_XSTREAM;
    *type = who == Caller::ult ? ABT_UNIT_TYPE_THREAD : ABT_UNIT_TYPE_TASK;
    return ABT_SUCCESS;
}

int ABT_self_is_primary(ABT_bool* flag) {
    *flag = ABT_FALSE;
    weft_unit* self;
    if (const int error = self_ult(&self); error != ABT_SUCCESS) return error;
    *flag = to_bool(is_primary(self));
    return ABT_SUCCESS;
}

int ABT_self_on_primary_xstream(ABT_bool* on_primary) {
    *on_primary = ABT_FALSE;
    if (!initialized()) return ABT_ERR_UNINITIALIZED;
    const Xstream* self = this_xstream();
    if (self == nullptr) return ABT_ERR_INV_XSTREAM;
    *on_primary = to_bool(self->primary);
    return ABT_SUCCESS;
}

int ABT_self_is_unnamed(ABT_bool* flag) {
    weft_unit* self;
    if (const int error = self_unit(&self); error != ABT_SUCCESS) return error;
    return ABT_thread_is_unnamed(to_thread(self), flag);
}

int ABT_self_get_last_pool(ABT_pool* pool) {
    weft_unit* self;
    if (const int error = self_unit(&self); error != ABT_SUCCESS) return error;
    *pool = abt_pool_of(self);
    return ABT_SUCCESS;
}

int ABT_self_get_last_pool_id(int* pool_id) {
    *pool_id = -1;
    if (!initialized()) return ABT_ERR_UNINITIALIZED;
    weft_unit* self;
    if (const int error = self_unit(&self); error != ABT_SUCCESS) return error;
    return ABT_pool_get_id(abt_pool_of(self), pool_id);
}

int ABT_self_set_associated_pool(ABT_pool pool) {
    weft_unit* self;
    if (const int error = self_unit(&self); error != ABT_SUCCESS) return error;
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    return set_pool(self, *pool_of(pool));
}

int ABT_self_get_unit(ABT_unit* unit) {
    weft_unit* self;
    if (const int error = self_unit(&self); error != ABT_SUCCESS) return error;
    *unit = unit_handle(self);
    return ABT_SUCCESS;
}

int ABT_self_set_arg(void* arg) {
    if (!initialized()) return ABT_ERR_UNINITIALIZED;
    weft_unit* self;
    if (const int error = self_unit(&self); error != ABT_SUCCESS) return error;
    return from_weft(weft_unit_argument_set(self, arg));
}

int ABT_self_get_arg(void** arg) {
    *arg = nullptr;
    if (!initialized()) return ABT_ERR_UNINITIALIZED;
    weft_unit* self;
    if (const int error = self_unit(&self); error != ABT_SUCCESS) return error;
    return from_weft(weft_unit_argument_get(self, arg));
}

int ABT_self_get_thread_func(void (**thread_func)(void*)) {
    weft_unit* self;
    if (const int error = self_unit(&self); error != ABT_SUCCESS) return error;
    *thread_func = body_of(self);
    return ABT_SUCCESS;
}

// ---- attributes ---------------------------------------------------------------------------------

int ABT_thread_attr_create(ABT_thread_attr* newattr) {
    auto* made = new (std::nothrow) ThreadAttr;
    if (made == nullptr) {
        *newattr = ABT_THREAD_ATTR_NULL;
        return ABT_ERR_MEM;
    }
    made->stack_bytes = environment().thread_stack_bytes;
    *newattr = to_handle(made);
    return ABT_SUCCESS;
}

int ABT_thread_attr_free(ABT_thread_attr* attr) {
    if (is_null_at(attr)) return ABT_ERR_INV_THREAD_ATTR;
    delete to_attr(*attr);
    *attr = ABT_THREAD_ATTR_NULL;
    return ABT_SUCCESS;
}

int ABT_thread_attr_set_stack(ABT_thread_attr attr, void* stackaddr, size_t stacksize) {
    if (is_null(attr)) return ABT_ERR_INV_THREAD_ATTR;
    if (reinterpret_cast<std::uintptr_t>(stackaddr) % 8 != 0) return ABT_ERR_INV_ARG;
    to_attr(attr)->stack = stackaddr;
    to_attr(attr)->stack_bytes = stacksize;
    return ABT_SUCCESS;
}

int ABT_thread_attr_get_stack(ABT_thread_attr attr, void** stackaddr, size_t* stacksize) {
    if (is_null(attr)) return ABT_ERR_INV_THREAD_ATTR;
    *stackaddr = to_attr(attr)->stack;
    *stacksize = to_attr(attr)->stack_bytes;
    return ABT_SUCCESS;
}

int ABT_thread_attr_set_stacksize(ABT_thread_attr attr, size_t stacksize) {
    if (is_null(attr)) return ABT_ERR_INV_THREAD_ATTR;
    to_attr(attr)->stack_bytes = stacksize;
    return ABT_SUCCESS;
}

int ABT_thread_attr_get_stacksize(ABT_thread_attr attr, size_t* stacksize) {
    if (is_null(attr)) return ABT_ERR_INV_THREAD_ATTR;
    *stacksize = to_attr(attr)->stack_bytes;
    return ABT_SUCCESS;
}

int ABT_thread_attr_set_callback(ABT_thread_attr attr, void (*cb_func)(ABT_thread thread, void* cb_arg), void* cb_arg) {
    if (is_null(attr)) return ABT_ERR_INV_THREAD_ATTR;
    if ((weft_features() & WEFT_FEATURE_MIGRATION) == 0) return ABT_ERR_FEATURE_NA;
    to_attr(attr)->on_migration = cb_func;
    to_attr(attr)->on_migration_argument = cb_arg;
    return ABT_SUCCESS;
}

int ABT_thread_attr_set_migratable(ABT_thread_attr attr, ABT_bool is_migratable) {
    if (is_null(attr)) return ABT_ERR_INV_THREAD_ATTR;
    if ((weft_features() & WEFT_FEATURE_MIGRATION) == 0) return ABT_ERR_FEATURE_NA;
    to_attr(attr)->migratable = is_migratable != ABT_FALSE;
    return ABT_SUCCESS;
}

int ABT_weft_thread_attr_set_kind(ABT_thread_attr attr, weft_kind kind) {
    if (is_null(attr)) return ABT_ERR_INV_THREAD_ATTR;
    const int number = kind;
    if (number < WEFT_KIND_DEFAULT || number > WEFT_KIND_AUTO || number == WEFT_KIND_TASKLET) return ABT_ERR_INV_ARG;
    to_attr(attr)->kind = kind;
    return ABT_SUCCESS;
}

}   // extern "C"
