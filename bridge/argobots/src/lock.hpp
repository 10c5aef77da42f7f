// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A lock held for a few loads and stores, and never over a switch. A lock at which a unit could be
// suspended would not do here.
#pragma once

#include <sched.h>

#include <atomic>

namespace weft::argobots {

class Lock {
public:
    void lock() {
        // acquire: pairs with unlock()
        for (int tries = 0; taken_.exchange(true, std::memory_order_acquire); ++tries) {
            while (taken_.load(std::memory_order_relaxed)) {   // relaxed: a hint
                if (++tries > spins) sched_yield();            // the holder may have lost its CPU
            }
        }
    }
    void unlock() { taken_.store(false, std::memory_order_release); }   // release: pairs with lock()

private:
    static constexpr int spins = 100;

    std::atomic<bool> taken_{false};
};

}   // namespace weft::argobots
