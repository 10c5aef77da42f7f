// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedulers: a record that outlives the Weft scheduler that works for it, since a stream that has
// ended is revived with its scheduler, and a scheduler that is not automatic can be used again.
#pragma once

#include <atomic>

#include "common.hpp"
#include "pool.hpp"

namespace weft::argobots {

struct Xstream;

struct Sched {
    enum class Use : unsigned char { none, main, stacked };

    ABT_sched_predef predef = ABT_SCHED_BASIC;   // unless `custom`
    bool custom = false;
    ABT_sched_def def{};
    Pool** pools = nullptr;
    int count = 0;
    bool automatic = false;   // freed when its use ends
    void* data = nullptr;     // ABT_sched_set_data
    std::atomic<Use> use{Use::none};
    weft_sched* handle = nullptr;      // while it is in use
    weft_pool* stand_in = nullptr;     // for a scheduler without pools: a Weft scheduler needs one
    Xstream* xstream = nullptr;        // the stream whose main scheduler it is
    std::atomic<bool> finish{false};   // it must return when nothing is left,
    std::atomic<bool> exit{false};     // or at once

    ABT_sched abt() { return reinterpret_cast<ABT_sched>(this); }
    bool has(const weft_pool* pool) const {
        for (int i = 0; i < count; ++i) {
            if (pools[i]->handle == pool) return true;
        }
        return false;
    }
    // Whether no unit waits in its pools, and no suspended unit belongs to a pool that no other
    // scheduler has.
    bool nothing_left() const;
};

inline Sched* to_sched(ABT_sched sched) { return reinterpret_cast<Sched*>(sched); }

// Null: no memory. `pools` may be null, or contain ABT_POOL_NULL: the missing pools are made.
Sched* create_predef(ABT_sched_predef predef, int count, const ABT_pool* pools, ABT_sched_config config, int* error);
bool is_predef(int number);

// Begins the scheduler's use: makes a Weft scheduler for it. ABT_ERR_INV_SCHED: it is already in
// use.
int begin_use(Sched& sched, Sched::Use use);
// Ends the scheduler's use, once Weft has given its own scheduler back. WEFT_BUSY: not yet.
weft_status end_use(Sched& sched);

// Frees the scheduler: releases its pools and calls its own free().
int free_sched(Sched& sched);
// For a call that fails after making the scheduler: pools that the program passed, also automatic
// ones, stay with the program; pools that were made for the scheduler are freed.
void discard_sched(Sched& sched, const ABT_pool* given);

// The scheduler that runs as the calling unit; null if there is none.
Sched* running_sched();
// Whether this unit is a main scheduler.
bool is_main_sched(const weft_unit* unit);

// The pool for a unit that migrates to this scheduler: the one that get_migr_pool returns, or the
// first pool. Null: it has no pool.
Pool* migration_pool(Sched& sched);

}   // namespace weft::argobots
