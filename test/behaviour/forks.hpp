// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tests of forks share: branches that another stream is to take.
#pragma once

#include <functional>
#include <thread>

#include "test/behaviour/atomic.hpp"
#include "test/behaviour/waiting.hpp"
#include "weft/parallel.hpp"

namespace weft_test {

// Keeps the hart until `condition` holds. Returns false if it does not hold in time.
template <class Condition>
bool holds_at_last(Condition condition) {
    const std::uint64_t deadline = in_ms(patience_ms);
    while (!condition()) {
        if (weft_now_ns() > deadline) return false;
        std::this_thread::yield();
    }
    return true;
}

// Forks g, and keeps the caller's hart until another hart has begun it. The caller forks again and
// again, because only a fork observes a steal request.
template <class G>
auto have_taken(
    G g, std::function<void()> then = [] {}) {
    atomic<bool> begun{false};
    return weft::invoke(
        [&] {
            EXPECT_TRUE(holds_at_last([&] {
                weft::invoke([] {}, [] {});
                return begun.load();
            }));
            then();
        },
        [&] {
            begun.store(true);
            return g();
        });
}

}   // namespace weft_test
