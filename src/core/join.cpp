// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/join.hpp"

#include <new>

#include "core/announce.hpp"
#include "core/suspend.hpp"
#include "hart/parker.hpp"
#include "observe/observe.hpp"
#include "process/error.hpp"
#include "process/outside_wait.hpp"
#include "process/process.hpp"
#include "unit/crowd.hpp"

namespace weft {
weft_status busy_status() {
    return fail(
        WEFT_BUSY,
        "another caller waits for this unit already, and a call that frees it must be the only one; or it is detached");
}

weft_status may_join(const Unit& target) {
    // No joiner's announcement reaches the JoinState of a stream's scheduler as long as that runs,
    // and it runs as long as its stream. A scheduler in a pool is not bound; the scheduler object
    // may be gone by now.
    if (target.has_now(Unit::scheduler) && target.has_now(Unit::bound))
        return fail(WEFT_WRONG_STATE, "the unit is a stream's scheduler, and ends with that");
    Stream* stream = current_or_null();
    Unit* self = stream == nullptr ? nullptr : stream->running;
    if (target.has_now(Unit::primary))
        return fail(WEFT_WRONG_STATE, "the primary unit ends with the runtime and cannot be joined");
    if (stream == nullptr) return WEFT_OK;
    if (self == nullptr) return fail(WEFT_WRONG_CONTEXT, "a scheduler cannot join; only units and OS threads can");
    if (self == &target) return fail(WEFT_WRONG_STATE, "a unit cannot join itself");
    if (self->kind == Kind::tasklet) {
        return fail(WEFT_WRONG_KIND, "a tasklet cannot wait for a unit that has not ended; make it a ULT");
    }
    return WEFT_OK;
}

namespace {

// What a joiner that is not alone has been told. A joiner that has not been told (none) reads the
// unit's outcome itself. An outcome is stored as a value other than 0, so that one check
// distinguishes the cases.
struct Told {
    static constexpr std::uint8_t none = 0, refused = 0xff;
    static constexpr std::uint8_t ended(Outcome outcome) {
        return static_cast<std::uint8_t>(static_cast<unsigned>(outcome) + 1);
    }
    static weft_status status(std::uint8_t told) {
        return told == refused ? busy_status() : status_of(static_cast<Outcome>(told - 1));
    }
};

// Whether a joiner that comes when others wait already waits besides them.
enum class Company : bool { none, any };

// ---- one unit, from a ULT -----------------------------------------------------------------------

template <Company company>
struct UnitJoin : Suspension {
    Unit& target;
    std::uint8_t told = Told::none;

    // The waiter of a joiner that comes over others; not made before, since most need none.
    struct Later : JoinWaiter {
        UnitJoin& by;
        explicit Later(UnitJoin& join) : by(join) {}
    };
    alignas(Later) std::byte later[sizeof(Later)];

    UnitJoin(Unit& joiner, Unit& joined) : Suspension{joiner}, target(joined) {}

    void publish() { settle(announce(target, JoinState::Waiter(&self))); }

    void settle(JoinState::Announced answer) {
        if (answer == JoinState::Announced::waiting) [[likely]]
            return;
        if (company == Company::any && answer == JoinState::Announced::taken) {
            answer = come_over();
            if (answer == JoinState::Announced::waiting) return;
        }
        if (answer == JoinState::Announced::done) {
            learn(target);
        } else {
            told = Told::refused;
        }
        resume_waiting(self);
    }

    [[gnu::noinline]] JoinState::Announced come_over() {
        auto& waiter = *new (later) Later(*this);
        return weft::come_over(target, waiter, [](JoinWaiter* raw, Outcome outcome) {
            UnitJoin& to = static_cast<Later*>(raw)->by;
            to.told = Told::ended(outcome);
            resume_waiting(to.self);
        });
    }

