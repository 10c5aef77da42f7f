// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What threads wait for, in C++: the classes of the standard library, for ULTs and OS threads
// alike, and events, channels and select.
//
// A class that the standard library has, too, behaves as the standard says, but throws weft::error.
// ULTs and OS threads that are not streams may use one object at the same time. In a tasklet, a
// call that would have to wait throws an error with WEFT_WRONG_KIND.
#pragma once

#include <weft/language.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <shared_mutex>
#include <span>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/sync.h>
#include <weft/deadline.hpp>
#include <weft/status.hpp>

namespace weft {
inline namespace v0 {

// ---- mutexes ------------------------------------------------------------------------------------

namespace detail {

// What mutex and recursive_mutex have in common.
class mutex_base {
public:
    mutex_base(const mutex_base&) = delete;
    mutex_base& operator=(const mutex_base&) = delete;

    /** The structure of the C interface. */
    using native_handle_type = weft_mutex*;

    /** Locks; waits as long as another thread or unit holds the mutex. Throws an error with
     * WEFT_WRONG_STATE when the caller holds it already and it is not recursive. */
    void lock() { check(weft_mutex_lock(&mutex_)); }
    /** Locks if the mutex is free. */
    bool try_lock() noexcept { return weft_mutex_try_lock(&mutex_) == WEFT_OK; }
    /** Unlocks. The caller must hold the mutex; otherwise std::terminate is called. */
    void unlock() noexcept { check(weft_mutex_unlock(&mutex_)); }

    /** Locks, if that is possible within `duration`. */
    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period>& duration) {
        return in_time(weft_mutex_lock_until(&mutex_, deadline_in(duration)));
    }
    /** Locks, if that is possible before `time`. */
    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) {
        return wait_by(time,
                       [this](std::uint64_t deadline) { return in_time(weft_mutex_lock_until(&mutex_, deadline)); });
    }

    /** Locks ahead of the waiters of lock(). */
    void lock_high() { check(weft_mutex_lock_urgent(&mutex_, WEFT_URGENCY_HIGH)); }
    /** Locks after all other waiters; see weft_urgency. */
    void lock_low() { check(weft_mutex_lock_urgent(&mutex_, WEFT_URGENCY_LOW)); }
    /** Locks by spinning, without letting other units run meanwhile; see weft_mutex_spin_lock. */
    void spin_lock() { check(weft_mutex_spin_lock(&mutex_)); }

    /** The structure of the C interface. */
    native_handle_type native_handle() noexcept { return &mutex_; }

protected:
    explicit constexpr mutex_base(std::uint32_t word) noexcept : mutex_{word, 0, {}} {}
    ~mutex_base() = default;

private:
    weft_mutex mutex_;
};

}   // namespace detail

/** A lock, as std::mutex and std::timed_mutex. */
class mutex : public detail::mutex_base {
public:
    /** An unlocked mutex. */
    constexpr mutex() noexcept : mutex_base(0) {}
};

/** A mutex that its holder may lock again, as std::recursive_mutex and
 * std::recursive_timed_mutex. */
class recursive_mutex : public detail::mutex_base {
public:
    /** An unlocked mutex. */
    constexpr recursive_mutex() noexcept : mutex_base(1) {}
};

/** An alias of weft::mutex, which supports deadlines already. */
using timed_mutex = mutex;
/** An alias of weft::recursive_mutex, which supports deadlines already. */
using recursive_timed_mutex = recursive_mutex;

/** A lock for many readers or one writer, as std::shared_timed_mutex; neither side starves. */
class shared_mutex {
public:
    /** An unlocked mutex. */
    constexpr shared_mutex() noexcept = default;
    shared_mutex(const shared_mutex&) = delete;
    shared_mutex& operator=(const shared_mutex&) = delete;

    /** The structure of the C interface. */
    using native_handle_type = weft_rwlock*;

