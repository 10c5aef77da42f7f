// How many members have arrived at a barrier or at the end of a region, by the hart that ran them:
// where members are many each would take the team's counter from another hart.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft_openmp {

// seq_cst, as the team's counter: what a member has written before it arrives comes before the end
// of what it has arrived at.
struct ArrivalsOrders {
    static constexpr std::memory_order count = std::memory_order_seq_cst;
    static constexpr std::memory_order take = std::memory_order_seq_cst;
};

// A word that one hart counts in and any takes from. Whoever has taken a count adds it to the
// team's, and may end what that completes.
template <template <class> class Atomic, class Orders = ArrivalsOrders>
class BasicArrivals {
public:
    // A member has arrived, in that region. Of an earlier one nothing is left: it is over once all
    // have been taken.
    void count(std::uint64_t region) {
        // relaxed, and where the exchange fails: it succeeds with what is there
        std::uint64_t seen = word_.load(std::memory_order_relaxed);
        while (!word_.compare_exchange_weak(seen, seen == 0 ? region << region_shift | 1 : seen + 1, Orders::count,
                                            std::memory_order_relaxed)) {}
    }
    // Takes what has been counted in that region, and returns how many. Counts of a later one stay:
    // a member that still is in the dock of an earlier region could not end what they complete.
    std::uint32_t take(std::uint64_t region) {
        // relaxed, as in count; what is not seen yet, the member that has counted it takes, or its
        // next one
        std::uint64_t seen = word_.load(std::memory_order_relaxed);
        while (seen != 0 && seen >> region_shift == static_cast<std::uint32_t>(region)) {
            // relaxed where it fails: it succeeds with what is there
            if (word_.compare_exchange_weak(seen, 0, Orders::take, std::memory_order_relaxed))
                return static_cast<std::uint32_t>(seen);
        }
        return 0;
    }

private:
    static constexpr unsigned region_shift = 32;

    Atomic<std::uint64_t> word_{0};   // the region's number, and how many
};
using Arrivals = BasicArrivals<std::atomic>;

}   // namespace weft_openmp
