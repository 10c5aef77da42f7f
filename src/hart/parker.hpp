// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The place where one carrier sleeps until it is woken: one futex word. An unpark that comes before
// the park leaves a permit; several leave one; park() uses the permit up.
#pragma once

#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"

namespace weft {

// The orders of Parker; a model test passes weaker ones, which must fail.
struct ParkerOrders {
    // release, pairs with `park`: the carrier that continues sees what its waker wrote before.
    static constexpr std::memory_order unpark = std::memory_order_release;
    static constexpr std::memory_order park = std::memory_order_acquire;
};

template <class Orders = ParkerOrders>
class BasicParker {
public:
    // For the one carrier of this parker. True: it was unparked. False: `timeout_ns` have passed.
    bool park(std::uint64_t timeout_ns = os::forever) {
        std::uint32_t seen = none;
        // relaxed: `waiting` tells the waker only that a wake is needed; on failure there is a
        // permit, and use_up() acquires.
        if (word_.compare_exchange_strong(seen, waiting, std::memory_order_relaxed)) {
            const std::uint64_t start = timeout_ns == os::forever ? 0 : os::now_ns();
            std::uint64_t left = timeout_ns;
            do {
                os::futex_wait(word_, waiting, left);   // may return for no reason
                // relaxed: use_up() acquires.
                if (word_.load(std::memory_order_relaxed) == permit) break;
                if (timeout_ns != os::forever) {
                    const std::uint64_t passed = os::now_ns() - start;
                    left = passed < timeout_ns ? timeout_ns - passed : 0;
                }
            } while (left != 0);
        } else {
            WEFT_ASSERT(seen == permit);   // there is one carrier, so no other thread waits here
        }
        return use_up();
    }

    // From any thread. At most one system call, and none when the carrier does not sleep in the
    // kernel. The carrier may continue, and destroy the parker, before this returns: after the
    // exchange only the parker's address is used.
    void unpark() {
        if (word_.exchange(permit, Orders::unpark) == waiting) os::futex_wake(word_, 1);
    }

    void check() const { WEFT_ASSERT(word_.load() <= waiting); }

private:
    // An exchange, not a store: an unpark that comes between the load and the exchange is used up
    // together with the first, so its waker's writes must be seen too.
    bool use_up() { return word_.exchange(none, Orders::park) == permit; }

    static constexpr std::uint32_t none = 0;
    static constexpr std::uint32_t permit = 1;
    static constexpr std::uint32_t waiting = 2;   // no permit, and the carrier is or will be in the kernel

    atomic<std::uint32_t> word_{none};
};

using Parker = BasicParker<>;

}   // namespace weft
