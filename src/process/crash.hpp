// What is said when Weft itself crashes in a program that knows nothing of it.
#pragma once

#include "mem/overflow.hpp"

namespace weft {

// Where a bridge of Weft's stands between the program and its libraries, as under `weft run`: has
// fatal errors explained (base/assert.hpp), and returns what explains faults in Weft's code.
// Elsewhere null: a program that calls Weft by itself may have caused the fault by its arguments,
// and needs no advice on how to run without Weft. By the thread that starts the runtime.
mem::CrashDescribe crash_describe();

}   // namespace weft
