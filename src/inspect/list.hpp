// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can be observed of the whole runtime: its counters and its live units.
#pragma once

#include <cstdint>
#include <cstdio>

#include "process/process.hpp"
#include "weft/unit.h"

namespace weft {

// The information that each_unit() would give of one unit.
void look_at_unit(const Unit& unit, weft_unit_info& info);

// Whether the runtime itself has a counter of that name.
bool is_own_counter(const char* name);

weft_status read_counter(Process& of, const char* name, std::uint64_t* value);
// `pool`: only units that belong there; null: all units.
void each_unit(Process& of, void (*visit)(const weft_unit_info* info, void* argument), void* argument,
               const Pool* pool = nullptr);
void print_units(Process& of, std::FILE* file);

// Prints the counters where WEFT_COUNTERS says, if anywhere.
void print_counters_at_end(Process& of);
void print_counters(const Process& of, std::FILE* file);

}   // namespace weft
