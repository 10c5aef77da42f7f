// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A bounded channel. Everything is under the word's busy bit; the other bits tell callers that look
// from outside whether it is worth entering. When a receiver waits, elements go straight from the
// sender to it, past the buffer.
//
// Invariants: receivers wait only while there is nothing to receive, senders only while there is no
// room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/atomic.hpp"
#include "sync/waiter.hpp"
#include "sync/word.hpp"

namespace weft::sync {

using ChannelBits = Bits<struct ChannelTag, std::uint32_t>;

template <class Who, class Orders = WordOrders>
class BasicChannel {
public:
    using Waiter = BasicWaiter<Who>;
    using Word = BasicWord<Orders, ChannelBits>;

    // Bits of the word.
    static constexpr ChannelBits closed{1};
    static constexpr ChannelBits readable{2};   // an element is in it, or a sender waits
    static constexpr ChannelBits writable{4};   // there is room, or a receiver waits

    struct Elements {
        std::size_t bytes;
        std::size_t capacity;
        void (*move)(void* to, void* from);   // null: the bytes are copied
        void (*drop)(void* element);          // null: nothing
    };

    BasicChannel(const Elements& elements, char* buffer)
        : elements_(elements), buffer_(buffer), word_(writable.only_if(elements.capacity != 0)) {}

    std::size_t length() const { return count_.load(std::memory_order_relaxed); }   // relaxed: a hint
    // called when no other thread knows the channel
    bool somebody_waits() const { return !senders_.empty() || !receivers_.empty(); }

    // Drops the elements that are left.
    void drop_all() {
        for (; length() != 0 && elements_.drop != nullptr; take_out()) elements_.drop(slot(first_));
    }

    // False: it was closed.
    bool close() {
        const ChannelBits seen = word_.lock();
        if (seen.has(closed)) {
            word_.unlock(seen);
            return false;
        }
        Claimed<Who> claimed;
        claimed.add_all(senders_, Answer::closed);
        claimed.add_all(receivers_, Answer::closed);
        word_.unlock(outside(closed));
        claimed.wake_all();
        return true;
    }

    // ---- for several channels at once: between lock() and unlock() ------------------------------

    ChannelBits lock() {
        const ChannelBits seen = word_.lock();
        check(seen);
        return seen;
    }
    void unlock(ChannelBits seen) { word_.unlock(outside(seen)); }

    // Sends or receives waiter.item if it can be done now; the answer is the waiter's. The opposite
    // side's waiter that this serves is added to `claimed`.
    bool try_send(ChannelBits seen, Waiter& waiter, Claimed<Who>& claimed) {
        if (seen.has(closed)) return answer(waiter, Answer::closed);
        if (Waiter* receiver = claim_first(receivers_)) {
            move(receiver->item, waiter.item);
            claimed.add(*receiver, Answer::given);
            return answer(waiter, Answer::given);
        }
        if (length() == elements_.capacity) return false;
        put_in(waiter.item);
        return answer(waiter, Answer::given);
    }
    bool try_receive(ChannelBits seen, Waiter& waiter, Claimed<Who>& claimed) {
        if (length() != 0) {
            move(waiter.item, slot(first_));
            take_out();
            if (Waiter* sender = claim_first(senders_)) {
                put_in(sender->item);
                claimed.add(*sender, Answer::given);
            }
            return answer(waiter, Answer::given);
        }
        if (Waiter* sender = claim_first(senders_)) {
            move(waiter.item, sender->item);
            claimed.add(*sender, Answer::given);
            return answer(waiter, Answer::given);
        }
        if (seen.has(closed)) return answer(waiter, Answer::closed);
        return false;
    }
    // While no thread runs, where the channel is not busy: the bits that are seen from outside
    // match its state.
    void check_whole() const {
        const ChannelBits seen = word_.look();
        if (Word::is_busy(seen)) return;
        check(seen);
        WEFT_ASSERT(outside(seen) == seen);
        sync::check_whole(senders_);
        sync::check_whole(receivers_);
    }

