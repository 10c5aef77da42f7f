// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "thread.hpp"

#include <sys/mman.h>

#include <new>

#include <abt_weft.h>

#include "environment.hpp"
#include "init.hpp"
#include "pool.hpp"
#include "record.hpp"
#include "sched.hpp"
#include "xstream.hpp"

namespace weft::argobots {

bool is_tasklet(const weft_unit* unit) {
    weft_kind kind{};
    weft_unit_kind_get(unit, &kind);
    return kind == WEFT_KIND_TASKLET;
}

bool is_primary(const weft_unit* unit) { return unit == primary_unit(); }

bool has_ended(const weft_unit* unit) {
    weft_unit_state state{};
    weft_unit_state_get(unit, &state);
    return state == WEFT_UNIT_DONE;
}

std::size_t stack_bytes_of(const weft_unit* unit) {
    if (is_tasklet(unit) || is_primary(unit)) return 0;
    const Record* record = record_of(unit);
    return record != nullptr && record->stack_bytes != 0 ? record->stack_bytes : environment().thread_stack_bytes;
}

namespace {

// Repeats `ask` until it is not busy: for a caller that cannot suspend, or for a second waiter.
// Speed does not matter here.
template <class Ask>
weft_status ask_until_done(Ask ask) {
    constexpr std::uint64_t first_ns = 5'000, most_ns = 1'000'000;
    weft_status status = ask();
    for (std::uint64_t pause_ns = first_ns; status == WEFT_BUSY; status = ask()) {
        if (weft_unit_yield() != WEFT_OK) {
            block_for(pause_ns);
            if (pause_ns < most_ns) pause_ns *= 2;
        }
    }
    return status;
}

// The result of a join that returned this status: a unit that found no stack has not run.
int from_join(weft_unit* unit, weft_status status) {
    if (!weft_unit_joined(status)) return ABT_ERR_INV_THREAD;
    weft_unit_outcome outcome = WEFT_OUTCOME_RETURNED;
    if (status == WEFT_NOT_RETURNED) weft_unit_outcome_get(unit, &outcome);
    return outcome == WEFT_OUTCOME_NO_STACK ? ABT_ERR_MEM : ABT_SUCCESS;
}

// Like from_join(), for weft_unit_join_free: a unit that has ended no longer exists.
int from_free(weft_unit* unit, weft_status status) {
    const int error = from_join(unit, status);
    if (status == WEFT_NOT_RETURNED) weft_unit_free(unit);
    return error;
}

}   // namespace

int may_join(ABT_thread thread) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    const weft_unit* unit = to_unit(thread);
    return unit == weft_unit_self() || is_primary(unit) || is_main_sched(unit) ? ABT_ERR_INV_THREAD : ABT_SUCCESS;
}

int join_unit(weft_unit* unit) {
    weft_status status = weft_unit_join(unit);
    if (status == WEFT_BUSY || status == WEFT_WRONG_KIND || status == WEFT_WRONG_CONTEXT) {
        status = ask_until_done([unit] { return weft_unit_try_join(unit); });
    }
    return from_join(unit, status);
}

