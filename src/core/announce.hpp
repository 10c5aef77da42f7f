// A waiter for the end of a unit is announced to its JoinState, or, where another stream alone may
// touch that, by a remote call to that stream.
#pragma once

#include "process/stream.hpp"

namespace weft {

// The private pool of another stream that the unit is local to: only that stream may touch the
// unit's JoinState, and what concerns it is sent there. Null when the caller may use the JoinState
// as it is.
PrivatePool* foreign_pool(const Unit& unit);

// Sends a remote call: body(argument) runs on the stream that draws from the pool, or here when
// there is none. Its last act may free `remote_call`.
void send_remote_call(Unit& remote_call, PrivatePool& to, void (*body)(void*), void* argument);

// A wait with a deadline that has been given up while the unit's JoinState knows of it still: a
// remote call is on its way to the stream that alone may make that forget it. The unit may become
// shared before the remote call arrives; then the next one that comes to its JoinState does so.
// Noted before the remote call is sent, and until it has arrived.
struct GivenUp {
    Unit* target = nullptr;
    JoinWaiter* waiter = nullptr;
    void (*forget)(JoinWaiter* waiter) = nullptr;   // makes the JoinState forget it; once, under a lock
    GivenUp* next = nullptr;
};
void note(GivenUp& wait);
void forget_noted(GivenUp& wait);   // unless that has been done

// Tells a unit whose foreign_pool() is null who waits for it. It may have become shared since, on
// this stream, or elsewhere if it was shared then.
JoinState::Announced announce(Unit& unit, JoinState::Waiter waiter);

// announce() of one to whom that has said that it is taken: it waits besides others. `told` is
// called then instead of `wake`.
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

    // When it arrives the target may have gone from there to another pool: then it is announced to
    // as others are.
    void send(PrivatePool& to);
};

// One unit, or a waiter that is none: an OS thread, somebody who waits for many, a crowd.
void wake(JoinState::Waiter waiter);

// Of a unit that its joiner has called: the others that wait for it are told. Returns the joiner,
// which goes on by itself.
[[gnu::noinline]] Unit* wake_all_but_first(JoinState::Waiter crowd);

}   // namespace weft
