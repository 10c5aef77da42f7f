#include "record.hpp"

#include <sys/mman.h>

#include <new>

#include "environment.hpp"
#include "pool.hpp"
#include "unit_map.hpp"

namespace weft::argobots {

void Record::drop_unit() {
    if (maker == nullptr) return;
    Pool& by = *maker;
    maker = nullptr;
    unit_map::erase(unit);
    by.free_unit(unit);
    unit = ABT_UNIT_NULL;
}

void Record::drop_guard() {
    if (guard != nullptr) mprotect(guard, environment().sys_page_bytes, PROT_READ | PROT_WRITE);
    guard = nullptr;
}

void release_record(void* record) { delete static_cast<Record*>(record); }

Record* obtain_record(weft_unit* unit) {
    if (Record* had = record_of(unit)) return had;
    auto* made = new (std::nothrow) Record;
    if (made == nullptr) return nullptr;
    const weft_status status = weft_unit_data_set(unit, made, release_record);
    if (status == WEFT_OK) return made;
    delete made;
    return status == WEFT_WRONG_STATE ? record_of(unit) : nullptr;   // another was faster
}

}  // namespace weft::argobots
