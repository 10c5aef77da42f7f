// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/yield_to.hpp"

#include "core/announce.hpp"
#include "core/call.hpp"
#include "core/finish.hpp"
#include "core/promote.hpp"
#include "core/suspend.hpp"
#include "process/error.hpp"
#include "process/may_end.hpp"

namespace weft {
namespace {

unsigned long long number(const Unit& unit) { return unit.id; }

// A ready unit comes out of its pool.
weft_status take_ready(Unit& target) {
    if (!target.life.is(State::ready)) return fail(WEFT_WRONG_STATE, "unit %llu is not ready", number(target));
    Pool& from = *target.pool_now();
    if (from.kind == WEFT_POOL_DEQUE && static_cast<DequePool&>(from).take_next(&target)) return WEFT_OK;
    switch (pool::remove(from, &target)) {
    case pool::Removal::removed: return WEFT_OK;
    case pool::Removal::absent: return fail(WEFT_WRONG_STATE, "unit %llu is about to run elsewhere", number(target));
    case pool::Removal::impossible: break;
    }
    return fail(WEFT_UNSUPPORTED,
                "the unit's pool gives no unit out of its middle (a deque, where it is not the next of the calling "
                "stream's own; a user's without "
                "remove; another stream's private one)");
}

// A unit that was popped: it is in no pool.
weft_status take_popped(const Unit& target) {
    if (!target.life.is(State::ready))
        return fail(WEFT_WRONG_STATE, "unit %llu is not ready: it was not popped", number(target));
    return may_run_here(target);
}

// A suspended unit becomes ready, in no pool.
weft_status take_suspended(Stream& stream, Unit& target) {
    if (const weft_status status = may_run_here(target); status != WEFT_OK) return status;
    if (!target.life.claim())
        return fail(WEFT_WRONG_STATE, "unit %llu is not suspended by the program", number(target));
    stream.counters.add(trace::Count::resumed);
    return WEFT_OK;
}

struct PlainSuspension : Suspension {
    static constexpr State state = State::suspended;
    static constexpr Unit::Marks handled = Unit::at_return;

    void publish() {}   // any thread that knows the unit may resume it
};

[[gnu::noinline]] void leave_suspended(Stream& stream, Unit& self, Unit& target) {
    PlainSuspension request{{self}};
    suspend_to(stream, request, detail::unless_wanted(stream, &target), Waits::as_stated, nullptr);
}

[[gnu::noinline]] void leave_ready(Stream& stream, Unit& self, Unit& target, AfterSwitch requeued) {
    stream.counters.add(trace::Count::yielded);
    detail::leave_to<Leaves::yields>(stream, self, detail::unless_wanted(stream, &target), requeued, Unit::at_return);
}

// How the leaving unit comes into its pool.
void (*way_back(Named from))(void*) {
    return from == Named::suspended ? detail::requeue<pool::From::yielded_to_resumed>
                                    : detail::requeue<pool::From::yielded_to>;
}

// Whether a yield of the running ULT is all that it takes for `target` to run next: `target` is the
// next in the pool that the two share.
[[gnu::always_inline]] inline bool is_next_anyway(const Stream& stream, const Unit& self, const Unit& target) {
    const PrivatePool* const direct = stream.direct;
    return direct != nullptr && self.pool == direct && direct->ready.front() == &target && !stream.wanted() &&
           !self.light_or_marked(Unit::at_yield) && target.kind != Kind::tasklet;
}

}   // namespace

weft_status yield_to(Unit& target) noexcept {
    Stream* const stream = current_or_null();
    if (stream != nullptr && stream->running != nullptr && is_next_anyway(*stream, *stream->running, target))
        [[likely]] {
        yield(*stream, *stream->running);
        return WEFT_OK;
    }
    return hand_off_to(target, Leaving::yields, Named::ready);
}

weft_status may_run_here(const Unit& target) {
    // A unit that is not foreign does not become foreign: it is shared, or this stream's own.
    if (foreign_pool(target) == nullptr) return WEFT_OK;
    return fail(WEFT_UNSUPPORTED, "unit %llu belongs to the private pool of another stream, which alone may run it",
                number(target));
}

weft_status hand_off_to(Unit& target, Leaving how, Named from) noexcept {
    Stream* stream = current_or_null();
    Unit* self = stream == nullptr ? nullptr : stream->running;
    if (self == nullptr) return fail(WEFT_WRONG_CONTEXT, "only a ULT leaves for another; this is none");
    if (self->kind == Kind::tasklet)
        return fail(WEFT_WRONG_KIND, "a tasklet runs to completion and cannot hand off; make it a ULT");
    if (target.kind == Kind::tasklet)
        return fail(WEFT_WRONG_KIND, "one leaves for ULTs; a tasklet runs on the scheduler's stack");
    if (how == Leaving::ends && self->has(Unit::primary))
        return fail(WEFT_WRONG_STATE, "the primary unit ends with the program");
    if (how == Leaving::ends && !may_end(*stream, *self)) return still_forked();
    if (how != Leaving::ends && self->marked(Unit::cancel)) {   // before another is taken out of its pool for nothing
        stream = &handle_requests(*self, Unit::cancel);
    }
    if (is_called_by_parent(*self)) promote(*stream, *self);   // the target may be the parent, which is in no pool yet
    if (from == Named::popped && &target == self) return fail(WEFT_WRONG_STATE, "a unit cannot leave for itself");
    const weft_status status = from == Named::ready    ? take_ready(target)
                               : from == Named::popped ? take_popped(target)
                                                       : take_suspended(*stream, target);
    if (status != WEFT_OK) return status;
    switch (how) {
    case Leaving::yields: leave_ready(*stream, *self, target, {way_back(from), self}); break;
    case Leaving::suspends: leave_suspended(*stream, *self, target); break;
    case Leaving::ends: self->outcome = Outcome::returned; finish(&target);
    }
    return WEFT_OK;
}

}   // namespace weft
