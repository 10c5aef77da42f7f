// A stream's main scheduler, and how those that are units lie above it. carrier/level.cpp owns it.
#pragma once

#include "base/atomic.hpp"

namespace weft {

struct Pool;
struct Sched;

struct Levels {
    unsigned depth = 0;       // schedulers that run below one another as units now
    bool main_runs = false;   // the main scheduler owns its loop, and its unit has not ended
    Sched* main = nullptr;    // the main scheduler
    // of a main scheduler that owns its loop: what the stream's own loop asks, with its unit's pool
    Sched* beneath = nullptr;
    Sched* next_main = nullptr;         // takes its place soon; under Process::replacing
    Pool* own_pool = nullptr;           // made with the stream
    atomic<Pool*> main_pool{nullptr};   // the first of the main scheduler's; others read it
};

}   // namespace weft
