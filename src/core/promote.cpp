#include "core/promote.hpp"

#include <utility>

#include "core/overflow.hpp"
#include "local/locals.hpp"
#include "local/own_float.hpp"
#include "observe/observe.hpp"
#include "process/hooks.hpp"

namespace weft {
namespace {

// Of a unit that the scheduler has called.
void give_scheduler_back(Stream& stream, Unit& unit) {
    if (unit.stack == nullptr) {
        // SC: it keeps the scheduler's stack, with what has called it.
        unit.stack = stream.sched_context.stack;
        stream.sched_context = {nullptr, std::exchange(stream.reserve, nullptr)};
        if (unit.stack->guarded == mem::Guard::canary) {
            unit.mark(Unit::careful);
            unit.be_plain(false);
        }
    }
    if (stream.sched_context.context != nullptr) return;
    // What has called it cannot go on: the scheduler begins anew.
    WEFT_ASSERT(stream.restartable);
    stream.sched_context.context = arch::prepare(stream.sched_context.stack->top, unit_hooks.scheduler_main);
    // nobody is called in its place
    if (stream.direct == nullptr || is_in_own_float(unit) || (may_be_followed(unit) && is_followed(unit))) return;
    (unit.has_jobs() ? stream.inline_pool_without_jobs : stream.inline_pool) = stream.direct;
}

// The parent that has called a unit waits in its pool in earnest now.
void yield_parent(Stream& stream, Unit& parent) {
    stream.counters.add(trace::Count::yielded);
    if (parent.marked(Unit::careful)) check_canary(parent);
    if (parent.marked(Unit::observed)) observe(trace::Event::yield, parent);
    make_ready(&stream, parent, pool::From::parent);
}

// The joiner that has called a unit waits for its end in earnest.
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
        link = caller.link;   // its own parent, if that has called it: before it is in a list
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
