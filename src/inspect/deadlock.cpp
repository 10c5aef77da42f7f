// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "inspect/deadlock.hpp"

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "inspect/dump.hpp"
#include "process/guest_state.hpp"
#include "process/outside_wait.hpp"
#include "process/process.hpp"
#include "process/way.hpp"

namespace weft {
namespace {

// Whether the stream sleeps until it is woken, and no thread has begun to wake it. relaxed where
// the value is a hint. The duties of a main scheduler's own loop count as well, unlike in
// has_pending_attention(): whether that loop waits is the stream's own data.
bool sleeps_for_good(const Stream& stream) {
    return stream.sleep.asleep.load() && stream.heap->timers.earliest() == Timers::never &&
           !pending_attention_of(stream).any();
}

// A program's OS thread that was a guest may do anything, like the program's other threads.
bool is_outside(const Stream& stream) { return stream.role.guest != nullptr && is_outside(*stream.role.guest); }

// Under the runtime's lock.
bool others_sleep(const Process& of, const Stream& self) {
    for (std::size_t rank = 0; rank < of.ranks_used; ++rank) {
        const Stream* const stream = of.streams[rank];
        if (stream != nullptr && stream != &self && !is_outside(*stream) && !sleeps_for_good(*stream)) return false;
    }
    return true;
}

bool others_are_asleep(const Process& of, const Stream& self) {
    for (std::size_t rank = 0; rank < of.ranks_used; ++rank) {
        const Stream* const stream = of.streams[rank];
        if (stream != nullptr && stream != &self && !is_outside(*stream) && !stream->sleep.sleeper.sleeps())
            return false;
    }
    return others_sleep(of, self);
}

// Whether there is a granted hart; harts that guests have left reclaimable do not count. Under the
// runtime's lock.
bool somebody_computes(const Process& of) {
    std::size_t reclaimable = 0;
    for (std::size_t rank = 0; rank < of.ranks_used; ++rank) {
        const Stream* const stream = of.streams[rank];
        if (stream != nullptr && stream->role.guest != nullptr &&
            stream->role.guest->root.guest_phase.load() == hart::Root::GuestPhase::reclaimable)
            ++reclaimable;
    }
    return of.base.granted() > reclaimable;
}

// The waits of the units.
struct Waiting {
    std::size_t units = 0;
    std::size_t calls = 0;   // calls that block, and will end
};

// Hidden from the thread sanitizer, like list.cpp's snapshot.
[[gnu::no_sanitize_thread]] void look_at(void* object, void* raw) {
    const auto& unit = *static_cast<const Unit*>(object);
    auto& found = *static_cast<Waiting*>(raw);
    const State now = unit.life.now();
    const Unit::Flags flags = unit.flags;   // here, and not in a function that the sanitizer sees
    if (shown(now) != State::suspended || flags.has(Unit::scheduler)) return;
    ++found.units;
    if (now == State::waiting && unit.waits == Waits::blocking) ++found.calls;
}

// The number of streams whose OS thread is not one that Weft has started, and sleeps here. Under
// the runtime's lock.
std::size_t borrowed_threads(const Process& of) {
    std::size_t count = 0;
    for (std::size_t rank = 0; rank < of.ranks_used; ++rank) {
        const Stream* const stream = of.streams[rank];
        if (stream != nullptr && !stream->carrier.starts_late && stream->carrier.thread.handle == 0 &&
            !is_outside(*stream))
            ++count;
    }
    return count;
}

// Whether there is, or may be, an OS thread of the program that may wake a stream.
bool somebody_outside(std::size_t borrowed) {
    const std::size_t all = os::thread_count();
    return all == 0 || all > os::threads_started() + borrowed + OutsideWait::count.load();
}

// Judges a check: whether it is to be reported.
bool judge(Quiet& quiet, const Waiting& waiting, bool outside) {
    if (waiting.calls != 0) {
        quiet.settled = true;   // the end of the call is another state
    } else if (outside) {
        quiet.found = 0;
        quiet.patience_ns *= 2;        // it may end, and nothing would report that
    } else if (++quiet.found == 2) {   // an OS thread on its way out of a wait has arrived by the second check
        quiet.settled = true;
        return true;
    }
    return false;
}

void report(Process& of, std::size_t units) {
    of.quiet.reports.fetch_add(1);
    char line[256];
    std::snprintf(line, sizeof line,
                  "weft: deadlock: all streams sleep, nothing is pending, no OS thread of the program's is outside of "
                  "Weft's waits, and %zu units wait "
                  "(WEFT_DEADLOCK=ignore: not looked for)\n",
                  units);
    dump_waiting(of, line);
    if (of.settings.values.deadlock == WEFT_DEADLOCK_ABORT) std::abort();
}

}   // namespace

std::uint64_t begin_watch(Stream& stream) {
    Process& of = *stream.of;
    if (of.settings.values.deadlock == WEFT_DEADLOCK_IGNORE || of.base.granted() > of.guests.load() ||
        of.pollers.live() != 0)
        return os::forever;
    std::lock_guard guard(of.lock);
    Quiet& quiet = of.quiet;
    if (quiet.watcher != nullptr || somebody_computes(of) || !others_sleep(of, stream)) return os::forever;
    const std::uint64_t runs = sum(of, trace::Count::run);
    if (runs != quiet.runs) {
        quiet.runs = runs;
        quiet.patience_ns = Quiet::shortest_ns;
        quiet.found = 0;
        quiet.settled = false;
    }
    if (quiet.settled) return os::forever;
    quiet.watcher = &stream;
    return quiet.patience_ns;
}

void look_anew(Process& of) {
    if (of.settings.values.deadlock == WEFT_DEADLOCK_IGNORE || of.base.granted() > of.guests.load()) return;
    // Any stream that sleeps and has an OS thread; one that is awake checks when it goes to sleep.
    std::lock_guard guard(of.lock);
    for (std::size_t rank = 0; rank < of.ranks_used; ++rank) {
        Stream* const stream = of.streams[rank];
        if (stream != nullptr && stream->carrier.thread_id.load() != 0 && stream->sleep.asleep.load())
            return ask(*stream, attention::alarm);
    }
}

void end_watch(Stream& stream, bool woken) {
    Process& of = *stream.of;
    Waiting waiting;
    if (!woken) each_descriptor(of, look_at, &waiting);
    {
        std::lock_guard guard(of.lock);
        Quiet& quiet = of.quiet;
        quiet.watcher = nullptr;
        if (woken || sum(of, trace::Count::run) != quiet.runs || !others_are_asleep(of, stream) ||
            of.pollers.live() != 0)
            return;
        if (!judge(quiet, waiting, somebody_outside(borrowed_threads(of)))) return;
    }
    report(of, waiting.units);
}

}   // namespace weft
