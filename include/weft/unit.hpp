// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units in C++. A unit_ref is one pointer and owns nothing. A unit_handle owns a unit and joins it;
// it is the base of weft::thread and weft::tasklet. The unit keeps the exception that ended its
// body; the joiner gets it.
#pragma once

#include <weft/language.hpp>

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <weft/runtime.h>
#include <weft/unit.h>
#include <weft/deadline.hpp>
#include <weft/embed/here.hpp>
#include <weft/kind.hpp>
#include <weft/status.hpp>

namespace weft {
inline namespace v0 {

/** The state of a unit. */
enum class unit_state {
    ready = WEFT_UNIT_READY,         /**< in a pool, or popped and about to run */
    running = WEFT_UNIT_RUNNING,     /**< on a stream */
    suspended = WEFT_UNIT_SUSPENDED, /**< until it is resumed */
    done = WEFT_UNIT_DONE            /**< its body has ended */
};

/** How a unit has ended. Since 0.7. */
enum class unit_outcome {
    /** its body has returned, or called weft_unit_exit */
    returned = WEFT_OUTCOME_RETURNED,
    /** an exception has left its body */
    exception = WEFT_OUTCOME_EXCEPTION,
    /** its end was requested */
    cancelled = WEFT_OUTCOME_CANCELLED,
    /** its body was not called: no stack could be allocated for it */
    no_stack = WEFT_OUTCOME_NO_STACK,
    /** its body was not called: it is hosted, and no pthread could be created for it */
    no_pthread = WEFT_OUTCOME_NO_PTHREAD
};

/** What a join throws when the unit has ended, but has neither returned nor thrown. Its code() is
 * WEFT_NOT_RETURNED. Since 0.7. */
class WEFT_API not_returned : public error {
public:
    /** An error with the library's message about the last failed call of this OS thread. */
    explicit not_returned(unit_outcome outcome) : error(WEFT_NOT_RETURNED), outcome_(outcome) {}

    /** How the unit has ended. */
    unit_outcome outcome() const noexcept { return outcome_; }

private:
    unit_outcome outcome_;
};

/** Identifies a unit, as std::thread::id identifies a thread: ordered, hashable, printable. */
class unit_id {
public:
    /** The id of no unit. */
    constexpr unit_id() noexcept = default;
    /** The id with this number; see weft_unit_id_get. */
    explicit constexpr unit_id(std::uint64_t number) noexcept : number_(number) {}

    /** The number, which no other unit of this run of the runtime has; 0 for no unit. */
    constexpr std::uint64_t number() const noexcept { return number_; }
    /** Orders ids by their numbers. */
    friend constexpr auto operator<=>(unit_id, unit_id) noexcept = default;
    /** Writes the number. */
    template <class Char, class Traits>
    friend std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out, unit_id id) {
        return out << id.number_;
    }

private:
    std::uint64_t number_ = 0;
};

/** What is known about a unit's stack. */
struct stack_info {
    std::span<std::byte> bytes = {}; /**< the usable bytes; empty while it has no stack */
    std::size_t most_bytes = 0;      /**< the most that was ever used, rounded to a page; 0 unless measured */
    bool guarded = false;            /**< by a guard page or a canary */
};

/** How a unit is to begin anew; to be written with designated initialisers. Since 0.7. */
struct revive_options {
    weft_pool* pool = nullptr;  /**< where it waits; null: the main pool of the calling stream */
    bool child_first = false;   /**< run it immediately and let the caller wait in its pool */
    const void* site = nullptr; /**< the address that stands for the place that revives it; null: the call */
};

/** A reference to a unit; it owns nothing. Copying it copies the pointer. It is valid as long as
 * the unit is not freed. */
class unit_ref {
public:
    /** No unit. */
    constexpr unit_ref() noexcept = default;
    /** The unit behind a handle of the C interface. */
    constexpr unit_ref(weft_unit* handle) noexcept : handle_(handle) {}   // NOLINT: meant to convert

    /** The handle, for calls of the C interface. */
    constexpr weft_unit* native_handle() const noexcept { return handle_; }
    /** Whether there is a unit. */
    explicit constexpr operator bool() const noexcept { return handle_ != nullptr; }
    /** Whether both are the same unit. */
    friend constexpr bool operator==(unit_ref, unit_ref) noexcept = default;

    /** Its id. */
    unit_id get_id() const noexcept {
        std::uint64_t number = 0;
        if (handle_ != nullptr) weft_unit_id_get(handle_, &number);
        return unit_id(number);
    }
    /** Its name, empty when it has none; valid as long as the unit exists. */
    std::string_view name() const noexcept {
        const char* name = "";
        if (handle_ != nullptr) weft_unit_name_get(handle_, &name);
        return name;
    }
    /** Names the unit; at most 23 bytes are kept. From the unit itself, or while it does not
     * run. */
    void set_name(const char* name) const { check(weft_unit_name_set(handle_, name)); }