    /** Locks for writing. */
    void lock() { check(weft_rwlock_write_lock(&lock_)); }
    /** Locks for writing if no reader or writer holds the mutex. */
    bool try_lock() noexcept { return weft_rwlock_try_write_lock(&lock_) == WEFT_OK; }
    /** Unlocks after lock(). */
    void unlock() noexcept { check(weft_rwlock_unlock(&lock_)); }
    /** Locks for reading; waits for writers that came earlier. */
    void lock_shared() { check(weft_rwlock_read_lock(&lock_)); }
    /** Locks for reading if no writer holds the mutex or waits for it. */
    bool try_lock_shared() noexcept { return weft_rwlock_try_read_lock(&lock_) == WEFT_OK; }
    /** Unlocks after lock_shared(). */
    void unlock_shared() noexcept { check(weft_rwlock_unlock(&lock_)); }

    /** Locks for writing, if that is possible within `duration`. */
    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period>& duration) {
        return detail::in_time(weft_rwlock_write_lock_until(&lock_, detail::deadline_in(duration)));
    }
    /** Locks for writing, if that is possible before `time`. */
    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) {
        return detail::wait_by(time, [this](std::uint64_t deadline) {
            return detail::in_time(weft_rwlock_write_lock_until(&lock_, deadline));
        });
    }
    /** Locks for reading, if that is possible within `duration`. */
    template <class Rep, class Period>
    bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& duration) {
        return detail::in_time(weft_rwlock_read_lock_until(&lock_, detail::deadline_in(duration)));
    }
    /** Locks for reading, if that is possible before `time`. */
    template <class Clock, class Duration>
    bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& time) {
        return detail::wait_by(time, [this](std::uint64_t deadline) {
            return detail::in_time(weft_rwlock_read_lock_until(&lock_, deadline));
        });
    }

    /** The structure of the C interface. */
    native_handle_type native_handle() noexcept { return &lock_; }

private:
    weft_rwlock lock_ = WEFT_RWLOCK_INIT;
};

/** An alias of weft::shared_mutex, which supports deadlines already. */
using shared_timed_mutex = shared_mutex;

// ---- conditions ---------------------------------------------------------------------------------

/** A condition variable, as std::condition_variable, with the stop tokens of
 * std::condition_variable_any. */
class condition_variable {
public:
    /** A condition variable without waiters. */
    constexpr condition_variable() noexcept = default;
    condition_variable(const condition_variable&) = delete;
    condition_variable& operator=(const condition_variable&) = delete;
    /** Requires that there are no waiters, except notified ones whose wait has not returned yet. */
    ~condition_variable() {
        if (mutex_ != nullptr) static_cast<void>(weft_cond_settle(&cond_, mutex_));
    }

    /** The structure of the C interface. */
    using native_handle_type = weft_cond*;

    /** Wakes one waiter. */
    void notify_one() noexcept { weft_cond_signal(&cond_); }
    /** Wakes all waiters. */
    void notify_all() noexcept { weft_cond_broadcast(&cond_); }

    /** Unlocks, waits for a notification, and locks again. May return without a notification. */
    void wait(std::unique_lock<mutex>& lock) { check(weft_cond_wait(&cond_, handle(lock))); }
    /** Waits until `done()` is true. */
    template <std::predicate Done>
    void wait(std::unique_lock<mutex>& lock, Done done) {
        while (!done()) wait(lock);
    }

