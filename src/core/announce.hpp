// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A waiter for the end of a unit is announced to the unit's JoinState, or, where another stream
// alone may touch that, by a remote call to that stream.
#pragma once

#include "process/stream.hpp"

namespace weft {

// The private pool of another stream that the unit is local to: only that stream may touch the
// unit's JoinState, and every operation on it is sent there. Null when the caller may use the
// JoinState directly.
PrivatePool* foreign_pool(const Unit& unit);

// Sends a remote call: body(argument) runs on the stream that draws from the pool, or here when the
// pool has none. The last act of `body` may free `remote_call`.
void send_remote_call(Unit& remote_call, PrivatePool& to, void (*body)(void*), void* argument);

// A wait with a deadline that has been given up while the unit's JoinState still knows of it. A
// remote call is on its way to the only stream that may make the JoinState forget it. If the unit
// becomes shared before the remote call arrives, the next thread that comes to the JoinState makes
// it forget. Noted before the remote call is sent, and until it has arrived.
struct GivenUp {
    Unit* target = nullptr;
    JoinWaiter* waiter = nullptr;
    void (*forget)(JoinWaiter* waiter) = nullptr;   // makes the JoinState forget it; once, under a lock
    GivenUp* next = nullptr;
};
void note(GivenUp& wait);
void forget_noted(GivenUp& wait);   // unless that has been done

// Announces a waiter to a unit whose foreign_pool() is null. The unit may have become shared since,
// on this stream, or on another one if it was shared then.
JoinState::Announced announce(Unit& unit, JoinState::Waiter waiter);

// announce() for a waiter whose announcement was answered with `taken`: it waits besides other
// waiters. `told` is called then instead of `wake`.
JoinState::Announced come_over(Unit& unit, JoinWaiter& waiter, void (*told)(JoinWaiter* waiter, Outcome outcome));

// Announces a waiter to a unit of another stream's private pool. Only that stream may touch the
// unit's JoinState, so the announcement travels there as a tasklet that needs no memory but the
// waiter's own.
struct RemoteCall {
    Unit* target = nullptr;
    JoinState::Waiter waiter;
    // on the other stream; its last act may free the remote call
    void (*answer)(RemoteCall* remote_call, JoinState::Announced answer) = nullptr;
    void* context = nullptr;
    Unit unit{};

    // When the call arrives the target may have gone from there to another pool: then the waiter is
    // announced there like any other.
    void send(PrivatePool& to);
};

// Wakes one unit, or a waiter that is not a unit: an OS thread, a waiter for many units, a crowd.
void wake(JoinState::Waiter waiter);

// Of a unit that its joiner has called: notifies the other waiters. Returns the joiner, which
// continues by itself.
[[gnu::noinline]] Unit* wake_all_but_first(JoinState::Waiter crowd);

}   // namespace weft
