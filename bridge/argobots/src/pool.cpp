// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pool.hpp"

#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "record.hpp"
#include "unit_map.hpp"
#include "xstream.hpp"

namespace weft::argobots {
namespace {

Lock list_lock;   // guards the next two variables
Pool* all = nullptr;
int next_id = 0;

void enlist(Pool& pool) {
    std::lock_guard guard(list_lock);
    pool.id = next_id++;
    pool.next = all;
    all = &pool;
}

void unlist(const Pool& pool) {
    std::lock_guard guard(list_lock);
    for (Pool** at = &all; *at != nullptr; at = &(*at)->next) {
        if (*at != &pool) continue;
        *at = pool.next;
        return;
    }
}

// Why a user-defined pool has refused a unit: Weft only passes on that it did.
thread_local int refusal = ABT_SUCCESS;

// ---- the functions that Weft calls on a user-defined pool ---------------------------------------

Pool& of(void* self) { return *static_cast<Pool*>(self); }
const Pool& of(const void* self) { return *static_cast<const Pool*>(self); }

int admit(void* self, weft_unit* unit) {
    Pool& pool = of(self);
    Record* record = obtain_record(unit);
    if (record == nullptr) {
        refusal = ABT_ERR_MEM;
        return 0;
    }
    if (record->maker == &pool) return 1;   // revived in the same pool
    const ABT_thread thread = to_thread(unit);
    const ABT_unit made = pool.create_unit(thread);
    if (is_null(made)) {
        refusal = ABT_ERR_OTHER;
        return 0;
    }
    // relaxed: if it equals `made`, the record itself has written it (unit_map.cpp). It may be the
    // handle of the former unit in another pool, for example the thread's own handle.
    if (record->mapped.load(std::memory_order_relaxed) != made && !unit_map::assign(*record, made)) {
        pool.free_unit(made);
        refusal = ABT_ERR_MEM;
        return 0;
    }
    record->drop_unit();
    record->set_unit(pool, made, thread);
    return 1;
}

ABT_unit unit_in(const weft_unit* unit) { return record_of(unit)->unit; }   // not null: the unit was admitted

void push(void* self, weft_unit* unit, std::uint64_t operation) {
    const Pool& pool = of(self);
    if (pool.make == Pool::Make::old) return pool.old.p_push(pool.abt(), unit_in(unit));
    pool.user.push(pool.abt(), unit_in(unit), context_of(operation));
}

void push_many(void* self, weft_unit* const* units, std::size_t count, std::uint64_t operation) {
    const Pool& pool = of(self);
    if (pool.make == Pool::Make::old || pool.user.push_many == nullptr) {
        for (std::size_t i = 0; i < count; ++i) push(self, units[i], operation);
        return;
    }
    constexpr std::size_t most = 64;
    ABT_unit some[most];
    for (std::size_t done = 0; done < count;) {
        std::size_t n = 0;
        while (n < most && done < count) some[n++] = unit_in(units[done++]);
        pool.user.push_many(pool.abt(), some, n, context_of(operation));
    }
}

// The library's stealing schedulers say whether the pool is their first one.
ABT_pool_context context_of_pop(const Pool& pool) {
    const Xstream* xstream = this_xstream();
    if (xstream == nullptr || xstream->sched->custom || xstream->sched->predef != ABT_SCHED_RANDWS)
        return ABT_POOL_CONTEXT_OP_POOL_OTHER;
    return xstream->sched->pools[0] == &pool ? ABT_POOL_CONTEXT_OWNER_PRIMARY : ABT_POOL_CONTEXT_OWNER_SECONDARY;
}

weft_unit* pop(void* self) { return of(self).pop(context_of_pop(of(self))); }

std::size_t length(const void* self) { return of(self).size(); }

int remove(void* self, weft_unit* unit) {
    const Pool& pool = of(self);
    if (pool.make != Pool::Make::old || pool.old.p_remove == nullptr) return 0;
    const ABT_unit there = unit_in(unit);
    if (pool.old.u_is_in_pool != nullptr && pool.old.u_is_in_pool(there) == ABT_FALSE) return 0;
    return pool.old.p_remove(pool.abt(), there) == ABT_SUCCESS ? 1 : 0;
}

weft_pool_ops table_of(const Pool& pool) {
    weft_pool_ops table{};
    table.size = sizeof table;
    table.push_with = push;
    table.pop = pop;
    table.length = length;
    table.admit = admit;
    table.push_many = push_many;
    if (pool.make == Pool::Make::old && pool.old.p_remove != nullptr) table.remove = remove;
    return table;
}

weft_pool_kind weft_kind_of(ABT_pool_kind kind, ABT_pool_access access) {
    if (kind == ABT_POOL_FIFO_WAIT) return WEFT_POOL_BLOCKING;
    if (kind == ABT_POOL_RANDWS) return WEFT_POOL_DEQUE;
    return access == ABT_POOL_ACCESS_PRIV ? WEFT_POOL_PRIVATE : WEFT_POOL_SHARED;
}

struct Count {
    bool also_ready;
    std::size_t found;
};

void count_one(const weft_unit_info* info, void* raw) {
    auto& count = *static_cast<Count*>(raw);
    if (info->state == WEFT_UNIT_SUSPENDED || (count.also_ready && info->state != WEFT_UNIT_DONE)) ++count.found;
}

std::size_t count_units(const Pool& pool, bool also_ready) {
    Count count{also_ready, 0};
    weft_pool_unit_each(pool.handle, count_one, &count);
    return count.found;
}

}   // namespace

// ---- user-defined pools -------------------------------------------------------------------------

ABT_unit Pool::create_unit(ABT_thread thread) {
    return make == Make::old ? old.u_create_from_thread(thread) : user.create_unit(abt(), thread);
}

void Pool::free_unit(ABT_unit unit) {
    if (make == Make::old) return old.u_free(&unit);
    user.free_unit(abt(), unit);
}

weft_unit* Pool::pop(ABT_pool_context context) {
    const ABT_thread popped = make == Make::old ? thread_handle(old.p_pop(abt())) : user.pop(abt(), context);
    return is_null(popped) ? nullptr : to_unit(popped);
}

std::size_t Pool::size() const {
    if (built_in()) {
        std::size_t length = 0;
        weft_pool_length_get(handle, &length);
        return length;
    }
    if (make == Make::old) return old.p_get_size(abt());
    if (user.get_size != nullptr) return user.get_size(abt());
    return user.is_empty(abt()) == ABT_TRUE ? 0 : 1;
}

ABT_pool_context context_of(std::uint64_t operation) {
    if (operation >> 63 != 0) return operation & ~(std::uint64_t{1} << 63);
    switch (operation) {
    case WEFT_POOL_OP_SPAWN: return ABT_POOL_CONTEXT_OP_THREAD_CREATE;
    case WEFT_POOL_OP_SPAWN_CHILD_FIRST: return ABT_POOL_CONTEXT_OP_THREAD_CREATE_TO;
    case WEFT_POOL_OP_YIELD: return ABT_POOL_CONTEXT_OP_THREAD_YIELD;
    case WEFT_POOL_OP_YIELD_TO: return ABT_POOL_CONTEXT_OP_THREAD_YIELD_TO;
    case WEFT_POOL_OP_RESUME: return ABT_POOL_CONTEXT_OP_THREAD_RESUME;
    case WEFT_POOL_OP_RESUME_YIELD_TO: return ABT_POOL_CONTEXT_OP_THREAD_RESUME_YIELD_TO;
    case WEFT_POOL_OP_REVIVE: return ABT_POOL_CONTEXT_OP_THREAD_REVIVE;
    case WEFT_POOL_OP_REVIVE_CHILD_FIRST: return ABT_POOL_CONTEXT_OP_THREAD_REVIVE_TO;
    case WEFT_POOL_OP_MIGRATE: return ABT_POOL_CONTEXT_OP_THREAD_MIGRATE;
    default: return ABT_POOL_CONTEXT_OP_POOL_OTHER;
    }
}

// ---- creation and destruction -------------------------------------------------------------------

namespace {

// Creates the record's Weft pool. On failure the record is freed.
Pool* begin_pool(Pool* pool, weft_pool_kind kind) {
    weft_status status;
    if (pool->built_in()) {
        status = weft_pool_create(kind, &pool->handle);
    } else {
        const weft_pool_ops table = table_of(*pool);
        status = weft_pool_create_user(&table, pool, &pool->handle);
    }
    if (status != WEFT_OK) {
        delete pool;
        return nullptr;
    }
    weft_pool_data_set(pool->handle, pool);
    enlist(*pool);
    return pool;
}

int end_pool(Pool& pool) {
    const weft_status status = weft_pool_free(pool.handle);
    if (status != WEFT_OK) return ABT_ERR_POOL;
    unlist(pool);
    delete &pool;
    return ABT_SUCCESS;
}

}   // namespace

Pool* create_pool(ABT_pool_kind kind, ABT_pool_access access, bool automatic) {
    auto* pool = new (std::nothrow) Pool(Pool::Make::built_in);
    if (pool == nullptr) return nullptr;
    pool->kind = kind;
    pool->access = access;
    pool->automatic = automatic;
    return begin_pool(pool, weft_kind_of(kind, access));
}

Pool* adopt_pool(weft_pool* made) {
    auto* pool = new (std::nothrow) Pool(Pool::Make::built_in);
    if (pool == nullptr) return nullptr;
    pool->handle = made;
    pool->automatic = true;
    weft_pool_data_set(made, pool);
    enlist(*pool);
    return pool;
}

int free_pool(Pool& pool) {
    if (pool.scheds.load() != 0) return ABT_ERR_POOL;
    if (!pool.built_in()) {
        if (pool.size() != 0) return ABT_ERR_POOL;
        if (pool.make == Pool::Make::old && pool.old.p_free != nullptr) pool.old.p_free(pool.abt());
        if (pool.make == Pool::Make::user && pool.user.free != nullptr) pool.user.free(pool.abt());
        // Weft asks for the length once more, when the program's pool no longer exists.
        pool.old.p_get_size = [](ABT_pool) -> std::size_t { return 0; };
        pool.user.get_size = pool.old.p_get_size;
    }
    return end_pool(pool);
}

void claim_pool(Pool& pool) { pool.scheds.fetch_add(1); }

void unclaim_pool(Pool& pool) {
    // a pool that units wait in stays until the end
    if (pool.scheds.fetch_sub(1) == 1 && pool.automatic) free_pool(pool);
}

void forgo_pool(Pool& pool) { pool.scheds.fetch_sub(1); }

void free_all_pools(const weft_pool* shared) {
    while (all != nullptr) {
        Pool* const pool = all;
        all = pool->next;
        weft_pool_data_set(pool->handle, nullptr);
        if (shared != nullptr && pool->handle != shared) weft_pool_free(pool->handle);
        delete pool;
    }
}

void abandon_units(const weft_pool* shared) {
    for (const Pool* pool = all; pool != nullptr; pool = pool->next) {
        if (pool->handle == shared) continue;
        weft_unit* unit = nullptr;
        do weft_pool_pop(pool->handle, &unit);
        while (unit != nullptr);
    }
}

void reset_pool_ids() { next_id = 0; }

// ---- units and pools ----------------------------------------------------------------------------

namespace {
constexpr std::uintptr_t built_in_tag = 1;   // never set in a unit of a user-defined pool
}

ABT_unit unit_handle(weft_unit* unit) {
    const Pool* pool = pool_of(pool_of_unit(unit));
    if (pool != nullptr && !pool->built_in()) {
        if (const Record* record = record_of(unit); record != nullptr && record->maker == pool) return record->unit;
    }
    return reinterpret_cast<ABT_unit>(reinterpret_cast<std::uintptr_t>(unit) | built_in_tag);
}

ABT_thread thread_handle(ABT_unit unit) {
    if (is_null(unit)) return ABT_THREAD_NULL;
    const auto number = reinterpret_cast<std::uintptr_t>(unit);
    if ((number & built_in_tag) != 0) return reinterpret_cast<ABT_thread>(number & ~built_in_tag);
    return unit_map::find(unit);
}

void settle_unit(weft_unit* unit) {
    Record* record = record_of(unit);
    if (record != nullptr && record->maker != nullptr && record->maker->handle != pool_of_unit(unit))
        record->drop_unit();
}

int from_move(weft_status status) {
    const int refused = std::exchange(refusal, ABT_SUCCESS);
    return status == WEFT_NO_MEMORY && refused != ABT_SUCCESS ? refused : from_weft(status);
}

int push_unit(Pool& to, weft_unit* unit, ABT_pool_context context) {
    const bool leaves = !to.built_in() ? false : record_of(unit) != nullptr;
    if (leaves) {
        // Its creator frees the unit handle before the push: afterwards the work unit may run, end
        // and be freed.
        if (const weft_status status = weft_unit_pool_set(unit, to.handle); status != WEFT_OK) return from_move(status);
        settle_unit(unit);
    }
    const weft_status status = weft_pool_push_with(to.handle, unit, operation_of(context));
    return status == WEFT_WRONG_STATE ? ABT_ERR_INV_THREAD : from_move(status);
}

int enter_pool(weft_unit* unit, Pool& to) {
    const weft_status status = weft_unit_pool_set(unit, to.handle);
    return status == WEFT_WRONG_STATE ? ABT_ERR_INV_THREAD : from_move(status);
}

int set_pool(weft_unit* unit, Pool& to) {
    const int error = enter_pool(unit, to);
    if (error == ABT_SUCCESS) settle_unit(unit);
    return error;
}

std::size_t count_blocked(const Pool& pool) { return count_units(pool, false); }
std::size_t count_alive(const Pool& pool) { return count_units(pool, true); }

}   // namespace weft::argobots

