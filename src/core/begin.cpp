#include "core/begin.hpp"

#include <utility>

#include "core/call.hpp"
#include "core/jobs.hpp"
#include "core/join.hpp"
#include "core/requests.hpp"
#include "core/suspend.hpp"
#include "local/locals.hpp"
#include "local/own_float.hpp"
#include "observe/observe.hpp"
#include "process/hooks.hpp"
#include "process/process.hpp"
#include "process/shortage_state.hpp"

namespace weft {
namespace {

// ---- no stack ------------------------------------------------------------------------------------------

// Units that may yet give a stack back.
struct Holders {
    bool suspended;   // whether those count that wait until the program resumes them,
    bool waiting;     // and those that wait for anything else
    bool found = false;
};

// A unit may get or lose its stack under our eyes, elsewhere: hidden from the thread sanitizer, as list.cpp's snapshot.
[[gnu::no_sanitize_thread]] void look_for_holder(void* object, void* raw) {
    const auto& unit = *static_cast<const Unit*>(object);
    auto& holders = *static_cast<Holders*>(raw);
    if ((unit.flags & (Unit::primary | Unit::scheduler | Unit::user_stack)) != 0 || unit.stack == nullptr) return;
    switch (unit.life.now()) {
    case State::free:
    case State::done: return;
    case State::suspended: holders.found |= holders.suspended; return;
    case State::waiting: holders.found |= holders.waiting; return;
    case State::ready:
    case State::running: holders.found = true;
    }
}

// When the stream looks at all units whether one has a stack to give back: ever more rarely, so that a try costs no
// more where there are many units.
bool look_is_due(std::uint64_t tries) {
    constexpr std::uint64_t first = 16, at_most_apart = 1 << 16;
    return tries >= first && ((tries & (tries - 1)) == 0 || tries % at_most_apart == 0);
}

// Whether a unit that lives has a stack that it will give back. A scheduler may be waiting for the very units that have
// none, and so may one that yields and looks (weft_unit_try_join): those that it alone could resume count no more after
// a while. Nobody resumes any in weft_finalize.
bool stacks_may_come_free(Process& of, std::uint64_t tries) {
    constexpr std::uint64_t long_enough = 1 << 14;
    const bool ends = of.running_out.load();
    Holders holders{!ends && tries < long_enough, !ends};
    of.descriptors.each(look_for_holder, &holders);
    return holders.found;
}

// A hint: it may be detached at the next moment.
bool is_detached(const Unit& unit) { return unit.joint.announced().detached(); }

// Whoever joins the unit learns that it has not run.
void do_without(Stream& stream, Unit& unit, weft_status lacking) {
    if (is_detached(unit)) return unit_hooks.keep_for_stack(stream, unit);
    end_unrun(stream, unit, lacking);
}

// Nobody would give a stack back, neither for this unit nor for those that wait in its pool and were tried with it.
void give_up(Stream& stream, Unit& unit, weft_status lacking) {
    stream.condemned = pool::length(*unit.pool);
    stream.postponed = 0;
    stream.postponed_in_a_row = 0;
    do_without(stream, unit, lacking);
    stream.finished_then = stream.counters.read(trace::Count::finished);
}

// One of those, unless another unit has ended since.
bool is_condemned(Stream& stream) {
    if (stream.condemned == 0) return false;
    const bool nobody_ended = stream.counters.read(trace::Count::finished) == stream.finished_then;
    stream.condemned = nobody_ended ? stream.condemned - 1 : 0;
    return nobody_ended;
}

// No stack could be had. The unit waits for one to come free; when nothing runs any more that could free one, because
// all streams that hold a hart are in the same need, it ends with that status, or waits apart if nobody would learn of that. So it does when nobody has a stack to free: a unit
// that looks again and again for the end of this one would keep its stream from that need for ever. And so it does where another
// than this stream alone may put it back into its pool.
void postpone(Stream& stream, Unit& unit) {
    Process& of = process();
    const weft_status lacking = unit.kind == Kind::hosted ? WEFT_SYSTEM : WEFT_NO_MEMORY;
    if (of.shortage.any() && is_detached(unit)) return unit_hooks.keep_for_stack(stream, unit);   // behind those who wait there
    if (unit.pool->one_pushes() || (unit.kind == Kind::hosted && of.hosts.in_use() == 0)) return do_without(stream, unit, lacking);
    if (is_condemned(stream)) {
        do_without(stream, unit, lacking);
        stream.finished_then = stream.counters.read(trace::Count::finished);
        return;
    }
    stream.counters.add(trace::Count::postponed);
    const bool look = look_is_due(++stream.postponed);
    if (look && !stacks_may_come_free(of, stream.postponed)) return give_up(stream, unit, lacking);
    const bool all_tried = ++stream.postponed_in_a_row > pool::length(*unit.pool) + 1;
    if (all_tried && !std::exchange(stream.starving, true)) of.starving.fetch_add(1);
    const std::size_t granted = of.base.granted();
    if (all_tried && of.starving.load() >= granted) return give_up(stream, unit, lacking);
    if (granted > 1) os::thread_yield();
    pool::push(*unit.pool, &unit, pool::Place::last);
}

[[gnu::always_inline]] inline void stack_was_found(Stream& stream) {
    if (stream.postponed_in_a_row != 0 || stream.starving) [[unlikely]] end_starving(stream);
}

// ---- light ones ----------------------------------------------------------------------------------------

// A unit that was asked for something, or is observed, is about to be called. False: it has ended, or gone elsewhere.
[[gnu::noinline]] bool begins_carefully(Stream& stream, Unit& unit) {
    if (!picked_starts(stream, unit)) return false;
    unit.life.move(State::ready, State::running);
    stream.running = &unit;
    if (unit.marked(Unit::observed)) observe(trace::Event::start, unit);
    return true;
}

[[gnu::always_inline]] inline bool begins(Stream& stream, Unit& unit) {
    if (unit.marked(Unit::at_start)) [[unlikely]] return begins_carefully(stream, unit);
    unit.life.move(State::ready, State::running);
    stream.running = &unit;
    return true;
}

// On the stack that the unit stands on. Returns when the unit has not suspended, and so has nothing to go on from.
[[gnu::always_inline]] inline void call_body(Stream& stream, Unit& unit) {
    *stream.errno_address = 0;
    run_body(unit);
    if (!unit.is_light()) [[unlikely]] end_promoted();
    if (!unit.marked(Unit::extras)) [[likely]] return;
    end_locals(unit);   // which may suspend
    if (!unit.is_light()) end_promoted();
}

// Of one that is observed, or has forked.
[[gnu::noinline]] void end_carefully(Stream& stream, Unit& unit) {
    if (unit.has_jobs()) leave_jobs(stream, unit);
    stream.callable = &Stream::no_pool;   // the scheduler runs next
    if (unit.marked(Unit::observed)) observe(trace::Event::finish, unit);
    stream.running = nullptr;
    stream.counters.add(trace::Count::finished);
    end_unit_carefully(stream, unit);
}

// A unit that was called has returned, and has not suspended.
[[gnu::always_inline]] inline void end_light(Stream& stream, Unit& unit) {
    if (unit.jobs_or_marked(Unit::observed)) [[unlikely]] return end_carefully(stream, unit);
    stream.running = nullptr;
    stream.counters.add(trace::Count::finished);
    end_unit(stream, unit);
}

// Units that begin alike and are next one after the other in the direct pool are called one after the other: the next of such a row is
// taken out; or null, and the scheduler looks what is next.
template <class Alike>
[[gnu::always_inline]] inline Unit* next_of_row(Stream& stream, Row row, Alike alike) {
    PrivatePool* const direct = stream.direct;
    if (row == Row::no || direct == nullptr || stream.wanted()) [[unlikely]] return nullptr;
    Unit* const next = direct->ready.front();
    if (next == nullptr || next->context != nullptr || !alike(*next) || !direct->inbox.empty()) return nullptr;
    direct->take_front(next);
    return next;
}

bool is_called_here(const Stream& stream, const Unit& unit) {
    return unit.kind == Kind::tasklet ? !unit.has(Unit::internal) : unit.kind == Kind::sc && stream.restartable && stream.reserve != nullptr;
}

// Tasklets and SC: called on the scheduler's stack.
[[gnu::noinline]] void run_here(Stream& stream, Unit* unit, Row row) {
    do {
        if (!begins(stream, *unit)) continue;
        call_body(stream, *unit);
        end_light(stream, *unit);
    } while ((unit = next_of_row(stream, row, [&](const Unit& next) { return is_called_here(stream, next); })));
}

void apart_main(void* raw) { call_body(current(), *static_cast<Unit*>(raw)); }

// SS: called on a stack of its own. If it suspends, what has called it is lost.
[[gnu::noinline]] void run_apart(Stream& stream, Unit* unit, mem::Stack* stack, Row row) {
    do {
        if (!begins(stream, *unit)) continue;
        unit->stack = stack;
        stream.home.context = nullptr;   // the unit has the scheduler's place: promote()
        arch::call_light(stack->top, apart_main, unit);
        end_light(stream, *unit);
    } while ((unit = next_of_row(stream, row, [](const Unit& next) { return next.kind == Kind::ss && next.has(Unit::plain); })));
    give_stack(stream, stack);
}

// RoC: the same, but what has called it is kept, and goes on either way.
[[gnu::noinline]] void run_returning(Stream& stream, Unit* unit, mem::Stack* stack, Row row) {
    do {
        if (!begins(stream, *unit)) continue;
        unit->stack = stack;
        if (stream.direct != nullptr) stream.callable = stream.direct;
        arch::call(&stream.home.context, stack->top, apart_main, unit);
        if (stream.running != unit) return;   // it has suspended, and may be gone: somebody else has come home
        stream.callable = &Stream::no_pool;
        end_light(stream, *unit);
    } while ((unit = next_of_row(stream, row, [](const Unit& next) { return next.kind == Kind::roc && next.has(Unit::plain); })));
    give_stack(stream, stack);
}

// A default stack that needs no look at its end; null: none can be had, or the unit wants another, or nothing is called here.
mem::Stack* stack_to_call(Stream& stream, const Unit& unit) {
    return context::may_call && unit.has(Unit::plain) && has_spare(stream) ? stream.take_spare() : nullptr;
}

// Another stack for the scheduler, before a unit that may keep the one that it has.
[[gnu::noinline]] bool take_reserve(Stream& stream) {
    stream.reserve = stream.heap->stacks.take(process().settings.values.scheduler_stack_bytes);
    return stream.reserve != nullptr;
}

// False: the unit is begun as one with a stack of its own.
bool begins_called(Stream& stream, Unit& unit, Row row) {
    if (unit.kind == Kind::sc) {
        if (!stream.restartable || (stream.reserve == nullptr && !take_reserve(stream))) return false;
        stack_was_found(stream);
        stream.home.context = nullptr;   // the unit has the scheduler's place: promote(), and nobody is called below what was there
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

// ---- the others ----------------------------------------------------------------------------------------

// Starts or continues a ULT and returns when it has left. noinline: see arch/x86_64/context.hpp.
[[gnu::noinline]] void switch_to(Stream& stream, Unit& unit, void* context) {
    stack_was_found(stream);
    unit.life.move(State::ready, State::running);
    stream.running = &unit;
    if (stream.direct != nullptr) stream.callable = stream.direct;
    context::leave(&stream.home.context, {context, unit.stack}, {nullptr, nullptr});
}

}  // namespace

namespace {

// Of a unit that the scheduler has called.
void give_scheduler_back(Stream& stream, Unit& unit) {
    if (unit.stack == nullptr) {
        // SC: it keeps the scheduler's stack, with what has called it.
        unit.stack = stream.home.stack;
        stream.home = {nullptr, std::exchange(stream.reserve, nullptr)};
        if (unit.stack->guarded == mem::Guard::canary) {
            unit.mark(Unit::canary);
            unit.be_plain(false);
        }
    }
    if (stream.home.context != nullptr) return;
    // What has called it cannot go on: the scheduler begins anew.
    WEFT_ASSERT(stream.restartable);
    stream.home.context = arch::prepare(stream.home.stack->top, unit_hooks.scheduler_main);
    if (stream.direct == nullptr || is_in_own_float(unit) || (may_be_followed(unit) && is_followed(unit))) return;   // nobody is called in its place
    (unit.has_jobs() ? stream.callable_without_jobs : stream.callable) = stream.direct;
}

// The parent that has called a unit waits in its pool in earnest now.
void yield_parent(Stream& stream, Unit& parent) {
    stream.counters.add(trace::Count::yielded);
    if (parent.marked(Unit::canary)) check_canary(parent);
    if (parent.marked(Unit::observed)) observe(trace::Event::yield, parent);
    make_ready(&stream, parent, pool::Place::parent);
}

// The joiner that has called a unit waits for its end in earnest.
void suspend_joiner(Stream& stream, Unit& joiner) {
    stream.counters.add(trace::Count::suspended);
    if (joiner.marked(Unit::canary)) check_canary(joiner);
    if (joiner.marked(Unit::observed)) observe_wait(joiner, Waits::as_stated, joiner.waits_object);
}

}  // namespace

void promote(Stream& stream, Unit& unit) {
    // Who has called it may itself have been called.
    Unit* light = &unit;
    Unit* link = unit.link;
    for (;;) {
        const bool by_unit = (light->shape & Unit::called) != 0;
        Unit* const joiner = by_unit ? calling_joiner(*light) : nullptr;
        light->shape &= static_cast<std::uint8_t>(~(Unit::light | Unit::called));
        if (!by_unit) give_scheduler_back(stream, *light);
        if (begins_light(light->kind)) {
            stream.counters.add(trace::Count::promoted);
            if (light->marked(Unit::observed)) observe(trace::Event::promote, *light);
        }
        if (!by_unit) return;
        Unit& caller = joiner == nullptr ? *link : *joiner;
        link = caller.link;   // its own parent, if that has called it: before it is in a list
        if (joiner == nullptr) {
            yield_parent(stream, caller);
        } else {
            suspend_joiner(stream, caller);
        }
        if (!caller.is_light()) return;
        light = &caller;
    }
}

void end_starving(Stream& stream) {
    stream.postponed_in_a_row = 0;
    if (std::exchange(stream.starving, false)) process().starving.fetch_sub(1);
}

void run_unit(Stream& stream, Unit* unit, Row row) {
    if (unit->context != nullptr) return switch_to(stream, *unit, unit->context);
    if (unit->kind == Kind::tasklet) {
        if (!unit->has(Unit::internal)) return run_here(stream, unit, row);
        return unit->body(unit->argument);   // a letter: gone after this
    }
    if (unit->is_light() && begins_called(stream, *unit, row)) return;
    void* context = detail::begin(stream, *unit);
    if (context == nullptr) [[unlikely]] return postpone(stream, *unit);
    switch_to(stream, *unit, context);
}

}  // namespace weft
