// Several that wait for the end of one unit. The first announces itself to the JoinState by an
// operation on its word; whoever comes when somebody waits comes over those who do, under a lock,
// and so leaves again. The end of a unit takes the lock only when it finds a crowd.
#pragma once

#include "unit/join_state.hpp"
#include "unit/unit.hpp"

namespace weft {

// Announces one who comes when somebody waits already; that need not be so any more. It is `told`,
// and before all others, of those who came before. `wake`: what the end of the unit calls for all
// of them. taken: the unit is detached. Of a local unit on its stream.
JoinState::Announced announce_over(Unit& unit, JoinWaiter& waiter, void (*wake)(JoinWaiter*),
                                   void (*told)(JoinWaiter*, Outcome));

// As JoinState::withdraw(), of one that may have come over others, or others over it.
bool withdraw(Unit& unit, JoinWaiter& waiter);

// In the crowd that waits for the unit, which has not ended: who waited first, if that is a unit.
Unit* first_of_crowd(const Unit& unit);

// Those whom an end has found, which nobody else looks at any more.
JoinState::Row take_crowd(JoinState::Waiter top);

// In the child of a fork, where whoever held a lock is no more.
void crowds_forked();

}   // namespace weft
