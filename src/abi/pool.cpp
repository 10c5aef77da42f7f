#include "weft/pool.h"

#include <cstring>

#include "abi/convert.hpp"
#include "stream/join.hpp"

using namespace weft;

namespace {

weft_status admit(Pool* made, weft_pool** pool) {
    if (made == nullptr) return fail(WEFT_NO_MEMORY, "no memory for a pool");
    enlist(*made);
    *pool = to_handle(made);
    return WEFT_OK;
}

}  // namespace

extern "C" {

weft_status weft_pool_create(weft_pool_kind kind, weft_pool** pool) noexcept {
    if (pool == nullptr) return is_null("pool");
    if (runtime_or_null() == nullptr) return not_initialized();
    if (kind == WEFT_POOL_DEFAULT) kind = default_pool_kind();
    if (kind != WEFT_POOL_PRIVATE && kind != WEFT_POOL_SHARED && kind != WEFT_POOL_DEQUE) {
        return fail(WEFT_INVALID, "there is no built-in pool of kind %d; see weft_pool_kind", static_cast<int>(kind));
    }
    return admit(make_pool(kind), pool);
}

weft_status weft_pool_create_user(const weft_pool_ops* ops, void* self, weft_pool** pool) noexcept {
    if (ops == nullptr || pool == nullptr) return is_null(ops == nullptr ? "ops" : "pool");
    if (runtime_or_null() == nullptr) return not_initialized();
    weft_pool_ops table{};
    std::memcpy(&table, ops, ops->size < sizeof table ? ops->size : sizeof table);
    if (table.push == nullptr || table.pop == nullptr || table.length == nullptr) {
        return fail(WEFT_INVALID, "a pool's table needs push, pop and length; %s is missing",
                    table.push == nullptr ? "push" : table.pop == nullptr ? "pop" : "length");
    }
    return admit(pool::create_user(table, self), pool);
}

weft_status weft_pool_free(weft_pool* pool) noexcept {
    if (pool == nullptr) return is_null("pool");
    Pool* of = to_pool(pool);
    if (of->automatic || of->drawers.load() != 0) return fail(WEFT_BUSY, "a scheduler draws from the pool; free its stream or scheduler first");
    if (!pool::quiet(*of)) return fail(WEFT_BUSY, "units wait in the pool; let a stream run them first");
    dismiss(*of);
    return WEFT_OK;
}

weft_status weft_pool_length(const weft_pool* pool, size_t* length) noexcept {
    if (pool == nullptr || length == nullptr) return is_null(pool == nullptr ? "pool" : "length");
    *length = pool::length(*to_pool(pool));
    return WEFT_OK;
}

weft_status weft_pool_kind_get(const weft_pool* pool, weft_pool_kind* kind) noexcept {
    if (pool == nullptr || kind == nullptr) return is_null(pool == nullptr ? "pool" : "kind");
    *kind = to_pool(pool)->kind;
    return WEFT_OK;
}

weft_status weft_pool_push(weft_pool* pool, weft_unit* unit) noexcept {
    if (pool == nullptr || unit == nullptr) return is_null(pool == nullptr ? "pool" : "unit");
    Pool* to = to_pool(pool);
    Unit* pushed = to_unit(unit);
    if (!pushed->life.is(State::ready)) return fail(WEFT_WRONG_STATE, "only a ready unit that was popped can be pushed");
    if (pushed->pool != to) {
        if (pushed->has_now(Unit::bound)) return fail(WEFT_WRONG_STATE, "the primary unit stays in the pool of its stream");
        if (foreign_pool(*pushed) != nullptr) return fail(WEFT_WRONG_CONTEXT, "only the stream of a private pool moves its units elsewhere");
        pushed->change_pool(*to);
    }
    pool::push(*to, pushed);
    return WEFT_OK;
}

weft_status weft_pool_pop(weft_pool* pool, weft_unit** unit) noexcept {
    if (pool == nullptr || unit == nullptr) return is_null(pool == nullptr ? "pool" : "unit");
    Pool* from = to_pool(pool);
    if (current_or_null() == nullptr) return fail(WEFT_WRONG_CONTEXT, "only a stream can pop from a pool");
    if (from->kind == WEFT_POOL_PRIVATE && !static_cast<PrivatePool*>(from)->mine()) {
        return fail(WEFT_WRONG_CONTEXT, "the pool is private to another stream");
    }
    Unit* popped = pool::pop(*from);
    while (popped != nullptr && popped->has(Unit::internal)) {   // a letter of the runtime's: nobody else's business
        popped->body(popped->argument);
        popped = pool::pop(*from);
    }
    *unit = weft::to_handle(popped);
    return WEFT_OK;
}

void** weft_unit_link(weft_unit* unit) noexcept { return reinterpret_cast<void**>(&to_unit(unit)->link); }

}  // extern "C"