    /** Waits for a notification until `time` at most. */
    template <class Clock, class Duration>
    std::cv_status wait_until(std::unique_lock<mutex>& lock, const std::chrono::time_point<Clock, Duration>& time) {
        const bool notified = detail::wait_by(time, [&](std::uint64_t deadline) {
            return detail::in_time(weft_cond_wait_until(&cond_, handle(lock), deadline));
        });
        return notified ? std::cv_status::no_timeout : std::cv_status::timeout;
    }
    /** Waits until `done()` is true, or until `time`. Returns the last result of done(). */
    template <class Clock, class Duration, std::predicate Done>
    bool wait_until(std::unique_lock<mutex>& lock, const std::chrono::time_point<Clock, Duration>& time, Done done) {
        while (!done()) {
            if (wait_until(lock, time) == std::cv_status::timeout) return done();
        }
        return true;
    }
    /** Waits for a notification for `duration` at most. */
    template <class Rep, class Period>
    std::cv_status wait_for(std::unique_lock<mutex>& lock, const std::chrono::duration<Rep, Period>& duration) {
        const bool notified =
            detail::in_time(weft_cond_wait_until(&cond_, handle(lock), detail::deadline_in(duration)));
        return notified ? std::cv_status::no_timeout : std::cv_status::timeout;
    }
    /** Waits until `done()` is true, or for `duration`. Returns the last result of done(). */
    template <class Rep, class Period, std::predicate Done>
    bool wait_for(std::unique_lock<mutex>& lock, const std::chrono::duration<Rep, Period>& duration, Done done) {
        return wait_before(lock, detail::deadline_in(duration), std::move(done));
    }

    /** Waits until `done()` is true or a stop is requested. Returns the last result of done(). */
    template <std::predicate Done>
    bool wait(std::unique_lock<mutex>& lock, std::stop_token stop, Done done) {
        return wait_stoppable(lock, stop, WEFT_FOREVER, done);
    }
    /** Waits until `done()` is true, a stop is requested, or `time` has come. Returns the last
     * result of done(). */
    template <class Clock, class Duration, std::predicate Done>
    bool wait_until(std::unique_lock<mutex>& lock, std::stop_token stop,
                    const std::chrono::time_point<Clock, Duration>& time, Done done) {
        bool answer = false;
        detail::wait_by(time, [&](std::uint64_t deadline) {
            answer = wait_stoppable(lock, stop, deadline, done);
            return answer || stop.stop_requested();
        });
        return answer;
    }
    /** Waits until `done()` is true, a stop is requested, or `duration` has passed. Returns the
     * last result of done(). */
    template <class Rep, class Period, std::predicate Done>
    bool wait_for(std::unique_lock<mutex>& lock, std::stop_token stop,
                  const std::chrono::duration<Rep, Period>& duration, Done done) {
        return wait_stoppable(lock, stop, detail::deadline_in(duration), done);
    }

    /** The structure of the C interface. */
    native_handle_type native_handle() noexcept { return &cond_; }

private:
    weft_mutex* handle(std::unique_lock<mutex>& lock) noexcept { return mutex_ = lock.mutex()->native_handle(); }

    template <class Done>
    bool wait_before(std::unique_lock<mutex>& lock, std::uint64_t deadline, Done done) {
        while (!done()) {
            if (!detail::in_time(weft_cond_wait_until(&cond_, handle(lock), deadline))) return done();
        }
        return true;
    }

    template <class Done>
    bool wait_stoppable(std::unique_lock<mutex>& lock, const std::stop_token& stop, std::uint64_t deadline,
                        Done& done) {
        // A request to stop wakes all waiters. A waiter that has checked the token before the
        // request and is enqueued after it learns of the stop by `requested`, which is checked once
        // it is enqueued.
        const std::stop_callback wake(stop, [this] { weft_cond_interrupt(&cond_); });
        const auto requested = [](void* token) { return static_cast<const std::stop_token*>(token)->stop_requested(); };
        while (!stop.stop_requested()) {
            if (done()) return true;
            const weft_status status = weft_cond_wait_unless_until(&cond_, handle(lock), requested,
                                                                   const_cast<std::stop_token*>(&stop), deadline);
            if (!detail::in_time(status)) break;
        }
        return done();
    }

    weft_cond cond_ = WEFT_COND_INIT;
    weft_mutex* mutex_ = nullptr;   // the waiters' mutex: the destructor settles with it
};

// ---- counting -----------------------------------------------------------------------------------

/** A counting semaphore, as std::counting_semaphore. */
template <std::ptrdiff_t LeastMax = WEFT_COUNT_MAX>
class counting_semaphore {
    static_assert(LeastMax >= 0 && LeastMax <= static_cast<std::ptrdiff_t>(WEFT_COUNT_MAX),
                  "it counts to WEFT_COUNT_MAX");

public:
    /** The largest count. */
    static constexpr std::ptrdiff_t max() noexcept { return WEFT_COUNT_MAX; }

