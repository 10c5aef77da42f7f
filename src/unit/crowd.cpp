// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unit/crowd.hpp"

#include <iterator>
#include <mutex>

#include "os/lock.hpp"

namespace weft {
namespace {

// One lock for some of the units: two units are seldom joined by several waiters each at the same
// time.
struct alignas(config::cache_line) Crowds {
    os::Lock lock;
};
constinit Crowds all_crowds[8];

os::Lock& lock_of(const void* unit) {
    return all_crowds[reinterpret_cast<std::uintptr_t>(unit) / sizeof(Unit) % std::size(all_crowds)].lock;
}

}   // namespace

JoinState::Announced announce_over(Unit& unit, JoinWaiter& waiter, void (*wake)(JoinWaiter*),
                                   void (*told)(JoinWaiter*, Outcome)) {
    waiter.of = &unit;
    waiter.wake = wake;
    waiter.told = told;
    // A joiner that has called the unit looks for other waiters only where there is something to
    // see to.
    if (!unit.has_now(Unit::local)) unit.mark(Unit::untidy);
    std::lock_guard guard(lock_of(&unit));
    return unit.join_state.announce_over(waiter);
}

bool withdraw(Unit& unit, JoinWaiter& waiter) {
    if (unit.join_state.withdraw(&waiter)) return true;
    if (unit.join_state.done()) return false;
    std::lock_guard guard(lock_of(&unit));
    return unit.join_state.withdraw_from_crowd(waiter);
}

Unit* first_of_crowd(const Unit& unit) {
    std::lock_guard guard(lock_of(&unit));
    return JoinState::first_of_crowd(unit.join_state.announced());
}

JoinState::Row take_crowd(JoinState::Waiter top) {
    std::lock_guard guard(lock_of(top.other()->of));
    return JoinState::in_order(top);
}

bool forget_given_up_in_crowd(JoinState& join_state) {
    bool found = false;
    for (;;) {
        JoinState::Waiter gone;
        {
            const JoinState::Waiter top = join_state.announced();
            if (!top.crowd()) break;
            std::lock_guard guard(lock_of(top.other()->of));
            gone = join_state.given_up_in_crowd();
            if (gone.none()) break;
            join_state.withdraw_from_crowd(*gone.other());
        }
        if (gone.crowd()) {
            gone.other()->told(gone.other(), Outcome::returned);
        } else {
            gone.other()->wake(gone.other());
        }
        found = true;
    }
    return found || forget_given_up_alone(join_state);
}

void crowds_forked() {
    for (Crowds& crowds : all_crowds) crowds.lock.break_open();
}

}   // namespace weft
