#include "sync/barrier.hpp"

#include "sync/objects.hpp"

namespace weft::sync {

namespace {

// By one who may be the last: the completion is called here, and nobody is suspended for it.
[[gnu::noinline]] weft_status arrive_with_care(Barrier barrier) noexcept {
    const Caller caller;
    if (!caller.may_wait()) return may_not_wait(caller, Waits::barrier);
    std::uint32_t phase;
    if (!barrier.arrive(1, 0, &phase)) return fail(WEFT_INVALID, "nobody is expected any more in this phase of the barrier");
    Barrier::End end(barrier, phase);
    Waiter waiter;
    return take_or_wait(end, waiter, forever, Waits::barrier, barrier.address());
}

}  // namespace

[[gnu::noinline]] weft_status arrive_and_wait(Barrier barrier) noexcept {
    if (barrier.nearly_complete()) [[unlikely]] return arrive_with_care(barrier);
    Waiter waiter;
    const weft_status status = wait_at(Barrier::Arrival(barrier), waiter, forever, Waits::barrier, barrier.address());
    if (waiter.mark != 0) [[unlikely]] return arrive_with_care(barrier);   // it has turned out to be the last
    return status;
}

}  // namespace weft::sync
