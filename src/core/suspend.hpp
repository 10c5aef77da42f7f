// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one protocol: a unit that stops running leaves its stack first and is made findable
// afterwards, by an action that the next context performs before anything else. README.md has the
// reasons, and what was rejected.
//
// The functions that hold a switch are noinline, so that it is compiled for this library's register
// set (arch/x86_64/context.hpp); the functions that they are made of are inlined into them, so that
// one frame is all that a switch costs.
#pragma once

#include <concepts>
#include <type_traits>

#include "core/marked.hpp"
#include "core/requests.hpp"
#include "core/resume.hpp"
#include "core/start.hpp"
#include "process/error.hpp"
#include "process/stream.hpp"

namespace weft {

namespace detail {

// Whether the unit that runs handles an exception, or unwinds for one. Between two units none is
// handled: a unit that leaves in the middle of it takes it along, so that the next need not check.
[[gnu::always_inline]] inline bool handles_exception(const Stream& stream) {
    return (reinterpret_cast<std::uintptr_t>(stream.exceptions->caught) | stream.exceptions->uncaught) != 0;
}

Unit* successor_other(Stream& stream);

// The unit that the leaving unit may switch to itself, or null: then the scheduler decides.
[[gnu::always_inline]] inline Unit* successor(Stream& stream) {
    PrivatePool* const direct = stream.direct;
    if (direct == nullptr || stream.wanted()) [[unlikely]]
        return successor_other(stream);
    return direct->pop();
}

// successor(), by a short check: null also where the pool needs a careful one, and where no ULT is
// running.
[[gnu::always_inline]] inline Unit* successor_at_hand(Stream& stream) {
    PrivatePool& pool = *stream.inline_pool;
    Unit* const next = pool.ready.front();
    if (next == nullptr || stream.wanted() || !pool.inbox.empty()) [[unlikely]]
        return nullptr;
    pool.take_front(next);
    return next;
}

// A successor that the program has named runs next. But when a request to the stream is pending,
// the scheduler handles that first; and on a domain's hart only contexts of that domain run: the
// scheduler puts another unit into its pool.
[[gnu::always_inline]] inline Unit* unless_wanted(Stream& stream, Unit* named) {
    if (!stream.wanted() && !is_out_of_place(stream, *named)) [[likely]]
        return named;
    stream.next_unit = named;
    return nullptr;
}

// Where to switch so that `next` runs: to `next` itself, or to the scheduler, which will find it in
// `next_unit`.
[[gnu::always_inline]] inline context::Target way_to(Stream& stream, Unit* next) {
    if (next != nullptr) [[likely]] {
        if (void* context = context_of(stream, *next)) [[likely]] {
            next->life.move(State::ready, State::running);
            stream.running = next;
            return {context, next->stack};
        }
        stream.next_unit = next;
    }
    stream.running = nullptr;
    stream.inline_pool = &Stream::no_pool;
    return stream.sched_context;
}

// For a unit that comes back: most often errno is what it was, and nothing is stored.
[[gnu::always_inline]] inline void put_errno_back(const Stream& stream, int error) {
    if (*stream.errno_address != error) [[unlikely]]
        *stream.errno_address = error;
}

// The running ULT, which handles no exception, leaves for `next` (null: the scheduler) and comes
// back here when it is resumed, on the stream returned.
template <Leaves how>
[[gnu::always_inline]] inline Stream& leave_plainly(Stream& stream, Unit& self, Unit* next, AfterSwitch after) {
    if (how != Leaves::looked && self.light_or_marked(Unit::at_leave)) [[unlikely]]
        return leave_slow(stream, self, next, after, how);
    const int error = *stream.errno_address;
    const context::Target target = way_to(stream, next);
    context::leave(&self.context, target, after);
    Stream& now = current();
    put_errno_back(now, error);
    return now;
}

// leave_plainly(), for a ULT that may handle an exception.
template <Leaves how>
[[gnu::always_inline]] inline Stream& leave(Stream& stream, Unit& self, Unit* next, AfterSwitch after) {
    return handles_exception(stream) ? leave_in_catch(stream, self, next, after, how)
                                     : leave_plainly<how>(stream, self, next, after);
}

// The running ULT leaves and comes back. Of the requests that came meanwhile it then handles those
// of the marks `handled`. Returns the stream that it comes back on.
template <Leaves how>
[[gnu::always_inline]] inline Stream& leave_to(Stream& stream, Unit& self, Unit* next, AfterSwitch after,
                                               Unit::Marks handled) {
    Stream& now = leave<how>(stream, self, next, after);
    // Read from the stream, which knows the running unit: `self` need not be kept over the switch.
    if (now.running->marked(handled)) [[unlikely]]
        return handle_requests(*now.running, handled);
    return now;
}

}   // namespace detail

// What a suspending unit leaves on its stack for the context that runs next: publish() puts the
// unit where a waker finds it. The last act of publish() may already have been answered by a
// resume, and the stack with this object may be gone.
//     void publish();
struct Suspension {
    Unit& self;

