// A unit that was begun by a call, and suspends, becomes a ULT like any other: doc/decisions/0015
// tells the whole.
#pragma once

#include "process/stream.hpp"
#include "unit/crowd.hpp"

namespace weft {

// The running unit, which is light, is about to leave for the first time, or to end in the middle
// of its body: from now on it is a ULT like any other, and the stream's scheduler one that begins
// anew if the unit has taken its place.
void promote(Stream& stream, Unit& unit);

// Of a unit that is called: its joiner, if that has called it; else its parent has.
inline Unit* calling_joiner(const Unit& unit) {
    return unit.join_state.announced().unit_or([&unit] { return first_of_crowd(unit); });
}

// Whether the unit, which runs, is called by its parent, who is in no pool yet: promote() puts it
// there.
inline bool is_called_by_parent(const Unit& unit) { return unit.is_called() && calling_joiner(unit) == nullptr; }

}   // namespace weft
