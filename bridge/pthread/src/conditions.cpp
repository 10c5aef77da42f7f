// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conditions. A hosted unit is parked by the condition's address. A signal wakes such a unit first,
// and calls the C library only if there is none.
#include <pthread.h>
#include <threads.h>

#include <cerrno>
#include <utility>

#include <weft/guest.h>

#include "c11.hpp"
#include "caller.hpp"
#include "lot.hpp"
#include "mutexes.hpp"
#include "real.hpp"

namespace weft_pthread {

namespace {

// If there are two versions, dlsym may find that of C libraries before 2.3.2.
constexpr const char* current = "GLIBC_2.3.2";
Real<int (*)(pthread_cond_t*, pthread_mutex_t*)> real_wait("pthread_cond_wait", current);
Real<int (*)(pthread_cond_t*, pthread_mutex_t*, const timespec*)> real_timedwait("pthread_cond_timedwait", current);
Real<int (*)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)> real_clockwait("pthread_cond_clockwait");
Real<int (*)(pthread_cond_t*)> real_signal("pthread_cond_signal", current),
    real_broadcast("pthread_cond_broadcast", current);

// glibc's bits beside the number of waiters. relaxed: set at initialization
bool is_shared(const pthread_cond_t& condition) {
    return (__atomic_load_n(&condition.__data.__wrefs, __ATOMIC_RELAXED) & 1) != 0;
}
// relaxed: set at initialization
bool is_monotonic(const pthread_cond_t& condition) {
    return (__atomic_load_n(&condition.__data.__wrefs, __ATOMIC_RELAXED) & 2) != 0;
}

// A waiter that is cancelled passes a signal that it has received on to another waiter. The mutex
// is held again before clean-up handlers run.
struct Turn {
    Waiter waiter;
    pthread_cond_t* const condition;

    explicit Turn(pthread_cond_t* of) : waiter(of), condition(of) {}
    ~Turn() {
        if (waiter.leave() == Why::waker) Lot::wake(condition, 1);
    }
};

// The condition that this thread last waited for, if it has signalled no condition since. If it
// waits for the same condition again, it was woken for nothing.
[[gnu::tls_model("initial-exec")]] constinit thread_local const pthread_cond_t* latest = nullptr;

[[gnu::noinline]] int wait_parked(pthread_cond_t* condition, pthread_mutex_t* mutex, const Deadline& deadline) {
    pthread_testcancel();
    if (std::exchange(latest, condition) == condition) weft_guest_in_vain();
    Why why = Why::time;
    bool late = false;
    {
        Turn turn(condition);
        turn.waiter.enter();
        pthread_testcancel();   // a later cancellation finds it in the lot
        if (const int error = unlock(mutex); error != 0) return error;
        late = deadline.over();
        // A signal in another process wakes no waiter here, so a waiter of a shared condition
        // checks its predicate from time to time. Spurious wake-ups are allowed.
        const bool shared = is_shared(*condition);
        PollInterval interval;
        why = late ? turn.waiter.leave() : turn.waiter.wait(deadline.next(shared ? interval.next_ns() : WEFT_FOREVER));
    }
    if (why == Why::time) latest = nullptr;
    if (why == Why::time && !late) late = deadline.over();
    if (const int error = lock_again(mutex); error != 0) return error;
    if (why == Why::cancel) pthread_testcancel();
    return why == Why::time && late ? ETIMEDOUT : 0;
}

}   // namespace

}   // namespace weft_pthread

using namespace weft_pthread;   // NOLINT: entry points

namespace {

int wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
    if (may_switch()) return wait_parked(condition, mutex, {});
    announce_unlock(mutex);
    return real_wait.get()(condition, mutex);
}

int timed_wait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* time) {
    if (may_switch()) {
        return is_valid(*time)
                   ? wait_parked(condition, mutex, {is_monotonic(*condition) ? CLOCK_MONOTONIC : CLOCK_REALTIME, *time})
                   : EINVAL;
    }
    announce_unlock(mutex);
    return real_timedwait.get()(condition, mutex, time);
}

int signal_one(pthread_cond_t* condition) {
    latest = nullptr;
    if (Lot::any(condition) && Lot::wake(condition, 1).count != 0) return 0;
    return real_signal.get()(condition);
}

int signal_all(pthread_cond_t* condition) {
    latest = nullptr;
    if (Lot::any(condition)) Lot::wake(condition, ~0u);
    return real_broadcast.get()(condition);
}

}   // namespace

extern "C" {

[[gnu::visibility("default")]] int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
    return wait(condition, mutex);
}
[[gnu::visibility("default")]] int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                                          const timespec* time) {
    return timed_wait(condition, mutex, time);
}
[[gnu::visibility("default")]] int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                                          clockid_t clock, const timespec* time) {
    if (may_switch()) {
        if ((clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) || !is_valid(*time)) return EINVAL;
        return wait_parked(condition, mutex, {clock, *time});
    }
    announce_unlock(mutex);
    return real_clockwait.get()(condition, mutex, clock, time);
}
[[gnu::visibility("default")]] int pthread_cond_signal(pthread_cond_t* condition) noexcept {
    return signal_one(condition);
}
[[gnu::visibility("default")]] int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
    return signal_all(condition);
}

[[gnu::visibility("default")]] int cnd_wait(cnd_t* condition, mtx_t* mutex) {
    return to_c11(wait(of_c11(condition), of_c11(mutex)));
}
[[gnu::visibility("default")]] int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* time) {
    return to_c11(timed_wait(of_c11(condition), of_c11(mutex), time));
}
[[gnu::visibility("default")]] int cnd_signal(cnd_t* condition) { return to_c11(signal_one(of_c11(condition))); }
[[gnu::visibility("default")]] int cnd_broadcast(cnd_t* condition) { return to_c11(signal_all(of_c11(condition))); }

}   // extern "C"
