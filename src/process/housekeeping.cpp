// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/housekeeping.hpp"

#include <algorithm>
#include <mutex>

#include "os/clock.hpp"
#include "process/hooks.hpp"
#include "process/shortage_state.hpp"

namespace weft {
namespace {

bool nothing_ready(const Stream& stream) {
    return stream.next_unit == nullptr && sched::quiet(*stream.sched) &&
           (stream.own == nullptr || pool::quiet(*stream.own));
}

// Fires what is due. A stream that goes on to run units lets the reactor notify it when to check
// again; a stream that sleeps sees to it itself, unless it gets something to run before.
bool look_at_timers(Stream& stream) {
    Timers& timers = stream.heap->timers;
    if (timers.earliest() == Timers::never) return false;
    const bool fired = timers.expire(os::now_ns()) != 0;
    stream.loop.attended |= attention::unwatched;
    // With a scheduler above the stream's own loop it is unknown what runs next when that has
    // nothing.
    if (stream.levels.depth != 0 || !nothing_ready(stream)) have_timers_watched(stream);
    return fired;
}

bool run_pollers(Stream& stream) {
    Process& of = *stream.of;
    const bool done = of.pollers.run(&stream) != 0;
    if (of.pollers.live() == 0) note_pollers(of);   // the last one has removed itself
    return done;
}

// A unit that a callback spawns is not a context of the domain whose hart happens to be here, and
// does not go into the pool where carriers find the harts that are on their way.
class Callbacks {
public:
    explicit Callbacks(Stream& stream) : stream_(stream), standard_(stream.standard) {
        if (stream.role.hidden || stream.serving.domain != stream.serving.lender)
            stream.standard = &main_pool_of(stream);
    }
    Callbacks(const Callbacks&) = delete;
    ~Callbacks() { stream_.standard = standard_; }

private:
    Stream& stream_;
    Pool* const standard_;
};

// One idle stream at a time watches the pollers that have no descriptor.
bool on_watch(Process& of, const Stream& stream) { return of.watch.load() == &stream; }

void arm_descriptors(Process& of) {
    of.pollers.arm_all(
        [&](int descriptor, std::uint32_t events, std::uint32_t tag) { of.reactor.arm(descriptor, events, tag); });
}

}   // namespace

void have_timers_watched(Stream& stream) {
    stream.loop.attended = stream.loop.attended.without(attention::unwatched);
    const std::uint64_t next_ns = stream.heap->timers.earliest();
    if (next_ns >= stream.sleep.alarm_ns.load()) return;   // none, or the stream is notified before
    stream.sleep.alarm_ns.store(next_ns);
    if (stream.of->reactor.watch(next_ns)) return;
    // The reactor could not be started: the stream checks its timers itself at each switch, and
    // sets the bit again.
    stream.sleep.alarm_ns.store(Timers::never);
    stream.attention.fetch_or(attention::alarm.word);
}

void arm(Stream& stream, Timer& timer) {
    Timers& timers = stream.heap->timers;
    timers.add(timer);
    // The timer is the first to come due, and due sooner than the stream will be notified. (That
    // the reactor wakes for another stream does not help this one.) At the next switch the
    // scheduler sees whether it will sleep itself.
    if (timers.earliest() == timer.deadline_ns && stream.sleep.alarm_ns.load() > timer.deadline_ns) {
        stream.attention.fetch_or(attention::alarm.word);
    }
}

void arm_outside(Process& of, Timer& timer) {
    Stream& zero = *of.streams[0];
    zero.heap->timers.add(timer);
    if (zero.heap->timers.earliest() != timer.deadline_ns) return;
    // A busy stream 0 may not come to it: the reactor has rescue check then. A sleeping stream 0
    // sleeps until then.
    std::uint64_t alarm_ns = zero.sleep.asleep.load() ? 0 : zero.sleep.alarm_ns.load();
    while (timer.deadline_ns < alarm_ns && !zero.sleep.alarm_ns.compare_exchange_weak(alarm_ns, timer.deadline_ns)) {}
    // Where the reactor cannot be started, stream 0 sets the bit again, and checks its timers
    // itself at each switch (have_timers_watched).
    if (timer.deadline_ns < alarm_ns && !of.reactor.watch(timer.deadline_ns)) zero.sleep.alarm_ns.store(Timers::never);
    ask(zero, attention::alarm);
}

bool do_housekeeping(Stream& stream, Attention bits) {
    const Callbacks callbacks(stream);
    bool done = false;
    const Attention taken = bits & (attention::alarm | attention::posted | attention::poll);
    if (taken.any()) stream.attention.fetch_and(~taken.word);   // before the checks: what comes later sets it again
    if (bits.has(attention::posted)) done |= stream.posts.take_all() != 0;
    if (bits.has(attention::alarm)) done |= look_at_timers(stream);
    const bool polls = bits.has(attention::polling) && ++stream.loop.rounds >= rounds_between_polls;
    if (polls || bits.has(attention::poll)) {
        stream.loop.rounds = 0;
        done |= run_pollers(stream);
    }
    return done;
}

bool do_idle_housekeeping(Stream& stream) {
    const Callbacks callbacks(stream);
    bool done = stream.posts.take_all() != 0;
    done |= look_at_timers(stream);
    // relaxed: a hint
    if (stream.asked(std::memory_order_relaxed).has(attention::polling)) done |= run_pollers(stream);
    if (done) stream.loop.poll_sleep_ns = shortest_poll_sleep_ns;
    return done;
}

std::uint64_t sleep_limit(Stream& stream) {
    Process& of = *stream.of;
    std::uint64_t limit_ns = os::forever;
    const std::uint64_t next_ns = stream.heap->timers.earliest();
    if (next_ns != Timers::never) {
        const std::uint64_t now_ns = os::now_ns();
        limit_ns = next_ns > now_ns ? next_ns - now_ns : 0;
    }
    stream.sleep.alarm_ns.store(Timers::never);
    if (of.zero_waits.load()) limit_ns = std::min<std::uint64_t>(limit_ns, longest_poll_sleep_ns);   // another try
    // A stream that is to stop checks whether the units that belong to its pools have run: another
    // stream may have run the last.
    if (of.shortage.any()) limit_ns = std::min<std::uint64_t>(limit_ns, Shortage::longest_pause_ns);
    stream.loop.attended |= attention::unwatched;
    stream.sleep.asleep.store(true);
    if (of.pollers.live() == 0) return limit_ns;
    arm_descriptors(of);
    if (of.pollers.blind() == 0) return limit_ns;
    Stream* nobody = nullptr;
    if (!of.watch.compare_exchange_strong(nobody, &stream) && nobody != &stream) return limit_ns;
    const std::uint64_t sleep_ns = std::max(stream.loop.poll_sleep_ns, shortest_poll_sleep_ns);
    stream.loop.poll_sleep_ns = std::min(sleep_ns * 2, longest_poll_sleep_ns);
    return std::min(limit_ns, sleep_ns);
}

void slept(Stream& stream) {
    Process& of = *stream.of;
    stream.sleep.asleep.store(false);
    if (on_watch(of, stream)) of.watch.store(nullptr);
    if (stream.levels.depth != 0) have_timers_watched(stream);
    idle_hooks.stream_wakes(of);
}

bool post(Stream& stream, void (*call)(void*), void* argument) {
    if (!stream.posts.send(call, argument)) return false;
    ask(stream, attention::posted);
    return true;
}

void note_pollers(Process& of) {
    std::lock_guard guard(of.lock);
    const bool some = of.pollers.live() != 0;
    of.polling = some;
    for (std::size_t rank = 0; rank < of.ranks_used; ++rank) {
        Stream* stream = of.streams[rank];
        if (stream == nullptr) continue;
        if (some) {
            ask(*stream, attention::polling | attention::poll);
        } else {
            unask(*stream, attention::polling);
        }
    }
}

void hand_over_timers(Stream& stream) {
    Timers& timers = stream.heap->timers;
    if (timers.earliest() == Timers::never) return;
    Stream& zero = *stream.of->streams[0];
    timers.move_to(zero.heap->timers);
    ask(zero, attention::alarm);
}

}   // namespace weft
