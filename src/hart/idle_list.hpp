// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sleep and wake without losing a wake-up: an IdleList beside each pool, a Sleeper in each stream.
// README.md in this folder, "Going to sleep and being woken", has the protocol as numbered steps
// and its proof; the numbers below are its.
#pragma once

#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/config.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/lock.hpp"

namespace weft {

// The orders of IdleList and Sleeper; a model test passes weaker ones, which must fail.
struct IdleListOrders {
    // seq_cst: "announce, then check the pool" against "push, then read the count": at least one of
    // the two sees the other.
    static constexpr std::memory_order announce = std::memory_order_seq_cst;
    static constexpr std::memory_order look = std::memory_order_seq_cst;
    // acq_rel, pairs with `announce`: of the two read-modify-writes on the count one comes second
    // and reads the other's value. If it is the announcement, its acquire part makes the push
    // visible.
    static constexpr std::memory_order look_unordered = std::memory_order_acq_rel;
    // acq_rel, pairs with itself: the waker's push is seen by the stream that finds itself claimed.
    static constexpr std::memory_order claim = std::memory_order_acq_rel;
    // acquire: pairs with `claim`.
    static constexpr std::memory_order woken = std::memory_order_acquire;
};

template <class Orders>
class BasicIdleList;

// One per stream: whether it may be woken, and the futex word it sleeps on.
//
//     awake ──prepare──► listening ──wait──► asleep
//       ▲ ▲                │    │              │
//       │ └────cancel──────┘    └──► woken ◄───┘   a waker's claim, or wake()
//       └───────────wait or cancel returns true
//
// The claim is the last thing a waker does to a sleeper (a wake needs only its address), so a
// stream that is awake and on no idle list may end.
template <class Orders = IdleListOrders>
class BasicSleeper {
public:
    // The sleeper's entry in one idle list. Its storage belongs to the stream, which calls add and
    // remove.
    class Entry {
    public:
        Entry() = default;
        explicit Entry(BasicSleeper& sleeper) : sleeper_(&sleeper) {}
        void belong_to(BasicSleeper& sleeper) { sleeper_ = &sleeper; }

    private:
        friend class BasicIdleList<Orders>;
        plain<BasicSleeper*> sleeper_{nullptr};
        plain<Entry*> next_{nullptr};   // under the idle list's lock, as is the rest
        plain<Entry*> previous_{nullptr};
        plain<bool> listed_{false};
    };

    // A sleeper is an OS thread; or, with `call`, something else, which the thread that has claimed
    // it calls instead of waking it. Its owner does not continue before the call, so the sleeper
    // still exists.
    using Call = void (*)(BasicSleeper& self);
    BasicSleeper() = default;
    // `called`: the initial mode, see be_called().
    explicit BasicSleeper(Call call, bool called = true) : call_(call), called_(called) {}

    // Whether the sleeper is called from now on, or an OS thread sleeps. To be used while it is
    // awake, or claimed by the caller, and on no idle list. relaxed: a thread that finds the
    // sleeper on a list acquires the list's lock from the thread that has put it there; wake()
    // reads this after its claim.
    void be_called(bool called) { called_.store(called, std::memory_order_relaxed); }

    // Step 1, before the first IdleList::add. seq_cst, for wake(): the stream checks its requests
    // after this.
    void prepare() {
        // relaxed: only the stream itself leaves and enters `awake`.
        WEFT_ASSERT(state_.load(std::memory_order_relaxed) == awake);
        state_.store(listening, std::memory_order_seq_cst);
    }

    // Step 4a: the stream has found something to do. True: a waker had claimed it nevertheless, and
    // the stream owes its other pools a wake (step 6).
    bool cancel() {
        std::uint32_t seen = listening;
        if (state_.compare_exchange_strong(seen, awake, Orders::claim, Orders::woken)) return false;
        return stand_up();
    }

