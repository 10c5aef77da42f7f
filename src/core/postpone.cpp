// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/postpone.hpp"

#include <utility>

#include "core/requests.hpp"
#include "process/hooks.hpp"
#include "process/process.hpp"
#include "process/shortage_state.hpp"

namespace weft {
namespace {

// Units that may yet give a stack back.
struct Holders {
    bool suspended;   // whether to count units that wait until the program resumes them,
    bool waiting;     // and units that wait for anything else
    bool found = false;
};

// A unit may get or lose its stack on another thread meanwhile: hidden from the thread sanitizer,
// like list.cpp's snapshot.
[[gnu::no_sanitize_thread]] void look_for_holder(void* object, void* raw) {
    const auto& unit = *static_cast<const Unit*>(object);
    auto& holders = *static_cast<Holders*>(raw);
    constexpr Unit::Flags no_holders = Unit::primary | Unit::scheduler | Unit::user_stack;
    // by hand: the sanitizer sees what has() reads
    if ((unit.flags.word & no_holders.word) != 0 || unit.stack == nullptr) return;
    switch (unit.life.now()) {
    case State::free:
    case State::done: return;
    case State::suspended: holders.found |= holders.suspended; return;
    case State::waiting: holders.found |= holders.waiting; return;
    case State::ready:
    case State::running: holders.found = true;
    }
}

// When the stream checks all units for one that has a stack to give back: ever more rarely, so that
// a try costs no more where there are many units.
bool look_is_due(std::uint64_t tries) {
    constexpr std::uint64_t first = 16, at_most_apart = 1 << 16;
    return tries >= first && ((tries & (tries - 1)) == 0 || tries % at_most_apart == 0);
}

// Whether a living unit has a stack that it will give back. A scheduler may be waiting for the very
// units that have none, and so may a unit that yields and polls (weft_unit_try_join): after a while
// the units that only such a unit could resume no longer count. In weft_finalize no unit resumes
// any.
bool stacks_may_come_free(Process& of, std::uint64_t tries) {
    constexpr std::uint64_t long_enough = 1 << 14;
    const bool ends = of.running_out.load();
    Holders holders{!ends && tries < long_enough, !ends};
    of.descriptors.each(look_for_holder, &holders);
    return holders.found;
}

// A hint: it may be detached at the next moment.
bool is_detached(const Unit& unit) { return unit.join_state.announced().detached(); }

// A joiner of the unit learns that it has not run.
void do_without(Stream& stream, Unit& unit, Outcome outcome) {
    if (is_detached(unit)) return unit_hooks.keep_for_stack(stream, unit);
    end_unrun(stream, unit, outcome);
}

// No unit will give a stack back, neither for this unit nor for the units that wait in its pool and
// were tried with it.
void give_up(Stream& stream, Unit& unit, Outcome outcome) {
    stream.scarcity.condemned = pool::length(*unit.pool);
    stream.scarcity.postponed = 0;
    stream.scarcity.postponed_in_a_row = 0;
    do_without(stream, unit, outcome);
    stream.scarcity.finished_then = stream.counters.read(trace::Count::finished);
}

// Whether the unit is one of those condemned, unless another unit has ended since.
bool is_condemned(Stream& stream) {
    if (stream.scarcity.condemned == 0) return false;
    const bool nobody_ended = stream.counters.read(trace::Count::finished) == stream.scarcity.finished_then;
    stream.scarcity.condemned = nobody_ended ? stream.scarcity.condemned - 1 : 0;
    return nobody_ended;
}

}   // namespace

// No stack could be had. The unit waits for one to come free. When no running unit could free one
// any more, because all streams that hold a hart are in the same need, the unit ends without having
// run, or waits apart if no thread would learn of its end. It also ends that way when no unit has a
// stack to free: a unit that polls again and again for the end of this one would keep its stream
// out of that need forever. And it ends that way where another stream alone may put it back into
// its pool.
void postpone(Stream& stream, Unit& unit) {
    Process& of = process();
    const Outcome outcome = unit.kind == Kind::hosted ? Outcome::no_pthread : Outcome::no_stack;
    // behind the units that wait there
    if (of.shortage.any() && is_detached(unit)) return unit_hooks.keep_for_stack(stream, unit);
    if (unit.pool->one_pushes() || (unit.kind == Kind::hosted && of.hosts.in_use() == 0))
        return do_without(stream, unit, outcome);
    if (is_condemned(stream)) {
        do_without(stream, unit, outcome);
        stream.scarcity.finished_then = stream.counters.read(trace::Count::finished);
        return;
    }
    stream.counters.add(trace::Count::postponed);
    const bool look = look_is_due(++stream.scarcity.postponed);
    if (look && !stacks_may_come_free(of, stream.scarcity.postponed)) return give_up(stream, unit, outcome);
    const bool all_tried = ++stream.scarcity.postponed_in_a_row > pool::length(*unit.pool) + 1;
    if (all_tried && !std::exchange(stream.scarcity.starving, true)) of.starving.fetch_add(1);
    const std::size_t granted = of.base.granted();
    if (all_tried && of.starving.load() >= granted) return give_up(stream, unit, outcome);
    if (granted > 1) os::thread_yield();
    pool::push(*unit.pool, &unit, pool::From::last);
}

void end_starving(Stream& stream) {
    stream.scarcity.postponed_in_a_row = 0;
    if (std::exchange(stream.scarcity.starving, false)) process().starving.fetch_sub(1);
}

}   // namespace weft
