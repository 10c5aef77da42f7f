// Jobs: branches of a fork (include/weft/parallel.h) that are no units yet. Those of the unit that runs lie in its stream's ring, and nobody else sees
// them; when another stream is hungry, or the unit leaves, they are shown: put into a list, oldest first, where those take them who belong there: any
// stream in the runtime's, an arena's harts in its own (parallel/arena.hpp). README.md, "Jobs", has the rules and why no wake-up is lost; doc/decisions/0016 what was rejected.
#pragma once

#include "os/memory.hpp"
#include "stream/job_ring.hpp"
#include "stream/shown.hpp"
#include "weft/parallel.h"

namespace weft {

struct Stream;
struct Unit;

using Shown = BasicShown<weft_job>;
using Jobs = BasicJobs<weft_job>;
using Search = BasicSearch<Jobs>;
static_assert(sizeof(Shown) <= sizeof(weft_job::kept) && alignof(Shown) <= alignof(weft_job));

// It comes first in Stream, so the word that leads to the stream leads to its face.
struct JobRing : BasicJobRing<weft_job, weft_jobs> {
    ~JobRing() { os::release(slots); }
};

// The fork of a job for which there is no room below the limit.
void offer(weft_job& job);

// All jobs of the running unit are shown, since it leaves the stream; or it ends, and has none. Afterwards the ring is the next unit's.
void leave_jobs(Stream& stream, Unit& unit);

// Whether a unit may end otherwise than by returning from its body: whether no job of its own lies on its stack, nor is itself one, and nobody has asked for it to stay (weft_unit_end_disable).
bool may_end(const Stream& stream, const Unit& unit);
weft_status still_forked();   // why not

// The oldest job that is shown where the stream's hart is, as a unit about to start, in no pool; null: there is none, or no memory. From the scheduler's stack.
Unit* take_job(Stream& stream);

// The oldest of the list that a tasklet has shown; null: there is none. It is to be run where the caller stands, and finished.
weft_job* take_tasklets_job(Jobs& jobs);

// A job that was taken has been run.
void finish_job(weft_job& job);

// The next fork of every other stream there shows something. `at_once`: also if somebody has the runtime's lock.
void ask_for_jobs(const Stream& asker, bool at_once);

}  // namespace weft
