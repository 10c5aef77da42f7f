// Mutexes with priority inheritance: while nobody waits for one, user space alone has it, and hosted units have it as threads do. The kernel, which
// waits with the others, takes the OS thread that calls for the owner. So a hosted unit never waits there; but when an OS thread does, its unlock is
// refused.
#include <pthread.h>

#include <cerrno>
#include <cstdio>

#include "real.hpp"

namespace {

weft_pthread::Real<int (*)(pthread_mutex_t*)> real_lock("pthread_mutex_lock"), real_unlock("pthread_mutex_unlock"), real_trylock("pthread_mutex_trylock");

// glibc's PTHREAD_MUTEX_PRIO_INHERIT_NP, of its kinds of mutex.
bool inherits_priority(const pthread_mutex_t& mutex) { return (mutex.__data.__kind & 32) != 0; }

// Whether the C library takes it for unlocked, and the kernel does not: that its answer is no the library does not look at.
bool is_owned_here(const pthread_mutex_t& mutex) {
    const uint32_t self = weft_hosted_thread_id();
    const auto word = static_cast<uint32_t>(__atomic_load_n(&mutex.__data.__lock, __ATOMIC_RELAXED));   // relaxed: who owns it knows it
    constexpr uint32_t owner = 0x3fffffff;   // FUTEX_TID_MASK
    return self != 0 && (word & owner) == self && mutex.__data.__owner == 0;
}

void report() {
    static std::atomic<bool> said{false};
    if (said.exchange(true)) return;
    std::fputs("weft: a mutex with priority inheritance that a hosted unit holds is waited for by an OS thread: the kernel refuses to unlock it, and "
               "who waits waits for ever\n", stderr);
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
    if (!inherits_priority(*mutex) || !weft_hosted()) return real_lock.get()(mutex);
    int answer;
    while ((answer = real_trylock.get()(mutex)) == EBUSY) weft_unit_yield();
    return answer;
}

[[gnu::visibility("default")]] int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
    const int answer = real_unlock.get()(mutex);
    if (answer != 0 || !inherits_priority(*mutex) || !is_owned_here(*mutex)) return answer;
    report();
    return EPERM;
}

}  // extern "C"
