// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/announce.hpp"

#include <mutex>

#include "core/resume.hpp"
#include "process/process.hpp"
#include "unit/crowd.hpp"

namespace weft {
PrivatePool* foreign_pool(const Unit& unit) {
    auto* home = static_cast<PrivatePool*>(unit.local_pool());
    WEFT_ASSERT(home == nullptr || home->kind == WEFT_POOL_PRIVATE);
    return home == nullptr || home->mine() ? nullptr : home;
}

void send_remote_call(Unit& remote_call, PrivatePool& to, void (*body)(void*), void* argument) {
    remote_call.body = body;
    remote_call.argument = argument;
    remote_call.kind = Kind::tasklet;
    remote_call.flags = Unit::internal;
    remote_call.pool = &to;
    to.send(&remote_call);
}

// ---- waits that have been given up --------------------------------------------------------------

void note(GivenUp& wait) {
    Process& of = process();
    std::lock_guard guard(of.given_up_lock);
    wait.next = of.given_up;
    of.given_up = &wait;
}

namespace {

// A wait that is on the list lives. One that is no longer on it has been forgotten, and its waiter
// and unit may be gone.
template <class Which>
void forget_where(Which which) {
    Process& of = process();
    std::lock_guard guard(of.given_up_lock);
    for (GivenUp** at = &of.given_up; *at != nullptr;) {
        GivenUp* const wait = *at;
        if (which(*wait)) {
            *at = wait->next;
            wait->forget(wait->waiter);
        } else {
            at = &wait->next;
        }
    }
}

// For a unit that is no longer local.
[[gnu::noinline]] void forget_those_who_gave_up(const Unit& unit) {
    forget_where([&unit](const GivenUp& wait) { return wait.target == &unit; });
}

}   // namespace

void forget_noted(GivenUp& wait) {
    forget_where([&wait](const GivenUp& listed) { return &listed == &wait; });
}

// ---- announcing ---------------------------------------------------------------------------------

JoinState::Announced announce(Unit& unit, JoinState::Waiter waiter) {
    probe(Probe::join_before_announce);
    if (!unit.has_now(Unit::local)) {
        const JoinState::Announced answer = unit.join_state.announce_shared(waiter);
        if (answer != JoinState::Announced::taken) [[likely]]
            return answer;
        forget_those_who_gave_up(unit);
        return unit.join_state.announce_shared(waiter);
    }
    const JoinState::Announced answer = unit.join_state.announce_local(waiter);
    if (answer != JoinState::Announced::taken) [[likely]]
        return answer;
    // The JoinState may still know a waiter whose deadline has come, where forgetting it takes a
    // remote call.
    return forget_given_up(unit.join_state) ? unit.join_state.announce_local(waiter) : answer;
}

void RemoteCall::send(PrivatePool& to) {
    send_remote_call(
        unit, to,
        [](void* raw) {
            auto* remote_call = static_cast<RemoteCall*>(raw);
            const JoinState::Announced announced = announce(*remote_call->target, remote_call->waiter);
            // A waiter that waits may already have been woken, and be gone with the remote call:
            // the target may be another stream's by now.
            if (announced != JoinState::Announced::waiting) remote_call->answer(remote_call, announced);
        },
        this);
}

// ---- waking -------------------------------------------------------------------------------------

namespace {

// Several waiters that the end of a unit has found. The outcome is read before any waiter is
// notified: the first may free the unit.
struct Crowd {
    Outcome outcome;
    JoinState::Row row;

    explicit Crowd(JoinState::Waiter top)
        : outcome(static_cast<const Unit*>(top.other()->of)->outcome), row(take_crowd(top)) {}

    void tell_all_but_first() const {
        for (JoinWaiter* waiter = row.rest; waiter != nullptr;) {
            JoinWaiter* const next = JoinState::Row::next(*waiter);   // it may be gone with its wait
            waiter->told(waiter, outcome);
            waiter = next;
        }
    }
};

void wake_crowd(JoinWaiter* top) {
    probe(Probe::finish_before_crowd);
    const Crowd crowd(JoinState::Waiter::over(*top));
    if (!crowd.row.first.none()) wake(crowd.row.first);
    crowd.tell_all_but_first();
}

}   // namespace

void wake(JoinState::Waiter waiter) {
    if (Unit* unit = waiter.unit()) {
        resume_waiting(*unit);
    } else {
        waiter.other()->wake(waiter.other());
    }
}

Unit* wake_all_but_first(JoinState::Waiter top) {
    const Crowd crowd(top);
    crowd.tell_all_but_first();
    return crowd.row.first.sole_unit();
}

JoinState::Announced come_over(Unit& unit, JoinWaiter& waiter, void (*told)(JoinWaiter*, Outcome)) {
    probe(Probe::join_before_crowd);
    return announce_over(unit, waiter, wake_crowd, told);
}

}   // namespace weft
