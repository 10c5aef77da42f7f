#include "stream/join.hpp"

#include <new>

#include "hart/gate.hpp"
#include "stream/error.hpp"
#include "stream/runtime.hpp"
#include "stream/suspend.hpp"

namespace weft {
namespace {

// A waiter that is no single unit: an OS thread, or somebody who waits for many.
void wake(Joint::Waiter waiter) {
    if (Unit* unit = waiter.unit()) {
        unit->life.move(State::suspended, State::ready);
        resume_claimed(*unit);
    } else {
        waiter.other()->wake(waiter.other());
    }
}

Joint::Waiter publish_end(Unit& unit) {
    probe(Probe::finish_before_publish);
    unit.life.move(State::running, State::done);
    return unit.has(Unit::local) ? unit.joint.finish_local() : unit.joint.finish_shared();
}

// The pool that a local unit's finisher owns; null when the caller may use the Joint as it is.
PrivatePool* foreign_pool(const Unit& unit) {
    if (!unit.has(Unit::local)) return nullptr;
    auto* home = static_cast<PrivatePool*>(unit.pool);
    return home->mine() ? nullptr : home;
}

Joint::Announced announce(Unit& unit, Joint::Waiter waiter) {
    probe(Probe::join_before_announce);
    return unit.has(Unit::local) ? unit.joint.announce_local(waiter) : unit.joint.announce_shared(waiter);
}

// Announces a waiter to a unit of another stream's private pool. Only that stream may touch the unit's Joint, so
// the announcement travels there as a tasklet that needs no memory but the waiter's own.
struct Letter {
    Unit* target = nullptr;
    Joint::Waiter waiter;
    void (*answer)(Letter* letter, Joint::Announced answer) = nullptr;   // on the other stream; its last act may free the letter
    void* context = nullptr;
    Unit unit{};

    void send(PrivatePool& to) {
        unit.body = [](void* raw) {
            auto* letter = static_cast<Letter*>(raw);
            letter->answer(letter, announce(*letter->target, letter->waiter));
        };
        unit.argument = this;
        unit.kind = Kind::tasklet;
        unit.flags = Unit::internal;
        unit.pool = &to;
        to.send(&unit);
    }
};

// ---- one unit, from a ULT --------------------------------------------------------------------------

struct UnitJoin {
    Unit& target;
    Unit& self;
    bool busy = false;
    Letter letter{};

    // After the switch. Once the waiter is announced, this request and its stack are somebody else's.
    void publish() {
        if (auto* pool = foreign_pool(target)) {
            letter.target = &target;
            letter.waiter = Joint::Waiter(&self);
            letter.context = this;
            letter.answer = [](Letter* sent, Joint::Announced answer) {
                static_cast<UnitJoin*>(sent->context)->settle(answer);
            };
            letter.send(*pool);
            return;
        }
        settle(announce(target, Joint::Waiter(&self)));
    }

    void settle(Joint::Announced answer) {
        if (answer == Joint::Announced::waiting) return;
        busy = answer != Joint::Announced::done;
        self.life.move(State::suspended, State::ready);
        resume_claimed(self);
    }
};

weft_status outcome(const Unit& unit) { return static_cast<weft_status>(unit.outcome); }

weft_status join_from_unit(Unit& self, Unit& target) {
    if (&self == &target) return fail(WEFT_WRONG_STATE, "a unit cannot join itself");
    if (self.kind == Kind::tasklet) {
        return fail(WEFT_WRONG_KIND, "a tasklet cannot wait for a unit that has not ended; make it a ULT");
    }
    UnitJoin request{target, self};
    suspend(self, "join", &target, [&request](Unit&) { request.publish(); });
    if (request.busy) return fail(WEFT_BUSY, "somebody waits for this unit already; one at a time may join it");
    return outcome(target);
}

// ---- one unit, from an OS thread -------------------------------------------------------------------

struct ThreadJoin : JoinWaiter {
    Gate gate;
    Letter letter{};
    atomic<bool> busy{false};

    ThreadJoin() {
        wake = [](JoinWaiter* raw) { static_cast<ThreadJoin*>(raw)->gate.open(); };
    }

    void settle(Joint::Announced answer) {
        if (answer == Joint::Announced::waiting) return;
        busy.store(answer != Joint::Announced::done);
        gate.open();
    }
};

weft_status join_from_thread(Unit& target) {
    ThreadJoin request;
    if (auto* pool = foreign_pool(target)) {
        request.letter.target = &target;
        request.letter.waiter = Joint::Waiter(&request);
        request.letter.context = &request;
        request.letter.answer = [](Letter* sent, Joint::Announced answer) {
            static_cast<ThreadJoin*>(sent->context)->settle(answer);
        };
        request.letter.send(*pool);
    } else {
        request.settle(announce(target, Joint::Waiter(&request)));
    }
    request.gate.wait();
    if (request.busy.load()) return fail(WEFT_BUSY, "somebody waits for this unit already; one at a time may join it");
    return outcome(target);
}

// ---- many ------------------------------------------------------------------------------------------

// Waits for many units at once: each end counts down, the last one wakes.
struct GroupJoin : JoinWaiter {
    atomic<std::size_t> left{1};       // one for the joiner itself, so that nobody wakes it before it waits
    Unit& self;