using namespace weft::argobots;

namespace {

bool is_new(ABT_pool_user_def def) { return to_def(def)->zero == nullptr; }

int pop_of(ABT_pool pool, ABT_pool_context context, weft_unit** unit) {
    Pool* from = pool_of(pool);
    if (!from->built_in()) {
        *unit = from->pop(context);
        return ABT_SUCCESS;
    }
    *unit = nullptr;
    return weft_pool_pop(from->handle, unit) == WEFT_OK ? ABT_SUCCESS : ABT_ERR_POOL;
}

int wait_for(ABT_pool pool, double seconds, ABT_pool_context context, weft_unit** unit) {
    Pool* from = pool_of(pool);
    *unit = nullptr;
    if (from->make == Pool::Make::old) return ABT_ERR_POOL;   // its p_pop_wait came with API 2.0
    if (from->make == Pool::Make::user) {
        if (from->user.pop_wait == nullptr) return ABT_ERR_POOL;
        const ABT_thread popped = from->user.pop_wait(pool, seconds, context);
        *unit = is_null(popped) ? nullptr : to_unit(popped);
        return ABT_SUCCESS;
    }
    const double ns = seconds * 1e9;
    const std::uint64_t end_ns = ns <= 0      ? 0
                                 : ns >= 1e18 ? WEFT_FOREVER
                                              : weft_now_ns() + static_cast<std::uint64_t>(ns);
    for (;;) {
        const weft_status status = weft_pool_pop_wait_until(from->handle, end_ns, unit);
        if (status == WEFT_OK) return ABT_SUCCESS;
        if (status != WEFT_WRONG_CONTEXT) return ABT_ERR_POOL;
        // The caller is a ULT other than a scheduler: it lets other units run meanwhile.
        if (weft_now_ns() >= end_ns) return ABT_SUCCESS;
        if (weft_sleep_for(20'000) != WEFT_OK) weft_unit_yield();
    }
}

struct Visit {
    void* argument;
    void (*thread)(void*, ABT_thread);
    void (*unit)(void*, ABT_unit);
};

void visit_one(const weft_unit_info* info, void* raw) {
    const auto& visit = *static_cast<const Visit*>(raw);
    if (info->state != WEFT_UNIT_READY) return;
    if (visit.thread != nullptr) visit.thread(visit.argument, to_thread(info->unit));
    if (visit.unit != nullptr) visit.unit(visit.argument, unit_handle(info->unit));
}

// Adapts the new print call to an old definition, or the reverse.
struct Thunk {
    void* argument;
    void (*thread)(void*, ABT_thread);
    void (*unit)(void*, ABT_unit);
};

int print_all(ABT_pool pool, void* argument, void (*thread)(void*, ABT_thread), void (*unit)(void*, ABT_unit)) {
    const Pool* of = pool_of(pool);
    if (of->built_in()) {
        Visit visit{argument, thread, unit};
        weft_pool_unit_each(of->handle, visit_one, &visit);
        return ABT_SUCCESS;
    }
    Thunk thunk{argument, thread, unit};
    if (of->make == Pool::Make::old) {
        if (of->old.p_print_all == nullptr) return ABT_ERR_POOL;
        if (unit != nullptr) {
            of->old.p_print_all(pool, argument, unit);
            return ABT_SUCCESS;
        }
        of->old.p_print_all(pool, &thunk, [](void* raw, ABT_unit found) {
            const auto& to = *static_cast<const Thunk*>(raw);
            to.thread(to.argument, thread_handle(found));
        });
        return ABT_SUCCESS;
    }
    if (of->user.print_all == nullptr) return ABT_ERR_POOL;
    if (thread != nullptr) {
        of->user.print_all(pool, argument, thread);
        return ABT_SUCCESS;
    }
    of->user.print_all(pool, &thunk, [](void* raw, ABT_thread found) {
        const auto& to = *static_cast<const Thunk*>(raw);
        to.unit(to.argument, unit_handle(to_unit(found)));
    });
    return ABT_SUCCESS;
}

int push_all(ABT_pool pool, const ABT_thread* threads, std::size_t num, ABT_pool_context context) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    Pool& to = *pool_of(pool);
    if (to.make == Pool::Make::old || (to.make == Pool::Make::user && to.user.push_many == nullptr))
        return ABT_ERR_POOL;
    if (to.built_in()) {
        for (std::size_t i = 0; i < num; ++i) {
            if (is_null(threads[i])) continue;
            if (const int error = push_unit(to, to_unit(threads[i]), context); error != ABT_SUCCESS) return error;
        }
        return ABT_SUCCESS;
    }
    // One call of the pool's push_many for as many units as possible.
    constexpr std::size_t most = 64;
    weft_unit* some[most];
    for (std::size_t done = 0; done < num;) {
        std::size_t n = 0;
        for (; n < most && done < num; ++done) {
            if (!is_null(threads[done])) some[n++] = to_unit(threads[done]);
        }
        const weft_status status = weft_pool_push_many_with(to.handle, some, n, operation_of(context));
        if (status != WEFT_OK) return from_move(status);
    }
    return ABT_SUCCESS;
}

int pop_all(ABT_pool pool, ABT_thread* threads, std::size_t len, std::size_t* num, ABT_pool_context context) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    Pool& from = *pool_of(pool);
    if (from.built_in()) {
        *num = 0;
        const weft_status status = weft_pool_pop_many(from.handle, reinterpret_cast<weft_unit**>(threads), len, num);
        return status == WEFT_OK ? ABT_SUCCESS : ABT_ERR_POOL;
    }
    if (from.make == Pool::Make::old || from.user.pop_many == nullptr) return ABT_ERR_POOL;
    *num = 0;
    if (len != 0) from.user.pop_many(pool, threads, len, num, context);
    return ABT_SUCCESS;
}

}   // namespace