    /** The count begins at `desired`. */
    explicit constexpr counting_semaphore(std::ptrdiff_t desired) noexcept
        : semaphore_{static_cast<std::uint32_t>(desired), 0, {}} {}
    counting_semaphore(const counting_semaphore&) = delete;
    counting_semaphore& operator=(const counting_semaphore&) = delete;

    /** Adds `update` to the count; wakes as many waiters as the count can serve. */
    void release(std::ptrdiff_t update = 1) {
        check(weft_semaphore_release(&semaphore_, static_cast<std::uint32_t>(update)));
    }
    /** Subtracts 1 from the count; waits while the count is 0. */
    void acquire() { check(weft_semaphore_acquire(&semaphore_)); }
    /** Subtracts 1 from the count if it is not 0. */
    bool try_acquire() noexcept { return weft_semaphore_try_acquire(&semaphore_) == WEFT_OK; }
    /** Subtracts 1 from the count, if that is possible within `duration`. */
    template <class Rep, class Period>
    bool try_acquire_for(const std::chrono::duration<Rep, Period>& duration) {
        return detail::in_time(weft_semaphore_acquire_until(&semaphore_, detail::deadline_in(duration)));
    }
    /** Subtracts 1 from the count, if that is possible before `time`. */
    template <class Clock, class Duration>
    bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& time) {
        return detail::wait_by(time, [this](std::uint64_t deadline) {
            return detail::in_time(weft_semaphore_acquire_until(&semaphore_, deadline));
        });
    }

private:
    weft_semaphore semaphore_;
};

/** A semaphore that needs to count to 1 only. */
using binary_semaphore = counting_semaphore<1>;

/** Counts down to zero, once, as std::latch. */
class latch {
public:
    /** The largest count. */
    static constexpr std::ptrdiff_t max() noexcept { return WEFT_COUNT_MAX; }

    /** The count begins at `expected`. */
    explicit constexpr latch(std::ptrdiff_t expected) noexcept : latch_{static_cast<std::uint32_t>(expected), 0, {}} {}
    latch(const latch&) = delete;
    latch& operator=(const latch&) = delete;

    /** Counts down by `update`. */
    void count_down(std::ptrdiff_t update = 1) {
        check(weft_latch_count_down(&latch_, static_cast<std::uint32_t>(update)));
    }
    /** Whether the count has reached zero. */
    bool try_wait() const noexcept { return weft_latch_test(&latch_) == WEFT_OK; }
    /** Waits until the count has reached zero. */
    void wait() const { check(weft_latch_wait(const_cast<weft_latch*>(&latch_))); }
    /** Counts down and waits. */
    void arrive_and_wait(std::ptrdiff_t update = 1) {
        count_down(update);
        wait();
    }
    /** Waits until the count has reached zero, or for `duration`. Returns whether it has reached
     * zero. */
    template <class Rep, class Period>
    bool wait_for(const std::chrono::duration<Rep, Period>& duration) const {
        return detail::in_time(weft_latch_wait_until(const_cast<weft_latch*>(&latch_), detail::deadline_in(duration)));
    }
    /** Waits until the count has reached zero, or until `time`. Returns whether it has reached
     * zero. */
    template <class Clock, class Duration>
    bool wait_until(const std::chrono::time_point<Clock, Duration>& time) const {
        return detail::wait_by(time, [this](std::uint64_t deadline) {
            return detail::in_time(weft_latch_wait_until(const_cast<weft_latch*>(&latch_), deadline));
        });
    }

private:
    weft_latch latch_;
};

namespace detail {

// The completion of a barrier that is given none.
struct nothing_to_complete {
    void operator()() noexcept {}
};

}   // namespace detail

/** Lets a number of threads continue together, phase after phase, as std::barrier. The completion
 * must not suspend. */
