// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/idle.hpp"

#include <algorithm>
#include <utility>

#include "core/jobs.hpp"
#include "core/postpone.hpp"
#include "hart/quota.hpp"
#include "observe/observe.hpp"
#include "os/clock.hpp"
#include "os/process_barrier.hpp"
#include "os/thread.hpp"
#include "process/guest_state.hpp"
#include "process/hooks.hpp"
#include "process/housekeeping.hpp"
#include "process/process.hpp"
#include "process/way.hpp"

namespace weft {

void hold_hart(Stream& stream) {
    if (stream.only_carries() || stream.serving.domain != nullptr) return;   // the domain has it
    if (!std::exchange(stream.holds_hart, true)) stream.of->base.take(stream.of->streams_root, 1);
}

void give_hart_back(Stream& stream) {
    if (std::exchange(stream.holds_hart, false)) stream.of->base.put(stream.of->streams_root, -1);
}

// A guest's thread has no hart to look on, or another claimant wants it. A domain that could use
// more than its share has no claim to the hart, but it has contexts that are ready, and the guest
// has nothing.
bool is_wanted_elsewhere(const Stream& stream) {
    return stream.role.guest != nullptr &&
           (stream.role.guest->root.guest_phase.load() != hart::Root::GuestPhase::held ||
            stream.role.guest->root.contended.load() || stream.of->base.lacks());
}

// The kernel likes to bring a woken OS thread to its waker's processor, so the thread that is to
// answer may wait for the one that looks for the answer. The runtime's own streams share harts so
// that they do not meet; guests' threads wake each other all the time.
void share_processor(const Stream& stream) {
    if (stream.role.guest != nullptr) os::thread_yield();
}

namespace {

// Looks for work for a while before the stream sleeps, when harts are to spare. True: there is
// some, in `next_unit`, or a request to the stream is pending.
bool look_around(Stream& stream, std::uint64_t begin_ns) {
    Jobs& jobs = stream.of->jobs;
    const std::uint64_t spin_ns = stream.of->settings.values.spin_ns;
    // a carrier that looks has no hart for it
    const std::size_t most = hart::limit() - (stream.only_carries() && stream.role.guest == nullptr ? 1 : 0);
    if (spin_ns <= 1 || stream.sched->sleeps_at_once() || stream.of->base.granted() > most ||
        is_wanted_elsewhere(stream))
        return false;
    const Search search(jobs);
    std::uint64_t now_ns;
    do {
        request_steals(stream, false);
        sched::request_steals(*stream.sched, &stream, stream.sleep.watches);
        for (int i = 0; i < 32; ++i) arch::pause();
        share_processor(stream);
        if (has_pending_attention(stream)) return true;
        if (stream.asked(std::memory_order_relaxed).has(attention::aside)) return false;   // relaxed: a hint
        stream.next_unit = pick(stream);
        if (stream.next_unit == nullptr) stream.next_unit = take_job(stream);
        if (stream.next_unit != nullptr) return true;
        if (!stream.sched->stateless() && !sched::quiet(*stream.sched)) return true;   // it picks for itself
        if (is_wanted_elsewhere(stream) || stream.of->base.granted() > most) return false;
        now_ns = os::now_ns();
    } while (now_ns - begin_ns < spin_ns && now_ns < stream.heap->timers.earliest());
    return false;
}

void stop_watching(Stream& stream) {
    if (std::exchange(stream.sleep.watches, false)) sched::stop_watching(*stream.sched, &stream);
}

// How long the stream may sleep for the sake of the pools that it watches.
std::uint64_t until_it_looks(Stream& stream) {
    const std::uint64_t at_ns = sched::keep_watching(*stream.sched, &stream, stream.sleep.watches);
    if (at_ns == os::forever) return os::forever;
    const std::uint64_t now_ns = os::now_ns();
    return at_ns - std::min(at_ns, now_ns);
}

// hart/README.md, "Going to sleep and being woken": the numbers are the steps there. True: nothing
// has come, and the stream is to look at what it watches.
bool sleep(Stream& stream) {
    Sched& by = *stream.sched;
    if (by.pools[0]->kind == WEFT_POOL_DEQUE) os::prepare_process_barrier();   // once; the stream has the time
    stream.sleep.sleeper.prepare();                                            // 1
    for (std::size_t i = 0; i < by.count; ++i) by.pools[i]->idle_list.add(by.places[i]);   // 2
    const bool barrier = sched::request_steals(by, &stream, stream.sleep.watches);
    if (stream.own != nullptr) stream.own->idle_list.add(stream.sleep.own_place);
    Jobs& jobs = stream.of->jobs;
    if (!stream.only_carries()) jobs.idle_list.add(stream.sleep.jobs_place);
    request_steals(stream, true);   // a stream that forks from now on publishes it, and wakes us
    if (barrier) os::process_barrier();
    probe(Probe::sleep_before_recheck);
    bool claimed = false, watched = false;
    stream.next_unit = pick(stream);   // 3
    if (stream.next_unit == nullptr) stream.next_unit = take_job(stream, true);
    const bool nothing = stream.next_unit == nullptr && !has_pending_attention(stream) && sched::quiet_after_all(by) &&
                         (stream.own == nullptr || pool::quiet(*stream.own));
    if (nothing) {
        probe(Probe::sleep_before_wait);
        stream.counters.add(trace::Count::slept);
        give_hart_back(stream);
        trace_sleep(stream, trace::Event::sleep);
        const std::uint64_t look_ns = until_it_looks(stream);
        const std::uint64_t limit_ns = std::min(sleep_limit(stream), look_ns);
        const std::uint64_t watch_ns = limit_ns == os::forever ? idle_hooks.begin_watch(stream) : os::forever;
        claimed = stream.sleep.sleeper.wait(std::min(limit_ns, watch_ns));   // 4b
        watched = !claimed && limit_ns == look_ns && look_ns != os::forever;
        if (watch_ns != os::forever) idle_hooks.end_watch(stream, claimed);
        trace_sleep(stream, trace::Event::wake);
        slept(stream);
        hold_hart(stream);
    } else {
        claimed = stream.sleep.sleeper.cancel();   // 4a
    }
    for (std::size_t i = 0; i < by.count; ++i) by.pools[i]->idle_list.remove(by.places[i]);   // 5
    if (stream.own != nullptr) stream.own->idle_list.remove(stream.sleep.own_place);
    if (!stream.only_carries()) jobs.idle_list.remove(stream.sleep.jobs_place);
    if (!claimed) return watched && !has_pending_attention(stream);
    if (stream.next_unit == nullptr) stream.next_unit = pick(stream);
    if (stream.next_unit == nullptr) stream.next_unit = take_job(stream, true);
    if (jobs.any()) jobs.idle_list.wake_one();   // 6
    // A stateful scheduler picks for itself, and it is unknown from which pool: when it has
    // several, this stream wakes a sleeper of each pool that is not quiet.
    const bool owes = stream.next_unit != nullptr || (!by.stateless() && by.count > 1);
    if (!owes) return false;
    for (std::size_t i = 0; i < by.count; ++i) {   // 6
        if (!pool::quiet(*by.pools[i])) by.pools[i]->idle_list.wake_one();
    }
    return false;
}

}   // namespace

// The stream may have come to a domain meanwhile, whose scheduler is shared with other streams:
// that scheduler steals nothing, and is only read.
void note_stolen(Stream& stream) {
    if (stream.sched->stolen != 0) stream.counters.add(trace::Count::stolen, std::exchange(stream.sched->stolen, 0));
}

void idle(Stream& stream) {
    const std::uint64_t begin_ns = os::now_ns();
    end_starving(stream);
    if (stream.of->zero_waits.load() && !idle_hooks.start_zero_again(*stream.of))
        stream.of->streams[0]->heap->timers.move_to(stream.heap->timers);
    stream.units->flush();
    stream.heap->extras->flush();
    // units have called each other, and many at once
    if (stream.spare != nullptr && stream.spare->next != nullptr) give_spares(stream);
    if (!do_idle_housekeeping(stream) && !look_around(stream, begin_ns)) {
        if (stream.role.guest != nullptr) stop_watching(stream);   // it may leave
        if (stream.role.guest == nullptr || !idle_hooks.lend_out(stream)) {
            while (sleep(stream)) continue;
        }
    }
    stop_watching(stream);
    stream.counters.add(trace::Count::idle_ns, os::now_ns() - begin_ns);
    note_stolen(stream);
}

}   // namespace weft
