// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report where a unit's handle is used after the unit's runtime has ended: the unit's memory is
// gone, so the report uses a note made before.
#pragma once

#include "unit/unit.hpp"

namespace weft {

// The unit, which the program has not freed, goes with its runtime.
void note_left(const Unit& unit);

// Writes to standard error. `owner`: what still has the handle.
void tell_outlived(const void* unit, const char* owner);

}   // namespace weft