template <class CompletionFunction = detail::nothing_to_complete>
class barrier {
    static_assert(std::is_nothrow_invocable_v<CompletionFunction&>, "the completion must not throw");

public:
    /** The phase of an arrival. */
    class arrival_token {
    public:
        /** A token of no phase. */
        arrival_token() = default;
        /** Takes the phase. */
        arrival_token(arrival_token&&) noexcept = default;
        /** Takes the phase. */
        arrival_token& operator=(arrival_token&&) noexcept = default;

    private:
        friend barrier;
        std::uint32_t phase_ = 0;
    };

    /** The largest number of expected arrivals. */
    static constexpr std::ptrdiff_t max() noexcept { return WEFT_COUNT_MAX; }

    /** A barrier that expects `expected` arrivals in each phase. */
    explicit barrier(std::ptrdiff_t expected, CompletionFunction completion = CompletionFunction())
        : completion_(std::move(completion)) {
        constexpr bool nothing = std::same_as<CompletionFunction, detail::nothing_to_complete>;
        check(weft_barrier_init(&barrier_, static_cast<std::uint32_t>(expected), nothing ? nullptr : complete, this));
    }
    barrier(const barrier&) = delete;
    barrier& operator=(const barrier&) = delete;

    /** Arrives `update` times, without waiting. */
    [[nodiscard]] arrival_token arrive(std::ptrdiff_t update = 1) {
        arrival_token token;
        check(weft_barrier_arrive(&barrier_, static_cast<std::uint32_t>(update), &token.phase_));
        return token;
    }
    /** Waits until the phase of `arrival` has ended. */
    void wait(arrival_token&& arrival) const {
        check(weft_barrier_wait_phase(const_cast<weft_barrier*>(&barrier_), arrival.phase_));
    }
    /** Arrives and waits. */
    void arrive_and_wait() { check(weft_barrier_wait(&barrier_)); }
    /** Arrives, and reduces the number of expected arrivals by 1 from the next phase on. */
    void arrive_and_drop() { check(weft_barrier_arrive_and_drop(&barrier_)); }

private:
    static void complete(void* self) { static_cast<barrier*>(self)->completion_(); }

    weft_barrier barrier_;
    [[no_unique_address]] CompletionFunction completion_;
};

// ---- events -------------------------------------------------------------------------------------

/** An event that happens once, until it is reset; see weft_event. */
class event {
public:
    /** An event that is not set. */
    constexpr event() noexcept = default;
    event(const event&) = delete;
    event& operator=(const event&) = delete;

    /** Sets the event; false when it was set already. */
    bool set(void* value = nullptr) noexcept { return weft_event_set(&event_, value) == WEFT_OK; }
    /** Whether it is set. */
    bool is_set() const noexcept { return weft_event_test(handle(), nullptr) == WEFT_OK; }
    /** Makes the event unset. Must not be called at the same time as set(). */
    void reset() noexcept { weft_event_reset(&event_); }
    /** Waits until the event is set. Returns the pointer that it carries. */
    void* wait() const {
        void* value = nullptr;
        check(weft_event_wait(handle(), &value));
        return value;
    }
    /** Waits until the event is set, or for `duration`. Returns whether it is set. */
    template <class Rep, class Period>
    bool wait_for(const std::chrono::duration<Rep, Period>& duration) const {
        return detail::in_time(weft_event_wait_until(handle(), detail::deadline_in(duration), nullptr));
    }
    /** Waits until the event is set, or until `time`. Returns whether it is set. */
    template <class Clock, class Duration>
    bool wait_until(const std::chrono::time_point<Clock, Duration>& time) const {
        return detail::wait_by(time, [this](std::uint64_t deadline) {
            return detail::in_time(weft_event_wait_until(handle(), deadline, nullptr));
        });
    }
    /** The structure of the C interface. */
    weft_event* native_handle() noexcept { return &event_; }

private:
    weft_event* handle() const noexcept { return const_cast<weft_event*>(&event_); }
    weft_event event_ = WEFT_EVENT_INIT;
};

