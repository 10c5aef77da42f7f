// Calls that name a thread, which may be a hosted unit's: then its number in the kernel is that of one that never runs.
#include <pthread.h>
#include <signal.h>

#include <cerrno>
#include <cstdint>

#include "real.hpp"

namespace {

using weft_pthread::Real;

Real<int (*)(pthread_t, int)> real_kill("pthread_kill");
Real<int (*)(pthread_t, void**)> real_join("pthread_join");
Real<int (*)(pthread_t)> real_detach("pthread_detach");

bool is_hosted(pthread_t thread) { return weft_hosted_signal(static_cast<uintptr_t>(thread), 0) == WEFT_OK; }

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int pthread_kill(pthread_t thread, int signal) noexcept {
    if (!is_hosted(thread)) return real_kill.get()(thread, signal);
    return weft_hosted_signal(static_cast<uintptr_t>(thread), signal) == WEFT_OK ? 0 : EINVAL;
}

[[gnu::visibility("default")]] int pthread_join(pthread_t thread, void** result) { return is_hosted(thread) ? EINVAL : real_join.get()(thread, result); }

[[gnu::visibility("default")]] int pthread_detach(pthread_t thread) noexcept { return is_hosted(thread) ? 0 : real_detach.get()(thread); }

}  // extern "C"
