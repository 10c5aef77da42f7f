// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks the structures that harts share for consistency (check(), check_whole()) while no hart
// runs.
#pragma once

namespace weft {
struct Process;
}

namespace weft::sim {

// Ends the run by an assertion where an invariant does not hold.
void check_structures(Process& of);

}   // namespace weft::sim
