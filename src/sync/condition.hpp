// A condition variable. Its ring belongs to whoever has the word's busy bit; new waiters come only
// while they hold the mutex.
//
// The holder of the mutex that signals does not touch the ring: it notes the signal in the mutex,
// and when it lets the mutex go the waiter follows into the mutex's ring, or, if it lets go by
// waiting at this very condition, takes its place. So a hand-off between two units of a stream
// costs one atomic operation and one switch (README.md).
//
// `Who` is a parameter for the model tests; the library uses Condition (objects.hpp).
#pragma once

#include <cstdint>

#include "sync/mutex.hpp"

namespace weft::sync {

template <class Who, class Orders>
class BasicCondition {
public:
    using Waiter = BasicWaiter<Who>;
    using Mutex = BasicMutex<Who, Orders>;
    using Word = BasicWord<Orders>;
    using Body = ConditionBody<Who, Orders>;

    // The word counts the waiters, so that a signal that meets none costs a load.
    BasicCondition(Word& word, Body& body) : word_(word), body_(body) {}

    const void* address() const { return &word_; }
    Body& body() const { return body_; }
    // Exact for the holder of the mutex as long as nobody leaves; otherwise a hint.
    std::uint32_t length() const { return word_.look() & ~Word::busy; }

    // Whether `mutex` is the one that those who wait have let go, or nobody waits. By the holder of
    // `mutex`.
    bool goes_with(const Mutex& mutex) {
        if (protected_by(mutex.address()) || length() == 0) return true;
        const std::uint32_t seen = word_.lock();
        // relaxed: under the lock
        const bool same = seen == 0 || body_.mutex_word.load(std::memory_order_relaxed) == mutex.address();
        word_.unlock(seen);
        return same;
    }

    // By the holder of the mutex: a waiter comes in, unless `unless` says that it need not wait,
    // which is asked under the lock. It may be woken from now on.
    template <class Unless>
    bool enlist(Waiter& waiter, Mutex& mutex, Unless&& unless) {
        const std::uint32_t seen = word_.lock();
        check(seen);
        if (unless()) {
            word_.unlock(seen);
            return false;
        }
        put(waiter, mutex);
        word_.unlock(seen + 1);
        return true;
    }
    void enlist(Waiter& waiter, Mutex& mutex) {
        enlist(waiter, mutex, [] { return false; });
    }

    // It has given up, after having won against all who could wake it.
    void withdraw(Waiter& waiter) {
        const std::uint32_t seen = word_.lock();
        check(seen);
        word_.unlock(sync::withdraw(body_.ring, waiter) ? seen - 1 : seen);
    }

    // Whether those who wait have let go the mutex at `address`, which the caller holds. Somebody
    // waits, or has just waited. relaxed: a holder of that mutex reads what the waiter wrote while
    // it held it; to anybody else the answer is no.
    bool protected_by(const void* address) const { return body_.mutex_word.load(std::memory_order_relaxed) == address; }

    // By the holder of that mutex, where `waiting` wait: one more is to follow when the mutex is
    // let go. False: it owes something to another condition, and a second debt is not noted.
    bool signal_held(std::uint32_t waiting) {
        auto& owed = *body_.mutex_body;
        if (owed.signalled == nullptr) {
            owed.signalled = &body_;
            owed.signals = 1;
            return true;
        }
        if (owed.signalled != &body_) return false;
        if (owed.signals < waiting) ++owed.signals;
        return true;
    }

    // By the holder of `mutex`: what it owes to a condition is paid; those who are woken wait for
    // the mutex.
    static void pay(Mutex& mutex) {
        Claimed<Who> claimed;
        claim_owed(mutex, claimed);
        mutex.adopt(claimed);
    }
    // As pay(), and lets the mutex go.
    static void pay_and_unlock(Mutex& mutex) {
        Claimed<Who> claimed;
        claim_owed(mutex, claimed);
        mutex.unlock_to(claimed);
    }

