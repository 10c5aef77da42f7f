// The values that one work unit has under keys. Anybody reads without a lock; tables that have
// grown too small stay for those who read them yet.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lock.hpp"

namespace weft::argobots {

struct Key {
    std::uint64_t id;   // from 1 on, and of no other key ever
    void (*destructor)(void* value);
};

class KeyTable {
public:
    KeyTable() = default;
    KeyTable(const KeyTable&) = delete;
    ~KeyTable();   // destroys the values first

    void* get(const Key& key) const {
        // acquire: pairs with set(), which publishes tables, and entries by their ids.
        const Table* table = table_.load(std::memory_order_acquire);
        if (table == nullptr) return nullptr;
        for (std::size_t at = key.id;; ++at) {
            const Entry& entry = table->entries()[at & table->mask];
            const std::uint64_t id = entry.id.load(std::memory_order_acquire);
            if (id == key.id) return entry.value.load(std::memory_order_acquire);
            if (id == 0) return nullptr;
        }
    }

    // Whether get() finds it at its first look, as it nearly always does.
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
    // relaxed: asked when nobody else knows the unit
    bool unused() const { return table_.load(std::memory_order_relaxed) == nullptr; }

    void destroy_values();

    static std::size_t first_room;   // a power of two: ABT_KEY_TABLE_SIZE

private:
    struct Entry {
        std::atomic<std::uint64_t> id{0};   // 0: free
        std::atomic<void*> value{nullptr};
        void (*destructor)(void*) = nullptr;
        void* gap = nullptr;   // a power of two is found by a shift
    };
    struct Table {
        Table* smaller;   // the one before
        std::size_t mask;
        std::size_t used = 0;

        Entry* entries() { return reinterpret_cast<Entry*>(this + 1); }
        const Entry* entries() const { return reinterpret_cast<const Entry*>(this + 1); }
        Entry* at(std::uint64_t id);   // where it is, or would be
    };
    bool grow();

    Lock lock_;   // of those who set
    std::atomic<Table*> table_{nullptr};
};

}   // namespace weft::argobots
