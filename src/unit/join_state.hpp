// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the end of a unit meets its waiter: one word in the descriptor.
//
//     empty ──announce──► waiter ──finish──► done
//       │ ◄───withdraw──────┘                 ▲
//       ├──finish─────────────────────────────┘   (and the joiner frees the unit)
//       └──detach───────► detached ──finish──► done   (and the finisher frees the unit)
//
// A waiter that comes when there is one already puts itself over it (announce_over): then the word
// knows the last waiter, and each waiter knows the one below it. A thread that changes such a
// crowd, or wakes it, holds a lock (unit/crowd.hpp); an end and one joiner do not use that lock.
//
// An end that is to be reported to observers has two words: `done`, which all other queries ask
// for, and before that `news`, until the first thread learns of it. A caller that asks for `done`
// only (done_and_known) takes the careful way if it is news.
//
// Each arrow is one operation on the word, so no step can be seen half. The shared forms are atomic
// read-modify-writes. The local forms are a load and a store: right when finish, announce, detach
// and withdraw all happen on one stream. done() may be called from any thread in either case.
#pragma once

#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "unit/state.hpp"

namespace weft {

struct Unit;

// A waiter that is not a unit: an OS thread at its parker, a join_many. `wake` is called once, on
// the finisher's stream, after the unit's end is published; it may end the waiter's life.
struct JoinWaiter {
    JoinWaiter() {}
    explicit JoinWaiter(void (*by)(JoinWaiter* self)) : wake(by) {}

    void (*wake)(JoinWaiter* self);
    // Null, or a function that returns whether the waiter no longer waits and has only not been
    // forgotten yet: then another waiter may take its place.
    bool (*given_up)(JoinWaiter* self) = nullptr;

    // The fields that follow are written when it comes over another waiter, and are unset before.
    plain<std::uintptr_t> below;                       // the word that it found: the other waiters
    const void* of;                                    // the unit that they wait for
    void (*told)(JoinWaiter* self, Outcome outcome);   // instead of `wake`; how the unit ended
};

// The orders of JoinState; a model test passes weaker ones, which must fail.
struct JoinStateOrders {
    // The release pairs with `done` and `announce_failed` (the joiner reads the unit's results),
    // the acquire with `announce` (the finisher reads the waiter's saved context). seq_cst, not
    // acq_rel: "end, then check for waiters for a move of the unit" must not be reordered
    // (core/migrate.cpp).
    static constexpr std::memory_order finish = std::memory_order_seq_cst;
    // release: pairs with `done` on other streams.
    static constexpr std::memory_order finish_local = std::memory_order_release;
    // acq_rel though nothing is read when it succeeds: the model checker has no release that
    // acquires when it fails.
    static constexpr std::memory_order announce = std::memory_order_acq_rel;
    static constexpr std::memory_order announce_failed = std::memory_order_acquire;
    static constexpr std::memory_order done = std::memory_order_acquire;
};

// `UnitType` is a parameter for the model tests; the library uses JoinState, below.
template <class UnitType, class Orders = JoinStateOrders>
class BasicJoinState {
    using Word = std::uintptr_t;

public:
    // The waiter: what announce puts in and finish takes out.
    class Waiter {
    public:
        Waiter() = default;
        Waiter(UnitType* unit) : word_(reinterpret_cast<Word>(unit)) {}
        Waiter(JoinWaiter* waiter) : word_(reinterpret_cast<Word>(waiter) | waiter_tag) {}

        // A crowd, by its last waiter.
        static Waiter over(const JoinWaiter& waiter) { return Waiter(BasicJoinState::word_of(waiter)); }

