// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A unit that was begun by a call, and suspends, becomes a ULT like any other: doc/decisions/0015
// has the whole story.
#pragma once

#include "process/stream.hpp"
#include "unit/crowd.hpp"

namespace weft {

// The running unit, which is light, is about to leave for the first time, or to end in the middle
// of its body. From now on it is a ULT like any other, and if it has taken the place of the
// stream's scheduler, the scheduler begins anew.
void promote(Stream& stream, Unit& unit);

// For a unit that is called: its joiner, if the joiner has called it; else its parent has.
inline Unit* calling_joiner(const Unit& unit) {
    return unit.join_state.announced().unit_or([&unit] { return first_of_crowd(unit); });
}

// Whether the unit, which runs, is called by its parent, which is in no pool yet: promote() puts it
// there.
inline bool is_called_by_parent(const Unit& unit) { return unit.is_called() && calling_joiner(unit) == nullptr; }

}   // namespace weft
