// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The seam to time: nanoseconds of the monotonic clock.
#pragma once

#include <cstdint>

namespace weft::os {

std::uint64_t now_ns();

}   // namespace weft::os
