// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mutexes. Every caller tries the lock first, as the C library does as well: only a caller that
// fails is checked for whether it may park.
//
// With priority inheritance: a mutex without waiters is handled in user space alone, and hosted
// units hold it as threads do. For a mutex with waiters, the kernel takes the OS thread that makes
// the call for the owner. So a hosted unit never waits in the kernel; but if an OS thread does, the
// unit's unlock is refused.
#include "mutexes.hpp"
#include "c11.hpp"

#include <threads.h>

#include <cerrno>
#include <cstdio>

#include <weft/guest.h>

#include "caller.hpp"
#include "lot.hpp"
#include "real.hpp"

namespace weft_pthread {

namespace {

Real<int (*)(pthread_mutex_t*)> real_lock("pthread_mutex_lock"), real_unlock("pthread_mutex_unlock"),
    real_trylock("pthread_mutex_trylock");
Real<int (*)(pthread_mutex_t*, const timespec*)> real_timedlock("pthread_mutex_timedlock");
Real<int (*)(pthread_mutex_t*, clockid_t, const timespec*)> real_clocklock("pthread_mutex_clocklock");

// glibc's kinds of mutex: the type, and bits. With a ceiling (PTHREAD_PRIO_PROTECT) the owner's OS
// thread changes its priority: waits for such a mutex stay in the kernel.
enum Kind : int { types = 3, checks = 2, inherits = 32, protects = 64 };
bool is(const pthread_mutex_t& mutex, Kind kind) { return (mutex.__data.__kind & kind) != 0; }
bool checks_errors(const pthread_mutex_t& mutex) { return (mutex.__data.__kind & types) == checks; }

// Whether the C library takes the mutex for unlocked and the kernel does not: the library ignores
// the kernel's refusal.
bool is_owned_here(const pthread_mutex_t& mutex) {
    const uint32_t self = weft_hosted_thread_id();
    // relaxed: an owner knows that it owns it
    const auto word = static_cast<uint32_t>(__atomic_load_n(&mutex.__data.__lock, __ATOMIC_RELAXED));
    constexpr uint32_t owner = 0x3fffffff;   // FUTEX_TID_MASK
    return self != 0 && (word & owner) == self && mutex.__data.__owner == 0;
}

void report() {
    static std::atomic<bool> said{false};
    if (said.exchange(true)) return;
    std::fputs(
        "weft: a mutex with priority inheritance that a hosted unit holds is waited for by an OS thread: the kernel "
        "refuses to unlock it, and "
        "waiters wait forever\n",
        stderr);
}

bool parks(const pthread_mutex_t& mutex) { return !is(mutex, protects) && may_switch(); }

// Whether the thread waits for the mutex for the first time, or returns to it from a condition:
// lock_again().
enum class Comes : bool { anew, back };

// Parks a caller that may switch and has failed to lock the mutex.
[[gnu::noinline]] int park(pthread_mutex_t* mutex, const Deadline& deadline, Comes comes = Comes::anew) {
    const auto trylock = real_trylock.get();
    int answer = EBUSY;
    // An error-checking mutex reports its error at once; the deadline is long past.
    if (constexpr timespec before{0, 0}; checks_errors(*mutex)) answer = real_timedlock.get()(mutex, &before);
    if (answer != EBUSY && answer != ETIMEDOUT) return answer;
    const bool looks = comes == Comes::anew || weft::here::kind() == WEFT_KIND_HOSTED;
    for (int i = 0; looks && i < 8; ++i) {   // it may be held for a few instructions
        for (int j = 0; j < 1 << i; ++j) relax();
        if ((answer = trylock(mutex)) != EBUSY) return answer;
    }
    Waiter self(mutex);
    for (PollInterval interval;;) {
        self.enter();
        if ((answer = trylock(mutex)) != EBUSY) return answer;
        if (deadline.over()) return ETIMEDOUT;
        if (comes == Comes::back) weft_guest_in_vain();
        if (self.wait(deadline.next(interval.next_ns())) != Why::waker) continue;
        if ((answer = trylock(mutex)) != EBUSY) return answer;
        self.in_vain();
        interval.renew();
    }
}

[[gnu::noinline]] void wake_one(pthread_mutex_t* mutex) {
    // A unit that unlocks and locks again, and leaves its hart only while it holds the mutex, would
    // never let the other waiter have it.
    if (Lot::wake(mutex, 1).starved && may_switch()) weft_unit_yield();
}

}   // namespace

int lock(pthread_mutex_t* mutex) noexcept {
    const int answer = real_trylock.get()(mutex);
    if (answer != EBUSY) [[likely]]
        return answer;
    return parks(*mutex) ? park(mutex, {}) : real_lock.get()(mutex);
}

int lock_again(pthread_mutex_t* mutex) noexcept {
    const int answer = real_trylock.get()(mutex);
    if (answer != EBUSY) return answer;
    return parks(*mutex) ? park(mutex, {}, Comes::back) : real_lock.get()(mutex);
}

int lock_until(pthread_mutex_t* mutex, clockid_t clock, const timespec* time) noexcept {
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) return EINVAL;
    const int answer = real_trylock.get()(mutex);
    if (answer != EBUSY) return answer;
    if (!is_valid(*time)) return EINVAL;   // not checked if there is no need to wait
    return parks(*mutex) ? park(mutex, {clock, *time}) : real_clocklock.get()(mutex, clock, time);
}

int unlock(pthread_mutex_t* mutex) noexcept {
    const bool may_be_refused = is(*mutex, inherits);   // read now: once unlocked it may be destroyed
    const int answer = real_unlock.get()(mutex);
    if (Lot::any(mutex)) [[unlikely]]
        wake_one(mutex);
    if (!may_be_refused || answer != 0 || !is_owned_here(*mutex)) return answer;
    report();
    return EPERM;
}

void announce_unlock(pthread_mutex_t* mutex) noexcept {
    if (Lot::any(mutex)) Lot::wake(mutex, 1);
}

}   // namespace weft_pthread

using namespace weft_pthread;   // NOLINT: entry points

extern "C" {

[[gnu::visibility("default")]] int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept { return lock(mutex); }
[[gnu::visibility("default")]] int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept { return unlock(mutex); }
[[gnu::visibility("default")]] int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* time) noexcept {
    return lock_until(mutex, CLOCK_REALTIME, time);
}
[[gnu::visibility("default")]] int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                                           const timespec* time) noexcept {
    return lock_until(mutex, clock, time);
}

// The C library's mtx_ functions do what its pthread_mutex_ functions do, without calling them by
// name.
[[gnu::visibility("default")]] int mtx_lock(mtx_t* mutex) { return to_c11(lock(of_c11(mutex))); }
[[gnu::visibility("default")]] int mtx_timedlock(mtx_t* mutex, const timespec* time) {
    return to_c11(lock_until(of_c11(mutex), CLOCK_REALTIME, time));
}
[[gnu::visibility("default")]] int mtx_unlock(mtx_t* mutex) { return to_c11(unlock(of_c11(mutex))); }

}   // extern "C"
