// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lock for a few dozen instructions on a path where each atomic operation shows: acquired by
// one read-modify-write, released by a store. Its holder may be preempted, so a thread that waits
// long lets other threads run. Never held across a call to user code.
#pragma once

#include <cstdint>

#include "arch/arch.hpp"
#include "base/atomic.hpp"
#include "os/thread.hpp"

namespace weft::os {

// One step of a wait that should be short: pauses at first, afterwards yields the processor to
// another thread.
class Backoff {
public:
    void wait() {
        if (++steps_ < pauses) {
            arch::pause();
        } else {
            thread_yield();
        }
    }

private:
    static constexpr int pauses = 64;   // about as long as what such locks guard takes
    int steps_ = 0;
};

class SpinLock {
public:
    bool try_lock() noexcept {
        // acquire: pairs with the release in unlock(). relaxed: a peek, before the cache line is
        // claimed.
        return state_.load(std::memory_order_relaxed) == 0 && state_.exchange(1, std::memory_order_acquire) == 0;
    }
    void lock() noexcept {
        Backoff backoff;
        while (!try_lock()) backoff.wait();
    }
    // release: pairs with the acquire of the next holder.
    void unlock() noexcept { state_.store(0, std::memory_order_release); }

private:
    atomic<std::uint32_t> state_{0};
};

}   // namespace weft::os
