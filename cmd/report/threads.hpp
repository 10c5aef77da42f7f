// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The threads of the process: how many each library has started, and how many existed at the same
// time.
#pragma once

#include "tally.hpp"

namespace weft_report {

extern Tally threads;

// The most threads that existed at the same time, including now.
std::uint64_t peak_threads();

// For the child of a fork.
void forget_threads();

}   // namespace weft_report
