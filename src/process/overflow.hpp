// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The message when a unit has used more stack than it has.
#pragma once

#include <cstddef>
#include <cstdint>

#include "unit/unit.hpp"

namespace weft {

// For mem::overflow_install: whether the unit that runs on this OS thread has run into its guard.
bool overflow_describe(std::uintptr_t code, const void* fault_address, char* text, std::size_t bytes);

// A canary was found broken: reports it and ends the process, as a guard page would have.
[[noreturn]] void overflow_report(const Unit& unit);

// Checks that the stack of a unit that is guarded by a canary has not been overrun; else the
// process ends.
void check_canary(const Unit& unit);

}   // namespace weft
