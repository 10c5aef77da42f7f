// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Requests to a unit from outside: to end, or to go to another pool (migrate.hpp). The requester
// sets a mark in the descriptor (Unit::requests) and continues. The unit checks the mark when it
// starts, when it yields, and when it comes back after it has left. decisions/0008 has the reasons
// for these points.
#pragma once

#include "process/stream.hpp"
#include "weft/status.h"

namespace weft {

// The unit that runs has come back: this is reported if it is observed, and it does what it was
// asked to; of Unit::at_return, only the marks of `which`.
// Returns the stream that it comes back on, if it does.
Stream& handle_requests(Unit& self, Unit::Marks which);

// weft_unit_cancel.
weft_status ask_to_end(Unit& unit) noexcept;

// A ULT with a pending request is about to begin, on the stack that its body is called on. False:
// it ends without a call of its body.
bool starts(Unit& unit);

// starts(), for a unit that was picked and is to be called. False: it has ended, or gone elsewhere.
bool picked_starts(Stream& stream, Unit& unit);

// The running ULT is about to yield. True: it has been elsewhere instead.
bool handle_requests_instead(Unit& self);

// A picked unit ends without having run.
void end_unrun(Stream& stream, Unit& unit, Outcome outcome);

}   // namespace weft
