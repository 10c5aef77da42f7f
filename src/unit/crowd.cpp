#include "unit/crowd.hpp"

#include <iterator>
#include <mutex>

#include "os/lock.hpp"

namespace weft {
namespace {

// One lock for some of the units: who joins which together with others is seldom the same.
struct alignas(config::cache_line) Crowds {
    os::Lock lock;
};
constinit Crowds all_crowds[8];

os::Lock& lock_of(const void* unit) {
    return all_crowds[reinterpret_cast<std::uintptr_t>(unit) / sizeof(Unit) % std::size(all_crowds)].lock;
}

}   // namespace

Joint::Announced announce_over(Unit& unit, JoinWaiter& waiter, void (*wake)(JoinWaiter*),
                               void (*told)(JoinWaiter*, Outcome)) {
    waiter.of = &unit;
    waiter.wake = wake;
    waiter.told = told;
    // Who has called it looks for others only where there is something to see to.
    if (!unit.has_now(Unit::local)) unit.mark(Unit::untidy);
    std::lock_guard guard(lock_of(&unit));
    return unit.joint.announce_over(waiter);
}

bool withdraw(Unit& unit, JoinWaiter& waiter) {
    if (unit.joint.withdraw(&waiter)) return true;
    if (unit.joint.done()) return false;
    std::lock_guard guard(lock_of(&unit));
    return unit.joint.withdraw_from_crowd(waiter);
}

Unit* first_of_crowd(const Unit& unit) {
    std::lock_guard guard(lock_of(&unit));
    return Joint::first_of_crowd(unit.joint.announced());
}

Joint::Row take_crowd(Joint::Waiter top) {
    std::lock_guard guard(lock_of(top.other()->of));
    return Joint::in_order(top);
}

bool forget_given_up_in_crowd(Joint& joint) {
    bool found = false;
    for (;;) {
        Joint::Waiter gone;
        {
            const Joint::Waiter top = joint.announced();
            if (!top.crowd()) break;
            std::lock_guard guard(lock_of(top.other()->of));
            gone = joint.given_up_in_crowd();
            if (gone.none()) break;
            joint.withdraw_from_crowd(*gone.other());
        }
        if (gone.crowd()) {
            gone.other()->told(gone.other(), Outcome::returned);
        } else {
            gone.other()->wake(gone.other());
        }
        found = true;
    }
    return found || forget_given_up_alone(joint);
}

void crowds_forked() {
    for (Crowds& crowds : all_crowds) crowds.lock.break_open();
}

}   // namespace weft