    /** Its kind. */
    unit_kind kind() const {
        weft_kind kind = WEFT_KIND_DEFAULT;
        check(weft_unit_kind_get(handle_, &kind));
        return static_cast<unit_kind>(kind);
    }

    /** How urgent it is, from WEFT_PRIORITY_LEAST to WEFT_PRIORITY_MOST. */
    int priority() const {
        int priority = 0;
        check(weft_unit_priority_get(handle_, &priority));
        return priority;
    }
    /** Changes how urgent it is; takes effect the next time that the unit goes into a pool. */
    void set_priority(int priority) const { check(weft_unit_priority_set(handle_, priority)); }

    /** Its state: stale as soon as this returns, unless it is unit_state::done; a caller that reads
     * `done` sees everything that the unit has done. */
    unit_state state() const {
        weft_unit_state state = WEFT_UNIT_READY;
        check(weft_unit_state_get(handle_, &state));
        return static_cast<unit_state>(state);
    }

    /** How it has ended. Throws an error with WEFT_BUSY when it has not ended. Since 0.7. */
    unit_outcome outcome() const {
        weft_unit_outcome outcome = WEFT_OUTCOME_RETURNED;
        check(weft_unit_outcome_get(handle_, &outcome));
        return static_cast<unit_outcome>(outcome);
    }

    /** Its stack. From the unit itself, or while it does not run. Throws for a tasklet, which has
     * none. */
    stack_info stack() const {
        weft_stack_info info{};
        info.size = sizeof info;
        check(weft_unit_stack_get(handle_, &info));
        const std::size_t bytes = info.lowest == nullptr ? 0 : info.bytes;
        return {{static_cast<std::byte*>(info.lowest), bytes}, info.most_bytes, info.guarded == WEFT_OK};
    }

    /** Makes a suspended unit ready. Throws an error with WEFT_WRONG_STATE when it is not
     * suspended. */
    void resume() const { check(weft_unit_resume(handle_)); }
    /** Makes a suspended unit ready; false when it is not suspended: not yet, or not any more. */
    bool try_resume() const noexcept { return weft_unit_resume(handle_) == WEFT_OK; }

    /** Gives the unit, which must have ended, another life: body(argument) runs in the pool of
     * `wanted`, or in the calling stream's main pool; see weft_unit_revive_with. Since 0.7. */
    [[gnu::always_inline]] void revive(void (*body)(void*), void* argument, const revive_options& wanted = {}) const {
        weft_revive_options options{};
        options.size = sizeof options;
        options.child_first = wanted.child_first;
        options.site = wanted.site;
        check(weft_unit_revive_with(handle_, wanted.pool, body, argument, &options));
    }

    /** Asks the unit to end; see weft_unit_cancel. Its frames are not unwound: where unwinding
     * matters, use the std::stop_token of a weft::thread. Throws an error with WEFT_WRONG_STATE
     * when it has ended. */
    void cancel() const { check(weft_unit_cancel(handle_)); }
    /** Asks the unit to migrate to another pool, given as a weft_pool* or a pool_ref; see
     * weft_unit_migrate_to_pool. */
    template <class Pool>
    void migrate_to(const Pool& pool) const {
        if constexpr (std::is_convertible_v<const Pool&, weft_pool*>) {
            check(weft_unit_migrate_to_pool(handle_, pool));
        } else {
            check(weft_unit_migrate_to_pool(handle_, pool.native_handle()));
        }
    }
    /** Waits until the unit has migrated as requested; see weft_unit_migrate_wait. May
     * switch. */
    void wait_for_migration() const { check(weft_unit_migrate_wait(handle_)); }
    /** As wait_for_migration(), but returns false when the unit has not migrated within `duration`.
     * May switch. */
    template <class Rep, class Period>
    bool wait_for_migration_for(const std::chrono::duration<Rep, Period>& duration) const {
        return detail::in_time(weft_unit_migrate_wait_until(handle_, detail::deadline_in(duration)));
    }
    /** As wait_for_migration(), but returns false when the unit has not migrated before `time`. May
     * switch. */
    template <class Clock, class Duration>
    bool wait_for_migration_until(const std::chrono::time_point<Clock, Duration>& time) const {
        return detail::wait_by(time, [this](std::uint64_t deadline) {
            return detail::in_time(weft_unit_migrate_wait_until(handle_, deadline));
        });
    }
    /** Whether the unit may be asked to migrate to another pool. */
    bool migratable() const {
        bool may = false;
        check(weft_unit_migratable_get(handle_, &may));
        return may;
    }
    /** Sets whether the unit may be asked to migrate to another pool. */
    void set_migratable(bool may) const { check(weft_unit_migratable_set(handle_, may)); }