extern "C" {

int ABT_pool_create(ABT_pool_user_def def, ABT_pool_config config, ABT_pool* newpool) {
    *newpool = ABT_POOL_NULL;
    if (is_null(def)) return ABT_ERR_INV_POOL_USER_DEF;
    auto* pool = new (std::nothrow) Pool(is_new(def) ? Pool::Make::user : Pool::Make::old);
    if (pool == nullptr) return ABT_ERR_MEM;
    if (is_new(def)) {
        pool->user = *to_def(def);
    } else {
        const auto* table = reinterpret_cast<const ABT_pool_def*>(def);
        pool->old = *table;
        pool->access = table->access;
    }
    int automatic = ABT_FALSE;
    if (!is_null(config)) ABT_pool_config_get(config, ABT_pool_config_automatic.key, nullptr, &automatic);
    pool->automatic = automatic != ABT_FALSE;
    if (begin_pool(pool, WEFT_POOL_USER) == nullptr) return ABT_ERR_MEM;
    const ABT_pool handle = pool->abt();
    int error = ABT_SUCCESS;
    if (pool->make == Pool::Make::old && pool->old.p_init != nullptr) error = pool->old.p_init(handle, config);
    if (pool->make == Pool::Make::user && pool->user.init != nullptr) error = pool->user.init(handle, config);
    if (error != ABT_SUCCESS) {
        // The pool was never used, and its functions do not know it.
        pool->old.p_get_size = [](ABT_pool) -> std::size_t { return 0; };
        pool->user.get_size = pool->old.p_get_size;
        end_pool(*pool);
        return error;
    }
    *newpool = handle;
    return ABT_SUCCESS;
}

int ABT_pool_create_basic(ABT_pool_kind kind, ABT_pool_access access, ABT_bool automatic, ABT_pool* newpool) {
    *newpool = ABT_POOL_NULL;
    const int kind_number = kind, access_number = access;
    if (kind_number < ABT_POOL_FIFO || kind_number > ABT_POOL_RANDWS) return ABT_ERR_INV_POOL_KIND;
    if (access_number < ABT_POOL_ACCESS_PRIV || access_number > ABT_POOL_ACCESS_MPMC) return ABT_ERR_INV_POOL_ACCESS;
    const Pool* pool = create_pool(kind, access, automatic != ABT_FALSE);
    if (pool == nullptr) return ABT_ERR_MEM;
    *newpool = pool->abt();
    return ABT_SUCCESS;
}

int ABT_pool_free(ABT_pool* pool) {
    if (is_null_at(pool)) return ABT_ERR_INV_POOL;
    if (const int error = free_pool(*pool_of(*pool)); error != ABT_SUCCESS) return error;
    *pool = ABT_POOL_NULL;
    return ABT_SUCCESS;
}

int ABT_pool_get_access(ABT_pool pool, ABT_pool_access* access) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    *access = pool_of(pool)->access;
    return ABT_SUCCESS;
}

