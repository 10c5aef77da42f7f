// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedulers in C++: a scheduler picks the next unit from its pools. This header has the handles,
// and the template that fills in the C table of a user-defined scheduler. A scheduler_ref is one
// pointer and owns nothing; a `scheduler` owns a scheduler until a stream takes it.
#pragma once

#include <weft/language.hpp>

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <utility>
#include <vector>

#include <weft/sched.h>
#include <weft/pool.hpp>
#include <weft/status.hpp>

namespace weft {
inline namespace v0 {

/** The schedulers that come with the library. */
enum class scheduler_kind {
    unspecified = WEFT_SCHED_DEFAULT,       /**< as the settings say */
    basic = WEFT_SCHED_BASIC,               /**< the first pool, in their order, that has a unit */
    random_steal = WEFT_SCHED_RANDOM_STEAL, /**< the first pool; when it is empty, the others from a random one on */
    user = WEFT_SCHED_USER,                 /**< made from a type by make_scheduler */
    basic_wait = WEFT_SCHED_BASIC_WAIT,     /**< as basic, but its stream sleeps as soon as there is no work */
    priority = WEFT_SCHED_PRIORITY          /**< the pools in the order of importance; see weft_sched_kind */
};

/** A reference to a scheduler; it owns nothing. The functions of a user-defined scheduler are
 * passed one. */
class scheduler_ref {
public:
    /** No scheduler. */
    constexpr scheduler_ref() noexcept = default;
    /** The scheduler behind a handle of the C interface. */
    constexpr scheduler_ref(weft_sched* handle) noexcept : handle_(handle) {}   // NOLINT: meant to convert

    /** The handle, for calls of the C interface. */
    constexpr weft_sched* native_handle() const noexcept { return handle_; }
    /** Whether there is a scheduler. */
    explicit constexpr operator bool() const noexcept { return handle_ != nullptr; }
    /** Whether both are the same scheduler. */
    friend constexpr bool operator==(scheduler_ref, scheduler_ref) noexcept = default;

    /** How many pools it draws from. */
    std::size_t pool_count() const {
        std::size_t count = 0;
        check(weft_sched_pool_count_get(handle_, &count));
        return count;
    }

    /** Pool number `index`, below pool_count(). */
    pool_ref pool(std::size_t index) const {
        weft_pool* pool = nullptr;
        check(weft_sched_pool_get(handle_, index, &pool));
        return pool;
    }

    /** Whether it has `pick` rather than `run`. */
    bool stateless() const {
        bool stateless = false;
        check(weft_sched_stateless_get(handle_, &stateless));
        return stateless;
    }

    /** Sets whether the scheduler is freed when its use ends; see weft_sched_owned_set. To be
     * called before the scheduler is given away. */
    void set_owned(bool owned) const { check(weft_sched_owned_set(handle_, owned)); }

    /** Runs a unit that was popped; returns when it has ended or left the stream. Only from
     * `run`. */
    void run_unit(unit_ref unit) const { check(weft_sched_run_unit(handle_, unit.native_handle())); }
    /** Whether `run` should return: the stream is asked to stop and the pools are empty. Only from
     * `run`, which should call this at least once a millisecond. */
    bool should_stop() const noexcept { return weft_sched_check_stop(handle_); }
    /** Gives the hart back and sleeps until a pool has a unit or the stream has something else to
     * do. Only from `run`. */
    void wait() const { check(weft_sched_wait(handle_)); }

protected:
    /** The handle; a derived class that owns the scheduler changes it. */
    weft_sched* handle_ = nullptr;
};

/** What a type must have to be a stateless scheduler: `pick(scheduler_ref)` returns the next unit,
 * or none. It must not throw or suspend, and is called on units' stacks. */
template <class S>
concept picking_scheduler = std::destructible<S> && requires(S& scheduler, scheduler_ref self) {
    { scheduler.pick(self) }
    noexcept->std::convertible_to<unit_ref>;
};

/** What a type must have to be a scheduler with a loop of its own: `run(scheduler_ref)`; see
 * weft_sched_ops. */
template <class S>
concept running_scheduler = std::destructible<S> && requires(S& scheduler, scheduler_ref self) {
    { scheduler.run(self) }
    noexcept;
};

/** A user-defined scheduler: it has exactly one of `pick` and `run`. */
template <class S>
concept scheduler_policy = picking_scheduler<S>
!= running_scheduler<S>;

namespace detail {

template <scheduler_policy S>
constexpr weft_sched_ops scheduler_table() noexcept {
    weft_sched_ops ops{};
    ops.size = sizeof ops;
    if constexpr (picking_scheduler<S>) {
        ops.pick = [](void* self, weft_sched* sched) {
            return unit_ref(static_cast<S*>(self)->pick(scheduler_ref(sched))).native_handle();
        };
    } else {
        ops.run = [](void* self, weft_sched* sched) { static_cast<S*>(self)->run(scheduler_ref(sched)); };
    }
    ops.destroy = [](void* self) { delete static_cast<S*>(self); };
    return ops;
}

template <class Range>
std::vector<weft_pool*> pool_handles(const Range& pools) {
    std::vector<weft_pool*> handles;
    for (const auto& pool : pools) handles.push_back(static_cast<const pool_ref&>(pool).native_handle());
    return handles;
}

}   // namespace detail

/** The C table of a scheduler type, for callers of weft_sched_create_user. Its `destroy` deletes
 * the object. */
template <scheduler_policy S>
inline constexpr weft_sched_ops scheduler_ops = detail::scheduler_table<S>();

/** A range of pools or of pool references. */
template <class R>
concept pool_range =
    std::ranges::forward_range<const R> && std::derived_from<std::ranges::range_value_t<const R>, pool_ref>;

/** A scheduler that is freed with this object, unless a stream has taken it. */
class scheduler : public scheduler_ref {
public:
    /** No scheduler. */
    scheduler() noexcept = default;
    /** A scheduler that comes with the library, over these pools; the first is the main pool of the
     * stream that will run it. */
    scheduler(scheduler_kind kind, std::initializer_list<pool_ref> pools)
        : scheduler(kind, detail::pool_handles(pools)) {}
    /** A scheduler that comes with the library, over a range of pools; the first is the main
     * pool. */
    template <pool_range R>
    scheduler(scheduler_kind kind, const R& pools) : scheduler(kind, detail::pool_handles(pools)) {}
    /** Takes ownership of a scheduler of the C interface. */
    explicit scheduler(weft_sched* handle) noexcept : scheduler_ref(handle) {}
    /** Takes the scheduler; `other` is left with none. */
    scheduler(scheduler&& other) noexcept : scheduler_ref(std::exchange(other.handle_, nullptr)) {}
    /** Frees this scheduler as the destructor does, then takes the other. */
    scheduler& operator=(scheduler&& other) noexcept {
        scheduler(std::move(other)).swap(*this);
        return *this;
    }
    /** Frees the scheduler. */
    ~scheduler() {
        if (handle_ != nullptr) weft_sched_free(handle_);
    }

    /** Gives up ownership without freeing the scheduler: a stream has taken it. */
    weft_sched* release() noexcept { return std::exchange(handle_, nullptr); }

    /** Pushes the scheduler into a pool, where it runs as a unit and runs `turn` units of its own
     * pools at a time (0: 61); see weft_sched_push. This object gives up ownership: the scheduler
     * is freed when it has ended, unless set_owned(false) was called. Returns its unit, to be
     * joined and freed (weft_unit_join_free). */
    [[gnu::always_inline]] weft_unit* push_into(pool_ref pool, std::size_t turn = 0) {
        const weft_sched_push_options options{sizeof options, turn};
        weft_unit* unit = nullptr;
        check(weft_sched_push(handle_, pool.native_handle(), &options, &unit));
        release();
        return unit;
    }

    /** Exchanges two schedulers. */
    void swap(scheduler& other) noexcept { std::swap(handle_, other.handle_); }
    /** Exchanges two schedulers. */
    friend void swap(scheduler& one, scheduler& other) noexcept { one.swap(other); }

private:
    scheduler(scheduler_kind kind, const std::vector<weft_pool*>& pools) {
        check(weft_sched_create(static_cast<weft_sched_kind>(kind), pools.data(), pools.size(), &handle_));
    }
};

namespace detail {

template <scheduler_policy S, class... Arguments>
scheduler make_scheduler(const std::vector<weft_pool*>& pools, Arguments&&... arguments) {
    auto policy = std::make_unique<S>(std::forward<Arguments>(arguments)...);
    weft_sched* handle = nullptr;
    check(weft_sched_create_user(&scheduler_ops<S>, policy.get(), pools.data(), pools.size(), &handle));
    static_cast<void>(policy.release());   // the table's destroy deletes it
    return scheduler(handle);
}

}   // namespace detail

/** Makes a scheduler of the user-defined type S over these pools, constructed from `arguments`. */
template <scheduler_policy S, class... Arguments>
requires std::constructible_from<S, Arguments...> scheduler make_scheduler(std::initializer_list<pool_ref> pools,
                                                                           Arguments&&... arguments) {
    return detail::make_scheduler<S>(detail::pool_handles(pools), std::forward<Arguments>(arguments)...);
}

/** Makes a scheduler of the user-defined type S over a range of pools, constructed from
 * `arguments`. */
template <scheduler_policy S, pool_range R, class... Arguments>
requires std::constructible_from<S, Arguments...> scheduler make_scheduler(const R& pools, Arguments&&... arguments) {
    return detail::make_scheduler<S>(detail::pool_handles(pools), std::forward<Arguments>(arguments)...);
}

}   // namespace v0
}   // namespace weft
