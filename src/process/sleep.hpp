// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a stream sleeps, and what may wake it when. core/idle.cpp and process/housekeeping.cpp own
// it. It lies beside Stream::attention, because a thread that writes attention then wakes the
// stream.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "hart/idle_list.hpp"
#include "poll/timers.hpp"

namespace weft {

// Called for stream 0 as long as it has no OS thread (start_when_needed): starts one.
void start_zero(Sleeper&);

struct Sleep {
    atomic<bool> asleep{false};                      // a hint for the reactor
    atomic<std::uint64_t> alarm_ns{Timers::never};   // while it is busy: its earliest deadline, for the reactor
    bool watches = false;                            // some pool (pool::watch); the stream's
    Sleeper sleeper{start_zero, false};
    IdleList::Entry own_place;    // on the idle list of the pool of its bound units,
    IdleList::Entry jobs_place;   // and on that of the process's jobs
};

}   // namespace weft
