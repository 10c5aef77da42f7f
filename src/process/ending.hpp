// How a stream's end meets those who wait for it, and those who are about to wake the stream.
// carrier/streams.cpp owns it; others write it.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "unit/unit.hpp"

namespace weft {

struct Ending {
    JoinState join_state;              // where the carrier's end meets the call that frees the stream
    atomic<bool> freeing{false};       // somebody does
    atomic<std::uint32_t> wakers{0};   // OS threads that are about to wake it (Waking)
};

}   // namespace weft
