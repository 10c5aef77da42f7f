// The word of an object that units wait for: 31 bits that say how it stands, and one that says that somebody is at work on
// what lies beside it. What nobody waits for is decided by one compare-and-swap on the word; for all else the busy bit is
// taken, by one too, and let go by a store.
//
// While it is busy nobody else changes the word, so the holder of the bit may trust what lock() returned.
#pragma once

#include <cstdint>

#include "arch/look.hpp"
#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/probe.hpp"
#include "os/alone.hpp"
#include "os/spin.hpp"

namespace weft::sync {

// The orders of Word; a model test passes weaker ones, which must fail.
struct WordOrders {
    // acquire: pairs with `leave`, so that what the last one did to the object and under it is seen.
    static constexpr std::memory_order enter = std::memory_order_acquire;
    // release: pairs with `enter` and `look`.
    static constexpr std::memory_order leave = std::memory_order_release;
    // acquire: pairs with `leave`, for those who act upon the word alone (an event that is set).
    static constexpr std::memory_order look = std::memory_order_acquire;
};

// For those who want the lock however the word stands.
inline constexpr auto always = [](std::uint32_t) { return true; };

template <class Orders = WordOrders>
class BasicWord {
public:
    static constexpr std::uint32_t busy = std::uint32_t{1} << 31;

    constexpr BasicWord() = default;
    explicit constexpr BasicWord(std::uint32_t value) : value_(value) {}

    // How it stands, the busy bit included.
    std::uint32_t look() const { return value_.load(Orders::look); }
    // relaxed: a hint; whoever acts upon it does so by one of the next three, which compare.
    std::uint32_t glance() const { return value_.load(std::memory_order_relaxed); }

    // The same of some bits.
    bool glance(std::uint32_t bits) const { return arch::any_of(value_, bits); }

    // From `seen`, which the caller has read and is not busy, to `next`; false: it stands otherwise, and `seen` says how.
    // relaxed when it fails, in all three: it is tried again.
    bool enter(std::uint32_t& seen, std::uint32_t next) { return change(seen, next, Orders::enter); }
    bool leave(std::uint32_t& seen, std::uint32_t next) { return change(seen, next, Orders::leave); }
    // For a change that both gives and takes. acq_rel: enter and leave in one.
    bool pass(std::uint32_t& seen, std::uint32_t next) { return change(seen, next, std::memory_order_acq_rel); }

    // Takes the busy bit if `may(word)`, asked of the word without it; returns that word, and `may` of it says whether it was taken.
    // In a process with one OS thread it need not be set for others to see: whoever has it comes to its end before anybody else runs.
    template <class May>
    [[gnu::always_inline]] std::uint32_t lock_if(May&& may) {
        return os::alone() ? look() : lock_among_others(may);
    }
    template <class May>
    [[gnu::always_inline]] std::uint32_t lock_among_others(May&& may) {
        std::uint32_t seen = look();
        if ((seen & busy) == 0 && (!may(seen) || enter(seen, seen | busy))) [[likely]] return seen;
        return lock_after_others(may);
    }
    // Takes the busy bit; returns the word without it.
    [[gnu::always_inline]] std::uint32_t lock() {
        return lock_if(always);
    }
    // Lets it go; the word is `next`, which is not busy. Nothing of the object may be touched after this, since it may be gone.
    void unlock(std::uint32_t next) { value_.store(next, Orders::leave); }

private:
    template <class May>
    [[gnu::noinline]] std::uint32_t lock_after_others(May& may) {
        os::Patience patience;
        for (;;) {
            std::uint32_t seen = look();
            if ((seen & busy) != 0) {
                probe(Probe::word_busy);
                patience.wait();
            } else if (!may(seen) || enter(seen, seen | busy)) {
                return seen;
            }
        }
    }

    [[gnu::always_inline]] bool change(std::uint32_t& seen, std::uint32_t next, std::memory_order order) {
        if (os::alone()) {
            WEFT_ASSERT(glance() == seen);
            value_.store(next, std::memory_order_relaxed);   // relaxed: there is nobody else
            return true;
        }
        return value_.compare_exchange_strong(seen, next, order, std::memory_order_relaxed);   // relaxed: see enter()
    }

    atomic<std::uint32_t> value_{0};
};

// How one who comes to wait enters an object and lets it go again. Two more, for units, are in party.hpp.
struct Entrance {
    template <class Word, class May>
    [[gnu::always_inline]] std::uint32_t lock_if(Word& word, May&& may) const {
        return word.lock_if(may);
    }
    // Whether what is wanted can be had `now`, under the lock, though the caller has looked for it in vain.
    static bool changed(bool now) { return now; }
    // The last act.
    template <class Word>
    void let_go(Word& word, std::uint32_t next) const {
        word.unlock(next);
    }
    template <class Word>
    void let_go_unchanged(Word& word, std::uint32_t seen) const {
        word.unlock(seen);
    }
};

}  // namespace weft::sync
