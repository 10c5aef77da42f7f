// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which rooms the hooks lead to.
#include "carrier/level.hpp"
#include "carrier/sentry.hpp"
#include "carrier/streams.hpp"
#include "core/attention.hpp"
#include "core/idle.hpp"
#include "core/jobs.hpp"
#include "core/marked.hpp"
#include "core/promote.hpp"
#include "core/run.hpp"
#include "inspect/deadlock.hpp"
#include "local/locals.hpp"
#include "local/own_float.hpp"
#include "observe/observe.hpp"
#include "process/domain_state.hpp"
#include "process/hooks.hpp"
#include "process/housekeeping.hpp"
#include "process/overflow.hpp"
#include "process/way.hpp"
#include "runtime/fork.hpp"
#include "runtime/runtime.hpp"
#include "share/carriers.hpp"
#include "share/domain.hpp"
#include "share/guest.hpp"
#include "share/hosted.hpp"
#include "share/lending.hpp"
#include "share/shortage.hpp"

namespace weft {

constinit const UnitHooks unit_hooks = {
    .begin_hosted = begin_hosted,
    .leave_hosted = leave_hosted,
    .keep_for_stack = keep_for_stack,
    .mark_guests = mark_guests,
    .scheduler_main = scheduler_main,
};

// Jobs first: the state of the owner's floating-point unit is noted with them. Followers last: the
// other handlers' notifications may read a follower's words.
constinit const MarkHooks mark_hooks = {
    .leave =
        {
            {Unit::jobs, {}, [](Stream& stream, Unit& unit, Leaves) { leave_jobs(stream, unit); }},
            {Unit::light, {}, [](Stream& stream, Unit& unit, Leaves) { promote(stream, unit); }},
            {{}, Unit::careful, [](Stream&, Unit& unit, Leaves) { check_canary(unit); }},
            {{},
             Unit::careful,
             [](Stream&, Unit& unit, Leaves how) {
                 if (how != Leaves::yields) tell_domain_of_wait(unit);
             }},
            {{}, Unit::observed, [](Stream&, Unit& unit, Leaves how) { observe_leaving(unit, how); }},
            {{},
             Unit::careful,
             [](Stream& stream, Unit& unit, Leaves) {
                 if (may_be_followed(unit)) tell_followers_it_leaves(stream, unit);
             }},
        },
    .end =
        {
            {Unit::primary,
             {},
             {},
             [](Stream&, Unit& unit, Unit*) {
                 if (has_forked(unit)) end_child();
             }},
            {{},
             {},
             Unit::careful,
             [](Stream&, Unit& unit, Unit* next) {
                 if (unit.kind == Kind::hosted) conclude_hosted(unit, next);
             }},
            {{}, Unit::jobs, {}, [](Stream& stream, Unit& unit, Unit*) { leave_jobs(stream, unit); }},
            {{}, {}, Unit::careful, [](Stream&, Unit& unit, Unit*) { check_canary(unit); }},
            {{}, {}, Unit::careful, [](Stream& stream, Unit& unit, Unit*) { end_own_float(stream, unit); }},
            {Unit::measured,
             {},
             {},
             [](Stream&, Unit& unit, Unit*) { unit.context = reinterpret_cast<void*>(mem::measure(*unit.stack)); }},
            {{}, {}, Unit::observed, [](Stream&, Unit& unit, Unit*) { observe(trace::Event::finish, unit); }},
        },
};

constinit const AttentionHook attention_hooks[] = {
    {attention::exit, stop_for_good},
    {attention::pause, pause_stream},
    {AttentionHook::always,
     [](Stream& stream, Attention) {
         hold_hart(stream);
         return Attended::go_on;
     }},
    {attention::aside,
     [](Stream& stream, Attention) {
         if (step_aside(stream)) return Attended::anew;   // continue with the requests that have come meanwhile
         attend_to_domains(stream);
         return Attended::over;
     }},
    {AttentionHook::always, take_note},
    {attention::adopt,
     [](Stream& stream, Attention) {
         adopt_bound_pool(stream);
         return Attended::go_on;
     }},
    {attention::observed, learn_of_observers},
    {attention::alarm | attention::posted | attention::poll | attention::polling,
     [](Stream& stream, Attention bits) {
         do_housekeeping(stream, bits);
         return Attended::go_on;
     }},
    {attention::lent,
     [](Stream& stream, Attention) {
         attend_to_domains(stream);
         return Attended::go_on;
     }},
};

constinit const LoopHooks loop_hooks = {
    .replace_main = replace_main, .has_kept = has_kept, .leave_carriers = leave_carriers};

constinit const GuestHooks guest_hooks = {.start_by_itself = start_by_itself};

constinit const IdleHooks idle_hooks = {
    .start_zero_again = start_zero_again,
    .lend_out = lend_out,
    .begin_watch = begin_watch,
    .end_watch = end_watch,
    .look_anew = look_anew,
    .stream_wakes = wake_sentry,
};

}   // namespace weft
