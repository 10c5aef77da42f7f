// How many of something may be under way at once. A unit that asks for one too many is suspended until another has
// ended: its OS thread goes on with other units.
#pragma once

#include <cstddef>
#include <mutex>

#include <weft/weft.hpp>

namespace treesum {

// Units that wait, first come first served. A waiter lies on the stack of the suspended unit itself, so waiting needs
// no memory and cannot fail.
struct Waiter {
    weft::unit_ref unit;
    Waiter* next = nullptr;
};

class WaitingLine {
public:
    void append(Waiter& waiter) {
        *(first_ == nullptr ? &first_ : &last_->next) = &waiter;
        last_ = &waiter;
    }

    // The first, or null.
    Waiter* take() {
        Waiter* const taken = first_;
        if (taken != nullptr) first_ = taken->next;
        return taken;
    }

private:
    Waiter* first_ = nullptr;
    Waiter* last_ = nullptr;
};

class Limit {
public:
    explicit Limit(std::size_t places) : free_(places) {}

    // Takes a place, and waits for one if it must.
    void enter() {
        if (take_free()) return;
        Waiter waiter;
        // What was read before the suspension may be stale: so publish looks again, under the lock that leave() takes.
        weft::this_thread::suspend([this, &waiter](weft::unit_ref self) {
            std::unique_lock guard(mutex_);
            if (free_ > 0) {
                --free_;
                guard.unlock();
                self.resume();
                return;
            }
            waiter.unit = self;
            line_.append(waiter);
        });
    }

    // Gives a place back: to the first who waits, if anybody does.
    void leave() {
        std::unique_lock guard(mutex_);
        Waiter* const next = line_.take();
        if (next == nullptr) {
            ++free_;
            return;
        }
        const weft::unit_ref unit = next->unit;
        guard.unlock();
        unit.resume();
    }

private:
    bool take_free() {
        const std::lock_guard guard(mutex_);
        if (free_ == 0) return false;
        --free_;
        return true;
    }

    // Held for a few instructions and never across a suspension, so a mutex of the operating system will do.
    std::mutex mutex_;
    std::size_t free_;
    WaitingLine line_;
};

}  // namespace treesum
