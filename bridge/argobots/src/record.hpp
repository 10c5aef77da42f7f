// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the bridge knows about a work unit beyond what Weft knows; few units have such a record. The
// record is the unit's value under a lasting key of the bridge (weft/local.h). It is made when it
// is first needed, and is released with the unit, or with the key at finalization. Units created
// outside the bridge may have a record, too: those of a program on Weft, or of libgomp.
#pragma once

#include <atomic>
#include <cstddef>

#include "common.hpp"
#include "key_table.hpp"

namespace weft::argobots {

struct Pool;
struct Sched;

struct Record {
    // For a unit that belongs, or until recently belonged, to a user-defined pool: the unit handle
    // that this pool has created.
    ABT_unit unit = ABT_UNIT_NULL;
    Pool* maker = nullptr;
    // The handle that the unit map maps to this record, and so to `thread`, which is
    // ABT_THREAD_NULL while the unit has no handle.
    std::atomic<ABT_unit> mapped{ABT_UNIT_NULL};
    std::atomic<ABT_thread> thread{ABT_THREAD_NULL};

    void (*on_migration)(ABT_thread thread, void* argument) = nullptr;
    void* on_migration_argument = nullptr;

    // The stack requested by an attribute; 0 and null: the default.
    std::size_t stack_bytes = 0;
    void* stack = nullptr;
    void* guard = nullptr;   // the protected page of such a stack

    Sched* sched = nullptr;             // the scheduler that runs as this unit
    std::atomic<std::uint64_t> id{0};   // its number, from 1 on, if it was queried
    KeyTable keys;

    Record() = default;
    Record(const Record&) = delete;
    ~Record();

    void set_unit(Pool& made_by, ABT_unit made, ABT_thread of);   // the handle is already in the map
    void drop_unit();                                             // the pool that created the handle frees it
    void drop_guard();

    Record* next_idle = nullptr;   // in the thread's list of idle records
};

// The key of records; null: before ABT_init, or after ABT_finalize.
extern std::atomic<weft_key*> record_key;
extern std::atomic<const weft_key_here*> records_here;   // the key of records, or a key under which no unit has a value
// relaxed: the program itself orders ABT_init, the calls after it, and ABT_finalize.
[[gnu::always_inline]] inline weft_key* key_of_records() { return record_key.load(std::memory_order_relaxed); }

inline Record* record_of(const weft_unit* unit) {
    const weft_key* const key = key_of_records();
    return key == nullptr ? nullptr : static_cast<Record*>(weft::here::value_of(unit, key));
}

// The running unit's record, if a few loads find it; null: there is none, or only record_of() finds
// it.
[[gnu::always_inline]] inline Record* record_at_once(const weft_running* self) {
    return static_cast<Record*>(weft::here::value_at_once(
        self, reinterpret_cast<const weft_key*>(records_here.load(std::memory_order_relaxed))));
}

// begin_records() returns false if there is no memory. end_records() is called at finalization and
// releases all units' records: the program's pools free their unit handles while their functions
// still exist.
bool begin_records();
void end_records();

// take_record() returns a record for a new unit; null: no memory. release_record() is called by the
// thread that frees the unit.
Record* take_record();
void release_record(void* record);

// The unit's record, which is made if there is none. From any thread; null: no memory.
Record* obtain_record(weft_unit* unit);
Record* make_record(weft_unit* unit);   // for a unit that has none, as far as the caller knows

}   // namespace weft::argobots
