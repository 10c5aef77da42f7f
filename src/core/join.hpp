// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waiting for the end of a unit, and freeing it.
#pragma once

#include "core/call.hpp"
#include "core/finish.hpp"

namespace weft {

// Whether the caller may wait for the unit's end, or the reason why not. The other two report that
// another waiter is there already, and that the unit has not ended.
weft_status may_join(const Unit& target);
weft_status busy_status();
weft_status not_ended(const Unit& unit);

// Waits for the end, also besides other waiters, unless the end has come and is news
// (join_state.hpp). From a ULT, or an OS thread that is no stream.
[[gnu::noinline]] weft_status join_unended(Unit& unit);

// join_unended() for a caller that frees the unit then, and waits alone.
[[gnu::cold, gnu::noinline]] weft_status join_alone(Unit& unit);

[[gnu::always_inline]] inline weft_status join(Unit& unit) {
    return unit.join_state.done_and_known() ? ended_status(unit) : join_unended(unit);
}

// join() of a unit that has ended; WEFT_BUSY: it has not.
weft_status try_join(Unit& unit) noexcept;

// The running ULT waits for a unit that take_next() has taken out; besides other waiters, or alone.
[[gnu::noinline]] weft_status join_taken(Stream& stream, Unit& target);
[[gnu::noinline]] weft_status join_taken_alone(Stream& stream, Unit& target);

// Joins all of them. Unless the handles are const, also frees those whose bodies have returned, and
// sets their handles to null.
template <class Handle>
weft_status join_many(Handle* units, std::size_t count);
extern template weft_status join_many(weft_unit**, std::size_t);
extern template weft_status join_many(weft_unit* const*, std::size_t);

// The status of a join of a unit that may be gone, for a waiter that has been passed the outcome.
weft_status status_of(Outcome outcome);

// Gives back the descriptor of a unit that has ended; WEFT_BUSY: it has not.
weft_status free_if_ended(Unit& unit) noexcept;

// Joins a unit, and gives its descriptor back if its body has returned; WEFT_NOT_RETURNED: the unit
// has ended otherwise.
[[gnu::noinline]] weft_status join_and_free_unended(Unit& unit) noexcept;

// join_and_free_unended(), after may_call_at_once() has returned true, or for a unit that has been
// taken out of its pool and may be called.
template <Out out>
[[gnu::always_inline]] inline weft_status join_and_free_by_call(Stream& stream, Unit& self, Unit& unit) {
    return call_and_wait<out, Frees::yes>(stream, self, unit);
}

// The running ULT joins and frees a unit that take_next() has taken out.
[[gnu::always_inline]] inline weft_status join_and_free_taken(Stream& stream, Unit& unit) {
    Unit& self = *stream.running;
    if (unit.untouched() && unit.plain_and_unasked()) [[likely]]
        return join_and_free_by_call<Out::taken>(stream, self, unit);
    if (may_call_taken_tasklet(stream, unit)) return free_tasklet_by_call<Out::taken>(stream, self, unit);
    const weft_status status = join_taken_alone(stream, unit);
    if (status == WEFT_OK) release(current_or_null(), unit);
    return status;
}

[[gnu::always_inline]] inline weft_status join_and_free(Unit& unit) noexcept {
    Stream* const stream = current_or_null();
    if (stream != nullptr && stream->inline_pool->ready.front() == &unit) {
        if (may_call_at_once(*stream, unit)) [[likely]]
            return join_and_free_by_call<Out::first>(*stream, *stream->running, unit);
        if (may_call_tasklet_at_once(*stream, unit))
            return free_tasklet_by_call<Out::first>(*stream, *stream->running, unit);
    }
    return unit.join_state.done_and_known() ? free_returned(unit) : join_and_free_unended(unit);
}

weft_status detach(Unit& unit);

}   // namespace weft