    /** The unit's link field, which belongs to the pool as long as a pool holds the unit; see
     * weft_unit_link. */
    void*& link() const noexcept { return *weft_unit_link(handle_); }

protected:
    /** The handle; a derived class that owns the unit changes it. */
    weft_unit* handle_ = nullptr;
};

namespace detail {

// What this_thread::exit() throws; the functions that call a body catch it. It is not a
// std::exception, so that only catch (...) sees it.
struct WEFT_API exit_request {};

// A callable with its arguments, on the heap. The body deletes it. `destroy` is for a body that
// never ran, or was cancelled. If the body was cancelled while it deleted the closure, `destroy`
// frees the memory only: destructors that were interrupted do not run again.
struct closure_base {
    void (*destroy)(closure_base*) noexcept;
    bool body_deletes = false;
};
struct closure_deleter {
    void operator()(closure_base* closure) const noexcept { closure->destroy(closure); }
};
using closure_ptr = std::unique_ptr<closure_base, closure_deleter>;

// What a join throws for the unit, after the latest call on it has returned WEFT_NOT_RETURNED.
[[gnu::cold, gnu::noinline]] inline std::exception_ptr what_ended(unit_ref unit) {
    const unit_outcome outcome = unit.outcome();
    if (outcome != unit_outcome::exception) return std::make_exception_ptr(not_returned(outcome));
    void* exception = nullptr;
    check(weft_unit_exception_get(unit.native_handle(), &exception));
    return *static_cast<const std::exception_ptr*>(exception);
}

[[noreturn, gnu::cold, gnu::noinline]] inline void end_outlived(const weft_unit* unit, const char* owner) noexcept {
    weft_unit_outlived(unit, owner);
    std::terminate();
}
// The memory of units is freed with their runtime. For a caller on a stream a runtime certainly
// runs.
[[gnu::always_inline]] inline void expect_runtime(const weft_unit* unit, const char* owner) noexcept {
    if (here() == nullptr && !weft_initialized()) [[unlikely]]
        end_outlived(unit, owner);
}

}   // namespace detail

/** Owns a unit that was spawned, and joins it when destroyed: the base of weft::thread and
 * weft::tasklet.
 *
 * One thread at a time may use the object itself, as with std::thread. The unit keeps an exception
 * that left its body until join() rethrows it. If no join() has done so, the destructor calls
 * std::terminate, as the exception would have done in a std::thread: no exception is lost. */
class unit_handle {
public:
    /** The type that identifies units. */
    using id = unit_id;
    /** The handle of the C interface. */
    using native_handle_type = weft_unit*;

    /** Owns no unit. */
    unit_handle() noexcept = default;
    /** Takes the unit; `other` is left with none. */
    unit_handle(unit_handle&& other) noexcept
        : unit_(std::exchange(other.unit_, nullptr)), closure_(std::move(other.closure_)) {}
    /** Joins this unit as the destructor does, then takes the other. */
    unit_handle& operator=(unit_handle&& other) noexcept {
        unit_handle(std::move(other)).swap(*this);
        return *this;
    }
    /** Joins. Calls std::terminate when the body ended by an exception, or when joining is
     * impossible, as in a tasklet that would have to wait; not because the unit was cancelled. The
     * object must not outlive its runtime: when no runtime runs any more, the destructor says so on
     * standard error and calls std::terminate. */
    ~unit_handle() {
        if (unit_ != nullptr) finish();
    }

    /** Whether there is a unit to join. */
    bool joinable() const noexcept { return unit_ != nullptr; }
    /** The unit's id; the id of no unit when there is none. */
    id get_id() const noexcept { return ref().get_id(); }
    /** The handle of the C interface; it stays owned. */
    native_handle_type native_handle() const noexcept { return unit_; }
    /** The unit without the ownership. */
    unit_ref ref() const noexcept { return unit_; }
    /** The unit without the ownership. */
    operator unit_ref() const noexcept { return unit_; }   // NOLINT: meant to convert

    /** Waits until the unit has ended, and frees it. Rethrows the exception that ended its body, if
     * one did.
     *
     * Throws weft::error, and still owns the unit, when nothing was waited for: WEFT_INVALID (not
     * joinable), WEFT_WRONG_STATE (a unit cannot join itself), WEFT_WRONG_KIND (a tasklet cannot
     * wait), WEFT_BUSY (it is detached). Other threads may wait for the unit by its handle; their
     * waits must have returned before this is called, or have begun before this one.
     *
     * Throws weft::not_returned, and owns nothing any more, when the unit was cancelled, or when
     * its body could not run for want of a stack or a pthread.
     *
     * When no runtime runs any more it ends the process as the destructor does. May switch. */
    void join() {
        expect_runtime();
        settle(weft_unit_join(unit_));
    }

