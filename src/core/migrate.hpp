// Migration: a unit goes to another pool. The asker leaves the target in the unit's extras and sets
// a mark; the unit goes when it looks (requests.hpp). decisions/0008 has the rules by which it
// leaves a private pool.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "process/stream.hpp"
#include "weft/status.h"

namespace weft {

// The status of all that follows, in a library that was built without it.
weft_status no_migration();

// Asks the unit to go to `to`.
weft_status ask_to_move(Unit& unit, Pool& to);

// ... to the main pool of another stream than those that draw it now.
weft_status ask_to_move_anywhere(Unit& unit);

// ... to the main pool of a scheduler, unless it is in one of its pools.
weft_status ask_to_move_to(Unit& unit, const Sched& sched);

// Says what is called when the unit goes where it was asked to.
weft_status set_on_migration(Unit& unit, void (*callback)(weft_unit* unit, void* argument), void* argument);

// What a wait for a move has come to.
enum class Went : std::uint8_t {
    nowhere,   // the unit has ended, or another in the same memory has: to be looked at anew
    there,
    refused,    // by the pool
    given_up,   // the waiter waits no longer
};

// A wait for a unit's move, among all of them (migrate.cpp).
struct MoveWait {
    Unit* const unit;
    void (*const wake)(MoveWait* self);   // its last act may end the waiter's life
    MoveWait* next = nullptr;
    Went went = Went::nowhere;
    bool given_up = false;   // under the lock of all waits
    Unit remote_call{};

    MoveWait(Unit& of, void (*by)(MoveWait*)) : unit(&of), wake(by) {}
};

// The waiter is woken from now on when its unit goes or ends; at once, if that has happened.
void begin_move_wait(MoveWait& wait);

// The waiter waits no longer, and the unit may be freed. True: nobody will wake it. False: it is
// woken, now or when the remote call that enrolls it has arrived.
bool give_up_move_wait(MoveWait& wait);

// Waits until the unit has gone where it was asked to, or has ended. For units other than the
// calling one by `wait`, which waits once, and when it gives up says why in `status`.
weft_status wait_for_move(Unit& unit, std::uint64_t deadline_ns,
                          Went (*wait)(Unit& target, std::uint64_t deadline_ns, weft_status& status));

// ... as long as it takes.
weft_status wait_for_move(Unit& unit);

// The running ULT, which was asked to move, goes and comes back. False: it was not asked, after
// all, or the pool refuses it. `started`: its body is at work.
bool move_away(Unit& self, bool started);

// A tasklet that has not started and is in no pool goes where it was asked to. False: as with
// move_away().
bool move_unstarted(Unit& unit);

// Why the caller, who has the unit, cannot have it belong to `to`, or WEFT_OK.
weft_status may_move(const Unit& unit, const Pool& to);

// It does from now on, and goes there when it becomes ready: popped, suspended by the program, or
// the caller itself. In a library without migration, too.
weft_status set_pool(Unit& unit, Pool& to);

// How many wait for some unit to move.
extern atomic<unsigned> movers_waiting;

void tell_movers_slow(const Unit* ended);

// A unit has ended, and may be gone: whoever waits for its move learns that. seq_cst, after the end
// was published: against one who has counted itself and looks then whether the unit has ended.
[[gnu::always_inline]] inline void tell_movers_of_end(const Unit* ended) {
    if constexpr (config::migration) {
        if (movers_waiting.load(std::memory_order_seq_cst) != 0) [[unlikely]]
            tell_movers_slow(ended);
    }
}

// weft_unit_migratable_set.
weft_status let_move(Unit& unit, bool migratable) noexcept;

// In the child of a fork nobody waits for a move.
void moves_forked();

// The running unit's pool is another from now on, without either being told, until it comes back.
// Meanwhile its former one expects it.
void lend_unit(Unit& unit, Pool& to);
void take_back_lent(Unit& unit, Pool& former);

// weft_unit_bind: the calling ULT goes on on its stream alone. `former`: null where it stays in its
// pool.
weft_status bind_here(Pool*& former);
// weft_unit_unbind: ends what bind_here began.
weft_status unbind(Pool* former);

}   // namespace weft
