// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mutexes, for the calls that release a mutex and acquire it again.
#pragma once

#include <pthread.h>

#include "deadline.hpp"

namespace weft_pthread {

// Like the C library's calls of these names.
int lock(pthread_mutex_t* mutex) noexcept;
int lock_until(pthread_mutex_t* mutex, clockid_t clock, const timespec* time) noexcept;
int unlock(pthread_mutex_t* mutex) noexcept;

// Called after a wake-up from a wait that had released the mutex: the waker may still hold it.
int lock_again(pthread_mutex_t* mutex) noexcept;

// The C library is about to unlock the mutex inside a call: a parked waiter is woken, to check now
// and shortly after.
void announce_unlock(pthread_mutex_t* mutex) noexcept;

}   // namespace weft_pthread