    // Step 4b: sleeps. True: a waker claimed it; step 6. False: `timeout_ns` have passed.
    bool wait(std::uint64_t timeout_ns = os::forever) {
        std::uint32_t seen = listening;
        if (!state_.compare_exchange_strong(seen, asleep, Orders::claim, Orders::woken)) return stand_up();
        const std::uint64_t start = timeout_ns == os::forever ? 0 : os::now_ns();
        std::uint64_t left = timeout_ns;
        while (left != 0) {
            os::futex_wait(state_, asleep, left);   // may return for no reason
            if (state_.load(Orders::woken) == woken) return stand_up();
            if (timeout_ns == os::forever) continue;
            const std::uint64_t passed = os::now_ns() - start;
            left = passed < timeout_ns ? timeout_ns - passed : 0;
        }
        seen = asleep;
        if (state_.compare_exchange_strong(seen, awake, Orders::claim, Orders::woken)) return false;
        return stand_up();
    }

    // Step 4b for a sleeper that is called. True: it sleeps, and the thread that claims it calls
    // it; the call may already have been made. False: it was claimed before it slept; step 6.
    bool lie_down() {
        WEFT_ASSERT(called_.load(std::memory_order_relaxed));   // relaxed: its own
        std::uint32_t seen = listening;
        if (state_.compare_exchange_strong(seen, asleep, Orders::claim, Orders::woken)) return true;
        stand_up();
        return false;
    }

    // After the call, when the owner continues; harmless when it did not sleep.
    void rise() { stand_up(); }

    // While no thread runs: the sleeper is in no transition. `listed`: on some idle list. A sleeper
    // that is called stays there, awake, until it lies down again.
    void check(bool listed) const {
        const std::uint32_t state = state_.load();
        WEFT_ASSERT(state <= woken && state != listening);
        WEFT_ASSERT(!listed || state != awake || called_.load());
    }

    // Whether it sleeps, and no waker has claimed it. From any thread.
    bool sleeps() const { return state_.load() == asleep; }

    // Wakes this stream and no other, whatever its pools hold: for a request to it alone (a stop, a
    // suspension). The caller has written the request with seq_cst and knows that the stream lives.
    // Nothing is lost when the stream is awake: it checks its requests after prepare().
    void wake() {
        if (claim() != Claim::asleep) return;
        if (called_.load(std::memory_order_relaxed)) call_(*this);   // relaxed: see be_called()
        else os::futex_wake(state_, 1);
    }

private:
    friend class BasicIdleList<Orders>;

    enum class Claim : std::uint8_t {
        refused,     // it is awake, or another waker has claimed it
        listening,   // claimed; it will notice by itself
        asleep,      // claimed; the futex must be woken
    };

    Claim claim() {
        // seq_cst: in wake() the second half of "write the request, then check whether the stream
        // listens".
        std::uint32_t seen = state_.load(std::memory_order_seq_cst);
        while (seen == listening || seen == asleep) {
            const Claim claimed = seen == asleep ? Claim::asleep : Claim::listening;
            // relaxed when it fails: the value that the load above read settles the order against
            // the request.
            if (state_.compare_exchange_strong(seen, woken, Orders::claim, std::memory_order_relaxed)) return claimed;
        }
        return Claim::refused;
    }

    bool stand_up() {
        // relaxed: only the stream changes it from `woken`; to other threads both values mean: not
        // to be claimed.
        state_.store(awake, std::memory_order_relaxed);
        return true;
    }

    static constexpr std::uint32_t awake = 0;
    static constexpr std::uint32_t listening = 1;   // on lists, checking its pools a last time
    static constexpr std::uint32_t asleep = 2;      // in the kernel, or about to be
    static constexpr std::uint32_t woken = 3;       // claimed

    atomic<std::uint32_t> state_{awake};
    const Call call_ = nullptr;
    atomic<bool> called_{false};
};

// One per pool: the streams that draw from it and sleep. Aligned so that the count, which each push
// reads, shares a cache line with nothing that changes while all are awake.
template <class Orders = IdleListOrders>
class alignas(config::cache_line) BasicIdleList {
public:
    using Sleeper = BasicSleeper<Orders>;
    using Entry = typename Sleeper::Entry;

    // Step 2.
    void add(Entry& place) {
        lock_.lock();
        check();
        WEFT_ASSERT(!place.listed_);
        place.next_ = first_;
        place.previous_ = nullptr;
        if (Entry* second = first_) second->previous_ = &place;
        first_ = &place;
        place.listed_ = true;
        count_.fetch_add(1, Orders::announce);
        lock_.unlock();
    }