    /** As join(), but returns false immediately when the unit has not ended. */
    bool try_join() {
        const weft_status status = weft_unit_try_join(unit_);
        if (status == WEFT_BUSY) return false;
        settle(status);
        return true;
    }

    /** As join(), but returns false when the unit has not ended within `duration`. May switch. */
    template <class Rep, class Period>
    bool try_join_for(const std::chrono::duration<Rep, Period>& duration) {
        return join_before(detail::deadline_in(duration));
    }

    /** As join(), but returns false when the unit has not ended before `time`. May switch. */
    template <class Clock, class Duration>
    bool try_join_until(const std::chrono::time_point<Clock, Duration>& time) {
        return detail::wait_by(time, [this](std::uint64_t deadline) { return join_before(deadline); });
    }

    /** Lets the unit free itself when it ends. If its body throws afterwards,
     * std::terminate is called, as with a std::thread. */
    void detach() {
        check(weft_unit_detach(unit_));
        unit_ = nullptr;
        static_cast<void>(closure_.release());   // the body deletes it
    }

    /** Exchanges two handles. */
    void swap(unit_handle& other) noexcept {
        std::swap(unit_, other.unit_);
        closure_.swap(other.closure_);
    }

protected:
    /** Takes ownership of a unit that was just spawned, and of the closure that its body will
     * delete. */
    void adopt(weft_unit* unit, detail::closure_ptr closure) noexcept {
        unit_ = unit;
        closure_ = std::move(closure);
    }

private:
    bool join_before(std::uint64_t deadline) {
        const weft_status status = weft_unit_join_until(unit_, deadline);
        if (status == WEFT_TIMED_OUT) return false;
        settle(status);
        return true;
    }

    void expect_runtime() const noexcept {
        if (unit_ != nullptr) detail::expect_runtime(unit_, "weft::thread or weft::tasklet");
    }

    void finish() noexcept {
        expect_runtime();
        const weft_status status = weft_unit_join(unit_);
        if (status == WEFT_NOT_RETURNED && ref().outcome() == unit_outcome::cancelled) return free_unrun();
        settle(status);   // what it throws meets noexcept: std::terminate
    }

    // After a join with this status: frees the unit when it has ended, and throws an error or the
    // unit's exception if there is one.
    void settle(weft_status status) {
        if (status == WEFT_OK) [[likely]] {
            weft_unit_free(std::exchange(unit_, nullptr));
            static_cast<void>(closure_.release());   // the body has deleted it
        } else if (status == WEFT_NOT_RETURNED) {
            throw_outcome();
        } else {
            throw error(status);
        }
    }

    // Frees the unit, whose body has not returned, and throws the exception that ended it, or
    // not_returned.
    [[noreturn, gnu::cold, gnu::noinline]] void throw_outcome() {
        const std::exception_ptr ended_by = detail::what_ended(unit_);
        // the body has deleted it
        if (ref().outcome() == unit_outcome::exception) static_cast<void>(closure_.release());
        free_unrun();
        std::rethrow_exception(ended_by);
    }

    void free_unrun() noexcept {
        weft_unit_free(std::exchange(unit_, nullptr));
        closure_.reset();   // unless the body has deleted it: it did not run, or not to its end
    }

    weft_unit* unit_ = nullptr;
    detail::closure_ptr closure_;
};

/** Calls visit(const weft_unit_info&) for each live unit. A unit that is created or ends meanwhile
 * may be missed. The visitor must not suspend, spawn or free; an exception of the visitor is
 * rethrown here, after the walk. */
template <std::invocable<const weft_unit_info&> Visitor>
void for_each_unit(Visitor&& visit) {
    struct walk {
        std::remove_reference_t<Visitor>& visit;
        std::exception_ptr exception;
    } state{visit, nullptr};
    check(weft_unit_each(
        [](const weft_unit_info* info, void* argument) {
            auto& seen = *static_cast<walk*>(argument);
            if (seen.exception) return;
            try {
                std::invoke(seen.visit, *info);
            } catch (...) {
                seen.exception = std::current_exception();
            }
        },
        &state));
    if (state.exception) std::rethrow_exception(state.exception);
}

}   // namespace v0
}   // namespace weft

/** @cond STD */
/** Hashes a weft::unit_id. */
template <>
struct std::hash<weft::unit_id> {
    /** The hash of its number. */
    std::size_t operator()(weft::unit_id id) const noexcept { return std::hash<std::uint64_t>{}(id.number()); }
};
/** @endcond */
