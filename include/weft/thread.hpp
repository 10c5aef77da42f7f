// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads and tasklets with the interface of std::jthread, and the calling thread's view of itself.
//
// A body and its arguments travel to the unit in one allocation, or in none when there are no
// arguments and the callable is trivially copyable and fits in a pointer. The functions in
// namespace detail are the unit's side of this.
#pragma once

#include <weft/language.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <ranges>
#include <span>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/hart.h>
#include <weft/embed/here.hpp>
#include <weft/pool.hpp>
#include <weft/status.hpp>
#include <weft/stream.hpp>
#include <weft/unit.hpp>

namespace weft {
inline namespace v0 {

/** The attributes of a new thread; to be written with designated initialisers. A field that is left
 * out has its default. */
struct attributes {
    /** where the thread waits while it is ready; none: the main pool of the calling stream */
    pool_ref pool = {};
    /** see unit_kind */
    unit_kind kind = unit_kind::unspecified;
    /** at least WEFT_STACK_LEAST; 0: the settings' size */
    std::size_t stack_bytes = 0;
    /** the caller's memory for the stack; it must outlive the join */
    std::span<std::byte> stack = {};
    /** copied, at most 23 bytes */
    const char* name = nullptr;
    /** run the new thread immediately and let the caller wait in its pool */
    bool child_first = false;
    /** record how much of the stack was used; see stack_info */
    bool measure_stack = false;
    /** how urgent the thread is: WEFT_PRIORITY_LEAST to WEFT_PRIORITY_MOST; for pools that use
     * priorities */
    int priority = 0;
    /** without a pool: a hint to use this stream's main pool; none: the calling stream */
    stream_ref stream = {};
    /** only that stream ever runs the thread; only without a pool */
    bool bound = false;
    /** whether the thread may be asked to migrate to another pool */
    bool migratable = true;
    /** for kind automatic: the address that stands for the place that spawns the thread; none: the
     * call, and the body's type */
    const void* site = nullptr;
    /** called when the thread migrates to another pool; see weft_unit_on_migration */
    void (*on_migration)(weft_unit* unit, void* argument) = nullptr;
    /** given to on_migration */
    void* on_migration_argument = nullptr;
    /** what weft_unit_data_get returns; see weft_unit_options. Not for spawn_many */
    void* data = nullptr;
    /** called with data when the unit is freed */
    void (*release)(void* data) = nullptr;
    /** a lasting key: `data` is the thread's value under this key, and not what weft_unit_data_get
     * returns */
    const weft_key* key = nullptr;
    /** for kind hosted: on a pthread that no unit has used */
    bool fresh = false;
    /** the thread has a floating-point environment of its own, and begins with the one in force at
     * the spawn; see weft_unit_options */
    bool own_float = false;
};

namespace detail {

// All fields of weft_unit_options but `size` (tools/headers.py counts them), and whether all have
// their defaults.
class unit_options {
public:
    explicit unit_options(const attributes& wanted) noexcept {
        options_.size = sizeof options_;
        set(options_.kind, static_cast<weft_kind>(wanted.kind));
        set(options_.stack_bytes, wanted.stack.empty() ? wanted.stack_bytes : wanted.stack.size());
        set(options_.stack, static_cast<void*>(wanted.stack.data()));
        set(options_.name, wanted.name);
        set(options_.child_first, wanted.child_first);
        set(options_.measure_stack, wanted.measure_stack);
        // the library refuses 127
        set(options_.priority,
            static_cast<std::int8_t>(wanted.priority < -128 || wanted.priority > 127 ? 127 : wanted.priority));
        set(options_.stream, wanted.stream.native_handle());
        set(options_.bound, wanted.bound);
        set(options_.not_migratable, !wanted.migratable);
        set(options_.on_migration, wanted.on_migration);
        set(options_.on_migration_argument, wanted.on_migration_argument);
        set(options_.site, wanted.site);
        set(options_.data, wanted.data);
        set(options_.release, wanted.release);
        set(options_.fresh, wanted.fresh);
        set(options_.own_float, wanted.own_float);
        set(options_.key, wanted.key);
    }

    // Null for the defaults, so that the library takes its fastest path.
    const weft_unit_options* given() const noexcept { return plain_ ? nullptr : &options_; }

private:
    template <class T>
    void set(T& field, std::type_identity_t<T> value) noexcept {
        field = value;
        plain_ = plain_ && value == T{};
    }

    weft_unit_options options_{};
    bool plain_ = true;
};

// Calls a body: the exception of this_thread::exit() ends here, any other exception propagates to
// the unit.
template <class Call>
void enter(Call&& call) {
    try {
        static_cast<void>(std::forward<Call>(call)());
    } catch (const exit_request&) {}
}

template <class Function, class... Arguments>
struct closure final : closure_base {
    template <class F, class... A>
    explicit closure(F&& function, A&&... arguments)
        : closure_base{[](closure_base* self) noexcept {
              if (!self->body_deletes) {
                  delete static_cast<closure*>(self);
              } else if constexpr (alignof(closure) > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
                  ::operator delete (static_cast<closure*>(self), std::align_val_t{alignof(closure)});
              } else {
                  ::operator delete(static_cast<closure*>(self));
              }
          }},
          parts(std::forward<F>(function), std::forward<A>(arguments)...) {}

    // The body of the unit. It destroys the parts on the unit's stack, however the call ends.
    static void body(void* argument) {
        const std::unique_ptr<closure, deleter> self(static_cast<closure*>(argument));
        enter([&] {
            std::apply([](auto&&... part) { std::invoke(std::forward<decltype(part)>(part)...); },
                       std::move(self->parts));
        });
    }

    struct deleter {
        void operator()(closure* self) const {
            self->body_deletes = true;
            delete self;
        }
    };

    std::tuple<Function, Arguments...> parts;
};

// A callable that travels inside the argument pointer. Its destructor, being trivial, need not run.
template <class Function>
struct packed {
    static constexpr bool fits = std::is_trivially_copyable_v<Function> && sizeof(Function) <= sizeof(void*) &&
                                 alignof(Function) <= alignof(void*);

    static void* pack(const Function& function) noexcept {
        void* argument = nullptr;
        std::memcpy(&argument, &function, sizeof function);
        return argument;
    }

    static void body(void* argument) {
        alignas(Function) std::byte bytes[sizeof(Function)];
        std::memcpy(bytes, &argument, sizeof bytes);
        enter([&] { std::invoke(std::move(*std::launder(reinterpret_cast<Function*>(bytes)))); });
    }
};

using spawn_call = weft_status (*)(weft_pool*, void (*)(void*), void*, const weft_unit_options*, weft_unit**);

struct spawned {
    weft_unit* unit;
    closure_ptr closure;
};

// Every function of the headers through which a program spawns is always inlined, also without
// optimisation. So the address that the library returns to, which a unit keeps as its spawn site,
// lies in the program's function, and the debug information gives the program's line as the line of
// the outermost inlined call.
template <class F, class... A>
[[gnu::always_inline]] inline spawned spawn(spawn_call call, const attributes& wanted, F&& function, A&&... arguments) {
    using function_type = std::decay_t<F>;
    const unit_options options(wanted);
    weft_unit* unit = nullptr;
    if constexpr (sizeof...(A) == 0 && packed<function_type>::fits) {
        check(call(wanted.pool.native_handle(), packed<function_type>::body, packed<function_type>::pack(function),
                   options.given(), &unit));
        return {unit, nullptr};
    } else {
        using closure_type = closure<function_type, std::decay_t<A>...>;
        auto parts = std::make_unique<closure_type>(std::forward<F>(function), std::forward<A>(arguments)...);
        check(call(wanted.pool.native_handle(), closure_type::body, parts.get(), options.given(), &unit));
        return {unit, closure_ptr(parts.release())};
    }
}

template <class F, class... A>
concept spawnable = std::constructible_from<std::decay_t<F>, F> &&(std::constructible_from<std::decay_t<A>, A>&&...) &&
                    std::invocable<std::decay_t<F>, std::decay_t<A>...>;

// As with std::jthread, a body that takes a std::stop_token before its arguments gets one.
template <class F, class... A>
concept takes_stop_token = std::constructible_from<std::decay_t<F>, F> &&
                           (std::constructible_from<std::decay_t<A>, A>&&...) &&
                           std::invocable<std::decay_t<F>, std::stop_token, std::decay_t<A>...>;

template <class F>
concept not_a_handle =
    !std::derived_from<std::remove_cvref_t<F>, unit_handle> && !std::same_as<std::remove_cvref_t<F>, attributes>;

}   // namespace detail

/** A user-level thread, with the interface of std::jthread: it can suspend. The destructor asks it
 * to stop and joins it.
 *
 *     weft::thread hello([] { std::puts("hello"); });
 *     weft::thread patient([](std::stop_token stop) {
 *         while (!stop.stop_requested()) weft::this_thread::yield();
 *     });
 *     hello.join();
 *
 * A callback of the stop state (std::stop_callback) runs in the thread that requests the stop, and
 * must not suspend. */
class thread : public unit_handle {
public:
    /** Owns no thread. */
    thread() noexcept = default;

    /** Spawns a thread that runs a decayed copy of `function` with decayed copies of `arguments`,
     * as std::jthread does: with a std::stop_token before the arguments if it takes one. Throws
     * weft::error when the library refuses (no memory, not initialized, ...). */
    template <class F, class... A>
    requires(detail::not_a_handle<F> && (detail::spawnable<F, A...> || detail::takes_stop_token<F, A...>))
        [[gnu::always_inline]] explicit thread(F&& function, A&&... arguments)
        : thread(attributes{}, std::forward<F>(function), std::forward<A>(arguments)...) {}

    /** Spawns a thread with the attributes `wanted`. With child_first the thread has run up to its
     * first suspension when the constructor returns. */
    template <class F, class... A>
    requires(detail::spawnable<F, A...> || detail::takes_stop_token<F, A...>)
        [[gnu::always_inline]] explicit thread(const attributes& wanted, F&& function, A&&... arguments) {
        if constexpr (detail::takes_stop_token<F, A...>) {
            stop_ = std::stop_source();
            auto [unit, closure] = detail::spawn(weft_ult_spawn, wanted, std::forward<F>(function), stop_.get_token(),
                                                 std::forward<A>(arguments)...);
            adopt(unit, std::move(closure));
        } else {
            auto [unit, closure] =
                detail::spawn(weft_ult_spawn, wanted, std::forward<F>(function), std::forward<A>(arguments)...);
            adopt(unit, std::move(closure));
        }
    }

    /** Takes the thread; `other` is left with none. */
    thread(thread&& other) noexcept = default;
    /** Asks this thread to stop and joins it, as the destructor does, then takes the other one. */
    thread& operator=(thread&& other) noexcept {
        thread(std::move(other)).swap(*this);
        return *this;
    }
    /** Asks the thread to stop, then joins it, as the destructor of unit_handle does. */
    ~thread() {
        if (joinable()) stop_.request_stop();
    }

    /** The source of the token that the body was given. A body that takes no token has no stop
     * state and pays for none: stop_possible() of the source is false then. */
    std::stop_source get_stop_source() const noexcept { return stop_; }
    /** The token that the body was given; see get_stop_source(). */
    std::stop_token get_stop_token() const noexcept { return stop_.get_token(); }
    /** Asks the body to stop. True: the body takes a token and had not been asked before. */
    bool request_stop() noexcept { return stop_.request_stop(); }

    /** Exchanges two threads. */
    void swap(thread& other) noexcept {
        unit_handle::swap(other);
        stop_.swap(other.stop_);
    }
    /** Exchanges two threads. */
    friend void swap(thread& one, thread& other) noexcept { one.swap(other); }

    /** How many harts the process may use: CPUs of its affinity mask, or fewer by the quota of its
     * cgroups. */
    static unsigned hardware_concurrency() noexcept { return static_cast<unsigned>(weft_hart_limit()); }

private:
    std::stop_source stop_{std::nostopstate};
};

/** A unit that runs to completion on the scheduler's stack: it is cheaper than a thread, and cannot
 * suspend. Otherwise it is as weft::thread. */
class tasklet : public unit_handle {
public:
    /** Owns no tasklet. */
    tasklet() noexcept = default;

    /** Spawns a tasklet that runs a decayed copy of `function` with decayed copies of
     * `arguments`. */
    template <class F, class... A>
    requires(detail::not_a_handle<F>&& detail::spawnable<F, A...>)
        [[gnu::always_inline]] explicit tasklet(F&& function, A&&... arguments)
        : tasklet(attributes{}, std::forward<F>(function), std::forward<A>(arguments)...) {}

    /** Spawns a tasklet with the attributes `wanted`. Of these the pool, the name, the priority,
     * the stream, `bound`, the site, the data and the attributes of migration count. A stack larger
     * than the scheduler's is refused. */
    template <class F, class... A>
    requires detail::spawnable<F, A...>
    [[gnu::always_inline]] explicit tasklet(const attributes& wanted, F&& function, A&&... arguments) {
        auto [unit, closure] =
            detail::spawn(weft_tasklet_spawn, wanted, std::forward<F>(function), std::forward<A>(arguments)...);
        adopt(unit, std::move(closure));
    }
};

/** Exchanges two handles. */
inline void swap(unit_handle& one, unit_handle& other) noexcept { one.swap(other); }

namespace detail {

// Waits for all of `units`; the caller checks afterwards how each has ended. Throws when nothing
// was waited for.
inline void wait_for_all(std::span<weft_unit* const> units) {
    const weft_status status = weft_unit_join_many(units.data(), units.size());
    if (!weft_unit_joined(status)) throw error(status);
}

}   // namespace detail

/** Joins all threads and tasklets of a range with one suspension, however many they are; handles
 * that are not joinable are skipped. When all have ended, rethrows the exception of the first in
 * order that ended by one; the exceptions of the others are dropped. Throws weft::error as
 * unit_handle::join when some cannot be waited for. May switch. */
template <std::ranges::forward_range Range>
requires std::derived_from<std::ranges::range_value_t<Range>, unit_handle>
void join_all(Range&& handles) {
    std::vector<weft_unit*> units;
    if constexpr (std::ranges::sized_range<Range>) units.reserve(std::ranges::size(handles));
    for (const unit_handle& handle : handles) units.push_back(handle.native_handle());
    detail::wait_for_all(units);
    std::exception_ptr first;
    for (unit_handle& handle : handles) {
        if (!handle.joinable()) continue;
        try {
            handle.join();
        } catch (...) {
            if (!first) first = std::current_exception();
        }
    }
    if (first) std::rethrow_exception(first);
}

/** Units that spawn_many has spawned together, to be owned and joined together. */
class thread_group {
public:
    /** Owns nothing. */
    thread_group() noexcept = default;
    /** Takes the units; `other` is left with none. */
    thread_group(thread_group&& other) noexcept
        : state_(std::move(other.state_)), units_(std::exchange(other.units_, {})) {}
    /** Joins these units as the destructor does, then takes the others. */
    thread_group& operator=(thread_group&& other) noexcept {
        thread_group(std::move(other)).swap(*this);
        return *this;
    }
    /** Joins. Calls std::terminate when a body ended by an exception, or when joining is
     * impossible, also when no runtime runs any more. */
    ~thread_group() {
        if (!units_.empty()) finish();
    }

    /** How many units there are; 0 after join(). */
    std::size_t size() const noexcept { return units_.size(); }
    /** Whether there is anything to join. */
    bool joinable() const noexcept { return !units_.empty(); }
    /** Unit number `index`, below size(). */
    unit_ref operator[](std::size_t index) const noexcept { return units_[index]; }

    /** Waits until all units have ended, with one suspension, and frees them. Rethrows the
     * exception of the first in order whose body ended by one; the exceptions of the others are
     * dropped. Throws weft::error, and still owns the units, when they cannot be waited for. May
     * switch. */
    void join() {
        detail::wait_for_all(units_);
        std::exception_ptr first;
        weft_unit_join_free_many(units_.data(), units_.size());
        for (weft_unit* unit : units_) {
            if (unit == nullptr) continue;   // it has returned
            if (!first) first = detail::what_ended(unit);
            weft_unit_free(unit);
        }
        units_.clear();
        state_.reset();
        if (first) std::rethrow_exception(first);
    }

    /** Exchanges two groups. */
    void swap(thread_group& other) noexcept {
        state_.swap(other.state_);
        units_.swap(other.units_);
    }
    /** Exchanges two groups. */
    friend void swap(thread_group& one, thread_group& other) noexcept { one.swap(other); }

    template <class F>
    friend thread_group spawn_many(const attributes& wanted, std::size_t count, F&& function);

private:
    // Unit i gets the address of element i of `places`; its number is the distance from the first
    // element.
    template <class Function>
    struct shared_state {
        template <class F>
        shared_state(F&& wanted, std::size_t count) : function(std::forward<F>(wanted)), places(count, this) {}

        static void body(void* argument) {
            const auto* const place = static_cast<const shared_state* const*>(argument);
            const shared_state& state = **place;
            const auto number = static_cast<std::size_t>(place - state.places.data());
            detail::enter([&] { call(state.function, number); });
        }

        static void call(const Function& function, std::size_t number) {
            if constexpr (std::invocable<const Function&, std::size_t>) {
                std::invoke(function, number);
            } else {
                std::invoke(function);
            }
        }

        const Function function;
        std::vector<const shared_state*> places;
    };

    void finish() noexcept {
        detail::expect_runtime(units_.front(), "weft::thread_group");
        join();
    }   // an exception of join() meets noexcept: std::terminate

    // Declared before the units, so that it is destroyed after them. A void pointer with a deleter,
    // to hold any type.
    std::unique_ptr<void, void (*)(void*)> state_{nullptr, [](void*) {}};
    std::vector<weft_unit*> units_;
};

/** Spawns `count` threads with the attributes `wanted`, all of them or none. Thread i calls
 * function(i), or function() when it takes no number. All of them call one copy of `function`, at
 * the same time and as const; the copy lives until the group is joined. With unit_kind::tasklet the
 * units are tasklets. child_first and stack must be left out. */
template <class F>
[[gnu::always_inline]] inline thread_group spawn_many(const attributes& wanted, std::size_t count, F&& function) {
    using function_type = std::decay_t<F>;
    static_assert(std::invocable<const function_type&, std::size_t> || std::invocable<const function_type&>,
                  "the function is called as const, with a std::size_t or with nothing");
    using state_type = thread_group::shared_state<function_type>;
    thread_group group;
    if (count == 0) return group;
    auto state = std::make_unique<state_type>(std::forward<F>(function), count);
    std::vector<void*> arguments(count);
    for (std::size_t i = 0; i < count; ++i) arguments[i] = &state->places[i];
    std::vector<weft_unit*> units(count);
    const detail::unit_options options(wanted);
    check(weft_unit_spawn_many(wanted.pool.native_handle(), count, state_type::body, arguments.data(), options.given(),
                               units.data()));
    group.units_ = std::move(units);
    group.state_ = {state.release(), [](void* held) { delete static_cast<state_type*>(held); }};
    return group;
}

/** Spawns `count` threads with default attributes; otherwise as spawn_many(wanted, count,
 * function). */
template <class F>
[[gnu::always_inline]] inline thread_group spawn_many(std::size_t count, F&& function) {
    return spawn_many(attributes{}, count, std::forward<F>(function));
}

/** The state of the unit that is to run next; see weft_hand_off_to. Since 0.7. */
enum class hand_off_to {
    ready = WEFT_TO_READY,         /**< it waits in its pool */
    suspended = WEFT_TO_SUSPENDED, /**< it is suspended, and resumes */
    popped = WEFT_TO_POPPED        /**< it was popped */
};

/** Operations of the calling thread on itself, as in std::this_thread. */
namespace this_thread {

/** The calling unit, or none outside of units. */
inline unit_ref self() noexcept { return here::unit(); }

/** The calling unit's id; the id of no unit outside of units. */
inline unit_id get_id() noexcept { return self().get_id(); }

/** The calling unit's name, empty when it has none or outside of units. */
inline std::string_view name() noexcept { return self() ? self().name() : std::string_view{}; }

/** Names the calling unit; at most 23 bytes are kept. */
inline void set_name(const char* name) { self().set_name(name); }

/** Lets other units run: the calling thread goes to the end of its pool. May switch. */
inline void yield() { check(weft_unit_yield()); }

/** Lets `unit`, which must be ready, run now in the caller's place. Throws weft::error, and nothing
 * happens, when the unit is not ready or its pool cannot remove a unit from its middle; see
 * weft_unit_yield_to. May switch. */
inline void yield_to(unit_ref unit) { check(weft_unit_yield_to(unit.native_handle())); }

/** As yield_to(), for a unit that is suspended, which this resumes, or for one that was popped; see
 * weft_unit_hand_off. May switch. Since 0.7. */
inline void yield_to(unit_ref unit, hand_off_to from) {
    check(weft_unit_hand_off(unit.native_handle(), static_cast<weft_hand_off_to>(from), WEFT_BY_YIELD));
}

/** As yield_to(), but the calling thread is suspended until it is resumed. May switch. */
inline void suspend_to(unit_ref unit, hand_off_to from = hand_off_to::ready) {
    check(weft_unit_hand_off(unit.native_handle(), static_cast<weft_hand_off_to>(from), WEFT_BY_SUSPEND));
}

/** Suspends the calling thread until it is resumed. The waker must already have a unit_ref to it.
 * May switch. */
inline void suspend() { check(weft_unit_suspend(nullptr, nullptr)); }

/** Suspends the calling thread and calls publish(unit_ref) on whatever runs next, once the thread's
 * stack has been left: publish puts the unit where its waker will find it. A resume may already
 * follow the last act of publish, so after that act publish must not touch the stack of the
 * suspended thread. It must not suspend; an exception that leaves it ends the process. A trivially
 * copyable callable is copied off the stack before it is called, so it may use its own captures
 * until it returns. May switch. */
template <class Publish>
requires std::invocable < std::remove_reference_t<Publish>
&, unit_ref > void suspend(Publish&& publish) {
    using callable = std::remove_reference_t<Publish>;
    check(weft_unit_suspend(
        [](weft_unit* unit, void* argument) noexcept {
            auto* const given = static_cast<callable*>(argument);
            if constexpr (std::is_trivially_copyable_v<callable>) {
                auto copy = *given;
                std::invoke(copy, unit_ref(unit));
            } else {
                std::invoke(*given, unit_ref(unit));
            }
        },
        const_cast<void*>(static_cast<const void*>(std::addressof(publish)))));
}

/** Ends the calling thread or tasklet, which must be a weft::thread, a weft::tasklet, or a unit of
 * spawn_many. Unlike weft_unit_exit it unwinds: the destructors of the unit's frames run. It
 * unwinds by an exception that no handler but catch (...) sees, and such a handler must rethrow it.
 * Throws weft::error with WEFT_WRONG_CONTEXT outside of units. */
[[noreturn]] inline void exit() {
    if (!self()) throw error(WEFT_WRONG_CONTEXT, "WEFT_WRONG_CONTEXT: this_thread::exit() was called outside of units");
    throw detail::exit_request{};
}

}   // namespace this_thread

}   // namespace v0
}   // namespace weft
