// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Leaving for a unit that the program names: it runs next, without a turn in its pool.
#pragma once

#include "process/stream.hpp"
#include "weft/status.h"

namespace weft {

// What the leaving ULT does.
enum class Leaving : unsigned char { yields, suspends, ends };

// Where the named unit comes from.
enum class Named : unsigned char { ready, suspended, popped };

// The running ULT leaves for `target`. Statuses as for weft_unit_yield_to; when the ULT ends, the
// call returns only with a status that is not WEFT_OK.
weft_status hand_off_to(Unit& target, Leaving how, Named from) noexcept;

// Whether the calling stream may run the unit, which is ready or suspended: WEFT_OK, or the reason
// why not.
weft_status may_run_here(const Unit& target);

// hand_off_to(target, yields, ready).
weft_status yield_to(Unit& target) noexcept;

}   // namespace weft
