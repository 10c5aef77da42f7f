// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "key_table.hpp"

#include <cstdlib>
#include <mutex>
#include <new>

namespace weft::argobots {

std::size_t KeyTable::first_room = 4;

KeyTable::Entry* KeyTable::Table::at(std::uint64_t id) {
    for (std::size_t at = id;; ++at) {
        Entry& entry = entries()[at & mask];
        const std::uint64_t there = entry.id.load(std::memory_order_relaxed);   // relaxed: under the lock
        if (there == id || there == 0) return &entry;
    }
}

bool KeyTable::grow() {
    Table* const before = table_.load(std::memory_order_relaxed);   // relaxed: under the lock
    const std::size_t room = before == nullptr ? 2 * first_room : 2 * (before->mask + 1);
    void* memory = std::malloc(sizeof(Table) + room * sizeof(Entry));
    if (memory == nullptr) return false;
    auto* table = new (memory) Table{before, room - 1};
    for (std::size_t i = 0; i < room; ++i) new (table->entries() + i) Entry;
    if (before != nullptr) {
        for (std::size_t i = 0; i <= before->mask; ++i) {
            const Entry& old = before->entries()[i];
            // relaxed, as what follows: under the lock
            const std::uint64_t id = old.id.load(std::memory_order_relaxed);
            if (id == 0) continue;
            Entry& entry = *table->at(id);
            entry.value.store(old.value.load(std::memory_order_relaxed), std::memory_order_relaxed);
            entry.destructor = old.destructor;
            entry.id.store(id, std::memory_order_relaxed);
        }
        table->used = before->used;
    }
    table_.store(table, std::memory_order_release);   // release: pairs with get()
    return true;
}

bool KeyTable::set(const Key& key, void* value) {
    std::lock_guard guard(lock_);
    Table* table = table_.load(std::memory_order_relaxed);   // relaxed: under the lock
    Entry* entry = table == nullptr ? nullptr : table->at(key.id);
    if (entry == nullptr || entry->id.load(std::memory_order_relaxed) == 0) {   // relaxed: under the lock
        if (value == nullptr) return true;
        if (table == nullptr || 2 * (table->used + 1) > table->mask + 1) {
            if (!grow()) return false;
            table = table_.load(std::memory_order_relaxed);   // relaxed: under the lock
            entry = table->at(key.id);
        }
        entry->destructor = key.destructor;
        ++table->used;
    }
    entry->value.store(value, std::memory_order_release);   // release, both: pair with get()
    entry->id.store(key.id, std::memory_order_release);
    return true;
}

void KeyTable::destroy_values() {
    Table* table = table_.load(std::memory_order_acquire);   // acquire: pairs with set()
    if (table == nullptr) return;
    for (std::size_t i = 0; i <= table->mask; ++i) {
        Entry& entry = table->entries()[i];
        if (entry.id.load(std::memory_order_acquire) == 0) continue;              // acquire: pairs with set()
        void* value = entry.value.exchange(nullptr, std::memory_order_acq_rel);   // acq_rel: with set(), both ways
        if (value != nullptr && entry.destructor != nullptr) entry.destructor(value);
    }
}

KeyTable::~KeyTable() {
    destroy_values();
    for (Table* table = table_.load(std::memory_order_relaxed); table != nullptr;) {   // relaxed: not shared any more
        Table* const smaller = table->smaller;
        std::free(table);
        table = smaller;
    }
}

}   // namespace weft::argobots
