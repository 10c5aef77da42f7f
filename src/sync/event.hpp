// An event (Argobots' eventual): set once, it carries a pointer, until it is reset. Whoever waits is woken by the set.
//
// Once it is set nobody takes the word's busy bit until it is reset: so a reset is a store.
#pragma once

#include <cstdint>

#include "sync/waiter.hpp"
#include "sync/word.hpp"

namespace weft::sync {

template <class Who, class Orders>
struct EventBody {
    WaiterRing<Who> ring;
    plain<void*> value{nullptr};
};

template <class Who, class Orders = WordOrders>
class BasicEvent {
public:
    using Waiter = BasicWaiter<Who>;
    using Word = BasicWord<Orders>;
    using Body = EventBody<Who, Orders>;

    static constexpr std::uint32_t is_set = 1;

    BasicEvent(Word& word, Body& body) : word_(word), body_(body) {}

    const void* address() const { return &word_; }
    bool come() const { return (word_.look() & is_set) != 0; }
    // Of one that is set.
    void* value() const { return body_.value; }

    // set(), where nobody waits, or one for whom it is the only thing. Null: it was not done so. Otherwise whom to wake,
    // or nobody.
    struct Quickly {
        bool done;
        Who waiter;
    };
    [[gnu::always_inline]] Quickly set_quickly(void* value) {
        std::uint32_t seen = word_.glance();
        if (seen != 0 || !word_.enter(seen, Word::busy)) [[unlikely]] return {false, {}};
        Waiter* const first = body_.ring.front();
        if (first != nullptr && (first->next != first || !first->who.certain())) [[unlikely]] {
            word_.unlock(0);
            return {false, {}};
        }
        body_.value = value;
        Who waiter{};
        if (first != nullptr) {
            waiter = first->who;
            first->answer = Answer::given;
            body_.ring.clear();
        }
        word_.unlock(is_set);
        return {true, waiter};
    }

    // False: it was set already; nothing has changed.
    bool set(void* value) {
        if ((word_.lock_if(unset) & is_set) != 0) return false;
        body_.value = value;
        Claimed<Who> claimed(body_.ring, Answer::given);
        word_.unlock(is_set);
        claimed.wake_all();
        return true;
    }

    // Back to not set. Not while somebody sets it, or must see that it was.
    void reset() {
        if (come()) word_.unlock(0);
    }

    // ---- as an object to wait at ------------------------------------------------------------------------

    bool take(Waiter& waiter) {
        static_cast<void>(waiter);
        return come();
    }

    bool enter(Waiter& waiter) {
        if ((word_.lock_if(unset) & is_set) != 0) return false;
        enlist(body_.ring, waiter);
        word_.unlock(0);
        return true;
    }

    void withdraw(Waiter& waiter) {
        // A set takes everybody out; afterwards there is nothing to withdraw from.
        if ((word_.lock_if(unset) & is_set) != 0) return;
        sync::withdraw(body_.ring, waiter);
        word_.unlock(0);
    }

private:
    static bool unset(std::uint32_t word) { return (word & is_set) == 0; }

    Word& word_;
    Body& body_;
};

}  // namespace weft::sync
