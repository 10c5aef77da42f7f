// The structures that harts share, each of which is asked whether it holds together (check(),
// check_whole()) while no hart runs.
#pragma once

namespace weft {
struct Process;
}

namespace weft::sim {

// Ends the run by an assertion where something does not hold.
void check_structures(Process& of);

}   // namespace weft::sim
