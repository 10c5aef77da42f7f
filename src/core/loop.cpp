#include "core/loop.hpp"

#include <utility>

#include "core/begin.hpp"
#include "core/duties.hpp"
#include "core/idle.hpp"
#include "core/jobs.hpp"
#include "observe/observe.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "process/hooks.hpp"
#include "process/process.hpp"
#include "process/way.hpp"

namespace weft {

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
        if (!attention_hooks.step_aside(stream)) return attention_hooks.attend_to_domains(stream);
        return attend(stream);   // to what has come meanwhile
    }
    if ((bits & attention::adopt) != 0) adopt_bound_pool(stream);
    if ((bits & attention::observed) != 0) {
        unask(stream, attention::observed);
        note_observed(stream);
    }
    stream.heeded = bits | (stream.heeded & attention::unwatched);
    if ((bits & ~(attention::timing | attention::observing | attention::observed)) != 0) do_duties(stream, bits);
    if ((bits & attention::lent) != 0) attention_hooks.attend_to_domains(stream);
}

// Units that have bound themselves for a while go on on it alone. At the runtime's end those that wait by then never go on.
bool expects_bound(const Stream& stream) { return stream.staying != 0 && !process().running_out.load(); }

namespace {

// Whether the stream was asked to stop and nothing waits for it: it stops then.
bool should_stop(Stream& stream) {
    const std::uint32_t bits = stream.attention.load();
    if ((bits & attention::stop) == 0 || stream.main_runs) return false;
    // What came before the stop, after the last look: a pool with bound units, a call.
    if ((bits & (attention::adopt | attention::posted)) != 0) return false;
    if (attention_hooks.has_kept(stream) || expects_bound(stream)) return false;
    return stream.handed == nullptr && sched::quiet(*stream.sched) &&
           (stream.own == nullptr || pool::quiet(*stream.own)) && (!stream.carries || attention_hooks.leave_carriers(stream));
}

}  // namespace

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
    while (!run_units(stream)) attention_hooks.replace_main(stream);
    note_stolen(stream);
    give_hart_back(stream);
    if (stream.carrier_context == nullptr) fatal("stream 0 was asked to stop: it ends by weft_finalize");
    context::abandon({stream.carrier_context, &stream.carrier_stack}, {nullptr, nullptr});
}

}  // namespace weft