    weft_status answer() const { return told == Told::none ? ended_status(target) : Told::status(told); }
};

template <Company company>
struct RemoteUnitJoin : UnitJoin<company> {
    PrivatePool& home;
    RemoteCall remote_call{};

    RemoteUnitJoin(Unit& joiner, Unit& of, PrivatePool& at) : UnitJoin<company>(joiner, of), home(at) {}

    void publish() {
        remote_call.target = &this->target;
        remote_call.waiter = JoinState::Waiter(&this->self);
        remote_call.context = this;
        remote_call.answer = [](RemoteCall* sent, JoinState::Announced answer) {
            static_cast<RemoteUnitJoin*>(sent->context)->settle(answer);
        };
        remote_call.send(home);
    }
};

template <Company company>
[[gnu::noinline]] weft_status join_remotely(Stream& stream, Unit& self, Unit& target, PrivatePool& home) {
    RemoteUnitJoin<company> request(self, target, home);
    suspend(stream, request, Waits::as_stated, to_handle(&target));
    return request.answer();
}

// The unit is local to no other stream. `next`: taken out of its pool, or null: the unit that runs
// meanwhile.
template <Company company>
[[gnu::noinline]] weft_status join_to(Stream& stream, Unit& self, Unit& target, Unit* next) {
    if (next == &target && may_call_taken(stream, target) &&
        announce(target, JoinState::Waiter(&self)) == JoinState::Announced::waiting) {
        call_taken(stream, self, target);
        return ended_status(target);
    }
    UnitJoin<company> request(self, target);
    suspend_to(stream, request, next, Waits::as_stated, to_handle(&target));
    return request.answer();
}

// The general case: the unit may belong to any stream.
template <Company company>
[[gnu::noinline]] weft_status join_slow(Stream& stream, Unit& self, Unit& target) {
    if (weft_status status = may_join(target); status != WEFT_OK) return status;
    if (auto* home = foreign_pool(target)) return join_remotely<company>(stream, self, target, *home);
    return join_to<company>(stream, self, target, take_next(stream, target) ? &target : detail::successor(stream));
}

// `stream` becomes the stream that the joiner comes back on.
template <Company company>
[[gnu::always_inline]] inline weft_status wait_in_unit(Stream*& stream, Unit& target) {
    Unit& self = *stream->running;
    if (target.join_state.untouched()) [[likely]] {
        if (may_call_at_once(*stream, target)) [[likely]] {
            const weft_status status = call_and_wait<Out::first, Frees::no>(*stream, self, target);
            stream = current_or_null();
            return status;
        }
        weft_unit* const alone = to_handle(&target);
        const bool called = call_row(*stream, self, &alone, 1) != 0;
        stream = current_or_null();
        if (called) return ended_status(target);
    }
    if (target.join_state.done()) {
        learn(target);
        return ended_status(target);
    }
    // The pool first, as in unit/owner_pool.hpp: in this stream's pool it is local by this stream's
    // own store.
    if (target.pool_now() != stream->direct || !target.has(Unit::local) || self.kind == Kind::tasklet ||
        target.has(Unit::primary) || target.life.is(State::running)) [[unlikely]] {
        const weft_status status = join_slow<company>(*stream, self, target);
        stream = current_or_null();
        return status;
    }
    // The target ends on this stream, as a unit of its private pool, and no other stream looks at
    // its JoinState: that may know its joiner before the joiner has left.
    probe(Probe::join_before_announce);
    if (target.join_state.announce_local(&self) != JoinState::Announced::waiting) [[unlikely]] {
        const weft_status status = join_slow<company>(*stream, self, target);
        stream = current_or_null();
        return status;
    }
    stream = &suspend_published(*stream, self, target);
    return ended_status(target);
}

// ---- one unit, from an OS thread ----------------------------------------------------------------

struct ThreadJoin : JoinWaiter {
    Parker parker;
    RemoteCall remote_call{};
    atomic<std::uint8_t> told{Told::none};

