// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "counts.hpp"

#include <atomic>
#include <cstdint>

#include <weft/trace.h>

namespace weft_tbb {

namespace {

constinit std::atomic<std::uint64_t> workers{0}, entries{0};

// relaxed, as below: a statistic
std::uint64_t read(void* counter) {
    return static_cast<std::atomic<std::uint64_t>*>(counter)->load(std::memory_order_relaxed);
}

}   // namespace

void add_counters() {
    // A name that is known already means that two of these libraries are loaded: the first one is
    // reported.
    [[maybe_unused]] static const bool added = [] {
        weft_counter_register("/tbb/count/workers", read, &workers);
        weft_counter_register("/tbb/count/entries", read, &entries);
        return true;
    }();
}

void count_worker() { workers.fetch_add(1, std::memory_order_relaxed); }
void count_entry() { entries.fetch_add(1, std::memory_order_relaxed); }

void forget_counts() {
    workers.store(0, std::memory_order_relaxed);
    entries.store(0, std::memory_order_relaxed);
}

}   // namespace weft_tbb
