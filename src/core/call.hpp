// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A joiner calls the unit that it waits for, when that unit has not started and is the next to run
// anyway: doc/decisions/0006.
//
// As long as the unit does not suspend, all that has happened is a call: the unit is light,
// whatever its kind, and when it returns the joiner sees to its end. If the unit suspends it is
// promoted (promote.hpp), and from then on the joiner waits for its end like any other. Whether the
// unit is still light tells the joiner which of the two has happened.
#pragma once

#include "core/finish.hpp"
#include "core/suspend.hpp"

namespace weft {

// Whether the stream, which runs a ULT, could call some unit: no request to the stream is pending
// that would have to wait for as long as units call each other, and the unit would begin with no
// exception.
[[gnu::always_inline]] inline bool free_to_call(const Stream& stream) {
    return !stream.wanted() && stream.inline_pool->inbox.empty() && !detail::handles_exception(stream);
}

// Whether a ULT is running that may call `target` with what it has at hand. False: it may not call
// it at once, or not at all.
[[gnu::always_inline]] inline bool may_call_at_once(const Stream& stream, const Unit& target) {
    return context::may_call && stream.inline_pool->ready.front() == &target &&
           target.begins_as(stream.spawning.ult_home.header) && target.untouched() && stream.spare != nullptr &&
           free_to_call(stream);
}

// Whether there is a spare stack that a unit may be called on, or one could be fetched.
[[gnu::noinline]] bool fetch_spare(Stream& stream);
inline bool has_spare(Stream& stream) { return stream.spare != nullptr || fetch_spare(stream); }

// Whether a ULT is running that may call a unit out of the common pool, if there is a spare stack.
[[gnu::always_inline]] inline bool may_take_next(const Stream& stream) {
    if (!context::may_call || stream.common == nullptr || stream.wanted() || detail::handles_exception(stream))
        return false;
    const Unit& self = *stream.running;
    // a hosted unit calls no other
    return self.kind != Kind::tasklet && !self.jobs_or_marked(Unit::careful) && none_bound(stream);
}

// Whether a ULT is running that may call a unit out of the common pool, and `target` was there, was
// next, and has been taken out. `target` may have begun before, all the same, or be a unit that
// cannot be called.
[[gnu::always_inline]] inline bool take_next(Stream& stream, Unit& target) {
    return may_take_next(stream) && has_spare(stream) && pool::pop_if(*stream.common, &target);
}

// How a called unit comes back to its caller: what called_main() answers, or, if the unit has been
// promoted and the caller is resumed, `resumed`.
enum class CameBack : std::uintptr_t {
    resumed = arch::Called::resumed,
    plainly,      // it has returned, and has nothing to report but how it ended
    to_be_seen,   // it has returned, and its end is to be seen to by end_for_joiner() or its like
};
inline CameBack came_back(arch::Called called) { return static_cast<CameBack>(called.answer); }

// Where a called unit begins.
std::uintptr_t called_main(void* unit);

// Calls the unit, which is in no pool, on that stack, with errno as it is. Returns when the unit
// has returned, or when the caller is resumed.
[[gnu::always_inline]] inline arch::Called call_on(mem::Stack* stack, Stream& stream, Unit& caller, Unit& unit,
                                                   std::uintptr_t kept = 0) {
    unit.stack = stack;
    unit.shape |= Unit::light | Unit::called;
    unit.life.move(State::ready, State::running);
    stream.running = &unit;
    return arch::call(&caller.context, stack->top, called_main, &unit, kept);
}

// Where the unit to be called is.
enum class Out : unsigned char {
    first,   // of the direct pool
    taken,   // in no pool
};

// Calls, on that stack and with errno as it is, a unit for which only the caller may wait. Unless
// the caller is resumed, the stream is still its own, and the unit has yet to be ended.
template <Out out>
[[gnu::always_inline]] inline arch::Called call_first(Stream& stream, Unit& self, Unit& target, mem::Stack* stack,
                                                      std::uintptr_t kept = 0) {
    probe(Probe::join_before_announce);
    target.join_state.announce_first(&self);
    self.waits_object = to_handle(&target);
    if constexpr (out == Out::first) stream.inline_pool->take_front(&target);
    return call_on(stack, stream, self, target, kept);
}

// The rest of call_and_wait(), for a unit that has not come back plainly.
template <Frees frees>
[[gnu::noinline]] weft_status wait_no_longer(CameBack how, std::uintptr_t error);
extern template weft_status wait_no_longer<Frees::no>(CameBack, std::uintptr_t);
extern template weft_status wait_no_longer<Frees::yes>(CameBack, std::uintptr_t);

// The running ULT waits for the end of `target`, for which may_call_at_once() holds, or which has
// been taken out and may be called: a unit that never waits costs no switch. With Frees::yes also
// frees it, if its body has returned. The caller may come back on another stream.
//
// Nothing is kept in registers over the call: afterwards all is read from the stream. So a function
// that does this as its last step saves no registers; arch::call saves them in any case.
template <Out out, Frees frees>
[[gnu::always_inline]] inline weft_status call_and_wait(Stream& stream, Unit& self, Unit& target) {
    mem::Stack* const stack = stream.take_spare();
    self.life.move(State::running, State::waiting);
    const int error = *stream.errno_address;
    if (error != 0) *stream.errno_address = 0;   // most often nothing is to be stored, nor below
    const arch::Called called = call_first<out>(stream, self, target, stack, static_cast<unsigned>(error));
    if (came_back(called) != CameBack::plainly) [[unlikely]]
        return wait_no_longer<frees>(came_back(called), called.kept);
    Stream& now = current();
    Unit& ended = *now.running;
    Unit* const joiner = ended.join_state.announced().sole_unit();
    now.keep_spare(ended.stack);
    now.running = joiner;
    joiner->life.move(State::waiting, State::running);
    detail::put_errno_back(now, static_cast<int>(called.kept));
    end_inlined<frees>(now, ended);
    return WEFT_OK;
}

// Whether a ULT is running that may call `target`, a tasklet and next in the direct pool, with what
// the stream has at hand. If `sched_context` has no context, a unit that has not been promoted has
// the scheduler's place.
[[gnu::always_inline]] inline bool may_call_tasklet_at_once(const Stream& stream, const Unit& target) {
    return context::may_call && target.begins_as(Unit::initial_header(Kind::tasklet, true)) && target.untouched() &&
           stream.sched_context.context != nullptr && free_to_call(stream);
}

// Whether the running ULT may call `target`, a tasklet that take_next() has taken out.
[[gnu::always_inline]] inline bool may_call_taken_tasklet(const Stream& stream, const Unit& target) {
    return target.begins_as(Unit::initial_header(Kind::tasklet, false)) && target.untouched() &&
           stream.sched_context.context != nullptr;
}

// Joins and frees the tasklet.
template <Out out>
[[gnu::noinline]] weft_status free_tasklet_by_call(Stream& stream, Unit& self, Unit& target);
extern template weft_status free_tasklet_by_call<Out::first>(Stream&, Unit&, Unit&);
extern template weft_status free_tasklet_by_call<Out::taken>(Stream&, Unit&, Unit&);

// Whether the running ULT may call `target`, which its stream has just taken out of any pool.
bool may_call_taken(Stream& stream, const Unit& target);

// The running ULT, which the JoinState of `target` knows as its waiter, calls `target`. The ULT may
// come back on another stream.
[[gnu::noinline]] void call_taken(Stream& stream, Unit& self, Unit& target);

// The running ULT spawns `child` child-first; no other thread knows `child`, and it is in no pool.
// The ULT calls it, if it may, and continues when the child has returned. Until the child suspends,
// its parent is ready, but in no pool: only its own stream could run it, and does not do so before.
// False: nothing has been done.
[[gnu::noinline]] bool call_child(Stream& stream, Unit& child);

// call_child(), for a parent whose pool is its stream's deque: other streams may run it meanwhile.
[[gnu::noinline]] bool call_child_in_deque(Stream& stream, Unit& child);

// Of units that the running ULT waits for in their order, calls those that are the next to run, of
// any kind. Returns how many of the first ones have ended and have nothing to report: they are
// freed, and their handles set to null, unless the handles are const. The ULT may come back on
// another stream.
template <class Handle>
std::size_t call_row(Stream& stream, Unit& self, Handle* units, std::size_t count);
extern template std::size_t call_row(Stream&, Unit&, weft_unit**, std::size_t);
extern template std::size_t call_row(Stream&, Unit&, weft_unit* const*, std::size_t);

// Of units that the running ULT joins and frees, calls those that are next in the common pool, in
// the order in which that gives them: from the last to the first out of a deque, from the first to
// the last otherwise. take_next() has taken out the first of them. The ULT may come back on another
// stream.
struct CommonRow {
    // how many units were taken out and have ended: they are freed, and their handles set to null,
    // unless there is something to report
    std::size_t ended;
    // null, or the handle of the next one, which was taken out and is not called in a row
    weft_unit** taken;
};
CommonRow call_common_row(Stream& stream, weft_unit** units, std::size_t count);

}   // namespace weft
