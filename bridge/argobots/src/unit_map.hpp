// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maps the unit handles that user-defined pools have created (ABT_unit) to the records of their
// work units. Built-in pools need no map: there one handle is computed from the other.
//
// When a unit is freed, its handle stays in the map with the record, which is kept for another unit
// (record.cpp). A program that frees and allocates memory for its handles is likely to give that
// unit the same handle again; then the map need not change.
#pragma once

#include <abt.h>

namespace weft::argobots {

struct Record;

namespace unit_map {

// The cost of a call does not depend on the number of units. From any thread.
//
// Makes this the record's only handle (Record::mapped). False: no memory, and nothing has changed.
bool assign(Record& record, ABT_unit unit);
void forget(Record& record);      // the record has no handle any more
ABT_thread find(ABT_unit unit);   // ABT_THREAD_NULL: not a unit
void clear();                     // at finalization: frees the memory

}   // namespace unit_map
}   // namespace weft::argobots
