// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A latch: counts down to zero, once. It may be gone as soon as a thread has seen zero.
#pragma once

#include <cstdint>

#include "sync/waiter.hpp"
#include "sync/word.hpp"

namespace weft::sync {

template <class Who>
struct LatchBody {
    WaiterRing<Who> ring;
};

template <class Who, class Orders = WordOrders>
class BasicLatch {
public:
    using Waiter = BasicWaiter<Who>;
    using Word = BasicWord<Orders>;
    using Body = LatchBody<Who>;

    static constexpr std::uint32_t most = 0x3fffffff;

    BasicLatch(Word& word, Body& body) : word_(word), body_(body) {}

    const void* address() const { return &word_; }

    // False: the count is more than what is left.
    bool count_down(std::uint32_t count) {
        for (;;) {
            std::uint32_t seen = word_.look();
            if (Word::is_busy(seen)) seen = word_.lock_if([](std::uint32_t) { return false; });
            if (count > seen) return false;
            if (count == seen && count != 0) return end(count);
            if (count == 0 || word_.pass(seen, seen - count)) return true;
        }
    }

    // ---- as an object to wait at ----------------------------------------------------------------

    bool come() const { return word_.look() == 0; }

    bool take(Waiter& waiter) {
        static_cast<void>(waiter);
        return come();
    }

    template <class By = Entrance>
    bool enter(Waiter& waiter, By&& by = {}) {
        const std::uint32_t seen = by.lock_if(word_, [](std::uint32_t word) { return word != 0; });
        if (by.changed(seen == 0)) return false;
        check(seen);
        enlist(body_.ring, waiter);
        by.let_go_unchanged(word_, seen);
        return true;
    }

    void withdraw(Waiter& waiter) {
        const std::uint32_t seen = word_.lock_if([](std::uint32_t word) { return word != 0; });
        if (seen == 0) return;   // at zero all waiters have been taken out
        check(seen);
        sync::withdraw(body_.ring, waiter);
        word_.unlock(seen);
    }

    // While no thread runs, where the latch is not busy: at zero there are no waiters.
    void check_whole() const {
        const std::uint32_t seen = word_.look();
        if (Word::is_busy(seen)) return;
        check(seen);
        WEFT_ASSERT(sync::check_whole(body_.ring) == 0 || seen != 0);
    }

private:
    // On entry, under the busy bit.
    void check(std::uint32_t seen) const {
        WEFT_ASSERT((seen & ~Word::busy) <= most);
        body_.ring.check();
    }

    bool end(std::uint32_t count) {
        const std::uint32_t seen = word_.lock();
        if (seen != count) {
            word_.unlock(seen);
            return count_down(count);
        }
        check(seen);
        Released<Who> released(body_.ring, Answer::given);
        word_.unlock(0);
        released.wake_all();
        return true;
    }

    Word& word_;
    Body& body_;
};

}   // namespace weft::sync
