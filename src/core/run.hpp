// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop of a stream's scheduler: it picks units and runs them, and between two units it handles
// the requests to the stream.
#pragma once

#include "process/stream.hpp"

namespace weft {

// Where the scheduler begins, on a stack of its own: it runs units until the stream is asked to
// stop and its pools are empty, and then leaves for the carrier's own stack.
[[noreturn, gnu::noinline]] void scheduler_main(void (*call)(void*), void* argument);

// Runs one unit, from the scheduler's stack; returns when the unit has ended or left. Row::yes:
// also the units after it that begin alike, if it does not suspend.
enum class Row : bool { no, yes };
void run_unit(Stream& stream, Unit* unit, Row row = Row::no);

// Runs the unit that was left in `next_unit`, if any. From the scheduler's stack.
void run_next_unit(Stream& stream);

// Whether units that have bound themselves to the stream are to continue there.
bool expects_bound(const Stream& stream);
// For a stream's main scheduler: whether units of its pools, from which no other stream draws, are
// in domains of theirs, or bound to other streams for a while (core/migrate.hpp), and will continue
// here after that.
bool expects_lent(const Sched& by);
// Whether such a unit is back by its count and not in the pool yet: it is about to be pushed, or to
// yield. Nothing reports it if the unit ends instead.
bool one_returns(const Stream& stream, const Sched& by);

}   // namespace weft
