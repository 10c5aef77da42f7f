// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Probes: points where a test of a checked build opens a race window on purpose. In a release build
// they compile to nothing.
#pragma once

#include "base/atomic.hpp"
#include "base/config.hpp"

namespace weft {

enum class Probe : unsigned char {
    suspend_before_publish,   // the context is saved, and no waker can find it yet
    suspend_after_publish,    // a waker may have resumed it already
    finish_before_publish,    // the body has returned, joiners have not been notified
    join_before_announce,     // the joiner saw "not done" and has not announced itself
    sleep_before_recheck,     // a stream has announced that it sleeps and has not checked again
    sleep_before_wait,        // it has checked again and found nothing
    push_before_wake,         // work is in the pool, and no sleeper has been searched for
    steal_before_claim,       // a thief has read the top of a deque and not claimed it
    pop_before_claim,         // the owner has taken the last item and not claimed it
    fifo_push_before_link,    // the tail has moved, the link is not there yet
    join_after_pool,          // a joiner has read the unit's pool and not yet whether the unit is local to it
    move_before_pool,         // the unit is no longer local, and its pool is still the old one
    move_before_push,         // it has left its stack for another pool and has not arrived there
    word_busy,                // an agent has reached an object that another is working on
    job_before_wake,          // jobs have been published, and no stream has been woken for them
    watch_before_listening,   // the watchdog has found that nothing waits, and cannot be woken yet
    job_before_done,          // a taken job has been run, and its owner has not been notified
    aside_before_lending,     // a stream is on the list of those that wait for a hart, and still has its own
    // a hart has been sent to a stream for the registrant of a domain, and the stream may still
    // wait for a hart of its own
    hart_sent_to_registrant,
    guest_wanted,             // a guest's unit can continue, and no hart has been requested
    guest_admitted,           // it has a hart, and its stream has not been woken
    guest_gives,              // it waits, and its hart has not been given back
    guest_leaves,             // no root has lacked a hart, and it has not left its own reclaimable
    guest_left_reclaimable,   // it has left its hart reclaimable, and has not checked whether a root lacks one
    guest_hart_taken,         // the base has taken a hart that was reclaimable, and not taken the guest off its list
    carrier_free,             // a carrier counts as idle, and has not checked for remote calls
    carrier_told,             // it has had its last remote call, and the waiter for its end has been notified
    join_before_crowd,        // the joiner saw that another waits, and has not announced itself over that one
    finish_before_crowd,      // the unit has ended, and its crowd has not been taken apart
    revoke_before_barrier,    // a thread revokes a biased lock, and its owner need not see that yet
    declined_before_look,     // the owner of a deque has declined a request, and not looked for a watcher
    unwatched_before_look,    // a stream has stopped watching a deque, and not looked for a decline
    count_
};

using ProbeHook = void (*)(Probe where);

// The test's hook, or null. Called with no lock held, on whatever stack the runtime is on; it may
// block its OS thread and must not call Weft.
inline atomic<ProbeHook> probe_hook{nullptr};

inline void probe([[maybe_unused]] Probe where) {
    if constexpr (config::checked) {
        // acquire: pairs with the test's store of the hook, whose data it reads.
        if (auto hook = probe_hook.load(std::memory_order_acquire)) [[unlikely]]
            hook(where);
    }
}

}   // namespace weft
