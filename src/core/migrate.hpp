// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Migration: a unit goes to another pool. The requester leaves the target in the unit's extras and
// sets a mark; the unit goes when it checks the mark (requests.hpp). decisions/0008 has the rules
// by which it leaves a private pool.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "process/stream.hpp"
#include "weft/status.h"

namespace weft {

// The status of all functions that follow, in a library that was built without migration.
weft_status no_migration();

// Asks the unit to go to `to`.
weft_status ask_to_move(Unit& unit, Pool& to);

// Asks the unit to go to the main pool of a stream other than those whose main pool it is in now.
weft_status ask_to_move_anywhere(Unit& unit);

// Asks the unit to go to the main pool of a scheduler, unless it is in one of that scheduler's
// pools.
weft_status ask_to_move_to(Unit& unit, const Sched& sched);

// Sets what is called when the unit goes where it was asked to.
weft_status set_on_migration(Unit& unit, void (*callback)(weft_unit* unit, void* argument), void* argument);

// The outcome of a wait for a move.
enum class Went : std::uint8_t {
    nowhere,   // the unit has ended, or another unit in the same memory has: the caller checks again
    there,
    refused,    // by the pool
    given_up,   // the waiter waits no longer
};

// A wait for a unit's move, in the list of all such waits (migrate.cpp).
struct MoveWait {
    Unit* const unit;
    void (*const wake)(MoveWait* self);   // its last act may end the waiter's life
    MoveWait* next = nullptr;
    Went went = Went::nowhere;
    bool given_up = false;   // under the lock of all waits
    Unit remote_call{};

    MoveWait(Unit& of, void (*by)(MoveWait*)) : unit(&of), wake(by) {}
};

// From now on the waiter is woken when its unit goes or ends; at once, if that has happened.
void begin_move_wait(MoveWait& wait);

// The waiter no longer waits, and the unit may be freed. True: the waiter will not be woken. False:
// it is woken, now or when the remote call that enrolls it has arrived.
bool give_up_move_wait(MoveWait& wait);

// Waits until the unit has gone where it was asked to, or has ended. For a unit other than the
// calling one it waits by `wait`, which waits once, and when it gives up writes the reason to
// `status`.
weft_status wait_for_move(Unit& unit, std::uint64_t deadline_ns,
                          Went (*wait)(Unit& target, std::uint64_t deadline_ns, weft_status& status));

// wait_for_move() without a deadline.
weft_status wait_for_move(Unit& unit);

// The running ULT, which was asked to move, goes and comes back. False: no request is left, or the
// pool refuses the unit. `started`: the unit's body is running.
bool move_away(Unit& self, bool started);

// A tasklet that has not started and is in no pool goes where it was asked to. False: as for
// move_away().
bool move_unstarted(Unit& unit);

// Whether the caller, which owns the unit, can have it belong to `to`: WEFT_OK, or the reason why
// not.
weft_status may_move(const Unit& unit, const Pool& to);

// From now on the unit belongs to `to`, and goes there when it becomes ready. The unit is popped,
// suspended by the program, or the caller itself. Also in a library without migration.
weft_status set_pool(Unit& unit, Pool& to);

// How many waiters wait for some unit to move.
extern atomic<unsigned> movers_waiting;

void tell_movers_slow(const Unit* ended);

// A unit has ended, and may be gone: notifies the waiters for its move. seq_cst, after the end was
// published: pairs with a waiter that counts itself and then checks whether the unit has ended.
[[gnu::always_inline]] inline void tell_movers_of_end(const Unit* ended) {
    if constexpr (config::migration) {
        if (movers_waiting.load(std::memory_order_seq_cst) != 0) [[unlikely]]
            tell_movers_slow(ended);
    }
}

// weft_unit_migratable_set.
weft_status let_move(Unit& unit, bool migratable) noexcept;

// In the child of a fork no thread waits for a move.
void moves_forked();

// From now on the running unit's pool is another one, until the unit comes back; neither pool is
// notified. Meanwhile the unit's former pool expects it.
void lend_unit(Unit& unit, Pool& to);
void take_back_lent(Unit& unit, Pool& former);

// weft_unit_bind: from now on the calling ULT runs on its stream alone. `former`: null where it
// stays in its pool.
weft_status bind_here(Pool*& former);
// weft_unit_unbind: ends what bind_here began.
weft_status unbind(Pool* former);

}   // namespace weft
