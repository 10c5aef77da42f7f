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
    bool try_lock() noexcept {
        std::uint32_t expected = free;
        // acquire: pairs with the release in unlock(); without it the last holder's writes need not
        // be visible.
        return state_.compare_exchange_strong(expected, held, std::memory_order_acquire, std::memory_order_relaxed);
    }

    void lock() noexcept {
        if (!try_lock()) [[unlikely]]
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
    static constexpr int spins = 64;   // about as long as a list operation under the lock takes

    [[gnu::noinline]] void wait() noexcept {
        for (int i = 0; i < spins; ++i) {
            arch::pause();
            // relaxed: only a peek; try_lock() takes the order.
            if (state_.load(std::memory_order_relaxed) == free && try_lock()) return;
        }
        // A thread that has slept takes the lock as contended: it cannot know whether others still
        // sleep, and a superfluous wake is cheap. acquire: pairs with the release in unlock().
        while (state_.exchange(contended, std::memory_order_acquire) != free) futex_wait(state_, contended);
    }

    atomic<std::uint32_t> state_{free};
};
static_assert(sizeof(Lock) == 4);

}   // namespace weft::os
