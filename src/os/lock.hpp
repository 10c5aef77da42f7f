// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lock for everything that is not on a fast path: four bytes, a brief spin, then a futex,
// because its holder may be preempted. It blocks the OS thread: never hold it across a switch.
#pragma once

#include <cstdint>

#include "arch/arch.hpp"
#include "base/atomic.hpp"
#include "os/futex.hpp"

namespace weft::os {

class Lock {
public:
    // relaxed: a peek, so that a lock that is held keeps its cache line; take() has the order.
    bool try_lock() noexcept { return state_.load(std::memory_order_relaxed) == free && take(); }

    void lock() noexcept {
        if (!take()) [[unlikely]]
            wait();
    }

    void unlock() noexcept {
        // release: pairs with the acquires of the next holder.
        if (state_.exchange(free, std::memory_order_release) == contended) [[unlikely]]
            futex_wake(state_, 1);
    }

    // In the child of a fork, where the holder no longer exists. Returns whether there was a
    // holder: then what the lock guards may be half done. relaxed: no other thread runs. A free
    // lock is not written, so that its page need not be copied.
    bool break_open() noexcept {
        if (state_.load(std::memory_order_relaxed) == free) return false;
        state_.store(free, std::memory_order_relaxed);
        return true;
    }

private:
    static constexpr std::uint32_t free = 0, held = 1, contended = 2;   // contended: held, and a thread may sleep
    static constexpr int most_pauses = 32;   // 63 in all: about as long as a list operation under the lock takes

    bool take() noexcept {
        std::uint32_t expected = free;
        // acquire: pairs with the release in unlock(); without it the last holder's writes need not
        // be visible.
        return state_.compare_exchange_strong(expected, held, std::memory_order_acquire, std::memory_order_relaxed);
    }

    [[gnu::noinline]] void wait() noexcept {
        // Each time for twice as long: many threads that all looked again and again would keep the
        // cache line from the holder.
        for (int pauses = 1; pauses <= most_pauses; pauses *= 2) {
            for (int i = 0; i < pauses; ++i) arch::pause();
            if (try_lock()) return;
        }
        // A thread that has slept takes the lock as contended: it cannot know whether others still
        // sleep, and a superfluous wake is cheap. acquire: pairs with the release in unlock().
        while (state_.exchange(contended, std::memory_order_acquire) != free) futex_wait(state_, contended);
    }

    atomic<std::uint32_t> state_{free};
};
static_assert(sizeof(Lock) == 4);

}   // namespace weft::os