    // Adds the idle list's one reserve. It is woken only when the list is otherwise empty: then all
    // streams that draw from the pool are awake, and something waits.
    void add_reserve(Entry& place) {
        lock_.lock();
        check();
        WEFT_ASSERT(!place.listed_ && reserve_ == nullptr);
        reserve_ = &place;
        place.listed_ = true;
        count_.fetch_add(1, Orders::announce);
        lock_.unlock();
    }

    // Step 5. Once it returns, no waker has the place, and so none reaches the sleeper through it.
    void remove(Entry& place) {
        lock_.lock();
        check();
        if (place.listed_) unlink(place);
        lock_.unlock();
    }

    // Step 3 of the pusher: after its push, wakes at most one sleeper.
    void wake_one() {
        if (count_.load(Orders::look) != 0) [[unlikely]]
            wake_up_to(1);
    }

    // Whether a stream may be asleep, by the same read as wake_one().
    bool anybody() const { return count_.load(Orders::look) != 0; }

    // The pusher's step 3 after a push of `pushed` units: wakes at most as many sleepers.
    void wake_some(std::uint32_t pushed) {
        if (count_.load(Orders::look) != 0) [[unlikely]]
            wake_up_to(pushed);
    }

    // After a push that need not have been a seq_cst operation, into a user-defined pool. The
    // read-modify-write is ordered against the announcing one: either it comes first, and the
    // sleeper sees the push, or it sees the count. It costs pushers the cache line of the count.
    void wake_after_plain_push(std::uint32_t pushed = 1) {
        if (count_.fetch_add(0, Orders::look_unordered) != 0) [[unlikely]]
            wake_up_to(pushed);
    }

    // While no thread changes it.
    void check_whole() const {
        check();
        std::uint32_t listed = 0;
        const Entry* before = nullptr;
        for (const Entry* place = first_; place != nullptr; before = place, place = place->next_) {
            WEFT_ASSERT(place->listed_ && place->previous_ == before);
            place->sleeper_->check(true);
            ++listed;
        }
        if (reserve_ != nullptr) WEFT_ASSERT(reserve_->listed_);
        WEFT_ASSERT(count_.load() == listed + (reserve_ != nullptr ? 1u : 0u));
    }

private:
    // On entry, under the lock. relaxed: it is changed under the lock.
    void check() const {
        WEFT_ASSERT((count_.load(std::memory_order_relaxed) == 0) == (first_ == nullptr && reserve_ == nullptr));
    }

    [[gnu::noinline]] void wake_up_to(std::uint32_t wanted) {
        while (wanted != 0 && claim_first()) --wanted;
    }

    // The system call comes after the lock is released, so that the woken thread does not run into
    // it.
    bool claim_first() {
        using Claim = typename Sleeper::Claim;
        const atomic<std::uint32_t>* word = nullptr;
        Sleeper* sleeper = nullptr;
        typename Sleeper::Call call = nullptr;
        Claim claimed = Claim::refused;
        lock_.lock();
        check();
        while (claimed == Claim::refused) {
            Entry* place = first_;   // the newest: its caches are the warmest
            if (place == nullptr) place = reserve_;
            if (place == nullptr) break;
            unlink(*place);
            sleeper = place->sleeper_;
            word = &sleeper->state_;
            // relaxed: see be_called()
            call = sleeper->called_.load(std::memory_order_relaxed) ? sleeper->call_ : nullptr;
            claimed = sleeper->claim();   // refused: another idle list has woken it; try the next
        }
        lock_.unlock();
        if (claimed == Claim::asleep) {
            if (call != nullptr) call(*sleeper);
            else os::futex_wake(*word, 1);
        }
        return claimed != Claim::refused;
    }

    // Under the lock.
    void unlink(Entry& place) {
        Entry* next = place.next_;
        Entry* previous = place.previous_;
        Entry* reserve = reserve_;
        if (next != nullptr) next->previous_ = previous;
        if (reserve == &place) reserve_ = nullptr;
        else if (previous != nullptr) previous->next_ = next;
        else first_ = next;
        place.listed_ = false;
        count_.fetch_sub(1, std::memory_order_seq_cst);
    }

    atomic<std::uint32_t> count_{0};   // of places on the list
    os::Lock lock_;
    plain<Entry*> first_{nullptr};     // under the lock, as is the next
    plain<Entry*> reserve_{nullptr};   // woken when the list is empty
};

using Sleeper = BasicSleeper<>;
using IdleList = BasicIdleList<>;

}   // namespace weft
