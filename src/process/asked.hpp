// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Requests to a stream from outside: the bits of Stream::attention. runtime/wiring.cpp says which
// handler serves which bit.
#pragma once

#include <cstdint>

#include "base/bits.hpp"

namespace weft {

using Attention = Bits<struct OfAttention, std::uint32_t>;

namespace attention {
inline constexpr Attention stop{1};     // return once the pools are empty
inline constexpr Attention pause{2};    // run nothing until further notice
inline constexpr Attention exit{4};     // the process ends: stop at once
inline constexpr Attention timing{8};   // always go through the scheduler, which reads the clock
// always go through the scheduler, which makes the pollers' calls now and then
inline constexpr Attention polling{16};
inline constexpr Attention alarm{32};         // check the timers
inline constexpr Attention posted{64};        // make the posted calls
inline constexpr Attention poll{128};         // make the pollers' calls now
inline constexpr Attention adopt{256};        // there is a pool for bound units
inline constexpr Attention replace{512};      // there is another main scheduler
inline constexpr Attention observing{1024};   // always go through the scheduler: units are observed (observe.hpp)
inline constexpr Attention observed{2048};    // observing has begun or ended
// in Loop::attended only: timers wait that the reactor does not know of; see housekeeping.hpp
inline constexpr Attention unwatched{4096};
inline constexpr Attention abandon{8192};   // with stop: return now, and leave waiting units in the pools
inline constexpr Attention lent{16384};     // the hart may be a domain's (domain.hpp)
// lend the hart: others have a better claim to it (lending.hpp); stays set until the stream has a
// hart again
inline constexpr Attention aside{32768};
inline constexpr Attention relieved{65536};   // its standing in for another stream is over (rescue.hpp)
inline constexpr Attention leisurely = timing | polling | observing | observed;   // no thread waits for their effect
}   // namespace attention

}   // namespace weft