        bool none() const { return word_ == empty_word; }
        bool detached() const { return word_ == detached_word; }   // the finisher frees the unit
        UnitType* unit() const { return is_pointer() && !tagged() ? reinterpret_cast<UnitType*>(word_) : nullptr; }
        // unit(), or what `of_crowd` says of a crowd.
        template <class OfCrowd>
        UnitType* unit_or(OfCrowd of_crowd) const {
            if (!is_pointer()) return nullptr;
            if (!tagged()) [[likely]]
                return reinterpret_cast<UnitType*>(word_);
            return crowd() ? of_crowd() : nullptr;
        }
        bool is_unit() const { return !tagged(); }   // for a waiter that is a unit or a crowd
        // unit(), where it is known to be a unit.
        UnitType* sole_unit() const {
            WEFT_ASSERT(unit() != nullptr);
            return reinterpret_cast<UnitType*>(word_);
        }
        JoinWaiter* other() const { return is_pointer() && tagged() ? waiter_of(word_) : nullptr; }
        // whether other() came over other waiters, which may have left since
        bool crowd() const { return is_crowd(word_); }

    private:
        friend class BasicJoinState;
        explicit Waiter(Word word) : word_(word) {}
        bool is_pointer() const { return word_ > last_reserved_word; }
        bool tagged() const { return (word_ & waiter_tag) != 0; }

        Word word_ = empty_word;
    };

    enum class Announced : std::uint8_t {
        waiting,   // finish will return this waiter; of a detach: finish will say so, and the finisher frees the unit
        done,      // the unit has ended: nothing to wait for; of a detach: the caller frees it
        taken,     // there is another waiter, or the unit is detached; nothing is changed
    };

    constexpr BasicJoinState() = default;

    // A new life, before the unit is published: all zero is empty, too (describe() in
    // core/make_unit.hpp).
    void reset() { word_.store(empty_word, std::memory_order_relaxed); }   // relaxed: no other thread knows the unit

    bool done() const { return is_done(word_.load(Orders::done)); }

    // done(), and there is nothing to report about it: one comparison.
    bool done_and_known() const { return word_.load(Orders::done) == done_word; }

    // done(), for a thread that has announced elsewhere that it waits for something: either it or
    // the finisher sees the other.
    bool done_after_all() const { return is_done(word_.load(std::memory_order_seq_cst)); }

    // For an ended unit. True: the caller is the first to learn of the end, and the only one to
    // which this returns true.
    bool learn() {
        Word seen = news_word;
        // release: pairs with `done`, for threads that read the results after this; acquire: the
        // caller reads them. relaxed when it fails: there is no reason to read anything.
        return word_.compare_exchange_strong(seen, done_word, std::memory_order_acq_rel, std::memory_order_relaxed);
    }

    // The unit's end. Unless a waiter is returned that keeps the unit alive, or it is detached, the
    // unit may be freed by its joiner before this returns: the finisher must no longer touch it.
    Waiter finish_shared() { return unended(word_.exchange(done_word, Orders::finish)); }
    [[gnu::always_inline]] Waiter finish_local() {
        const Word before = word_.load(std::memory_order_relaxed);   // relaxed: written on this stream
        word_.store(done_word, Orders::finish_local);
        return unended(before);
    }

    // The unit's end as news: the first thread that asks learns of it. Otherwise like
    // finish_shared() and finish_local().
    Waiter finish_shared_as_news() { return unended(word_.exchange(news_word, Orders::finish)); }
    Waiter finish_local_as_news() {
        const Word before = word_.load(std::memory_order_relaxed);   // relaxed: written on this stream
        word_.store(news_word, Orders::finish_local);
        return unended(before);
    }

    // finish_local(), when the waiter is known from announced().
    void finish_announced() { word_.store(done_word, Orders::finish_local); }

    // The announced waiter, read on the stream that finishes the unit; a waiter may still announce
    // itself to a unit that is not local.
    Waiter announced() const { return Waiter(word_.load(std::memory_order_relaxed)); }   // relaxed: read on this stream

    // Whether there is no waiter and the unit has not ended; on the stream that finishes it, or as
    // a hint.
    bool untouched() const { return announced().none(); }

