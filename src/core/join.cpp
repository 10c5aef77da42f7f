#include "core/join.hpp"

#include <cstdio>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

#include "core/migrate.hpp"
#include "core/suspend.hpp"
#include "hart/gate.hpp"
#include "local/extras.hpp"
#include "local/own_float.hpp"
#include "observe/observe.hpp"
#include "os/error_text.hpp"
#include "process/error.hpp"
#include "process/outside_wait.hpp"
#include "process/process.hpp"
#include "unit/crowd.hpp"

namespace weft {

weft_status busy_status() {
    return fail(WEFT_BUSY, "somebody else waits for this unit already, and whoever frees it waits alone; or it is detached");
}

weft_status may_join(const Unit& target) {
    // Nobody comes to its Joint as long as it runs, and it runs as long as its stream. One in a pool is not bound; its scheduler may be gone by now.
    if (target.has_now(Unit::scheduler) && target.has_now(Unit::bound)) return fail(WEFT_WRONG_STATE, "the unit is a stream's scheduler, and ends with that");
    Stream* stream = current_or_null();
    Unit* self = stream == nullptr ? nullptr : stream->running;
    if (target.has_now(Unit::primary)) return fail(WEFT_WRONG_STATE, "the primary unit ends with the runtime; nobody joins it");
    if (stream == nullptr) return WEFT_OK;
    if (self == nullptr) return fail(WEFT_WRONG_CONTEXT, "a scheduler cannot join; only units and OS threads can");
    if (self == &target) return fail(WEFT_WRONG_STATE, "a unit cannot join itself");
    if (self->kind == Kind::tasklet) {
        return fail(WEFT_WRONG_KIND, "a tasklet cannot wait for a unit that has not ended; make it a ULT");
    }
    return WEFT_OK;
}

void note(GivenUp& wait) {
    Process& of = process();
    std::lock_guard guard(of.given_up_lock);
    wait.next = of.given_up;
    of.given_up = &wait;
}

namespace {

// What is on the list lives; what is not on it any more has been forgotten, and the unit may be gone.
template <class Which>
void forget_where(Which which) {
    Process& of = process();
    std::lock_guard guard(of.given_up_lock);
    for (GivenUp** at = &of.given_up; *at != nullptr;) {
        GivenUp* const wait = *at;
        if (which(*wait)) {
            *at = wait->next;
            wait->forget(wait->waiter);
        } else {
            at = &wait->next;
        }
    }
}

// Of a unit that is local no more.
[[gnu::noinline]] void forget_those_who_gave_up(const Unit& unit) {
    forget_where([&unit](const GivenUp& wait) { return wait.target == &unit; });
}

}  // namespace

void forget_noted(GivenUp& wait) {
    forget_where([&wait](const GivenUp& listed) { return &listed == &wait; });
}

Joint::Announced announce(Unit& unit, Joint::Waiter waiter) {
    probe(Probe::join_before_announce);
    if (!unit.has_now(Unit::local)) {
        const Joint::Announced answer = unit.joint.announce_shared(waiter);
        if (answer != Joint::Announced::taken) [[likely]] return answer;
        forget_those_who_gave_up(unit);
        return unit.joint.announce_shared(waiter);
    }
    const Joint::Announced answer = unit.joint.announce_local(waiter);
    if (answer != Joint::Announced::taken) [[likely]] return answer;
    // One whose deadline has come may not have been forgotten yet, where that takes a letter.
    return forget_given_up(unit.joint) ? unit.joint.announce_local(waiter) : answer;
}

namespace {

// One unit, or a waiter that is none: an OS thread, somebody who waits for many, a crowd.
void wake(Joint::Waiter waiter) {
    if (Unit* unit = waiter.unit()) {
        unit->life.move(State::waiting, State::ready);
        resume_claimed(current_or_null(), *unit);
    } else {
        waiter.other()->wake(waiter.other());
    }
}

void resume_joiner(Unit& joiner) {
    joiner.life.move(State::waiting, State::ready);
    resume_claimed(current_or_null(), joiner);
}

// Several that the end of a unit has found. How it ended is looked at before anybody goes on: the first may free it.
struct Crowd {
    std::uint8_t outcome;
    Joint::Row row;

