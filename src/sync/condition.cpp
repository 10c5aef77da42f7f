#include "sync/condition.hpp"

#include <utility>

#include "sync/objects.hpp"

namespace weft::sync {
namespace {

// How many times in a row a stream is passed on from a waiting unit to the one that it has signalled, before the others on
// it have their turn.
constexpr std::uint32_t passes_in_a_row = 64;

// The unit waits, and lets the mutex go, once its context is saved.
struct Release : Suspension {
    Condition& condition;
    Mutex& mutex;
    Waiter& waiter;

    Release(Unit& unit, Condition& at, Mutex& of, Waiter& as) : Suspension{unit}, condition(at), mutex(of), waiter(as) {}

    void publish() {
        Mutex let_go = mutex;   // a copy: the unit, and its stack, may go on as soon as it is in the ring and can be signalled
        condition.enlist(waiter, let_go);
        if (let_go.body().signalled != nullptr) {
            Condition::pay_and_unlock(let_go);
        } else if (!let_go.unlock_quickly()) {
            let_go.unlock_slow();
        }
    }
};

// The same where the mutex goes on with the stream to the next unit, which is its holder already.
struct Pass : Suspension {
    Condition& condition;
    Mutex& mutex;
    Waiter& waiter;

    Pass(Unit& unit, Condition& at, Mutex& of, Waiter& as) : Suspension{unit}, condition(at), mutex(of), waiter(as) {}

    void publish() { condition.finish_pass(waiter, mutex); }
};

void lock_again(Mutex& mutex, Waiter& waiter) {
    Mutex::ask(waiter, Urgency::normal, true);
    while (!mutex.take(waiter)) {
        waiter.answer = Answer::none;
        const Caller caller;   // asked anew: it may be on another stream after each wait
        wait_at(caller, mutex, waiter, forever, "mutex", mutex.address());
        if (waiter.answer != Answer::woken) return;
    }
}

void unlock(Mutex& mutex) {
    if (mutex.body().signalled != nullptr) {
        Condition::pay_and_unlock(mutex);
    } else if (!mutex.unlock_quickly()) {
        mutex.unlock_slow();
    }
}

// From an OS thread, or where something else than a signal may end the wait, or where it may be short.
[[gnu::noinline]] weft_status wait_parked(Caller caller, Condition& condition, Mutex& mutex, std::uint64_t deadline_ns,
                                          bool (*unless)(void*), void* argument) {
    Party party(caller, deadline_ns != forever);
    Waiter waiter(party);
    if (!condition.enlist(waiter, mutex, [&] { return unless != nullptr && unless(argument); })) return WEFT_OK;
    unlock(mutex);
    const bool woken = party.park(deadline_ns, "condition", condition.address());
    if (!woken) condition.withdraw(waiter);
    if (waiter.answer != Answer::given) lock_again(mutex, waiter);
    return woken ? WEFT_OK : too_late();
}

// Of several that could take the stream's next turn, the one that has been signalled and is at home here.
bool may_follow(const Waiter& waiter, const Unit& self) {
    const Unit* unit = waiter.who.plain_unit();
    return unit != nullptr && unit->pool == self.pool;
}

// From a ULT, without a deadline: the cheapest way.
[[gnu::always_inline]] inline weft_status wait_suspended(Stream& stream, Unit& self, Condition& condition, Mutex& mutex) {
    Waiter waiter(self);
    Waiter* next = nullptr;
    if (!stream.wanted() && ++stream.passes % passes_in_a_row != 0) {
        next = condition.begin_pass(mutex, [&](const Waiter& first) { return may_follow(first, self); });
    }
    if (next != nullptr) {
        Unit& heir = *next->who.plain_unit();
        next->answer = Answer::given;
        mutex.set_owner(&heir);
        heir.life.move(State::waiting, State::ready);
        stream.counters.add(trace::Count::resumed);
        Pass pass(self, condition, mutex, waiter);
        suspend_towards(stream, pass, &heir, "condition", condition.address());
    } else {
        Unit* successor = weft::detail::successor(stream);
        if (successor == nullptr && worth_spinning(stream)) {
            return wait_parked(Caller(), condition, mutex, forever, nullptr, nullptr);
        }
        Release release(self, condition, mutex, waiter);
        suspend_towards(stream, release, successor, "condition", condition.address());
    }
    if (waiter.answer != Answer::given) lock_again(mutex, waiter);
    return WEFT_OK;
}

}  // namespace

[[gnu::noinline]] weft_status wait_condition(Condition condition, Mutex mutex) {
    Stream* const stream = current_or_null();
    Unit* const self = stream == nullptr ? nullptr : stream->running;
    // The holder is a ULT, which has locked it once, and nobody waits with another mutex.
    const bool plain = self != nullptr && mutex.owner() == self && self->kind != Kind::tasklet && !mutex.is_recursive() &&
                       (condition.protected_by(mutex.address()) || condition.length() == 0);
    if (!plain) [[unlikely]] return wait_condition(condition, mutex, forever, nullptr, nullptr);
    const weft_status status = wait_suspended(*stream, *self, condition, mutex);
    note_holder(mutex, self, self);
    return status;
}

[[gnu::noinline]] weft_status wait_condition(Condition condition, Mutex mutex, std::uint64_t deadline_ns, bool (*unless)(void*),
                                             void* argument) {
    const Caller caller;
    if (!caller.may_wait()) return may_not_wait(caller, "condition");
    if (!mutex.is_held() || mutex.owner() != caller.identity()) {
        return fail(WEFT_WRONG_STATE, "the caller does not hold the mutex; who waits locks it first");
    }
    if (!condition.goes_with(mutex)) return fail(WEFT_INVALID, "others wait for the condition with another mutex");
    const std::uint32_t depth = std::exchange(mutex.body().depth, 0);
    const bool simple = caller.ult() && deadline_ns == forever && unless == nullptr;
    const weft_status status = simple ? wait_suspended(*caller.stream, *caller.unit, condition, mutex)
                                      : wait_parked(caller, condition, mutex, deadline_ns, unless, argument);
    mutex.body().depth = depth;
    note_holder(mutex, caller.unit, caller.identity());
    return status;
}

[[gnu::noinline]] void signal(Condition condition) {
    const std::uint32_t waiting = condition.length();
    if (waiting == 0) return;
    const Unit* const unit = running_or_null();
    if (unit == nullptr || !condition.protected_by(unit->latest_lock) || !condition.signal_held(waiting)) [[unlikely]] condition.signal();
}

weft_status settle(Condition condition, Mutex mutex) {
    if (mutex.body().signalled == &condition.body()) Condition::pay(mutex);
    if (condition.length() != 0) return fail(WEFT_BUSY, "%u still wait for the condition; wake them first", condition.length());
    return WEFT_OK;
}

}  // namespace weft::sync
