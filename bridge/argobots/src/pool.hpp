// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pools: the handle is Weft's own. What Weft does not know about a pool is attached to it
// (weft_pool_data_set): its number, its access, whether it is freed with its last scheduler, and
// the functions of a user-defined pool.
#pragma once

#include <atomic>
#include <cstddef>

#include "common.hpp"

namespace weft::argobots {

// A definition made by ABT_pool_user_def_create. Both kinds of definition have the same handle
// type. They differ at `zero`: a program's ABT_pool_def has its u_create_from_thread there, which
// is never null.
struct UserDef {
    ABT_pool_user_create_unit_fn create_unit = nullptr;
    ABT_pool_user_free_unit_fn free_unit = nullptr;
    ABT_pool_user_is_empty_fn is_empty = nullptr;
    ABT_pool_user_pop_fn pop = nullptr;
    ABT_pool_user_push_fn push = nullptr;
    void* zero = nullptr;
    ABT_pool_user_init_fn init = nullptr;
    ABT_pool_user_free_fn free = nullptr;
    ABT_pool_user_get_size_fn get_size = nullptr;
    ABT_pool_user_pop_wait_fn pop_wait = nullptr;
    ABT_pool_user_pop_many_fn pop_many = nullptr;
    ABT_pool_user_push_many_fn push_many = nullptr;
    ABT_pool_user_print_all_fn print_all = nullptr;
};
static_assert(offsetof(UserDef, zero) == offsetof(ABT_pool_def, u_create_from_thread));
inline UserDef* to_def(ABT_pool_user_def def) { return reinterpret_cast<UserDef*>(def); }

struct Pool {
    enum class Make : unsigned char { built_in, user, old };   // old: by an ABT_pool_def

    weft_pool* handle = nullptr;
    const Make make;
    ABT_pool_kind kind = ABT_POOL_FIFO;   // of a built-in pool
    ABT_pool_access access = ABT_POOL_ACCESS_MPMC;
    int id = 0;
    bool automatic = false;       // freed with its last scheduler
    std::atomic<int> scheds{0};   // schedulers that have the pool
    void* data = nullptr;         // ABT_pool_set_data
    UserDef user;                 // of Make::user
    ABT_pool_def old{};           // of Make::old
    Pool* next = nullptr;         // in the list of all pools

    explicit Pool(Make of) : make(of) {}

    bool built_in() const { return make == Make::built_in; }
    ABT_pool abt() const { return reinterpret_cast<ABT_pool>(handle); }

    // For a user-defined pool: call its functions.
    ABT_unit create_unit(ABT_thread thread);   // ABT_UNIT_NULL: failed
    void free_unit(ABT_unit unit);
    weft_unit* pop(ABT_pool_context context);
    bool has_size() const {
        return built_in() || (make == Make::old ? old.p_get_size != nullptr : user.get_size != nullptr);
    }
    std::size_t size() const;   // of a pool without a size function: whether it is not empty
};

inline weft_pool* to_weft(ABT_pool pool) { return reinterpret_cast<weft_pool*>(pool); }
inline Pool* pool_of(const weft_pool* pool) {
    void* data = nullptr;
    weft_pool_data_get(pool, &data);
    return static_cast<Pool*>(data);
}
inline Pool* pool_of(ABT_pool pool) { return pool_of(to_weft(pool)); }

inline weft_pool* pool_of_unit(const weft_unit* unit) {
    weft_pool* pool = nullptr;
    weft_unit_pool_get(unit, &pool);
    return pool;
}

// Creates a built-in pool; null: no memory. `access` is as requested.
Pool* create_pool(ABT_pool_kind kind, ABT_pool_access access, bool automatic);
// Makes a record for the pool that Weft has made for its stream 0. Null: no memory.
Pool* adopt_pool(weft_pool* made);

// Frees a pool that no scheduler has, after calling the pool's own p_free. ABT_ERR_POOL: units wait
// in it.
int free_pool(Pool& pool);
// A scheduler takes or releases the pool: an automatic pool is freed with its last scheduler.
void claim_pool(Pool& pool);
void unclaim_pool(Pool& pool);
void forgo_pool(Pool& pool);   // undoes a claim: even an automatic pool stays

// For finalization. `shared`: if the runtime runs on, the pool of others that was the first
// stream's, else null. If Weft ends too, only the records are freed: Weft frees its pools itself.
void free_all_pools(const weft_pool* shared);
void abandon_units(const weft_pool* shared);   // units that wait in any other pool never run
void reset_pool_ids();

// The unit handle of a work unit; in a built-in pool it is computed from the work unit's handle.
ABT_unit unit_handle(weft_unit* unit);
ABT_thread thread_handle(ABT_unit unit);   // ABT_THREAD_NULL: not a unit

// Called after a unit has moved from a user-defined pool to a built-in one, or after it has
// migrated.
void settle_unit(weft_unit* unit);

// Converts Weft's operation of a push to Argobots' context, and back.
ABT_pool_context context_of(std::uint64_t operation);
constexpr std::uint64_t operation_of(ABT_pool_context context) { return context | std::uint64_t{1} << 63; }

// The result of a push, or of a change of the pool.
int from_move(weft_status status);

int push_unit(Pool& to, weft_unit* unit, ABT_pool_context context);
int set_pool(weft_unit* unit, Pool& to);
// The first half of a change of the pool: the unit handle from the former pool stays until
// settle_unit().
int enter_pool(weft_unit* unit, Pool& to);

// The number of live units that belong to the pool and do not wait in it.
std::size_t count_blocked(const Pool& pool);
std::size_t count_alive(const Pool& pool);

}   // namespace weft::argobots
