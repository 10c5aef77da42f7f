// The seam of src/os/alone.hpp in simulation: whether there is one virtual hart.
#pragma once

namespace weft::sim {
extern unsigned harts_alive;
}

namespace weft::os {

inline bool alone() { return sim::harts_alive == 1; }

}   // namespace weft::os
