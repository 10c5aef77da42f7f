// Which rooms the hooks lead to.
#include "stream/carriers.hpp"
#include "stream/deadlock.hpp"
#include "stream/domain.hpp"
#include "stream/fork.hpp"
#include "stream/guest.hpp"
#include "stream/hooks.hpp"
#include "stream/hosted.hpp"
#include "stream/lending.hpp"
#include "stream/level.hpp"
#include "stream/loop.hpp"
#include "stream/runtime.hpp"
#include "stream/sentry.hpp"
#include "stream/shortage.hpp"
#include "stream/streams.hpp"

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
