// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Levels: a scheduler that runs as a unit of another scheduler's pool, and one that owns its loop.
// While its units run, it is the stream's scheduler, and its context and pools are the stream's;
// between two of them it is a unit like any other, which may yield and wait.
// doc/decisions/0007-levels.md has the reasons.
#pragma once

#include "process/stream.hpp"

namespace weft {

// Between construction and leave() the units that run on the stream are those of a scheduler that
// is itself a unit.
class Level {
public:
    // The running ULT is the unit of `by`.
    Level(Stream& stream, Sched& by);
    Level(const Level&) = delete;
    // On the same stream: a scheduler does not move while a unit of it runs.
    void leave(Stream& stream);

private:
    Unit* unit_;
    Sched* sched_;
    context::Target sched_context_;
    PrivatePool* direct_;
    Pool* common_;
    Pool* standard_;
    Domain* lender_;
    Way saved_way_;
    bool serving_;
};

// The stream's main scheduler begins: the stream's own loop asks it, or, if it owns its loop, runs
// it as a unit.
void begin_main(Stream& stream);

// What a scheduler that owns its loop needs on a stream before begin_main(): a pool beneath it, and
// its unit. From any thread.
weft_status prepare_main(Stream& stream, Sched& sched);
void forget_main(Sched& sched);   // one that was prepared, and never begun

// The stream gets another main scheduler at its next turn through its loop. From any thread.
weft_status set_main(Stream& stream, Sched& sched);

// The requested scheduler takes the place of the old one. False: none was requested. From the loop,
// on the scheduler's stack.
bool replace_main(Stream& stream);

// The scheduler goes as a unit into the pool. `unit` is as in a spawn.
weft_status push_sched(Process& of, Pool& pool, Sched& sched, unsigned turn, Unit** unit, bool detached,
                       const void* site);

// The calls that `run` of a scheduler makes; its unit is the running one.
void run_below(Stream& stream, Sched& by, Unit* unit);
void run_child(Stream& stream, Unit& caller, Unit* unit);   // run_below(), by any ULT, in its scheduler's name
// Whether the caller may run `child` in this way (weft_unit_run): WEFT_OK, or the reason why not.
weft_status may_run_child(const Unit& child) noexcept;
bool run_should_stop(Stream& stream, Sched& by);
void run_wait(Stream& stream, Sched& by);
Unit* run_pop_wait(Stream& stream, Pool& from, std::uint64_t deadline_ns);   // from a main scheduler

}   // namespace weft
