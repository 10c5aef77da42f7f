// What can be seen of the whole runtime: its counters and its live units.
#pragma once

#include <cstdint>
#include <cstdio>

#include "stream/runtime.hpp"
#include "weft/unit.h"

namespace weft {

weft_status read_counter(Runtime& of, const char* name, std::uint64_t* value);
void each_unit(Runtime& of, void (*visit)(const weft_unit_info* info, void* argument), void* argument);
void print_units(Runtime& of, std::FILE* file);

}  // namespace weft
