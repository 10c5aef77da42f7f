// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many members have arrived at a barrier or at the end of a region, counted by the hart that
// ran them. Where members are many, each would otherwise take the team's counter from another hart.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft_openmp {

// seq_cst, like the team's counter: what a member has written before it arrives precedes the end of
// what it has arrived at.
struct ArrivalsOrders {
    static constexpr std::memory_order count = std::memory_order_seq_cst;
    static constexpr std::memory_order take = std::memory_order_seq_cst;
};

// A word that one hart counts in and any hart takes from. The hart that takes a count adds it to
// the team's, and may end what that completes.
template <template <class> class Atomic, class Orders = ArrivalsOrders>
class BasicArrivals {
public:
    // A member has arrived in that region. Nothing is left of an earlier region, which is over only
    // once all its counts have been taken.
    void count(std::uint64_t region) {
        // relaxed, and on failure, too: the exchange succeeds with the value that is there
        std::uint64_t seen = word_.load(std::memory_order_relaxed);
        while (!word_.compare_exchange_weak(seen, seen == 0 ? region << region_shift | 1 : seen + 1, Orders::count,
                                            std::memory_order_relaxed)) {}
    }
    // Takes what has been counted in that region, and returns how many. Counts of a later region
    // stay: a member that is still in the dock of an earlier region could not end what they
    // complete.
    std::uint32_t take(std::uint64_t region) {
        // relaxed, as in count: a count that is not seen yet is taken by the member that has
        // counted it, or by the next one of its row
        std::uint64_t seen = word_.load(std::memory_order_relaxed);
        while (seen != 0 && seen >> region_shift == static_cast<std::uint32_t>(region)) {
            // relaxed on failure: it succeeds with the value that is there
            if (word_.compare_exchange_weak(seen, 0, Orders::take, std::memory_order_relaxed))
                return static_cast<std::uint32_t>(seen);
        }
        return 0;
    }

private:
    static constexpr unsigned region_shift = 32;

    Atomic<std::uint64_t> word_{0};   // the region's number, and the count
};
using Arrivals = BasicArrivals<std::atomic>;

}   // namespace weft_openmp
