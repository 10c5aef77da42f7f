// The one protocol: a unit that stops running leaves its stack first and is made findable afterwards, by an action
// that whatever runs next performs first of all. README.md tells why, and what was rejected.
#pragma once

#include "stream/stream.hpp"

namespace weft {

// What a unit waits for that called weft_unit_suspend; only such a one may be resumed by anybody.
inline constexpr char waits_for_resume[] = "suspend";

// What is done once the leaving unit's registers are saved; on another stack of the same stream. `call` may be null.
using AfterSwitch = context::Message;

// The running ULT leaves for whatever runs next; returns when it has been resumed, maybe on another stream. Keeps
// its errno and its exceptions.
void leave(AfterSwitch after);

// The running ULT leaves for `next`, which it has taken out of its pool (or which was never in one); the rest as leave().
void leave_for(Unit& next, AfterSwitch after);

// The running ULT goes to the end of its pool, and others run; returns at once when there is nobody.
void yield(Unit& self);

// The running ULT lets `target`, which is ready, run in its place. Statuses as weft_unit_yield_to.
weft_status yield_to(Unit& target);

// The running ULT has ended: its joiner learns it and its stack is given back.
[[noreturn]] void finish();

// The running ULT suspends, and publish(unit) runs once its context is saved; its last act may already have been
// answered by a resume.
template <class Publish>
void suspend(Unit& self, const char* what, const void* object, Publish publish) {
    struct Request {
        Unit& unit;
        Publish& publish;
    } request{self, publish};
    self.waits_for = what;
    self.waits_object = object;
    leave({[](void* raw) {
               // The request lies on the stack that was left: gone as soon as publish has let a waker know.
               auto& [unit, to_publish] = *static_cast<Request*>(raw);
               unit.life.move(State::running, State::suspended);
               current().counters.add(trace::Count::suspended);
               probe(Probe::suspend_before_publish);
               to_publish(unit);
               probe(Probe::suspend_after_publish);
           },
           &request});
}

// A suspended unit that this caller has claimed goes to its pool.
inline void resume_claimed(Unit& unit) {
    if (auto* stream = current_or_null()) stream->counters.add(trace::Count::resumed);
    make_ready(unit);
}

}  // namespace weft
