// What is said where the handle of a unit is used whose runtime has ended: the unit's memory has
// gone, and what is told of it was noted before.
#pragma once

#include "unit/unit.hpp"

namespace weft {

// The unit, which nobody has freed, goes with its runtime.
void note_left(const Unit& unit);

// On standard error. `owner`: what has the handle still.
void tell_outlived(const void* unit, const char* owner);

}   // namespace weft