    // Everybody who waits now follows when the mutex is let go, or one after the other if nobody
    // holds it.
    void broadcast() {
        if (length() != 0) wake(~std::uint32_t{0});
    }
    void signal() {
        if (length() != 0) wake(1);
    }
    // broadcast() that meets even those who are about to come in: they find out by their `unless`.
    void interrupt() { wake(~std::uint32_t{0}); }

    // ---- the place of the next: by the holder that waits itself ---------------------------------

    // The first waiter, if it is owed a signal and `fits`, goes, and `waiter` comes in: who holds
    // the mutex and runs is changed by the caller. The lock is taken and let go by `by`. Null:
    // nothing has changed.
    template <class Fits, class By>
    [[gnu::always_inline]] Waiter* pass(Mutex& mutex, Waiter& waiter, Fits&& fits, By&& by) {
        auto& owed = mutex.body();
        if (owed.signalled != &body_) return nullptr;
        const std::uint32_t seen = by.lock_if(word_, always);
        check(seen);
        Waiter* first = body_.ring.front();
        if (first == nullptr || !fits(*first)) {
            word_.unlock(seen);
            return nullptr;
        }
        body_.ring.pass_on(waiter);   // those in the ring, and it, have let go the same mutex: `owed` is of it
        waiter.answer = Answer::awaited;
        first->answer = Answer::given;
        if (--owed.signals == 0) owed.signalled = nullptr;
        by.let_go_unchanged(word_, seen);
        return first;
    }

    // While nobody runs, where it is not busy: the word counts the waiters, all of whom have let go
    // one mutex.
    void check_whole() const {
        const std::uint32_t seen = word_.look();
        if (Word::is_busy(seen)) return;
        check(seen);
        WEFT_ASSERT(sync::check_whole(body_.ring) == seen);
        if (seen != 0)
            WEFT_ASSERT(body_.word == &word_ && body_.mutex_body != nullptr && body_.mutex_word.load() != nullptr);
    }

private:
    // On entry, under the busy bit.
    void check(std::uint32_t seen) const {
        WEFT_ASSERT(((seen & ~Word::busy) == 0) == body_.ring.empty());
        body_.ring.check();
    }

    void put(Waiter& waiter, Mutex& mutex) {
        if (body_.ring.empty()) {
            body_.word = &word_;
            body_.mutex_word.store(&mutex.word(), std::memory_order_relaxed);   // relaxed: see protected_by()
            body_.mutex_body = &mutex.body();
        }
        sync::enlist(body_.ring, waiter);
    }

    static void claim_owed(Mutex& mutex, Claimed<Who>& claimed) {
        auto& owed = mutex.body();
        BasicCondition from(*owed.signalled->word, *owed.signalled);
        const std::uint32_t seen = from.word_.lock();
        from.check(seen);
        from.word_.unlock(seen - from.claim(owed.signals, claimed));
        owed.signalled = nullptr;
        owed.signals = 0;
    }

    // Under the busy bit: takes out at most `most`, and those before them who have been woken by
    // something else. Returns how many were taken out.
    std::uint32_t claim(std::uint32_t most, Claimed<Who>& claimed) {
        std::uint32_t out = 0;
        while (most != 0 && !body_.ring.empty()) {
            Waiter& first = *body_.ring.front();
            delist(body_.ring, first);
            ++out;
            if (!first.who.claim(first.index)) continue;
            claimed.add(first, Answer::woken);
            --most;
        }
        return out;
    }

    // While one of them is in the ring, or has been claimed and not woken: it keeps the mutex
    // alive.
    Mutex mutex_of_waiters() const {
        // relaxed: as protected_by()
        return Mutex(*body_.mutex_word.load(std::memory_order_relaxed), *body_.mutex_body);
    }

    void wake(std::uint32_t most) {
        const std::uint32_t seen = word_.lock();
        check(seen);
        if (seen == 0) return word_.unlock(seen);
        Mutex mutex = mutex_of_waiters();   // read under the lock: the next to come may write it
        Claimed<Who> claimed;
        word_.unlock(seen - claim(most, claimed));
        mutex.adopt(claimed);
    }

    Word& word_;
    Body& body_;
};

}   // namespace weft::sync