/** Waits until one of the events is set. Returns its index, the lowest if several are set. */
template <std::same_as<event>... Events>
std::size_t wait_any(Events&... events) {
    weft_event* const all[] = {events.native_handle()...};
    std::size_t index = 0;
    check(weft_event_wait_any(all, sizeof...(Events), &index));
    return index;
}

/** As wait_any(), but returns an empty optional when none is set within `duration`. Since 0.7. */
template <class Rep, class Period, std::same_as<event>... Events>
std::optional<std::size_t> wait_any_for(const std::chrono::duration<Rep, Period>& duration, Events&... events) {
    weft_event* const all[] = {events.native_handle()...};
    std::size_t index = 0;
    if (!detail::in_time(weft_event_wait_any_until(all, sizeof...(Events), detail::deadline_in(duration), &index)))
        return std::nullopt;
    return index;
}

/** As wait_any(), but returns an empty optional when none is set before `time`. Since 0.7. */
template <class Clock, class Duration, std::same_as<event>... Events>
std::optional<std::size_t> wait_any_until(const std::chrono::time_point<Clock, Duration>& time, Events&... events) {
    weft_event* const all[] = {events.native_handle()...};
    std::size_t index = 0;
    const bool any = detail::wait_by(time, [&](std::uint64_t deadline) {
        return detail::in_time(weft_event_wait_any_until(all, sizeof...(Events), deadline, &index));
    });
    return any ? std::optional(index) : std::nullopt;
}

/** Waits until all of the events are set. */
template <std::same_as<event>... Events>
void wait_all(Events&... events) {
    weft_event* const all[] = {events.native_handle()...};
    check(weft_event_wait_all(all, sizeof...(Events)));
}

/** As wait_all(), but returns false when one is not set within `duration`. Since 0.7. */
template <class Rep, class Period, std::same_as<event>... Events>
bool wait_all_for(const std::chrono::duration<Rep, Period>& duration, Events&... events) {
    weft_event* const all[] = {events.native_handle()...};
    return detail::in_time(weft_event_wait_all_until(all, sizeof...(Events), detail::deadline_in(duration)));
}

/** As wait_all(), but returns false when one is not set before `time`. Since 0.7. */
template <class Clock, class Duration, std::same_as<event>... Events>
bool wait_all_until(const std::chrono::time_point<Clock, Duration>& time, Events&... events) {
    weft_event* const all[] = {events.native_handle()...};
    return detail::wait_by(time, [&all](std::uint64_t deadline) {
        return detail::in_time(weft_event_wait_all_until(all, sizeof...(Events), deadline));
    });
}

// ---- channels -----------------------------------------------------------------------------------

namespace detail {

// Memory for an element. The status that the library returns says whether an element lives in it.
template <class T>
struct slot {
    alignas(T) unsigned char bytes[sizeof(T)];
    T* element() noexcept { return std::launder(reinterpret_cast<T*>(bytes)); }
    T take() noexcept {
        T taken(std::move(*element()));
        element()->~T();
        return taken;
    }
};

}   // namespace detail

/** A bounded queue for any number of senders and receivers, which can be closed. With capacity 0 a
 * send waits until its element is received. Moving a T must not throw. */
template <class T>
class channel {
    static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                  "elements are moved under a lock");
    static_assert(alignof(T) <= alignof(std::max_align_t), "elements lie where malloc puts them");

