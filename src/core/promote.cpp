// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/promote.hpp"

#include <utility>

#include "local/locals.hpp"
#include "local/own_float.hpp"
#include "observe/observe.hpp"
#include "process/hooks.hpp"
#include "process/overflow.hpp"

namespace weft {
namespace {

// For a unit that the scheduler has called.
void give_scheduler_back(Stream& stream, Unit& unit) {
    if (unit.stack == nullptr) {
        // SC: the unit keeps the scheduler's stack, with the frames that have called it.
        unit.stack = stream.sched_context.stack;
        stream.sched_context = {nullptr, std::exchange(stream.reserve, nullptr)};
        if (unit.stack->guarded == mem::Guard::canary) {
            unit.mark(Unit::careful);
            unit.be_plain(false);
        }
    }
    if (stream.sched_context.context != nullptr) return;
    // The scheduler's run that called the unit cannot continue: the scheduler begins anew.
    WEFT_ASSERT(stream.restartable);
    stream.sched_context.context = arch::prepare(stream.sched_context.stack->top, unit_hooks.scheduler_main);
    // no unit is called in the place of one that has its own floating-point environment or is
    // followed
    if (stream.direct == nullptr || is_in_own_float(unit) || (may_be_followed(unit) && is_followed(unit))) return;
    (unit.has_jobs() ? stream.inline_pool_without_jobs : stream.inline_pool) = stream.direct;
}

// The parent that has called a unit now really waits in its pool.
void yield_parent(Stream& stream, Unit& parent) {
    stream.counters.add(trace::Count::yielded);
    if (parent.marked(Unit::careful)) check_canary(parent);
    if (parent.marked(Unit::observed)) observe(trace::Event::yield, parent);
    make_ready(&stream, parent, pool::From::parent);
}

// The joiner that has called a unit now really waits for its end.
void suspend_joiner(Stream& stream, Unit& joiner) {
    stream.counters.add(trace::Count::suspended);
    if (joiner.marked(Unit::careful)) check_canary(joiner);
    if (joiner.marked(Unit::observed)) observe_wait(joiner, Waits::as_stated, joiner.waits_object);
}

}   // namespace

void promote(Stream& stream, Unit& unit) {
    // The unit that has called it may itself have been called.
    Unit* light = &unit;
    Unit* link = unit.link;
    for (;;) {
        const bool by_unit = light->is_called();
        Unit* const joiner = by_unit ? calling_joiner(*light) : nullptr;
        light->shape = light->shape.without(Unit::light | Unit::called);
        if (!by_unit) give_scheduler_back(stream, *light);
        if (begins_light(light->kind)) {
            stream.counters.add(trace::Count::promoted);
            if (light->marked(Unit::observed)) observe(trace::Event::promote, *light);
        }
        if (!by_unit) return;
        Unit& caller = joiner == nullptr ? *link : *joiner;
        link = caller.link;   // the caller's own parent, if that has called it: read before the caller is in a list
        if (joiner == nullptr) {
            yield_parent(stream, caller);
        } else {
            suspend_joiner(stream, caller);
        }
        if (!caller.is_light()) return;
        light = &caller;
    }
}

}   // namespace weft
