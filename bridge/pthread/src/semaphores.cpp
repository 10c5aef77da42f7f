// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Semaphores: the count stays in the semaphore, and a caller that finds it zero is parked by the
// semaphore's address.
#include <pthread.h>
#include <semaphore.h>

#include <cerrno>

#include "caller.hpp"
#include "deadline.hpp"
#include "lot.hpp"
#include "real.hpp"
#include "signals.hpp"

namespace weft_pthread {

namespace {

Real<int (*)(sem_t*)> real_wait("sem_wait", "GLIBC_2.34"), real_trywait("sem_trywait", "GLIBC_2.34"),
    real_post("sem_post", "GLIBC_2.34");
Real<int (*)(sem_t*, const timespec*)> real_timedwait("sem_timedwait", "GLIBC_2.34");
Real<int (*)(sem_t*, clockid_t, const timespec*)> real_clockwait("sem_clockwait");

// The waiter's errno is addressed by the thread pointer, and is the same wherever the waiter
// resumes.
int fail(int error) {
    errno = error;
    return -1;
}

[[gnu::noinline]] int wait_parked(sem_t* semaphore, clockid_t clock, const timespec* time) {
    pthread_testcancel();
    const auto trywait = real_trywait.get();
    const int kept = errno;
    const auto got = [&] {
        if (trywait(semaphore) != 0) return false;
        errno = kept;
        return true;
    };
    if (got()) return 0;
    if (time != nullptr && !is_valid(*time)) return fail(EINVAL);
    const Deadline deadline = time == nullptr ? Deadline() : Deadline(clock, *time);
    // Some posts wake no waiter here: those of other processes, at times those in signal handlers,
    // and those of libraries that bypass this one.
    Waiter self(semaphore);
    for (PollInterval interval;;) {
        self.enter();
        pthread_testcancel();
        if (got()) return 0;
        if (deadline.over()) return fail(ETIMEDOUT);
        const Waiter::Outcome outcome = self.wait_for(deadline.next(interval.next_ns()));
        if (outcome.why == Why::waker) self.in_vain();
        if (outcome.why == Why::signal && interrupts(outcome.signal, true)) return got() ? 0 : fail(EINTR);
    }
}

}   // namespace

}   // namespace weft_pthread

using namespace weft_pthread;   // NOLINT: entry points

extern "C" {

[[gnu::visibility("default")]] int sem_wait(sem_t* semaphore) {
    return may_switch() ? wait_parked(semaphore, CLOCK_MONOTONIC, nullptr) : real_wait.get()(semaphore);
}
[[gnu::visibility("default")]] int sem_timedwait(sem_t* semaphore, const timespec* time) {
    return may_switch() ? wait_parked(semaphore, CLOCK_REALTIME, time) : real_timedwait.get()(semaphore, time);
}
[[gnu::visibility("default")]] int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* time) {
    if (!may_switch()) return real_clockwait.get()(semaphore, clock, time);
    if (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) return wait_parked(semaphore, clock, time);
    errno = EINVAL;
    return -1;
}
[[gnu::visibility("default")]] int sem_post(sem_t* semaphore) noexcept {
    const int answer = real_post.get()(semaphore);   // afterwards the semaphore may be gone
    if (Lot::any(semaphore)) [[unlikely]]
        Lot::wake(semaphore, 1);
    return answer;
}

}   // extern "C"
