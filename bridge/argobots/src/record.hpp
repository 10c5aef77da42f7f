// What the bridge knows of a work unit besides what Weft does: few units have such a record. It is
// the unit's value under a lasting key of the bridge's (weft/local.h), is made when it is first
// needed, and goes with the unit, or with the key when all ends. Units of others may have one, too:
// of a program on Weft, of libgomp's.
#pragma once

#include <atomic>
#include <cstddef>

#include "common.hpp"
#include "key_table.hpp"

namespace weft::argobots {

struct Pool;
struct Sched;

struct Record {
    // Of a unit that belongs, or did lately, to a pool of the program's own: what that pool has
    // made for it.
    ABT_unit unit = ABT_UNIT_NULL;
    Pool* maker = nullptr;
    // The handle that leads to the record, and from there to the unit, by the unit map;
    // ABT_THREAD_NULL while the unit has none.
    std::atomic<ABT_unit> mapped{ABT_UNIT_NULL};
    std::atomic<ABT_thread> thread{ABT_THREAD_NULL};

    void (*on_migration)(ABT_thread thread, void* argument) = nullptr;
    void* on_migration_argument = nullptr;

    // As an attribute has asked for them; 0 and null: the default.
    std::size_t stack_bytes = 0;
    void* stack = nullptr;
    void* guard = nullptr;   // the page of such a stack that is protected

    Sched* sched = nullptr;             // the scheduler that runs as this unit
    std::atomic<std::uint64_t> id{0};   // its number, from 1 on, if it was asked for
    KeyTable keys;

    Record() = default;
    Record(const Record&) = delete;
    ~Record();

    void set_unit(Pool& made_by, ABT_unit made, ABT_thread of);   // mapped already
    void drop_unit();                                             // the maker frees what it has made
    void drop_guard();

    Record* next_idle = nullptr;   // of those that the thread keeps
};

// Under which records lie; null: ABT_init has not been called, or ABT_finalize has.
extern std::atomic<weft_key*> record_key;
extern std::atomic<const weft_key_here*> records_here;   // the key of records, or one under which no unit has anything
// relaxed: whoever calls between the two has learnt of them by ways of the program's that order
// them.
[[gnu::always_inline]] inline weft_key* key_of_records() { return record_key.load(std::memory_order_relaxed); }

inline Record* record_of(const weft_unit* unit) {
    const weft_key* const key = key_of_records();
    return key == nullptr ? nullptr : static_cast<Record*>(weft::here::value_of(unit, key));
}

// The record of the unit that runs, where a few loads tell; null: it has none, or record_of()
// tells.
[[gnu::always_inline]] inline Record* record_at_once(const weft_running* self) {
    return static_cast<Record*>(weft::here::value_at_once(
        self, reinterpret_cast<const weft_key*>(records_here.load(std::memory_order_relaxed))));
}

// False: no memory. And at the end of all, when all units lose theirs: what the program's functions
// have made for a unit goes before those may be gone.
bool begin_records();
void end_records();

// For a new unit; null: no memory. And when it has gone, from the thread that frees it.
Record* take_record();
void release_record(void* record);

// Makes one if there is none. From any thread; null: no memory.
Record* obtain_record(weft_unit* unit);
Record* make_record(weft_unit* unit);   // for one that has none, as far as the caller knows

}   // namespace weft::argobots
