// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mutex that knows its holder. README.md says how it hands itself on, and what was rejected.
//
// It is a view of memory that lies with the user: a word, which decides every operation that
// involves no waiter, and a body. Of the body, the ring belongs to the holder of the word's busy
// bit and the rest to the holder of the mutex.
//
// `Who` is a parameter for the model tests; the library uses Mutex, below.
#pragma once

#include <cstdint>
#include <utility>

#include "base/assert.hpp"
#include "sync/waiter.hpp"
#include "sync/word.hpp"

namespace weft::sync {

// Which waiter is served first; among equals, the one that came first.
enum class Urgency : std::uint8_t { normal = 0, high = 1, low = 2 };

template <class Who, class Orders>
struct MutexBody;

using MutexBits = Bits<struct MutexTag, std::uint32_t>;
template <class Orders>
using MutexWord = BasicWord<Orders, MutexBits>;

// The part of a condition beside its word.
template <class Who, class Orders>
struct ConditionBody {
    WaiterRing<Who> ring;
    // Of the waiters in the ring: the word of their condition, and the mutex that they have
    // released. Written by the first that comes.
    plain<BasicWord<Orders>*> word{nullptr};
    atomic<MutexWord<Orders>*> mutex_word{nullptr};
    plain<MutexBody<Who, Orders>*> mutex_body{nullptr};
};

// The part of a mutex beside its word.
template <class Who, class Orders>
struct MutexBody {
    // the holder's identity; relaxed: equal to the caller's own only if the caller wrote it
    atomic<void*> owner{nullptr};
    WaiterRing<Who> ring;
    plain<BasicWaiter<Who>*> last_high{nullptr};   // of those in the ring
    plain<BasicWaiter<Who>*> first_low{nullptr};
    // the holder's: the condition whose waiters are to follow when it releases the mutex
    plain<ConditionBody<Who, Orders>*> signalled{nullptr};
    plain<std::uint32_t> signals{0};   // and how many of them
    plain<std::uint32_t> depth{0};     // of a recursive mutex: how often it has been locked again
};

template <class Who, class Orders = WordOrders>
class BasicMutex {
public:
    using Waiter = BasicWaiter<Who>;
    using Word = MutexWord<Orders>;
    using Body = MutexBody<Who, Orders>;

    // Bits of the word.
    static constexpr MutexBits recursive{1};   // its holder may lock it again
    static constexpr MutexBits held{2};
    static constexpr MutexBits waiters{4};   // the ring is not empty: the releasing holder must check it
    static constexpr MutexBits awake{8};     // a woken waiter has not tried yet: no other is woken meanwhile

    BasicMutex(Word& word, Body& body) : word_(word), body_(body) {}

    Word& word() const { return word_; }
    Body& body() const { return body_; }
    const void* address() const { return &word_; }
    bool is_held() const { return word_.glance(held); }
    bool is_recursive() const { return word_.glance(recursive); }
    // Whether the mutex was given to its holder, which has not run since: to spin until it is free
    // is useless. A hint.
    bool is_on_its_way() const { return (reinterpret_cast<std::uintptr_t>(owner()) & on_its_way) != 0; }
    // A holder that has been given the mutex records itself. relaxed: see Body::owner.
    void* owner() const { return body_.owner.load(std::memory_order_relaxed); }
    // relaxed: see Body::owner
    void set_owner(void* identity) { body_.owner.store(identity, std::memory_order_relaxed); }

    // Takes the mutex if it is not held; waiters may be overtaken. The caller records itself
    // afterwards: to find out who it is takes loads that depend on each other, and a
    // read-modify-write that they precede waits for them.
    bool try_take() { return take_word(); }

    // Releases a mutex that is not recursive, when it has no waiters and owes no signal. False: it
    // takes unlock_slow().
    bool unlock_quickly(void* identity) {
        MutexBits seen = word_.glance();
        if (seen != held || body_.signalled != nullptr) [[unlikely]]
            return false;
        set_owner(nullptr);
        if (word_.leave(seen, {})) [[likely]]
            return true;
        set_owner(identity);
        return false;
    }

    // Releases the mutex. The first waiter in the ring is woken to try for it, unless another is on
    // its way; if it was overtaken often enough, it is given the mutex.
    void unlock_slow() {
        const MutexBits seen = word_.lock();
        check(seen);
        WEFT_ASSERT(seen.has(held));
        let_go(seen);
    }

    // ---- as an object to wait at (agent.hpp) ----------------------------------------------------

    bool come() const { return !is_held(); }

    bool take(Waiter& waiter) { return take_word(claim_of(waiter)); }

    template <class By = Entrance>
    bool enter(Waiter& waiter, By&& by = {}) {
        for (;;) {
            MutexBits seen = by.lock_if(word_, [](MutexBits word) { return word.has(held); });
            if (!by.changed(!seen.has(held))) {
                check(seen);
                insert(waiter);
                by.let_go(word_, seen.without(claim_of(waiter)) | waiters);
                return true;
            }
            if (word_.enter(seen, seen.without(claim_of(waiter)) | held)) return false;
        }
    }

    void withdraw(Waiter& waiter) {
        const MutexBits seen = word_.lock();
        check(seen);
        if (waiter.answer == Answer::awaited) remove(waiter);
        word_.unlock(with_waiters(seen));
    }

    // From now on the waiters that have been claimed elsewhere (by a condition) wait here. If the
    // mutex is not held, the first is woken. Nothing of the mutex is touched after that: the
    // waiters alone keep it alive.
    void adopt(Claimed<Who>& claimed) {
        if (claimed.empty()) return;
        const MutexBits seen = word_.lock();
        check(seen);
        append(claimed);
        if (seen.has(held)) return word_.unlock(seen | waiters);
        let_go(seen);
    }