int ABT_pool_is_empty(ABT_pool pool, ABT_bool* is_empty) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    const Pool& of = *pool_of(pool);
    *is_empty = of.make == Pool::Make::user ? of.user.is_empty(pool) : to_bool(of.size() == 0);
    return ABT_SUCCESS;
}

int ABT_pool_get_size(ABT_pool pool, size_t* size) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    const Pool& of = *pool_of(pool);
    if (!of.has_size()) return ABT_ERR_POOL;
    *size = of.size();
    return ABT_SUCCESS;
}

int ABT_pool_get_total_size(ABT_pool pool, size_t* size) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    const Pool& of = *pool_of(pool);
    if (!of.has_size()) return ABT_ERR_POOL;
    *size = of.size() + count_blocked(of);
    return ABT_SUCCESS;
}

int ABT_pool_pop_thread_ex(ABT_pool pool, ABT_thread* thread, ABT_pool_context pool_ctx) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    weft_unit* unit = nullptr;
    const int error = pop_of(pool, pool_ctx, &unit);
    *thread = to_thread(unit);
    return error;
}

int ABT_pool_pop_thread(ABT_pool pool, ABT_thread* thread) {
    return ABT_pool_pop_thread_ex(pool, thread, ABT_POOL_CONTEXT_OP_POOL_OTHER);
}