    explicit Crowd(Joint::Waiter top) : outcome(static_cast<const Unit*>(top.other()->of)->outcome), row(take_crowd(top)) {}

    void tell_all_but_first() const {
        for (JoinWaiter* waiter = row.rest; waiter != nullptr;) {
            JoinWaiter* const next = Joint::Row::next(*waiter);   // it may be gone with its wait
            waiter->told(waiter, outcome);
            waiter = next;
        }
    }
};

void wake_crowd(JoinWaiter* top) {
    probe(Probe::finish_before_crowd);
    const Crowd crowd(Joint::Waiter::over(*top));
    if (!crowd.row.first.none()) wake(crowd.row.first);
    crowd.tell_all_but_first();
}

// What one is told that is not alone, and who has not been told (none) reads the unit's outcome itself. Not 0, so that one look tells which.
struct Told {
    static constexpr std::uint8_t none = 0, refused = 0xff;
    static constexpr std::uint8_t ended(std::uint8_t outcome) { return static_cast<std::uint8_t>(outcome + 1); }
    static weft_status status(std::uint8_t told) { return told == refused ? busy_status() : outcome_told(static_cast<std::uint8_t>(told - 1)); }
};

// Whether one who comes when others wait already waits besides.
enum class Company : bool { none, any };

// Announces a waiter to a unit of another stream's private pool. Only that stream may touch the unit's Joint, so
// the announcement travels there as a tasklet that needs no memory but the waiter's own.
struct Letter {
    Unit* target = nullptr;
    Joint::Waiter waiter;
    void (*answer)(Letter* letter, Joint::Announced answer) = nullptr;   // on the other stream; its last act may free the letter
    void* context = nullptr;
    Unit unit{};

    // When it arrives the target may have gone from there to another pool: then it is announced to as others are.
    void send(PrivatePool& to) {
        send_letter(unit, to, [](void* raw) {
            auto* letter = static_cast<Letter*>(raw);
            const Joint::Announced announced = announce(*letter->target, letter->waiter);
            // Once it waits it may have been woken, and be gone with the letter: its target may be another stream's by now.
            if (announced != Joint::Announced::waiting) letter->answer(letter, announced);
        }, this);
    }
};

// ---- one unit, from a ULT --------------------------------------------------------------------------

template <Company company>
struct UnitJoin : Suspension {
    Unit& target;
    std::uint8_t told = Told::none;

    // Of one who comes over others; not made before, since most need none.
    struct Later : JoinWaiter {
        UnitJoin& by;
        explicit Later(UnitJoin& join) : by(join) {}
    };
    alignas(Later) std::byte later[sizeof(Later)];

    UnitJoin(Unit& joiner, Unit& joined) : Suspension{joiner}, target(joined) {}

    void publish() { settle(announce(target, Joint::Waiter(&self))); }

    void settle(Joint::Announced answer) {
        if (answer == Joint::Announced::waiting) [[likely]] return;
        if (company == Company::any && answer == Joint::Announced::taken) {
            answer = come_over();
            if (answer == Joint::Announced::waiting) return;
        }
        if (answer == Joint::Announced::done) {
            learn(target);
        } else {
            told = Told::refused;
        }
        resume_joiner(self);
    }

    [[gnu::noinline]] Joint::Announced come_over() {
        auto& waiter = *new (later) Later(*this);
        return weft::come_over(target, waiter, [](JoinWaiter* raw, std::uint8_t outcome) {
            UnitJoin& to = static_cast<Later*>(raw)->by;
            to.told = Told::ended(outcome);
            resume_joiner(to.self);
        });
    }

    weft_status answer() const { return told == Told::none ? outcome(target) : Told::status(told); }
};

template <Company company>
struct UnitJoinByLetter : UnitJoin<company> {
    PrivatePool& home;
    Letter letter{};

