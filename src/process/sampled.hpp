// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What periodic checks of all streams remember of one stream. The stream itself reads none of it.
#pragma once

#include <cstdint>

namespace weft {

// The sentry's notes (carrier/sentry.cpp), from one check to the next.
struct Noted {
    std::uint64_t runs = ~std::uint64_t{0};
    std::uint64_t moved_ns = 0;    // when it was last seen to have run something else, or to sleep
    std::uint64_t waits_ns = 0;    // since when something waits; 0: nothing does
    std::uint64_t told_unit = 0;   // the number of the last reported unit, and what `runs` was then
    std::uint64_t told_runs = ~std::uint64_t{0};
};

struct Sampled {
    Noted noted;
    // its OS thread's delay, at the check of that number (carrier/neighbours.cpp)
    std::uint64_t delay_ns = 0, delay_round = 0;
};

}   // namespace weft
