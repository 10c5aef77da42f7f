// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A work-stealing deque of fixed size (Chase and Lev, SPAA 2005; orderings after Le, Pop, Cohen and
// Zappa Nardelli, PPoPP 2013): its owner pushes and pops at the bottom, thieves steal at the top.
// Tasks live in memory that stays memory of tasks, so a thief may read a task before it knows that
// it gets it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft_openmp {

struct Task;

class Deque {
public:
    static constexpr std::int64_t capacity = 256;

    // By the owner. False: it is full.
    bool push(Task* task) {
        const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);   // relaxed: the owner's own
        if (bottom - top_seen_ >= capacity) {
            top_seen_ = top_.load(std::memory_order_acquire);   // acquire: a slot is reused after the steal from it
            if (bottom - top_seen_ >= capacity) return false;
        }
        slots_[bottom % capacity].store(task, std::memory_order_relaxed);   // relaxed: the next line publishes
        bottom_.store(bottom + 1);   // seq_cst: the check whether a thread sleeps follows (Sleepers::wake_one)
        return true;
    }

    // By the owner: what it pushed last, or null.
    Task* pop() {
        const std::int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;   // relaxed: the owner's own
        if (bottom < top_.load(std::memory_order_relaxed)) return nullptr;   // relaxed: top only grows, so it is empty
        bottom_.store(bottom);   // seq_cst, as is the next line: against a thief's two loads
        std::int64_t top = top_.load();
        Task* task = nullptr;
        if (top <= bottom) {
            task = slots_[bottom % capacity].load(std::memory_order_relaxed);   // relaxed: the owner wrote it
            if (top != bottom) return task;
            if (!top_.compare_exchange_strong(top, top + 1)) task = nullptr;   // the last one: thieves may want it
        }
        bottom_.store(bottom + 1, std::memory_order_relaxed);   // relaxed: it is empty either way
        return task;
    }

    // By the owner: the task that pop would return, which may have been stolen meanwhile; null: the
    // deque is empty.
    Task* newest() const {
        const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);   // relaxed: the owner's own
        // relaxed: a hint; the owner wrote the slot
        return bottom > top_.load(std::memory_order_relaxed)
                   ? slots_[(bottom - 1) % capacity].load(std::memory_order_relaxed)
                   : nullptr;
    }

    // By thieves: takes the oldest task, if may(task) allows it. may() may be asked about a task
    // that another thread has run meanwhile; then nothing is stolen.
    template <class May>
    Task* steal(May may) {
        std::int64_t top = top_.load();
        if (top >= bottom_.load()) return nullptr;
        // relaxed: the load of bottom has acquired
        Task* const task = slots_[top % capacity].load(std::memory_order_relaxed);
        if (!may(*task)) return nullptr;
        return top_.compare_exchange_strong(top, top + 1) ? task : nullptr;
    }

    // By thieves: the task that steal would ask may() about; null: the deque is empty.
    Task* oldest() const {
        const std::int64_t top = top_.load();
        // relaxed: a hint
        return top < bottom_.load() ? slots_[top % capacity].load(std::memory_order_relaxed) : nullptr;
    }

    // An estimate.
    // relaxed, both: a hint
    std::int64_t length() const {
        return bottom_.load(std::memory_order_relaxed) - top_.load(std::memory_order_relaxed);
    }

    // By the owner: whether it is to run new tasks at once instead of pushing them: the deque was
    // full, and is not half empty yet. Meanwhile the owner writes no line that thieves read; and in
    // a team of few threads it reads the thieves' line only now and then.
    bool plenty(unsigned threads) {
        if (still_plenty()) return true;
        constexpr unsigned few = 8;   // threads: while the owner runs that many tasks, they run at most half a deque
        const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);   // relaxed: the owner's own
        bool found = bottom - top_seen_ >= plenty_from_;
        if (found) {
            top_seen_ = top_.load(std::memory_order_acquire);   // acquire: as in push
            found = bottom - top_seen_ >= plenty_from_;
        }
        plenty_from_ = found ? capacity / 2 : capacity;
        unseen_calls_ = found && threads <= few ? few - 1 : 0;
        return found;
    }
    // It has been found to be plenty, and this is one of the calls that skip the check.
    bool still_plenty() {
        // relaxed: the owner's own
        if (unseen_calls_ == 0 || bottom_.load(std::memory_order_relaxed) - top_seen_ < plenty_from_) return false;
        --unseen_calls_;
        return true;
    }

    bool any() const { return top_.load() < bottom_.load(); }

private:
    alignas(64) std::atomic<std::int64_t> top_{0};
    alignas(64) std::atomic<std::int64_t> bottom_{0};
    // the owner's copy of top_: while it leaves room, the owner need not read the thieves' line
    std::int64_t top_seen_ = 0;
    std::int64_t plenty_from_ = capacity;   // the owner's, both
    unsigned unseen_calls_ = 0;             // calls left that skip the check
    std::atomic<Task*> slots_[capacity] = {};
};

}   // namespace weft_openmp
