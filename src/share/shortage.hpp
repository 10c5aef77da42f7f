// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Detached units for which no stack, or no pthread, can be had. No thread could be notified that
// such a unit has not run, so it does not end: it waits here, still ready, and goes back into its
// pool now and then, as long as the runtime runs. doc/decisions/0044 has the reasons.
#pragma once

#include <cstddef>
#include <cstdint>

#include "process/shortage_state.hpp"

namespace weft {

struct Process;
struct Stream;

// A detached unit, ready and in no pool, waits for a stack. From its stream, whose scheduler runs.
void keep_for_stack(Stream& stream, Unit& unit);

// Whether such units belong to pools that this stream draws from.
bool has_kept(Stream& stream);

// In weft_finalize: all waiting units are tried once more, if fewer are left than the last time.
// False: none is tried.
bool try_kept_again(Process& of);

// After try_kept_again(): reports the units that have not run.
void tell_of_kept(Process& of);

}   // namespace weft
