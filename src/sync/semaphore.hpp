// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A counting semaphore. Waiters are served in their order by the releasing caller; a newcomer that
// comes while something is left takes it at once.
#pragma once

#include <cstdint>

#include "sync/waiter.hpp"
#include "sync/word.hpp"

namespace weft::sync {

template <class Who>
struct SemaphoreBody {
    WaiterRing<Who> ring;
};

template <class Who, class Orders = WordOrders>
class BasicSemaphore {
public:
    using Waiter = BasicWaiter<Who>;
    using Word = BasicWord<Orders>;
    using Body = SemaphoreBody<Who>;

    static constexpr std::uint32_t most = 0x3fffffff;    // the count: the bits below
    static constexpr std::uint32_t waiters = most + 1;   // the ring is not empty, and the count is 0

    BasicSemaphore(Word& word, Body& body) : word_(word), body_(body) {}

    const void* address() const { return &word_; }
    std::uint32_t count() const { return word_.glance() & most; }

    // False: the sum would be too large.
    bool release(std::uint32_t count) {
        std::uint32_t seen = word_.glance();
        while ((seen & (Word::busy | waiters)) == 0) {
            if (count > most - seen) return false;
            if (word_.leave(seen, seen + count)) return true;
        }
        return release_to_waiters(count);
    }

    // ---- as an object to wait at ----------------------------------------------------------------

    bool come() const { return count() != 0; }

    bool take(Waiter& waiter) {
        static_cast<void>(waiter);
        return try_acquire();
    }
    bool try_acquire() {
        std::uint32_t seen = word_.glance();
        while ((seen & most) != 0 && (seen & Word::busy) == 0) {
            if (word_.enter(seen, seen - 1)) return true;
        }
        return false;
    }

    template <class By = Entrance>
    bool enter(Waiter& waiter, By&& by = {}) {
        for (;;) {
            const std::uint32_t seen = by.lock_if(word_, [](std::uint32_t word) { return (word & most) == 0; });
            if (!by.changed((seen & most) != 0)) {
                check(seen);
                enlist(body_.ring, waiter);
                by.let_go(word_, seen | waiters);
                return true;
            }
            if (try_acquire()) return false;
        }
    }

    void withdraw(Waiter& waiter) {
        const std::uint32_t seen = word_.lock();
        check(seen);
        sync::withdraw(body_.ring, waiter);
        word_.unlock(body_.ring.empty() ? seen & ~waiters : seen);
    }

    // While no thread runs, where the semaphore is not busy.
    void check_whole() const {
        const std::uint32_t seen = word_.look();
        if (Word::is_busy(seen)) return;
        check(seen);
        sync::check_whole(body_.ring);
    }

private:
    // On entry, under the busy bit: `waiters` says whether there are waiters, and there are none
    // while something is left.
    void check(std::uint32_t seen) const {
        WEFT_ASSERT(((seen & waiters) != 0) == !body_.ring.empty());
        WEFT_ASSERT((seen & waiters) == 0 || (seen & most) == 0);
        body_.ring.check();
    }

    bool release_to_waiters(std::uint32_t count) {
        std::uint32_t seen = word_.lock();
        check(seen);
        if (count > most - (seen & most)) {
            word_.unlock(seen);
            return false;
        }
        if (count == 1) {   // the frequent case: no list of waiters to wake
            Waiter* const waiter = claim_first(body_.ring);
            const Who who = waiter == nullptr ? Who() : waiter->who;
            if (waiter != nullptr) waiter->answer = Answer::given;
            seen = (seen & most) + (waiter == nullptr ? 1 : 0);
            word_.unlock(body_.ring.empty() ? seen : seen | waiters);
            if (waiter != nullptr) who.wake(typename Who::Waker());
            return true;
        }
        Claimed<Who> claimed;
        for (; count != 0; --count) {
            Waiter* waiter = claim_first(body_.ring);
            if (waiter == nullptr) break;
            claimed.add(*waiter, Answer::given);
        }
        seen = (seen & most) + count;
        word_.unlock(body_.ring.empty() ? seen : seen | waiters);
        claimed.wake_all();
        return true;
    }

    Word& word_;
    Body& body_;
};

}   // namespace weft::sync
