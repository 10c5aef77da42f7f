// From the unit handles that pools of the program's own have made (ABT_unit) to the work units. Built-in pools need none: there the one handle
// follows from the other.
#pragma once

#include <abt.h>

namespace weft::argobots::unit_map {

// Each call costs the same however many units there are. From any thread.
bool insert(ABT_unit unit, ABT_thread thread);   // false: no memory
void erase(ABT_unit unit);
ABT_thread find(ABT_unit unit);                  // ABT_THREAD_NULL: it is no unit
void clear();                                    // at the end of all: gives the memory back

}  // namespace weft::argobots::unit_map
