// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stream's main scheduler, and the schedulers above it that are units. carrier/level.cpp owns it.
#pragma once

#include "base/atomic.hpp"

namespace weft {

struct Pool;
struct Sched;

struct Levels {
    unsigned depth = 0;       // schedulers that now run below one another as units
    bool main_runs = false;   // the main scheduler owns its loop, and its unit has not ended
    Sched* main = nullptr;    // the main scheduler
    // of a main scheduler that owns its loop: the scheduler that the stream's own loop asks, with
    // the unit's pool
    Sched* beneath = nullptr;
    Sched* next_main = nullptr;         // takes the main scheduler's place soon; under Process::replacing
    Pool* own_pool = nullptr;           // made with the stream
    atomic<Pool*> main_pool{nullptr};   // the main scheduler's first pool; others read it
};

}   // namespace weft
