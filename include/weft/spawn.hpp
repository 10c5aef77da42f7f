// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads that return a value: weft::spawn, and the handle that joins such a thread.
#pragma once

#include <weft/language.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <weft/status.hpp>
#include <weft/thread.hpp>
#include <weft/unit.hpp>

namespace weft {
inline namespace v0 {

namespace detail {

// The type in which a value is kept until the join.
template <class T>
using kept_value = std::conditional_t<std::is_void_v<T>, std::monostate,
                                      std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, T>>;

// A body's value. The handle owns it, and `destroy` frees the whole object that it is a base of.
template <class T>
struct result {
    void (*destroy)(result* self) noexcept;
    std::optional<kept_value<T>> value = {};
};

template <class T>
struct result_deleter {
    void operator()(result<T>* self) const noexcept { self->destroy(self); }
};
template <class T>
using result_ptr = std::unique_ptr<result<T>, result_deleter<T>>;

// A body with its arguments and its value, in one allocation. The parts are destroyed on the unit's
// stack, however the call ends. If the unit is cancelled, the handle destroys them.
template <class T, class Function, class... Arguments>
struct result_closure final : result<T> {
    template <class F, class... A>
    explicit result_closure(F&& function, A&&... arguments)
        : result<T>{[](result<T>* self) noexcept { delete static_cast<result_closure*>(self); }},
          parts(std::in_place, std::forward<F>(function), std::forward<A>(arguments)...) {}

    static void body(void* argument) {
        auto& self = *static_cast<result_closure*>(argument);
        enter([&self] {
            const struct ending {
                std::optional<std::tuple<Function, Arguments...>>& parts;
                ~ending() { parts.reset(); }
            } at_the_end{self.parts};
            const auto call = [](auto&&... part) -> T { return std::invoke(std::forward<decltype(part)>(part)...); };
            if constexpr (std::is_void_v<T>) {
                std::apply(call, std::move(*self.parts));
                self.value.emplace();
            } else if constexpr (std::is_reference_v<T>) {
                self.value.emplace(std::addressof(std::apply(call, std::move(*self.parts))));
            } else {
                self.value.emplace(std::apply(call, std::move(*self.parts)));
            }
        });
    }

    std::optional<std::tuple<Function, Arguments...>> parts;
};

}   // namespace detail

/** Owns a thread that returns a T: what weft::spawn returns. It is move-only, and one thread at a
 * time may use it. Since 0.7.
 *
 *     weft::join_handle<int> sum = weft::spawn([] { return 40 + 2; });
 *     std::printf("%d\n", sum.join());
 *
 * An exception that left the body is kept until join() rethrows it. If no join() has done so, the
 * destructor calls std::terminate, unless stack unwinding by another exception is what destroys the
 * handle: in all other cases no exception is lost. */
template <class T>
class [[nodiscard]] join_handle {
    static_assert(std::is_void_v<T> || std::is_reference_v<T> || std::is_move_constructible_v<T>,
                  "a value is moved to whoever joins");

public:
    /** What join() returns. */
    using value_type = T;

    /** Owns no thread. */
    join_handle() noexcept = default;
    /** Takes the thread; `other` is left with none. */
    join_handle(join_handle&& other) noexcept
        : unit_(std::exchange(other.unit_, nullptr)), result_(std::move(other.result_)), uncaught_(other.uncaught_) {}
    /** Joins this thread as the destructor does, then takes the other. */
    join_handle& operator=(join_handle&& other) noexcept {
        join_handle(std::move(other)).swap(*this);
        return *this;
    }
    /** Joins, and drops the value that the body has returned. Calls std::terminate when the body
     * ended by an exception and the handle is not being destroyed by stack unwinding, when the body
     * could not run for want of a stack or a pthread, or when joining is impossible, as in a
     * tasklet that would have to wait; not because the unit was cancelled. The object must not
     * outlive its runtime, as weft::thread must not. May switch. */
    ~join_handle() {
        if (unit_ != nullptr) finish();
    }

    /** Whether there is a thread to join. */
    bool joinable() const noexcept { return unit_ != nullptr; }
    /** The thread's id; the id of no unit when there is none. */
    unit_id get_id() const noexcept { return ref().get_id(); }
    /** The handle of the C interface; it stays owned. */
    weft_unit* native_handle() const noexcept { return unit_; }
    /** The unit without the ownership. */
    unit_ref ref() const noexcept { return unit_; }

    /** Waits until the thread has ended, frees it, and returns the value that its body has
     * returned. Rethrows the exception that ended its body, if one did. To be called once:
     * afterwards there is no thread to join.
     *
     * Throws weft::error, and still owns the thread, when nothing was waited for, as
     * weft::thread::join does. Throws weft::not_returned, and owns nothing any more, when the unit
     * was cancelled, or when its body could not run for want of a stack or a pthread; weft::error
     * with WEFT_NOT_RETURNED when the body has ended by this_thread::exit() and so has no value.
     * May switch. */
    T join() {
        const std::exception_ptr ended_by = wait() == WEFT_OK ? nullptr : detail::what_ended(unit_);
        weft_unit_free(std::exchange(unit_, nullptr));
        const detail::result_ptr<T> result = std::move(result_);
        if (ended_by) std::rethrow_exception(ended_by);
        if constexpr (!std::is_void_v<T>) {
            if (!result->value)
                throw error(WEFT_NOT_RETURNED,
                            "WEFT_NOT_RETURNED: the body has called this_thread::exit(), and has no value");
            if constexpr (std::is_reference_v<T>) {
                return static_cast<T>(**result->value);
            } else {
                return std::move(*result->value);
            }
        }
    }

    /** Exchanges two handles. */
    void swap(join_handle& other) noexcept {
        std::swap(unit_, other.unit_);
        result_.swap(other.result_);
        std::swap(uncaught_, other.uncaught_);
    }
    /** Exchanges two handles. */
    friend void swap(join_handle& one, join_handle& other) noexcept { one.swap(other); }

private:
    template <class F, class... A>
    requires detail::spawnable<F, A...>
    friend auto spawn(const attributes& wanted, F&& function, A&&... arguments);

    join_handle(weft_unit* unit, detail::result_ptr<T> result) noexcept : unit_(unit), result_(std::move(result)) {}

    // WEFT_OK or WEFT_NOT_RETURNED: the thread has ended.
    weft_status wait() const {
        if (unit_ != nullptr) detail::expect_runtime(unit_, "weft::join_handle");
        const weft_status status = weft_unit_join(unit_);
        if (!weft_unit_joined(status)) throw error(status);
        return status;
    }

    // An exception that is thrown here meets noexcept: std::terminate.
    void finish() noexcept {
        if (wait() != WEFT_OK && !may_drop(ref().outcome())) std::rethrow_exception(detail::what_ended(unit_));
        weft_unit_free(unit_);
    }

    bool may_drop(unit_outcome outcome) const noexcept {
        return outcome == unit_outcome::cancelled ||
               (outcome == unit_outcome::exception && std::uncaught_exceptions() > uncaught_);
    }

    weft_unit* unit_ = nullptr;
    detail::result_ptr<T> result_;   // null for a body that returns nothing and travels in its argument
    int uncaught_ = std::uncaught_exceptions();
};

/** Spawns a thread that runs a decayed copy of `function` with decayed copies of `arguments`, and
 * returns the handle whose join() returns its value. The body, its arguments and its value lie in
 * one allocation, or in none when the body returns nothing, takes no arguments, is trivially
 * copyable, and fits in a pointer. Throws weft::error when the library refuses (no memory, not
 * initialized, ...). Since 0.7. */
template <class F, class... A>
requires detail::spawnable<F, A...>
[[gnu::always_inline]] inline auto spawn(const attributes& wanted, F&& function, A&&... arguments) {
    using function_type = std::decay_t<F>;
    using value_type = std::invoke_result_t<function_type, std::decay_t<A>...>;
    const detail::unit_options options(wanted);
    weft_unit* unit = nullptr;
    if constexpr (std::is_void_v<value_type> && sizeof...(A) == 0 && detail::packed<function_type>::fits) {
        check(weft_ult_spawn(wanted.pool.native_handle(), detail::packed<function_type>::body,
                             detail::packed<function_type>::pack(function), options.given(), &unit));
        return join_handle<value_type>(unit, nullptr);
    } else {
        using closure_type = detail::result_closure<value_type, function_type, std::decay_t<A>...>;
        auto made = std::make_unique<closure_type>(std::forward<F>(function), std::forward<A>(arguments)...);
        check(weft_ult_spawn(wanted.pool.native_handle(), closure_type::body, made.get(), options.given(), &unit));
        return join_handle<value_type>(unit, detail::result_ptr<value_type>(made.release()));
    }
}

/** Spawns a thread with default attributes; otherwise as spawn(wanted, function, arguments...). */
template <class F, class... A>
requires(detail::not_a_handle<F>&& detail::spawnable<F, A...>)
    [[gnu::always_inline]] inline auto spawn(F&& function, A&&... arguments) {
    return spawn(attributes{}, std::forward<F>(function), std::forward<A>(arguments)...);
}

/** Refuses a call that fits no other form, in one sentence. */
template <class F, class... A>
requires(detail::not_a_handle<F> && !detail::spawnable<F, A...>) void spawn(F&&, A&&...) {
    static_assert(detail::spawnable<F, A...>,
                  "weft::spawn(f, arguments...): f is called with copies of the arguments, which can be moved or "
                  "copied; weft::thread passes a std::stop_token");
}

}   // namespace v0
}   // namespace weft
