// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sync/barrier.hpp"

#include "sync/objects.hpp"

namespace weft::sync {

namespace {

// An arrival that may be the last: the completion is called here, and no unit suspends for it.
// WEFT_BUSY: others are still to arrive.
weft_status arrive_last(Barrier& barrier) {
    const Caller caller;
    if (!caller.may_wait()) return may_not_wait(caller, Waits::barrier);
    switch (barrier.arrive_last()) {
    case 0: return fail(WEFT_INVALID, "this phase of the barrier expects no more arrivals");
    case 1: return WEFT_OK;
    default: return WEFT_BUSY;
    }
}

// Arrives and waits; false if it would be the last, and nothing has changed.
[[gnu::always_inline]] inline bool arrive_before_others(Barrier barrier, weft_status& status) {
    Waiter waiter;
    status = wait_at(Barrier::Arrival(barrier), waiter, forever, Waits::barrier, barrier.address());
    return waiter.mark == 0;
}

[[gnu::noinline]] weft_status arrive_near_the_end(Barrier barrier) noexcept {
    for (;;) {
        weft_status status = WEFT_BUSY;
        if (barrier.nearly_complete()) status = arrive_last(barrier);
        if (status != WEFT_BUSY || arrive_before_others(barrier, status)) return status;
    }
}

}   // namespace

// Once the last caller has arrived the barrier may be gone: neither that caller nor any other looks
// at it again.
[[gnu::noinline]] weft_status arrive_and_wait(Barrier barrier) noexcept {
    weft_status status = WEFT_OK;
    if (barrier.nearly_complete() || !arrive_before_others(barrier, status)) [[unlikely]]
        return arrive_near_the_end(barrier);
    return status;
}

}   // namespace weft::sync
