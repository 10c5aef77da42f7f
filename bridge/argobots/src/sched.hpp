// Schedulers: a record that outlives the scheduler of Weft's that works for it, since a stream that
// has ended is revived with its own, and one that is not automatic is used again.
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
    weft_sched* handle = nullptr;      // while it is used
    weft_pool* stand_in = nullptr;     // of one without pools: Weft's have one
    Xstream* xstream = nullptr;        // whose main scheduler it is
    std::atomic<bool> finish{false};   // it is to return when nothing is left,
    std::atomic<bool> exit{false};     // or at once

    ABT_sched abt() { return reinterpret_cast<ABT_sched>(this); }
    bool has(const weft_pool* pool) const {
        for (int i = 0; i < count; ++i) {
            if (pools[i]->handle == pool) return true;
        }
        return false;
    }
    // Whether no unit waits in its pools, or lives and belongs to one that no other scheduler has.
    bool nothing_left() const;
};

inline Sched* to_sched(ABT_sched sched) { return reinterpret_cast<Sched*>(sched); }

// Null: no memory. `pools` may be null, or have ABT_POOL_NULL in it: those are made.
Sched* create_predef(ABT_sched_predef predef, int count, const ABT_pool* pools, ABT_sched_config config, int* error);
bool is_predef(int number);

// It begins to be used: a scheduler of Weft's is made for it. ABT_ERR_INV_SCHED: it is used
// already.
int begin_use(Sched& sched, Sched::Use use);
// It is not any more, and Weft has given its own back. WEFT_BUSY: not yet.
weft_status end_use(Sched& sched);

// Its pools are given back, and its own free() is called.
int free_sched(Sched& sched);
// The call that was to make it fails: the pools that it was given, also automatic ones, stay with
// the program; those that were made for it go.
void discard_sched(Sched& sched, const ABT_pool* given);

// The scheduler that runs as the calling unit, or null.
Sched* running_sched();
// Whether this unit is a main scheduler's.
bool is_main_sched(const weft_unit* unit);

// Where a unit that is to come to this scheduler goes: as get_migr_pool says, or its first pool.
// Null: it has none.
Pool* migration_pool(Sched& sched);

}   // namespace weft::argobots