    ThreadJoin() {
        wake = [](JoinWaiter* raw) { static_cast<ThreadJoin*>(raw)->parker.unpark(); };
    }

    template <Company company>
    void settle(JoinState::Announced answer) {
        if (company == Company::any && answer == JoinState::Announced::taken) {
            answer = come_over(*remote_call.target, *this, [](JoinWaiter* raw, Outcome outcome) {
                auto* self = static_cast<ThreadJoin*>(raw);
                self->told.store(Told::ended(outcome));
                self->parker.unpark();
            });
        }
        if (answer == JoinState::Announced::waiting) return;
        if (answer == JoinState::Announced::done) {
            learn(*remote_call.target);
        } else {
            told.store(Told::refused);
        }
        parker.unpark();
    }
};

template <Company company>
[[gnu::noinline]] weft_status join_from_thread(Unit& target) {
    ThreadJoin request;
    request.remote_call.target = &target;
    if (auto* pool = foreign_pool(target)) {
        request.remote_call.waiter = JoinState::Waiter(&request);
        request.remote_call.context = &request;
        request.remote_call.answer = [](RemoteCall* sent, JoinState::Announced answer) {
            static_cast<ThreadJoin*>(sent->context)->settle<company>(answer);
        };
        request.remote_call.send(*pool);
    } else {
        request.settle<company>(announce(target, JoinState::Waiter(&request)));
    }
    const OutsideWait outside;
    request.parker.park();
    const std::uint8_t told = request.told.load();
    return told == Told::none ? ended_status(target) : Told::status(told);
}

// Like RemoteCall, but no thread waits for it, so it has memory of its own.
struct RemoteDetach {
    Unit unit{};
    Unit* target;

