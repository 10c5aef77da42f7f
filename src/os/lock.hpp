// The lock of everything that is not on a fast path: four bytes, a brief spin, then a futex,
// because its holder may be preempted. It blocks the OS thread: never hold it over a switch.
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
        // be seen.
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

    // In the child of a fork, where whoever held it is no more. Whether somebody did: then what it
    // guards may be half done. relaxed: nobody else runs. What is not written costs no copy of its
    // page.
    bool break_open() noexcept {
        if (state_.load(std::memory_order_relaxed) == free) return false;
        state_.store(free, std::memory_order_relaxed);
        return true;
    }

private:
    static constexpr std::uint32_t free = 0, held = 1, contended = 2;   // contended: held, and somebody may sleep
    static constexpr int spins = 64;   // about as long as a list operation under the lock takes

    [[gnu::noinline]] void wait() noexcept {
        for (int i = 0; i < spins; ++i) {
            arch::pause();
            // relaxed: only a look; try_lock() takes the order.
            if (state_.load(std::memory_order_relaxed) == free && try_lock()) return;
        }
        // Whoever has slept takes the lock as contended: it cannot know whether others still sleep,
        // and one wake too many is cheap. acquire: as in try_lock().
        while (state_.exchange(contended, std::memory_order_acquire) != free) futex_wait(state_, contended);
    }

    atomic<std::uint32_t> state_{free};
};
static_assert(sizeof(Lock) == 4);

}   // namespace weft::os