    UnitJoinByLetter(Unit& joiner, Unit& of, PrivatePool& at) : UnitJoin<company>(joiner, of), home(at) {}

    void publish() {
        letter.target = &this->target;
        letter.waiter = Joint::Waiter(&this->self);
        letter.context = this;
        letter.answer = [](Letter* sent, Joint::Announced answer) {
            static_cast<UnitJoinByLetter*>(sent->context)->settle(answer);
        };
        letter.send(home);
    }
};

template <Company company>
[[gnu::noinline]] weft_status join_by_letter(Stream& stream, Unit& self, Unit& target, PrivatePool& home) {
    UnitJoinByLetter<company> request(self, target, home);
    suspend(stream, request, Waits::as_stated, to_handle(&target));
    return request.answer();
}

// The unit is local to no other stream. `next`: taken out of its pool, or null: who runs meanwhile.
template <Company company>
[[gnu::noinline]] weft_status join_towards(Stream& stream, Unit& self, Unit& target, Unit* next) {
    if (next == &target && may_call_taken(stream, target) && announce(target, Joint::Waiter(&self)) == Joint::Announced::waiting) {
        call_taken(stream, self, target);
        return outcome(target);
    }
    UnitJoin<company> request(self, target);
    suspend_towards(stream, request, next, Waits::as_stated, to_handle(&target));
    return request.answer();
}

// The general case: the unit may be any stream's.
template <Company company>
[[gnu::noinline]] weft_status join_with_care(Stream& stream, Unit& self, Unit& target) {
    if (weft_status status = may_join(target); status != WEFT_OK) return status;
    if (auto* home = foreign_pool(target)) return join_by_letter<company>(stream, self, target, *home);
    return join_towards<company>(stream, self, target, take_next(stream, target) ? &target : detail::successor(stream));
}

// What a wait came to.
enum class Waited : unsigned char {
    ended,      // the unit has ended, and says how
    told,       // `status` says how; the unit may be gone
    refused,    // `status` says why it was not waited for
};

// `stream` becomes the one that the joiner comes back on.
template <Company company>
[[gnu::always_inline]] inline Waited wait_in_unit(Stream*& stream, Unit& target, weft_status& status) {
    Unit& self = *stream->running;
    if (target.joint.untouched()) [[likely]] {
        if (may_call_at_once(*stream, target)) [[likely]] {
            call_and_wait<Out::first>(*stream, self, target, end_quietly);
            stream = current_or_null();
            return Waited::ended;
        }
        weft_unit* const alone = to_handle(&target);
        const bool called = call_row(*stream, self, &alone, 1) != 0;
        stream = current_or_null();
        if (called) return Waited::ended;
    }
    if (target.joint.done()) {
        learn(target);
        return Waited::ended;
    }
    // The pool first, as in unit/whereabouts.hpp: in this stream's pool it is local by this stream's own word.
    if (target.pool_now() != stream->direct || !target.has(Unit::local) || self.kind == Kind::tasklet || target.has(Unit::primary) ||
        target.life.is(State::running)) [[unlikely]] {
        status = join_with_care<company>(*stream, self, target);
        stream = current_or_null();
        return means_end(status) ? Waited::told : Waited::refused;
    }
    // The target ends on this stream, as a unit of its private pool, and nobody else looks at its Joint: it may know
    // its joiner before the joiner has left.
    probe(Probe::join_before_announce);
    if (target.joint.announce_local(&self) != Joint::Announced::waiting) [[unlikely]] {
        status = join_with_care<company>(*stream, self, target);
        stream = current_or_null();
        return means_end(status) ? Waited::told : Waited::refused;
    }
    stream = &suspend_published(*stream, self, target);
    return Waited::ended;
}

// ---- one unit, from an OS thread -------------------------------------------------------------------

struct ThreadJoin : JoinWaiter {
    Gate gate;
    Letter letter{};
    atomic<std::uint8_t> told{Told::none};

    ThreadJoin() {
        wake = [](JoinWaiter* raw) { static_cast<ThreadJoin*>(raw)->gate.open(); };
    }

