#include "stream/suspend.hpp"

#include "stream/error.hpp"
#include "stream/join.hpp"
#include "stream/overflow.hpp"

namespace weft {
namespace {

// What a unit keeps of the C and C++ run-time libraries' thread-local state across a suspension.
struct Kept {
    int error;
    os::ExceptionGlobals exceptions;
};

[[gnu::always_inline]] inline Kept keep(const Stream& stream) { return {*stream.errno_address, *stream.exceptions}; }

[[gnu::always_inline]] inline void restore(Stream& stream, const Kept& kept) {
    *stream.errno_address = kept.error;
    *stream.exceptions = kept.exceptions;
}

[[gnu::always_inline]] inline void reset(Stream& stream) {
    *stream.errno_address = 0;
    *stream.exceptions = {};
}

// Where a fresh ULT begins; never returns.
[[gnu::noinline]] void unit_main(void (*call)(void*), void* argument) {
    context::arrive({call, argument});
    Stream& stream = current();
    reset(stream);
    Unit* unit = stream.running;
    run_body(*unit);
    finish();
}

// The unit that the leaving one may switch to itself, or null: then the scheduler decides.
[[gnu::always_inline]] inline Unit* successor(Stream& stream) {
    if (stream.wanted() || stream.own != nullptr || !stream.sched->stateless()) [[unlikely]] return nullptr;
    return sched::pick(*stream.sched);
}

// Where to go so that `next` runs: itself, or the scheduler, which will find it in `handed`.
[[gnu::always_inline]] inline context::Target way_to(Stream& stream, Unit* next) {
    if (next != nullptr) [[likely]] {
        if (next->kind != Kind::tasklet) [[likely]] {
            if (void* context = begin(stream, *next)) [[likely]] {
                next->life.move(State::ready, State::running);
                stream.running = next;
                stream.counters.add(trace::Count::run);
                return {context, next->stack};
            }
        }
        stream.handed = next;
    }
    stream.running = nullptr;
    return stream.home;
}

[[gnu::noinline, gnu::cold]] void check_canary(const Unit& unit) {
    if (!mem::canary_intact(*unit.stack)) overflow_report(unit);
}

// noinline: the switch inside is compiled for this file's register set (arch/x86_64/context.hpp).
[[gnu::noinline]] void leave_towards(Stream& stream, Unit& self, Unit* next, AfterSwitch after) {
    if (self.has(Unit::canary)) [[unlikely]] check_canary(self);
    const Kept kept = keep(stream);
    const context::Target target = way_to(stream, next);
    context::leave(&self.context, target, after);
    restore(current(), kept);
}

void end_on_user_stack(void* raw) {
    auto& unit = *static_cast<Unit*>(raw);
    mem::user_stack_done(unit.stack);
    unit.stack = nullptr;
    end_unit(unit);
}

void requeue(void* raw) {
    auto* unit = static_cast<Unit*>(raw);
    unit->life.move(State::running, State::ready);
    make_ready(*unit, pool::Place::last);
}

void release_stack(void* stack) { current().heap->stacks.give(static_cast<mem::Stack*>(stack)); }

}  // namespace

void* begin(Stream& stream, Unit& unit) {
    if (unit.context != nullptr) return unit.context;
    if (unit.stack == nullptr) {
        const std::size_t bytes = unit.stack_class == 0 ? 0 : std::size_t{1} << unit.stack_class;
        unit.stack = stream.heap->stacks.take(bytes);
        if (unit.stack == nullptr) [[unlikely]] return nullptr;
        if (unit.has(Unit::measured)) mem::measure_begin(*unit.stack);
        if (unit.stack->guarded == mem::Guard::canary) [[unlikely]] unit.flags |= Unit::canary;
    }
    return arch::prepare(unit.stack->top, unit_main);
}

void leave(AfterSwitch after) {
    Stream& stream = current();
    leave_towards(stream, *stream.running, successor(stream), after);
}

void leave_for(Unit& next, AfterSwitch after) {
    Stream& stream = current();
    leave_towards(stream, *stream.running, &next, after);
}

void yield(Unit& self) {
    Stream& stream = current();
    Unit* next = successor(stream);
    // Nobody is ready, and the scheduler would find out no more than we have.
    if (next == nullptr && !stream.wanted() && stream.own == nullptr && stream.sched->stateless()) return;
    stream.counters.add(trace::Count::yielded);
    leave_towards(stream, self, next, {requeue, &self});
}

weft_status yield_to(Unit& target) {
    Stream* stream = current_or_null();
    Unit* self = stream == nullptr ? nullptr : stream->running;
    if (self == nullptr) return fail(WEFT_WRONG_CONTEXT, "only a unit can yield");
    if (self->kind == Kind::tasklet) return fail(WEFT_WRONG_KIND, "a tasklet runs to completion and cannot yield; make it a ULT");
    if (target.kind == Kind::tasklet) return fail(WEFT_WRONG_KIND, "one yields to ULTs; a tasklet runs on the scheduler's stack");
    if (!target.life.is(State::ready)) return fail(WEFT_WRONG_STATE, "unit %llu is not ready", static_cast<unsigned long long>(target.id));
    if (target.has(Unit::bound) && target.pool != stream->sched->pools[0] && target.pool != stream->own) {
        return fail(WEFT_UNSUPPORTED, "the primary unit runs on its own stream only");
    }
    switch (pool::remove(*target.pool, &target)) {
    case pool::Removal::removed: break;
    case pool::Removal::absent: return fail(WEFT_WRONG_STATE, "unit %llu is about to run elsewhere", static_cast<unsigned long long>(target.id));
    case pool::Removal::impossible:
        return fail(WEFT_UNSUPPORTED, "the unit's pool gives no unit out of its middle (a deque, a user's without remove, "
                                      "another stream's private one)");
    }
    stream->counters.add(trace::Count::yielded);
    leave_towards(*stream, *self, &target, {requeue, self});
    return WEFT_OK;
}

void finish() {
    Stream& stream = current();
    Unit& unit = *stream.running;
    mem::Stack* stack = unit.stack;
    stream.counters.add(trace::Count::finished);
    if (unit.has(Unit::careful_end)) [[unlikely]] {
        if (unit.has(Unit::canary)) check_canary(unit);
        if (unit.has(Unit::measured)) unit.context = reinterpret_cast<void*>(mem::measure(*stack));
        if (unit.has(Unit::user_stack)) {
            // The stack's memory is the user's again from the end on, so the end is told from elsewhere.
            context::abandon(way_to(stream, nullptr), {end_on_user_stack, &unit});
        }
    }
    unit.stack = nullptr;
    // From here on the descriptor may be freed and used again. We still stand on the stack, which is ours until
    // release_stack gives it back from the next context.
    end_unit(unit);
    context::abandon(way_to(stream, successor(stream)), {release_stack, stack});
}

}  // namespace weft
