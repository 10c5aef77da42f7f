// What is counted, for weft_counter_read and the report: "/openmp/count/regions" and its like. Each
// thread has numbers of its own, which are added up when they are read.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft_openmp {

struct alignas(64) Counts {
    // written by their thread alone; of_units: outermost regions of native units
    std::atomic<std::uint64_t> regions{0}, tasks{0}, of_units{0};
    Counts* next = nullptr;        // of all that there are
    Counts* next_free = nullptr;   // of those that no thread has
};

// relaxed, both: one writes, and whoever reads draws no conclusions.
inline void count(std::atomic<std::uint64_t>& which) {
    which.store(which.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void count_members(unsigned more);

// For a thread, until it gives them back: what has been counted stays, and another thread goes on
// from there.
Counts& take_counts();
void give_back(Counts& counts);

}   // namespace weft_openmp
