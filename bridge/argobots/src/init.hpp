// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Initialization and finalization of the library.
#pragma once

#include <cstdint>

#include "common.hpp"

namespace weft::argobots {

// Whether ABT_init has been called, and ABT_finalize has not. The runtime itself may also run for
// others.
bool initialized();

// The ULT that made the first call of ABT_init; null while the library is not initialized.
weft_unit* primary_unit();

// Blocks the calling OS thread for so long: for a tasklet, which cannot suspend.
void block_for(std::uint64_t duration_ns);

}   // namespace weft::argobots
