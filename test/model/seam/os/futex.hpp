// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The futex of a model: comparing and going to sleep are one step, wake-ups may be spurious, a
// timed wait may end at any moment, and a wake that finds no waiter is lost.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "os/clock.hpp"

namespace weft::os {

inline constexpr std::uint64_t forever = ~std::uint64_t{0};

inline void futex_wait(const atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t timeout_ns = forever) {
    rl::context& context = rl::ctx();
    context.sched();
    const rl::debug_info here = model::info(std::source_location::current());
    if (word.inner().debug_value() != expected) {
        rl::yield(1, here);   // the kernel has seen the new value: the caller's next read is not stale forever
        return;
    }
    // Spurious wake-ups happen only in random searches: a complete search would try them again and
    // again.
    const bool for_no_reason = context.is_random_sched();
    const rl::unpark_reason reason = word.inner().wait(context, timeout_ns != forever, for_no_reason, here);
    if (reason == rl::unpark_reason_timeout) model_clock += timeout_ns;
}

inline void futex_wake(const atomic<std::uint32_t>& word, std::uint32_t count) {
    rl::context& context = rl::ctx();
    context.sched();
    if (!word.alive()) return;
    word.inner().wake(context, static_cast<rl::thread_id_t>(count), model::info(std::source_location::current()));
}

}   // namespace weft::os
