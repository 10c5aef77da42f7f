// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A unit or an OS thread that waits, and the ways to wait: the blocking half of every object in
// this folder.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "core/idle.hpp"
#include "core/suspend.hpp"
#include "observe/observe.hpp"
#include "os/futex.hpp"
#include "os/single_threaded.hpp"
#include "poll/timers.hpp"
#include "process/error.hpp"
#include "sync/waiter.hpp"
#include "sync/word.hpp"

namespace weft::sync {

inline constexpr std::uint64_t forever = os::forever;

// The caller: a ULT, an OS thread that is no stream, or a caller that may not wait.
struct Caller {
    Stream* stream = current_or_null();
    Unit* unit = stream == nullptr ? nullptr : stream->running;

    bool thread() const { return stream == nullptr; }
    bool ult() const { return unit != nullptr && unit->kind != Kind::tasklet; }
    bool may_wait() const { return thread() || ult(); }

    // Distinguishes callers: the unit, the stream of a scheduler, or the OS thread.
    void* identity() const {
        if (unit != nullptr) [[likely]]
            return unit;
        return stream != nullptr ? static_cast<void*>(stream) : static_cast<void*>(os::thread_identity());
    }
};

// may_not_wait() returns WEFT_WRONG_KIND for a tasklet, WEFT_WRONG_CONTEXT for a scheduler.
inline weft_status too_late() { return say(WEFT_TIMED_OUT, "the deadline came first"); }
[[gnu::cold]] weft_status may_not_wait(Caller caller, Waits what);

// Where a wake comes from.
struct Waker {
    Stream* stream = current_or_null();
};

// A unit or an OS thread that can be found before it sleeps: because several threads may wake it,
// or because what it waits for may come while it spins.
struct Agent {
    Unit* const unit;   // null: an OS thread
    void* const identity;
    bool contested;   // several may wake it; written by itself, and by its claimer
    atomic<std::uint32_t> stance{standing};
    atomic<std::uint32_t> winner{nobody};   // 1 + the index of the object that wakes it

    static constexpr std::uint32_t standing = 0, asleep = 1, woken = 2;
    static constexpr std::uint32_t nobody = 0, too_late = ~std::uint32_t{0};

    Agent(const Caller& caller, bool is_contested)
        : unit(caller.unit), identity(caller.identity()), contested(is_contested) {}

    // True: no other thread will wake it.
    bool win(std::uint32_t as) {
        std::uint32_t none = nobody;
        // acq_rel: pairs with itself; what the winner did before is seen by the agent when the
        // agent has been woken or has lost. relaxed when it fails: the loser does nothing.
        return winner.compare_exchange_strong(none, as, std::memory_order_acq_rel, std::memory_order_relaxed);
    }

    // By the thread that has claimed the agent. The agent may be gone when this returns.
    void wake(Waker from);

    // Waits until wake() has been called. False: `deadline_ns` has come first, and no thread has
    // claimed the agent. A deadline needs a contested agent.
    bool park(std::uint64_t deadline_ns, Waits what, const void* object);

private:
    bool park_thread(std::uint64_t deadline_ns);
};

// A waiter: mostly a unit whose context has been saved when a waker can see it, so that it needs
// only a resume; or an agent.
class AgentRef {
public:
    using Waker = sync::Waker;
    class Wakes;   // a waker of many

    AgentRef() = default;   // to be assigned; AgentRef{} refers to none
    AgentRef(Unit& unit) : word_(reinterpret_cast<std::uintptr_t>(&unit)) {}
    AgentRef(Agent& agent) : word_(reinterpret_cast<std::uintptr_t>(&agent) | agent_tag) {}

    // Whether claiming it always succeeds.
    bool certain() const { return (word_ & agent_tag) == 0; }
    // For a reference that is certain.
    Unit& unit() const {
        WEFT_ASSERT(certain() && word_ != 0);
        if (word_ == 0) __builtin_unreachable();
        return *reinterpret_cast<Unit*>(word_);
    }

    bool claim(std::uint32_t index) const {
        if ((word_ & agent_tag) == 0) [[likely]]
            return true;
        return !agent().contested || agent().win(index + 1);
    }
    // The agent has been claimed, and what comes next is no longer contested.
    void settle() const {
        if ((word_ & agent_tag) != 0) agent().contested = false;
    }
    void wake(Waker from) const {
        if ((word_ & agent_tag) != 0) [[unlikely]]
            return agent().wake(from);
        unit().life.move(State::waiting, State::ready);
        resume_claimed(from.stream, unit());
    }
    bool nobody() const { return word_ == 0; }
    // Whether the agent is spinning at this moment for what it waits for, and nothing else can wake
    // it. relaxed: it may fall asleep at any time.
    bool looks() const {
        return !certain() && !agent().contested && agent().stance.load(std::memory_order_relaxed) == Agent::standing;
    }
    void* identity() const { return (word_ & agent_tag) == 0 ? reinterpret_cast<void*>(word_) : agent().identity; }

private:
    static constexpr std::uintptr_t agent_tag = 1;
    Agent& agent() const { return *reinterpret_cast<Agent*>(word_ & ~agent_tag); }

