// Where one carrier sleeps until it is let through: one futex word. An opening that comes before the wait is kept;
// several count as one; wait() uses it up, and the gate is shut again at once.
#pragma once

#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"

namespace weft {

// The orders of Gate; a model test passes weaker ones, which must fail.
struct GateOrders {
    // release, pairs with `pass`: what the opener wrote before is seen by the one let through.
    static constexpr std::memory_order open = std::memory_order_release;
    static constexpr std::memory_order pass = std::memory_order_acquire;
};

template <class Orders = GateOrders>
class BasicGate {
public:
    // For the one carrier of this gate. True: it was opened. False: `timeout_ns` have passed.
    bool wait(std::uint64_t timeout_ns = os::forever) {
        std::uint32_t seen = shut;
        // relaxed: `waiting` tells the opener only that a wake is needed; on failure the gate is open, and
        // use_up() acquires.
        if (word_.compare_exchange_strong(seen, waiting, std::memory_order_relaxed)) {
            const std::uint64_t start = timeout_ns == os::forever ? 0 : os::now_ns();
            std::uint64_t left = timeout_ns;
            do {
                os::futex_wait(word_, waiting, left);   // may return for no reason
                // relaxed: use_up() acquires.
                if (word_.load(std::memory_order_relaxed) == open_) break;
                if (timeout_ns != os::forever) {
                    const std::uint64_t passed = os::now_ns() - start;
                    left = passed < timeout_ns ? timeout_ns - passed : 0;
                }
            } while (left != 0);
        } else {
            WEFT_ASSERT(seen == open_);   // there is one carrier, so nobody else waits here
        }
        return use_up();
    }

    // From any thread. At most one system call, and none when nobody sleeps in the kernel. The carrier may go
    // on, and end the gate, before this returns: after the exchange only its address is used.
    void open() {
        if (word_.exchange(open_, Orders::open) == waiting) os::futex_wake(word_, 1);
    }

    void check() const { WEFT_ASSERT(word_.load() <= waiting); }

private:
    // An exchange, not a store: an opening that comes between the look and the shutting is used up together
    // with the first, so its opener's writes must be seen too.
    bool use_up() { return word_.exchange(shut, Orders::pass) == open_; }

    static constexpr std::uint32_t shut = 0;
    static constexpr std::uint32_t open_ = 1;
    static constexpr std::uint32_t waiting = 2;   // shut, and the carrier is or will be in the kernel

    atomic<std::uint32_t> word_{shut};
};

using Gate = BasicGate<>;

}   // namespace weft
