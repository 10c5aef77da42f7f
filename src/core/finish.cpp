// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/finish.hpp"

#include <cxxabi.h>

#include <cstdio>
#include <exception>
#include <utility>

#include "core/announce.hpp"
#include "core/jobs.hpp"
#include "core/migrate.hpp"
#include "core/promote.hpp"
#include "local/extras.hpp"
#include "local/locals.hpp"
#include "local/own_float.hpp"
#include "observe/observe.hpp"
#include "os/error_text.hpp"
#include "process/error.hpp"
#include "process/may_end.hpp"
#include "process/process.hpp"
#include "process/way.hpp"
#include "unit/crowd.hpp"

namespace weft {
namespace {

using detail::successor;
using detail::unless_wanted;
using detail::way_to;

// ---- the end is published -----------------------------------------------------------------------

// Whether the end stays news until a thread asks for it, and observers are notified of that:
// join_state.hpp.
enum class News : bool { no, yes };

// Returns the waiter. From here on the descriptor belongs to the waiter.
template <News news>
[[gnu::always_inline]] inline JoinState::Waiter publish_end(Stream& stream, Unit& unit) {
    probe(Probe::finish_before_publish);
    stream.counters.add(trace::Count::finished);
    unit.life.move(State::running, State::done);
    JoinState::Waiter waiter;
    if (unit.has(Unit::local)) {   // a private pool is never the user's
        waiter = news == News::yes ? unit.join_state.finish_local_as_news() : unit.join_state.finish_local();
    } else {
        pool::belongs_no_more(unit);
        waiter = news == News::yes ? unit.join_state.finish_shared_as_news() : unit.join_state.finish_shared();
    }
    tell_movers_of_end(&unit);
    return waiter;
}

// ---- the waiters --------------------------------------------------------------------------------

// For a unit that has ended without having run, and was detached only afterwards: a unit that is
// detached before does not end that way (shortage.hpp).
[[gnu::cold, gnu::noinline]] void tell_everybody(const Unit& unit) {
    not_returned(unit);
    std::fprintf(stderr, "weft: %s; it was detached, so the error is reported here only\n", os::error_text());
}

// noexcept: an exception that no thread can learn of ends the process, as with a std::thread, and
// the C++ library says what it was.
[[noreturn]] void terminate_with(std::exception_ptr exception) noexcept {
    std::rethrow_exception(std::move(exception));
}

// Notifies the waiter: a detached unit is freed, an OS thread woken, a group counted down.
void tell(Unit* detached, JoinState::Waiter waiter) {
    if (waiter.detached()) {
        if (detached->outcome == Outcome::exception) [[unlikely]]
            terminate_with(detached->exception());
        if (is_refused(detached->outcome)) [[unlikely]]
            tell_everybody(*detached);
        if (detached->marked(Unit::observed)) detached->join_state.detach_again();
        release(current_or_null(), *detached);
        return;
    }
    wake(waiter);
}

}   // namespace

void end_unit(Stream& stream, Unit& unit) {
    const JoinState::Waiter waiter = publish_end<News::no>(stream, unit);
    if (!waiter.none()) tell(&unit, waiter);
}

void end_unit_slow(Stream& stream, Unit& unit) {
    const bool refused = is_refused(unit.outcome);
    if (!refused && !unit.marked(Unit::observed)) return end_unit(stream, unit);
    const JoinState::Waiter waiter = publish_end<News::yes>(stream, unit);
    if (waiter.none()) return;
    JoinWaiter* const other = waiter.crowd() ? nullptr : waiter.other();
    const bool gone = waiter.detached() || (other != nullptr && other->given_up != nullptr && other->given_up(other));
    if (!gone) learn(unit);   // for the waiter, which has not been woken yet: until then the unit stays
    tell(&unit, waiter);
}

Unit* end_for_joiner(Stream& stream, Unit& unit) {
    JoinState::Waiter waiter;
    if (!unit.marked(Unit::observed)) {
        waiter = publish_end<News::no>(stream, unit);
    } else {
        observe(trace::Event::finish, unit);
        waiter = publish_end<News::yes>(stream, unit);
        learn(unit);
    }
    return waiter.is_unit() ? waiter.sole_unit() : wake_all_but_first(waiter);
}

void end_returned_slow(Stream& stream, Unit& unit) {
    if (unit.has_jobs()) leave_jobs(stream, unit);
    stream.inline_pool = &Stream::no_pool;   // the scheduler runs next
    if (unit.marked(Unit::observed)) observe(trace::Event::finish, unit);
    stream.running = nullptr;
    end_unit_slow(stream, unit);
}

void finish_and_wake(JoinState& join_state) {
    const JoinState::Waiter waiter = join_state.finish_shared();
    if (!waiter.none()) wake(waiter);
}

// ---- a ULT leaves its stack for good ------------------------------------------------------------

namespace {

// A unit that ends on a stack of the user records where that stack is, for another life
// (revive.cpp).
void remember_user_stack(Unit& unit) {
    unit.waits_object = unit.stack->lowest;                                  // a unit that has ended waits for nothing
    const char* const end = reinterpret_cast<const char*>(unit.stack + 1);   // the stack's own object lies at its top
    unit.user_stack_bytes =
        (unit.user_stack_bytes & own_float_bit) | static_cast<std::size_t>(end - unit.stack->lowest);
}

void end_on_user_stack(void* raw) {
    auto& unit = *static_cast<Unit*>(raw);
    remember_user_stack(unit);
    mem::user_stack_done(unit.stack);
    unit.stack = nullptr;
    end_unit_slow(current(), unit);
}

// Leaves the stack of a unit that has ended, for the unit that runs next. This code still stands on
// the stack: it may be released only from the next context. `next`: see finish(). `plain`: the
// unit was.
[[noreturn, gnu::noinline]] void depart(Stream& stream, mem::Stack* stack, Unit* next = nullptr, bool plain = false) {
    next = next != nullptr ? unless_wanted(stream, next) : successor(stream);
    const context::Target target = way_to(stream, next);
    // As in finish_plainly(): no unit takes the stack before this stream's next start.
    if (plain && !config::thread_sanitizer && stream.spare == nullptr) {
        stream.keep_spare(stack);
        context::abandon(target, {nullptr, nullptr});
    }
    context::abandon(target, {detail::release_stack, stack});
}

// conclude() for a unit whose stack needs a last check, that is observed, or that has forked.
[[noreturn, gnu::noinline]] void conclude_slow(Stream& stream, Unit& unit, Unit* next) {
    look_before_ending(stream, unit, next);
    if (unit.has(Unit::user_stack)) {
        // The stack's memory is the user's again from the end on, so the end is published from
        // elsewhere.
        if (next != nullptr) stream.next_unit = next;
        context::abandon(way_to(stream, nullptr), {end_on_user_stack, &unit});
    }
    mem::Stack* const stack = std::exchange(unit.stack, nullptr);
    end_unit_slow(stream, unit);
    depart(stream, stack, next);
}

}   // namespace

void detail::release_stack(void* stack) { current().heap->stacks.give(static_cast<mem::Stack*>(stack)); }

// The running ULT has ended.
[[noreturn, gnu::noinline]] void detail::conclude(Unit& unit, Unit* next) {
    if (unit.marked(Unit::extras)) [[unlikely]] {
        end_locals(unit);   // may switch, and come back on a stream that must not run `next`
        if (next != nullptr && foreign_pool(*next) != nullptr) make_ready(&current(), *std::exchange(next, nullptr));
    }
    Stream& now = current();
    if (unit.has(Unit::slow_end) || unit.jobs_or_marked(Unit::at_leave)) [[unlikely]]
        conclude_slow(now, unit, next);
    mem::Stack* const stack = std::exchange(unit.stack, nullptr);
    const bool plain = unit.has(Unit::plain);
    end_unit(now, unit);
    depart(now, stack, next, plain);
}

// Notifies the waiter of a unit that has ended, after which the unit may be gone.
[[noreturn, gnu::noinline]] void detail::tell_and_depart(Stream& stream, mem::Stack* stack, Unit* unit,
                                                         JoinState::Waiter waiter) {
    tell(unit, waiter);
    depart(stream, stack);
}

void finish(Unit* next) {
    Stream& stream = current();
    // its handlers are left without running to their ends
    while (stream.exceptions->caught != nullptr) abi::__cxa_end_catch();
    stream.exceptions->uncaught = 0;
    if (stream.running->is_light()) promote(stream, *stream.running);   // its caller is not returned to
    detail::conclude(*stream.running, next);
}

weft_status exit_unit() noexcept {
    Unit* self = running_or_null();
    if (self == nullptr) return fail(WEFT_WRONG_CONTEXT, "only a ULT can exit");
    if (self->kind == Kind::tasklet) return fail(WEFT_WRONG_KIND, "a tasklet ends by returning");
    if (self->has(Unit::primary) && !has_forked(*self))
        return fail(WEFT_WRONG_STATE, "the primary unit ends with the program");
    if (is_scheduler(*self)) return fail(WEFT_WRONG_STATE, "a scheduler ends by returning from run");
    if (!may_end(current(), *self)) return still_forked();
    self->outcome = Outcome::returned;
    finish();
}

// ---- the descriptor -----------------------------------------------------------------------------

namespace {

// Whether a unit that has ended has suspended. A unit that began as a call is light still if it has
// not. For other units the context tells; but a unit that called the one it waited for has a
// context as well. It may be taken for one that suspends, which costs less than the opposite
// mistake.
bool has_suspended(const Unit& unit) {
    return !unit.is_light() && (begins_light(unit.kind) || unit.context != nullptr);
}

}   // namespace

void tidy_up(Unit& unit) {
    if (unit.marked(Unit::observed)) observe(trace::Event::free, unit);
    if (unit.outcome == Outcome::exception) unit.exception().~exception_ptr();
    if (unit.marked(Unit::extras)) drop_extras(unit, current_or_null());
    if (unit.marked(Unit::untidy)) forget_own_float(unit);
    if (const unsigned tag = unit.spawn_tag(); tag != 0) sites.learn(tag, has_suspended(unit));
    unit.entries = 0;
}

void give_outside(Unit& unit) { process().give_outside(unit); }

weft_status free_returned(Unit& unit) noexcept {
    if (unit.outcome != Outcome::returned) [[unlikely]]
        return not_returned(unit);
    release(current_or_null(), unit);
    return WEFT_OK;
}

void release_detached(Unit& unit) {
    if (is_refused(unit.outcome) && !unit.join_state.done_and_known()) tell_everybody(unit);
    release(current_or_null(), unit);
}

weft_status not_returned(const Unit& unit) {
    const auto id = static_cast<unsigned long long>(unit.id);
    switch (unit.outcome) {
    case Outcome::returned: break;
    case Outcome::exception:
        return fail(WEFT_NOT_RETURNED,
                    "an exception has ended unit %llu, which has it (weft_unit_exception_get) until it is freed", id);
    case Outcome::cancelled: return fail(WEFT_NOT_RETURNED, "unit %llu was cancelled; it is still to be freed", id);
    case Outcome::no_stack: {
        const std::size_t wanted = unit.wanted_stack_bytes();
        const std::size_t bytes = wanted != 0 ? wanted : process().settings.values.stack_bytes;
        return fail(WEFT_NOT_RETURNED,
                    "unit %llu has not run: no stack of %zu bytes could be had, and none would have come free; "
                    "have fewer units at once, or smaller stacks (WEFT_STACK_BYTES, stack_bytes), or see "
                    "ulimit -v, the cgroup's memory.max and vm.max_map_count",
                    id, bytes);
    }
    case Outcome::no_pthread:
        return fail(WEFT_NOT_RETURNED,
                    "hosted unit %llu has not run: the kernel refused a pthread for it, and no other one would "
                    "have come free (see ulimit -u and the cgroup's pids.max)",
                    id);
    }
    return WEFT_OK;
}

}   // namespace weft
