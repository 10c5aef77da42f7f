// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a stream's end meets the threads that wait for it, and those that are about to wake the
// stream. carrier/streams.cpp owns it; other threads write it.
#pragma once

#include <cstdint>

#include "base/atomic.hpp"
#include "unit/unit.hpp"

namespace weft {

struct Ending {
    JoinState join_state;              // where the carrier's end meets the call that frees the stream
    atomic<bool> freeing{false};       // some thread frees the stream
    atomic<std::uint32_t> wakers{0};   // OS threads that are about to wake it (Waking)
};

}   // namespace weft
