// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a stream is asked from outside, by bits of Stream::attention, and what it does about it
// between two units. A table (attention_hooks in process/hooks.hpp) says which folder handles which
// bit.
#pragma once

#include <cstdint>

#include "process/hooks.hpp"
#include "process/stream.hpp"

namespace weft {

// Handles the requests to the stream. From the scheduler's stack.
void attend(Stream& stream);

// The handlers of this folder.
Attended stop_for_good(Stream& stream, Attention bits);   // exit
Attended pause_stream(Stream& stream, Attention bits);
Attended take_note(Stream& stream, Attention bits);   // for any bits: the loop reads them in `attended`
Attended learn_of_observers(Stream& stream, Attention bits);

}   // namespace weft
