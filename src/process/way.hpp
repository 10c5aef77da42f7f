// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a stream's units come from, and whether a unit that leaves goes through the stream's
// scheduler.
#pragma once

#include "process/stream.hpp"

namespace weft {

// Decides whether a unit that leaves always goes to its stream's scheduler, and to no successor
// that it found itself: this is so where there are several places to check, or a turn to count.
void settle_way(Stream& stream);

// The stream's units come from `way` from now on, and go there.
void take_way(Stream& stream, const Way& way);

// Whether the scheduler picks from that pool.
bool has_pool(const Sched& sched, const Pool& pool);

// Whether the stream, as it is now, may run units of the pool.
bool draws_from(const Stream& stream, const Pool& pool);

// The next unit, or null. From the stream's own carrier, on any stack.
Unit* pick(Stream& stream);

// A pool from which only this stream draws, for units bound to it; null: no memory. From any
// thread.
PrivatePool* bound_pool(Stream& stream);

// The pool that bound_pool() made for the stream becomes its own. From the scheduler's stack.
void adopt_bound_pool(Stream& stream);

// Whether a scheduler runs as this unit.
inline bool is_scheduler(const Unit& unit) { return unit.has_now(Unit::scheduler); }
inline bool is_main_scheduler(const Unit& unit) {
    return is_scheduler(unit) && static_cast<const Sched*>(unit.argument)->as_main;
}

}   // namespace weft