    explicit RemoteDetach(Unit& of) : target(&of) {}
};

weft_status detach_remotely(Unit& unit, PrivatePool& pool) {
    auto* remote_call = os::make<RemoteDetach>(unit);
    if (remote_call == nullptr) return fail(WEFT_NO_MEMORY, "no memory to tell another stream that a unit is detached");
    send_remote_call(
        remote_call->unit, pool,
        [](void* raw) {
            auto* sent = static_cast<RemoteDetach*>(raw);
            Unit& target = *sent->target;
            os::destroy(sent);
            const auto answer = announce(target, JoinState::detacher());
            WEFT_ASSERT(answer != JoinState::Announced::taken);   // joined and detached at once: the program's bug
            if (answer == JoinState::Announced::done) release_detached(target);
        },
        remote_call);
    return WEFT_OK;
}

template <Company company>
[[gnu::cold, gnu::noinline]] weft_status join_outside(Stream* stream, Unit& unit) {
    if (unit.join_state.done()) {
        learn(unit);
        return ended_status(unit);
    }
    if (weft_status status = may_join(unit); status != WEFT_OK) return status;
    return join_from_thread<company>(unit);
}

}   // namespace

weft_status not_ended(const Unit& unit) {
    return fail(WEFT_BUSY, "unit %llu has not ended", static_cast<unsigned long long>(unit.id));
}

weft_status status_of(Outcome outcome) {
    switch (outcome) {
    case Outcome::returned: break;
    case Outcome::exception: return fail(WEFT_NOT_RETURNED, "an exception has ended the unit");
    case Outcome::cancelled: return fail(WEFT_NOT_RETURNED, "the unit was cancelled");
    case Outcome::no_stack:
        return fail(WEFT_NOT_RETURNED,
                    "the unit has not run: no stack could be had for it, and none would have come free (see "
                    "WEFT_STACK_BYTES, ulimit -v, the cgroup's memory.max)");
    case Outcome::no_pthread:
        return fail(WEFT_NOT_RETURNED,
                    "the hosted unit has not run: the kernel refused a pthread for it (see ulimit -u and the cgroup's "
                    "pids.max)");
    }
    return WEFT_OK;
}

weft_status try_join(Unit& unit) noexcept {
    if (!unit.join_state.done()) return not_ended(unit);
    if (!unit.join_state.done_and_known()) learn(unit);
    return ended_status(unit);
}

weft_status join_unended(Unit& unit) {
    Stream* stream = current_or_null();
    if (stream == nullptr || stream->running == nullptr) [[unlikely]]
        return join_outside<Company::any>(stream, unit);
    return wait_in_unit<Company::any>(stream, unit);
}

weft_status join_alone(Unit& unit) {
    Stream* stream = current_or_null();
    if (stream == nullptr || stream->running == nullptr) [[unlikely]]
        return join_outside<Company::none>(stream, unit);
    return wait_in_unit<Company::none>(stream, unit);
}

weft_status join_taken(Stream& stream, Unit& target) {
    return join_to<Company::any>(stream, *stream.running, target, &target);
}

weft_status join_taken_alone(Stream& stream, Unit& target) {
    return join_to<Company::none>(stream, *stream.running, target, &target);
}

weft_status free_if_ended(Unit& unit) noexcept {
    if (!unit.join_state.done()) return not_ended(unit);
    if (!unit.join_state.done_and_known()) learn(unit);
    release(current_or_null(), unit);
    return WEFT_OK;
}

namespace {

// join_and_free_taken(), for a unit that is not to be called at once.
[[gnu::noinline]] weft_status join_and_free_taken_slow(Unit& unit) { return join_and_free_taken(current(), unit); }

[[gnu::noinline]] weft_status join_and_free_slow(Unit& unit, DequePool::AtOnce found) {
    Stream* stream = current_or_null();
    if (stream == nullptr || stream->running == nullptr) [[unlikely]] {
        const weft_status status = join_outside<Company::none>(stream, unit);
        if (status == WEFT_OK) release(current_or_null(), unit);
        return status;
    }
    if (found == DequePool::AtOnce::unsure && take_next(*stream, unit)) return join_and_free_taken(*stream, unit);
    if (stream->inline_pool->ready.front() == &unit) {
        weft_unit* handle = to_handle(&unit);
        if (call_row(*stream, *stream->running, &handle, 1) != 0) return WEFT_OK;
        stream = current_or_null();
    }
    const weft_status status = wait_in_unit<Company::none>(stream, unit);
    if (status == WEFT_OK) [[likely]]
        release(stream, unit);
    return status;
}

}   // namespace

weft_status join_and_free_unended(Unit& unit) noexcept {
    Stream* const stream = current_or_null();
    auto found = DequePool::AtOnce::unsure;
    if (stream != nullptr && stream->running != nullptr && stream->spare != nullptr && may_take_next(*stream) &&
        stream->common->kind == WEFT_POOL_DEQUE) [[likely]] {
        found = pool::pop_own_if_at_once(static_cast<DequePool&>(*stream->common), &unit);
        if (found == DequePool::AtOnce::popped) [[likely]] {
            if (unit.untouched() && unit.plain_and_unasked()) [[likely]]
                return join_and_free_by_call<Out::taken>(*stream, *stream->running, unit);
            return join_and_free_taken_slow(unit);
        }
    }
    return join_and_free_slow(unit, found);
}

weft_status detach(Unit& unit) {
    if (unit.has_now(Unit::primary)) return fail(WEFT_WRONG_STATE, "the primary unit cannot be detached");
    if (!unit.join_state.done()) {
        if (auto* pool = foreign_pool(unit)) return detach_remotely(unit, *pool);
    }
    switch (announce(unit, JoinState::detacher())) {
    case JoinState::Announced::waiting: return WEFT_OK;
    case JoinState::Announced::done: release_detached(unit); return WEFT_OK;
    case JoinState::Announced::taken: break;
    }
    return fail(WEFT_BUSY, "a unit or thread waits for this unit; it cannot be detached");
}

}   // namespace weft
