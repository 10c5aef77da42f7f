#include "stream/stream.hpp"

#include <algorithm>
#include <utility>

#include "hart/quota.hpp"
#include "os/clock.hpp"
#include "os/thread.hpp"
#include "stream/begin.hpp"
#include "stream/carriers.hpp"
#include "stream/deadlock.hpp"
#include "stream/domain.hpp"
#include "stream/duties.hpp"
#include "stream/guest.hpp"
#include "stream/lending.hpp"
#include "stream/level.hpp"
#include "stream/observe.hpp"
#include "stream/process.hpp"
#include "stream/shortage.hpp"
#include "stream/streams.hpp"

namespace weft {

void hold_hart(Stream& stream) {
    if (stream.only_carries() || stream.domain != nullptr) return;   // the domain has it
    if (!std::exchange(stream.holds_hart, true)) process().base.take(process().streams_root, 1);
}

void give_hart_back(Stream& stream) {
    if (std::exchange(stream.holds_hart, false)) process().base.put(process().streams_root, -1);
}

// One that sleeps has no hart to lend.
std::uint32_t mail_of(const Stream& stream) { return stream.attention.load() & ~(attention::leisurely | attention::aside); }

bool has_mail(const Stream& stream) {
    // What the main scheduler's own loop must see to, while it waits for something, is nothing that the loop beneath it could do.
    const std::uint32_t not_ours = stream.main_runs && stream.depth == 0 ? attention::stop | attention::replace : 0;
    return (mail_of(stream) & ~not_ours) != 0;
}

// A guest's thread has no hart to look on, or somebody else wants it. A domain that could use more than its share has no claim to the hart, but it has contexts that are ready,
// and the guest has nothing.
bool is_wanted_elsewhere(const Stream& stream) {
    return stream.guest != nullptr && (stream.guest->root.keeps.load() != hart::Root::Keeps::held || stream.guest->root.lacked.load() || process().base.lacks());
}

// The kernel likes to bring an OS thread that is woken to its waker's processor, and so whoever is to answer may wait for the one that looks for the answer. Streams of
// the runtime's own share harts so that they do not meet; guests' threads wake each other all the time.
void share_processor(const Stream& stream) {
    if (stream.guest != nullptr) os::thread_yield();
}

namespace {

// Looks for work for a while before it sleeps, when harts are to spare. True: there is some, in `handed`, or the stream
// is wanted.
bool look_around(Stream& stream, std::uint64_t begin_ns) {
    Jobs& jobs = process().jobs;
    const std::uint64_t spin_ns = process().settings.values.spin_ns;
    const std::size_t most = hart::limit() - (stream.only_carries() && stream.guest == nullptr ? 1 : 0);   // a carrier that looks has no hart for it
    if (spin_ns <= 1 || stream.sched->sleeps_at_once() || process().base.granted() > most || is_wanted_elsewhere(stream)) return false;
    const Search search(jobs);
    std::uint64_t now_ns;
    do {
        ask_for_jobs(stream, false);
        for (int i = 0; i < 32; ++i) arch::pause();
        share_processor(stream);
        if (has_mail(stream)) return true;
        if ((stream.attention.load(std::memory_order_relaxed) & attention::aside) != 0) return false;   // relaxed: a hint
        stream.handed = pick(stream);
        if (stream.handed == nullptr) stream.handed = take_job(stream);
        if (stream.handed != nullptr) return true;
        if (!stream.sched->stateless() && !sched::quiet(*stream.sched)) return true;   // it picks for itself
        if (is_wanted_elsewhere(stream) || process().base.granted() > most) return false;
        now_ns = os::now_ns();
    } while (now_ns - begin_ns < spin_ns && now_ns < stream.heap->timers.earliest());
    return false;
}

// hart/README.md, "Going to sleep and being woken": the numbers are its steps.
void sleep(Stream& stream) {
    Sched& by = *stream.sched;
    stream.sleeper.prepare();                                                        // 1
    for (std::size_t i = 0; i < by.count; ++i) by.pools[i]->bell.add(by.places[i]);  // 2
    if (stream.own != nullptr) stream.own->bell.add(stream.own_place);
    Jobs& jobs = process().jobs;
    if (!stream.only_carries()) jobs.bell.add(stream.jobs_place);
    ask_for_jobs(stream, true);   // who forks from now on shows it, and rings
    probe(Probe::sleep_before_recheck);
    bool claimed = false;
    stream.handed = pick(stream);                                                    // 3
    if (stream.handed == nullptr) stream.handed = take_job(stream);
    const bool nothing = stream.handed == nullptr && !has_mail(stream) && sched::quiet(by) &&
                         (stream.own == nullptr || pool::quiet(*stream.own));
    if (nothing) {
        probe(Probe::sleep_before_wait);
        stream.counters.add(trace::Count::slept);
        give_hart_back(stream);
        trace_sleep(stream, trace::Event::sleep);
        const std::uint64_t limit_ns = sleep_limit(stream);
        const std::uint64_t watch_ns = limit_ns == os::forever ? begin_watch(stream) : os::forever;
        claimed = stream.sleeper.wait(std::min(limit_ns, watch_ns));                 // 4b
        if (watch_ns != os::forever) end_watch(stream, claimed);
        trace_sleep(stream, trace::Event::wake);
        slept(stream);
        hold_hart(stream);
    } else {
        claimed = stream.sleeper.cancel();                                           // 4a
    }
    for (std::size_t i = 0; i < by.count; ++i) by.pools[i]->bell.remove(by.places[i]);   // 5
    if (stream.own != nullptr) stream.own->bell.remove(stream.own_place);
    if (!stream.only_carries()) jobs.bell.remove(stream.jobs_place);
    if (!claimed) return;
    if (stream.handed == nullptr) stream.handed = pick(stream);
    if (stream.handed == nullptr) stream.handed = take_job(stream);
    if (jobs.any()) jobs.bell.ring();                                                // 6
    // A stateful scheduler picks for itself, and from which pool it does nobody knows: when there are several it pays
    // for all of them.
    const bool owes = stream.handed != nullptr || (!by.stateless() && by.count > 1);
    if (!owes) return;
    for (std::size_t i = 0; i < by.count; ++i) {                                     // 6
        if (!pool::quiet(*by.pools[i])) by.pools[i]->bell.ring();
    }
}

}  // namespace

Unit* pick(Stream& stream) {
    if (stream.own == nullptr) [[likely]] return sched::pick(*stream.sched);
    // The primary unit waits in a pool of its own; it and the others take turns.
    stream.own_had_a_turn = !stream.own_had_a_turn;
    if (stream.own_had_a_turn) {
        if (Unit* unit = stream.own->pop()) return unit;
    }
    if (Unit* unit = sched::pick(*stream.sched)) return unit;
    return stream.own->pop();
}

void run_handed(Stream& stream) {
    if (Unit* unit = std::exchange(stream.handed, nullptr)) run_unit(stream, unit);
}

void attend(Stream& stream) {
    // acquire: pairs with the release half of ask(): what the asker wrote before is seen.
    std::uint32_t bits = stream.attention.load(std::memory_order_acquire);
    if ((bits & attention::exit) != 0) {
        give_hart_back(stream);
        for (;;) os::futex_wait(stream.attention, stream.attention.load());
    }
    while ((bits & attention::pause) != 0) {
        give_hart_back(stream);
        trace_sleep(stream, trace::Event::sleep);
        os::futex_wait(stream.attention, bits);
        trace_sleep(stream, trace::Event::wake);
        bits = stream.attention.load(std::memory_order_acquire);   // acquire: as above
        if ((bits & attention::exit) != 0) return attend(stream);
    }
    hold_hart(stream);
    if ((bits & attention::aside) != 0) {
        if (!step_aside(stream)) return attend_to_domains(stream);
        return attend(stream);   // to what has come meanwhile
    }
    if ((bits & attention::adopt) != 0) adopt_bound_pool(stream);
    if ((bits & attention::observed) != 0) {
        unask(stream, attention::observed);
        note_observed(stream);
    }
    stream.heeded = bits | (stream.heeded & attention::unwatched);
    if ((bits & ~(attention::timing | attention::observing | attention::observed)) != 0) do_duties(stream, bits);
    if ((bits & attention::lent) != 0) attend_to_domains(stream);
}

namespace {

// The stream may have come to a domain meanwhile, whose scheduler is that of other streams too: it steals nothing, and is only read.
void note_stolen(Stream& stream) {
    if (stream.sched->stolen != 0) stream.counters.add(trace::Count::stolen, std::exchange(stream.sched->stolen, 0));
}

}  // namespace

void idle(Stream& stream) {
    const std::uint64_t begin_ns = os::now_ns();
    end_starving(stream);
    if (process().zero_waits.load() && !start_zero_again(process())) process().streams[0]->heap->timers.move_to(stream.heap->timers);
    stream.units->flush();
    stream.heap->extras->flush();
    if (stream.spare != nullptr && stream.spare->next != nullptr) give_spares(stream);   // units have called each other, and many at once
    if (!do_idle_duties(stream) && !look_around(stream, begin_ns) && !(stream.guest != nullptr && lend_out(stream))) sleep(stream);
    stream.counters.add(trace::Count::idle_ns, os::now_ns() - begin_ns);
    note_stolen(stream);
}

// Units that have bound themselves for a while go on on it alone. At the runtime's end those that wait by then never go on.
bool expects_bound(const Stream& stream) { return stream.staying != 0 && !process().running_out.load(); }

bool should_stop(Stream& stream) {
    const std::uint32_t bits = stream.attention.load();
    if ((bits & attention::stop) == 0 || stream.main_runs) return false;
    // What came before the stop, after the last look: a pool with bound units, a call.
    if ((bits & (attention::adopt | attention::posted)) != 0) return false;
    if (has_kept(stream) || expects_bound(stream)) return false;
    return stream.handed == nullptr && sched::quiet(*stream.sched) &&
           (stream.own == nullptr || pool::quiet(*stream.own)) && (!stream.carries || leave_carriers(stream));
}

void ask(Stream& stream, std::uint32_t bits) {
    // One that is paused sleeps on the word itself.
    if ((stream.attention.fetch_or(bits) & attention::pause) != 0) os::futex_wake(stream.attention, 1);
    stream.sleeper.wake();
}

void wait_for_wakers(const Stream& stream) {
    while (stream.wakers.load() != 0) os::thread_yield();
}

void unask(Stream& stream, std::uint32_t bits) {
    if ((stream.attention.fetch_and(~bits) & attention::pause) != 0) os::futex_wake(stream.attention, 1);
}

namespace {

// The time since the last look at the clock was a unit's.
void end_of_units_time(Stream& stream) {
    const std::uint64_t now = os::now_ns();
    stream.counters.add(trace::Count::units_ns, now - stream.clock_ns);
    stream.clock_ns = now;
    stream.times_unit = false;
}

// run_unit after the timers are seen to, and with the clock read around it (WEFT_TIMING=on), on a stream that is observed or not.
void run_with_care(Stream& stream, Unit* unit) {
    if ((stream.heeded & attention::unwatched) != 0) have_timers_watched(stream);
    // Of one that was stolen: from where. Of a scheduler that is not observed it is of no interest, and may be of long ago.
    const Pool* const from = std::exchange(stream.sched->stolen_from, nullptr);
    if (from != nullptr && unit->marked(Unit::observed)) trace_steal(stream, *unit, *from);
    if ((stream.heeded & attention::timing) == 0) return run_unit(stream, unit);
    const std::uint64_t before = os::now_ns();
    stream.counters.add(trace::Count::scheduling_ns, before - stream.clock_ns);
    stream.clock_ns = before;
    stream.times_unit = true;
    run_unit(stream, unit);
    end_of_units_time(stream);
}

// Until the stream is asked to stop and has nothing left (true), or gets another main scheduler (false).
bool run_units(Stream& stream) {
    for (;;) {
        if (stream.wanted()) [[unlikely]] {
            attend(stream);
            // A unit that another has left for by its name runs first: its pool may be one that nobody draws from.
            const bool leaves = stream.handed == nullptr && !stream.main_runs;
            if (leaves && (stream.heeded & attention::replace) != 0) return false;
            if (leaves && (stream.heeded & attention::abandon) != 0) return true;
        }
        Unit* unit = std::exchange(stream.handed, nullptr);
        if (unit == nullptr) unit = pick(stream);
        if (unit != nullptr) {
            if ((stream.heeded & (attention::timing | attention::unwatched | attention::observing)) != 0) [[unlikely]] {
                run_with_care(stream, unit);
            } else {
                run_unit(stream, unit, Row::yes);
            }
            continue;
        }
        if (should_stop(stream)) return true;
        stream.handed = take_job(stream);
        if (stream.handed != nullptr) continue;
        idle(stream);
        stream.clock_ns = os::now_ns();
    }
}

}  // namespace

void scheduler_main(void (*call)(void*), void* argument) {
    context::arrive({call, argument});
    Stream& stream = current();
    hold_hart(stream);
    if (stream.times_unit) {
        end_of_units_time(stream);   // of one that has taken the scheduler's place with it
    } else {
        stream.clock_ns = os::now_ns();
    }
    while (!run_units(stream)) replace_main(stream);
    note_stolen(stream);
    give_hart_back(stream);
    if (stream.carrier_context == nullptr) fatal("stream 0 was asked to stop: it ends by weft_finalize");
    context::abandon({stream.carrier_context, &stream.carrier_stack}, {nullptr, nullptr});
}

}  // namespace weft