namespace {

// Frees the unit if it has ended.
int free_unit(weft_unit* unit) {
    weft_status status = weft_unit_join_free(unit);
    if (status == WEFT_BUSY || status == WEFT_WRONG_KIND || status == WEFT_WRONG_CONTEXT) {
        ask_until_done([unit] { return weft_unit_try_join(unit); });
        status = weft_unit_join_free(unit);
    }
    return from_free(unit, status);
}

// ---- spawning -----------------------------------------------------------------------------------

const void* site_of(void (*body)(void*)) { return reinterpret_cast<const void*>(body); }

void migrated(weft_unit* unit, void*) {
    settle_unit(unit);
    const Record* const record = record_of(unit);   // null after ABT_finalize, if a unit runs on
    if (record != nullptr && record->on_migration != nullptr)
        record->on_migration(to_thread(unit), record->on_migration_argument);
}

// Protects the first page of the program's stack until the unit is freed, and gives Weft the rest.
// A stack that is too small for this, or that the system does not protect, is used unchanged.
void guard_stack(Record& record, weft_unit_options& how) {
    const std::uintptr_t page = environment().sys_page_bytes, begin = reinterpret_cast<std::uintptr_t>(how.stack);
    const std::uintptr_t guard = (begin + page - 1) / page * page, rest = guard + page;
    if (rest - begin >= how.stack_bytes / 2 || mprotect(reinterpret_cast<void*>(guard), page, PROT_READ) != 0) return;
    record.guard = reinterpret_cast<void*>(guard);
    how.stack = reinterpret_cast<void*>(rest);
    how.stack_bytes -= rest - begin;
}

// Converts an attribute to Weft's options. ABT_ERR_MEM: nothing has been made.
int read_attr(ABT_thread_attr given, weft_unit_options& how) {
    how.size = sizeof how;
    if (is_null(given)) return ABT_SUCCESS;
    const ThreadAttr& attr = *to_attr(given);
    how.kind = attr.kind;
    how.not_migratable = !attr.migratable;
    const bool own_size = attr.stack != nullptr || attr.stack_bytes != environment().thread_stack_bytes;
    if (own_size) {
        how.stack = attr.stack;
        how.stack_bytes = attr.stack_bytes == 0 ? environment().thread_stack_bytes : attr.stack_bytes;
    }
    if (!own_size && attr.on_migration == nullptr) return ABT_SUCCESS;
    how.key = key_of_records();
    if (how.key == nullptr) return ABT_ERR_UNINITIALIZED;
    Record* const record = take_record();
    if (record == nullptr) return ABT_ERR_MEM;
    record->stack = attr.stack;
    record->stack_bytes = own_size ? how.stack_bytes : 0;
    if (attr.stack != nullptr && environment().guards_asked()) guard_stack(*record, how);
    record->on_migration = attr.on_migration;
    record->on_migration_argument = attr.on_migration_argument;
    how.data = record;
    if (own_size && attr.stack == nullptr) how.stack_bytes = stack_bytes_for_weft(how.stack_bytes);
    if (attr.on_migration != nullptr) how.on_migration = migrated;
    return ABT_SUCCESS;
}

// All cases but the plain one: an attribute, a unit without a handle, a child that begins at once.
[[gnu::noinline]] int create_slow(ABT_pool pool, void (*body)(void*), void* argument, ABT_thread_attr attr,
                                  ABT_thread* thread, bool child_first) {
    if (thread != nullptr && !child_first) *thread = ABT_THREAD_NULL;   // the value on failure
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    const auto handle = reinterpret_cast<weft_unit**>(thread);
    if (is_null(attr) && !child_first)
        return from_move(weft_ult_spawn_at(to_weft(pool), body, argument, nullptr, site_of(body), handle));
    weft_unit_options how{};
    if (const int error = read_attr(attr, how); error != ABT_SUCCESS) return error;
    how.child_first = child_first;
    // From here on the record is the unit's, also if the unit could not be created.
    return from_move(weft_ult_spawn_at(to_weft(pool), body, argument, &how, site_of(body), handle));
}

[[gnu::noinline, gnu::cold]] int created_nothing(weft_status status, ABT_thread* thread) {
    *thread = ABT_THREAD_NULL;
    return from_move(status);
}

}   // namespace

int revive_unit(ABT_pool pool, void (*body)(void*), void* argument, ABT_thread* thread, bool child_first) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    if (is_null_at(thread)) return ABT_ERR_INV_THREAD;
    weft_unit* const unit = to_unit(*thread);
    if (!has_ended(unit)) return ABT_ERR_INV_THREAD;
    weft_revive_options how{};
    how.size = sizeof how;
    how.child_first = child_first;
    how.site = site_of(body);
    // The unit handle that a user-defined pool has made is freed before the unit may run in a
    // built-in pool.
    Record* record = pool_of(pool)->built_in() ? record_of(unit) : nullptr;
    if (record != nullptr) record->drop_unit();
    const weft_status status = weft_unit_revive_with(unit, to_weft(pool), body, argument, &how);
    return status == WEFT_WRONG_STATE || status == WEFT_UNSUPPORTED ? ABT_ERR_INV_THREAD : from_move(status);
}

}   // namespace weft::argobots

