// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Seams to sleep and wake (futex(2), private). A wait may return early: callers check their
// condition again.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace weft::os {

inline constexpr std::uint64_t forever = ~std::uint64_t{0};

// Sleeps while `word` is `expected`, until it is woken, a signal comes, or `timeout_ns` have
// passed. The comparison and the sleep are one atomic step with respect to a wake by a thread that
// changed `word` first.
void futex_wait(const atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t timeout_ns = forever);

// Wakes at most `count` threads that sleep on `word`, which need not exist any more.
void futex_wake(const atomic<std::uint32_t>& word, std::uint32_t count);

}   // namespace weft::os