public:
    /** A channel that holds at most `capacity` elements. */
    explicit channel(std::size_t capacity = 0) {
        weft_channel_options options{};
        options.size = sizeof options;
        options.capacity = capacity;
        options.element_bytes = sizeof(T);
        if constexpr (!std::is_trivially_copyable_v<T>) {
            options.move = [](void* to, void* from) {
                T* const element = static_cast<T*>(from);
                ::new (to) T(std::move(*element));
                element->~T();
            };
            options.drop = [](void* element) { static_cast<T*>(element)->~T(); };
        }
        check(weft_channel_create(&options, &channel_));
    }
    channel(const channel&) = delete;
    channel& operator=(const channel&) = delete;
    /** Requires that no thread or unit waits for the channel any more. Destroys the elements in
     * it. */
    ~channel() { static_cast<void>(weft_channel_free(channel_)); }

    /** Sends; waits until there is room or a receiver. False: the channel is closed. */
    bool send(T element) { return send_before(std::move(element), WEFT_FOREVER) == WEFT_OK; }
    /** Sends if that needs no waiting. */
    bool try_send(T element) { return send_before(std::move(element), 0) == WEFT_OK; }
    /** Receives; waits until there is an element. Returns an empty optional when the channel is
     * closed and empty. */
    std::optional<T> receive() { return receive_before(WEFT_FOREVER); }
    /** Receives if that needs no waiting. */
    std::optional<T> try_receive() { return receive_before(0); }
    /** Sends, if that is possible within `duration`. */
    template <class Rep, class Period>
    bool send_for(T element, const std::chrono::duration<Rep, Period>& duration) {
        return send_before(std::move(element), detail::deadline_in(duration)) == WEFT_OK;
    }
    /** Receives, if that is possible within `duration`. */
    template <class Rep, class Period>
    std::optional<T> receive_for(const std::chrono::duration<Rep, Period>& duration) {
        return receive_before(detail::deadline_in(duration));
    }
    /** Sends, if that is possible before `time`. Since 0.7. */
    template <class Duration>
    bool send_until(T element, const std::chrono::time_point<std::chrono::steady_clock, Duration>& time) {
        return send_before(std::move(element), detail::deadline_of(time)) == WEFT_OK;
    }
    /** Receives, if that is possible before `time`. Since 0.7. */
    template <class Duration>
    std::optional<T> receive_until(const std::chrono::time_point<std::chrono::steady_clock, Duration>& time) {
        return receive_before(detail::deadline_of(time));
    }
    /** Closes the channel: nothing more can be sent. False: it was closed already. */
    bool close() noexcept { return weft_channel_close(channel_) == WEFT_OK; }
    /** How many elements are in the channel: a hint. */
    std::size_t size() const noexcept {
        std::size_t length = 0;
        weft_channel_length_get(channel_, &length);
        return length;
    }
    /** The handle of the C interface. */
    weft_channel* native_handle() const noexcept { return channel_; }

private:
    weft_status send_before(T&& element, std::uint64_t deadline) {
        detail::slot<T> from;
        ::new (static_cast<void*>(from.bytes)) T(std::move(element));
        const weft_status status = weft_channel_send_until(channel_, from.bytes, deadline);
        if (status != WEFT_OK || std::is_trivially_copyable_v<T>) from.element()->~T();
        if (status != WEFT_CLOSED && status != WEFT_TIMED_OUT) check(status);
        return status;
    }

    std::optional<T> receive_before(std::uint64_t deadline) {
        detail::slot<T> to;
        const weft_status status = weft_channel_receive_until(channel_, deadline, to.bytes);
        if (status == WEFT_CLOSED || status == WEFT_TIMED_OUT) return std::nullopt;
        check(status);
        return to.take();
    }

    weft_channel* channel_ = nullptr;
};

namespace detail {

// A case of select() that receives.
template <class T, class Then>
class receiving {
public:
    receiving(channel<T>& from, Then&& then) : from_(from.native_handle()), then_(std::forward<Then>(then)) {}
    receiving(const receiving&) = delete;
    receiving& operator=(const receiving&) = delete;

    weft_channel_case given() noexcept { return {from_, false, to_.bytes, WEFT_OK}; }
    void done(weft_status status) {
        std::optional<T> received;
        if (status != WEFT_CLOSED) received.emplace(to_.take());
        then_(std::move(received));
    }

private:
    weft_channel* from_;
    Then then_;
    slot<T> to_;
};

// A case of select() that sends.
template <class T, class Then>
class sending {
public:
    sending(channel<T>& to, T&& element, Then&& then) : to_(to.native_handle()), then_(std::forward<Then>(then)) {
        ::new (static_cast<void*>(from_.bytes)) T(std::move(element));
    }
    sending(const sending&) = delete;
    sending& operator=(const sending&) = delete;
    ~sending() {
        if (!sent_ || std::is_trivially_copyable_v<T>) from_.element()->~T();
    }

