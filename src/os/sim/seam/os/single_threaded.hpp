// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The seam of src/os/single_threaded.hpp in simulation: whether there is one virtual hart.
#pragma once

namespace weft::sim {
extern unsigned harts_alive;
}

namespace weft::os {

inline bool single_threaded() { return sim::harts_alive == 1; }

}   // namespace weft::os
