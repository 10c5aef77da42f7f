// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/clock.hpp"
#include "sync/objects.hpp"

namespace weft::sync {

// Only the clock wakes the caller.
[[gnu::noinline]] weft_status sleep_until(std::uint64_t deadline_ns) {
    const Caller caller;
    if (!caller.may_wait()) return may_not_wait(caller, Waits::time);
    if (deadline_ns > os::now_ns()) Agent(caller, true).park(deadline_ns, Waits::time, nullptr);
    return WEFT_OK;
}

}   // namespace weft::sync
