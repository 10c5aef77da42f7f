#include "unit_map.hpp"

#include <cstdint>
#include <cstdlib>
#include <mutex>

#include "lock.hpp"

namespace weft::argobots::unit_map {
namespace {

struct Entry {
    ABT_unit unit;        // null: the place is free
    ABT_thread thread;
};

// Open addressing with linear probing, at most half full. What is erased leaves no trace: those behind it move up.
class Shard {
public:
    bool insert(ABT_unit unit, ABT_thread thread, std::size_t hash) {
        std::lock_guard guard(lock_);
        if (2 * (used_ + 1) > room_ && !grow()) return false;
        place(unit, thread, hash);
        ++used_;
        return true;
    }

    void erase(ABT_unit unit, std::size_t hash) {
        std::lock_guard guard(lock_);
        if (room_ == 0) return;
        const std::size_t mask = room_ - 1;
        std::size_t at = hash & mask;
        while (entries_[at].unit != unit) {
            if (entries_[at].unit == nullptr) return;
            at = (at + 1) & mask;
        }
        --used_;
        for (std::size_t next = (at + 1) & mask; entries_[next].unit != nullptr; next = (next + 1) & mask) {
            const std::size_t home = hash_of(entries_[next].unit) & mask;
            // It may move up to `at` unless its home lies behind that.
            if (((next - home) & mask) < ((next - at) & mask)) continue;
            entries_[at] = entries_[next];
            at = next;
        }
        entries_[at].unit = nullptr;
    }

    ABT_thread find(ABT_unit unit, std::size_t hash) {
        std::lock_guard guard(lock_);
        if (room_ == 0) return ABT_THREAD_NULL;
        const std::size_t mask = room_ - 1;
        for (std::size_t at = hash & mask; entries_[at].unit != nullptr; at = (at + 1) & mask) {
            if (entries_[at].unit == unit) return entries_[at].thread;
        }
        return ABT_THREAD_NULL;
    }

    void clear() {
        std::lock_guard guard(lock_);
        std::free(entries_);
        entries_ = nullptr;
        room_ = used_ = 0;
    }

    static std::size_t hash_of(ABT_unit unit) {
        return reinterpret_cast<std::uintptr_t>(unit) * 0x9e3779b97f4a7c15u >> 20;   // the golden ratio's bits: neighbours lie apart
    }

private:
    void place(ABT_unit unit, ABT_thread thread, std::size_t hash) {
        const std::size_t mask = room_ - 1;
        std::size_t at = hash & mask;
        while (entries_[at].unit != nullptr) at = (at + 1) & mask;
        entries_[at] = {unit, thread};
    }

    bool grow() {
        const std::size_t more = room_ == 0 ? 16 : 2 * room_;
        auto* entries = static_cast<Entry*>(std::calloc(more, sizeof(Entry)));
        if (entries == nullptr) return false;
        Entry* const before = entries_;
        const std::size_t had = room_;
        entries_ = entries;
        room_ = more;
        for (std::size_t i = 0; i < had; ++i) {
            if (before[i].unit != nullptr) place(before[i].unit, before[i].thread, hash_of(before[i].unit));
        }
        std::free(before);
        return true;
    }

    Lock lock_;                    // guards what follows
    Entry* entries_ = nullptr;
    std::size_t room_ = 0, used_ = 0;
};

// As many as streams may use at once, so that they seldom meet.
constexpr std::size_t shards = 64;
struct alignas(64) Padded : Shard {};
Padded table[shards];

Shard& shard_of(std::size_t hash) { return table[hash >> 32 & (shards - 1)]; }

}  // namespace

bool insert(ABT_unit unit, ABT_thread thread) {
    const std::size_t hash = Shard::hash_of(unit);
    return shard_of(hash).insert(unit, thread, hash);
}

void erase(ABT_unit unit) {
    const std::size_t hash = Shard::hash_of(unit);
    shard_of(hash).erase(unit, hash);
}

ABT_thread find(ABT_unit unit) {
    const std::size_t hash = Shard::hash_of(unit);
    return shard_of(hash).find(unit, hash);
}

void clear() {
    for (Padded& shard : table) shard.clear();
}

}  // namespace weft::argobots::unit_map
