// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A unit that has ended begins anew.
#pragma once

#include "process/stream.hpp"
#include "weft/status.h"

namespace weft {

// `unit` runs body(argument) in `pool`, as a unit of the same kind with the same stack size, name
// and attributes. Revived::first: it runs at once, and the running ULT waits in its pool.
// Revived::held: it is in no pool yet.
enum class Revived : unsigned char { pushed, first, held };
weft_status revive(Unit& unit, Pool& pool, void (*body)(void*), void* argument, const void* site, Revived how);

}   // namespace weft
