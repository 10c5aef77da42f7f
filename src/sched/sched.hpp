// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedulers: each picks the next unit from its pools, for one stream. The built-in ones are
// distinguished by a tag and keep only a random state and a count between two picks (stateless); a
// user's scheduler is a table (weft_sched_ops).
#pragma once

#include <cstddef>

#include "base/random.hpp"
#include "pool/pool.hpp"
#include "weft/sched.h"

namespace weft {

struct Sched {
    weft_sched_kind kind;
    weft_sched_ops ops = {};   // for a user's scheduler
    void* self = nullptr;
    Pool** pools = nullptr;   // the first is the main pool
    std::size_t count = 0;
    IdleList::Entry* places = nullptr;   // one for each pool's idle list, for the stream's sleep
    Random random{0};
    unsigned picks = 0;                  // so that every pool gets a turn
    unsigned* passed_over = nullptr;     // checked builds: how often in a row each pool was passed over
    std::size_t stolen = 0;              // units that came out of another stream's deque; the stream takes the number
    const Pool* stolen_from = nullptr;   // the pool of the last one; an observed stream takes it with the unit
    atomic<void*> stream{nullptr};       // the one that runs it; a scheduler in a pool is its own
    Unit* unit = nullptr;                // the unit as which it runs: in a pool, or because it owns its loop
    unsigned turn = 0;                   // in a pool: how many units it runs before others of that pool
    unsigned ran = 0;                    // how many of them it has run, if it owns its loop
    bool as_main = false;                // its unit is that of a main scheduler that owns its loop
    bool calls_program = false;          // picking calls a callback of the program: its own, or a pool's
    bool adopts = true;                  // units that it steals from a deque belong to its own, if it has one
    bool owned = true;                   // freed when its stream ends, or its turns, or another takes its place
    Sched* next = nullptr;               // the runtime's list of all schedulers

    explicit Sched(weft_sched_kind of) : kind(of) {}
    bool stateless() const { return kind != WEFT_SCHED_USER || ops.pick != nullptr; }
    // Whether its stream sleeps at once when there is nothing to do, instead of looking for work
    // for a while.
    bool sleeps_at_once() const { return kind == WEFT_SCHED_BASIC_WAIT || pools[0]->kind == WEFT_POOL_BLOCKING; }
};

namespace sched {

// One pick in so many begins at a pool other than the first. Both numbers are primes, so that they
// do not fall in step with the units. The small one is for schedulers whose order is a convenience:
// units behind busy pools wait microseconds. The large one is for schedulers whose order is the
// program's intent: it costs less than a thousandth of the stream.
constexpr unsigned often = LockedPool::turn;
constexpr unsigned rarely = 1021;

Unit* pick_other(Sched& by);

// The next unit, or null when there is none now. On any stack of the stream.
[[gnu::always_inline]] inline Unit* pick(Sched& by) {
    if (by.kind == WEFT_SCHED_BASIC && by.count == 1) [[likely]]
        return pool::pop(*by.pools[0]);
    return pick_other(by);
}

// Whether the next pick begins with the first pool, and is counted now: for a scheduler that
// steals, and a caller that pops from that pool itself. False: nothing is counted.
[[gnu::always_inline]] inline bool begins_with_own(Sched& by) {
    if ((by.picks + 1) % rarely == 0) return false;
    ++by.picks;
    return true;
}

// Whether all its pools are quiet (pool::quiet).
bool quiet(const Sched& of);

// pool::listen, pool::stop_listening and pool::quiet_after_all, for all its pools.
bool listen(Sched& of);
void stop_listening(Sched& of);
bool quiet_after_all(Sched& of);

// For a stream that looks for work, or is on the idle lists: pool::watch and pool::request_steal,
// for all its pools. True: it needs a process barrier before quiet_after_all(). `watches` is set
// where the stream watches a pool, and owes stop_watching().
bool request_steals(Sched& of, void* stream, bool& watches);
// pool::keep_watching and pool::stop_watching, for all its pools.
std::uint64_t keep_watching(Sched& of, void* stream, bool& watches);
void stop_watching(Sched& of, void* stream);

// Null: no memory. `ops` only for WEFT_SCHED_USER.
Sched* create(weft_sched_kind kind, const weft_sched_ops* ops, void* self, Pool* const* pools, std::size_t count);
void destroy(Sched* sched);
// create(), but the scheduler does not count among those that draw from its pools: they may be
// freed meanwhile.
Sched* create_uncounted(weft_sched_kind kind, const weft_sched_ops* ops, void* self, Pool* const* pools,
                        std::size_t count);
void destroy_uncounted(Sched* sched);

// The stream claims the scheduler and its pools. False: another stream has the scheduler, or one of
// the pools has an owner already; nothing is changed.
bool attach(Sched& sched, void* stream);
// counts in Pool::stateful, for schedulers that belong to no stream or keep their loop
void count_stateful(Sched& sched, const void* owner, int change);
void detach(Sched& sched, void* stream);

// The pools that have an owner pass from the current one to `to`; both run the scheduler.
void hand_over(Sched& sched, void* to);

}   // namespace sched
}   // namespace weft
