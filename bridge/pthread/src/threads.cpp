// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that name a thread, which may be a hosted unit's: its number in the kernel is then that of
// a thread that never runs.
#include <pthread.h>
#include <signal.h>
#include <threads.h>

#include <cerrno>
#include <cstdint>

#include <weft/io.h>

#include "caller.hpp"
#include "deadline.hpp"
#include "lot.hpp"
#include "real.hpp"

namespace {

using weft_pthread::Deadline;
using weft_pthread::in_handler;
using weft_pthread::is_valid;
using weft_pthread::is_weft;
using weft_pthread::Lot;
using weft_pthread::may_switch;
using weft_pthread::Real;
using weft_pthread::Why;

Real<int (*)(pthread_t, int)> real_kill("pthread_kill");
Real<int (*)(pthread_t)> real_cancel("pthread_cancel");
Real<int (*)(pthread_t, void**)> real_join("pthread_join");
Real<int (*)(pthread_t)> real_detach("pthread_detach");

Real<int (*)(pthread_t, void**)> real_tryjoin("pthread_tryjoin_np");
Real<int (*)(pthread_t, void**, const timespec*)> real_timedjoin("pthread_timedjoin_np");
Real<int (*)(pthread_t, void**, clockid_t, const timespec*)> real_clockjoin("pthread_clockjoin_np");
Real<int (*)(thrd_t, int*)> real_thrd_join("thrd_join");

bool is_hosted(pthread_t thread) { return weft_hosted_signal(static_cast<uintptr_t>(thread), 0) == WEFT_OK; }

// Another OS thread does the wait, in slices: a cancellation here does not wake it there.
[[gnu::noinline]] int join_elsewhere(pthread_t thread, void** result, const Deadline& deadline) {
    pthread_testcancel();
    int answer = real_tryjoin.get()(thread, result);
    if (pthread_equal(thread, pthread_self())) return EDEADLK;
    while (answer == EBUSY) {
        pthread_testcancel();
        if (deadline.over()) return ETIMEDOUT;
        constexpr std::uint64_t slice_ns = 20'000'000;
        const std::uint64_t until_ns = deadline.next(slice_ns);
        const timespec until{static_cast<time_t>(until_ns / weft_pthread::second_ns),
                             static_cast<long>(until_ns % weft_pthread::second_ns)};
        auto join = [&] { answer = real_clockjoin.get()(thread, result, CLOCK_MONOTONIC, &until); };
        const weft_pthread::NotCancelled inside;
        // Refused if the system gives no OS thread: then this thread waits.
        if (weft_blocking([](void* raw) { (*static_cast<decltype(join)*>(raw))(); }, &join) != WEFT_OK) join();
        if (answer != ETIMEDOUT) break;
        answer = EBUSY;
    }
    return answer;
}

}   // namespace

extern "C" {

// A parked unit gets the signal only when it resumes, so it is woken.
[[gnu::visibility("default")]] int pthread_kill(pthread_t thread, int signal) noexcept {
    int error = 0;
    if (!is_hosted(thread)) error = real_kill.get()(thread, signal);
    else if (weft_hosted_signal(static_cast<uintptr_t>(thread), signal) != WEFT_OK) error = EINVAL;
    if (error == 0 && signal != 0 && !in_handler()) Lot::poke(thread, Why::signal, signal);
    return error;
}

// The C library sets a mark, which the thread finds when it resumes.
[[gnu::visibility("default")]] int pthread_cancel(pthread_t thread) {
    const int error = real_cancel.get()(thread);
    if (error == 0) Lot::poke(thread, Why::cancel);
    return error;
}

[[gnu::visibility("default")]] int pthread_join(pthread_t thread, void** result) {
    if (is_hosted(thread)) return EINVAL;
    // Weft joins its own threads in the C library: they end with the runtime
    const bool waits = may_switch() && !is_weft(__builtin_return_address(0));
    return waits ? join_elsewhere(thread, result, {}) : real_join.get()(thread, result);
}

[[gnu::visibility("default")]] int pthread_timedjoin_np(pthread_t thread, void** result, const timespec* time) {
    if (is_hosted(thread)) return EINVAL;
    if (time == nullptr || !may_switch())
        return may_switch() ? join_elsewhere(thread, result, {}) : real_timedjoin.get()(thread, result, time);
    return is_valid(*time) ? join_elsewhere(thread, result, {CLOCK_REALTIME, *time}) : EINVAL;
}

[[gnu::visibility("default")]] int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock,
                                                        const timespec* time) {
    if (is_hosted(thread)) return EINVAL;
    if (!may_switch()) return real_clockjoin.get()(thread, result, clock, time);
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) return EINVAL;
    if (time == nullptr) return join_elsewhere(thread, result, {});
    return is_valid(*time) ? join_elsewhere(thread, result, {clock, *time}) : EINVAL;
}

// In glibc thrd_t is pthread_t, and the result of a C11 thread is stored as a pointer.
[[gnu::visibility("default")]] int thrd_join(thrd_t thread, int* result) {
    if (is_hosted(thread)) return thrd_error;
    if (!may_switch()) return real_thrd_join.get()(thread, result);
    void* returned = nullptr;
    if (join_elsewhere(thread, &returned, {}) != 0) return thrd_error;
    if (result != nullptr) *result = static_cast<int>(reinterpret_cast<uintptr_t>(returned));
    return thrd_success;
}

[[gnu::visibility("default")]] int pthread_detach(pthread_t thread) noexcept {
    return is_hosted(thread) ? 0 : real_detach.get()(thread);
}

}   // extern "C"
