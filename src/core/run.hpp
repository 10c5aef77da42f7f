// The loop of a stream's scheduler: it picks units and runs them, and sees between two of them to
// what the stream was asked.
#pragma once

#include "process/stream.hpp"

namespace weft {

// Where the scheduler begins, on a stack of its own: it runs units until the stream is asked to
// stop and its pools are empty, and leaves for the carrier's own stack then.
[[noreturn, gnu::noinline]] void scheduler_main(void (*call)(void*), void* argument);

// One unit, from the scheduler's stack; returns when it has ended or left. Row::yes: and those
// after it that begin alike, if it does not suspend.
enum class Row : bool { no, yes };
void run_unit(Stream& stream, Unit* unit, Row row = Row::no);

// The unit that was left in `next_unit`, if any. From the scheduler's stack.
void run_next_unit(Stream& stream);

// Whether units that have bound themselves to the stream are to go on there.
bool expects_bound(const Stream& stream);
// Of a stream's main scheduler: units of its pools, which nobody else draws from, are in domains of
// theirs, or bound to other streams for a while (core/migrate.hpp), and go on here after that.
bool expects_lent(const Sched& by);
// One of those is back by its count and not in the pool yet: it is about to be pushed, or to yield.
// Nothing tells if it ends instead.
bool one_returns(const Stream& stream, const Sched& by);

}   // namespace weft
