// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The word of an object that units wait for: 31 bits that describe its state, and one that says
// that a thread is at work on the data beside it. An operation that involves no waiter is decided
// by one compare-and-swap on the word; for everything else the busy bit is taken, by one
// compare-and-swap too, and released by a store.
//
// While the word is busy no other thread changes it, so the holder of the bit may trust what lock()
// returned.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "arch/look.hpp"
#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/bits.hpp"
#include "base/probe.hpp"
#include "os/single_threaded.hpp"
#include "os/spin.hpp"

namespace weft::sync {

// The orders of Word; a model test passes weaker ones, which must fail.
struct WordOrders {
    // acquire: pairs with `leave`, so that what the last holder did to the object and under it is
    // seen.
    static constexpr std::memory_order enter = std::memory_order_acquire;
    // release: pairs with `enter` and `look`.
    static constexpr std::memory_order leave = std::memory_order_release;
    // acquire: pairs with `leave`, for callers that act upon the word alone (an event that is set).
    static constexpr std::memory_order look = std::memory_order_acquire;
};

// For callers that want the lock in any state of the word.
inline constexpr auto always = [](auto) { return true; };

// `As` is what the word says beside the busy bit: a count, or bits of a type of their own
// (base/bits.hpp).
template <class Orders = WordOrders, class As = std::uint32_t>
class BasicWord {
    static_assert(sizeof(As) == sizeof(std::uint32_t) && std::is_trivially_copyable_v<As>);
    static constexpr std::uint32_t busy_bit = std::uint32_t{1} << 31;

public:
    using Seen = As;
    static constexpr As busy{busy_bit};

    constexpr BasicWord() = default;
    explicit constexpr BasicWord(As value) : value_(number(value)) {}

    // The word, the busy bit included.
    As look() const { return seen_as(value_.load(Orders::look)); }
    // relaxed: a hint; a caller that acts upon it does so by one of the next three, which compare.
    As glance() const { return seen_as(value_.load(std::memory_order_relaxed)); }

    // Whether one of these bits is set; relaxed too.
    bool glance(As bits) const { return arch::any_of(value_, number(bits)); }

    // From `seen`, which the caller has read and which is not busy, to `next`. False: the word is
    // different, and `seen` receives it. relaxed when it fails, in all three: it is tried again.
    bool enter(As& seen, As next) { return change(seen, next, Orders::enter); }
    bool leave(As& seen, As next) { return change(seen, next, Orders::leave); }
    // For a change that both gives and takes. acq_rel: enter and leave in one.
    bool pass(As& seen, As next) { return change(seen, next, std::memory_order_acq_rel); }

    // Takes the busy bit if `may(word)`, called on the word without that bit; returns that word,
    // and `may` of it says whether the bit was taken. In a process with one OS thread the bit need
    // not be set for other threads to see: its holder finishes before anything else runs.
    template <class May>
    [[gnu::always_inline]] As lock_if(May&& may) {
        return os::single_threaded() ? look() : lock_among_others(may);
    }
    template <class May>
    [[gnu::always_inline]] As lock_among_others(May&& may) {
        As seen = look();
        if (!is_busy(seen) && (!may(seen) || exchange(seen, seen | busy, Orders::enter))) [[likely]]
            return seen;
        return lock_after_others(may);
    }
    // lock_among_others() if no other thread has the busy bit; otherwise returns a word with it.
    template <class May>
    [[gnu::always_inline]] As lock_at_once(May&& may) {
        As seen = look();
        const bool lost = !is_busy(seen) && may(seen) && !exchange(seen, seen | busy, Orders::enter);
        return lost ? seen | busy : seen;
    }
    // Takes the busy bit; returns the word without it.
    [[gnu::always_inline]] As lock() { return lock_if(always); }
    // Releases the busy bit; the word is `next`, which is not busy. Nothing of the object may be
    // touched after this, since it may be gone.
    void unlock(As next) { value_.store(number(next), Orders::leave); }
    // By the holder of the busy bit: unlock(next) in two steps, the second of which needs nothing
    // but the word. relaxed: no other thread acts upon a word that is busy, and the second step
    // publishes it.
    void prepare(As next) { value_.store(number(next) | busy_bit, std::memory_order_relaxed); }
    void unlock_prepared() { unlock(seen_as(value_.load(std::memory_order_relaxed) & ~busy_bit)); }

    static bool is_busy(As seen) { return (number(seen) & busy_bit) != 0; }

private:
    template <class May>
    [[gnu::noinline]] As lock_after_others(May& may) {
        os::Backoff backoff;
        for (;;) {
            As seen = look();
            if (is_busy(seen)) {
                probe(Probe::word_busy);
                backoff.wait();
            } else if (!may(seen) || exchange(seen, seen | busy, Orders::enter)) {
                return seen;
            }
        }
    }

    static constexpr std::uint32_t number(As seen) { return std::bit_cast<std::uint32_t>(seen); }
    static constexpr As seen_as(std::uint32_t value) { return std::bit_cast<As>(value); }

    [[gnu::always_inline]] bool change(As& seen, As next, std::memory_order order) {
        if (os::single_threaded()) {
            WEFT_ASSERT(glance() == seen);
            value_.store(number(next), std::memory_order_relaxed);   // relaxed: there is no other thread
            return true;
        }
        return exchange(seen, next, order);
    }

    [[gnu::always_inline]] bool exchange(As& seen, As next, std::memory_order order) {
        std::uint32_t was = number(seen);
        // relaxed: see enter()
        const bool changed = value_.compare_exchange_strong(was, number(next), order, std::memory_order_relaxed);
        seen = seen_as(was);
        return changed;
    }

    atomic<std::uint32_t> value_{0};
};

// How a caller that comes to wait enters an object and releases it again. Two more ways, for units,
// are in agent.hpp.
struct Entrance {
    template <class Word, class May>
    [[gnu::always_inline]] typename Word::Seen lock_if(Word& word, May&& may) const {
        return word.lock_if(may);
    }
    // Whether what is wanted can be had `now`, under the lock, though the caller has checked for it
    // without success.
    static bool changed(bool now) { return now; }
    // The last act.
    template <class Word>
    void let_go(Word& word, typename Word::Seen next) const {
        word.unlock(next);
    }
    template <class Word>
    void let_go_unchanged(Word& word, typename Word::Seen seen) const {
        word.unlock(seen);
    }
};

// How a caller among other threads enters an object if no thread is at work on it. Otherwise the
// word is returned with the busy bit, and the caller comes again by another way, which it calls as
// its last step: so it need not save registers for the unlikely case.
struct AtOnce {
    template <class Word, class May>
    [[gnu::always_inline]] typename Word::Seen lock_if(Word& word, May&& may) const {
        return word.lock_at_once(may);
    }
};

}   // namespace weft::sync
