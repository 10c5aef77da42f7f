// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "weft/pool.h"
#include "process/registry.hpp"
#include "process/way.hpp"

#include <cstring>

#include "abi/convert.hpp"
#include "carrier/level.hpp"
#include "carrier/pool_wait.hpp"
#include "core/migrate.hpp"
#include "os/clock.hpp"

using namespace weft;

namespace {

weft_status admit(Process& of, Pool* made, weft_pool** pool) {
    if (made == nullptr) return fail(WEFT_NO_MEMORY, "no memory for a pool");
    enlist(of, *made);
    *pool = to_handle(made);
    return WEFT_OK;
}

// For a table that has push_with, which is called instead.
void no_push(void*, weft_unit*) {}

// Whether the unit can be pushed to the pool: WEFT_OK, or the reason why not.
weft_status may_push(const Pool* to, const Unit* unit) {
    if (!unit->life.is(State::ready)) return fail(WEFT_WRONG_STATE, "only a ready unit that was popped can be pushed");
    return may_move(*unit, *to);
}

// Of the units to be pushed, admits those that belong to another pool: all of them, or none.
bool admit_all(Pool& to, weft_unit* const* units, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        if (to_unit(units[i])->pool == &to || pool::admits(to, *to_unit(units[i]))) continue;
        while (i-- > 0) {
            if (to_unit(units[i])->pool != &to) pool::expel(to, *to_unit(units[i]));
        }
        return false;
    }
    return true;
}

// Whether the pool is private, and not the calling stream's: another stream's, or no stream's.
bool is_foreign(const Pool& pool) {
    return pool.kind == WEFT_POOL_PRIVATE && !static_cast<const PrivatePool&>(pool).mine();
}

weft_status pop_foreign(Pool& from, Unit** units, std::size_t capacity, std::size_t& count) {
    if (static_cast<PrivatePool&>(from).pop_orphans(units, capacity, count)) return WEFT_OK;
    return fail(WEFT_WRONG_CONTEXT, "the pool is private to another stream");
}

// A remote call of the runtime does not concern the caller: it is run, and the next unit is taken.
Unit* past_remote_calls(Pool& from, Unit* popped) {
    while (popped != nullptr && popped->has(Unit::internal)) {
        popped->body(popped->argument);
        popped = pool::pop(from);
    }
    return popped;
}

weft_status create(weft_pool_kind kind, weft_pool_access access, weft_pool** pool) {
    if (pool == nullptr) return is_null("pool");
    Process* const of = process_or_null();
    if (of == nullptr) return not_initialized();
    if (kind == WEFT_POOL_DEFAULT)
        kind = access == WEFT_POOL_ACCESS_PRIVATE ? WEFT_POOL_PRIVATE : default_pool_kind(*of);
    if (kind < WEFT_POOL_PRIVATE || kind > WEFT_POOL_BLOCKING || kind == WEFT_POOL_USER) {
        return fail(WEFT_INVALID, "there is no built-in pool of kind %d; see weft_pool_kind", static_cast<int>(kind));
    }
    if (access < WEFT_POOL_ACCESS_DEFAULT || access > WEFT_POOL_ACCESS_MPMC) {
        return fail(WEFT_INVALID, "there is no access %d; see weft_pool_access", static_cast<int>(access));
    }
    if (kind == WEFT_POOL_SHARED && access == WEFT_POOL_ACCESS_PRIVATE) kind = WEFT_POOL_PRIVATE;
    if (kind == WEFT_POOL_PRIVATE && access > WEFT_POOL_ACCESS_MPSC) {
        return fail(WEFT_INVALID, "a private pool has one consumer; for several make it WEFT_POOL_SHARED");
    }
    if (access == WEFT_POOL_ACCESS_DEFAULT) kind = given_for(*of, kind);
    return admit(*of, make_pool(*of, kind, access), pool);
}

}   // namespace

