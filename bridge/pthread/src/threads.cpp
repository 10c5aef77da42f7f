// Calls that name a thread, which may be a hosted unit's: then its number in the kernel is that of one that never runs.
#include <pthread.h>
#include <signal.h>

#include <cerrno>
#include <cstdint>

#include "caller.hpp"
#include "lot.hpp"
#include "real.hpp"

namespace {

using weft_pthread::in_handler;
using weft_pthread::Lot;
using weft_pthread::Real;
using weft_pthread::Why;

Real<int (*)(pthread_t, int)> real_kill("pthread_kill");
Real<int (*)(pthread_t)> real_cancel("pthread_cancel");
Real<int (*)(pthread_t, void**)> real_join("pthread_join");
Real<int (*)(pthread_t)> real_detach("pthread_detach");

bool is_hosted(pthread_t thread) { return weft_hosted_signal(static_cast<uintptr_t>(thread), 0) == WEFT_OK; }

}  // namespace

extern "C" {

// Who waits and is switched out gets the signal when it goes on: so it does.
[[gnu::visibility("default")]] int pthread_kill(pthread_t thread, int signal) noexcept {
    int error = 0;
    if (!is_hosted(thread)) error = real_kill.get()(thread, signal);
    else if (weft_hosted_signal(static_cast<uintptr_t>(thread), signal) != WEFT_OK) error = EINVAL;
    if (error == 0 && signal != 0 && !in_handler()) Lot::poke(thread, Why::signal, signal);
    return error;
}

// By the C library, whose mark the thread finds when it goes on.
[[gnu::visibility("default")]] int pthread_cancel(pthread_t thread) {
    const int error = real_cancel.get()(thread);
    if (error == 0) Lot::poke(thread, Why::cancel);
    return error;
}

[[gnu::visibility("default")]] int pthread_join(pthread_t thread, void** result) { return is_hosted(thread) ? EINVAL : real_join.get()(thread, result); }

[[gnu::visibility("default")]] int pthread_detach(pthread_t thread) noexcept { return is_hosted(thread) ? 0 : real_detach.get()(thread); }

}  // extern "C"
