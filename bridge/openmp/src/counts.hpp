// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The counters for weft_counter_read and the report: "/openmp/count/regions" and its like. Each
// thread has numbers of its own, which are added up when they are read.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft_openmp {

struct alignas(64) Counts {
    // written by their thread alone; of_units: outermost regions of native units
    std::atomic<std::uint64_t> regions{0}, tasks{0}, of_units{0};
    Counts* next = nullptr;        // in the list of all
    Counts* next_free = nullptr;   // in the list of those that no thread has
};

// relaxed, both: one thread writes, and readers draw no conclusions.
inline void count(std::atomic<std::uint64_t>& which) {
    which.store(which.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void count_members(unsigned more);

// Numbers for a thread, until it gives them back. The counts stay, and the next thread continues
// from them.
Counts& take_counts();
void give_back(Counts& counts);

}   // namespace weft_openmp
