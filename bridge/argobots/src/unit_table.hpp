// What is known of some units, for a while, without a place in the unit: a hash table in shards, so that streams seldom meet.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "common.hpp"
#include "lock.hpp"

namespace weft::argobots {

template <class Value>
class UnitTable {
public:
    // The unit is not in it. False: no memory.
    bool put(const weft_unit* unit, const Value& value) { return shard(unit).put(unit, value); }
    // It is not in it any more. False: it was not.
    bool take(const weft_unit* unit, Value& value) { return shard(unit).take(unit, value); }
    void clear() {
        for (Shard& each : shards_) each.clear();
    }

private:
    // Open addressing with linear probing, at most half full. What is taken leaves no trace: those behind it move up.
    class alignas(64) Shard {
    public:
        bool put(const weft_unit* unit, const Value& value) {
            const std::lock_guard guard(lock_);
            if (2 * (used_ + 1) > room_ && !grow()) return false;
            place(unit, value);
            ++used_;
            return true;
        }

        bool take(const weft_unit* unit, Value& value) {
            const std::lock_guard guard(lock_);
            if (used_ == 0) return false;
            std::size_t at = hash(unit) & mask();
            for (; entries_[at].unit != unit; at = (at + 1) & mask()) {
                if (entries_[at].unit == nullptr) return false;
            }
            value = entries_[at].value;
            close(at);
            --used_;
            return true;
        }

        void clear() {
            const std::lock_guard guard(lock_);
            std::free(entries_);
            entries_ = nullptr;
            room_ = used_ = 0;
        }

    private:
        struct Entry {
            const weft_unit* unit;   // null: the place is free
            Value value;
        };

        std::size_t mask() const { return room_ - 1; }

        void place(const weft_unit* unit, const Value& value) {
            std::size_t at = hash(unit) & mask();
            while (entries_[at].unit != nullptr) at = (at + 1) & mask();
            entries_[at].unit = unit;
            entries_[at].value = value;
        }

        // Each of those behind the free place moves up, unless its home lies behind that.
        void close(std::size_t at) {
            for (std::size_t next = (at + 1) & mask(); entries_[next].unit != nullptr; next = (next + 1) & mask()) {
                const std::size_t home = hash(entries_[next].unit) & mask();
                if (((next - home) & mask()) < ((next - at) & mask())) continue;
                entries_[at] = entries_[next];
                at = next;
            }
            entries_[at].unit = nullptr;
        }

        bool grow() {
            const std::size_t had = room_, more = room_ == 0 ? 16 : 2 * room_;
            auto* entries = static_cast<Entry*>(std::calloc(more, sizeof(Entry)));
            if (entries == nullptr) return false;
            Entry* const before = std::exchange(entries_, entries);
            room_ = more;
            for (std::size_t i = 0; i < had; ++i) {
                if (before[i].unit != nullptr) place(before[i].unit, before[i].value);
            }
            std::free(before);
            return true;
        }

        Lock lock_;                    // guards what follows
        Entry* entries_ = nullptr;
        std::size_t room_ = 0, used_ = 0;
    };

    static constexpr std::size_t shards = 64;   // as many as streams may use at once

    // The golden ratio's bits: neighbours lie apart.
    static std::size_t hash(const weft_unit* unit) { return reinterpret_cast<std::uintptr_t>(unit) * 0x9e3779b97f4a7c15u >> 20; }

    Shard& shard(const weft_unit* unit) { return shards_[hash(unit) >> 32 & (shards - 1)]; }

    Shard shards_[shards];
};

}  // namespace weft::argobots
