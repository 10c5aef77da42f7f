// Waiting for the end of a unit, and freeing it.
#pragma once

#include "core/call.hpp"
#include "core/finish.hpp"

namespace weft {

// Whether the caller may wait for the unit's end: if not, why. And why not when another does.
weft_status may_join(const Unit& target);
weft_status busy_status();

// Waits for the end, also where others do, unless that has come and is news. From a ULT, or an OS thread that is no stream.
[[gnu::noinline]] weft_status join_unended(Unit& unit);

// join_unended() of one that frees it then, and waits alone.
[[gnu::cold, gnu::noinline]] weft_status join_alone(Unit& unit);

[[gnu::always_inline]] inline weft_status join(Unit& unit) {
    return unit.joint.done_and_known() ? static_cast<weft_status>(unit.outcome) : join_unended(unit);
}

// join() of one that has ended; WEFT_BUSY: it has not.
weft_status try_join(Unit& unit) noexcept;

// The running ULT waits for a unit that take_next() has given it; also where others do, or alone.
[[gnu::noinline]] weft_status join_taken(Stream& stream, Unit& target);
[[gnu::noinline]] weft_status join_taken_alone(Stream& stream, Unit& target);

// Joins all of them; frees them as well, and sets the handles to null, unless the handles are const.
template <class Handle>
weft_status join_many(Handle* units, std::size_t count);
extern template weft_status join_many(weft_unit**, std::size_t);
extern template weft_status join_many(weft_unit* const*, std::size_t);

// How a unit that may be gone has ended, by one who was told it.
weft_status outcome_told(std::uint8_t outcome);

// Whether a join with this status means that the unit has ended.
constexpr bool means_end(weft_status status) {
    return status == WEFT_OK || status == WEFT_EXCEPTION || status == WEFT_NO_MEMORY || status == WEFT_SYSTEM || status == WEFT_CANCELLED;
}

// Joins and releases; the latter only if the unit has ended (that is, unless the status says why not).
[[gnu::noinline]] weft_status free_unended(Unit& unit) noexcept;

// As free_unended(), where may_call_at_once() has said so, or of a unit that has been taken out of its pool and may be called.
template <Out out>
[[gnu::always_inline]] inline weft_status free_by_call(Stream& stream, Unit& self, Unit& unit) {
    const bool freed = call_and_wait<out, Frees::yes>(stream, self, unit);
    return freed ? WEFT_OK : free_ended(unit);
}

// The running ULT frees a unit that take_next() has given it.
[[gnu::always_inline]] inline weft_status free_taken(Stream& stream, Unit& unit) {
    Unit& self = *stream.running;
    if (unit.untouched() && unit.plain_and_unasked()) [[likely]] return free_by_call<Out::taken>(stream, self, unit);
    if (may_call_taken_tasklet(stream, unit)) return free_tasklet_by_call<Out::taken>(stream, self, unit);
    const weft_status status = join_taken_alone(stream, unit);
    if (means_end(status)) release(current_or_null(), unit);
    return status;
}

// Joins and releases.
[[gnu::always_inline]] inline weft_status free(Unit& unit) noexcept {
    Stream* const stream = current_or_null();
    if (stream != nullptr && stream->callable->ready.front() == &unit) {
        if (may_call_at_once(*stream, unit)) [[likely]] return free_by_call<Out::first>(*stream, *stream->running, unit);
        if (may_call_tasklet_at_once(*stream, unit)) return free_tasklet_by_call<Out::first>(*stream, *stream->running, unit);
    }
    return unit.joint.done_and_known() ? free_ended(unit) : free_unended(unit);
}

weft_status detach(Unit& unit);

}  // namespace weft
