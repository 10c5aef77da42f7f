// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names of the environment's variables that begin with WEFT_: the one list of all that Weft,
// its companions and its tests read, and the report on names that are none of them.
// tools/variables.py checks that no name is missing.
#pragma once

#include <cstdio>

namespace weft {

// Writes a line to `file` for each variable that is set and is none of Weft's, but whose name
// becomes that of a variable for users if at most two letters are inserted, deleted or changed:
// other names belong to other software. Returns how many there are.
std::size_t doubts_print(std::FILE* file);

// Prints the doubts on standard error, once in a tree of processes: a variable, which children
// inherit, says what has been reported.
void tell_doubts();

}   // namespace weft
