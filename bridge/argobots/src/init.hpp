// The beginning and the end of all.
#pragma once

#include <cstdint>

#include "common.hpp"

namespace weft::argobots {

// Whether ABT_init has been called, and ABT_finalize has not: the runtime may run for others, too.
bool initialized();

// The ULT that has called ABT_init first; null while nothing runs.
weft_unit* primary_unit();

// The calling OS thread does nothing for so long: for a tasklet, which cannot suspend.
void block_for(std::uint64_t duration_ns);

}   // namespace weft::argobots
