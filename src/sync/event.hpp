// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An event (Argobots' eventual): set once, it carries a pointer, until it is reset. The set wakes
// its waiters.
//
// Once the event is set no thread takes the word's busy bit until it is reset. So a reset is a
// store, and programs may do it, and check the word, themselves (WEFT_EVENT_IS_SET).
#pragma once

#include <cstdint>
#include <type_traits>

#include "sync/waiter.hpp"
#include "sync/word.hpp"

namespace weft::sync {

template <class Who, class Orders>
struct EventBody {
    WaiterRing<Who> ring;
    plain<void*> value{nullptr};
};

using EventBits = Bits<struct EventTag, std::uint32_t>;

template <class Who, class Orders = WordOrders>
class BasicEvent {
public:
    using Waiter = BasicWaiter<Who>;
    using Word = BasicWord<Orders, EventBits>;
    using Body = EventBody<Who, Orders>;

    static constexpr EventBits is_set{1};

    BasicEvent(Word& word, Body& body) : word_(word), body_(body) {}

    const void* address() const { return &word_; }
    bool come() const { return word_.look().has(is_set); }
    // For an event that is set.
    void* value() const { return body_.value; }

    // False: it was set already; nothing has changed.
    bool set(void* value) {
        Who one{};
        switch (begin_set(value, one, Entrance())) {
        case Set::already: return false;
        case Set::one_waits: one.wake(typename Who::Waker()); break;
        case Set::many_wait: release_many(); break;
        case Set::nobody_waits:
        case Set::busy: break;
        }
        return true;
    }

    // What is left to be done by a caller that sets the event in steps.
    enum class Set : std::uint8_t {
        nobody_waits,   // nothing
        one_waits,      // to wake `one`, which nothing else can wake
        many_wait,      // release_many(): the word is still busy
        already,        // nothing has changed: it was set already
        busy,           // nothing has changed: another thread is at work, and `by` is AtOnce
    };
    template <class By>
    [[gnu::always_inline]] Set begin_set(void* value, Who& one, By&& by) {
        const EventBits seen = by.lock_if(word_, unset);
        if constexpr (std::is_same_v<std::remove_cvref_t<By>, AtOnce>) {
            if (Word::is_busy(seen)) [[unlikely]]
                return Set::busy;
        }
        if (seen.has(is_set)) [[unlikely]]
            return Set::already;
        check(seen);
        body_.value = value;
        Waiter* const first = body_.ring.front();
        if (first != nullptr) {
            one = first->who;
            if (first->next != first || !one.certain()) [[unlikely]]
                return Set::many_wait;
            first->answer = Answer::given;
            body_.ring.clear();
        }
        word_.unlock(is_set);
        return first == nullptr ? Set::nobody_waits : Set::one_waits;
    }
    void release_many() {
        Released<Who> released(body_.ring, Answer::given);
        word_.unlock(is_set);
        released.wake_all();
    }

    // Back to not set. Not while another thread sets it, or must see that it was set.
    void reset() {
        if (come()) word_.unlock({});
    }

    // ---- as an object to wait at ----------------------------------------------------------------

    bool take(Waiter& waiter) {
        static_cast<void>(waiter);
        return come();
    }

    template <class By = Entrance>
    bool enter(Waiter& waiter, By&& by = {}) {
        const EventBits seen = by.lock_if(word_, unset);
        if (by.changed(seen.has(is_set))) return false;
        check(seen);
        enlist(body_.ring, waiter);
        by.let_go_unchanged(word_, seen);
        return true;
    }

    void withdraw(Waiter& waiter) {
        // A set takes all waiters out; afterwards there is nothing to withdraw from.
        if (word_.lock_if(unset).has(is_set)) return;
        sync::withdraw(body_.ring, waiter);
        word_.unlock({});
    }

    // While no thread runs, where the event is not busy: a set event has no waiters.
    void check_whole() const {
        const EventBits seen = word_.look();
        if (Word::is_busy(seen)) return;
        check(seen);
        WEFT_ASSERT(sync::check_whole(body_.ring) == 0 || !seen.has(is_set));
    }

private:
    // On entry, under the busy bit.
    void check(EventBits seen) const {
        WEFT_ASSERT(!seen.without(is_set | Word::busy).any());
        body_.ring.check();
    }

    static bool unset(EventBits word) { return !word.has(is_set); }

    Word& word_;
    Body& body_;
};

}   // namespace weft::sync
