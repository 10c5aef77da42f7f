// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a stream knows of the units for which it got no stack. core/postpone.cpp owns it, and only
// the stream writes it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft {

struct Scarcity {
    std::size_t postponed_in_a_row = 0;
    std::uint64_t postponed = 0;       // since a unit was last given up
    std::size_t condemned = 0;         // how many more are not to be tried again
    std::uint64_t finished_then = 0;   // units that had ended when `condemned` was set or last counted down
    bool starving = false;             // counted in Process::starving
};

}   // namespace weft
