// A joiner calls the unit that it waits for, when that has not started and is the next to be run
// anyway: doc/decisions/0006.
//
// As long as the unit does not suspend, a call is all that has happened: the unit is light,
// whatever its kind, and when it returns the joiner sees to its end. If it suspends it is promoted
// (promote.hpp), and from then on the joiner waits for its end like any other. Whether it is light
// still tells the joiner which of the two has been.
#pragma once

#include "core/finish.hpp"
#include "core/suspend.hpp"

namespace weft {

// Whether the stream, which runs a ULT, could call some unit: nobody wants anything of it that
// would wait for as long as units call each other, and the unit would begin with no exception.
[[gnu::always_inline]] inline bool free_to_call(const Stream& stream) {
    return !stream.wanted() && stream.inline_pool->inbox.empty() && !detail::handles_exception(stream);
}

// Whether what runs is a ULT that may call `target` with what it has at hand. False: not at once,
// or not at all.
[[gnu::always_inline]] inline bool may_call_at_once(const Stream& stream, const Unit& target) {
    return context::may_call && stream.inline_pool->ready.front() == &target &&
           target.begins_as(stream.spawning.ult_header) && target.untouched() && stream.spare != nullptr &&
           free_to_call(stream);
}

// Whether there is a spare stack that a unit may be called on, or one could be fetched.
[[gnu::noinline]] bool fetch_spare(Stream& stream);
inline bool has_spare(Stream& stream) { return stream.spare != nullptr || fetch_spare(stream); }

// Whether what runs is a ULT that may call a unit out of the common pool, and `target` was there,
// was next, and has been taken out. It may have begun before, all the same, or be one that cannot
// be called.
[[gnu::always_inline]] inline bool take_next(Stream& stream, Unit& target) {
    if (!context::may_call || stream.common == nullptr || stream.wanted() || detail::handles_exception(stream))
        return false;
    const Unit& self = *stream.running;
    // a hosted one calls nobody
    if (self.kind == Kind::tasklet || self.jobs_or_marked(Unit::careful) || !has_spare(stream)) return false;
    const PrivatePool* const own = stream.own;   // whose units have their turns, too
    return (own == nullptr || (own->ready.empty() && own->inbox.empty())) && pool::pop_if(*stream.common, &target);
}

// Where a unit that is called begins.
void called_main(void* unit);

// The unit, which is in no pool, is called on that stack, with errno as it is. Returns when it has
// returned, or when somebody resumes the caller.
[[gnu::always_inline]] inline void call_on(mem::Stack* stack, Stream& stream, Unit& caller, Unit& unit) {
    unit.stack = stack;
    unit.shape |= Unit::light | Unit::called;
    unit.life.move(State::ready, State::running);
    stream.running = &unit;
    arch::call(&caller.context, stack->top, called_main, &unit);
}

// Where the unit is that is to be called.
enum class Out : unsigned char {
    first,   // of the direct pool
    taken,   // in no pool
};

// Calls a unit that nobody else may wait for on that stack, with errno as it is. True: it has
// returned, and has nothing to tell but how it ended; the stream is still the caller's, the unit
// has yet to be ended. False: end_called() is to be asked.
template <Out out>
[[gnu::always_inline]] inline bool call_first(Stream& stream, Unit& self, Unit& target, mem::Stack* stack) {
    probe(Probe::join_before_announce);
    target.join_state.announce_first(&self);
    self.waits_object = to_handle(&target);
    if constexpr (out == Out::first) stream.inline_pool->take_front(&target);
    call_on(stack, stream, self, target);
    return target.light_and_unmarked(Unit::at_end | Unit::at_release);
}

// After call_first() said false, the unit's end is seen to, if that has not been done: then its
// joiner is returned, and the stream is the one from before; else null.
Unit* end_called(Stream& stream, Unit& target);

// The running ULT waits for the end of `target`, which may_call_at_once() is true of, or which has
// been taken out and may be called: a unit that never waits costs no switch. One that has returned
// and has nothing to tell is ended on the same stream. Returns whether that was done; if not, it
// may have come back on another stream.
template <Out out, Frees frees>
[[gnu::always_inline]] inline bool call_and_wait(Stream& stream, Unit& self, Unit& target) {
    mem::Stack* const stack = stream.take_spare();
    self.life.move(State::running, State::waiting);
    int& error_here = *stream.errno_address;
    const int error = error_here;
    error_here = 0;
    Unit* joiner;   // and the stack: read from the unit, they need not be kept in registers over the call
    const bool plainly = call_first<out>(stream, self, target, stack);
    if (plainly) [[likely]] {
        joiner = target.join_state.announced().sole_unit();
    } else {
        joiner = end_called(stream, target);
        if (joiner == nullptr) {
            *current().errno_address = error;
            return false;
        }
    }
    stream.keep_spare(target.stack);
    stream.running = joiner;
    joiner->life.move(State::waiting, State::running);
    *stream.errno_address = error;
    if (plainly) [[likely]]
        end_inlined<frees>(stream, target);
    return plainly;
}

// Whether what runs is a ULT that may call `target`, a tasklet and next in the direct pool, with
// what the stream has at hand. Without a context the scheduler's place is taken by a unit that has
// not been promoted.
[[gnu::always_inline]] inline bool may_call_tasklet_at_once(const Stream& stream, const Unit& target) {
    return context::may_call && target.begins_as(Unit::initial_header(Kind::tasklet, true)) && target.untouched() &&
           stream.sched_context.context != nullptr && free_to_call(stream);
}

// Whether the running ULT may call `target`, a tasklet that take_next() has given it.
[[gnu::always_inline]] inline bool may_call_taken_tasklet(const Stream& stream, const Unit& target) {
    return target.begins_as(Unit::initial_header(Kind::tasklet, false)) && target.untouched() &&
           stream.sched_context.context != nullptr;
}

// Joins and frees it.
template <Out out>
[[gnu::noinline]] weft_status free_tasklet_by_call(Stream& stream, Unit& self, Unit& target);
extern template weft_status free_tasklet_by_call<Out::first>(Stream&, Unit&, Unit&);
extern template weft_status free_tasklet_by_call<Out::taken>(Stream&, Unit&, Unit&);

// Whether the running ULT may call `target`, which its stream has just taken out of whatever pool.
bool may_call_taken(Stream& stream, const Unit& target);

// The running ULT, which the JoinState of `target` knows as its waiter, calls it. It may come back
// on another stream.
[[gnu::noinline]] void call_taken(Stream& stream, Unit& self, Unit& target);

// The running ULT spawns `child`, which nobody else knows and is in no pool, child-first: calls it,
// if it may, and goes on when that has returned. Until the child suspends its parent is ready, but
// in no pool: its stream alone could run it, and does not before. False: nothing has been done.
[[gnu::noinline]] bool call_child(Stream& stream, Unit& child);

// Of units that the running ULT waits for in their order, calls those that are the next to be run,
// of any kind. Returns how many of the first ones have ended and have nothing to tell: they are
// freed, and their handles set to null, unless the handles are const. It may come back on another
// stream.
template <class Handle>
std::size_t call_row(Stream& stream, Unit& self, Handle* units, std::size_t count);
extern template std::size_t call_row(Stream&, Unit&, weft_unit**, std::size_t);
extern template std::size_t call_row(Stream&, Unit&, weft_unit* const*, std::size_t);

}   // namespace weft
