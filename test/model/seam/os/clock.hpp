// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Time passes in a model only when a wait has timed out.
#pragma once

#include <cstdint>

namespace weft::os {

inline std::uint64_t model_clock = 0;   // each suite starts it anew

inline std::uint64_t now_ns() { return model_clock; }

}   // namespace weft::os
