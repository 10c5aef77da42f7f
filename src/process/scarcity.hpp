// What a stream knows of the units for which it got no stack. core/postpone.cpp owns it, and the
// stream alone writes it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft {

struct Scarcity {
    std::size_t postponed_in_a_row = 0;
    std::uint64_t postponed = 0;       // since a unit was given up
    std::size_t condemned = 0;         // how many more are not to be tried again
    std::uint64_t finished_then = 0;   // the units that had ended when that was said, or the last of them did
    bool starving = false;             // counted in Process::starving
};

}   // namespace weft