    // Zero: untouched(); for a caller that checks something else besides.
    Word bits() const { return word_.load(std::memory_order_relaxed); }   // relaxed: read on this stream

    // announce_local() to an untouched JoinState.
    void announce_first(Waiter waiter) {
        WEFT_ASSERT(untouched());
        word_.store(waiter.word_, std::memory_order_relaxed);   // relaxed: read on this stream
    }

    Announced announce_shared(Waiter waiter) {
        Word seen = empty_word;
        if (word_.compare_exchange_strong(seen, waiter.word_, Orders::announce, Orders::announce_failed)) {
            return Announced::waiting;
        }
        return is_done(seen) ? Announced::done : Announced::taken;
    }
    Announced announce_local(Waiter waiter) {
        const Word seen = word_.load(std::memory_order_relaxed);   // relaxed: written on this stream
        if (seen != empty_word) return is_done(seen) ? Announced::done : Announced::taken;
        word_.store(waiter.word_, std::memory_order_relaxed);   // relaxed: read on this stream
        return Announced::waiting;
    }

    // The detacher is like a joiner that waits for nothing. What it wrote to the unit is seen by
    // the finisher, which frees the unit.
    static Waiter detacher() { return Waiter(detached_word); }
    Announced detach_shared() { return announce_shared(detacher()); }
    Announced detach_local() { return announce_local(detacher()); }

    // For a unit that was detached and has ended: the word says again that it is detached, for the
    // observers that are notified when it is freed.
    void detach_again() { word_.store(detached_word, std::memory_order_relaxed); }   // relaxed: no other thread has it

    // The waiter gives up (a timeout). True: the JoinState no longer knows it. False: the unit has
    // ended, and `finish` has returned or will return this waiter to the finisher, which will wake
    // it; or it was forgotten already. False also for a waiter of a crowd.
    bool withdraw(Waiter waiter) {
        Word seen = waiter.word_;
        const bool withdrawn = word_.compare_exchange_strong(seen, empty_word, std::memory_order_seq_cst);
        return withdrawn;
    }

    // ---- crowds: under their lock, on any thread, but for a local unit on its stream ------------

    // `waiter` waits besides the present waiters, if there are any.
    Announced announce_over(JoinWaiter& waiter) {
        Word seen = word_.load(Orders::done);
        for (;;) {
            if (is_done(seen)) return Announced::done;
            if (seen == detached_word) return Announced::taken;
            waiter.below = seen;
            // The waiters below have announced to this word, too: the finisher acquires from all of
            // them by one exchange.
            if (word_.compare_exchange_strong(seen, word_of(waiter), Orders::announce, Orders::announce_failed))
                return Announced::waiting;
        }
    }

    // withdraw(), for a waiter that waits or has been found by the finisher, and may be one of a
    // crowd.
    bool withdraw_from_crowd(JoinWaiter& waiter) {
        const Word self = word_of(waiter), alone = Waiter(&waiter).word_;
        Word seen = word_.load(Orders::done);
        for (;;) {
            if (seen == self || seen == alone) {
                const Word rest = seen == self ? Word{waiter.below} : empty_word;
                if (word_.compare_exchange_strong(seen, rest, std::memory_order_seq_cst)) return true;
            } else {
                // A thread that has found this crowd at the unit's end needs the lock before it
                // wakes any waiter of it.
                return is_crowd(seen) && unlink(*waiter_of(seen), waiter, self, alone);
            }
        }
    }

    // The waiter that came first below `top`, if it is a unit.
    static UnitType* first_of_crowd(Waiter top) {
        Word word = top.word_;
        while (is_crowd(word)) word = waiter_of(word)->below;
        return Waiter(word).unit();
    }

    // A waiter of the crowd that has given up; none if there is none.
    Waiter given_up_in_crowd() const {
        Waiter found = announced();
        for (JoinWaiter* waiter = found.other(); waiter != nullptr; waiter = found.other()) {
            if (waiter->given_up != nullptr && waiter->given_up(waiter)) return found;
            if (!found.crowd()) break;
            found = Waiter(waiter->below);
        }
        return Waiter();
    }

