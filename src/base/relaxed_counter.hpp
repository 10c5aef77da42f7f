// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number with one writer at a time that any thread may read, as a hint or a statistic.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "base/config.hpp"

namespace weft {

// Today's compilers make three instructions of a relaxed load, an addition and a relaxed store, and
// such counting is a good part of the hot paths. So the one writer counts with a plain addition
// (one instruction); readers load relaxed, and see a number that was right at some time, since the
// supported processors read and write an aligned word as a whole. Under the thread sanitizer, which
// rightly demands atomics, the writer uses them.
class RelaxedCounter {
public:
    void add(std::int64_t amount = 1) {
        if constexpr (config::thread_sanitizer) {
            // relaxed: one writer
            value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
        } else {
            reinterpret_cast<Plain&>(value_) += amount;
        }
    }

    std::int64_t read() const { return value_.load(std::memory_order_relaxed); }   // relaxed: a statistic

    // read(), called by the one writer.
    std::int64_t own() const {
        if constexpr (config::thread_sanitizer) return read();
        return reinterpret_cast<const Plain&>(value_);
    }

private:
    using Plain [[gnu::may_alias]] = std::int64_t;
    atomic<std::int64_t> value_{0};
    static_assert(sizeof(atomic<std::int64_t>) == sizeof(Plain));
};

}   // namespace weft
