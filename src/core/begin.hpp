// How a unit begins, by its kind, and how one that has begun light is promoted: doc/decisions/0015 tells the whole.
#pragma once

#include "process/stream.hpp"

namespace weft {

// The running unit, which is light, is about to leave for the first time, or to end in the middle of its body: from now on it is a ULT
// like any other, and the stream's scheduler one that begins anew if the unit has taken its place.
void promote(Stream& stream, Unit& unit);

// The stream finds something to run again, or is idle: it does not starve for want of stacks.
void end_starving(Stream& stream);

// One unit, from the scheduler's stack; returns when it has ended or left. Row::yes: and those after it that begin alike, if it does not
// suspend.
enum class Row : bool { no, yes };
void run_unit(Stream& stream, Unit* unit, Row row = Row::no);

}  // namespace weft
