// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stream that has nothing to run: it looks for work for a while, gives its hart back, and sleeps.
#pragma once

#include "process/stream.hpp"

namespace weft {

// Gives the hart back and sleeps until there may be work; may leave a unit in `next_unit`. From the
// scheduler's stack.
void idle(Stream& stream);

// A stream that sleeps computes nothing, and others may use its hart. From its own carrier.
void hold_hart(Stream& stream);
void give_hart_back(Stream& stream);

// For a guest that has nothing to run: its thread has no hart to look on, or another claimant wants
// it.
bool is_wanted_elsewhere(const Stream& stream);
// Between two looks for work, or for an answer: any thread that waits for the processor gets it
// first.
void share_processor(const Stream& stream);

// Counts what the scheduler has stolen. The stream may have come to a domain meanwhile, whose
// scheduler is shared with other streams: that scheduler steals nothing, and is only read.
void note_stolen(Stream& stream);

}   // namespace weft