int ABT_pool_pop_threads_ex(ABT_pool pool, ABT_thread* threads, size_t len, size_t* num, ABT_pool_context pool_ctx) {
    return pop_all(pool, threads, len, num, pool_ctx);
}

int ABT_pool_pop_threads(ABT_pool pool, ABT_thread* threads, size_t len, size_t* num) {
    return pop_all(pool, threads, len, num, ABT_POOL_CONTEXT_OP_POOL_OTHER);
}

int ABT_pool_push_thread_ex(ABT_pool pool, ABT_thread thread, ABT_pool_context pool_ctx) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    if (is_null(thread)) return ABT_SUCCESS;   // a scheduler may push the THREAD_NULL that it popped
    return push_unit(*pool_of(pool), to_unit(thread), pool_ctx);
}

int ABT_pool_push_thread(ABT_pool pool, ABT_thread thread) {
    return ABT_pool_push_thread_ex(pool, thread, ABT_POOL_CONTEXT_OP_POOL_OTHER);
}

int ABT_pool_push_threads_ex(ABT_pool pool, const ABT_thread* threads, size_t num, ABT_pool_context pool_ctx) {
    return push_all(pool, threads, num, pool_ctx);
}

int ABT_pool_push_threads(ABT_pool pool, const ABT_thread* threads, size_t num) {
    return push_all(pool, threads, num, ABT_POOL_CONTEXT_OP_POOL_OTHER);
}

