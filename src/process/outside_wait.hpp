// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many OS threads that are no streams wait for the runtime: no wake-up is to be expected from
// them (deadlock.hpp).
#pragma once

#include <cstdint>

#include "base/atomic.hpp"

namespace weft {

// During its lifetime an OS thread that is no stream sleeps until the runtime wakes it, and wakes
// no other.
class OutsideWait {
public:
    OutsideWait() { count.fetch_add(1); }
    OutsideWait(const OutsideWait&) = delete;
    ~OutsideWait() { count.fetch_sub(1); }

    static inline atomic<std::uint32_t> count{0};
};

}   // namespace weft
