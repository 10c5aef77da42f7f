#include "unit_map.hpp"

#include "pointer_table.hpp"
#include "record.hpp"

namespace weft::argobots::unit_map {
namespace {

// A record in it is not deleted: who does so looks here first, under the same lock.
PointerTable<Record*> table;

// Others write there only that a handle is not this record's any more, which was given to another
// unit. The program gives it to this one no sooner than that one has lost it, and by then the write
// is seen. release: pairs with mapped_of(), after which the record may be deleted.
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
    // relaxed: who asks for a unit has been given it after the record was told, by ways of the
    // program's that order the two.
    table.with(unit, [&thread](const Record* found) { thread = found->thread.load(std::memory_order_relaxed); });
    return thread;
}

void clear() {
    table.clear([](Record* had) { set_mapped(*had, ABT_UNIT_NULL); });
}

}   // namespace weft::argobots::unit_map
