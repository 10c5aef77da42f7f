// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/requests.hpp"

#include "core/finish.hpp"
#include "core/migrate.hpp"
#include "local/locals.hpp"
#include "observe/observe.hpp"
#include "process/error.hpp"
#include "process/may_end.hpp"

namespace weft {
namespace {

// Whether the unit that runs, or is to begin, was asked to end, and may: between a fork and its
// join, jobs that other streams have taken lie on its stack.
bool is_to_end(const Unit& self) { return self.marked(Unit::cancel) && may_end(current(), self); }

[[noreturn]] void end_cancelled(Unit& self) {
    end_with(self, Outcome::cancelled);
    finish();
}

}   // namespace

weft_status ask_to_end(Unit& unit) noexcept {
    if constexpr (!config::cancel) return built_without("cancellation", "WEFT_CANCEL");
    if (unit.has_now(Unit::primary)) return fail(WEFT_WRONG_STATE, "the primary unit ends with the program");
    if (unit.join_state.done())
        return fail(WEFT_WRONG_STATE, "unit %llu has ended", static_cast<unsigned long long>(unit.id));
    if (unit.marked(Unit::observed)) observe(trace::Event::cancel, unit);
    unit.mark(Unit::cancel);
    return WEFT_OK;
}

Stream& handle_requests(Unit& self, Unit::Marks which) {
    if (self.marked(which & Unit::observed)) observe(trace::Event::resume, self);
    which = which & Unit::requests;
    while (self.marked(which) && !self.marked(Unit::ending)) {
        if (which.has(Unit::cancel) && is_to_end(self)) end_cancelled(self);
        if (!which.has(Unit::migrate) || !move_away(self, true)) break;
    }
    return current();
}

bool handle_requests_instead(Unit& self) {
    if (self.marked(Unit::ending)) return false;
    if (is_to_end(self)) end_cancelled(self);
    if (!move_away(self, true)) return false;
    handle_requests(self, Unit::requests);   // those that came meanwhile
    return true;
}

bool starts(Unit& unit) {
    while (unit.marked(Unit::migrate) && !is_to_end(unit) && move_away(unit, false)) {}
    if (!is_to_end(unit)) {
        if (unit.marked(Unit::observed)) observe(trace::Event::start, unit);
        return true;
    }
    end_with(unit, Outcome::cancelled);
    return false;
}

bool picked_starts(Stream& stream, Unit& unit) {
    if (is_to_end(unit)) {
        end_unrun(stream, unit, Outcome::cancelled);
        return false;
    }
    return !unit.marked(Unit::migrate) || !move_unstarted(unit);
}

void end_unrun(Stream& stream, Unit& unit, Outcome outcome) {
    end_with(unit, outcome);
    unit.life.move(State::ready, State::running);
    if (unit.marked(Unit::extras)) end_locals(unit);
    if (unit.marked(Unit::observed)) observe(trace::Event::finish, unit);
    end_unit_slow(stream, unit);
}

}   // namespace weft
