// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A condition variable. Its ring belongs to the holder of the word's busy bit; new waiters come
// only while they hold the mutex.
//
// A signal by the holder of the mutex does not touch the ring: it is noted in the mutex, and when
// the holder releases the mutex the waiter follows into the mutex's ring; or, if the holder
// releases it by waiting at this very condition, the holder takes the waiter's place. So a hand-off
// between two units of a stream costs one atomic operation and one switch (README.md).
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
    Word& word() const { return word_; }
    Body& body() const { return body_; }
    // Exact for the holder of the mutex as long as no waiter leaves; otherwise a hint.
    std::uint32_t length() const { return word_.look() & ~Word::busy; }

    // Whether `mutex` is the one that the waiters have released, or there are no waiters. By the
    // holder of `mutex`.
    bool goes_with(const Mutex& mutex) {
        if (protected_by(mutex.address()) || length() == 0) return true;
        const std::uint32_t seen = word_.lock();
        // relaxed: under the lock
        const bool same = seen == 0 || body_.mutex_word.load(std::memory_order_relaxed) == mutex.address();
        word_.unlock(seen);
        return same;
    }

    // By the holder of the mutex: a waiter comes in, unless `unless`, which is called under the
    // lock, says that it need not wait. From now on it may be woken.
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

    // The waiter has given up, after having won against every thread that could wake it.
    void withdraw(Waiter& waiter) {
        const std::uint32_t seen = word_.lock();
        check(seen);
        word_.unlock(sync::withdraw(body_.ring, waiter) ? seen - 1 : seen);
    }

    // Whether the waiters have released the mutex at `address`, which the caller holds. There is a
    // waiter, or there was one a moment ago. relaxed: a holder of that mutex reads what the waiter
    // wrote while the waiter held it; for any other caller the answer is no.
    bool protected_by(const void* address) const { return body_.mutex_word.load(std::memory_order_relaxed) == address; }

    // By the holder of that mutex, where `waiting` wait: one more waiter is to follow when the
    // mutex is released. False: the holder owes a signal to another condition, and a second debt is
    // not noted.
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

    // By the holder of `mutex`: pays the signals that it owes to a condition; the waiters that are
    // woken wait for the mutex.
    static void pay(Mutex& mutex) {
        Claimed<Who> claimed;
        claim_owed(mutex, claimed);
        mutex.adopt(claimed);
    }
    // pay(), and releases the mutex.
    static void pay_and_unlock(Mutex& mutex) {
        Claimed<Who> claimed;
        claim_owed(mutex, claimed);
        mutex.unlock_to(claimed);
    }

    // Every present waiter follows when the mutex is released, or one after the other if the mutex
    // is not held.
    void broadcast() {
        if (length() != 0) wake(~std::uint32_t{0});
    }
    void signal() {
        if (length() != 0) wake(1);
    }
    // broadcast() that reaches even waiters that are about to come in: they find out by their
    // `unless`.
    void interrupt() { wake(~std::uint32_t{0}); }

    // ---- taking the next waiter's place: by the holder that waits itself ------------------------

    // If the first waiter is owed a signal and `fits`, it goes, and `waiter` comes in; the caller
    // changes which unit holds the mutex and runs. `by` takes and releases the lock. Null: nothing
    // has changed.
    template <class Fits, class By>
    [[gnu::always_inline]] Waiter* pass(Mutex& mutex, Waiter& waiter, Fits&& fits, By&& by) {
        std::uint32_t seen = 0;
        Waiter* const first = begin_pass(mutex, by, seen);
        if (first == nullptr) return nullptr;
        if (!fits(*first)) {
            word_.unlock(seen);
            return nullptr;
        }
        take_place(*first, waiter, mutex);
        by.let_go_unchanged(word_, seen);
        return first;
    }

    // pass() in steps. Returns the first waiter if it is owed a signal: then the word is busy, and
    // was `seen` before. The caller takes its place, or changes nothing, and releases the word.
    template <class By>
    [[gnu::always_inline]] Waiter* begin_pass(Mutex& mutex, By&& by, std::uint32_t& seen) {
        if (mutex.body().signalled != &body_) return nullptr;
        seen = by.lock_if(word_, always);
        check(seen);
        Waiter* const first = body_.ring.front();
        if (first == nullptr) word_.unlock(seen);
        return first;
    }
    // The waiters in the ring, and the one that comes in, have released one mutex: the condition's
    // record of it remains right.
    [[gnu::always_inline]] void take_place(Waiter& first, Waiter& waiter, Mutex& mutex) {
        body_.ring.pass_on(waiter);
        waiter.answer = Answer::awaited;
        first.answer = Answer::given;
        auto& owed = mutex.body();
        if (--owed.signals == 0) owed.signalled = nullptr;
    }

    // While no thread runs, where the condition is not busy: the word counts the waiters, all of
    // which have released one mutex.
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

    // Under the busy bit: takes out at most `most` waiters, and those before them that something
    // else has woken. Returns how many were taken out.
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

    // While a waiter is in the ring, or has been claimed and not woken: it keeps the mutex alive.
    Mutex mutex_of_waiters() const {
        // relaxed: as protected_by()
        return Mutex(*body_.mutex_word.load(std::memory_order_relaxed), *body_.mutex_body);
    }

    void wake(std::uint32_t most) {
        const std::uint32_t seen = word_.lock();
        check(seen);
        if (seen == 0) return word_.unlock(seen);
        Mutex mutex = mutex_of_waiters();   // read under the lock: the next waiter to come may write it
        Claimed<Who> claimed;
        word_.unlock(seen - claim(most, claimed));
        mutex.adopt(claimed);
    }

    Word& word_;
    Body& body_;
};

}   // namespace weft::sync
