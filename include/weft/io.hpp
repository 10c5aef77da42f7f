// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Time, events from outside, and calls that block, in C++.
#pragma once

#include <weft/language.hpp>

#include <chrono>
#include <concepts>
#include <exception>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <weft/io.h>
#include <weft/status.hpp>
#include <weft/stream.hpp>
#include <weft/sync.hpp>

namespace weft {
inline namespace v0 {

namespace this_thread {

/** Sleeps for at least `duration`; other units run meanwhile. */
template <class Rep, class Period>
void sleep_for(const std::chrono::duration<Rep, Period>& duration) {
    check(weft_sleep_until(detail::deadline_in(duration)));
}

/** Sleeps until `time` or later; other units run meanwhile. */
template <class Clock, class Duration>
void sleep_until(const std::chrono::time_point<Clock, Duration>& time) {
    detail::wait_by(time, [](std::uint64_t deadline) {
        check(weft_sleep_until(deadline));
        return false;
    });
}

}   // namespace this_thread

namespace detail {

// A call that is made on another thread or stack, with its result or exception.
template <class F>
class remote_call {
public:
    using result = std::invoke_result_t<F&>;

    explicit remote_call(F& function) : function_(function) {}

    static void make(void* raw) noexcept {
        auto& self = *static_cast<remote_call*>(raw);
        try {
            if constexpr (std::is_void_v<result>) {
                std::invoke(self.function_);
            } else {
                self.value_.emplace(std::invoke(self.function_));
            }
        } catch (...) {
            self.exception_ = std::current_exception();
        }
    }

    result finish() {
        if (exception_) std::rethrow_exception(exception_);
        if constexpr (!std::is_void_v<result>) return std::move(*value_);
    }

private:
    struct none {};
    F& function_;
    std::exception_ptr exception_;
    [[no_unique_address]] std::conditional_t<std::is_void_v<result>, none,
                                             std::optional<std::conditional_t<std::is_void_v<result>, none, result>>>
        value_;
};

}   // namespace detail

/** Calls function(), which may block its OS thread, without blocking the stream: other units run
 * meanwhile. Returns the function's result by value, and throws what it throws. See
 * weft_blocking. */
template <std::invocable F>
auto blocking(F&& function) {
    detail::remote_call<std::remove_reference_t<F>> call(function);
    check(weft_blocking(call.make, &call));
    return call.finish();
}

/** Calls function() on the stream's own large stack; the function must not suspend. Returns its
 * result by value, and throws what it throws. See weft_on_stream_stack. */
template <std::invocable F>
auto on_stream_stack(F&& function) {
    detail::remote_call<std::remove_reference_t<F>> call(function);
    check(weft_on_stream_stack(call.make, &call));
    return call.finish();
}

/** Calls function() at a later time, once, unless the timer is cancelled or destroyed before; see
 * weft_timer_start. */
template <std::invocable F>
class timer {
public:
    /** A timer that is not started yet. */
    explicit timer(F function) : function_(std::move(function)) {}
    timer(const timer&) = delete;
    timer& operator=(const timer&) = delete;
    /** Cancels the timer, which must not be about to fire on another stream. */
    ~timer() { cancel(); }

    /** Starts the timer: it will fire after `duration`. */
    template <class Rep, class Period>
    void start(const std::chrono::duration<Rep, Period>& duration) {
        check(weft_timer_start(
            &timer_, [](void* self) { std::invoke(static_cast<timer*>(self)->function_); }, this,
            detail::deadline_in(duration)));
    }
    /** Cancels the timer. True: it will not fire. */
    bool cancel() noexcept { return weft_timer_cancel(&timer_) == WEFT_OK; }

private:
    weft_timer timer_ = {};
    F function_;
};

/** Calls function() between units and while the streams are idle, as long as this object lives; see
 * weft_poller_register. The function returns whether something has happened, and must not throw. */
template <std::predicate F>
class poller {
public:
    /** Begins to call the function. */
    explicit poller(F function, const weft_poller_hint* hint = nullptr) : function_(std::move(function)) {
        check(weft_poller_register(
            [](void* self) noexcept -> bool { return std::invoke(static_cast<poller*>(self)->function_); }, this, hint,
            &poller_));
    }
    poller(const poller&) = delete;
    poller& operator=(const poller&) = delete;
    /** Ends the calls, and waits for one that is running at this moment. */
    ~poller() { weft_poller_unregister(poller_); }

private:
    F function_;
    weft_poller* poller_ = nullptr;
};

}   // namespace v0
}   // namespace weft