    // A crowd that an end has found, in the order of arrival: the first waiter, which is woken
    // without being told, or none; and the waiters that are told, each with the next of them below
    // it.
    struct Row {
        Waiter first;
        JoinWaiter* rest;

        static JoinWaiter* next(const JoinWaiter& waiter) {
            return waiter.below == empty_word ? nullptr : waiter_of(waiter.below);
        }
    };
    static Row in_order(Waiter top) {
        Word word = top.word_, behind = empty_word;
        while (is_crowd(word)) {
            const Word below = waiter_of(word)->below;
            waiter_of(word)->below = behind;
            behind = word;
            word = below;
        }
        return {Waiter(word), waiter_of(behind)};
    }

    // While no thread runs: the word is a reserved one, or leads to a waiter; the waiters of a
    // crowd wait for this unit.
    void check_whole(const void* of) const {
        Word word = word_.load(std::memory_order_seq_cst);
        for (; is_crowd(word); word = waiter_of(word)->below) WEFT_ASSERT(waiter_of(word)->of == of);
        check(word);
    }

private:
    static void check(Word word) {
        WEFT_ASSERT(word > last_reserved_word ? (word & 7) <= crowd_tag && (word & 7) != 2 : (word & waiter_tag) == 0);
    }

    // The waiter that an end has found; checks on entry that the unit ends once.
    static Waiter unended(Word before) {
        check(before);
        WEFT_ASSERT(!is_done(before));
        return Waiter(before);
    }

    static constexpr Word empty_word = 0;
    static constexpr Word waiter_tag = 1;   // in a pointer: it is a JoinWaiter's
    static constexpr Word crowd_tag = 3;    // and it came over others
    static constexpr Word done_word = 2;
    static constexpr Word detached_word = 4;
    static constexpr Word news_word = done_word | 4;
    static constexpr Word last_reserved_word = 7;

    static bool is_done(Word word) { return (word & ~Word{4}) == done_word; }
    static bool is_crowd(Word word) { return (word & crowd_tag) == crowd_tag; }
    static Word word_of(const JoinWaiter& waiter) { return reinterpret_cast<Word>(&waiter) | crowd_tag; }
    static JoinWaiter* waiter_of(Word word) { return reinterpret_cast<JoinWaiter*>(word & ~crowd_tag); }

    // From `top` down: unlinks `waiter` from the waiter above it, which knows it as `self` or
    // `alone`. False: it is not among them.
    static bool unlink(JoinWaiter& top, const JoinWaiter& waiter, Word self, Word alone) {
        for (JoinWaiter* above = &top;; above = waiter_of(above->below)) {
            const Word below = above->below;
            if (below == self || below == alone) {
                above->below = below == self ? Word{waiter.below} : empty_word;
                return true;
            }
            if (!is_crowd(below)) return false;
        }
    }

    atomic<Word> word_{empty_word};
};

using JoinState = BasicJoinState<Unit>;

// For a JoinState that is used by its local forms, on its stream: waiters that have given up are
// notified that the JoinState no longer knows them. Returns whether there was such a waiter.
bool forget_given_up_in_crowd(JoinState& join_state);
inline bool forget_given_up_alone(JoinState& join_state) {
    const JoinState::Waiter waiter = join_state.announced();
    JoinWaiter* const other = waiter.other();
    if (other == nullptr || waiter.crowd() || other->given_up == nullptr || !other->given_up(other) ||
        !join_state.withdraw(waiter))
        return false;
    other->wake(other);
    return true;
}
inline bool forget_given_up(JoinState& join_state) {
    const JoinState::Waiter waiter = join_state.announced();
    if (waiter.other() == nullptr) return false;
    return waiter.crowd() ? forget_given_up_in_crowd(join_state) : forget_given_up_alone(join_state);
}

}   // namespace weft
