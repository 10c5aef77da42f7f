// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "poll/timers.hpp"

#include <mutex>
#include <utility>

namespace weft {
namespace {

// Of two heaps, the one that begins later becomes the first child of the other.
Timer* meld(Timer* a, Timer* b) {
    if (a == nullptr) return b;
    if (b == nullptr) return a;
    if (b->deadline_ns < a->deadline_ns) std::swap(a, b);
    b->next = a->child;
    if (b->next != nullptr) b->next->previous = b;
    b->previous = a;
    a->child = b;
    return a;
}

// The children of a removed node become one heap: in pairs from the eldest on, then all pairs from
// the last on.
Timer* meld_siblings(Timer* first) {
    Timer* pairs = nullptr;   // linked by `previous`
    while (first != nullptr) {
        Timer* a = first;
        Timer* b = a->next;
        first = b == nullptr ? nullptr : b->next;
        a->next = nullptr;
        if (b != nullptr) b->next = nullptr;
        Timer* pair = meld(a, b);
        pair->previous = pairs;
        pairs = pair;
    }
    Timer* all = nullptr;
    while (pairs != nullptr) {
        Timer* pair = pairs;
        pairs = pair->previous;
        all = meld(all, pair);
    }
    if (all != nullptr) all->previous = nullptr;
    return all;
}

}   // namespace

void Timers::note_earliest() {
    std::uint64_t deadline_ns = never;
    if (root_ != nullptr) deadline_ns = root_->deadline_ns;
    earliest_.store(deadline_ns, std::memory_order_relaxed);   // relaxed: a hint, see earliest()
}

void Timers::put_in(Timer& timer) {
    timer.child = timer.next = timer.previous = nullptr;
    root_ = meld(root_, &timer);
    timer.home.store(this, std::memory_order_release);   // release: see Timer::home
}

void Timers::take_out(Timer& timer) {
    if (&timer == root_) {
        root_ = meld_siblings(timer.child);
    } else {
        Timer* const before = timer.previous;
        if (before->child == &timer) {
            before->child = timer.next;
        } else {
            before->next = timer.next;
        }
        if (timer.next != nullptr) timer.next->previous = before;
        root_ = meld(root_, meld_siblings(timer.child));
    }
}

void Timers::add(Timer& timer) {
    std::lock_guard guard(lock_);
    check();
    WEFT_ASSERT(timer.home.load() == nullptr);   // it is in one heap at a time
    put_in(timer);
    note_earliest();
}

bool Timers::cancel(Timer& timer) {
    for (;;) {
        Timers* home = timer.home.load(std::memory_order_acquire);   // acquire: see Timer::home
        if (home == nullptr) return false;
        std::lock_guard guard(home->lock_);
        // relaxed: under the lock. The timer was fired, or moved when its stream ended
        if (timer.home.load(std::memory_order_relaxed) != home) continue;
        home->check();
        home->take_out(timer);
        timer.home.store(nullptr, std::memory_order_release);   // release: see Timer::home
        home->note_earliest();
        return true;
    }
}

Timer* Timers::take_due(std::uint64_t now_ns) {
    std::lock_guard guard(lock_);
    check();
    while (root_ != nullptr && root_->deadline_ns <= now_ns) {
        Timer& due = *root_;
        const bool claimed = due.claim(due);
        take_out(due);
        note_earliest();
        // Last: a thread that cancels and finds no home may destroy the timer.
        due.home.store(nullptr, std::memory_order_release);   // release: see Timer::home
        if (claimed) return &due;
    }
    return nullptr;
}

std::size_t Timers::expire(std::uint64_t now_ns) {
    std::size_t fired = 0;
    while (Timer* due = take_due(now_ns)) {
        due->fire(*due);
        ++fired;
    }
    return fired;
}

void Timers::move_to(Timers& other) {
    std::scoped_lock guard(lock_, other.lock_);
    check();
    other.check();
    while (root_ != nullptr) {
        Timer& moved = *root_;
        take_out(moved);
        other.put_in(moved);
    }
    note_earliest();
    other.note_earliest();
}

}   // namespace weft
