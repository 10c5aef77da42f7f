// The threads of the process: how many each library has started, and how many there were at once.
#pragma once

#include "tally.hpp"

namespace weft_report {

extern Tally threads;

// How many there were at most, the calling moment included.
std::uint64_t peak_threads();

// For the child of a fork.
void forget_threads();

}   // namespace weft_report
