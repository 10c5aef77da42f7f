// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Argobots' mutex is Weft's: Weft's calls accept its memory of 64 bytes, which may be aligned to 4
// only.
#pragma once

#include "common.hpp"

namespace weft::argobots {

static_assert(sizeof(weft_mutex) <= sizeof(ABT_mutex_memory));

inline weft_mutex* to_mutex(ABT_mutex mutex) { return reinterpret_cast<weft_mutex*>(mutex); }

// Lets the OS thread sleep for a moment: for a caller that depends on other OS threads and that
// Weft does not allow to wait.
void doze();

// Lets a tasklet wait for the mutex, too, by blocking its OS thread.
weft_status lock_stubbornly(weft_mutex* mutex);

[[gnu::always_inline]] inline weft_status lock(weft_mutex* mutex) {
    // a lock that was refused has changed nothing
    return weft_mutex_lock(mutex) == WEFT_OK ? WEFT_OK : lock_stubbornly(mutex);
}

}   // namespace weft::argobots