int ABT_pool_pop_wait_thread_ex(ABT_pool pool, ABT_thread* thread, double time_secs, ABT_pool_context pool_ctx) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    weft_unit* unit = nullptr;
    const int error = wait_for(pool, time_secs, pool_ctx, &unit);
    if (error == ABT_SUCCESS) *thread = to_thread(unit);
    return error;
}

int ABT_pool_pop_wait_thread(ABT_pool pool, ABT_thread* thread, double time_secs) {
    return ABT_pool_pop_wait_thread_ex(pool, thread, time_secs, ABT_POOL_CONTEXT_OP_POOL_OTHER);
}

int ABT_pool_print_all_threads(ABT_pool pool, void* arg, void (*print_fn)(void* arg, ABT_thread)) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    return print_all(pool, arg, print_fn, nullptr);
}

int ABT_pool_print_all(ABT_pool pool, void* arg, void (*print_fn)(void* arg, ABT_unit)) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    return print_all(pool, arg, nullptr, print_fn);
}

int ABT_pool_set_data(ABT_pool pool, void* data) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    pool_of(pool)->data = data;
    return ABT_SUCCESS;
}

int ABT_pool_get_data(ABT_pool pool, void** data) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    *data = pool_of(pool)->data;
    return ABT_SUCCESS;
}

