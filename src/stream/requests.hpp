// What a unit is asked for from outside: to end. The asker sets a mark in the descriptor (Unit::requests) and goes on; the unit
// looks when it starts, when it yields, and when it comes back from where it has left. decisions/0008 says why there.
#pragma once

#include "stream/suspend.hpp"

namespace weft {

// A unit that was asked for something is about to begin, on the stack that its body is called on. False: it ends without
// that.
bool starts(Unit& unit);

}  // namespace weft
