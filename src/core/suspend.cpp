#include "core/suspend.hpp"

#include <cxxabi.h>

#include <utility>

#include "core/begin.hpp"
#include "core/call.hpp"
#include "core/jobs.hpp"
#include "core/join.hpp"
#include "core/overflow.hpp"
#include "core/requests.hpp"
#include "local/locals.hpp"
#include "local/own_float.hpp"
#include "observe/observe.hpp"
#include "process/domain_state.hpp"
#include "process/error.hpp"
#include "process/hooks.hpp"
#include "process/way.hpp"

namespace weft {
namespace {

using detail::leave_towards;
using detail::requeue;
using detail::successor;
using detail::unless_wanted;
using detail::way_to;

void release_stack(void* stack) { current().heap->stacks.give(static_cast<mem::Stack*>(stack)); }

// A unit that ends on a stack of the user's notes where that is, for another life (revive.cpp).
void remember_user_stack(Unit& unit) {
    unit.waits_object = unit.stack->lowest;   // a unit that has ended waits for nothing
    const char* const end = reinterpret_cast<const char*>(unit.stack + 1);   // the stack's own object lies at its top
    unit.user_stack_bytes = (unit.user_stack_bytes & own_float_bit) | static_cast<std::size_t>(end - unit.stack->lowest);
}

void end_on_user_stack(void* raw) {
    auto& unit = *static_cast<Unit*>(raw);
    remember_user_stack(unit);
    mem::user_stack_done(unit.stack);
    unit.stack = nullptr;
    end_unit_carefully(current(), unit);
}

// Leaves the stack of a unit that has ended, for whoever runs next. We still stand on it: it may go only from the next
// context. `next`: see finish().
[[noreturn, gnu::noinline]] void depart(Stream& stream, mem::Stack* stack, Unit* next = nullptr) {
    next = next != nullptr ? unless_wanted(stream, next) : successor(stream);
    context::abandon(way_to(stream, next), {release_stack, stack});
}

// The end of a unit whose stack needs a last look, that is observed, or that has forked.
[[noreturn, gnu::noinline]] void conclude_carefully(Stream& stream, Unit& unit, Unit* next) {
    if (unit.has_forked()) unit_hooks.end_child();
    if (unit.kind == Kind::hosted) unit_hooks.conclude_hosted(unit, next);
    if (unit.has_jobs()) leave_jobs(stream, unit);
    if (unit.marked(Unit::canary)) {
        check_canary(unit);
        end_own_float(stream, unit);
    }
    if (unit.has(Unit::measured)) unit.context = reinterpret_cast<void*>(mem::measure(*unit.stack));
    if (unit.marked(Unit::observed)) observe(trace::Event::finish, unit);
    if (unit.has(Unit::user_stack)) {
        // The stack's memory is the user's again from the end on, so the end is told from elsewhere.
        if (next != nullptr) stream.handed = next;
        context::abandon(way_to(stream, nullptr), {end_on_user_stack, &unit});
    }
    mem::Stack* const stack = std::exchange(unit.stack, nullptr);
    stream.counters.add(trace::Count::finished);
    end_unit_carefully(stream, unit);
    depart(stream, stack, next);
}

// The running ULT has ended.
[[noreturn, gnu::noinline]] void conclude(Unit& unit, Unit* next = nullptr) {
    if (unit.marked(Unit::extras)) [[unlikely]] {
        end_locals(unit);   // which may switch, and come back on a stream that must not run `next`
        if (next != nullptr && foreign_pool(*next) != nullptr) make_ready(&current(), *std::exchange(next, nullptr));
    }
    Stream& now = current();
    if (unit.has(Unit::careful_end) || unit.jobs_or_marked(Unit::at_leave)) [[unlikely]] conclude_carefully(now, unit, next);
    mem::Stack* const stack = std::exchange(unit.stack, nullptr);
    now.counters.add(trace::Count::finished);
    end_unit(now, unit);
    depart(now, stack, next);
}

// Whoever waits for a unit that has ended is told, after which the unit may be gone.
[[noreturn, gnu::noinline]] void tell_and_depart(Stream& stream, mem::Stack* stack, Unit* unit, Joint::Waiter waiter) {
    tell(unit, waiter);
    depart(stream, stack);
}

// conclude() for a unit that returned from its body and so stands at the top of its stack, in the plain case: a plain unit
// of the direct pool, which nobody wants anything of. Returns when a plain unit that starts, as this one did, has taken over
// the stack as it stands: no switch is needed then. All other ways out are last steps, so that no register is saved here.
[[gnu::always_inline]] inline void conclude_plain(Stream& stream, Unit& unit) {
    PrivatePool* const direct = stream.direct;
    if (!unit.has(Unit::plain) || unit.jobs_or_marked(Unit::at_end) || unit.pool != direct || stream.wanted()) [[unlikely]] conclude(unit);
    probe(Probe::finish_before_publish);
    mem::Stack* const stack = unit.stack;
    stream.counters.add(trace::Count::finished);
    unit.life.move(State::running, State::done);
    const Joint::Waiter waiter = unit.joint.finish_local();   // a unit of the direct pool ends on its stream
    Unit* next = waiter.unit();
    if (next != nullptr) {
        // Alone in the pool it would come out at once: it need not go in.
        if (next->pool != direct || !direct->ready.empty()) [[unlikely]] tell_and_depart(stream, stack, &unit, waiter);
        next->life.move(State::waiting, State::running);
        stream.counters.add(trace::Count::resumed);
    } else {
        if (waiter.detached() && !unit.marked(Unit::at_release)) {
            retire(unit);
            stream.units->give(&unit);
        } else if (!waiter.none()) [[unlikely]] {
            tell_and_depart(stream, stack, &unit, waiter);
        }
        next = direct->pop();
        if (next != nullptr && next->context == nullptr && next->has(Unit::plain)) {
            next->stack = stack;
            next->life.move(State::ready, State::running);
            stream.running = next;
            return;
        }
        if (next == nullptr || next->context == nullptr) context::abandon(way_to(stream, next), {release_stack, stack});
        next->life.move(State::ready, State::running);
    }
    stream.running = next;
    const context::Target target{next->context, next->stack};
    // Under the thread sanitizer it goes by way of the cache, which renews what that has of it now and then (StackCache::renew_fiber).
    if (config::thread_sanitizer || stream.spare != nullptr) context::abandon(target, {release_stack, stack});
    stream.keep_spare(stack);   // we still stand on it, but nobody takes it before this stream's next start
    context::abandon(target, {nullptr, nullptr});
}

// A unit whose body is to be called, and those that take over its stack after it.
[[noreturn, gnu::always_inline]] inline void run_units() {
    for (;;) {
        Stream& stream = current();
        *stream.errno_address = 0;
        Unit& unit = *stream.running;
        if (!unit.marked(Unit::at_start) || starts(unit)) [[likely]] run_body(unit);
        Stream& now = current();
        conclude_plain(now, *now.running);
    }
}

}  // namespace

void unit_main(void (*call)(void*), void* argument) {
    context::arrive({call, argument});
    run_units();
}

void end_promoted() {
    Stream& stream = current();
    conclude_plain(stream, *stream.running);
    run_units();
}

void finish(Unit* next) {
    Stream& stream = current();
    while (stream.exceptions->caught != nullptr) abi::__cxa_end_catch();   // its handlers are left without coming to their ends
    stream.exceptions->uncaught = 0;
    if (stream.running->is_light()) promote(stream, *stream.running);   // who has called it is not returned to
    conclude(*stream.running, next);
}

namespace {

void observe_leaving(Unit& unit, Leaves how) {
    switch (how) {
    case Leaves::yields: return observe(trace::Event::yield, unit);
    case Leaves::waits: return observe_wait(unit, unit.waits, unit.waits_object);
    case Leaves::suspends: return observe_wait(unit, Waits::suspend, unit.waits_object);
    case Leaves::looked:
    case Leaves::told: return;
    }
}

// It has come back on that stream.
Stream& come_back_followed(Stream& now, const Unit& self) {
    if (may_be_followed(self)) [[unlikely]] tell_followers_it_returns(now, self);
    return now;
}

}  // namespace

void look_before_leaving(Unit& unit, Leaves how) {
    if (unit.has_jobs()) leave_jobs(current(), unit);
    if (unit.is_light()) promote(current(), unit);
    if (unit.marked(Unit::canary)) {
        check_canary(unit);
        if (how != Leaves::yields) tell_domain_of_wait(unit);
    }
    if (unit.marked(Unit::observed)) observe_leaving(unit, how);
    if (may_be_followed(unit)) tell_followers_it_leaves(current(), unit);   // last: what is told above may ask for its words
}

void check_canary(const Unit& unit) {
    if (unit.stack != nullptr && unit.stack->guarded == mem::Guard::canary && !mem::canary_intact(*unit.stack)) overflow_report(unit);
}

void* begin_carefully(Stream& stream, Unit& unit) {
    if (unit.kind == Kind::tasklet) return nullptr;
    if (unit.kind == Kind::hosted) return unit_hooks.begin_hosted(stream, unit);
    if (unit.stack == nullptr) {
        unit.stack = stream.heap->stacks.take(unit.wanted_stack_bytes());
        if (unit.stack == nullptr) return nullptr;
        if (unit.has(Unit::measured)) mem::measure_begin(*unit.stack);
    }
    if (unit.stack->guarded == mem::Guard::canary) {
        unit.mark(Unit::canary);
    } else if (unit.kind == Kind::full && unit.has(Unit::local) && unit.has_default_stack()) {
        unit.be_plain(true);
    }
    return arch::prepare(unit.stack->top, unit_main);
}

namespace {

// The stream's main pool, if that is a shared one and picking is popping from it; null also where somebody wants the stream. `own` is where the primary unit
// and bound ones have their turns.
[[gnu::always_inline]] inline SharedPool* sole_shared(const Stream& stream) {
    Pool* const common = stream.common;
    if (common == nullptr || common->kind != WEFT_POOL_SHARED || stream.own != nullptr || stream.wanted() || stream.through_home) return nullptr;
    return static_cast<SharedPool*>(common);
}

[[gnu::always_inline]] inline Unit* pop_shared(SharedPool& from) {
    Unit* const unit = from.ready.pop();
    if (unit != nullptr) from.promise.popped(from.access);
    return unit;
}

void requeue_shared(void* raw) {
    auto* unit = static_cast<Unit*>(raw);
    unit->life.move(State::running, State::ready);
    pool::push_shared(static_cast<SharedPool&>(*unit->pool), unit);
}

// A yield in that pool, of a unit that nobody wants anything of.
[[gnu::noinline]] void yield_shared(Stream& stream, Unit& self, SharedPool& pool) {
    Unit* const next = pop_shared(pool);
    if (next == nullptr) return;
    stream.counters.add(trace::Count::yielded);
    leave_towards<Leaves::looked>(stream, self, next, {requeue_shared, &self}, Unit::at_return);
}

}  // namespace

Unit* detail::successor_other(Stream& stream) {
    if (SharedPool* const shared = sole_shared(stream)) return pop_shared(*shared);
    if (stream.through_home) return nullptr;
    if (stream.wanted()) {
        // The pollers' turn comes every so many rounds; until then only the round is counted.
        const bool only_polling = stream.attention.load(std::memory_order_relaxed) == attention::polling;   // relaxed: as wanted()
        if (!only_polling || ++stream.rounds >= rounds_between_polls) return nullptr;
    }
    return pick(stream);
}

namespace {

// The jobs first: their owner's is noted with them. All that others are told meanwhile, they are told with the stream's.
[[gnu::noinline]] Stream& leave_with_float(Stream& stream, Unit& self, Unit* next, AfterSwitch after, Leaves how) {
    if (self.has_jobs()) leave_jobs(stream, self);
    const arch::FloatingPoint own = leave_own_float(stream);
    look_before_leaving(self, how);
    Stream& now = detail::leave_plainly<Leaves::looked>(stream, self, next, after);
    enter_own_float(now, own);
    return now;
}

}  // namespace

[[gnu::noinline]] Stream& detail::leave_with_care(Stream& stream, Unit& self, Unit* next, AfterSwitch after, Leaves how) {
    if (is_in_own_float(self)) return come_back_followed(leave_with_float(stream, self, next, after, how), self);
    look_before_leaving(self, how);
    if (self.kind == Kind::hosted) return unit_hooks.leave_hosted(stream, self, next, after);
    return come_back_followed(leave_plainly<Leaves::looked>(stream, self, next, after), self);
}

[[gnu::noinline]] Stream& detail::leave_in_catch(Stream& stream, Unit& self, Unit* next, AfterSwitch after, Leaves how) {
    if (self.kind == Kind::hosted) return leave_with_care(stream, self, next, after, how);   // whose exceptions are its pthread's
    const bool with_float = is_in_own_float(self);
    if (!with_float && how != Leaves::looked && self.light_or_marked(Unit::at_leave)) look_before_leaving(self, how);
    const os::ExceptionGlobals kept = std::exchange(*stream.exceptions, {});
    Stream& now = with_float ? leave_with_float(stream, self, next, after, how) : leave_plainly<Leaves::looked>(stream, self, next, after);
    *now.exceptions = kept;
    return come_back_followed(now, self);
}

template <pool::Place place>
[[gnu::noinline]] void spawn_away(Stream& stream, Unit& next) {
    stream.counters.add(trace::Count::yielded);
    leave_towards<Leaves::yields>(stream, *stream.running, unless_wanted(stream, &next), {requeue<place>, stream.running}, Unit::at_return);
}
template void spawn_away<pool::Place::parent>(Stream&, Unit&);
template void spawn_away<pool::Place::reviving_parent>(Stream&, Unit&);

[[gnu::noinline]] void yield_with_care(Stream& stream, Unit& self) {
    SharedPool* const shared = sole_shared(stream);
    if (shared != nullptr && self.pool == shared && !self.light_or_marked(Unit::at_yield)) return yield_shared(stream, self, *shared);
    if (is_called_by_parent(self)) promote(stream, self);   // the parent is one of those that are ready
    if (self.is_light() && self.pool == stream.direct && !self.marked(Unit::at_yield) && !stream.wanted() && !stream.direct->ready.empty()) {
        promote(stream, self);   // and no more is to be seen to
        return yield(stream, self);
    }
    if (self.marked(Unit::requests) && heed_instead(self)) [[unlikely]] return;
    Unit* next = successor(stream);
    // Nobody is ready, the scheduler would find out no more than we have, and the unit would come back here at once.
    if (next == nullptr && !stream.wanted() && !stream.through_home && draws_from(stream, *self.pool)) return;
    stream.counters.add(trace::Count::yielded);
    leave_towards<Leaves::yields>(stream, self, next, {requeue<pool::Place::yielded>, &self}, Unit::at_return);
}

[[gnu::noinline]] weft_status yield_now() noexcept {
    Stream* stream = current_or_null();
    Unit* self = stream == nullptr ? nullptr : stream->running;
    if (self == nullptr) return fail(WEFT_WRONG_CONTEXT, "only a unit can yield");
    if (self->kind == Kind::tasklet) return fail(WEFT_WRONG_KIND, "a tasklet runs to completion and cannot yield; make it a ULT");
    yield(*stream, *self);
    return WEFT_OK;
}

}  // namespace weft