    template <Company company>
    void settle(Joint::Announced answer) {
        if (company == Company::any && answer == Joint::Announced::taken) {
            answer = come_over(*letter.target, *this, [](JoinWaiter* raw, std::uint8_t outcome) {
                auto* self = static_cast<ThreadJoin*>(raw);
                self->told.store(Told::ended(outcome));
                self->gate.open();
            });
        }
        if (answer == Joint::Announced::waiting) return;
        if (answer == Joint::Announced::done) {
            learn(*letter.target);
        } else {
            told.store(Told::refused);
        }
        gate.open();
    }
};

template <Company company>
[[gnu::noinline]] weft_status join_from_thread(Unit& target) {
    ThreadJoin request;
    request.letter.target = &target;
    if (auto* pool = foreign_pool(target)) {
        request.letter.waiter = Joint::Waiter(&request);
        request.letter.context = &request;
        request.letter.answer = [](Letter* sent, Joint::Announced answer) {
            static_cast<ThreadJoin*>(sent->context)->settle<company>(answer);
        };
        request.letter.send(*pool);
    } else {
        request.settle<company>(announce(target, Joint::Waiter(&request)));
    }
    const OutsideWait outside;
    request.gate.wait();
    const std::uint8_t told = request.told.load();
    return told == Told::none ? outcome(target) : Told::status(told);
}

// ---- many ------------------------------------------------------------------------------------------

// Waits for many units at once: each end counts down, the last one wakes.
struct GroupJoin : JoinWaiter, Suspension {
    atomic<std::size_t> left{1};       // one for the joiner itself, so that nobody wakes it before it waits

    explicit GroupJoin(Unit& joiner) : Suspension{joiner} {
        wake = [](JoinWaiter* raw) { static_cast<GroupJoin*>(raw)->ended(); };
    }

    void publish() { ended(); }

