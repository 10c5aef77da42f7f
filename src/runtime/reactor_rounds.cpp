// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/reactor_rounds.hpp"

#include <algorithm>
#include <mutex>

#include "carrier/neighbours.hpp"
#include "carrier/streams.hpp"
#include "os/clock.hpp"
#include "process/process.hpp"
#include "runtime/blocking.hpp"
#include "share/lending.hpp"
#include "share/rescue.hpp"

namespace weft {

std::uint64_t reactor_round(void* context) {
    auto& of = *static_cast<Process*>(context);
    const std::uint64_t now_ns = os::now_ns();
    // before the lock: these calls may start OS threads
    std::uint64_t next_ns = std::min({look_at_harts(of, now_ns), watch_over(of, now_ns), look_at_neighbours(of, now_ns),
                                      look_after_zero(of, now_ns)});
    std::lock_guard guard(of.lock);
    for (std::size_t rank = 0; rank < of.ranks_used; ++rank) {
        Stream* stream = of.streams[rank];
        if (stream == nullptr) continue;
        std::uint64_t alarm_ns = stream->sleep.alarm_ns.load();
        if (alarm_ns > now_ns) {
            next_ns = std::min(next_ns, alarm_ns);
        } else if (stream->sleep.alarm_ns.compare_exchange_strong(alarm_ns, Timers::never)) {
            ask(*stream, attention::alarm);
            watch_anew(of, *stream);   // the stream may not get to it
        }
    }
    if (of.blocking_alarm_ns.load() > now_ns) return std::min(next_ns, of.blocking_alarm_ns.load());
    of.blocking_alarm_ns.store(os::forever);
    const std::uint64_t again_ns = of.blocking_pool.grow(now_ns);
    if (again_ns != os::forever) of.blocking_alarm_ns.store(again_ns);
    return std::min(next_ns, again_ns);
}

void reactor_ready(void* context, std::uint32_t tag) {
    auto& of = *static_cast<Process*>(context);
    Poller* poller = of.pollers.at(tag);
    if (poller == nullptr) return;
    poller->disarmed.store(true);
    // Prefers a stream that sleeps; if there is none, all are busy and poll by themselves.
    std::lock_guard guard(of.lock);
    Stream* chosen = of.streams[0];
    for (std::size_t rank = 0; rank < of.ranks_used; ++rank) {
        Stream* stream = of.streams[rank];
        if (stream != nullptr && stream->sleep.asleep.load()) chosen = stream;
    }
    if (chosen != nullptr) ask(*chosen, attention::poll);
}

}   // namespace weft
