// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/suspend.hpp"

#include "core/promote.hpp"
#include "process/error.hpp"
#include "process/way.hpp"

namespace weft {
namespace {

using detail::leave_to;
using detail::requeue;
using detail::successor;
using detail::unless_wanted;

weft_status yield_otherwise(Stream& stream, Unit& self) noexcept;

// The stream's main pool, if that is a shared one and picking is popping from it; null also where a
// request to the stream is pending, or a unit of the stream's own waits, which has its turns.
[[gnu::always_inline]] inline SharedPool* sole_shared(const Stream& stream) {
    Pool* const common = stream.common;
    if (common == nullptr || common->kind != WEFT_POOL_SHARED || !none_bound(stream) || stream.wanted() ||
        stream.through_scheduler)
        return nullptr;
    return static_cast<SharedPool*>(common);
}

[[gnu::always_inline]] inline Unit* pop_shared(SharedPool& from) {
    Unit* const unit = from.ready.pop();
    if (unit != nullptr) from.access_check.popped(from.access);
    return unit;
}

// The stream's main pool, if that is its deque, and picking begins with popping from it; null also
// where another pool has its turn, or a request to the stream is pending.
[[gnu::always_inline]] inline DequePool* own_deque(Stream& stream) {
    Pool* const common = stream.common;
    if (common == nullptr || common->kind != WEFT_POOL_DEQUE || !none_bound(stream) || stream.wanted() ||
        stream.through_scheduler || !sched::begins_with_own(*stream.sched))
        return nullptr;
    return static_cast<DequePool*>(common);
}

[[gnu::always_inline]] inline Unit* pop_deque(DequePool& from) {
    Unit* const unit = from.pop_own();
    if (unit != nullptr) from.access_check.popped(from.access);
    return unit;
}

// The unit belongs to the stream's own deque, and has left on that stream.
void requeue_deque(void* raw) {
    auto* unit = static_cast<Unit*>(raw);
    unit->life.move(State::running, State::ready);
    auto& deque = static_cast<DequePool&>(*unit->pool);
    deque.access_check.pushed(deque.access);
    deque.push_yielded(unit);
}

// A yield of a unit with no request pending, whose pool is the stream's main one, a deque.
[[gnu::noinline]] weft_status yield_deque(Stream& stream, Unit& self) noexcept {
    DequePool* const deque = own_deque(stream);
    Unit* const next = deque != nullptr ? pop_deque(*deque) : nullptr;
    if (next == nullptr) return yield_otherwise(stream, self);
    stream.counters.add(trace::Count::yielded);
    leave_to<Leaves::looked>(stream, self, next, {requeue_deque, &self}, Unit::at_return);
    return WEFT_OK;
}

void requeue_shared(void* raw) {
    auto* unit = static_cast<Unit*>(raw);
    unit->life.move(State::running, State::ready);
    pool::push_shared(static_cast<SharedPool&>(*unit->pool), unit);
}

// A yield of a unit with no request pending, whose pool is the stream's main one, a shared pool.
[[gnu::noinline]] weft_status yield_shared(Stream& stream, Unit& self) noexcept {
    SharedPool* const shared = sole_shared(stream);
    if (shared == nullptr) return yield_otherwise(stream, self);
    Unit* const next = pop_shared(*shared);
    if (next == nullptr) return WEFT_OK;
    stream.counters.add(trace::Count::yielded);
    leave_to<Leaves::looked>(stream, self, next, {requeue_shared, &self}, Unit::at_return);
    return WEFT_OK;
}

}   // namespace

Unit* detail::successor_other(Stream& stream) {
    if (SharedPool* const shared = sole_shared(stream)) return pop_shared(*shared);
    if (DequePool* const deque = own_deque(stream)) {
        if (Unit* const unit = pop_deque(*deque)) return unit;
    }
    if (stream.through_scheduler) return nullptr;
    if (stream.wanted()) {
        // The pollers' turn comes every so many rounds; until then only the round is counted.
        // relaxed: as wanted()
        const bool only_polling = stream.asked(std::memory_order_relaxed) == attention::polling;
        if (!only_polling || ++stream.loop.rounds >= rounds_between_polls) return nullptr;
    }
    return pick(stream);
}

// The unit belongs to the stream's own deque, and has left on that stream.
void push_parent(void* raw) {
    auto* unit = static_cast<Unit*>(raw);
    unit->life.move(State::running, State::ready);
    pool::push_own(static_cast<DequePool&>(*unit->pool), unit);
}

template <pool::From from>
[[gnu::noinline]] void spawn_away(Stream& stream, Unit& next) {
    Unit& self = *stream.running;
    stream.counters.add(trace::Count::yielded);
    const bool own = self.pool == stream.common && self.pool->kind == WEFT_POOL_DEQUE;
    leave_to<Leaves::yields>(stream, self, unless_wanted(stream, &next), {own ? push_parent : requeue<from>, &self},
                             Unit::at_return);
}
template void spawn_away<pool::From::parent>(Stream&, Unit&);
template void spawn_away<pool::From::reviving_parent>(Stream&, Unit&);

// The processor expects a return to where the unit that has left yielded. A unit that yielded at
// another place returns by a jump: a return that is not expected costs as much as three switches.
// After a unit that has not yielded it returns as usual: nothing is known of what is expected, and
// a jump would leave the processor's return stack one entry ahead.
[[gnu::noinline]] weft_status yield_direct(Stream& stream, Unit& self) noexcept {
    PrivatePool& pool = *stream.direct;
    Unit* const next = pool.ready.front();
    if (next == nullptr) return pool.inbox.empty() ? WEFT_OK : yield_otherwise(stream, self);
    void* const context = next->context;
    if (context == nullptr || !pool.inbox.empty() || detail::handles_exception(stream)) [[unlikely]]
        return yield_otherwise(stream, self);
    // Only this stream looks into its pool, and it does so after the unit has left: the unit may go
    // there before.
    pool.rotate(&self);
    stream.counters.add(trace::Count::yielded);
    self.life.move(State::running, State::ready);
    next->life.move(State::ready, State::running);
    stream.running = next;
    const int error = *stream.errno_address;
    const void* const other_place = context::leave<context::Mostly::with_a_word>(
        &self.context, {context, next->stack}, {nullptr, __builtin_return_address(0)});
    Stream& now = current();
    detail::put_errno_back(now, error);
    if (now.running->marked(Unit::at_return)) [[unlikely]]
        return handle_requests(*now.running, Unit::at_return), WEFT_OK;
    if (other_place != __builtin_return_address(0) && other_place != nullptr) [[unlikely]]
        return arch::return_by_jump(WEFT_OK);
    return WEFT_OK;
}

// Each of the ways ends in a tail call, so that none saves registers for another.
[[gnu::noinline]] weft_status yield_elsewhere(Stream& stream, Unit& self) noexcept {
    if (self.kind == Kind::tasklet)   // it is light
        return fail(WEFT_WRONG_KIND, "a tasklet runs to completion and cannot yield; make it a ULT");
    if (self.pool != stream.common || self.light_or_marked(Unit::at_yield)) return yield_otherwise(stream, self);
    return self.pool->kind == WEFT_POOL_DEQUE ? yield_deque(stream, self) : yield_shared(stream, self);
}

namespace {

[[gnu::noinline]] weft_status yield_otherwise(Stream& stream, Unit& self) noexcept {
    if (is_called_by_parent(self)) promote(stream, self);   // the parent is one of the ready units
    if (self.is_light() && self.pool == stream.direct && !self.marked(Unit::at_yield) && !stream.wanted() &&
        !stream.direct->ready.empty()) {
        promote(stream, self);   // and nothing more is to be done
        return yield(stream, self);
    }
    if (self.marked(Unit::requests) && handle_requests_instead(self)) [[unlikely]]
        return WEFT_OK;
    Unit* next = successor(stream);
    // No unit is ready, the scheduler would find out no more than this function has, and the unit
    // would come back here at once.
    if (next == nullptr && !stream.wanted() && !stream.through_scheduler && draws_from(stream, *self.pool))
        return WEFT_OK;
    stream.counters.add(trace::Count::yielded);
    leave_to<Leaves::yields>(stream, self, next, {requeue<pool::From::yielded>, &self}, Unit::at_return);
    return WEFT_OK;
}

struct UserSuspension : Suspension {
    static constexpr State state = State::suspended;
    static constexpr Unit::Marks handled = Unit::at_return;
    weft_unit* handle;   // made before another thread may free the unit
    void (*call)(weft_unit*, void*);
    void* argument;

    UserSuspension(Unit& unit, void (*by)(weft_unit*, void*), void* with)
        : Suspension{unit}, handle(to_handle(&unit)), call(by), argument(with) {}

    void publish() {
        if (call != nullptr) call(handle, argument);
    }
};

}   // namespace

void detail::suspend_by(Stream& stream, Unit& self, void (*publish)(weft_unit*, void*), void* argument) {
    UserSuspension request(self, publish, argument);
    suspend(stream, request, Waits::as_stated, argument);
}

}   // namespace weft