    // By the releasing holder: unlock_slow() with waiters to follow.
    void unlock_to(Claimed<Who>& claimed) {
        const MutexBits seen = word_.lock();
        check(seen);
        append(claimed);
        let_go(seen);
    }

    // While no thread runs, where the mutex is not busy: the waiters in the ring are in the order
    // of their urgency, and a mutex records a holder exactly while it is held.
    void check_whole() const {
        const MutexBits seen = word_.look();
        if (Word::is_busy(seen)) return;
        check(seen);
        sync::check_whole(body_.ring);
        WEFT_ASSERT(body_.last_high == nullptr || urgency(*body_.last_high) == Urgency::high);
        WEFT_ASSERT(body_.first_low == nullptr || urgency(*body_.first_low) == Urgency::low);
        WEFT_ASSERT(seen.has(held) ? owner() != nullptr : owner() == nullptr);
        WEFT_ASSERT((body_.signalled == nullptr) == (body_.signals == 0));
    }

private:
    // On entry, under the busy bit: no bit without a meaning is set, and `waiters` says whether
    // there are waiters.
    void check(MutexBits seen) const {
        WEFT_ASSERT(!seen.without(recursive | held | waiters | awake | Word::busy).any());
        WEFT_ASSERT(seen.has(waiters) == !body_.ring.empty());
        body_.ring.check();
    }

    // The taker clears `claim`, a bit of the word or none.
    bool take_word(MutexBits claim = {}) {
        MutexBits seen = word_.glance();
        if (seen.has(held | Word::busy)) [[unlikely]]
            return false;
        return word_.enter(seen, seen.without(claim) | held);
    }

    // Waiter::mark is the urgency and, above it, how often the waiter was woken.
    static constexpr std::uint8_t urgency_bits = 3;
    static constexpr std::uint8_t once = urgency_bits + 1;
    static constexpr std::uint8_t enough = 8 * once;   // a waiter that was overtaken this often is given the mutex

    static Urgency urgency(const Waiter& waiter) { return static_cast<Urgency>(waiter.mark & urgency_bits); }
    static bool was_woken(const Waiter& waiter) { return waiter.mark >= once; }
    // The bit that a trying waiter clears in the word: that it is on its way. If the bit stood for
    // another waiter, one more is woken than need be.
    static MutexBits claim_of(const Waiter& waiter) { return awake.only_if(was_woken(waiter)); }

    static constexpr std::uintptr_t on_its_way = 1;   // in the owner's identity
    static void* given_to(void* identity) {
        return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(identity) | on_its_way);
    }

public:
    // Before the waiter tries for the first time.
    static void ask(Waiter& waiter, Urgency as) { waiter.mark = static_cast<std::uint8_t>(as); }
    // The waiter need not be overtaken again: it comes first, and the next unlock gives it the
    // mutex.
    static void insist(Waiter& waiter) {
        waiter.mark = static_cast<std::uint8_t>((waiter.mark & urgency_bits) | enough);
    }

private:
    // All functions below run under the busy bit.

    void insert(Waiter& waiter) {
        waiter.answer = Answer::awaited;
        auto& ring = body_.ring;
        if (was_woken(waiter)) return ring.push_front(waiter);
        switch (urgency(waiter)) {
        case Urgency::high:
            if (body_.last_high == nullptr) {
                ring.push_front(waiter);
            } else {
                ring.insert_after(waiter, *body_.last_high);
            }
            body_.last_high = &waiter;
            return;
        case Urgency::normal:
            if (body_.first_low == nullptr) {
                ring.push_back(waiter);
            } else {
                ring.insert_before(waiter, *body_.first_low);
            }
            return;
        case Urgency::low:
            ring.push_back(waiter);
            if (body_.first_low == nullptr) body_.first_low = &waiter;
            return;
        }
    }

    // Each of the two marks goes on to a neighbour that may bear it, or to no waiter.
    void remove(Waiter& waiter) {
        auto& ring = body_.ring;
        if (&waiter == body_.last_high) {
            Waiter* before = ring.before(waiter);
            body_.last_high =
                before != nullptr && urgency(*before) == Urgency::high && !was_woken(*before) ? before : nullptr;
        }
        if (&waiter == body_.first_low) body_.first_low = ring.after(waiter);
        delist(ring, waiter);
    }

    Waiter* claim_next() {
        while (Waiter* first = body_.ring.front()) {
            remove(*first);
            if (first->who.claim(first->index)) return first;
        }
        return nullptr;
    }

    void append(Claimed<Who>& claimed) {
        while (Waiter* waiter = claimed.take()) {
            waiter->who.settle();
            ask(*waiter, Urgency::normal);
            insert(*waiter);
        }
    }

    MutexBits with_waiters(MutexBits seen) const { return body_.ring.empty() ? seen.without(waiters) : seen | waiters; }

    void let_go(MutexBits seen) {
        Waiter* const next = seen.has(awake) ? nullptr : claim_next();
        if (next == nullptr) {
            set_owner(nullptr);
            return word_.unlock(with_waiters(seen & (recursive | awake)));
        }
        const bool give = next->mark >= enough;
        next->answer = give ? Answer::given : Answer::woken;
        if (!give) next->mark = static_cast<std::uint8_t>(next->mark + once);
        const Who who = next->who;
        set_owner(give ? given_to(who.identity()) : nullptr);
        word_.unlock(with_waiters(seen & recursive) | (give ? held : awake));
        who.wake(typename Who::Waker());
    }

    Word& word_;
    Body& body_;
};

}   // namespace weft::sync