int ABT_pool_get_id(ABT_pool pool, int* id) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    *id = pool_of(pool)->id;
    return ABT_SUCCESS;
}

int ABT_pool_pop(ABT_pool pool, ABT_unit* unit) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    weft_unit* popped = nullptr;
    const int error = pop_of(pool, ABT_POOL_CONTEXT_OP_POOL_OTHER, &popped);
    *unit = popped == nullptr ? ABT_UNIT_NULL : unit_handle(popped);
    return error;
}

int ABT_pool_pop_wait(ABT_pool pool, ABT_unit* unit, double time_secs) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    weft_unit* popped = nullptr;
    const int error = wait_for(pool, time_secs, ABT_POOL_CONTEXT_OP_POOL_OTHER, &popped);
    if (error == ABT_SUCCESS) *unit = popped == nullptr ? ABT_UNIT_NULL : unit_handle(popped);
    return error;
}

int ABT_pool_pop_timedwait(ABT_pool pool, ABT_unit* unit, double abstime_secs) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    const Pool& from = *pool_of(pool);
    if (from.make == Pool::Make::user) return ABT_ERR_POOL;
    if (from.make == Pool::Make::old) {
        if (from.old.p_pop_timedwait == nullptr) return ABT_ERR_POOL;
        *unit = from.old.p_pop_timedwait(pool, abstime_secs);
        return ABT_SUCCESS;
    }
    return ABT_pool_pop_wait(pool, unit, abstime_secs - ABT_get_wtime());
}

int ABT_pool_remove(ABT_pool pool, ABT_unit unit) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    if (is_null(unit)) return ABT_ERR_INV_UNIT;
    const Pool& from = *pool_of(pool);
    if (from.make == Pool::Make::user) return ABT_ERR_POOL;
    if (from.make == Pool::Make::old)
        return from.old.p_remove == nullptr ? ABT_ERR_POOL : from.old.p_remove(pool, unit);
    switch (weft_pool_remove(from.handle, to_unit(thread_handle(unit)))) {
    case WEFT_OK: return ABT_SUCCESS;
    default: return ABT_ERR_POOL;
    }
}

int ABT_pool_push(ABT_pool pool, ABT_unit unit) {
    if (is_null(pool)) return ABT_ERR_INV_POOL;
    const ABT_thread thread = thread_handle(unit);
    if (is_null(thread)) return ABT_ERR_INV_UNIT;
    return push_unit(*pool_of(pool), to_unit(thread), ABT_POOL_CONTEXT_OP_POOL_OTHER);
}

}   // extern "C"
