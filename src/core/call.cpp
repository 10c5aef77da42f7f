// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/call.hpp"

#include <utility>

#include "core/finish.hpp"
#include "core/jobs.hpp"
#include "core/start.hpp"
#include "local/locals.hpp"
#include "observe/observe.hpp"

namespace weft {
namespace {

// Which units that are next in the pool may be called: ULTs that take any spare stack, ULTs of kind
// Full, which have their own, and tasklets.
struct OnSpare {
    [[gnu::always_inline]] static bool takes(const Unit& unit) { return unit.plain_and_unasked(); }
    mem::Stack* const stack;
    mem::Stack* stack_of(const Unit&) const { return stack; }
    void ended_on(Stream&, mem::Stack*) const {}
    void end(Stream& stream) const { stream.keep_spare(stack); }
};
struct OnTheirOwn {
    static bool takes(const Unit& unit) {
        return unit.kind == Kind::full && unit.has(Unit::local) && unit.has_default_stack() &&
               !unit.marked(Unit::at_start | Unit::careful);
    }
    mem::Stack* stack_of(const Unit& unit) const { return unit.stack; }
    void ended_on(Stream& stream, mem::Stack* stack) const { give_stack(stream, stack); }
    void end(Stream&) const {}
};
struct OnSchedulers {
    // A remote call is never local, nor is a unit that other threads may be joining at this moment.
    static bool takes(const Unit& unit) {
        return unit.kind == Kind::tasklet && unit.has(Unit::local) && !unit.marked(Unit::at_start);
    }
};

template <class How, class Handle>
[[gnu::always_inline]] inline bool goes_on(const Stream& stream, const PrivatePool& pool, Handle* next, Handle* end) {
    if (next == end || *next == nullptr) return false;
    const Unit& unit = *to_unit(*next, call_on_many<Handle>);
    return pool.ready.front() == &unit && unit.untouched() && How::takes(unit) && !stream.wanted() &&
           pool.inbox.empty();
}

std::uintptr_t answer(CameBack how) { return static_cast<std::uintptr_t>(how); }

// A unit that was called has returned, but it has been promoted (a tasklet has that forked a
// process, in the child process), or there is something to see to.
[[gnu::noinline]] std::uintptr_t return_slow(Unit& unit) {
    if (!unit.is_light()) end_promoted();
    if (unit.marked(Unit::extras)) end_locals(unit);   // may suspend
    if (!unit.is_light()) end_promoted();
    if (unit.has_jobs()) leave_jobs(current(), unit);
    return answer(unit.marked(Unit::at_end | Unit::at_release) ? CameBack::to_be_seen : CameBack::plainly);
}

std::uintptr_t tasklet_main(void* raw) {
    Unit& unit = *static_cast<Unit*>(raw);
    run_body(unit);
    if (unit.jobs_or_marked(Unit::at_end | Unit::at_release)) [[unlikely]]
        return return_slow(unit);
    return answer(CameBack::plainly);
}

// The running ULT waits while other units are called, and continues.
class Calling {
public:
    Calling(Stream& stream, Unit& self) : stream_(stream), self_(self), error_(*stream.errno_address) {
        self.life.move(State::running, State::waiting);
    }

    // On the stream that it has been on throughout.
    void go_on() {
        stream_.running = &self_;
        self_.life.move(State::waiting, State::running);
        *stream_.errno_address = error_;
    }
    [[nodiscard]] Unit& self() const { return self_; }

    // Before each unit; most often there is nothing to store.
    void clear_errno() const {
        if (*stream_.errno_address != 0) *stream_.errno_address = 0;
    }

    // After a suspension, whose end has done the rest.
    void come_back() { *current().errno_address = error_; }

private:
    Stream& stream_;
    Unit& self_;
    const int error_;
};

// What is done with a unit of a row that has returned and has nothing to report.
[[gnu::always_inline]] inline void end_of_row(Stream& stream, Unit& unit, weft_unit* const&) {
    end_quietly(stream, unit);
}
[[gnu::always_inline]] inline void end_of_row(Stream& stream, Unit& unit, weft_unit*& handle) {
    end_and_free(stream, unit);
    handle = nullptr;
}

// The running ULT waits while tasklets are called, which return. They are called on the scheduler's
// stack, below the frames of the suspended scheduler.
class CallingTasklets : Calling {
public:
    CallingTasklets(Stream& stream, Unit& self)
        : Calling(stream, self),
          stream_(stream),
          self_(self),
          pool_(*stream.inline_pool),
          top_(reinterpret_cast<void*>(
              reinterpret_cast<std::uintptr_t>(arch::stack_pointer(stream.sched_context.context)) &
              ~(arch::stack_alignment - 1))) {
        stream.inline_pool = &Stream::no_pool;
    }

