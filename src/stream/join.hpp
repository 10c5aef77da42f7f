// The end of a unit and those who wait for it.
#pragma once

#include "stream/stream.hpp"

namespace weft {

// Calls the body and keeps what it throws.
void run_body(Unit& unit) noexcept;

// The unit has ended: publishes it and makes its joiner ready. The descriptor may be freed and used again before this
// returns. From the stream that ran it.
void end_unit(Unit& unit);

// The end of something else that can be waited for (a stream): its waiter is made ready. From any thread.
void finish_and_wake(Joint& joint);

// Waits for the end. From a ULT, or an OS thread that is no stream.
weft_status join(Unit& unit);
weft_status join_many(weft_unit* const* units, std::size_t count);

// Gives the descriptor of a unit that has ended back.
void release(Unit& unit);

weft_status detach(Unit& unit);

}  // namespace weft
