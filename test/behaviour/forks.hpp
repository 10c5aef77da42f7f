// What tests of forks share: branches that somebody else is to take.
#pragma once

#include <thread>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/waiting.hpp"
#include "weft/parallel.hpp"

namespace weft_test {

// Keeps the hart until `condition` holds. False: it does not come to hold.
template <class Condition>
bool holds_at_last(Condition condition) {
    const std::uint64_t deadline = in_ms(patience_ms);
    while (!condition()) {
        if (weft_now_ns() > deadline) return false;
        std::this_thread::yield();
    }
    return true;
}

// Forks g, and keeps the caller's hart until another one has begun it.
template <class G>
void have_taken(G g) {
    atomic<bool> begun{false};
    weft::invoke([&] {
        EXPECT_TRUE(holds_at_last([&] {
            weft::invoke([] {}, [] {});
            return begun.load();
        }));
    }, [&] {
        begun.store(true);
        g();
    });
}

}  // namespace weft_test
