// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/revive.hpp"

#include <mutex>

#include "core/plan.hpp"
#include "core/spawn.hpp"
#include "local/own_float.hpp"
#include "process/error.hpp"
#include "process/process.hpp"
#include "unit/extras.hpp"

namespace weft {
namespace {

// The stack that the unit has from the beginning; null: no memory.
mem::Stack* first_stack(Stream* stream, const Unit& unit) {
    if (unit.has(Unit::user_stack)) {
        // the values that remember_user_stack() has left
        return mem::user_stack(const_cast<void*>(unit.waits_object), unit.user_stack_bytes & ~own_float_bit);
    }
    return take_stack(stream, unit.wanted_stack_bytes());
}

// Whether the unit can run before the caller continues: WEFT_OK, or the reason why not.
weft_status may_begin_first(const Stream* stream, const Unit& unit) {
    if (unit.kind == Kind::tasklet || unit.kind == Kind::ss || unit.kind == Kind::sc) {
        return fail(WEFT_UNSUPPORTED, "unit %llu begins where its scheduler runs, and not child-first",
                    static_cast<unsigned long long>(unit.id));
    }
    const Unit* const self = stream == nullptr ? nullptr : stream->running;
    if (self != nullptr && self->kind != Kind::tasklet) return WEFT_OK;
    return fail(WEFT_WRONG_CONTEXT, "child_first needs a ULT that waits; there is none here");
}

}   // namespace

weft_status revive(Unit& unit, Pool& pool, void (*body)(void*), void* argument, const void* site, Revived how) {
    const auto id = static_cast<unsigned long long>(unit.id);
    if (unit.has_now(Unit::primary)) return fail(WEFT_WRONG_STATE, "the primary unit ends with the program");
    if (!unit.join_state.done()) return fail(WEFT_WRONG_STATE, "unit %llu has not ended; join it first", id);
    Stream* stream = current_or_null();
    if (how == Revived::first) {
        if (const weft_status status = may_begin_first(stream, unit); status != WEFT_OK) return status;
    }
    mem::Stack* stack = nullptr;
    if (unit.kind == Kind::full) {
        stack = first_stack(stream, unit);
        if (stack == nullptr) return fail(WEFT_NO_MEMORY, "no memory for the stack of unit %llu", id);
        if (unit.has(Unit::measured)) mem::measure_begin(*stack);
    }
    if (!pool::admits(pool, unit)) {
        if (stack != nullptr) give_stack_back(stream, stack);
        return not_admitted();
    }
    if (unit.outcome == Outcome::exception) unit.exception().~exception_ptr();
    if (Extras* extras = extras_of(unit)) {
        std::lock_guard guard(extras->lock);
        extras->target = nullptr;   // asked too late for the last life
    }
    const Unit::Flags kept = unit.flags & Unit::own_stack;
    const bool default_stack = unit.stack_class() == 0 && !kept.any();
    const bool canary = stack != nullptr && stack->guarded == mem::Guard::canary;
    Unit::InitialHeader initial_header = initial_header_in(pool, unit.kind);
    initial_header.flags = initial_header.flags.without(Unit::plain) | kept;
    if (default_stack && unit.kind != Kind::tasklet && unit.kind != Kind::full && unit.kind != Kind::hosted)
        initial_header.flags |= Unit::plain;
    const bool observed = initial_header.marks.any();
    // relaxed: the caller owns the unit
    initial_header.marks |= Unit::Marks{unit.marks.load(std::memory_order_relaxed)} & (Unit::extras | Unit::fixed);
    if (canary) initial_header.marks |= Unit::careful;
    const bool own_float = unit.marked(Unit::untidy) && has_own_float(unit);
    initial_header.shape |= unit.shape & Unit::class_bits;
    initial_header.tag = Unit::tag_of(unit.priority());
    unit.life.move(State::done, State::free);
    unit.context = nullptr;
    unit.stack = stack;
    unit.body = body;
    unit.argument = argument;
    unit.pool = &pool;
    unit.spawn_site = site;
    unit.join_state.reset();
    unit.begin_life(initial_header);
    if (own_float) give_own_float(unit);
    if (stream != nullptr) {
        stream->counters.add(trace::Count::revived);
    } else {
        process().count_outside(trace::Count::revived);
    }
    if (observed) observe(trace::Event::revive, unit);
    pool::belongs(unit);
    switch (how) {
    case Revived::first: launch_child_first<pool::From::reviving_parent>(unit); break;
    case Revived::pushed: make_ready(stream, unit, pool::From::revived); break;
    case Revived::held: break;
    }
    return WEFT_OK;
}

}   // namespace weft
