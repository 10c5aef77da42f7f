#include "unit_map.hpp"

#include "pointer_table.hpp"

namespace weft::argobots::unit_map {
namespace {

PointerTable<ABT_thread> table;

}  // namespace

bool insert(ABT_unit unit, ABT_thread thread) { return table.put(unit, thread); }

void erase(ABT_unit unit) {
    ABT_thread thread = ABT_THREAD_NULL;
    table.take(unit, thread);
}

ABT_thread find(ABT_unit unit) {
    ABT_thread thread = ABT_THREAD_NULL;
    return table.find(unit, thread) ? thread : ABT_THREAD_NULL;
}

void clear() { table.clear(); }

}  // namespace weft::argobots::unit_map