using namespace weft::argobots;

namespace {

// ABT_SUCCESS if the caller can let another unit begin in its place, else the error that says why
// not.
int may_begin_first() {
    if (const int error = must_be_ult(); error != ABT_SUCCESS) return error;
    return is_main_sched(weft_unit_self()) ? ABT_ERR_INV_THREAD : ABT_SUCCESS;
}

Pool* first_pool_of(ABT_xstream xstream) {
    const Sched& sched = *to_xstream(xstream)->sched;
    return sched.count == 0 ? nullptr : sched.pools[0];
}

// ---- migration ----------------------------------------------------------------------------------

// ABT_SUCCESS if the unit may be asked to migrate, else the error that says why not.
int may_migrate(ABT_thread thread) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    const weft_unit* unit = to_unit(thread);
    bool migratable = false;
    weft_unit_migratable_get(unit, &migratable);
    return !migratable || is_main_sched(unit) || is_primary(unit) ? ABT_ERR_INV_THREAD : ABT_SUCCESS;
}

int migrate_to(weft_unit* unit, const Pool* pool) {
    if (pool == nullptr) return ABT_ERR_MIGRATION_NA;
    // A unit that migrates out of a user-defined pool has a record, which is updated when the unit
    // moves.
    if (record_of(unit) != nullptr && weft_unit_on_migration(unit, migrated, nullptr) != WEFT_OK) return ABT_ERR_MEM;
    switch (const weft_status status = weft_unit_migrate_to_pool(unit, pool->handle)) {
    case WEFT_INVALID: return ABT_ERR_MIGRATION_TARGET;
    case WEFT_UNSUPPORTED:
        return (weft_features() & WEFT_FEATURE_MIGRATION) == 0 ? ABT_ERR_FEATURE_NA : ABT_ERR_INV_THREAD;
    case WEFT_WRONG_STATE: return ABT_ERR_INV_THREAD;
    default: return from_weft(status);
    }
}

}   // namespace

extern "C" {

// ---- create, revive -----------------------------------------------------------------------------

int ABT_thread_create(ABT_pool pool, void (*thread_func)(void*), void* arg, ABT_thread_attr attr,
                      ABT_thread* newthread) {
    if (newthread == nullptr || !is_null(attr) || is_null(pool)) [[unlikely]]
        return create_slow(pool, thread_func, arg, attr, newthread, false);
    const weft_status status = weft_ult_spawn_at(to_weft(pool), thread_func, arg, nullptr, site_of(thread_func),
                                                 reinterpret_cast<weft_unit**>(newthread));
    return status == WEFT_OK ? ABT_SUCCESS : created_nothing(status, newthread);
}

int ABT_thread_create_to(ABT_pool pool, void (*thread_func)(void*), void* arg, ABT_thread_attr attr,
                         ABT_thread* newthread) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    if (const int error = may_begin_first(); error != ABT_SUCCESS) return error;
    return create_slow(pool, thread_func, arg, attr, newthread, true);
}

int ABT_thread_create_on_xstream(ABT_xstream xstream, void (*thread_func)(void*), void* arg, ABT_thread_attr attr,
                                 ABT_thread* newthread) {
    if (is_null(xstream)) {
        if (newthread != nullptr) *newthread = ABT_THREAD_NULL;
        return ABT_ERR_INV_XSTREAM;
    }
    const Pool* pool = first_pool_of(xstream);
    return ABT_thread_create(pool == nullptr ? ABT_POOL_NULL : pool->abt(), thread_func, arg, attr, newthread);
}