    void ended() {
        if (left.fetch_sub(1) != 1) return;
        self.life.move(State::waiting, State::ready);
        resume_claimed(current_or_null(), self);
    }
};

// Announces the joiner to all units at once. Not to those of private pools: one stream runs them in their order, so that a
// joiner who waits for the first finds the others ended.
[[gnu::noinline]] void join_group(Unit& self, weft_unit* const* units, std::size_t count) {
    GroupJoin group(self);
    for (std::size_t i = 0; i < count; ++i) {
        Unit* unit = to_unit(units[i], "weft_unit_join_many or weft_unit_free_many");
        if (unit == nullptr || unit == &self || unit->has_now(Unit::local) || unit->joint.done()) continue;
        group.left.fetch_add(1);
        if (announce(*unit, Joint::Waiter(&group)) != Joint::Announced::waiting) group.left.fetch_sub(1);
    }
    if (group.left.load() > 1) suspend(current(), group, Waits::join_many, units);
}

// Of a unit that has not run, and was detached only then: one that is detached before does not end so (shortage.hpp).
[[gnu::cold, gnu::noinline]] void tell_everybody(const Unit& unit) {
    tell_refusal(unit);
    std::fprintf(stderr, "weft: %s; it was detached, so that nobody else is told\n", os::error_text());
}

// It had ended when it was detached.
void release_detached(Unit& unit) {
    if (is_refused(static_cast<weft_status>(unit.outcome)) && !unit.joint.done_and_known()) tell_everybody(unit);
    release(current_or_null(), unit);
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
    send_letter(letter->unit, pool, [](void* raw) {
        auto* sent = static_cast<DetachLetter*>(raw);
        Unit& target = *sent->target;
        os::destroy(sent);
        const auto answer = announce(target, Joint::detacher());
        WEFT_ASSERT(answer != Joint::Announced::taken);   // joined and detached at once: the program's bug
        if (answer == Joint::Announced::done) release_detached(target);
    }, letter);
    return WEFT_OK;
}

}  // namespace

PrivatePool* foreign_pool(const Unit& unit) {
    auto* home = static_cast<PrivatePool*>(unit.local_pool());
    WEFT_ASSERT(home == nullptr || home->kind == WEFT_POOL_PRIVATE);
    return home == nullptr || home->mine() ? nullptr : home;
}

void send_letter(Unit& letter, PrivatePool& to, void (*body)(void*), void* argument) {
    letter.body = body;
    letter.argument = argument;
    letter.kind = Kind::tasklet;
    letter.flags = Unit::internal;
    letter.pool = &to;
    to.send(&letter);
}

namespace {

// noexcept: what nobody can learn ends the process, as with a std::thread, and the C++ library says what it was.
[[noreturn]] void terminate_with(std::exception_ptr exception) noexcept { std::rethrow_exception(std::move(exception)); }

}  // namespace

void tell(Unit* detached, Joint::Waiter waiter) {
    if (waiter.detached()) {
        if (detached->outcome == WEFT_EXCEPTION) [[unlikely]] terminate_with(detached->exception());
        if (is_refused(static_cast<weft_status>(detached->outcome))) [[unlikely]] tell_everybody(*detached);
        if (detached->marked(Unit::observed)) detached->joint.detach_again();
        release(current_or_null(), *detached);
        return;
    }
    wake(waiter);
}

void end_unit(Stream& stream, Unit& unit) {
    probe(Probe::finish_before_publish);
    unit.life.move(State::running, State::done);
    Joint::Waiter waiter;
    if (unit.has(Unit::local)) {
        waiter = unit.joint.finish_local();   // a private pool is none of the user's
    } else {
        pool::belongs_no_more(unit);
        waiter = unit.joint.finish_shared();
    }
    tell_movers_of_end(&unit);
    if (!waiter.none()) tell(&unit, waiter);
}

void end_unit_carefully(Stream& stream, Unit& unit) {
    const bool refused = is_refused(static_cast<weft_status>(unit.outcome));
    if (!refused && !unit.marked(Unit::observed)) return end_unit(stream, unit);
    probe(Probe::finish_before_publish);
    unit.life.move(State::running, State::done);
    Joint::Waiter waiter;
    if (unit.has(Unit::local)) {
        waiter = unit.joint.finish_local_as_news();
    } else {
        pool::belongs_no_more(unit);
        waiter = unit.joint.finish_shared_as_news();
    }
    tell_movers_of_end(&unit);
    if (waiter.none()) return;
    JoinWaiter* const other = waiter.crowd() ? nullptr : waiter.other();
    const bool gone = waiter.detached() || (other != nullptr && other->given_up != nullptr && other->given_up(other));
    if (!gone) learn(unit);   // for the waiter, who has not been woken yet: until then the unit stays
    tell(&unit, waiter);
}

void finish_and_wake(Joint& joint) {
    const Joint::Waiter waiter = joint.finish_shared();
    if (!waiter.none()) wake(waiter);
}

namespace {

template <Company company>
[[gnu::cold, gnu::noinline]] weft_status join_outside(Stream* stream, Unit& unit) {
    if (unit.joint.done()) {
        learn(unit);
        return outcome(unit);
    }
    if (weft_status status = may_join(unit); status != WEFT_OK) return status;
    return join_from_thread<company>(unit);
}

}  // namespace

weft_status outcome_told(std::uint8_t outcome) {
    const auto how = static_cast<weft_status>(outcome);
    if (how == WEFT_NO_MEMORY) return fail(how, "the unit has not run: no stack could be had for it, and none would have come free (see WEFT_STACK_BYTES, ulimit -v, the cgroup's memory.max)");
    if (how == WEFT_SYSTEM) return fail(how, "the hosted unit has not run: the kernel refused a pthread for it (see ulimit -u and the cgroup's pids.max)");
    return how;
}

void tell_refusal(const Unit& unit) {
    if (!is_refused(static_cast<weft_status>(unit.outcome))) return;
    const auto id = static_cast<unsigned long long>(unit.id);
    if (unit.kind == Kind::hosted) {
        fail(WEFT_SYSTEM, "hosted unit %llu has not run: the kernel refused a pthread for it, and no other one would "
                          "have come free (see ulimit -u and the cgroup's pids.max)", id);
        return;
    }
    const std::size_t wanted = unit.wanted_stack_bytes();
    const std::size_t bytes = wanted != 0 ? wanted : process().settings.values.stack_bytes;
    fail(WEFT_NO_MEMORY, "unit %llu has not run: no stack of %zu bytes could be had, and none would have come free; "
                         "have fewer units at once, or smaller stacks (WEFT_STACK_BYTES, stack_bytes), or see "
                         "ulimit -v, the cgroup's memory.max and vm.max_map_count", id, bytes);
}

weft_status join_unended(Unit& unit) {
    Stream* stream = current_or_null();
    if (stream == nullptr || stream->running == nullptr) [[unlikely]] return join_outside<Company::any>(stream, unit);
    weft_status status;
    return wait_in_unit<Company::any>(stream, unit, status) == Waited::ended ? outcome(unit) : status;
}

weft_status join_alone(Unit& unit) {
    Stream* stream = current_or_null();
    if (stream == nullptr || stream->running == nullptr) [[unlikely]] return join_outside<Company::none>(stream, unit);
    weft_status status;
    return wait_in_unit<Company::none>(stream, unit, status) == Waited::ended ? outcome(unit) : status;
}

Joint::Announced come_over(Unit& unit, JoinWaiter& waiter, void (*told)(JoinWaiter*, std::uint8_t)) {
    probe(Probe::join_before_crowd);
    return announce_over(unit, waiter, wake_crowd, told);
}

Unit* tell_others(Joint::Waiter top) {
    const Crowd crowd(top);
    crowd.tell_all_but_first();
    return crowd.row.first.sole_unit();
}

weft_status free_ended(Unit& unit) noexcept {
    const auto status = static_cast<weft_status>(unit.outcome);   // a refused one comes to free_unended(): it stays news
    release(current_or_null(), unit);
    return status;
}

namespace {

// The running ULT frees a unit that take_next() has given it.
[[gnu::always_inline]] inline weft_status free_taken(Stream& stream, Unit& unit) {
    Unit& self = *stream.running;
    if (unit.untouched() && unit.plain_and_unasked()) [[likely]] return free_by_call<Out::taken>(stream, self, unit);
    if (may_call_taken_tasklet(stream, unit)) return free_tasklet_by_call<Out::taken>(stream, self, unit);
    const weft_status status = join_towards<Company::none>(stream, self, unit, &unit);
    if (means_end(status)) release(current_or_null(), unit);
    return status;
}

}  // namespace

weft_status free_unended(Unit& unit) noexcept {
    Stream* stream = current_or_null();
    weft_status status;
    if (stream == nullptr || stream->running == nullptr) [[unlikely]] {
        status = join_outside<Company::none>(stream, unit);
        if (means_end(status)) release(current_or_null(), unit);
        return status;
    }
    if (take_next(*stream, unit)) return free_taken(*stream, unit);
    if (stream->callable->ready.front() == &unit) {
        weft_unit* handle = to_handle(&unit);
        if (call_row(*stream, *stream->running, &handle, 1) != 0) return WEFT_OK;
        stream = current_or_null();
    }
    const Waited waited = wait_in_unit<Company::none>(stream, unit, status);
    if (waited == Waited::refused) [[unlikely]] return status;
    if (waited == Waited::ended) status = outcome(unit);
    release(stream, unit);
    return status;
}

namespace {

// How the first unit ended, in their order, that did not end well.
struct Worst {
    weft_status status = WEFT_OK;
    std::size_t place = SIZE_MAX;

