// Whether a unit may end otherwise than by returning from its body.
#pragma once

#include "process/error.hpp"
#include "process/stream.hpp"

namespace weft {

// Whether no job of its own lies on its stack, nor is itself one, and nobody has asked for it to
// stay (weft_unit_end_disable).
inline bool may_end(const Stream& stream, const Unit& unit) {
    return unit.jobs_out == 0 && (!unit.has_jobs() || stream.jobs.empty());
}

// weft_unit_end_disable, and weft_unit_end_enable.
weft_status disable_end() noexcept;
weft_status enable_end() noexcept;

// Why not.
weft_status still_forked();

}   // namespace weft
