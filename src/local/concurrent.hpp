// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a unit is one of several that a parallel library runs side by side (weft_concurrent).
#pragma once

namespace weft {

struct Stream;
struct Unit;

// Calls nest. For the unit itself. False: no memory.
bool begin_concurrent(Unit& unit, Stream* stream);
// False: it has not begun.
bool end_concurrent(Unit& unit, Stream* stream);
bool is_concurrent(const Unit& unit);

}   // namespace weft
