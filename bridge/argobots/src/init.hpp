// The beginning and the end of all.
#pragma once

#include <cstdint>

#include "common.hpp"

namespace weft::argobots {

// The ULT that has called ABT_init first; null while nothing runs.
weft_unit* primary_unit();

// The calling OS thread does nothing for so long: for a tasklet, which cannot suspend.
void block_for(std::uint64_t duration_ns);

}  // namespace weft::argobots
