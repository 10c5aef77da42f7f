// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "os/clock.hpp"

#include <time.h>

namespace weft::os {

std::uint64_t now_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}   // namespace weft::os
