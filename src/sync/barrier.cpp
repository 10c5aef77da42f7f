#include "sync/barrier.hpp"

#include "sync/objects.hpp"

namespace weft::sync {

[[gnu::noinline]] weft_status arrive_and_wait(Barrier barrier) {
    for (;;) {
        const Caller caller;   // on another stream, perhaps, after each wait
        if (!caller.may_wait()) [[unlikely]] return may_not_wait(caller, "barrier");
        const bool simple = !barrier.nearly_complete();
        if (!simple || caller.thread()) {
            // Perhaps the last: the completion is called here, and nobody is suspended for it.
            std::uint32_t phase;
            if (!barrier.arrive(1, 0, &phase)) return fail(WEFT_INVALID, "nobody is expected any more in this phase of the barrier");
            Barrier::End end(barrier, phase);
            Waiter waiter;
            if (!end.come()) wait_at(caller, end, waiter, forever, "barrier", barrier.address());
            return WEFT_OK;
        }
        Barrier::Arrival arrival(barrier);
        Waiter waiter;
        wait_at(caller, arrival, waiter, forever, "barrier", barrier.address());
        if (waiter.mark == 0) return WEFT_OK;
    }
}

}  // namespace weft::sync
