// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report when Weft itself crashes in a program that knows nothing of Weft.
#pragma once

#include "mem/overflow.hpp"

namespace weft {

// Where a Weft bridge stands between the program and its libraries, as under `weft run`: installs
// the explanation of fatal errors (base/assert.hpp), and returns the function that explains faults
// in Weft's code. Elsewhere null: a program that calls Weft by itself may have caused the fault by
// its arguments, and needs no advice on how to run without Weft. Called by the thread that starts
// the runtime.
mem::CrashDescribe crash_describe();

}   // namespace weft