int ABT_thread_create_many(int num_threads, ABT_pool* pool_list, void (**thread_func_list)(void*), void** arg_list,
                           ABT_thread_attr attr, ABT_thread* newthread_list) {
    if (!is_null(attr) && to_attr(attr)->stack != nullptr) return ABT_ERR_INV_THREAD_ATTR;   // one stack for many ULTs
    for (int i = 0; i < num_threads; ++i) {
        const int error =
            ABT_thread_create(pool_list[i], thread_func_list[i], arg_list == nullptr ? nullptr : arg_list[i], attr,
                              newthread_list == nullptr ? nullptr : &newthread_list[i]);
        if (error != ABT_SUCCESS) return error;
    }
    return ABT_SUCCESS;
}

int ABT_thread_revive(ABT_pool pool, void (*thread_func)(void*), void* arg, ABT_thread* thread) {
    return revive_unit(pool, thread_func, arg, thread, false);
}

int ABT_thread_revive_to(ABT_pool pool, void (*thread_func)(void*), void* arg, ABT_thread* thread) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    if (const int error = may_begin_first(); error != ABT_SUCCESS) return error;
    if (is_null_at(thread) || is_tasklet(to_unit(*thread))) return ABT_ERR_INV_THREAD;
    return revive_unit(pool, thread_func, arg, thread, true);
}

int ABT_task_create(ABT_pool pool, void (*task_func)(void*), void* arg, ABT_task* newtask) {
    if (newtask != nullptr) *newtask = ABT_TASK_NULL;   // the value on failure
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    const weft_status status = weft_tasklet_spawn_at(to_weft(pool), task_func, arg, nullptr, site_of(task_func),
                                                     reinterpret_cast<weft_unit**>(newtask));
    return status == WEFT_OK ? ABT_SUCCESS : from_move(status);
}

int ABT_task_create_on_xstream(ABT_xstream xstream, void (*task_func)(void*), void* arg, ABT_task* newtask) {
    if (newtask != nullptr) *newtask = ABT_TASK_NULL;
    if (is_null(xstream)) return ABT_ERR_INV_XSTREAM;
    const Pool* pool = first_pool_of(xstream);
    return ABT_task_create(pool == nullptr ? ABT_POOL_NULL : pool->abt(), task_func, arg, newtask);
}

int ABT_task_revive(ABT_pool pool, void (*task_func)(void*), void* arg, ABT_task* task) {
    return revive_unit(pool, task_func, arg, task, false);
}

// ---- join, free ---------------------------------------------------------------------------------

int ABT_thread_join(ABT_thread thread) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    const weft_status status = weft_unit_join(to_unit(thread));
    if (status == WEFT_OK) [[likely]]
        return ABT_SUCCESS;
    if (const int error = may_join(thread); error != ABT_SUCCESS) return error;
    return weft_unit_joined(status) ? from_join(to_unit(thread), status) : join_unit(to_unit(thread));
}

int ABT_thread_free(ABT_thread* thread) {
    if (is_null_at(thread)) return ABT_ERR_INV_THREAD;
    // Weft itself refuses the caller and the primary ULT; a main scheduler's unit never ends before
    // its stream.
    const weft_status status = weft_unit_join_free(to_unit(*thread));
    if (status == WEFT_OK) [[likely]] {
        *thread = ABT_THREAD_NULL;
        return ABT_SUCCESS;
    }
    int error = from_free(to_unit(*thread), status);
    if (!weft_unit_joined(status)) {
        error = may_join(*thread);
        if (error == ABT_SUCCESS) error = free_unit(to_unit(*thread));
        if (error == ABT_ERR_INV_THREAD) return error;
    }
    *thread = ABT_THREAD_NULL;
    return error;
}