    void note(weft_status of, std::size_t at) {
        if (of == WEFT_OK || at > place) return;
        status = of;
        place = at;
    }
};

// Calls those that are next in the common pool as their turns come; others draw from it meanwhile, so that some may be passed over. What is not freed here will
// be asked for once more.
template <class Handle>
[[gnu::noinline]] void call_those_at_hand(Unit& self, Handle* units, std::size_t count, Worst& worst) {
    for (std::size_t i = 0; i < count; ++i) {
        Stream& stream = current();
        Unit* const unit = to_unit(units[i], call_on_many<Handle>);
        if (unit == nullptr || !take_next(stream, *unit)) continue;
        if constexpr (std::is_const_v<Handle>) {
            join_towards<Company::any>(stream, self, *unit, unit);
        } else if (const weft_status status = free_taken(stream, *unit); means_end(status)) {
            worst.note(status, i);
            units[i] = nullptr;
        }
    }
}

}  // namespace

template <class Handle>
weft_status join_many(Handle* units, std::size_t count) {
    Stream* stream = current_or_null();
    Unit* self = stream == nullptr ? nullptr : stream->running;
    const bool shared = count > 1 && units[0] != nullptr && !to_unit(units[0], call_on_many<Handle>)->has_now(Unit::local);
    Worst worst;
    if (shared && self != nullptr && self->kind != Kind::tasklet) {
        call_those_at_hand(*self, units, count, worst);
        join_group(*self, units, count);
    }
    for (std::size_t i = 0; i < count;) {
        if (units[i] == nullptr) {
            ++i;
            continue;
        }
        Unit& unit = *to_unit(units[i], call_on_many<Handle>);
        if (self != nullptr && (stream = current_or_null())->callable->ready.front() == &unit) {
            if (const std::size_t ended = call_row(*stream, *self, units + i, count - i)) {
                i += ended;
                continue;
            }
        }
        // Most have ended: one load.
        const weft_status status = unit.joint.done_and_known() ? outcome(unit) : std::is_const_v<Handle> ? join_unended(unit) : join_alone(unit);
        if (status == WEFT_BUSY || status == WEFT_WRONG_KIND || status == WEFT_WRONG_STATE || status == WEFT_WRONG_CONTEXT) {
            return status;
        }
        worst.note(status, i);
        if constexpr (!std::is_const_v<Handle>) {
            release(current_or_null(), unit);
            units[i] = nullptr;
        }
        ++i;
    }
    return worst.status;
}
template weft_status join_many(weft_unit**, std::size_t);
template weft_status join_many(weft_unit* const*, std::size_t);

void keep_exception() noexcept {
    Unit& unit = *current().running;
    new (&unit.argument) std::exception_ptr(std::current_exception());
    end_with(unit, WEFT_EXCEPTION);
}

namespace {

// Whether a unit that has ended has suspended. One that began as a call is light still if it has not; of others the context tells, which one that
// has called whom it waited for has as well: it may be taken for one that suspends, which costs it less than the other mistake.
bool has_suspended(const Unit& unit) { return !unit.is_light() && (begins_light(unit.kind) || unit.context != nullptr); }

}  // namespace

void tidy_up(Unit& unit) {
    if (unit.marked(Unit::observed)) observe(trace::Event::free, unit);
    if (unit.outcome == WEFT_EXCEPTION) unit.exception().~exception_ptr();
    if (unit.marked(Unit::extras)) drop_extras(unit, current_or_null());
    if (unit.marked(Unit::untidy)) forget_own_float(unit);
    if (const unsigned tag = unit.spawn_tag(); tag != 0) sites.learn(tag, has_suspended(unit));
    unit.entries = 0;
}

void give_outside(Unit& unit) { process().give_outside(unit); }

weft_status detach(Unit& unit) {
    if (unit.has_now(Unit::primary)) return fail(WEFT_WRONG_STATE, "the primary unit cannot be detached");
    if (!unit.joint.done()) {
        if (auto* pool = foreign_pool(unit)) return detach_by_letter(unit, *pool);
    }
    switch (announce(unit, Joint::detacher())) {
    case Joint::Announced::waiting: return WEFT_OK;
    case Joint::Announced::done:
        release_detached(unit);
        return WEFT_OK;
    case Joint::Announced::taken: break;
    }
    return fail(WEFT_BUSY, "somebody waits for this unit; it cannot be detached");
}

}  // namespace weft