    weft_channel_case given() noexcept { return {to_, true, from_.bytes, WEFT_OK}; }
    void done(weft_status status) {
        sent_ = status == WEFT_OK;
        then_(sent_);
    }

private:
    weft_channel* to_;
    Then then_;
    slot<T> from_;
    bool sent_ = false;
};

template <class Case>
concept select_case = requires(Case& each, weft_status status) {
    { each.given() } -> std::same_as<weft_channel_case>;
    each.done(status);
};

template <select_case... Cases>
std::optional<std::size_t> select_before(std::uint64_t deadline, Cases&... cases) {
    weft_channel_case given[] = {cases.given()...};
    std::size_t index = 0;
    const weft_status status = deadline == WEFT_FOREVER
                                   ? weft_channel_select(given, sizeof...(Cases), &index)
                                   : weft_channel_select_until(given, sizeof...(Cases), deadline, &index);
    if (status == WEFT_TIMED_OUT) return std::nullopt;
    check(status);
    std::size_t at = 0;
    (static_cast<void>(at++ == index ? cases.done(given[index].status) : void()), ...);
    return index;
}

}   // namespace detail

/** A case for select(): receives from `from`. If select() does this case, it calls
 * then(std::optional<T>) with the element, or with an empty optional when the channel is closed and
 * empty. */
template <class T, class Then>
auto on_receive(channel<T>& from, Then&& then) {
    static_assert(std::is_invocable_v<Then&, std::optional<T>>, "on_receive: `then` takes a std::optional<T>");
    return detail::receiving<T, Then>(from, std::forward<Then>(then));
}

/** A case for select(): sends `element` to `to`. If select() does this case, it calls then(bool)
 * with true, or with false when the channel is closed. An element that was not sent is destroyed
 * with the case. */
template <class T, class Then>
auto on_send(channel<T>& to, std::type_identity_t<T> element, Then&& then) {
    static_assert(std::is_invocable_v<Then&, bool>, "on_send: `then` takes a bool");
    return detail::sending<T, Then>(to, std::move(element), std::forward<Then>(then));
}

/** Does exactly one of the cases (on_receive, on_send), as soon as one can be done; if several can,
 * any of them. Then it calls the function of that case, and throws what the function throws.
 *
 *     weft::select(weft::on_receive(orders, [&](std::optional<order> next) { ... }),
 *                  weft::on_send(results, result, [&](bool sent) { ... }));
 *
 * Returns the index of that case, counted from 0. Throws error. From any thread or unit; a ULT may
 * switch. Since 0.7. */
template <detail::select_case... Cases>
requires(sizeof...(Cases) != 0) std::size_t select(Cases&&... cases) {
    return *detail::select_before(WEFT_FOREVER, cases...);
}

/** As select(), if that needs no waiting. Returns an empty optional when no case could be done; no
 * function is called then. */
template <detail::select_case... Cases>
requires(sizeof...(Cases) != 0) std::optional<std::size_t> try_select(Cases&&... cases) {
    return detail::select_before(0, cases...);
}

/** As select(), if a case can be done within `duration`. Returns an empty optional when none could;
 * no function is called then. */
template <class Rep, class Period, detail::select_case... Cases>
requires(sizeof...(Cases) !=
         0) std::optional<std::size_t> select_for(const std::chrono::duration<Rep, Period>& duration,
                                                  Cases&&... cases) {
    return detail::select_before(detail::deadline_in(duration), cases...);
}

/** As select_for(), if a case can be done before `time`. Since 0.7. */
template <class Duration, detail::select_case... Cases>
requires(sizeof...(Cases) != 0) std::optional<std::size_t> select_until(
    const std::chrono::time_point<std::chrono::steady_clock, Duration>& time, Cases&&... cases) {
    return detail::select_before(detail::deadline_of(time), cases...);
}

}   // namespace v0
}   // namespace weft
