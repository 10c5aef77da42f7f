// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sync/condition.hpp"

#include <new>
#include <utility>

#include "sync/objects.hpp"

namespace weft::sync {
namespace {

// How many times in a row a stream is passed on from a waiting unit to the one that it has
// signalled, before the other units on the stream have their turn.
constexpr std::uint32_t passes_in_a_row = 64;

// The unit waits, and releases the mutex once its context is saved.
struct Release : Suspension {
    Condition& condition;
    Mutex& mutex;
    Waiter& waiter;

    Release(Unit& unit, Condition& at, Mutex& of, Waiter& as)
        : Suspension{unit}, condition(at), mutex(of), waiter(as) {}

    void publish() {
        // a copy: the unit may run, and its stack change, as soon as it is in the ring and can be
        // signalled
        Mutex let_go = mutex;
        condition.enlist(waiter, let_go);
        unlock(let_go);
    }
};

// All that a waker touches lies in one cache line, which also has the word that the agent spins
// for: so a hand-off to another processor moves one line there and back, not three.
struct alignas(64) Parked {
    union {
        Agent agent;   // made when it is known that it is needed
    };
    Waiter waiter;

    Parked() {}
    Agent& make(const Caller& caller, bool is_contested) { return *new (&agent) Agent(caller, is_contested); }
};
static_assert(offsetof(Parked, waiter) + offsetof(Waiter, item) <= 64);

[[gnu::noinline]] void lock_again(Mutex mutex, Waiter& waiter) {
    Mutex::insist(waiter);
    while (!mutex.take(waiter)) {
        waiter.answer = Answer::none;
        wait_at(mutex, waiter, forever, Waits::mutex, mutex.address());
        if (waiter.answer != Answer::woken) return;
    }
}

// From an OS thread, or where something other than a signal may end the wait, or where the wait may
// be short.
[[gnu::noinline]] weft_status wait_parked(Caller caller, Condition& condition, Mutex& mutex, std::uint64_t deadline_ns,
                                          bool (*unless)(void*), void* argument) {
    Parked parked;
    Agent& agent = parked.make(caller, deadline_ns != forever);
    Waiter& waiter = parked.waiter;
    waiter.who = agent;
    // A waiter that spins, on another stream, is passed the mutex as it is: it need not fetch its
    // line once more.
    const Waiter* const next =
        unless != nullptr ? nullptr
                          : condition.pass(
                                mutex, waiter, [](const Waiter& first) { return first.who.looks(); }, Entrance());
    if (next != nullptr) {
        const AgentRef heir = next->who;
        if (caller.unit != nullptr) caller.unit->latest_lock = nullptr;
        mutex.set_owner(heir.identity());
        heir.wake(Waker());
    } else {
        if (!condition.enlist(waiter, mutex, [&] { return unless != nullptr && unless(argument); })) return WEFT_OK;
        unlock(mutex);
    }
    const bool woken = agent.park(deadline_ns, Waits::condition, condition.address());
    if (!woken) condition.withdraw(waiter);
    if (waiter.answer != Answer::given) lock_again(mutex, waiter);
    return woken ? WEFT_OK : too_late();
}

// Of several units that could take the stream's next turn, the one that has been signalled and
// belongs here.
bool may_follow(const Waiter& waiter, const Unit& self) {
    return waiter.who.certain() && waiter.who.unit().pool == self.pool;
}

// From a ULT, without a deadline.
void wait_released(Stream& stream, Unit& self, Condition condition, Mutex mutex) {
    Unit* successor = weft::detail::successor(stream);
    if (successor == nullptr && worth_spinning(stream)) {
        wait_parked(Caller(), condition, mutex, forever, nullptr, nullptr);
        return;
    }
    Waiter waiter(self);
    Release release(self, condition, mutex, waiter);
    suspend_to(stream, release, successor, Waits::condition, condition.address());
    if (waiter.answer != Answer::given) lock_again(mutex, waiter);
}

// The holder, whose place `next` has left, gives the mutex and the stream to the unit there.
template <class By>
[[gnu::always_inline]] inline weft_status leave_to_heir(Stream& stream, Unit& self, Condition condition, Mutex mutex,
                                                        Waiter& waiter, const Waiter& next, By& by) {
    Mutex::Word& word = mutex.word();   // the rest of the mutex is found by it, and need not be kept over the switch
    Unit& heir = next.who.unit();
    if (heir.context == nullptr) __builtin_unreachable();   // it has left
    mutex.set_owner(&heir);
    heir.life.move(State::waiting, State::ready);
    stream.counters.add(trace::Count::resumed);
    suspend_listed(stream, self, &heir, by.after(), Waits::condition, condition.address());
    if (waiter.answer != Answer::given) [[unlikely]] {
        Mutex again = at<Mutex>(&word);
        lock_again(again, waiter);
        again.set_owner(&self);
    }
    self.latest_lock = &word;   // the unit that gave it the mutex has made it the owner
    return WEFT_OK;
}

// The other units on the stream have their turn.
[[gnu::noinline]] weft_status wait_in_turn(Stream* stream, Condition condition, Mutex mutex) noexcept {
    if (stream != nullptr) stream->loop.passes_left = passes_in_a_row;
    return wait_condition(condition, mutex, forever, nullptr, nullptr);
}

// The holder waits and passes the mutex and the stream on, if a waiter is owed a signal.
template <class By>
[[gnu::always_inline]] inline weft_status pass_on(Stream& stream, Unit& self, Condition condition, Mutex mutex, By by) {
    Waiter waiter(self);
    const Waiter* const next = condition.pass(
        mutex, waiter, [&](const Waiter& first) { return may_follow(first, self); }, by);
    if (next == nullptr) return wait_condition(condition, mutex, forever, nullptr, nullptr);
    return leave_to_heir(stream, self, condition, mutex, waiter, *next, by);
}

// Under the condition's lock, which is released: the first waiter, `heir`, spins, on another stream
// or as an OS thread. It is passed the mutex as it is, and need not fetch its line once more. The
// caller, whose answer may come soon, parks instead of leaving.
[[gnu::noinline]] weft_status pass_to_spinner(Stream& stream, Unit& self, Condition condition, Mutex mutex,
                                              Waiter& next) noexcept {
    const AgentRef heir = next.who;
    Parked parked;
    Waiter& waiter = parked.waiter;
    waiter.who = parked.make(Caller{&stream, &self}, false);
    condition.take_place(next, waiter, mutex);
    self.latest_lock = nullptr;
    mutex.set_owner(heir.identity());
    condition.word().unlock_prepared();
    heir.wake(Waker{&stream});
    parked.agent.park(forever, Waits::condition, condition.address());
    if (waiter.answer != Answer::given) {
        lock_again(mutex, waiter);
        mutex.set_owner(&self);
    }
    self.latest_lock = mutex.address();
    return WEFT_OK;
}

// pass_on() among other threads.
[[gnu::noinline]] weft_status pass_on_among_others(Stream& stream, Unit& self, Condition condition,
                                                   Mutex mutex) noexcept {
    Leaving<Condition::Word> by;
    std::uint32_t seen = 0;
    Waiter* const first = condition.begin_pass(mutex, by, seen);
    if (first == nullptr) [[unlikely]]
        return wait_condition(condition, mutex, forever, nullptr, nullptr);
    if (!may_follow(*first, self)) [[unlikely]] {
        if (first->who.looks()) return pass_to_spinner(stream, self, condition, mutex, *first);
        condition.word().unlock(seen);
        return wait_condition(condition, mutex, forever, nullptr, nullptr);
    }
    Waiter waiter(self);
    condition.take_place(*first, waiter, mutex);
    by.let_go_unchanged(condition.word(), seen);
    return leave_to_heir(stream, self, condition, mutex, waiter, *first, by);
}

}   // namespace

// The cheapest way, for a ULT that has locked a plain mutex and signalled.
[[gnu::noinline]] weft_status wait_condition(Condition condition, Mutex mutex) noexcept {
    Stream* const stream = current_or_null();
    Unit* const self = stream == nullptr ? nullptr : stream->running;
    if (self == nullptr || mutex.owner() != self || self->kind == Kind::tasklet || mutex.is_recursive() ||
        stream->wanted() || --stream->loop.passes_left == 0) [[unlikely]] {
        return wait_in_turn(stream, condition, mutex);
    }
    if (!os::single_threaded()) [[unlikely]]
        return pass_on_among_others(*stream, *self, condition, mutex);
    return pass_on(*stream, *self, condition, mutex, SingleThreaded());
}

[[gnu::noinline]] weft_status wait_condition(Condition condition, Mutex mutex, std::uint64_t deadline_ns,
                                             bool (*unless)(void*), void* argument) noexcept {
    const Caller caller;
    if (!caller.may_wait()) return may_not_wait(caller, Waits::condition);
    if (!mutex.is_held() || mutex.owner() != caller.identity()) {
        return fail(WEFT_WRONG_STATE, "the caller does not hold the mutex; lock it before waiting");
    }
    if (!condition.goes_with(mutex)) return fail(WEFT_INVALID, "others wait for the condition with another mutex");
    const std::uint32_t depth = std::exchange(mutex.body().depth, 0);
    weft_status status = WEFT_OK;
    if (caller.ult() && deadline_ns == forever && unless == nullptr) {
        wait_released(*caller.stream, *caller.unit, condition, mutex);
    } else {
        status = wait_parked(caller, condition, mutex, deadline_ns, unless, argument);
    }
    mutex.body().depth = depth;
    note_holder(mutex, caller.unit, caller.identity());
    return status;
}

namespace {

[[gnu::noinline]] weft_status signal_now(Condition condition) noexcept {
    condition.signal();
    return WEFT_OK;
}

}   // namespace

weft_status signal(Condition condition) noexcept {
    const std::uint32_t waiting = condition.length();
    if (waiting == 0) return WEFT_OK;
    const Unit* const unit = running_or_null();
    if (unit == nullptr || !condition.protected_by(unit->latest_lock) || !condition.signal_held(waiting)) [[unlikely]]
        return signal_now(condition);
    return WEFT_OK;
}

weft_status settle(Condition condition, Mutex mutex) {
    if (mutex.body().signalled == &condition.body()) Condition::pay(mutex);
    if (condition.length() != 0)
        return fail(WEFT_BUSY, "%u still wait for the condition; wake them first", condition.length());
    return WEFT_OK;
}

}   // namespace weft::sync
