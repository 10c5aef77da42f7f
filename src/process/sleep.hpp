// How a stream sleeps, and who may wake it when. core/idle.cpp and core/housekeeping.cpp own it; it
// lies beside Stream::attention, for whoever writes that goes on to wake the stream.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "hart/idle_list.hpp"
#include "poll/timers.hpp"

namespace weft {

// Called for stream 0 as long as that has no OS thread (start_when_needed): it starts one.
void start_zero(Sleeper&);

struct Sleep {
    atomic<bool> asleep{false};                      // a hint for the reactor
    atomic<std::uint64_t> alarm_ns{Timers::never};   // while it is busy: its earliest deadline, for the reactor
    Sleeper sleeper{start_zero, false};
    IdleList::Entry own_place;    // on the idle list of the pool of its bound units,
    IdleList::Entry jobs_place;   // and on that of the process's jobs
};

}   // namespace weft
