// From the unit handles that pools of the program's own have made (ABT_unit) to the records of the
// work units that they were made for. Built-in pools need none: there the one handle follows from
// the other.
//
// A handle stays in the map when its unit has been freed, with its record, which is kept for
// another unit (record.cpp). That one is likely to get the same handle again, from a program that
// gives its memory back and asks for more: then there is nothing to be done here.
#pragma once

#include <abt.h>

namespace weft::argobots {

struct Record;

namespace unit_map {

// Each call costs the same however many units there are. From any thread.
//
// The record's handle is this one from now on (Record::mapped), and no other. False: no memory, and
// it is as before.
bool assign(Record& record, ABT_unit unit);
void forget(Record& record);      // it has none any more
ABT_thread find(ABT_unit unit);   // ABT_THREAD_NULL: it is no unit
void clear();                     // at the end of all: gives the memory back

}   // namespace unit_map
}   // namespace weft::argobots
