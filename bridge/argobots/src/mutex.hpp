// Argobots' mutex is Weft's: its memory, 64 bytes that may be aligned to 4 only, is what Weft's
// calls accept.
#pragma once

#include "common.hpp"

namespace weft::argobots {

static_assert(sizeof(weft_mutex) <= sizeof(ABT_mutex_memory));

inline weft_mutex* to_mutex(ABT_mutex mutex) { return reinterpret_cast<weft_mutex*>(mutex); }

// Lets the OS thread sleep for a moment: for a caller that must wait for what only other OS threads
// bring, and that Weft does not let wait.
void doze();

// A tasklet, too, waits for the mutex: with its OS thread.
weft_status lock_stubbornly(weft_mutex* mutex);

[[gnu::always_inline]] inline weft_status lock(weft_mutex* mutex) {
    // what was refused has changed nothing
    return weft_mutex_lock(mutex) == WEFT_OK ? WEFT_OK : lock_stubbornly(mutex);
}

}   // namespace weft::argobots
