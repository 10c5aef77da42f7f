// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A barrier: its word counts the arrivals that this phase still lacks; everything else is changed
// under the busy bit.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "sync/waiter.hpp"
#include "sync/word.hpp"

namespace weft::sync {

template <class Who>
struct BarrierBody {
    WaiterRing<Who> ring;
    void (*completion)(void*) = nullptr;
    void* argument = nullptr;
    std::uint32_t expected = 0;       // in the next phase
    atomic<std::uint32_t> phase{0};   // read without the lock by waiters for its end
};

template <class Who, class Orders = WordOrders>
class BasicBarrier {
public:
    using Waiter = BasicWaiter<Who>;
    using Word = BasicWord<Orders>;
    using Body = BarrierBody<Who>;

    BasicBarrier(Word& word, Body& body) : word_(word), body_(body) {}

    const void* address() const { return &word_; }
    Body& body() const { return body_; }
    // acquire: pairs with the release in end_phase(): a thread that sees the next phase sees what
    // all did before they arrived.
    std::uint32_t phase() const { return body_.phase.load(std::memory_order_acquire); }

    // Whether an arrival now may be the last; a hint.
    bool nearly_complete() const { return (word_.glance() & ~Word::busy) <= 1; }

    // `count` arrive, of which `dropped` are no longer expected. False: more than are expected.
    bool arrive(std::uint32_t count, std::uint32_t dropped, std::uint32_t* phase) {
        const std::uint32_t seen = word_.lock();
        check(seen);
        if (count > seen || count == 0) {
            word_.unlock(seen);
            return false;
        }
        if (phase != nullptr) *phase = body_.phase.load(std::memory_order_relaxed);   // relaxed: under the lock
        body_.expected -= dropped;
        if (count < seen) {
            word_.unlock(seen - count);
        } else {
            end_phase();
        }
        return true;
    }

    // Makes the last expected arrival, or does nothing. Returns how many were still to arrive.
    // After 1 the barrier may be gone.
    std::uint32_t arrive_last() {
        const std::uint32_t seen = word_.lock();
        check(seen);
        if (seen == 1) {
            end_phase();
        } else {
            word_.unlock(seen);
        }
        return seen;
    }

    // While no thread runs, where the barrier is not busy.
    void check_whole() const {
        const std::uint32_t seen = word_.look();
        if (Word::is_busy(seen)) return;
        check(seen);
        sync::check_whole(body_.ring);
    }

    // The end of one phase, for the waiters that have arrived.
    class End {
    public:
        using Word = BasicWord<Orders>;
        End(BasicBarrier of, std::uint32_t phase) : of_(of), phase_(phase) {}
        bool come() const { return of_.phase() != phase_; }
        bool take(Waiter& waiter) {
            static_cast<void>(waiter);
            return come();
        }
        template <class By = Entrance>
        bool enter(Waiter& waiter, By&& by = {}) {
            const std::uint32_t seen = by.lock_if(of_.word_, always);
            if (by.changed(come())) {
                of_.word_.unlock(seen);
                return false;
            }
            enlist(of_.body_.ring, waiter);
            by.let_go_unchanged(of_.word_, seen);
            return true;
        }
        void withdraw(Waiter& waiter) {
            const std::uint32_t seen = of_.word_.lock();
            sync::withdraw(of_.body_.ring, waiter);
            of_.word_.unlock(seen);
        }

    private:
        BasicBarrier of_;
        std::uint32_t phase_;
    };

    // Arriving and waiting in one step, for a caller that is not the last. If it is the last after
    // all, nothing is done (Waiter::mark is 1), and it has to arrive by itself, since it is to call
    // the completion on its own stack.
    class Arrival {
    public:
        using Word = BasicWord<Orders>;
        explicit Arrival(BasicBarrier at) : at_(at) {}
        bool come() const { return false; }
        bool take(Waiter& waiter) {
            static_cast<void>(waiter);
            return false;
        }
        template <class By = Entrance>
        bool enter(Waiter& waiter, By&& by = {}) {
            const std::uint32_t seen = by.lock_if(at_.word_, [](std::uint32_t left) { return left > 1; });
            if (by.changed(seen <= 1)) {
                waiter.mark = 1;
                return false;
            }
            enlist(at_.body_.ring, waiter);
            by.let_go(at_.word_, seen - 1);
            return true;
        }
        void withdraw(Waiter& waiter) { static_cast<void>(waiter); }
        bool expected() const { return true; }   // a waiter arrives by being listed

    private:
        BasicBarrier at_;
    };

private:
    // On entry, under the busy bit: no more arrivals are missing in this phase than are expected in
    // the next.
    void check(std::uint32_t seen) const {
        WEFT_ASSERT((seen & ~Word::busy) <= body_.expected);
        body_.ring.check();
    }

    // Under the busy bit, when all have arrived. The next phase cannot end before this one has: no
    // arrival is possible.
    void end_phase() {
        if (body_.completion != nullptr) {
            word_.unlock(0);
            body_.completion(body_.argument);
            word_.lock();
        }
        Released<Who> released(body_.ring, Answer::given);
        const std::uint32_t next = body_.phase.load(std::memory_order_relaxed) + 1;   // relaxed: under the lock
        const std::uint32_t expected = body_.expected;
        body_.phase.store(next, std::memory_order_release);   // release: see phase()
        word_.unlock(expected);
        released.wake_all();
    }

    Word& word_;
    Body& body_;
};

}   // namespace weft::sync
