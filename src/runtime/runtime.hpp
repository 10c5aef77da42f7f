// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime: everything between the first weft_init and the last weft_finalize. One at a time.
#pragma once

#include <cstddef>

#include "carrier/neighbours.hpp"
#include "carrier/sentry.hpp"
#include "hart/quota.hpp"
#include "inspect/deadlock.hpp"
#include "observe/observe.hpp"
#include "process/process.hpp"
#include "runtime/blocking.hpp"
#include "share/carriers.hpp"
#include "share/lending.hpp"
#include "share/rescue.hpp"
#include "share/shortage.hpp"

namespace weft {

// The process, and the state of its rooms.
struct Runtime : Process {
    Runtime(const Settings& chosen, bool itself);

private:
    Lending lending_;
    Carriers carriers_{*this, "weft/hart", Carriers::What::harts};
    Carriers guest_threads_{*this, nullptr, Carriers::What::guests};
    Rescue rescue_{*this};
    Sentry sentry_{*this};
    Neighbourhood neighbours_;
    BlockingPool blocking_pool_{*this};
    Shortage shortage_;
    Quiet quiet_;
    Observers observers_;
};

weft_status start(const weft_settings* asked);
weft_status stop();

// For a guest, where there is no runtime. Under runtime_start_lock(), like any start.
weft_status start_by_itself();
// Ends the runtime that has started by itself, unless guests are inside. Called only by tests that
// check for what is left at the end of a process (test/simulation).
bool end_by_itself();

// Runs what is ready until all pools are empty. Afterwards stream 0 is the only one. Called from
// the primary unit, on stream 0.
void run_out(Process& of);

// Runs what is ready on the calling stream until nothing is. Called from the primary unit.
void drain();

// Where the primary unit waits: a pool from which only stream 0 draws, or that stream's main pool
// if it roams. Null: no memory.
Pool* primary_pool(Stream& zero, bool roams);
// The unit, which runs, becomes the primary one.
void begin_primary(Process& of, Stream& zero, Unit& unit, Pool& pool, bool roams);

}   // namespace weft
