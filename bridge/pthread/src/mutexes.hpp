// Mutexes, for the calls that let one go and take it again.
#pragma once

#include <pthread.h>

#include "deadline.hpp"

namespace weft_pthread {

// As the C library's calls of these names.
int lock(pthread_mutex_t* mutex) noexcept;
int lock_until(pthread_mutex_t* mutex, clockid_t clock, const timespec* time) noexcept;
int unlock(pthread_mutex_t* mutex) noexcept;

// By whoever has been woken where it had let the mutex go: its waker may hold it still.
int lock_again(pthread_mutex_t* mutex) noexcept;

// The C library is about to let the mutex go, inside of a call: who is parked for it is told to
// look now and shortly after.
void announce_unlock(pthread_mutex_t* mutex) noexcept;

}   // namespace weft_pthread
