// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "counts.hpp"

#include <atomic>
#include <cstdint>

#include <weft/trace.h>

namespace weft_openblas {

namespace {

constinit std::atomic<std::uint64_t> calls{0}, lowered{0};

// relaxed, as where they are changed: a statistic
std::uint64_t read(void* counter) {
    return static_cast<std::atomic<std::uint64_t>*>(counter)->load(std::memory_order_relaxed);
}

}   // namespace

void add_counters() {
    // A name that is known already means that two of these libraries are loaded: the first one is
    // reported.
    [[maybe_unused]] static const bool added = [] {
        weft_counter_register("/blas/count/calls", read, &calls);
        weft_counter_register("/blas/count/lowered", read, &lowered);
        return true;
    }();
}

void count_call() { calls.fetch_add(1, std::memory_order_relaxed); }
std::uint64_t calls_on_weft() { return read(&calls); }
void count_lowered() { lowered.fetch_add(1, std::memory_order_relaxed); }

void forget_counts() {
    calls.store(0, std::memory_order_relaxed);
    lowered.store(0, std::memory_order_relaxed);
}

}   // namespace weft_openblas