int ABT_thread_join_many(int num_threads, ABT_thread* thread_list) {
    // Joins as many units as possible by one wait.
    int result = ABT_SUCCESS;
    for (int begin = 0; begin < num_threads;) {
        if (is_null(thread_list[begin])) {
            ++begin;
            continue;
        }
        int end = begin;
        while (end < num_threads && !is_null(thread_list[end])) ++end;
        const weft_status status = weft_unit_join_many(reinterpret_cast<weft_unit* const*>(thread_list + begin),
                                                       static_cast<size_t>(end - begin));
        if (status != WEFT_OK) {
            for (int i = begin; i < end; ++i) {
                const int error = ABT_thread_join(thread_list[i]);
                if (error == ABT_ERR_INV_THREAD) return error;
                if (result == ABT_SUCCESS) result = error;
            }
        }
        begin = end;
    }
    return result;
}

int ABT_thread_free_many(int num_threads, ABT_thread* thread_list) {
    int result = ABT_SUCCESS;
    for (int begin = 0; begin < num_threads;) {
        if (is_null(thread_list[begin])) {
            thread_list[begin++] = ABT_THREAD_NULL;
            continue;
        }
        int end = begin;
        while (end < num_threads && !is_null(thread_list[end])) ++end;
        // the units it keeps are handled below
        weft_unit_join_free_many(reinterpret_cast<weft_unit**>(thread_list + begin), static_cast<size_t>(end - begin));
        for (; begin < end; ++begin) {
            if (thread_list[begin] == nullptr) {
                thread_list[begin] = ABT_THREAD_NULL;
                continue;
            }
            const int error = ABT_thread_free(&thread_list[begin]);
            if (error == ABT_ERR_INV_THREAD) return error;
            if (result == ABT_SUCCESS) result = error;
        }
    }
    return result;
}

int ABT_task_join(ABT_task task) { return is_null(task) ? ABT_ERR_INV_TASK : ABT_thread_join(task); }

int ABT_task_free(ABT_task* task) {
    if (is_null_at(task)) return ABT_ERR_INV_TASK;
    const int error = ABT_thread_free(task);
    if (is_null(*task)) *task = ABT_TASK_NULL;
    return error;
}

int ABT_thread_exit(void) {
    if (!initialized()) return ABT_ERR_UNINITIALIZED;
    return ABT_self_exit();
}

int ABT_thread_cancel(ABT_thread thread) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    if (is_primary(to_unit(thread))) return ABT_ERR_INV_THREAD;
    const weft_status status = weft_unit_cancel(to_unit(thread));
    if (status == WEFT_WRONG_STATE) return ABT_SUCCESS;   // it has already ended
    return from_weft(status);
}

int ABT_task_cancel(ABT_task task) { return is_null(task) ? ABT_ERR_INV_TASK : ABT_thread_cancel(task); }

// ---- yield, resume ------------------------------------------------------------------------------

int ABT_thread_yield(void) {
    weft_unit_yield();   // does nothing for tasklets and external threads
    return ABT_SUCCESS;
}

int ABT_thread_yield_to(ABT_thread thread) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    weft_unit* const target = to_unit(thread);
    weft_status status = weft_unit_yield_to(target);
    if (status == WEFT_OK) [[likely]]
        return ABT_SUCCESS;
    if (caller() != Caller::ult) return ABT_SUCCESS;
    if (is_tasklet(target) || target == weft_unit_self() || is_main_sched(weft_unit_self())) return ABT_ERR_INV_THREAD;
    return status == WEFT_UNSUPPORTED ? ABT_ERR_POOL : ABT_SUCCESS;   // not ready, or no longer there: does nothing
}

int ABT_thread_resume(ABT_thread thread) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    const weft_status status = weft_unit_resume(to_unit(thread));
    if (status == WEFT_OK) [[likely]]
        return ABT_SUCCESS;
    return is_tasklet(to_unit(thread)) ? ABT_ERR_INV_THREAD : ABT_ERR_THREAD;
}

// ---- migration ----------------------------------------------------------------------------------

int ABT_thread_migrate_to_xstream(ABT_thread thread, ABT_xstream xstream) {
    if (const int error = may_migrate(thread); error != ABT_SUCCESS) return error;
    if (is_null(xstream)) return ABT_ERR_INV_XSTREAM;
    return ABT_thread_migrate_to_sched(thread, to_xstream(xstream)->sched->abt());
}

