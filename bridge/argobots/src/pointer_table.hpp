// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A map from pointers to values: a hash table in shards, so that streams seldom contend. The cost
// of a call does not depend on the number of entries.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "lock.hpp"

namespace weft::argobots {

template <class Value>
class PointerTable {
public:
    // Adds a pointer, which is not null and not yet in the table. False: no memory.
    bool put(const void* key, const Value& value) { return shard(key).put(key, value); }
    bool find(const void* key, Value& value) {
        return shard(key).with(key, [&value](const Value& found) { value = found; });
    }
    // Removes a pointer. False: it was not in the table.
    bool take(const void* key, Value& value) {
        return shard(key).take_if(key, [&value](const Value& found) {
            value = found;
            return true;
        });
    }

    // For exclusive reading or changing of a value: `look`, `replace` and `goes` are called under
    // the table's lock.
    template <class Look>
    bool with(const void* key, Look look) {
        return shard(key).with(key, look);
    }
    template <class Replace>
    bool put_or_replace(const void* key, const Value& value, Replace replace) {
        return shard(key).put_or_replace(key, value, replace);
    }
    template <class Goes>
    bool take_if(const void* key, Goes goes) {
        return shard(key).take_if(key, goes);
    }

    void clear() {
        clear([](const Value&) {});
    }
    template <class Look>
    void clear(Look look) {
        for (Shard& each : shards_) each.clear(look);
    }

private:
    // Open addressing with linear probing, at most half full. A removed entry leaves no tombstone:
    // the entries behind it move up.
    class alignas(64) Shard {
    public:
        bool put(const void* key, const Value& value) {
            const std::lock_guard guard(lock_);
            return put_new(key, value);
        }

        template <class Replace>
        bool put_or_replace(const void* key, const Value& value, Replace replace) {
            const std::lock_guard guard(lock_);
            std::size_t at = 0;
            if (!look_up(key, at)) return put_new(key, value);
            replace(entries_[at].value);
            entries_[at].value = value;
            return true;
        }

        template <class Goes>
        bool take_if(const void* key, Goes goes) {
            const std::lock_guard guard(lock_);
            std::size_t at = 0;
            if (!look_up(key, at) || !goes(entries_[at].value)) return false;
            close(at);
            --used_;
            return true;
        }

        template <class Look>
        bool with(const void* key, Look look) {
            const std::lock_guard guard(lock_);
            std::size_t at = 0;
            if (!look_up(key, at)) return false;
            look(entries_[at].value);
            return true;
        }

        template <class Look>
        void clear(Look look) {
            const std::lock_guard guard(lock_);
            for (std::size_t i = 0; i < room_; ++i) {
                if (entries_[i].key != nullptr) look(entries_[i].value);
            }
            std::free(entries_);
            entries_ = nullptr;
            room_ = used_ = 0;
        }

    private:
        struct Entry {
            const void* key;   // null: the slot is free
            Value value;
        };

        std::size_t mask() const { return room_ - 1; }

        bool look_up(const void* key, std::size_t& at) const {
            if (used_ == 0) return false;
            for (at = hash(key) & mask(); entries_[at].key != key; at = (at + 1) & mask()) {
                if (entries_[at].key == nullptr) return false;
            }
            return true;
        }

        bool put_new(const void* key, const Value& value) {
            if (2 * (used_ + 1) > room_ && !grow()) return false;
            place(key, value);
            ++used_;
            return true;
        }

        void place(const void* key, const Value& value) {
            std::size_t at = hash(key) & mask();
            while (entries_[at].key != nullptr) at = (at + 1) & mask();
            entries_[at].key = key;
            entries_[at].value = value;
        }

        // Each entry behind the free slot moves up, unless its home slot lies behind the free one.
        void close(std::size_t at) {
            for (std::size_t next = (at + 1) & mask(); entries_[next].key != nullptr; next = (next + 1) & mask()) {
                const std::size_t home = hash(entries_[next].key) & mask();
                if (((next - home) & mask()) < ((next - at) & mask())) continue;
                entries_[at] = entries_[next];
                at = next;
            }
            entries_[at].key = nullptr;
        }

        bool grow() {
            const std::size_t had = room_, more = room_ == 0 ? 16 : 2 * room_;
            auto* entries = static_cast<Entry*>(std::calloc(more, sizeof(Entry)));
            if (entries == nullptr) return false;
            Entry* const before = std::exchange(entries_, entries);
            room_ = more;
            for (std::size_t i = 0; i < had; ++i) {
                if (before[i].key != nullptr) place(before[i].key, before[i].value);
            }
            std::free(before);
            return true;
        }

        Lock lock_;   // guards what follows
        Entry* entries_ = nullptr;
        std::size_t room_ = 0, used_ = 0;
    };

    static constexpr std::size_t shards = 64;   // the number of streams that can use the table at once

    // Multiplies by the golden ratio's bits: neighbouring pointers get distant slots.
    static std::size_t hash(const void* key) {
        return reinterpret_cast<std::uintptr_t>(key) * 0x9e3779b97f4a7c15u >> 20;
    }

    Shard& shard(const void* key) { return shards_[hash(key) >> 32 & (shards - 1)]; }

    Shard shards_[shards];
};

}   // namespace weft::argobots
