// The end of a unit and those who wait for it.
#pragma once

#include <exception>
#include <new>

#include "core/call.hpp"
#include "core/suspend.hpp"

namespace weft {

// In a handler: the exception that the body of the running unit threw is kept for its joiner.
void keep_exception() noexcept;

// Calls the body of the unit that runs and keeps what it throws.
[[gnu::always_inline]] inline void run_body(Unit& unit) noexcept {
    try {
        unit.body(unit.argument);
    } catch (...) {
        keep_exception();   // which asks who runs: no register is saved here for it
    }
}

// The private pool of another stream that the unit is local to: only that stream may touch the unit's Joint, and what concerns
// it is sent there. Null when the caller may use the Joint as it is.
PrivatePool* foreign_pool(const Unit& unit);

// Sends a letter: body(argument) runs on the stream that draws from the pool, or here when there is none. Its last act may free
// `letter`.
void send_letter(Unit& letter, PrivatePool& to, void (*body)(void*), void* argument);

// A wait with a deadline that has been given up while the unit's Joint knows of it still: a letter is on its way to the stream that alone may make that forget it.
// The unit may become shared before the letter arrives; then whoever comes to its Joint next does so. Noted before the letter is sent, and until it has arrived.
struct GivenUp {
    Unit* target = nullptr;
    JoinWaiter* waiter = nullptr;
    void (*forget)(JoinWaiter* waiter) = nullptr;   // makes the Joint forget it; once, under a lock
    GivenUp* next = nullptr;
};
void note(GivenUp& wait);
void forget_noted(GivenUp& wait);   // unless that has been done

// Tells a unit whose foreign_pool() is null who waits for it. It may have become shared since, on this stream, or elsewhere if it
// was shared then.
Joint::Announced announce(Unit& unit, Joint::Waiter waiter);

// The same of one to whom that has said that it is taken: it waits besides others. `told` is called then instead of `wake`.
Joint::Announced come_over(Unit& unit, JoinWaiter& waiter, void (*told)(JoinWaiter* waiter, std::uint8_t outcome));

// Whether the caller may wait for the unit's end: if not, why. And why not when another does.
weft_status may_join(const Unit& target);
weft_status busy_status();

// Of a unit that its joiner has called: the others that wait for it are told. Returns the joiner, which goes on by itself.
[[gnu::noinline]] Unit* tell_others(Joint::Waiter crowd);

// Whoever waits is told: a detached unit is freed, an OS thread woken, a group counted down.
void tell(Unit* detached, Joint::Waiter waiter);

// The unit has ended: publishes it and makes its joiner ready. The descriptor may be freed and used again before this
// returns. From the stream that ran it.
void end_unit(Stream& stream, Unit& unit);

// The same of one that may be observed, whose end has been told: that somebody learns of it will be told, too.
void end_unit_carefully(Stream& stream, Unit& unit);

// The end of something else that can be waited for (a stream): its waiter is made ready. From any thread.
void finish_and_wake(Joint& joint);

// Waits for the end, also where others do, unless that has come and is news. From a ULT, or an OS thread that is no stream.
[[gnu::noinline]] weft_status join_unended(Unit& unit);
// The same of one that frees it then, and waits alone.
[[gnu::cold, gnu::noinline]] weft_status join_alone(Unit& unit);
[[gnu::always_inline]] inline weft_status join(Unit& unit) {
    return unit.joint.done_and_known() ? static_cast<weft_status>(unit.outcome) : join_unended(unit);
}
// Joins all of them; frees them as well, and sets the handles to null, unless the handles are const.
template <class Handle>
weft_status join_many(Handle* units, std::size_t count);
extern template weft_status join_many(weft_unit**, std::size_t);
extern template weft_status join_many(weft_unit* const*, std::size_t);

// What a unit leaves behind that did not simply return (Unit::at_release).
void tidy_up(Unit& unit);
void give_outside(Unit& unit);

// The unit ends, or has ended, so.
inline void end_with(Unit& unit, weft_status outcome) {
    unit.outcome = static_cast<std::uint8_t>(outcome);
    unit.mark(Unit::untidy);
}

// Whether the unit has not run for want of a stack, or of a pthread; `outcome` is how it has ended.
constexpr bool is_refused(weft_status outcome) { return outcome == WEFT_NO_MEMORY || outcome == WEFT_SYSTEM; }
// Says so, where that is how it has ended.
[[gnu::cold, gnu::noinline]] void tell_refusal(const Unit& unit);

// How a unit has ended.
inline weft_status outcome(const Unit& unit) {
    const auto how = static_cast<weft_status>(unit.outcome);
    if (how != WEFT_OK) [[unlikely]] tell_refusal(unit);
    return how;
}

// The same by one who was told it, of a unit that may be gone.
weft_status outcome_told(std::uint8_t outcome);

// Whether a join with this status means that the unit has ended.
constexpr bool means_end(weft_status status) {
    return status == WEFT_OK || status == WEFT_EXCEPTION || status == WEFT_NO_MEMORY || status == WEFT_SYSTEM || status == WEFT_CANCELLED;
}

// Releases a unit that has ended, and returns how.
[[gnu::noinline]] weft_status free_ended(Unit& unit) noexcept;

// Joins and releases; the latter only if the unit has ended (that is, unless the status says why not).
[[gnu::noinline]] weft_status free_unended(Unit& unit) noexcept;

// done -> free, and what goes with it.
[[gnu::always_inline]] inline void retire(Unit& unit) {
    unit.life.move(State::done, State::free);
    if constexpr (config::checked) unit.next_generation();
}

// Gives the descriptor of a unit that has ended back. `stream`: the calling one, or null.
[[gnu::always_inline]] inline void release(Stream* stream, Unit& unit) {
    if (unit.marked(Unit::at_release)) [[unlikely]] tidy_up(unit);
    retire(unit);
    if (stream != nullptr) [[likely]] {
        stream->units->give(&unit);
    } else {
        give_outside(unit);
    }
}

// As free_unended(), where may_call_at_once() has said so, or of a unit that has been taken out of its pool and may be called.
template <Out out>
[[gnu::always_inline]] inline weft_status free_by_call(Stream& stream, Unit& self, Unit& unit) {
    const bool freed = call_and_wait<out>(stream, self, unit, [&stream](Unit& ended) { end_and_free(stream, ended); });
    return freed ? WEFT_OK : free_ended(unit);
}

weft_status detach(Unit& unit);

}  // namespace weft
