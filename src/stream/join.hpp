// The end of a unit and those who wait for it.
#pragma once

#include <exception>
#include <new>

#include "stream/suspend.hpp"

namespace weft {

// Calls the body and keeps what it throws.
[[gnu::always_inline]] inline void run_body(Unit& unit) noexcept {
    try {
        unit.body(unit.argument);
    } catch (...) {
        new (&unit.argument) std::exception_ptr(std::current_exception());
        unit.outcome = WEFT_EXCEPTION;
    }
}

// Whoever waits is told: a detached unit is freed, an OS thread woken, a group counted down.
void tell(Unit* detached, Joint::Waiter waiter);

// The unit has ended: publishes it and makes its joiner ready. The descriptor may be freed and used again before this
// returns. From the stream that ran it.
void end_unit(Stream& stream, Unit& unit);

// The end of something else that can be waited for (a stream): its waiter is made ready. From any thread.
void finish_and_wake(Joint& joint);

// Waits for the end. From a ULT, or an OS thread that is no stream.
[[gnu::noinline]] weft_status join_unended(Unit& unit);
[[gnu::always_inline]] inline weft_status join(Unit& unit) {
    return unit.joint.done() ? static_cast<weft_status>(unit.outcome) : join_unended(unit);
}
weft_status join_many(weft_unit* const* units, std::size_t count);

void drop_exception(Unit& unit);
void give_outside(Unit& unit);

// Releases a unit that has ended, and returns how.
[[gnu::noinline]] weft_status free_ended(Unit& unit);

// Joins and releases; the latter only if the unit has ended (that is, unless the status says why not).
[[gnu::noinline]] weft_status free_unended(Unit& unit);

// Gives the descriptor of a unit that has ended back. `stream`: the calling one, or null.
[[gnu::always_inline]] inline void release(Stream* stream, Unit& unit) {
    if (unit.outcome == WEFT_EXCEPTION) [[unlikely]] drop_exception(unit);
    unit.life.move(State::done, State::free);
    if constexpr (config::checked) ++unit.generation;
    if (stream != nullptr) [[likely]] {
        stream->units->give(&unit);
    } else {
        give_outside(unit);
    }
}

weft_status detach(Unit& unit);

}  // namespace weft
