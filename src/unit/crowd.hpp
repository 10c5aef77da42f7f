// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several waiters for the end of one unit. The first announces itself to the JoinState by an
// operation on its word. A waiter that comes while there are others comes over them, under a lock,
// and leaves again under that lock. The end of a unit takes the lock only when it finds a crowd.
#pragma once

#include "unit/join_state.hpp"
#include "unit/unit.hpp"

namespace weft {

// Announces a waiter that comes while there are others; the others may be gone by now. It is
// notified by `told`, after the waiters that came before it. `wake`: what the end of the unit calls
// for all of them. taken: the unit is detached. For a local unit on its stream.
JoinState::Announced announce_over(Unit& unit, JoinWaiter& waiter, void (*wake)(JoinWaiter*),
                                   void (*told)(JoinWaiter*, Outcome));

// JoinState::withdraw(), for a waiter that may have come over others, or over which others may have
// come.
bool withdraw(Unit& unit, JoinWaiter& waiter);

// The waiter that came first in the crowd of the unit, which has not ended; null if that is no
// unit.
Unit* first_of_crowd(const Unit& unit);

// The waiters that an end has found; no other thread looks at them any more.
JoinState::Row take_crowd(JoinState::Waiter top);

// In the child of a fork, where the threads that held a lock are gone.
void crowds_forked();

}   // namespace weft
