// Argobots' mutex is Weft's: its memory, 64 bytes that may be aligned to 4 only, is what Weft's calls accept.
#pragma once

#include "common.hpp"

namespace weft::argobots {

static_assert(sizeof(weft_mutex) <= sizeof(ABT_mutex_memory));

inline weft_mutex* to_mutex(ABT_mutex mutex) { return reinterpret_cast<weft_mutex*>(mutex); }

// Lets the OS thread sleep for a moment: for a caller that must wait for what only other OS threads bring, and that Weft does not let wait.
void doze();

// A tasklet, too, waits for the mutex: with its OS thread.
[[gnu::always_inline]] inline weft_status lock(weft_mutex* mutex) {
    weft_status status = weft_mutex_lock(mutex);
    while (status == WEFT_WRONG_KIND || status == WEFT_WRONG_CONTEXT) [[unlikely]] {
        doze();
        status = weft_mutex_lock(mutex);
    }
    return status;
}

}  // namespace weft::argobots
