// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/marked.hpp"

#include <utility>

#include "core/jobs.hpp"
#include "core/suspend.hpp"
#include "local/locals.hpp"
#include "local/own_float.hpp"
#include "observe/observe.hpp"
#include "process/hooks.hpp"

namespace weft {
void look_before_leaving(Stream& stream, Unit& unit, Leaves how) {
    for (const MarkHooks::Leave& hook : mark_hooks.leave) {
        if (unit.shape.has(hook.shape) || unit.marked(hook.marks)) hook.call(stream, unit, how);
    }
}

void look_before_ending(Stream& stream, Unit& unit, Unit* next) {
    for (const MarkHooks::End& hook : mark_hooks.end) {
        if (unit.has(hook.flags) || unit.shape.has(hook.shape) || unit.marked(hook.marks))
            hook.call(stream, unit, next);
    }
}

void observe_leaving(Unit& unit, Leaves how) {
    switch (how) {
    case Leaves::yields: return observe(trace::Event::yield, unit);
    case Leaves::waits: return observe_wait(unit, unit.waits, unit.waits_object);
    case Leaves::suspends: return observe_wait(unit, Waits::suspend, unit.waits_object);
    case Leaves::looked:
    case Leaves::told: return;
    }
}

namespace {

// The unit has come back on that stream.
Stream& come_back_followed(Stream& now, const Unit& self) {
    if (may_be_followed(self)) [[unlikely]]
        tell_followers_it_returns(now, self);
    return now;
}

// The jobs first: their owner's floating-point environment is noted with them. Everything that is
// reported meanwhile is reported with the stream's.
[[gnu::noinline]] Stream& leave_with_float(Stream& stream, Unit& self, Unit* next, AfterSwitch after, Leaves how) {
    if (self.has_jobs()) leave_jobs(stream, self);
    const arch::FloatingPoint own = leave_own_float(stream);
    look_before_leaving(stream, self, how);
    Stream& now = detail::leave_plainly<Leaves::looked>(stream, self, next, after);
    enter_own_float(now, own);
    return now;
}

}   // namespace

[[gnu::noinline]] Stream& detail::leave_slow(Stream& stream, Unit& self, Unit* next, AfterSwitch after, Leaves how) {
    if (is_in_own_float(self)) return come_back_followed(leave_with_float(stream, self, next, after, how), self);
    look_before_leaving(stream, self, how);
    if (self.kind == Kind::hosted) return unit_hooks.leave_hosted(stream, self, next, after);
    return come_back_followed(leave_plainly<Leaves::looked>(stream, self, next, after), self);
}

[[gnu::noinline]] Stream& detail::leave_in_catch(Stream& stream, Unit& self, Unit* next, AfterSwitch after,
                                                 Leaves how) {
    // a hosted unit's exceptions are its pthread's
    if (self.kind == Kind::hosted) return leave_slow(stream, self, next, after, how);
    const bool with_float = is_in_own_float(self);
    if (!with_float && how != Leaves::looked && self.light_or_marked(Unit::at_leave))
        look_before_leaving(stream, self, how);
    const os::ExceptionGlobals kept = std::exchange(*stream.exceptions, {});
    Stream& now = with_float ? leave_with_float(stream, self, next, after, how)
                             : leave_plainly<Leaves::looked>(stream, self, next, after);
    *now.exceptions = kept;
    return come_back_followed(now, self);
}

}   // namespace weft
