// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The values of one work unit under keys. Readers take no lock; a table that has become too small
// is kept for readers that still use it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lock.hpp"

namespace weft::argobots {

struct Key {
    std::uint64_t id;   // from 1 on, never reused
    void (*destructor)(void* value);
};

class KeyTable {
public:
    KeyTable() = default;
    KeyTable(const KeyTable&) = delete;
    ~KeyTable();   // destroys the values first

    void* get(const Key& key) const {
        // acquire: pairs with set(), which publishes tables, and publishes entries by their ids.
        const Table* table = table_.load(std::memory_order_acquire);
        if (table == nullptr) return nullptr;
        for (std::size_t at = key.id;; ++at) {
            const Entry& entry = table->entries()[at & table->mask];
            const std::uint64_t id = entry.id.load(std::memory_order_acquire);
            if (id == key.id) return entry.value.load(std::memory_order_acquire);
            if (id == 0) return nullptr;
        }
    }

    // Whether get() finds the value at its first probe, as it nearly always does.
    [[gnu::always_inline]] bool get_at_once(const Key& key, void** value) const {
        const Table* table = table_.load(std::memory_order_acquire);   // acquire, all three: pairs with set()
        if (table == nullptr) [[unlikely]]
            return false;
        const std::uint64_t id = key.id;
        const Entry& entry = table->entries()[id & table->mask];
        if (entry.id.load(std::memory_order_acquire) != id) [[unlikely]]
            return false;
        *value = entry.value.load(std::memory_order_acquire);
        return true;
    }

    bool set(const Key& key, void* value);   // false: no memory
    // relaxed: called when no other thread can reach the unit
    bool unused() const { return table_.load(std::memory_order_relaxed) == nullptr; }

    void destroy_values();

    static std::size_t first_room;   // a power of two: ABT_KEY_TABLE_SIZE

private:
    struct Entry {
        std::atomic<std::uint64_t> id{0};   // 0: free
        std::atomic<void*> value{nullptr};
        void (*destructor)(void*) = nullptr;
        void* gap = nullptr;   // makes the size a power of two, so that an index is a shift
    };
    struct Table {
        Table* smaller;   // the previous table
        std::size_t mask;
        std::size_t used = 0;

        Entry* entries() { return reinterpret_cast<Entry*>(this + 1); }
        const Entry* entries() const { return reinterpret_cast<const Entry*>(this + 1); }
        Entry* at(std::uint64_t id);   // the entry of this id, or the place for it
    };
    bool grow();

    Lock lock_;   // taken by writers
    std::atomic<Table*> table_{nullptr};
};

}   // namespace weft::argobots