    explicit GroupJoin(Unit& joiner) : self(joiner) {
        wake = [](JoinWaiter* raw) { static_cast<GroupJoin*>(raw)->ended(); };
    }

    // True for the last.
    bool down() { return left.fetch_sub(1) == 1; }

    void ended() {
        if (!down()) return;
        self.life.move(State::suspended, State::ready);
        resume_claimed(self);
    }
};

void join_group(Unit& self, weft_unit* const* units, std::size_t count) {
    GroupJoin group(self);
    for (std::size_t i = 0; i < count; ++i) {
        Unit* unit = to_unit(units[i]);
        if (unit == nullptr || unit == &self || unit->joint.done() || foreign_pool(*unit) != nullptr) continue;
        group.left.fetch_add(1);
        if (announce(*unit, Joint::Waiter(&group)) != Joint::Announced::waiting) group.left.fetch_sub(1);
    }
    if (group.left.load() > 1) suspend(self, "join_many", units, [&group](Unit&) { group.ended(); });
}

// As Letter, but nobody waits for it, so it has memory of its own.
struct DetachLetter {
    Unit unit{};
    Unit* target;

    explicit DetachLetter(Unit& of) : target(&of) {}
};

weft_status detach_by_letter(Unit& unit, PrivatePool& pool) {
    auto* letter = os::make<DetachLetter>(unit);
    if (letter == nullptr) return fail(WEFT_NO_MEMORY, "no memory to tell another stream that a unit is detached");
    letter->unit.body = [](void* raw) {
        auto* sent = static_cast<DetachLetter*>(raw);
        Unit& target = *sent->target;
        os::destroy(sent);
        const auto answer = target.joint.detach_local();
        WEFT_ASSERT(answer != Joint::Announced::taken);   // joined and detached at once: the program's bug
        if (answer == Joint::Announced::done) release(target);
    };
    letter->unit.argument = letter;
    letter->unit.kind = Kind::tasklet;
    letter->unit.flags = Unit::internal;
    letter->unit.pool = &pool;
    pool.send(&letter->unit);
    return WEFT_OK;
}

}  // namespace

void run_body(Unit& unit) noexcept {
    unit.outcome = WEFT_OK;
    try {
        unit.body(unit.argument);
    } catch (...) {
        new (&unit.argument) std::exception_ptr(std::current_exception());
        unit.outcome = WEFT_EXCEPTION;
    }
}

void end_unit(Unit& unit) {
    const Joint::Waiter waiter = publish_end(unit);
    if (waiter.none()) return;
    if (waiter.detached()) {
        release(unit);
        return;
    }
    wake(waiter);
}

void finish_and_wake(Joint& joint) {
    const Joint::Waiter waiter = joint.finish_shared();
    if (!waiter.none()) wake(waiter);
}

weft_status join(Unit& unit) {
    if (unit.joint.done()) return outcome(unit);
    Stream* stream = current_or_null();
    if (stream == nullptr) return join_from_thread(unit);
    if (stream->running == nullptr) return fail(WEFT_WRONG_CONTEXT, "a scheduler cannot join; only units and OS threads can");
    return join_from_unit(*stream->running, unit);
}

weft_status join_many(weft_unit* const* units, std::size_t count) {
    Unit* self = running_or_null();
    if (self != nullptr && self->kind != Kind::tasklet && count > 1) join_group(*self, units, count);
    weft_status worst = WEFT_OK;
    for (std::size_t i = 0; i < count; ++i) {
        if (units[i] == nullptr) continue;
        const weft_status status = join(*to_unit(units[i]));   // most have ended: one load
        if (status == WEFT_BUSY || status == WEFT_WRONG_KIND || status == WEFT_WRONG_STATE || status == WEFT_WRONG_CONTEXT) {
            return status;
        }
        if (worst == WEFT_OK) worst = status;
    }
    return worst;
}

void release(Unit& unit) {
    if (unit.outcome == WEFT_EXCEPTION) [[unlikely]] {
        unit.exception().~exception_ptr();
        unit.outcome = WEFT_OK;
    }
    unit.life.move(State::done, State::free);
    if constexpr (config::checked) ++unit.generation;
    if (auto* stream = current_or_null()) [[likely]] {
        stream->heap->units->give(&unit);
    } else {
        runtime().give_outside(unit);
    }
}

weft_status detach(Unit& unit) {
    if (unit.has(Unit::bound)) return fail(WEFT_WRONG_STATE, "the primary unit cannot be detached");
    if (!unit.joint.done()) {
        if (auto* pool = foreign_pool(unit)) return detach_by_letter(unit, *pool);
    }
    switch (unit.has(Unit::local) ? unit.joint.detach_local() : unit.joint.detach_shared()) {
    case Joint::Announced::waiting: return WEFT_OK;
    case Joint::Announced::done: release(unit); return WEFT_OK;
    case Joint::Announced::taken: break;
    }
    return fail(WEFT_BUSY, "somebody waits for this unit; it cannot be detached");
}

}  // namespace weft