int ABT_thread_migrate_to_sched(ABT_thread thread, ABT_sched sched) {
    if (const int error = may_migrate(thread); error != ABT_SUCCESS) return error;
    if (is_null(sched)) return ABT_ERR_INV_SCHED;
    Sched& to = *to_sched(sched);
    if (to.has(pool_of_unit(to_unit(thread)))) return ABT_ERR_MIGRATION_TARGET;
    return migrate_to(to_unit(thread), migration_pool(to));
}

int ABT_thread_migrate_to_pool(ABT_thread thread, ABT_pool pool) {
    if (const int error = may_migrate(thread); error != ABT_SUCCESS) return error;
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    return migrate_to(to_unit(thread), pool_of(pool));
}

int ABT_thread_migrate(ABT_thread thread) {
    if (const int error = may_migrate(thread); error != ABT_SUCCESS) return error;
    // The program's functions are called without the lock of the list. Among this many streams
    // there will be a suitable one.
    constexpr std::size_t most = 64;
    Sched* others[most];
    std::size_t count = 0;
    const weft_pool* const here = pool_of_unit(to_unit(thread));
    each_xstream([&](Xstream& xstream) {
        if (xstream.stream != nullptr && !xstream.sched->has(here) && count < most) others[count++] = xstream.sched;
    });
    const Pool* shortest = nullptr;
    std::size_t least = SIZE_MAX;
    for (std::size_t i = 0; i < count; ++i) {
        const Pool* pool = migration_pool(*others[i]);
        const std::size_t size = pool == nullptr ? SIZE_MAX : pool->size();
        if (size >= least) continue;
        shortest = pool;
        least = size;
    }
    return migrate_to(to_unit(thread), shortest);
}

int ABT_weft_thread_migrate_wait(ABT_thread thread) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    switch (const weft_status status = weft_unit_migrate_wait(to_unit(thread))) {
    case WEFT_WRONG_STATE: return ABT_ERR_INV_THREAD;
    case WEFT_WRONG_KIND: return ABT_ERR_OTHER;
    default: return from_weft(status);
    }
}

int ABT_thread_set_callback(ABT_thread thread, void (*cb_func)(ABT_thread thread, void* cb_arg), void* cb_arg) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    if ((weft_features() & WEFT_FEATURE_MIGRATION) == 0) return ABT_ERR_FEATURE_NA;
    Record* record = obtain_record(to_unit(thread));
    if (record == nullptr) return ABT_ERR_MEM;
    record->on_migration = cb_func;
    record->on_migration_argument = cb_arg;
    return from_weft(weft_unit_on_migration(to_unit(thread), migrated, nullptr));
}

int ABT_thread_set_migratable(ABT_thread thread, ABT_bool migratable) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    if (is_primary(to_unit(thread)) || is_main_sched(to_unit(thread))) return ABT_SUCCESS;
    return from_weft(weft_unit_migratable_set(to_unit(thread), migratable != ABT_FALSE));
}

int ABT_thread_is_migratable(ABT_thread thread, ABT_bool* is_migratable) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    if ((weft_features() & WEFT_FEATURE_MIGRATION) == 0) return ABT_ERR_FEATURE_NA;
    bool migratable = false;
    weft_unit_migratable_get(to_unit(thread), &migratable);
    *is_migratable = to_bool(migratable && !is_primary(to_unit(thread)) && !is_main_sched(to_unit(thread)));
    return ABT_SUCCESS;
}

int ABT_task_set_migratable(ABT_task task, ABT_bool flag) {
    return is_null(task) ? ABT_ERR_INV_TASK : ABT_thread_set_migratable(task, flag);
}
int ABT_task_is_migratable(ABT_task task, ABT_bool* flag) {
    return is_null(task) ? ABT_ERR_INV_TASK : ABT_thread_is_migratable(task, flag);
}

}   // extern "C"
