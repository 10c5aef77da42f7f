// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sync/barrier.hpp"

#include "sync/objects.hpp"

namespace weft::sync {

// Once the last caller has arrived the barrier may be gone: neither that caller nor any other looks
// at it again.
[[gnu::noinline]] weft_status arrive_and_wait(Barrier barrier) noexcept {
    for (;;) {
        if (barrier.nearly_complete()) [[unlikely]] {   // the completion is called here, and no unit suspends for it
            const Caller caller;
            if (!caller.may_wait()) return may_not_wait(caller, Waits::barrier);
            const std::uint32_t missing = barrier.arrive_last();
            if (missing == 1) return WEFT_OK;
            if (missing == 0) return fail(WEFT_INVALID, "this phase of the barrier expects no more arrivals");
        }
        Waiter waiter;
        const weft_status status =
            wait_at(Barrier::Arrival(barrier), waiter, forever, Waits::barrier, barrier.address());
        if (waiter.mark == 0) [[likely]]
            return status;   // else it has turned out to be the last
    }
}

}   // namespace weft::sync
