// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A read-write lock in phases. A reader that comes while there are waiters waits too. When a writer
// releases the lock, all readers that wait then are let in together, and when the last reader
// releases it, the writer that has waited longest. So neither side waits for more than one turn of
// the other. A waiter is given the lock; no newcomer overtakes it.
#pragma once

#include <cstdint>

#include "sync/waiter.hpp"
#include "sync/word.hpp"

namespace weft::sync {

template <class Who>
struct RwLockBody {
    WaiterRing<Who> readers;
    WaiterRing<Who> writers;
    // the writer's identity; relaxed: equal to the caller's own only if the caller wrote it
    atomic<void*> owner{nullptr};
};

template <class Who, class Orders = WordOrders>
class BasicRwLock {
public:
    using Waiter = BasicWaiter<Who>;
    using Word = BasicWord<Orders>;
    using Body = RwLockBody<Who>;

    static constexpr std::uint32_t reading = 0x0fffffff;   // how many read: the bits below
    static constexpr std::uint32_t writing = reading + 1;
    static constexpr std::uint32_t waiters = writing << 1;

    BasicRwLock(Word& word, Body& body) : word_(word), body_(body) {}

    const void* address() const { return &word_; }
    // relaxed: see Body::owner
    void* owner() const { return body_.owner.load(std::memory_order_relaxed); }
    // relaxed: see Body::owner
    void set_owner(void* identity) { body_.owner.store(identity, std::memory_order_relaxed); }

    bool try_read() {
        std::uint32_t seen = word_.glance();
        while ((seen & (Word::busy | writing | waiters)) == 0) {
            if (word_.enter(seen, seen + 1)) return true;
        }
        return false;
    }
    bool try_write() {
        std::uint32_t seen = word_.glance();
        return seen == 0 && word_.enter(seen, writing);
    }

    // False: the lock is not held, or is held by a writer other than the caller.
    bool unlock(void* identity) {
        std::uint32_t seen = word_.glance() & ~Word::busy;
        if ((seen & writing) != 0) {
            if (owner() != identity) return false;
            set_owner(nullptr);
            if (seen == writing && word_.leave(seen, 0)) return true;
        } else {
            if ((seen & reading) == 0) return false;
            while ((seen & (waiters | Word::busy)) == 0 && (seen & reading) != 0) {
                if (word_.leave(seen, seen - 1)) return true;
            }
        }
        seen = word_.lock();
        check(seen);
        const bool wrote = (seen & writing) != 0;
        pass_on(wrote ? seen & ~writing : seen - 1, wrote);
        return true;
    }

    // ---- as objects to wait at ------------------------------------------------------------------

    class ForReading {
    public:
        using Word = BasicWord<Orders>;
        explicit ForReading(BasicRwLock lock) : lock_(lock) {}
        bool come() const { return (lock_.word_.glance() & (writing | waiters)) == 0; }
        bool take(Waiter& waiter) {
            static_cast<void>(waiter);
            return lock_.try_read();
        }
        template <class By = Entrance>
        bool enter(Waiter& waiter, By&& by = {}) {
            for (;;) {
                const std::uint32_t seen =
                    by.lock_if(lock_.word_, [](std::uint32_t word) { return (word & (writing | waiters)) != 0; });
                if (!by.changed((seen & (writing | waiters)) == 0)) {
                    enlist(lock_.body_.readers, waiter);
                    by.let_go(lock_.word_, seen | waiters);
                    return true;
                }
                if (lock_.try_read()) return false;
            }
        }
        void withdraw(Waiter& waiter) { lock_.leave(lock_.body_.readers, waiter); }

    private:
        BasicRwLock lock_;
    };

    class ForWriting {
    public:
        using Word = BasicWord<Orders>;
        explicit ForWriting(BasicRwLock lock) : lock_(lock) {}
        bool come() const { return lock_.word_.glance() == 0; }
        bool take(Waiter& waiter) {
            static_cast<void>(waiter);
            return lock_.try_write();
        }
        template <class By = Entrance>
        bool enter(Waiter& waiter, By&& by = {}) {
            for (;;) {
                const std::uint32_t seen = by.lock_if(lock_.word_, [](std::uint32_t word) { return word != 0; });
                if (!by.changed(seen == 0)) {
                    enlist(lock_.body_.writers, waiter);
                    by.let_go(lock_.word_, seen | waiters);
                    return true;
                }
                if (lock_.try_write()) return false;
            }
        }
        void withdraw(Waiter& waiter) { lock_.leave(lock_.body_.writers, waiter); }

    private:
        BasicRwLock lock_;
    };

    // While no thread runs, where the lock is not busy.
    void check_whole() const {
        const std::uint32_t seen = word_.look();
        if (Word::is_busy(seen)) return;
        check(seen);
        sync::check_whole(body_.readers);
        sync::check_whole(body_.writers);
    }

private:
    // On entry, under the busy bit: `waiters` says whether there are waiters, and a free lock has
    // none; a writer is alone.
    void check(std::uint32_t seen) const {
        WEFT_ASSERT(((seen & waiters) != 0) == (!body_.readers.empty() || !body_.writers.empty()));
        WEFT_ASSERT((seen & waiters) == 0 || (seen & (writing | reading)) != 0);
        WEFT_ASSERT((seen & writing) == 0 || (seen & reading) == 0);
    }

    // A waiter has given up. Readers that waited only for a writer that has gone are let in.
    void leave(WaiterRing<Who>& ring, Waiter& waiter) {
        const std::uint32_t seen = word_.lock();
        check(seen);
        sync::withdraw(ring, waiter);
        pass_on(seen, false);
    }

    // Under the busy bit, which it releases. `seen`: the word, except for what is decided here.
    void pass_on(std::uint32_t seen, bool readers_first) {
        Claimed<Who> claimed;
        std::uint32_t next = seen & ~waiters;
        if ((next & writing) == 0) {
            if (readers_first) next += let_readers_in(claimed);
            if (next == 0) next |= let_a_writer_in(claimed);
            if ((next & writing) == 0 && body_.writers.empty()) next += let_readers_in(claimed);
        }
        if (!body_.readers.empty() || !body_.writers.empty()) next |= waiters;
        word_.unlock(next);
        claimed.wake_all();
    }

    std::uint32_t let_readers_in(Claimed<Who>& claimed) {
        std::uint32_t count = 0;
        for (; Waiter* reader = claim_first(body_.readers); ++count) {
            claimed.add(*reader, Answer::given);
        }
        return count;
    }

    std::uint32_t let_a_writer_in(Claimed<Who>& claimed) {
        Waiter* writer = claim_first(body_.writers);
        if (writer == nullptr) return 0;
        set_owner(writer->who.identity());
        claimed.add(*writer, Answer::given);
        return writing;
    }

    Word& word_;
    Body& body_;
};

}   // namespace weft::sync