    // True: the tasklet has nothing to report, and is to be ended.
    template <Out out>
    [[gnu::always_inline]] bool call(Unit& target) {
        target.join_state.announce_first(&self_);
        self_.waits_object = to_handle(&target);
        if constexpr (out == Out::first) pool_.take_front(&target);
        target.life.move(State::ready, State::running);
        stream_.running = &target;
        *stream_.errno_address = 0;
        const arch::Called called = arch::call(&self_.context, top_, tasklet_main, &target, 0);
        if (came_back(called) == CameBack::plainly) [[likely]]
            return true;
        end_for_joiner(stream_, target);
        return false;
    }

    void go_on() {
        stream_.inline_pool = &pool_;
        Calling::go_on();
    }

    [[nodiscard]] const PrivatePool& pool() const { return pool_; }

private:
    Stream& stream_;
    Unit& self_;
    PrivatePool& pool_;
    void* const top_;
};

// Only tasklets are called.
template <class Handle>
[[gnu::noinline]] std::size_t call_tasklets(Stream& stream, Unit& self, Handle* units, std::size_t count) {
    CallingTasklets calling(stream, self);
    std::size_t ended = 0;
    do {
        Unit& target = *calling.pool().ready.front();   // whose handle is units[ended]
        if (!calling.call<Out::first>(target)) [[unlikely]]
            break;
        end_of_row(stream, target, units[ended++]);
    } while (goes_on<OnSchedulers>(stream, calling.pool(), units + ended, units + count));
    calling.go_on();
    return ended;
}

template <class How, class Handle>
[[gnu::noinline]] std::size_t call_ults(Stream& stream, Unit& self, Handle* units, std::size_t count, How how) {
    Calling calling(stream, self);
    PrivatePool& pool = *stream.inline_pool;
    std::size_t ended = 0;
    do {
        Unit& target = *pool.ready.front();   // whose handle is units[ended]
        mem::Stack* const stack = how.stack_of(target);
        calling.clear_errno();
        const CameBack back = came_back(call_first<Out::first>(stream, self, target, stack));
        if (back == CameBack::resumed) [[unlikely]] {
            calling.come_back();
            return ended;
        }
        if (back == CameBack::to_be_seen) end_for_joiner(stream, target);
        how.ended_on(stream, stack);
        if (back == CameBack::to_be_seen) break;
        end_of_row(stream, target, units[ended++]);
    } while (goes_on<How>(stream, pool, units + ended, units + count));
    how.end(stream);
    calling.go_on();
    return ended;
}

}   // namespace

template <Out out>
weft_status free_tasklet_by_call(Stream& stream, Unit& self, Unit& target) {
    CallingTasklets calling(stream, self);
    const bool plainly = calling.call<out>(target);
    if (plainly) [[likely]]
        end_and_free(stream, target);
    calling.go_on();
    return plainly ? WEFT_OK : free_returned(target);
}
template weft_status free_tasklet_by_call<Out::first>(Stream&, Unit&, Unit&);
template weft_status free_tasklet_by_call<Out::taken>(Stream&, Unit&, Unit&);

bool fetch_spare(Stream& stream) {
    mem::Stack* const stack = stream.heap->stacks.take();
    if (stack == nullptr) return false;
    if (stack->guarded == mem::Guard::canary) {   // its end has to be checked
        stream.heap->stacks.give(stack);
        return false;
    }
    stream.keep_spare(stack);
    return true;
}

std::uintptr_t called_main(void* raw) {
    Unit& unit = *static_cast<Unit*>(raw);
    run_body(unit);
    if (!unit.only_light_and_unmarked(Unit::at_end | Unit::at_release)) [[unlikely]]
        return return_slow(unit);
    return answer(CameBack::plainly);
}

template <Frees frees>
weft_status wait_no_longer(CameBack how, std::uintptr_t error) {
    Stream& stream = current();
    Unit& latest = *stream.running;   // the unit that has returned, or the caller, which has been resumed
    Unit* target = &latest;
    if (how == CameBack::resumed) {
        target = to_unit(static_cast<const weft_unit*>(latest.waits_object), "weft_unit_join or weft_unit_join_free");
    } else {
        Unit* const joiner = end_for_joiner(stream, latest);
        stream.keep_spare(latest.stack);
        stream.running = joiner;
        joiner->life.move(State::waiting, State::running);
    }
    *stream.errno_address = static_cast<int>(error);
    return frees == Frees::yes ? free_returned(*target) : ended_status(*target);
}
template weft_status wait_no_longer<Frees::no>(CameBack, std::uintptr_t);
template weft_status wait_no_longer<Frees::yes>(CameBack, std::uintptr_t);

bool may_call_taken(Stream& stream, const Unit& target) {
    return context::may_call && target.context == nullptr && target.plain_and_unasked() &&
           !stream.running->jobs_or_marked(Unit::careful) && free_to_call(stream) && has_spare(stream);
}

void call_taken(Stream& stream, Unit& self, Unit& target) {
    Calling calling(stream, self);
    mem::Stack* const stack = stream.take_spare();
    self.waits_object = to_handle(&target);
    *stream.errno_address = 0;
    if (came_back(call_on(stack, stream, self, target)) == CameBack::resumed) return calling.come_back();
    end_for_joiner(stream, target);
    stream.keep_spare(stack);
    calling.go_on();
}

bool call_child(Stream& stream, Unit& child) {
    if constexpr (!context::may_call) return false;
    Unit& self = *stream.running;
    PrivatePool* const direct = stream.direct;
    // A parent that waits in a pool that other streams draw from is theirs to run meanwhile.
    if (direct == nullptr || stream.inline_pool != direct || self.pool != direct || child.pool != direct ||
        !child.plain_and_unasked() || !free_to_call(stream))
        return false;
    if (self.marked(Unit::at_yield) || !has_spare(stream)) return false;
    mem::Stack* const stack = stream.take_spare();
    const int error = *stream.errno_address;
    *stream.errno_address = 0;
    self.life.move(State::running, State::ready);
    child.link = &self;   // a running unit is in no list
    call_on(stack, stream, self, child);
    // The parent's own state says whether the child has suspended: the child may be gone.
    Stream& now = current();
    *now.errno_address = error;
    if (now.running == &self) {
        if (self.marked(Unit::at_return)) handle_requests(self, Unit::at_return);
        return true;
    }
    stream.keep_spare(stack);
    if (child.marked(Unit::observed)) observe(trace::Event::finish, child);
    stream.running = &self;
    self.life.move(State::ready, State::running);
    end_unit_slow(stream, child);
    return true;
}

namespace {

// What a parent waits for that has called a child in a deque, as long as it has not been resumed:
// no handle has this value.
const void* call_of(const Unit& child) { return reinterpret_cast<const char*>(&child) + 1; }

// Where a child begins whose parent other streams may run meanwhile. Returns to the parent's stack
// if the parent is the next to run after all, and has not been run since.
std::uintptr_t child_in_deque_main(void* raw) {
    Unit& child = *static_cast<Unit*>(raw);
    Unit* const parent = child.link;
    parent->life.move(State::running, State::ready);
    pool::push_own(static_cast<DequePool&>(*parent->pool), parent);
    run_body(child);
    Stream& now = current();
    Pool* const common = now.common;
    const bool plainly = child.has(Unit::plain) && !child.jobs_or_marked(Unit::at_end) && child.pool == common &&
                         common->kind == WEFT_POOL_DEQUE && none_bound(now) && !now.wanted();
    if (!plainly || !pool::pop_if(*common, parent)) end_promoted();
    // Only as an address: until it is popped the parent may have ended, or be another unit.
    if (parent->context == nullptr || parent->waits_object != call_of(child)) detail::conclude(child, parent);
    return answer(CameBack::plainly);
}

}   // namespace

bool call_child_in_deque(Stream& stream, Unit& child) {
    Unit& self = *stream.running;
    Pool* const common = stream.common;
    if (!context::may_call || common == nullptr || common->kind != WEFT_POOL_DEQUE || self.pool != common ||
        child.pool != common || !child.plain_and_unasked() || self.light_or_marked(Unit::at_yield) ||
        !free_to_call(stream) || !has_spare(stream))
        return false;
    stream.counters.add(trace::Count::yielded);
    mem::Stack* const stack = stream.take_spare();
    const int error = *stream.errno_address;
    *stream.errno_address = 0;
    child.link = &self;   // a running unit is in no list
    child.stack = stack;
    child.life.move(State::ready, State::running);
    self.waits_object = call_of(child);
    stream.running = &child;
    arch::call(&self.context, stack->top, child_in_deque_main, &child, 0);
    // The parent is resumed like any other unit, or the child that has returned is still the one
    // that runs: on this stream, which may be another one by now.
    Stream& now = current();
    Unit& ended = *now.running;
    if (&ended != &self) {
        now.running = &self;
        self.life.move(State::ready, State::running);
        mem::Stack* const free = std::exchange(ended.stack, nullptr);
        if (now.spare == nullptr) now.keep_spare(free);
        else now.heap->stacks.give(free);
        end_unit(now, ended);
    }
    self.waits_object = nullptr;
    *now.errno_address = error;
    if (self.marked(Unit::at_return)) handle_requests(self, Unit::at_return);
    return true;
}

namespace {

// `pool`: the stream's common one. `kind`: the pool's.
template <weft_pool_kind kind>
[[gnu::noinline]] CommonRow call_row_of(Stream& stream, Pool& pool, weft_unit** units, std::size_t count) {
    // In the order in which the pool gives them.
    const auto handle_of = [&](std::size_t place) -> weft_unit*& {
        return units[kind == WEFT_POOL_DEQUE ? count - 1 - place : place];
    };
    const auto take_next_of_row = [&](std::size_t place) {
        if (place == count || stream.wanted() || !none_bound(stream)) return false;
        weft_unit* const next = handle_of(place);
        return next != nullptr && pool::pop_if<kind>(pool, to_unit(next, call_on_many<weft_unit*>), true);
    };
    Calling calling(stream, *stream.running);
    mem::Stack* const stack = stream.take_spare();
    std::size_t taken = 0;
    do {
        weft_unit*& handle = handle_of(taken);
        Unit& target = *to_unit(handle, call_on_many<weft_unit*>);
        if (!target.untouched() || !target.plain_and_unasked()) [[unlikely]] {
            stream.keep_spare(stack);
            calling.go_on();
            return {taken, &handle};
        }
        ++taken;
        // Many descriptors are more than a near cache holds.
        constexpr std::size_t ahead = 3;
        if (count - taken > ahead) __builtin_prefetch(handle_of(taken + ahead), 1);
        calling.clear_errno();
        const CameBack back = came_back(call_first<Out::taken>(stream, calling.self(), target, stack));
        if (back == CameBack::resumed) [[unlikely]] {
            calling.come_back();
            return {taken, nullptr};
        }
        if (back == CameBack::to_be_seen) [[unlikely]] {
            end_for_joiner(stream, target);
            break;
        }
        end_of_row(stream, target, handle);
    } while (take_next_of_row(taken));
    stream.keep_spare(stack);
    calling.go_on();
    return {taken, nullptr};
}

}   // namespace

CommonRow call_common_row(Stream& stream, weft_unit** units, std::size_t count) {
    Pool& pool = *stream.common;
    return pool.kind == WEFT_POOL_DEQUE ? call_row_of<WEFT_POOL_DEQUE>(stream, pool, units, count)
                                        : call_row_of<WEFT_POOL_SHARED>(stream, pool, units, count);
}

template <class Handle>
std::size_t call_row(Stream& stream, Unit& self, Handle* units, std::size_t count) {
    if constexpr (!context::may_call) return 0;
    const Unit& first = *to_unit(units[0], call_on_many<Handle>);
    if (stream.inline_pool->ready.front() != &first || !first.untouched() || !free_to_call(stream)) return 0;
    if (OnSpare::takes(first)) {
        return has_spare(stream) ? call_ults(stream, self, units, count, OnSpare{stream.take_spare()}) : 0;
    }
    if (OnTheirOwn::takes(first)) return call_ults(stream, self, units, count, OnTheirOwn{});
    // If `sched_context` has no context, a unit that has not been promoted has the scheduler's
    // place.
    return OnSchedulers::takes(first) && stream.sched_context.context != nullptr
               ? call_tasklets(stream, self, units, count)
               : 0;
}
template std::size_t call_row(Stream&, Unit&, weft_unit**, std::size_t);
template std::size_t call_row(Stream&, Unit&, weft_unit* const*, std::size_t);

}   // namespace weft
