// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A unit for which no stack can be had waits for one to come free. Where none would, it ends
// without having run.
#pragma once

#include "process/stream.hpp"

namespace weft {

// No stack, or no pthread, could be had for the unit, which was picked.
void postpone(Stream& stream, Unit& unit);

// The stream finds something to run again, or is idle: it does not starve for want of stacks.
void end_starving(Stream& stream);
[[gnu::always_inline]] inline void stack_was_found(Stream& stream) {
    if (stream.scarcity.postponed_in_a_row != 0 || stream.scarcity.starving) [[unlikely]]
        end_starving(stream);
}

}   // namespace weft