    void enlist_sender(Waiter& waiter) { enlist(senders_, waiter); }
    void enlist_receiver(Waiter& waiter) { enlist(receivers_, waiter); }

    void withdraw_sender(Waiter& waiter) { leave(senders_, waiter); }
    void withdraw_receiver(Waiter& waiter) { leave(receivers_, waiter); }

    // ---- as objects to wait at ------------------------------------------------------------------

    template <bool sends>
    class End {
    public:
        using Word = BasicChannel::Word;
        explicit End(BasicChannel& of) : of_(of) {}
        bool come() const { return of_.word_.glance().has(closed | (sends ? writable : readable)); }
        bool take(Waiter& waiter) {
            const ChannelBits seen = of_.lock();
            return done(waiter, seen) || (of_.unlock(seen), false);
        }
        template <class By = Entrance>
        bool enter(Waiter& waiter, By&& by = {}) {
            const ChannelBits seen = by.lock_if(of_.word_, always);
            if (done(waiter, seen)) return false;
            enlist(ring(), waiter);
            by.let_go(of_.word_, of_.outside(seen));
            return true;
        }
        void withdraw(Waiter& waiter) { of_.leave(ring(), waiter); }
        // Without a buffer a receiver finds nothing but a listed sender; so one side may spin, and
        // the other must not.
        bool expected() const { return sends && of_.elements_.capacity == 0; }

    private:
        WaiterRing<Who>& ring() { return sends ? of_.senders_ : of_.receivers_; }

        // Under the lock, which it releases if it is done.
        bool done(Waiter& waiter, ChannelBits seen) {
            Claimed<Who> claimed;
            if (!(sends ? of_.try_send(seen, waiter, claimed) : of_.try_receive(seen, waiter, claimed))) return false;
            of_.unlock(seen);
            claimed.wake_all();
            return true;
        }

        BasicChannel& of_;
    };
    using Sending = End<true>;
    using Receiving = End<false>;

private:
    // On entry, under the busy bit.
    void check(ChannelBits seen) const {
        WEFT_ASSERT(length() <= elements_.capacity && (first_ < elements_.capacity || first_ == 0));
        WEFT_ASSERT(receivers_.empty() || length() == 0);
        WEFT_ASSERT(senders_.empty() || length() == elements_.capacity);
        WEFT_ASSERT(!seen.has(closed) || (senders_.empty() && receivers_.empty()));
    }

    static bool answer(Waiter& waiter, Answer is) {
        waiter.answer = is;
        return true;
    }

    void leave(WaiterRing<Who>& ring, Waiter& waiter) {
        const ChannelBits seen = lock();
        sync::withdraw(ring, waiter);
        unlock(seen);
    }

    // The bits that others see of the channel.
    ChannelBits outside(ChannelBits seen) const {
        ChannelBits word = seen & closed;
        if (length() != 0 || !senders_.empty()) word |= readable;
        if (length() != elements_.capacity || !receivers_.empty()) word |= writable;
        return word;
    }

    void move(void* to, void* from) {
        if (elements_.move != nullptr) {
            elements_.move(to, from);
        } else {
            std::memcpy(to, from, elements_.bytes);
        }
    }

    char* slot(std::size_t index) { return buffer_ + index * elements_.bytes; }

    void put_in(void* element) {
        std::size_t last = first_ + length();
        if (last >= elements_.capacity) last -= elements_.capacity;
        move(slot(last), element);
        count_.store(length() + 1, std::memory_order_relaxed);   // relaxed: under the lock; others read a hint
    }
    void take_out() {
        if (++first_ == elements_.capacity) first_ = 0;
        count_.store(length() - 1, std::memory_order_relaxed);   // relaxed: under the lock; others read a hint
    }

    const Elements elements_;
    char* const buffer_;
    Word word_;
    plain<std::size_t> first_{0};   // of the oldest element
    atomic<std::size_t> count_{0};
    WaiterRing<Who> senders_;
    WaiterRing<Who> receivers_;
};

}   // namespace weft::sync
