// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unit_map.hpp"

#include "pointer_table.hpp"
#include "record.hpp"

namespace weft::argobots::unit_map {
namespace {

// A record in the table is never deleted: before a thread deletes a record, it removes it here,
// under the same lock.
PointerTable<Record*> table;

// Threads other than the record's own write only ABT_UNIT_NULL here, when the record's handle has
// been given to another unit. The program gives this handle to the record's unit again only after
// the other unit has lost it, and by then the write is visible. release: pairs with mapped_of(),
// after which the record may be deleted.
void set_mapped(Record& record, ABT_unit unit) { record.mapped.store(unit, std::memory_order_release); }
ABT_unit mapped_of(const Record& record) { return record.mapped.load(std::memory_order_acquire); }

void take_out(const Record& record, ABT_unit unit) {
    if (!is_null(unit)) table.take_if(unit, [&record](const Record* found) { return found == &record; });
}

}   // namespace

bool assign(Record& record, ABT_unit unit) {
    const bool put = table.put_or_replace(unit, &record, [](Record* had) { set_mapped(*had, ABT_UNIT_NULL); });
    if (!put) return false;
    take_out(record, mapped_of(record));
    set_mapped(record, unit);
    return true;
}

void forget(Record& record) {
    take_out(record, mapped_of(record));
    set_mapped(record, ABT_UNIT_NULL);
}

ABT_thread find(ABT_unit unit) {
    ABT_thread thread = ABT_THREAD_NULL;
    // relaxed: the caller got the unit handle after the record was updated, and the program itself
    // orders the two.
    table.with(unit, [&thread](const Record* found) { thread = found->thread.load(std::memory_order_relaxed); });
    return thread;
}

void clear() {
    table.clear([](Record* had) { set_mapped(*had, ABT_UNIT_NULL); });
}

}   // namespace weft::argobots::unit_map
