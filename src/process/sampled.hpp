// What those remember of a stream who look at all of them now and then. The stream itself reads
// none of it.
#pragma once

#include <cstdint>

namespace weft {

// Of the sentry's (carrier/sentry.cpp), from look to look.
struct Noted {
    std::uint64_t runs = ~std::uint64_t{0};
    std::uint64_t moved_ns = 0;    // when it was seen to have run something else, or to sleep
    std::uint64_t waits_ns = 0;    // since when something waits; 0: nothing does
    std::uint64_t told_unit = 0;   // the number of the unit that was told of last, and what `runs` was then
    std::uint64_t told_runs = ~std::uint64_t{0};
};

struct Sampled {
    Noted noted;
    // its OS thread's delay, at the look of that number (carrier/neighbours.cpp)
    std::uint64_t delay_ns = 0, delay_round = 0;
};

}   // namespace weft
