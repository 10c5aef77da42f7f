// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a unit may end otherwise than by returning from its body.
#pragma once

#include "process/error.hpp"
#include "process/stream.hpp"

namespace weft {

// Whether no job of the unit's own lies on its stack, it is not itself one, and it has not been
// asked to stay (weft_unit_end_disable).
inline bool may_end(const Stream& stream, const Unit& unit) {
    return unit.jobs_out == 0 && (!unit.has_jobs() || stream.jobs.empty());
}

// weft_unit_end_disable, and weft_unit_end_enable.
weft_status disable_end() noexcept;
weft_status enable_end() noexcept;

// Reports why the unit may not end.
weft_status still_forked();

}   // namespace weft
