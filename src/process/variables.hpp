// The names of the environment's variables that begin with WEFT_: the one list of all that Weft,
// what comes with it and its tests read, and what is told of names that are none of them.
// tools/variables.py checks that no name is missing.
#pragma once

#include <cstdio>

namespace weft {

// A line of `file` for each variable that is set and none of Weft's, but has a name that becomes
// one of those for users by at most two letters that are put in, left out or changed: others are
// somebody else's. Returns how many there are.
std::size_t doubts_print(std::FILE* file);

// Prints the doubts on standard error, once in a tree of processes: a variable, which children
// inherit, says what has been told.
void tell_doubts();

}   // namespace weft
