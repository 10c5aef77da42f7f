// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Jobs: branches of a fork (include/weft/parallel.h) that are not units yet. Those of the unit that
// runs lie in its stream's list, invisible to other streams. When another stream requests a steal,
// or the unit leaves, they are published: put into a list, oldest first, where the streams that
// belong there take them: any stream from the runtime's list, an arena's harts from the arena's own
// (forkjoin/arena.hpp). README.md, "Jobs", has the rules and why no wake-up is lost;
// doc/decisions/0016 has what was rejected.
#pragma once

#include "process/stream.hpp"

namespace weft {

// The fork of a job where the list is closed, or none.
void offer(weft_job& job);

// Publishes all jobs of the running unit, because it leaves the stream; or the unit ends, and has
// none. Afterwards the stream's list is the next unit's.
void leave_jobs(Stream& stream, Unit& unit);

// The oldest job of a list of those that are published where the stream's hart is, as a unit about
// to start, in no pool; null: there is none, or no memory, or, unless it insists, other streams are
// about to take what there is. From the scheduler's stack.
Unit* take_job(Stream& stream, bool insists = false);

// The oldest job of a list that a tasklet has published; null: there is none. The caller has to
// run it in place and finish it.
weft_job* take_tasklets_job(Jobs& jobs);

// A job that was taken has been run.
void finish_job(weft_job& job);

// The next fork of every other stream there publishes something. `at_once`: also if another thread
// has the runtime's lock.
void request_steals(const Stream& thief, bool at_once);

}   // namespace weft
