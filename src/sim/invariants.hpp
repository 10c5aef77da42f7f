// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The invariants of the runtime whenever no hart runs.
#pragma once

#include <string>

namespace weft::sim {

// A text about what does not hold, or an empty one.
std::string broken_invariant();

// Describes streams and units, a line each.
void describe_units(std::string& text);

}   // namespace weft::sim
