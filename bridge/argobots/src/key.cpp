// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work-unit-local values: each unit's record has a table of them. The values under Weft's own keys
// (weft/local.h) would be found faster, but they end with the body or can be set only once.
// Argobots' values can change, are readable until the unit is freed, and survive a revival.
#include <atomic>
#include <new>

#include "common.hpp"
#include "record.hpp"

using namespace weft::argobots;

namespace {

std::atomic<std::uint64_t> last_id{0};   // counts over all runs, so that no key ever gets the values of another key

Key* to_key(ABT_key key) { return reinterpret_cast<Key*>(key); }

inline void* value_in(const Record* record, ABT_key key) {
    return record == nullptr ? nullptr : record->keys.get(*to_key(key));
}

// The slow path: identifying the caller takes calls, or the value is not found at the first probe.
[[gnu::noinline]] int get_mine_slow(ABT_key key, void** value, int otherwise) {
    const weft_unit* const self = weft_unit_self();
    if (key_of_records() == nullptr) return otherwise;
    if (self == nullptr) return ABT_ERR_INV_XSTREAM;
    if (is_null(key)) return ABT_ERR_INV_KEY;
    *value = value_in(record_of(self), key);
    return ABT_SUCCESS;
}

[[gnu::always_inline]] inline int get_mine(ABT_key key, void** value, int otherwise) {
    const weft_running* const self = weft::here::running();
    if (self != nullptr && !is_null(key)) [[likely]] {
        const Record* const record = record_at_once(self);
        if (record != nullptr && record->keys.get_at_once(*to_key(key), value)) [[likely]]
            return ABT_SUCCESS;
    }
    return get_mine_slow(key, value, otherwise);
}

int set_in(Record* record, ABT_key key, void* value) {
    if (record == nullptr) return value == nullptr ? ABT_SUCCESS : ABT_ERR_MEM;
    return record->keys.set(*to_key(key), value) ? ABT_SUCCESS : ABT_ERR_MEM;
}

int set(weft_unit* unit, ABT_key key, void* value) {
    return set_in(value == nullptr ? record_of(unit) : obtain_record(unit), key, value);
}

// `otherwise`: the result if there is no runtime.
int set_mine(ABT_key key, void* value, int otherwise) {
    const weft_running* const running = weft::here::running();
    if (running != nullptr && value != nullptr && !is_null(key)) [[likely]] {
        Record* record = record_at_once(running);
        if (record == nullptr) record = make_record(weft::here::unit_of(running));
        if (record != nullptr) [[likely]]
            return set_in(record, key, value);
    }
    weft_unit* self = weft::here::unit();
    if (key_of_records() == nullptr) return otherwise;
    if (self == nullptr) return ABT_ERR_INV_XSTREAM;
    return is_null(key) ? ABT_ERR_INV_KEY : set(self, key, value);
}

}   // namespace

extern "C" {

int ABT_key_create(void (*destructor)(void* value), ABT_key* newkey) {
    auto* key = new (std::nothrow) Key{last_id.fetch_add(1) + 1, destructor};
    *newkey = key == nullptr ? ABT_KEY_NULL : reinterpret_cast<ABT_key>(key);
    return key == nullptr ? ABT_ERR_MEM : ABT_SUCCESS;
}

int ABT_key_free(ABT_key* key) {
    if (is_null_at(key)) return ABT_ERR_INV_KEY;
    delete to_key(*key);
    *key = ABT_KEY_NULL;
    return ABT_SUCCESS;
}

int ABT_self_set_specific(ABT_key key, void* value) { return set_mine(key, value, ABT_ERR_INV_XSTREAM); }
int ABT_self_get_specific(ABT_key key, void** value) { return get_mine(key, value, ABT_ERR_INV_XSTREAM); }
int ABT_key_set(ABT_key key, void* value) { return set_mine(key, value, ABT_ERR_UNINITIALIZED); }
int ABT_key_get(ABT_key key, void** value) { return get_mine(key, value, ABT_ERR_UNINITIALIZED); }

int ABT_thread_set_specific(ABT_thread thread, ABT_key key, void* value) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    if (is_null(key)) return ABT_ERR_INV_KEY;
    return set(to_unit(thread), key, value);
}

int ABT_thread_get_specific(ABT_thread thread, ABT_key key, void** value) {
    if (is_null(thread)) return ABT_ERR_INV_THREAD;
    if (is_null(key)) return ABT_ERR_INV_KEY;
    *value = value_in(record_of(to_unit(thread)), key);
    return ABT_SUCCESS;
}

}   // extern "C"
