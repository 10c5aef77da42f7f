// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pools in C++: where ready units wait. This header has the handles, and the template that fills in
// the C table of a user-defined pool. A pool_ref is one pointer and owns nothing; a `pool` owns a
// pool.
#pragma once

#include <weft/language.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include <weft/pool.h>
#include <weft/status.hpp>
#include <weft/unit.hpp>

namespace weft {
inline namespace v0 {

/** The pools that come with the library. */
enum class pool_kind {
    unspecified = WEFT_POOL_DEFAULT,  /**< as the settings say */
    private_fifo = WEFT_POOL_PRIVATE, /**< first in, first out; drawn from by one stream, without atomics */
    shared_fifo = WEFT_POOL_SHARED,   /**< first in, first out, for any number of streams */
    deque = WEFT_POOL_DEQUE,          /**< one stream's newest first; others steal the oldest */
    user = WEFT_POOL_USER,            /**< made from a type by make_pool */
    lifo = WEFT_POOL_LIFO,            /**< last in, first out; a unit that yields goes behind all others */
    priority = WEFT_POOL_PRIORITY,    /**< the most urgent first; see weft_pool_kind */
    blocking = WEFT_POOL_BLOCKING     /**< as shared_fifo, but its stream sleeps as soon as there is no work */
};

/** How many streams or threads may push to a pool and pop from it: a promise of the program, which
 * checked builds verify; see weft_pool_access. */
enum class pool_access {
    unspecified = WEFT_POOL_ACCESS_DEFAULT, /**< nothing is promised */
    exclusive = WEFT_POOL_ACCESS_PRIVATE,   /**< one stream pushes and pops */
    spsc = WEFT_POOL_ACCESS_SPSC,           /**< one producer, one consumer */
    mpsc = WEFT_POOL_ACCESS_MPSC,           /**< any number of producers, one consumer */
    spmc = WEFT_POOL_ACCESS_SPMC,           /**< one producer, any number of consumers */
    mpmc = WEFT_POOL_ACCESS_MPMC            /**< any number of either */
};

/** A reference to a pool; it owns nothing. Copying it copies the pointer. Any number of threads may
 * use one pool. */
class pool_ref {
public:
    /** No pool. Where a pool is optional, this means the default. */
    constexpr pool_ref() noexcept = default;
    /** The pool behind a handle of the C interface. */
    constexpr pool_ref(weft_pool* handle) noexcept : handle_(handle) {}   // NOLINT: meant to convert

    /** The handle, for calls of the C interface. */
    constexpr weft_pool* native_handle() const noexcept { return handle_; }
    /** Whether there is a pool. */
    explicit constexpr operator bool() const noexcept { return handle_ != nullptr; }
    /** Whether both are the same pool. */
    friend constexpr bool operator==(pool_ref, pool_ref) noexcept = default;

    /** How many units wait: a hint, stale as soon as it returns. */
    std::size_t length() const {
        std::size_t length = 0;
        check(weft_pool_length_get(handle_, &length));
        return length;
    }

    /** What kind of pool it is. */
    pool_kind kind() const {
        weft_pool_kind kind = WEFT_POOL_DEFAULT;
        check(weft_pool_kind_get(handle_, &kind));
        return static_cast<pool_kind>(kind);
    }

    /** The access that was promised for it. */
    pool_access access() const {
        weft_pool_access access = WEFT_POOL_ACCESS_DEFAULT;
        check(weft_pool_access_get(handle_, &access));
        return static_cast<pool_access>(access);
    }

    /** Puts a unit that was popped into this pool, which becomes the unit's pool. */
    void push(unit_ref unit) const { check(weft_pool_push(handle_, unit.native_handle())); }

    /** Takes a ready unit out, to be run by scheduler_ref::run_unit or pushed again; none when no
     * unit waits. */
    unit_ref pop() const {
        weft_unit* unit = nullptr;
        check(weft_pool_pop(handle_, &unit));
        return unit;
    }

    /** Puts several popped units into this pool: all of them, or none when an error is thrown. */
    void push_many(std::span<weft_unit* const> units) const {
        check(weft_pool_push_many(handle_, units.data(), units.size()));
    }

    /** Takes out as many ready units as there are and as fit in `units`. Returns the part of
     * `units` that holds them. */
    std::span<weft_unit*> pop_many(std::span<weft_unit*> units) const {
        std::size_t count = 0;
        check(weft_pool_pop_many(handle_, units.data(), units.size(), &count));
        return units.first(count);
    }

    /** Takes a ready unit out, and waits up to `timeout` for one; none when the time has passed.
     * Not from a unit, only from a scheduler's `run` and from OS threads that are not streams; see
     * weft_pool_pop_wait. */
    unit_ref pop_wait(std::chrono::nanoseconds timeout) const {
        weft_unit* unit = nullptr;
        check(weft_pool_pop_wait_until(handle_, detail::deadline_in(timeout), &unit));
        return unit;
    }

    /** Takes this unit out, wherever in the pool it is. Throws an error with WEFT_WRONG_STATE when
     * the unit does not wait in this pool. */
    void remove(unit_ref unit) const { check(weft_pool_remove(handle_, unit.native_handle())); }

protected:
    /** The handle; a derived class that owns the pool changes it. */
    weft_pool* handle_ = nullptr;
};

/** The pool that `unit` belongs to: where it goes when it becomes ready. */
inline pool_ref pool_of(unit_ref unit) {
    weft_pool* pool = nullptr;
    check(weft_unit_pool_get(unit.native_handle(), &pool));
    return pool;
}

/** Makes `pool` the pool that `unit` belongs to from now on. The unit must have been popped, be
 * suspended, or be the caller; see weft_unit_pool_set. */
inline void set_pool_of(unit_ref unit, pool_ref pool) {
    check(weft_unit_pool_set(unit.native_handle(), pool.native_handle()));
}

/** A pool that is freed with this object. A pool that is still in use then, because a scheduler
 * draws from it or units wait in it, stays until the runtime ends; close() throws in that case. */
class pool : public pool_ref {
public:
    /** No pool. */
    pool() noexcept = default;
    /** Creates one of the pools that come with the library. */
    explicit pool(pool_kind kind) { check(weft_pool_create(static_cast<weft_pool_kind>(kind), &handle_)); }
    /** Creates one of the pools that come with the library, with a promise of how it is
     * accessed. */
    pool(pool_kind kind, pool_access access) {
        const weft_pool_options options{sizeof options, static_cast<weft_pool_kind>(kind),
                                        static_cast<weft_pool_access>(access)};
        check(weft_pool_create_with(&options, &handle_));
    }
    /** Takes ownership of a pool of the C interface. */
    explicit pool(weft_pool* handle) noexcept : pool_ref(handle) {}
    /** Takes the pool; `other` is left with none. */
    pool(pool&& other) noexcept : pool_ref(std::exchange(other.handle_, nullptr)) {}
    /** Frees this pool as the destructor does, then takes the other. */
    pool& operator=(pool&& other) noexcept {
        pool(std::move(other)).swap(*this);
        return *this;
    }
    /** Frees the pool, unless it is in use. */
    ~pool() {
        if (handle_ != nullptr) weft_pool_free(handle_);
    }

    /** Frees the pool now; throws an error with WEFT_BUSY, and keeps the pool, when it is in
     * use. */
    void close() {
        check(weft_pool_free(handle_));
        handle_ = nullptr;
    }

    /** Gives up ownership without freeing the pool. */
    weft_pool* release() noexcept { return std::exchange(handle_, nullptr); }

    /** Exchanges two pools. */
    void swap(pool& other) noexcept { std::swap(handle_, other.handle_); }
    /** Exchanges two pools. */
    friend void swap(pool& one, pool& other) noexcept { one.swap(other); }
};

/** What a type must have to be a pool: `push`, `pop` and `length` as in weft_pool_ops. None of its
 * functions may throw or suspend. These are optional; see weft_pool_ops:
 *
 * - `bool remove(unit)`, without which yield_to cannot take a unit out of the pool
 * - `push(unit, weft_pool_operation)`, called instead of push(unit)
 * - `push_many(units, weft_pool_operation)` and `pop_many(units)`, on spans of units, called
 *   instead of single pushes and pops; pop_many returns how many it has taken
 * - `pop_wait(std::chrono::nanoseconds)`, which returns a unit or none, and may block the OS thread
 * - `attach(unit)` and `detach(unit)`
 * - `bool admit(unit)` instead of attach
 *
 * A unit is a weft_unit* or a unit_ref; unit_ref::link() links units without allocating memory. */
template <class P>
concept pool_policy = std::destructible<P> && requires(P& pool, const P& quiet, weft_unit* unit) {
    { pool.push(unit) }
    noexcept;
    { pool.pop() }
    noexcept->std::convertible_to<unit_ref>;
    { quiet.length() }
    noexcept->std::convertible_to<std::size_t>;
};

namespace detail {

// The C table of a pool type; the table's `destroy` deletes the object.
template <pool_policy P>
constexpr weft_pool_ops pool_table() noexcept {
    weft_pool_ops ops{};
    ops.size = sizeof ops;
    ops.push = [](void* self, weft_unit* unit) { static_cast<P*>(self)->push(unit); };
    ops.pop = [](void* self) { return unit_ref(static_cast<P*>(self)->pop()).native_handle(); };
    ops.length = [](const void* self) -> std::size_t { return static_cast<const P*>(self)->length(); };
    if constexpr (requires(P & pool, weft_unit * unit) {
                      { pool.remove(unit) }
                      noexcept->std::convertible_to<bool>;
                  }) {
        ops.remove = [](void* self, weft_unit* unit) { return static_cast<P*>(self)->remove(unit) ? 1 : 0; };
    }
    if constexpr (requires(P & pool, weft_unit * unit) {
                      { pool.attach(unit) }
                      noexcept;
                  }) {
        ops.attach = [](void* self, weft_unit* unit) { static_cast<P*>(self)->attach(unit); };
    }
    if constexpr (requires(P & pool, weft_unit * unit) {
                      { pool.detach(unit) }
                      noexcept;
                  }) {
        ops.detach = [](void* self, weft_unit* unit) { static_cast<P*>(self)->detach(unit); };
    }
    if constexpr (requires(P & pool, weft_unit * unit) {
                      { pool.admit(unit) }
                      noexcept->std::convertible_to<bool>;
                  }) {
        ops.admit = [](void* self, weft_unit* unit) { return static_cast<P*>(self)->admit(unit) ? 1 : 0; };
    }
    if constexpr (requires(P & pool, weft_unit * unit) {
                      { pool.push(unit, WEFT_POOL_OP_SPAWN) }
                      noexcept;
                  }) {
        ops.push_with = [](void* self, weft_unit* unit, std::uint64_t operation) {
            static_cast<P*>(self)->push(unit, static_cast<weft_pool_operation>(operation));
        };
    }
    if constexpr (requires(P & pool, std::span<weft_unit* const> units) {
                      { pool.push_many(units, WEFT_POOL_OP_SPAWN) }
                      noexcept;
                  }) {
        ops.push_many = [](void* self, weft_unit* const* units, std::size_t count, std::uint64_t operation) {
            static_cast<P*>(self)->push_many(std::span(units, count), static_cast<weft_pool_operation>(operation));
        };
    }
    if constexpr (requires(P & pool, std::span<weft_unit*> units) {
                      { pool.pop_many(units) }
                      noexcept->std::convertible_to<std::size_t>;
                  }) {
        ops.pop_many = [](void* self, weft_unit** units, std::size_t capacity) -> std::size_t {
            return static_cast<P*>(self)->pop_many(std::span(units, capacity));
        };
    }
    if constexpr (requires(P & pool, std::chrono::nanoseconds timeout) {
                      { pool.pop_wait(timeout) }
                      noexcept->std::convertible_to<unit_ref>;
                  }) {
        ops.pop_wait = [](void* self, std::uint64_t deadline_ns) {
            // A deadline beyond the range of std::chrono::nanoseconds becomes the longest timeout.
            constexpr auto longest = static_cast<std::uint64_t>(std::chrono::nanoseconds::max().count());
            const std::uint64_t now_ns = weft_now_ns(), left_ns = deadline_ns < now_ns ? 0 : deadline_ns - now_ns;
            const std::chrono::nanoseconds timeout(static_cast<std::int64_t>(left_ns < longest ? left_ns : longest));
            return unit_ref(static_cast<P*>(self)->pop_wait(timeout)).native_handle();
        };
    }
    ops.destroy = [](void* self) { delete static_cast<P*>(self); };
    return ops;
}

}   // namespace detail

/** The C table of a pool type, for callers of weft_pool_create_user. Its `destroy` deletes the
 * object. */
template <pool_policy P>
inline constexpr weft_pool_ops pool_ops = detail::pool_table<P>();

/** A pool made from a user-defined type. The object lives as long as the pool in the library
 * does. */
template <pool_policy P>
class user_pool : public pool {
public:
    /** Makes the object from `arguments` and a pool around it. */
    template <class... Arguments>
    requires std::constructible_from<P, Arguments...>
    explicit user_pool(std::in_place_t, Arguments&&... arguments) {
        auto policy = std::make_unique<P>(std::forward<Arguments>(arguments)...);
        check(weft_pool_create_user(&pool_ops<P>, policy.get(), &handle_));
        policy_ = policy.release();
    }

    /** The object. */
    P& policy() const noexcept { return *policy_; }
    /** Reaches into the object. */
    P* operator->() const noexcept { return policy_; }

private:
    P* policy_ = nullptr;
};

/** Makes a pool of a user-defined type: `auto pool = weft::make_pool<my_lifo>();`. */
template <pool_policy P, class... Arguments>
user_pool<P> make_pool(Arguments&&... arguments) {
    return user_pool<P>(std::in_place, std::forward<Arguments>(arguments)...);
}

}   // namespace v0
}   // namespace weft
