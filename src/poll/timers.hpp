// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The timers of one stream: a pairing heap (Fredman, Sedgewick, Sleator and Tarjan 1986) of nodes
// that belong to the waiters, so that adding needs no memory and a few instructions, and any node
// can be taken out of the middle. One lock: the stream fires, and any thread cancels.
#pragma once

#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "os/futex.hpp"
#include "os/spin.hpp"

namespace weft {

class Timers;

// Something to be done at a time of the monotonic clock.
struct Timer {
    plain<std::uint64_t> deadline_ns{0};

    // Under the heap's lock, when the time has come: returns whether the timer is to be fired.
    // False: it has been answered otherwise, and the timer is not touched any more.
    bool (*claim)(Timer& timer) = nullptr;
    // Called afterwards, without the lock. The timer may be gone when this returns.
    void (*fire)(Timer& timer) = nullptr;

    // The heap that has it; null: none. Written under that heap's lock, with release, which pairs
    // with the acquire in cancel(): a thread that finds none may destroy the timer, which no other
    // thread touches any more.
    atomic<Timers*> home{nullptr};

    // Under the lock. `previous` is the elder sibling, or the parent of the eldest.
    plain<Timer*> child{nullptr};
    plain<Timer*> next{nullptr};
    plain<Timer*> previous{nullptr};
};

class Timers {
public:
    static constexpr std::uint64_t never = os::forever;

    // The earliest deadline, or `never`. relaxed: a hint; the owner checks under the lock before it
    // acts (expire).
    std::uint64_t earliest() const { return earliest_.load(std::memory_order_relaxed); }

    void add(Timer& timer);

    // True: the timer was waiting, and will not fire. False: it has been fired or claimed, or was
    // never added; nothing refers to it any more once this returns, unless its own `fire` runs.
    static bool cancel(Timer& timer);

    // Fires what is due at `now_ns`; returns how many were. Called by the stream.
    std::size_t expire(std::uint64_t now_ns);

    // All timers move to `other`: the stream ends. This object stays, because a thread may be about
    // to cancel through it.
    void move_to(Timers& other);

    // While no thread changes it: no child comes before its parent, and neighbours are linked both
    // ways.
    void check_whole() const {
        check();
        for (const Timer* at = root_; at != nullptr;) {
            WEFT_ASSERT(at->home.load() == this);
            if (const Timer* const child = at->child) {
                WEFT_ASSERT(child->previous == at);
                for (const Timer* one = child; one != nullptr; one = one->next) {
                    WEFT_ASSERT(one->deadline_ns >= at->deadline_ns);
                    WEFT_ASSERT(one->next == nullptr || one->next->previous == one);
                }
                at = child;
                continue;
            }
            while (at != nullptr && at->next == nullptr) at = parent_of(at);
            if (at != nullptr) at = at->next;
        }
    }

private:
    // On entry, under the lock. relaxed: it is written under the lock.
    void check() const {
        WEFT_ASSERT(earliest_.load(std::memory_order_relaxed) ==
                    (root_ == nullptr ? never : std::uint64_t{root_->deadline_ns}));
        WEFT_ASSERT(root_ == nullptr || (root_->previous == nullptr && root_->next == nullptr));
    }
    static const Timer* parent_of(const Timer* timer) {
        while (timer->previous != nullptr && timer->previous->child != timer) timer = timer->previous;
        return timer->previous;
    }
    void note_earliest();
    Timer* take_due(std::uint64_t now_ns);
    void take_out(Timer& timer);
    void put_in(Timer& timer);

    os::SpinLock lock_;
    plain<Timer*> root_{nullptr};
    atomic<std::uint64_t> earliest_{never};
};

}   // namespace weft
