// What must hold of the runtime whenever no hart runs.
#pragma once

#include <string>

namespace weft::sim {

// The text of what does not hold, or empty.
std::string broken_invariant();

// Streams and units, a line each.
void describe_units(std::string& text);

}   // namespace weft::sim