    std::uintptr_t word_;
};

using Waiter = BasicWaiter<AgentRef>;

// Wakes waiters that have been claimed. Those that belong to the calling stream go to its pool
// together, in done(). (No pointer in it refers to itself: so it lies in registers.)
class AgentRef::Wakes {
public:
    // A unit of the calling stream stops waiting, and is kept until done(): no thread finds it
    // before. False: for all others, of which nothing has changed.
    [[gnu::always_inline]] bool keep(AgentRef who) {
        if (!who.certain()) [[unlikely]]
            return false;
        Unit& unit = who.unit();
        if (unit.pool != home_) [[unlikely]]
            return false;
        unit.life.move(State::waiting, State::ready);
        if (last_ == nullptr) {
            first_ = &unit;
        } else {
            last_->link = &unit;
        }
        last_ = &unit;
        ++count_;
        return true;
    }
    // The waiter's place may be gone after this.
    [[gnu::always_inline]] void add(AgentRef who) {
        if (!keep(who)) who.wake(waker_);
    }
    [[gnu::always_inline]] void done() {
        if (count_ == 0) return;
        waker_.stream->counters.add(trace::Count::resumed, count_);
        home_->put_chain(first_, last_, count_);
    }

private:
    Waker waker_;
    PrivatePool* home_ = waker_.stream == nullptr ? nullptr : waker_.stream->direct;
    Unit* first_ = nullptr;
    Unit* last_ = nullptr;
    std::size_t count_ = 0;
};

// Whether a unit that found nothing else to run on its stream should spin for a while before it
// leaves: a unit on another stream may be about to answer, and the hart is not wanted elsewhere.
bool worth_spinning(const Stream& stream);

// Whether what the caller waits for may be on its way at this moment: another stream has a hart,
// too.
bool others_have_harts(const Caller& caller);
inline bool others_run(const Caller& caller) { return !os::single_threaded() && others_have_harts(caller); }

// For how long (WEFT_SPIN_NS), and whether to continue: nothing has become ready on the stream
// meanwhile.
std::uint64_t spin_ns(const Stream& stream);
bool still_idle(Stream& stream);

// Spins until `come()` is true; false when it has taken too long, or there is something else to do.
template <class Come>
bool spin_until(Come&& come) {
    Stream& stream = current();
    const std::uint64_t until_ns = os::now_ns() + spin_ns(stream);
    do {
        for (int i = 0; i < 64; ++i) {
            if (come()) return true;
            arch::pause();
        }
        share_processor(stream);
    } while (still_idle(stream) && os::now_ns() < until_ns);
    return false;
}

// How a unit enters an object when it leaves as soon as it has its place in the ring. In a process
// with one OS thread nothing has changed the object since the unit checked, and no thread looks at
// it before the unit has left.
struct SingleThreaded {
    template <class Word, class May>
    [[gnu::always_inline]] typename Word::Seen lock_if(Word& word, May&&) const {
        return word.look();
    }
    static bool changed(bool now) {
        WEFT_ASSERT(!now);
        return false;
    }
    template <class Word>
    void let_go(Word& word, typename Word::Seen next) const {
        word.unlock(next);
    }
    template <class Word>
    void let_go_unchanged(Word&, typename Word::Seen) const {}
    static AfterSwitch after() { return {nullptr, nullptr}; }
};

// How a unit enters among other threads: the object's word stays busy until the unit's context is
// saved, and is released by the first act of the context that runs next, after().
template <class Word>
class Leaving {
public:
    template <class May>
    typename Word::Seen lock_if(Word& word, May&& may) const {
        return word.lock_among_others(may);
    }
    static bool changed(bool now) { return now; }
    void let_go(Word& word, typename Word::Seen next) {
        word.prepare(next);
        word_ = &word;
    }
    void let_go_unchanged(Word& word, typename Word::Seen) { word_ = &word; }
    // Needs nothing of the stack of the unit, which may run as soon as the word is released.
    AfterSwitch after() {
        return {[](void* word) {
                    probe(Probe::suspend_before_publish);
                    static_cast<Word*>(word)->unlock_prepared();
                    probe(Probe::suspend_after_publish);
                },
                word_};
    }

private:
    Word* word_;
};

// A unit that was about to leave for `next`, and found what it wants, continues in its turn.
void stay(Stream& stream, Unit& self, Unit* next);

// Waits at `object`, by `waiter`, until it is answered: see wait_at(). `Object`, a view that is
// copied:
//     Word                     its word's type
//     bool come()              without the lock: whether it is worth trying take()
//     bool take(Waiter&)       takes what is wanted, if it can be had without waiting
//     bool enter(Waiter&, by)  under the object's lock, which `by` takes and releases. False: what
//                              is wanted has been taken, and nothing waits; true: it is listed
//     void withdraw(Waiter&)   under the lock: takes the waiter out if it is still in
//     bool expected() const    may be missing: whether others cannot continue before it is listed

// Whether what is waited for may come while the unit only spins. Two units that spin for each other
// would both do so until they give up.
template <class Object>
bool comes_unlisted(const Object& object) {
    if constexpr (requires { object.expected(); }) {
        return !object.expected();
    } else {
        return true;
    }
}

// For wait_at(): a unit leaves for `next` (null: the scheduler).
template <class Object, class By>
[[gnu::always_inline]] inline weft_status suspend_by(Stream& stream, Unit& self, Unit* next, Object& object, By by,
                                                     Waiter& waiter, Waits what, const void* address) {
    waiter.who = self;
    if (!object.enter(waiter, by)) [[unlikely]] {
        stay(stream, self, next);
        return WEFT_OK;
    }
    suspend_listed(stream, self, next, by.after(), what, address);
    self.latest_lock = nullptr;   // `address` may have been a mutex's, which it need not have got
    return WEFT_OK;
}

template <class Object>
[[gnu::noinline]] weft_status suspend_among_others(Stream& stream, Unit& self, Unit* next, Object object,
                                                   Waiter& waiter, Waits what, const void* address) noexcept {
    return suspend_by(stream, self, next, object, Leaving<typename Object::Word>(), waiter, what, address);
}

// Whether no code of the program was called to find the unit that runs next: such code could have
// changed the object.
inline bool picks_by_itself(const Stream& stream) { return stream.direct != nullptr || stream.common != nullptr; }

// For wait_at(): a caller that is no ULT, or has a deadline, or has no unit at hand to run next.
template <class Object>
[[gnu::noinline]] weft_status wait_slow(Object object, Waiter& waiter, std::uint64_t deadline_ns, Waits what,
                                        const void* address) noexcept {
    const Caller caller;
    if (!caller.may_wait()) return may_not_wait(caller, what);
    if (caller.thread() || deadline_ns != forever) {
        Agent agent(caller, deadline_ns != forever);
        waiter.who = agent;
        if (!object.enter(waiter, Entrance()) || agent.park(deadline_ns, what, address)) return WEFT_OK;
        object.withdraw(waiter);
        return too_late();
    }
    Stream& stream = *caller.stream;
    Unit* next = weft::detail::successor(stream);
    if (next == nullptr) {
        if (comes_unlisted(object) && worth_spinning(stream) &&
            spin_until([&] { return object.come() && object.take(waiter); }))
            return WEFT_OK;
        next = weft::detail::successor(stream);
        // Here, while the object is not busy yet. A stream that is observed never has a successor.
        if (caller.unit->marked(Unit::observed)) [[unlikely]]
            observe_wait(*caller.unit, what, address);
    } else if (os::single_threaded() && picks_by_itself(stream)) {
        return suspend_by(stream, *caller.unit, next, object, SingleThreaded(), waiter, what, address);
    }
    return suspend_among_others(stream, *caller.unit, next, object, waiter, what, address);
}

// Waits for what the caller has just checked for without success, until `waiter` is answered
// (waiter.answer) or it has been taken (Answer::none). WEFT_TIMED_OUT: the deadline came first; a
// status of may_not_wait(): the caller may not wait. `what` and `address`: the object, for queries
// of what a unit waits for.
template <class Object>
[[gnu::always_inline]] inline weft_status wait_at(Object object, Waiter& waiter, std::uint64_t deadline_ns, Waits what,
                                                  const void* address) {
    Stream* const stream = current_or_null();
    Unit* const next = stream == nullptr || deadline_ns != forever ? nullptr : weft::detail::successor_at_hand(*stream);
    if (next == nullptr) [[unlikely]]
        return wait_slow(object, waiter, deadline_ns, what, address);
    Unit& self = *stream->running;
    if (os::single_threaded()) return suspend_by(*stream, self, next, object, SingleThreaded(), waiter, what, address);
    return suspend_by(*stream, self, next, object, Leaving<typename Object::Word>(), waiter, what, address);
}

}   // namespace weft::sync
