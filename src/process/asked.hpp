// What a stream is asked from outside: the bits of Stream::attention. Which room sees to which is
// said in runtime/wiring.cpp.
#pragma once

#include <cstdint>

#include "base/bits.hpp"

namespace weft {

using Attention = Bits<struct OfAttention, std::uint32_t>;

namespace attention {
inline constexpr Attention stop{1};     // return once the pools are empty
inline constexpr Attention pause{2};    // run nothing until further notice
inline constexpr Attention exit{4};     // the process ends: stop where you are
inline constexpr Attention timing{8};   // always pass through the scheduler, which reads the clock
// always pass through the scheduler, which makes the pollers' calls now and then
inline constexpr Attention polling{16};
inline constexpr Attention alarm{32};         // look at the timers
inline constexpr Attention posted{64};        // make the calls that were posted
inline constexpr Attention poll{128};         // make the pollers' calls now
inline constexpr Attention adopt{256};        // a pool for bound units is there
inline constexpr Attention replace{512};      // another main scheduler is there
inline constexpr Attention observing{1024};   // always pass through the scheduler: units are observed (observe.hpp)
inline constexpr Attention observed{2048};    // that has begun or ended
// in Loop::attended alone: timers wait that the reactor does not know of; see housekeeping.hpp
inline constexpr Attention unwatched{4096};
inline constexpr Attention abandon{8192};   // with stop: return now, and leave in the pools what waits there
inline constexpr Attention lent{16384};     // the hart may be a domain's (domain.hpp)
// lend the hart: others have a better claim to it (lending.hpp); stays until the stream has one
// again
inline constexpr Attention aside{32768};
inline constexpr Attention relieved{65536};   // it stands in for another stream, and that is over (rescue.hpp)
inline constexpr Attention leisurely = timing | polling | observing | observed;   // nobody waits for an answer to them
}   // namespace attention

}   // namespace weft