    // The state while the suspension lasts: only what the unit waits for wakes it. A suspension
    // that any thread may end is State::suspended.
    static constexpr State state = State::waiting;
    // The requests that the unit handles at once when it comes back. It is not cancelled then: it
    // may hold what it has waited for.
    static constexpr Unit::Marks handled = Unit::after_wait;
};

// The running ULT waits for the end of `target`, where only this stream can find it: it has been
// published already, to a place that no other stream looks at, and nothing needs to be done after
// the switch. Returns the stream that it comes back on.
[[gnu::always_inline]] inline Stream& suspend_published(Stream& stream, Unit& self, const Unit& target) {
    self.waits_object = to_handle(&target);
    self.life.move(State::running, State::waiting);
    stream.counters.add(trace::Count::suspended);
    Unit* next = detail::successor(stream);
    return detail::leave_to<Leaves::waits>(stream, self, next, {nullptr, nullptr}, Unit::after_wait);
}

// The running ULT suspends in favour of `next` (null: the scheduler), and by.publish() runs once
// its context is saved. Call it from a noinline function.
template <std::derived_from<Suspension> By>
[[gnu::always_inline]] inline void suspend_to(Stream& stream, By& by, Unit* next, Waits what, const void* object) {
    Unit& self = by.self;
    if (what != Waits::as_stated) self.waits = what;
    self.waits_object = object;
    stream.counters.add(trace::Count::suspended);
    constexpr Leaves how = By::state == State::suspended ? Leaves::suspends : Leaves::waits;
    detail::leave_to<how>(stream, self, next,
                          {[](void* raw) {
                               // A copy where any thread may resume: a thread that knows the unit
                               // need not wait for publish() before it resumes, and the stack with
                               // the original may be in use again before publish() is called.
                               using Kept = std::conditional_t<By::state == State::suspended, By, By&>;
                               Kept suspended = *static_cast<By*>(raw);
                               suspended.self.life.move(State::running, By::state);
                               probe(Probe::suspend_before_publish);
                               suspended.publish();
                               probe(Probe::suspend_after_publish);
                           },
                           &by},
                          By::handled);
    if (what != Waits::as_stated) {
        self.waits = Waits::as_stated;
        self.latest_lock = nullptr;   // `object` may have been a mutex, which it need not have got
    }
}

// The running ULT, which a waker can already find, waits. `let_go` lets the waker act once the
// context is saved; until then the waker is kept off. It is null where there is no waker to keep
// off. Afterwards the caller records which mutex the ULT has (Unit::latest_lock), since the same
// word holds that. Before, it has reported the wait to observers: here the object may be busy. Call
// it from a noinline function.
[[gnu::always_inline]] inline void suspend_listed(Stream& stream, Unit& self, Unit* next, AfterSwitch let_go,
                                                  Waits what, const void* object) {
    self.waits = what;
    self.waits_object = object;
    self.life.move(State::running, State::waiting);
    stream.counters.add(trace::Count::suspended);
    detail::leave<Leaves::told>(stream, self, next, let_go);
    if (self.marked(Unit::after_wait)) [[unlikely]]
        handle_requests(self, Unit::after_wait);
    self.waits = Waits::as_stated;
}

template <std::derived_from<Suspension> By>
[[gnu::always_inline]] inline void suspend(Stream& stream, By& by, Waits what, const void* object) {
    suspend_to(stream, by, detail::successor(stream), what, object);
}

// The running ULT leaves for `next`, a unit that is in no pool, and goes to its own pool, as a
// parent that spawns or revives.
template <pool::From from>
void spawn_away(Stream& stream, Unit& next);
extern template void spawn_away<pool::From::parent>(Stream&, Unit&);
extern template void spawn_away<pool::From::reviving_parent>(Stream&, Unit&);

// The running unit goes to the end of its pool, and others run; returns WEFT_OK, at once when there
// are none. A tasklet is refused. yield_direct(): of a ULT whose pool is the stream's direct one,
// with no request pending.
[[gnu::noinline]] weft_status yield_direct(Stream& stream, Unit& self) noexcept;
[[gnu::noinline]] weft_status yield_elsewhere(Stream& stream, Unit& self) noexcept;
[[gnu::always_inline]] inline weft_status yield(Stream& stream, Unit& self) noexcept {
    if (self.pool != stream.direct || stream.wanted() || self.light_or_marked(Unit::at_yield)) [[unlikely]]
        return yield_elsewhere(stream, self);
    return yield_direct(stream, self);
}

// weft_unit_suspend: the caller, a ULT, suspends, and publish(its handle, argument) is called once
// its context is saved; null: nothing is called. Inlined: a dump of the unit shows the call of the
// C interface, which a call as its last step would hide.
namespace detail {
[[gnu::noinline]] void suspend_by(Stream& stream, Unit& self, void (*publish)(weft_unit*, void*), void* argument);
}   // namespace detail
[[gnu::always_inline]] inline weft_status suspend_now(void (*publish)(weft_unit*, void*), void* argument) noexcept {
    Unit* self = running_or_null();
    if (self == nullptr) return fail(WEFT_WRONG_CONTEXT, "only a unit can suspend itself");
    if (self->kind == Kind::tasklet) return fail(WEFT_WRONG_KIND, "a tasklet cannot suspend; make it a ULT");
    detail::suspend_by(*current_or_null(), *self, publish, argument);
    return WEFT_OK;
}

// weft_unit_yield: the caller, a ULT, yields. Ends in tail calls, so that yield_direct() returns to
// the caller of the C interface.
[[gnu::always_inline]] inline weft_status yield_now() noexcept {
    Stream* const stream = current_or_null();
    Unit* const self = stream == nullptr ? nullptr : stream->running;
    if (self == nullptr) [[unlikely]]
        return fail(WEFT_WRONG_CONTEXT, "only a unit can yield");
    return yield(*stream, *self);
}

}   // namespace weft