extern "C" {

weft_status weft_pool_create(weft_pool_kind kind, weft_pool** pool) noexcept {
    return create(kind, WEFT_POOL_ACCESS_DEFAULT, pool);
}

weft_status weft_pool_create_with(const weft_pool_options* options, weft_pool** pool) noexcept {
    weft_pool_options given{};
    if (options != nullptr && (options->size < sizeof(std::size_t) || options->size > 4096)) {
        return fail(WEFT_INVALID, "weft_pool_options.size is %zu; set it to sizeof(weft_pool_options)", options->size);
    }
    if (options != nullptr) std::memcpy(&given, options, options->size < sizeof given ? options->size : sizeof given);
    return create(given.kind, given.access, pool);
}

weft_status weft_pool_create_user(const weft_pool_ops* ops, void* self, weft_pool** pool) noexcept {
    if (ops == nullptr || pool == nullptr) return is_null(ops == nullptr ? "ops" : "pool");
    Process* const of = process_or_null();
    if (of == nullptr) return not_initialized();
    weft_pool_ops table{};
    std::memcpy(&table, ops, ops->size < sizeof table ? ops->size : sizeof table);
    if (table.push == nullptr && table.push_with != nullptr) table.push = no_push;
    if (table.push == nullptr || table.pop == nullptr || table.length == nullptr) {
        return fail(WEFT_INVALID, "a pool's table needs push, pop and length; %s is missing",
                    table.push == nullptr  ? "push"
                    : table.pop == nullptr ? "pop"
                                           : "length");
    }
    return admit(*of, pool::create_user(table, self), pool);
}

weft_status weft_pool_free(weft_pool* pool) noexcept {
    if (pool == nullptr) return is_null("pool");
    Process* const of = process_or_null();
    if (of == nullptr) return not_initialized();   // it has gone with its runtime
    Pool& ends = *to_pool(pool);
    if (ends.owned || ends.drawers.load() != 0)
        return fail(WEFT_BUSY, "a scheduler draws from the pool; free its stream or scheduler first");
    if (!pool::quiet(ends)) return fail(WEFT_BUSY, "units wait in the pool; let a stream run them first");
    dismiss(*of, ends);
    return WEFT_OK;
}

weft_status weft_pool_length_get(const weft_pool* pool, size_t* length) noexcept {
    if (pool == nullptr || length == nullptr) return is_null(pool == nullptr ? "pool" : "length");
    *length = pool::length(*to_pool(pool));
    return WEFT_OK;
}

weft_status weft_pool_kind_get(const weft_pool* pool, weft_pool_kind* kind) noexcept {
    if (pool == nullptr || kind == nullptr) return is_null(pool == nullptr ? "pool" : "kind");
    *kind = to_pool(pool)->kind;
    return WEFT_OK;
}

weft_status weft_pool_access_get(const weft_pool* pool, weft_pool_access* access) noexcept {
    if (pool == nullptr || access == nullptr) return is_null(pool == nullptr ? "pool" : "access");
    *access = to_pool(pool)->access;
    return WEFT_OK;
}

weft_status weft_pool_data_set(weft_pool* pool, void* data) noexcept {
    if (pool == nullptr) return is_null("pool");
    to_pool(pool)->data = data;
    return WEFT_OK;
}

weft_status weft_pool_data_get(const weft_pool* pool, void** data) noexcept {
    if (pool == nullptr || data == nullptr) return is_null(pool == nullptr ? "pool" : "data");
    *data = to_pool(pool)->data;
    return WEFT_OK;
}

weft_status weft_pool_push(weft_pool* pool, weft_unit* unit) noexcept {
    return weft_pool_push_with(pool, unit, WEFT_POOL_OP_OTHER);
}

weft_status weft_pool_push_with(weft_pool* pool, weft_unit* unit, uint64_t operation) noexcept {
    if (pool == nullptr || unit == nullptr) return is_null(pool == nullptr ? "pool" : "unit");
    Pool* to = to_pool(pool);
    Unit* pushed = to_unit(unit);
    if (weft_status status = may_push(to, pushed); status != WEFT_OK) return status;
    if (!pool::try_move(*pushed, *to)) return not_admitted();
    if (to->kind == WEFT_POOL_USER) {
        pool::push_user(static_cast<UserPool&>(*to), pushed, operation);
    } else {
        pool::push(*to, pushed);
    }
    return WEFT_OK;
}

weft_status weft_pool_push_many(weft_pool* pool, weft_unit* const* units, size_t count) noexcept {
    return weft_pool_push_many_with(pool, units, count, WEFT_POOL_OP_OTHER);
}

weft_status weft_pool_push_many_with(weft_pool* pool, weft_unit* const* units, size_t count,
                                     uint64_t operation) noexcept {
    if (pool == nullptr || (units == nullptr && count != 0)) return is_null(pool == nullptr ? "pool" : "units");
    if (count == 0) return WEFT_OK;
    Pool* to = to_pool(pool);
    for (size_t i = 0; i < count; ++i) {
        if (units[i] == nullptr) return fail(WEFT_INVALID, "unit %zu is null", i);
        if (weft_status status = may_push(to, to_unit(units[i])); status != WEFT_OK) return status;
    }
    if (pool::asks(*to) && !admit_all(*to, units, count)) return not_admitted();
    Unit* first = nullptr;
    Unit* const last = to_unit(units[count - 1]);
    for (size_t i = count; i-- > 0;) {
        Unit* unit = to_unit(units[i]);
        pool::move(*unit, *to);
        unit->link = first;
        first = unit;
    }
    if (to->kind == WEFT_POOL_USER) {
        pool::push_many_user(static_cast<UserPool&>(*to), first, count, operation);
    } else {
        pool::push_many(*to, first, last, count);
    }
    return WEFT_OK;
}

weft_status weft_pool_pop(weft_pool* pool, weft_unit** unit) noexcept {
    if (pool == nullptr || unit == nullptr) return is_null(pool == nullptr ? "pool" : "unit");
    Pool* from = to_pool(pool);
    if (is_foreign(*from)) [[unlikely]] {
        Unit* popped = nullptr;
        std::size_t count;
        const weft_status status = pop_foreign(*from, &popped, 1, count);
        if (status == WEFT_OK) *unit = weft::to_handle(popped);
        return status;
    }
    *unit = weft::to_handle(past_remote_calls(*from, pool::pop_after_all(*from)));
    return WEFT_OK;
}

weft_status weft_pool_pop_many(weft_pool* pool, weft_unit** units, size_t capacity, size_t* count) noexcept {
    if (pool == nullptr || count == nullptr) return is_null(pool == nullptr ? "pool" : "count");
    if (units == nullptr && capacity != 0) return is_null("units");
    Pool* from = to_pool(pool);
    auto** popped = reinterpret_cast<Unit**>(units);
    if (is_foreign(*from)) [[unlikely]] {
        std::size_t found;
        const weft_status status = pop_foreign(*from, popped, capacity, found);
        if (status != WEFT_OK) return status;
        for (size_t i = 0; i < found; ++i) units[i] = weft::to_handle(popped[i]);
        *count = found;
        return WEFT_OK;
    }
    size_t taken = pool::pop_many(*from, popped, capacity);
    if (taken == 0 && capacity != 0) taken = (popped[0] = pool::pop_after_all(*from)) != nullptr ? 1 : 0;
    size_t kept = 0;
    for (size_t i = 0; i < taken; ++i) {
        Unit* unit = popped[i];
        if (unit->has(Unit::internal)) {
            unit->body(unit->argument);   // a remote call of the runtime
        } else {
            units[kept++] = weft::to_handle(unit);
        }
    }
    *count = kept;
    return WEFT_OK;
}

weft_status weft_pool_pop_wait(weft_pool* pool, weft_unit** unit) noexcept {
    return weft_pool_pop_wait_until(pool, os::forever, unit);
}

weft_status weft_pool_pop_wait_until(weft_pool* pool, uint64_t deadline_ns, weft_unit** unit) noexcept {
    if (weft_status status = weft_pool_pop(pool, unit);
        status != WEFT_OK || *unit != nullptr || deadline_ns <= os::now_ns())
        return status;
    Pool& from = *to_pool(pool);
    if (is_foreign(from))
        return fail(WEFT_WRONG_CONTEXT,
                    "nothing waits in the pool, and only the stream that draws from a private pool waits there");
    Stream* stream = current_or_null();
    if (stream != nullptr && (stream->running == nullptr || !is_main_scheduler(*stream->running))) {
        return fail(
            WEFT_WRONG_CONTEXT,
            "nothing waits in the pool, and a unit that waited would stop its stream; only a scheduler's run and OS "
            "threads that are no streams wait here");
    }
    *unit = weft::to_handle(past_remote_calls(
        from, stream == nullptr ? pop_wait(nullptr, from, deadline_ns) : run_pop_wait(*stream, from, deadline_ns)));
    return WEFT_OK;
}

weft_status weft_pool_remove(weft_pool* pool, weft_unit* unit) noexcept {
    if (pool == nullptr || unit == nullptr) return is_null(pool == nullptr ? "pool" : "unit");
    Unit* removed = to_unit(unit);
    const auto id = static_cast<unsigned long long>(removed->id);
    if (!removed->life.is(State::ready) || removed->pool != to_pool(pool))
        return fail(WEFT_WRONG_STATE, "unit %llu does not wait in this pool", id);
    switch (pool::remove(*to_pool(pool), removed)) {
    case pool::Removal::removed: return WEFT_OK;
    case pool::Removal::absent:
        return fail(WEFT_WRONG_STATE, "unit %llu is about to run elsewhere, or its pusher is not done", id);
    case pool::Removal::impossible: break;
    }
    return fail(
        WEFT_UNSUPPORTED,
        "the pool gives no unit out of its middle (a deque, a user's without remove, another stream's private one)");
}

void** weft_unit_link(weft_unit* unit) noexcept { return reinterpret_cast<void**>(&to_unit(unit)->link); }

}   // extern "C"
