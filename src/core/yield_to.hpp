// Leaving for a unit that the program names: it runs next, without a turn in its pool.
#pragma once

#include "process/stream.hpp"
#include "weft/status.h"

namespace weft {

// What becomes of the ULT that leaves.
enum class Leaving : unsigned char { yields, suspends, ends };

// Where the named unit comes from.
enum class Named : unsigned char { ready, suspended, popped };

// The running ULT leaves for `target`. Statuses as weft_unit_yield_to; when it ends, returns only
// with one that is not WEFT_OK.
weft_status hand_off_to(Unit& target, Leaving how, Named from) noexcept;

// Why the calling stream must not run the unit, which is ready or suspended, or WEFT_OK.
weft_status may_run_here(const Unit& target);

// hand_off_to(target, yields, ready).
weft_status yield_to(Unit& target) noexcept;

}   // namespace weft
