// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/run.hpp"

#include <algorithm>
#include <utility>

#include "core/attention.hpp"
#include "core/call.hpp"
#include "core/finish.hpp"
#include "core/idle.hpp"
#include "core/jobs.hpp"
#include "core/postpone.hpp"
#include "core/requests.hpp"
#include "core/start.hpp"
#include "local/locals.hpp"
#include "observe/observe.hpp"
#include "os/clock.hpp"
#include "os/thread.hpp"
#include "process/hooks.hpp"
#include "process/housekeeping.hpp"
#include "process/process.hpp"
#include "process/way.hpp"

namespace weft {
namespace {

// ---- light units --------------------------------------------------------------------------------

// A unit that has a pending request, or is observed, is about to be called. False: it has ended, or
// gone elsewhere.
[[gnu::noinline]] bool begins_slow(Stream& stream, Unit& unit) {
    if (!picked_starts(stream, unit)) return false;
    unit.life.move(State::ready, State::running);
    stream.running = &unit;
    if (unit.marked(Unit::observed)) observe(trace::Event::start, unit);
    return true;
}

[[gnu::always_inline]] inline bool begins(Stream& stream, Unit& unit) {
    if (unit.marked(Unit::at_start)) [[unlikely]]
        return begins_slow(stream, unit);
    unit.life.move(State::ready, State::running);
    stream.running = &unit;
    return true;
}

// On the stack that the unit stands on. Returns when the unit has not suspended, and so has no
// context to continue from.
[[gnu::always_inline]] inline void call_body(Stream& stream, Unit& unit) {
    *stream.errno_address = 0;
    run_body(unit);
    if (!unit.is_light()) [[unlikely]]
        end_promoted();
    if (!unit.marked(Unit::extras)) [[likely]]
        return;
    end_locals(unit);   // may suspend
    if (!unit.is_light()) end_promoted();
}

// A unit that was called has returned, and has not suspended.
[[gnu::always_inline]] inline void end_light(Stream& stream, Unit& unit) {
    if (unit.jobs_or_marked(Unit::observed)) [[unlikely]]
        return end_returned_slow(stream, unit);
    stream.running = nullptr;
    end_unit(stream, unit);
}

// Units that begin alike and are next one after the other in the direct pool are called one after
// the other. Returns the next unit of such a row, taken out; or null, and the scheduler checks what
// is next.
template <class Alike>
[[gnu::always_inline]] inline Unit* next_of_row(Stream& stream, Row row, Alike alike) {
    PrivatePool* const direct = stream.direct;
    if (row == Row::no || direct == nullptr || stream.wanted()) [[unlikely]]
        return nullptr;
    Unit* const next = direct->ready.front();
    if (next == nullptr || next->context != nullptr || !alike(*next) || !direct->inbox.empty()) return nullptr;
    direct->take_front(next);
    return next;
}

bool is_called_here(const Stream& stream, const Unit& unit) {
    return unit.kind == Kind::tasklet ? !unit.has(Unit::internal)
                                      : unit.kind == Kind::sc && stream.restartable && stream.reserve != nullptr;
}

// Tasklets and SC: called on the scheduler's stack.
[[gnu::noinline]] void run_here(Stream& stream, Unit* unit, Row row) {
    do {
        if (!begins(stream, *unit)) continue;
        call_body(stream, *unit);
        end_light(stream, *unit);
    } while ((unit = next_of_row(stream, row, [&](const Unit& next) { return is_called_here(stream, next); })));
}

std::uintptr_t apart_main(void* raw) {
    call_body(current(), *static_cast<Unit*>(raw));
    return arch::Called::resumed + 1;   // its caller need not tell
}

// SS: called on a stack of its own. If it suspends, the scheduler's run that called it is lost.
[[gnu::noinline]] void run_apart(Stream& stream, Unit* unit, mem::Stack* stack, Row row) {
    do {
        if (!begins(stream, *unit)) continue;
        unit->stack = stack;
        stream.sched_context.context = nullptr;   // the unit has the scheduler's place: promote()
        arch::call_light(stack->top, apart_main, unit);
        end_light(stream, *unit);
    } while ((unit = next_of_row(stream, row,
                                 [](const Unit& next) { return next.kind == Kind::ss && next.has(Unit::plain); })));
    give_stack(stream, stack);
}

// RoC: called on a stack of its own as well, but the scheduler's run that called it is kept, and
// continues either way.
[[gnu::noinline]] void run_returning(Stream& stream, Unit* unit, mem::Stack* stack, Row row) {
    do {
        if (!begins(stream, *unit)) continue;
        unit->stack = stack;
        if (stream.direct != nullptr) stream.inline_pool = stream.direct;
        arch::call(&stream.sched_context.context, stack->top, apart_main, unit, 0);
        if (stream.running != unit) return;   // it has suspended, and may be gone: another unit has come back here
        stream.inline_pool = &Stream::no_pool;
        end_light(stream, *unit);
    } while ((unit = next_of_row(stream, row,
                                 [](const Unit& next) { return next.kind == Kind::roc && next.has(Unit::plain); })));
    give_stack(stream, stack);
}

// A default stack that needs no check of its end; null: none can be had, or the unit wants another,
// or no unit is called here.
mem::Stack* stack_to_call(Stream& stream, const Unit& unit) {
    return context::may_call && unit.has(Unit::plain) && has_spare(stream) ? stream.take_spare() : nullptr;
}

// Takes another stack for the scheduler, before a unit that may keep the current one.
[[gnu::noinline]] bool take_reserve(Stream& stream) {
    stream.reserve = stream.heap->stacks.take(process().settings.values.scheduler_stack_bytes);
    return stream.reserve != nullptr;
}

// False: the unit is begun like one with a stack of its own.
bool begins_called(Stream& stream, Unit& unit, Row row) {
    if (unit.kind == Kind::sc) {
        if (!stream.restartable || (stream.reserve == nullptr && !take_reserve(stream))) return false;
        stack_was_found(stream);
        // the unit has the scheduler's place: promote(); and no unit is called below what was there
        stream.sched_context.context = nullptr;
        run_here(stream, &unit, row);
        return true;
    }
    if (unit.kind == Kind::ss && !stream.restartable) return false;
    mem::Stack* const stack = stack_to_call(stream, unit);
    if (stack == nullptr) return false;
    stack_was_found(stream);
    if (unit.kind == Kind::ss) {
        run_apart(stream, &unit, stack, row);
    } else {
        run_returning(stream, &unit, stack, row);
    }
    return true;
}

// ---- the other units ----------------------------------------------------------------------------

// Starts or continues a ULT and returns when it has left. noinline: see arch/x86_64/context.hpp.
[[gnu::noinline]] void switch_to(Stream& stream, Unit& unit, void* context) {
    stack_was_found(stream);
    unit.life.move(State::ready, State::running);
    stream.running = &unit;
    if (stream.direct != nullptr) stream.inline_pool = stream.direct;
    context::leave(&stream.sched_context.context, {context, unit.stack}, {nullptr, nullptr});
}

}   // namespace

void run_unit(Stream& stream, Unit* unit, Row row) {
    if (unit->context != nullptr) return switch_to(stream, *unit, unit->context);
    if (unit->kind == Kind::tasklet) {
        if (!unit->has(Unit::internal)) return run_here(stream, unit, row);
        return unit->body(unit->argument);   // a remote call: gone after this
    }
    if (unit->is_light() && begins_called(stream, *unit, row)) return;
    void* context = detail::begin(stream, *unit);
    if (context == nullptr) [[unlikely]]
        return postpone(stream, *unit);
    switch_to(stream, *unit, context);
}

void run_next_unit(Stream& stream) {
    if (Unit* unit = std::exchange(stream.next_unit, nullptr)) run_unit(stream, unit);
}

// Units that have bound themselves for a while continue on this stream alone. Units that still wait
// when the runtime ends never continue.
bool expects_bound(const Stream& stream) { return stream.loop.staying != 0 && !process().running_out.load(); }

namespace {

// Whether only this stream draws from the pool: its scheduler and the stream itself.
bool drawn_by_one(const Pool& pool) { return pool.drawers.load() <= Pool::of_one_stream; }

struct Returning {
    const Unit* asks;
    const Sched& to;
    bool found = false;
};

// A unit may be spawned or end on another thread meanwhile: hidden from the thread sanitizer, like
// list.cpp's snapshot, and its fields are read by hand, since the sanitizer sees what has() and
// lambdas read.
[[gnu::no_sanitize_thread]] void look_whether_it_returns(void* object, void* raw) {
    const auto& unit = *static_cast<const Unit*>(object);
    auto& search = *static_cast<Returning*>(raw);
    const State now = unit.life.now();
    // While it waits for the end of its domain its pool is that domain's, except for the moment
    // before it is made ready.
    const bool returns =
        now == State::ready || now == State::running || (now == State::waiting && unit.waits == Waits::domain);
    if (!returns || &unit == search.asks || (unit.flags.word & Unit::scheduler.word) != 0) return;
    const Pool* const now_in = unit.pool;
    const Sched& by = search.to;
    search.found |= std::any_of(by.pools, by.pools + by.count,
                                [now_in](const Pool* pool) { return pool == now_in && drawn_by_one(*pool); });
}

}   // namespace

bool expects_lent(const Sched& by) {
    const bool out = std::any_of(by.pools, by.pools + by.count, [](const Pool* pool) {
        const std::uint32_t back = pool->came_back.load();   // first: a unit back in between is still expected
        return back != pool->lent.load() && drawn_by_one(*pool);
    });
    return out && !process().running_out.load();
}

// Rare: searches all units.
bool one_returns(const Stream& stream, const Sched& by) {
    if (std::none_of(by.pools, by.pools + by.count, [](const Pool* pool) { return pool->lent.load() != 0; }))
        return false;
    Returning search{stream.running, by};
    process().descriptors.each(look_whether_it_returns, &search);
    return search.found;
}

// ---- the loop -----------------------------------------------------------------------------------

namespace {

// Whether the stream was asked to stop and nothing waits for it: then it stops.
bool should_stop(Stream& stream) {
    const Attention bits = stream.asked();
    if (!bits.has(attention::stop) || stream.levels.main_runs) return false;
    // Requests that came before the stop, after the last check: a pool with bound units, a call.
    if (bits.has(attention::adopt | attention::posted)) return false;
    if (loop_hooks.has_kept(stream) || expects_bound(stream) || expects_lent(*stream.sched)) return false;
    return stream.next_unit == nullptr && sched::quiet(*stream.sched) &&
           (stream.own == nullptr || pool::quiet(*stream.own)) &&
           (!stream.role.hidden || loop_hooks.leave_carriers(stream));
}

// The time since the clock was last read was a unit's.
void end_of_units_time(Stream& stream) {
    const std::uint64_t now = os::now_ns();
    stream.counters.add(trace::Count::units_ns, now - stream.loop.clock_ns);
    stream.loop.clock_ns = now;
    stream.loop.times_unit = false;
}

// run_unit() after the timers are seen to, and with the clock read around it (WEFT_TIMING=on), on a
// stream that is observed or not.
void run_slow(Stream& stream, Unit* unit) {
    if (stream.loop.attended.has(attention::unwatched)) have_timers_watched(stream);
    // For a unit that was stolen: the pool it was stolen from. For a scheduler that is not observed
    // this does not matter, and may be long out of date.
    const Pool* const from = std::exchange(stream.sched->stolen_from, nullptr);
    if (from != nullptr && unit->marked(Unit::observed)) trace_steal(stream, *unit, *from);
    if (!stream.loop.attended.has(attention::timing)) return run_unit(stream, unit);
    const std::uint64_t before = os::now_ns();
    stream.counters.add(trace::Count::scheduling_ns, before - stream.loop.clock_ns);
    stream.loop.clock_ns = before;
    stream.loop.times_unit = true;
    run_unit(stream, unit);
    end_of_units_time(stream);
}

// Runs until the stream is asked to stop and has nothing left (true), or gets another main
// scheduler (false).
bool run_units(Stream& stream) {
    for (;;) {
        if (stream.wanted()) [[unlikely]] {
            attend(stream);
            // A unit that another has left for by its name runs first: its pool may be one that no
            // stream draws from.
            const bool leaves = stream.next_unit == nullptr && !stream.levels.main_runs;
            if (leaves && stream.loop.attended.has(attention::replace)) return false;
            if (leaves && stream.loop.attended.has(attention::abandon)) return true;
        }
        Unit* unit = std::exchange(stream.next_unit, nullptr);
        if (unit == nullptr) unit = pick(stream);
        if (unit != nullptr) {
            if (stream.loop.attended.has(attention::timing | attention::unwatched | attention::observing))
                [[unlikely]] {
                run_slow(stream, unit);
            } else {
                run_unit(stream, unit, Row::yes);
            }
            continue;
        }
        if (should_stop(stream)) {
            if (!one_returns(stream, *stream.sched)) return true;
            os::thread_yield();
            continue;
        }
        stream.next_unit = take_job(stream);
        if (stream.next_unit != nullptr) continue;
        idle(stream);
        stream.loop.clock_ns = os::now_ns();
    }
}

}   // namespace

void scheduler_main(void (*call)(void*), void* argument) {
    context::arrive({call, argument});
    Stream& stream = current();
    hold_hart(stream);
    if (stream.loop.times_unit) {
        end_of_units_time(stream);   // of a unit that has taken the scheduler's place with it
    } else {
        stream.loop.clock_ns = os::now_ns();
    }
    while (!run_units(stream)) loop_hooks.replace_main(stream);
    note_stolen(stream);
    give_hart_back(stream);
    if (stream.carrier.context == nullptr) fatal("stream 0 was asked to stop: it ends by weft_finalize");
    context::abandon({stream.carrier.context, &stream.carrier.stack}, {nullptr, nullptr});
}

}   // namespace weft
