// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Read-write locks. An unlock wakes all parked waiters: the lock itself decides which of them get
// it.
#include <pthread.h>

#include <cerrno>

#include "caller.hpp"
#include "deadline.hpp"
#include "lot.hpp"
#include "real.hpp"

namespace weft_pthread {

namespace {

using Lock = int (*)(pthread_rwlock_t*);
using TimedLock = int (*)(pthread_rwlock_t*, const timespec*);
using ClockLock = int (*)(pthread_rwlock_t*, clockid_t, const timespec*);

// One of the two ways to lock.
struct Way {
    Real<Lock> trylock, lock;
    Real<TimedLock> timedlock;
    Real<ClockLock> clocklock;
};
constinit Way reads{Real<Lock>("pthread_rwlock_tryrdlock"), Real<Lock>("pthread_rwlock_rdlock"),
                    Real<TimedLock>("pthread_rwlock_timedrdlock"), Real<ClockLock>("pthread_rwlock_clockrdlock")};
constinit Way writes{Real<Lock>("pthread_rwlock_trywrlock"), Real<Lock>("pthread_rwlock_wrlock"),
                     Real<TimedLock>("pthread_rwlock_timedwrlock"), Real<ClockLock>("pthread_rwlock_clockwrlock")};
Real<Lock> real_unlock("pthread_rwlock_unlock");

[[gnu::noinline]] int park(Way& way, pthread_rwlock_t* rwlock, const Deadline& deadline) {
    const auto trylock = way.trylock.get();
    // Reports at once if the caller holds the lock for writing; the deadline is long past.
    constexpr timespec before{0, 0};
    int answer = way.timedlock.get()(rwlock, &before);
    if (answer != EBUSY && answer != ETIMEDOUT) return answer;
    Waiter self(rwlock);
    for (PollInterval interval;;) {
        self.enter();
        if ((answer = trylock(rwlock)) != EBUSY) return answer;
        if (deadline.over()) return ETIMEDOUT;
        if (self.wait(deadline.next(interval.next_ns())) != Why::waker) continue;
        if ((answer = trylock(rwlock)) != EBUSY) return answer;
        self.in_vain();
    }
}

int lock(Way& way, pthread_rwlock_t* rwlock) noexcept {
    const int answer = way.trylock.get()(rwlock);
    if (answer != EBUSY) [[likely]]
        return answer;
    return may_switch() ? park(way, rwlock, {}) : way.lock.get()(rwlock);
}

int lock_until(Way& way, pthread_rwlock_t* rwlock, clockid_t clock, const timespec* time) noexcept {
    if (!may_switch()) return way.clocklock.get()(rwlock, clock, time);
    if ((clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) || !is_valid(*time)) return EINVAL;
    const int answer = way.trylock.get()(rwlock);
    return answer != EBUSY ? answer : park(way, rwlock, {clock, *time});
}

}   // namespace

}   // namespace weft_pthread

using namespace weft_pthread;   // NOLINT: entry points

extern "C" {

[[gnu::visibility("default")]] int pthread_rwlock_rdlock(pthread_rwlock_t* rwlock) noexcept {
    return lock(reads, rwlock);
}
[[gnu::visibility("default")]] int pthread_rwlock_wrlock(pthread_rwlock_t* rwlock) noexcept {
    return lock(writes, rwlock);
}
[[gnu::visibility("default")]] int pthread_rwlock_timedrdlock(pthread_rwlock_t* rwlock, const timespec* time) noexcept {
    return may_switch() ? lock_until(reads, rwlock, CLOCK_REALTIME, time) : reads.timedlock.get()(rwlock, time);
}
[[gnu::visibility("default")]] int pthread_rwlock_timedwrlock(pthread_rwlock_t* rwlock, const timespec* time) noexcept {
    return may_switch() ? lock_until(writes, rwlock, CLOCK_REALTIME, time) : writes.timedlock.get()(rwlock, time);
}
[[gnu::visibility("default")]] int pthread_rwlock_clockrdlock(pthread_rwlock_t* rwlock, clockid_t clock,
                                                              const timespec* time) noexcept {
    return lock_until(reads, rwlock, clock, time);
}
[[gnu::visibility("default")]] int pthread_rwlock_clockwrlock(pthread_rwlock_t* rwlock, clockid_t clock,
                                                              const timespec* time) noexcept {
    return lock_until(writes, rwlock, clock, time);
}
[[gnu::visibility("default")]] int pthread_rwlock_unlock(pthread_rwlock_t* rwlock) noexcept {
    const int answer = real_unlock.get()(rwlock);
    if (Lot::any(rwlock) && Lot::wake(rwlock, ~0u).starved && may_switch()) [[unlikely]]
        weft_unit_yield();
    return answer;
}

}   // extern "C"
