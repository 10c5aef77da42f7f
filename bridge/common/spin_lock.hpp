// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A lock for a few instructions, never held across a switch, and the pause between two checks of
// what another processor is about to write.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace weft_bridge {

inline void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
}

class SpinLock {
public:
    void lock() {
        while (taken_.exchange(true, std::memory_order_acquire)) wait();   // acquire: pairs with unlock
    }
    bool try_lock() {
        // relaxed: only a hint; acquire: pairs with unlock
        return !taken_.load(std::memory_order_relaxed) && !taken_.exchange(true, std::memory_order_acquire);
    }
    void unlock() { taken_.store(false, std::memory_order_release); }   // release: pairs with lock
    // In the child of a fork, where no thread holds it.
    void forget() { taken_.store(false); }

private:
    // The thread that holds it may have lost its CPU. By a direct system call, past any interposer
    // of the C library's function: this may be no place to switch.
    [[gnu::noinline]] void wait() const {
        // relaxed: the exchange that follows acquires
        for (int looks = 0; taken_.load(std::memory_order_relaxed); ++looks) {
            if (looks < 100) relax();
            else syscall(SYS_sched_yield);
        }
    }

    std::atomic<bool> taken_{false};
};

}   // namespace weft_bridge
