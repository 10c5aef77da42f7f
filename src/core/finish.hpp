// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A unit ends. There are three ways. Each writes `running -> done`, and counts the unit among the
// finished ones, in one place.
//
// - The slow end is that of any unit: end_unit(), and end_for_joiner() of one whose joiner has
//   called it.
// - The fast end is that of a plain unit of the direct pool that returns from its body:
//   finish_plainly().
// - The inlined end is that of a unit that its joiner has called, and that has nothing to report
//   except to its joiner: end_quietly() and end_and_free().
//
// The last that learns of the end gives the descriptor back: release().
#pragma once

#include "core/suspend.hpp"
#include "process/stream.hpp"

namespace weft {

// ---- how it has ended ---------------------------------------------------------------------------

// Records how the unit ends, or has ended.
inline void end_with(Unit& unit, Outcome outcome) {
    unit.outcome = outcome;
    unit.mark(Unit::untidy);
}

// Returns WEFT_NOT_RETURNED, and reports how the unit has ended instead.
[[gnu::cold, gnu::noinline]] weft_status not_returned(const Unit& unit);

// The status of a join of the unit, which has ended.
inline weft_status ended_status(const Unit& unit) {
    return unit.outcome == Outcome::returned ? WEFT_OK : not_returned(unit);
}

// ---- the slow end -------------------------------------------------------------------------------

// The unit has ended: publishes it and makes its joiner ready. The descriptor may be freed and used
// again before this returns. From the stream that ran it.
void end_unit(Stream& stream, Unit& unit);

// end_unit() for a unit that may be observed and whose end has been reported, or that has not run:
// when a thread learns of the end, that will be reported, too.
void end_unit_slow(Stream& stream, Unit& unit);

// The end of a unit that has returned to its joiner, which learns of the end by that. Returns the
// joiner.
[[gnu::noinline]] Unit* end_for_joiner(Stream& stream, Unit& unit);

// The end of a unit that the scheduler has called, and that is observed or has forked.
[[gnu::noinline]] void end_returned_slow(Stream& stream, Unit& unit);

// The end of another object that can be waited for (a stream): its waiter is made ready. From any
// thread.
void finish_and_wake(JoinState& join_state);

// The running ULT has ended: its joiner is notified and its stack is given back. `next`, in no
// pool, runs next; null: the unit that the scheduler picks.
[[noreturn]] void finish(Unit* next = nullptr);

// weft_unit_exit: it returns only where the caller may not end.
weft_status exit_unit() noexcept;

// ---- the descriptor -----------------------------------------------------------------------------

// Releases what a unit leaves behind that did not simply return (Unit::at_release).
void tidy_up(Unit& unit);

void give_outside(Unit& unit);

// done -> free, and what goes with it.
[[gnu::always_inline]] inline void retire(Unit& unit) {
    unit.life.move(State::done, State::free);
    if constexpr (config::checked) unit.next_generation();
}

// Gives back the descriptor of a unit that has ended. `stream`: the calling one, or null.
[[gnu::always_inline]] inline void release(Stream* stream, Unit& unit) {
    if (unit.marked(Unit::at_release)) [[unlikely]]
        tidy_up(unit);
    retire(unit);
    if (stream != nullptr) [[likely]] {
        stream->units->give(&unit);
    } else {
        give_outside(unit);
    }
}

// Releases a unit that was detached after it had ended.
void release_detached(Unit& unit);

// Releases a unit that has ended, if its body has returned.
[[gnu::noinline]] weft_status free_returned(Unit& unit) noexcept;

// ---- the inlined end ----------------------------------------------------------------------------

// Whether the unit's descriptor goes back with its end.
enum class Frees : bool { no, yes };

template <Frees frees>
[[gnu::always_inline]] inline void end_inlined(Stream& stream, Unit& unit) {
    stream.counters.add(trace::Count::finished);
    if constexpr (frees == Frees::yes && !config::checked) {
        unit.life.end_and_drop();   // `done`, and `free` at once: no thread looks in between
    } else {
        probe(Probe::finish_before_publish);
        unit.life.move(State::running, State::done);
        unit.join_state.finish_announced();
        if constexpr (frees == Frees::yes) retire(unit);
    }
    if constexpr (frees == Frees::yes) stream.units->give(&unit);
}

// For a unit that has returned: only its joiner learns of the end.
[[gnu::always_inline]] inline void end_quietly(Stream& stream, Unit& unit) { end_inlined<Frees::no>(stream, unit); }
// end_quietly(), and the descriptor is given back.
[[gnu::always_inline]] inline void end_and_free(Stream& stream, Unit& unit) { end_inlined<Frees::yes>(stream, unit); }

// ---- the fast end -------------------------------------------------------------------------------

namespace detail {

void release_stack(void* stack);
[[noreturn, gnu::noinline]] void conclude(Unit& unit, Unit* next = nullptr);
[[noreturn, gnu::noinline]] void tell_and_depart(Stream& stream, mem::Stack* stack, Unit* unit,
                                                 JoinState::Waiter waiter);

}   // namespace detail

// The fast end: conclude() for a unit that returned from its body and so stands at the top of its
// stack, in the plain case: a plain unit of the direct pool, with no request pending. Returns when
// a plain unit that starts, as this one did, has taken over the stack as it stands: no switch is
// needed then. All other ways out are last steps, so that no register is saved here.
[[gnu::always_inline]] inline void finish_plainly(Stream& stream, Unit& unit) {
    PrivatePool* const direct = stream.direct;
    if (!unit.has(Unit::plain) || unit.jobs_or_marked(Unit::at_end) || unit.pool != direct || stream.wanted())
        [[unlikely]]
        detail::conclude(unit);
    probe(Probe::finish_before_publish);
    mem::Stack* const stack = unit.stack;
    stream.counters.add(trace::Count::finished);
    unit.life.move(State::running, State::done);
    const JoinState::Waiter waiter = unit.join_state.finish_local();   // a unit of the direct pool ends on its stream
    Unit* next = waiter.unit();
    if (next != nullptr) {
        // Alone in the pool it would be popped at once: it need not go in.
        if (next->pool != direct || !direct->ready.empty()) [[unlikely]]
            detail::tell_and_depart(stream, stack, &unit, waiter);
        next->life.move(State::waiting, State::running);
        stream.counters.add(trace::Count::resumed);
    } else {
        if (waiter.detached() && !unit.marked(Unit::at_release)) {
            retire(unit);
            stream.units->give(&unit);
        } else if (!waiter.none()) [[unlikely]] {
            detail::tell_and_depart(stream, stack, &unit, waiter);
        }
        next = direct->pop();
        if (next != nullptr && next->context == nullptr && next->has(Unit::plain)) {
            next->stack = stack;
            next->life.move(State::ready, State::running);
            stream.running = next;
            return;
        }
        if (next == nullptr || next->context == nullptr)
            context::abandon(detail::way_to(stream, next), {detail::release_stack, stack});
        next->life.move(State::ready, State::running);
    }
    stream.running = next;
    const context::Target target{next->context, next->stack};
    // Under the thread sanitizer the stack goes by way of the cache, which renews the sanitizer's
    // record of it now and then (StackCache::renew_fiber).
    if (config::thread_sanitizer || stream.spare != nullptr) context::abandon(target, {detail::release_stack, stack});
    stream.keep_spare(stack);   // we still stand on it, but no unit takes it before this stream's next start
    context::abandon(target, {nullptr, nullptr});
}

}   // namespace weft
