// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "record.hpp"

#include <sys/mman.h>

#include <new>
#include <utility>

#include "environment.hpp"
#include "pool.hpp"
#include "unit_map.hpp"

namespace weft::argobots {

namespace {

// Released records, the latest first, for units that the same thread creates. No other thread reads
// them, except through the unit map.
struct Idle {
    static constexpr unsigned most = 256;   // so many may come and go at once: 40 KiB of memory

    Record* first = nullptr;
    unsigned count = 0;

    constexpr Idle() = default;
    Idle(const Idle&) = delete;
    ~Idle() { drop(); }

    void drop() {
        while (Record* record = first) {
            first = record->next_idle;
            delete record;
        }
        count = 0;
    }
};
thread_local Idle idle;

}   // namespace

namespace {
constexpr weft_key_here no_key{~std::uint64_t{0}, 0, false};
}
std::atomic<weft_key*> record_key{nullptr};
std::atomic<const weft_key_here*> records_here{&no_key};

bool begin_records() {
    weft_key_options how{};
    how.size = sizeof how;
    how.lasting = true;
    how.release = release_record;
    weft_key* made = nullptr;
    if (weft_key_create_with(&how, &made) != WEFT_OK) return false;
    // relaxed, and below: see key_of_records()
    record_key.store(made, std::memory_order_relaxed);
    records_here.store(reinterpret_cast<const weft_key_here*>(made), std::memory_order_relaxed);
    return true;
}

void end_records() {
    records_here.store(&no_key, std::memory_order_relaxed);
    weft_key* const key = record_key.exchange(nullptr, std::memory_order_relaxed);
    if (key != nullptr) weft_key_free(key);
    idle.drop();   // other threads' records are freed when those threads end
}

Record::~Record() {
    drop_unit();
    drop_guard();
    unit_map::forget(*this);
}

void Record::set_unit(Pool& made_by, ABT_unit made, ABT_thread of) {
    unit = made;
    maker = &made_by;
    thread.store(of, std::memory_order_relaxed);   // relaxed, and below: pairs with unit_map::find()
}

void Record::drop_unit() {
    if (maker == nullptr) return;
    Pool& by = *std::exchange(maker, nullptr);
    thread.store(ABT_THREAD_NULL, std::memory_order_relaxed);
    by.free_unit(std::exchange(unit, ABT_UNIT_NULL));
}

void Record::drop_guard() {
    if (guard != nullptr) mprotect(guard, environment().sys_page_bytes, PROT_READ | PROT_WRITE);
    guard = nullptr;
}

Record* take_record() {
    Record* const kept = idle.first;
    if (kept == nullptr) return new (std::nothrow) Record;
    idle.first = kept->next_idle;
    --idle.count;
    return kept;
}

void release_record(void* raw) {
    auto* const record = static_cast<Record*>(raw);
    // The program's functions may release records, too.
    record->drop_unit();
    record->drop_guard();
    if (!record->keys.unused() || idle.count == Idle::most) {
        delete record;
        return;
    }
    record->on_migration = nullptr;
    record->on_migration_argument = nullptr;
    record->stack_bytes = 0;
    record->stack = nullptr;
    record->sched = nullptr;
    record->id.store(0, std::memory_order_relaxed);   // relaxed: no other thread can reach it
    record->next_idle = idle.first;
    idle.first = record;
    ++idle.count;
}

Record* obtain_record(weft_unit* unit) {
    Record* const had = record_of(unit);
    return had != nullptr ? had : make_record(unit);
}

Record* make_record(weft_unit* unit) {
    const weft_key* const key = key_of_records();
    Record* const made = key == nullptr ? nullptr : take_record();
    if (made == nullptr) return nullptr;
    const weft_status status = weft_unit_local_set(unit, key, made);
    if (status == WEFT_OK) return made;
    release_record(made);
    return status == WEFT_WRONG_STATE ? record_of(unit) : nullptr;   // another thread was faster
}

}   // namespace weft::argobots
