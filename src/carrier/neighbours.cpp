// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "carrier/neighbours.hpp"

#include <mutex>

#include "base/sanitizer.hpp"
#include "hart/quota.hpp"
#include "os/clock.hpp"
#include "os/cpuset.hpp"
#include "os/thread.hpp"
#include "process/process.hpp"

namespace weft {
namespace {

// How many OS threads are queried at most: each takes microseconds.
constexpr std::size_t most_threads = 64;

// For how long OS threads with something to do have not run since the last check. A sleeping thread
// is not delayed.
std::uint64_t delay_since(Process& of) {
    const std::uint64_t round = ++of.neighbours.round;
    std::uint64_t sum_ns = 0;
    std::size_t left = most_threads;
    std::lock_guard guard(of.lock);
    for (std::size_t rank = 0; rank < of.ranks_used && left != 0; ++rank) {
        Stream* const stream = of.streams[rank];
        std::uint64_t delay_ns;
        if (stream == nullptr || stream->sleep.asleep.load() || stream->carrier.thread_id.load() == 0) continue;
        --left;
        if (!os::thread_delay(stream->carrier.thread_id.load(), delay_ns)) continue;
        if (stream->sampled.delay_round + 1 == round && delay_ns > stream->sampled.delay_ns)
            sum_ns += delay_ns - stream->sampled.delay_ns;
        stream->sampled.delay_ns = delay_ns;
        stream->sampled.delay_round = round;
    }
    return sum_ns;
}

std::uint64_t switches(const Process& of) {
    std::lock_guard guard(of.lock);
    return sum(of, trace::Count::run);
}

// For how long processors were idle since the last call; 0 where the kernel does not say.
std::uint64_t idle_since(Neighbourhood& by, bool& known) {
    const std::uint64_t before_ns = by.idle_ns;
    known = os::idle_time(hart::process_cpus(), by.idle_ns);
    return known && by.idle_ns > before_ns ? by.idle_ns - before_ns : 0;
}

hart::Neighbours::Found look(Process& of) {
    Neighbourhood& by = of.neighbours;
    hart::Neighbours::Found found;
    found.delay_ns = delay_since(of);
    found.idle_ns = idle_since(by, found.idle_known);
    const std::uint64_t before = by.switches;
    by.switches = switches(of);
    found.switched = by.switches != before;
    found.lacks = of.base.lacks();
    return found;
}

}   // namespace

void wait_is_overdue(Process& of) {
    // else more OS threads start at any time
    if (of.settings.values.neighbours == WEFT_NEIGHBOURS_IGNORE || sanitizer::of_the_program_looks_for_leaks()) return;
    Neighbourhood& by = of.neighbours;
    const std::uint64_t now_ns = os::now_ns();
    std::uint64_t due_ns = by.due_ns.load(std::memory_order_relaxed);   // relaxed, both: one of the callers checks
    if (now_ns < due_ns || !by.due_ns.compare_exchange_strong(due_ns, now_ns + hart::Neighbours::overdue_every_ns,
                                                              std::memory_order_relaxed))
        return;
    if (!by.lock.try_lock()) return;
    std::lock_guard guard(by.lock, std::adopt_lock);
    if (by.judged.withheld() != 0) return;
    bool known;
    const std::uint64_t idle_ns = by.judged.suspects() ? idle_since(by, known) : 0;
    if (by.judged.overdue(now_ns, delay_since(of), of.base.granted(), idle_ns) == 0) {
        if (by.judged.suspects()) idle_since(by, known);   // from here on
        return;
    }
    by.look_ns.store(0);
    if (of.reactor.watch(0)) return;   // the reactor does it
    by.look_ns.store(os::forever);
    by.judged.refused(now_ns);
}

std::uint64_t look_at_neighbours(Process& of, std::uint64_t now_ns) {
    Neighbourhood& by = of.neighbours;
    const std::uint64_t due_ns = by.look_ns.load();
    if (due_ns > now_ns) return due_ns;
    std::lock_guard guard(by.lock);
    if (by.judged.withheld() == 0) return os::forever;   // refused meanwhile
    const hart::Neighbours::Found found = look(of);
    if (due_ns == 0) {
        by.judged.begin(now_ns);
        by.withholdings.fetch_add(1);
    } else if (!by.judged.goes_on(now_ns, found)) {
        of.base.withhold(0);
    }
    // each time: the streams may want harts by now
    if (by.judged.withheld() != 0 && !of.base.withhold(by.judged.withheld())) by.judged.refused(now_ns);
    by.withheld.store(by.judged.withheld());
    const std::uint64_t next_ns = by.judged.withheld() == 0 ? os::forever : now_ns + hart::Neighbours::look_every_ns;
    by.look_ns.store(next_ns);
    return next_ns;
}

}   // namespace weft
