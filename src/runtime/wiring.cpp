// Which rooms the hooks lead to.
#include "carrier/level.hpp"
#include "carrier/sentry.hpp"
#include "carrier/streams.hpp"
#include "core/loop.hpp"
#include "inspect/deadlock.hpp"
#include "process/hooks.hpp"
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
    .conclude_hosted = conclude_hosted,
    .end_child = end_child,
    .keep_for_stack = keep_for_stack,
    .mark_guests = mark_guests,
    .scheduler_main = scheduler_main,
};

constinit const AttentionHooks attention_hooks = {
    .step_aside = step_aside,
    .attend_to_domains = attend_to_domains,
    .replace_main = replace_main,
    .has_kept = has_kept,
    .leave_carriers = leave_carriers,
};

constinit const GuestHooks guest_hooks = {.start_by_itself = start_by_itself};

constinit const IdleHooks idle_hooks = {
    .start_zero_again = start_zero_again,
    .lend_out = lend_out,
    .begin_watch = begin_watch,
    .end_watch = end_watch,
    .look_anew = look_anew,
    .stream_wakes = wake_sentry,
};

}  // namespace weft
