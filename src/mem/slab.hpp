// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slabs: objects of one size (the units' descriptors) from 64 KiB blocks, each owned by one cache.
//
// A stream takes from and gives to its own cache without atomics. An object that is freed elsewhere
// returns to the cache that owns its slab, in batches, so memory does not wander. Free objects are
// linked through their first 8 bytes; the rest of a free object stays as it was (a generation, a
// state) until its slab is returned to the system, after which it is zero.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/config.hpp"
#include "os/lock.hpp"

namespace weft::mem {

class SlabCache;
class SlabStore;
struct SlabRegion;

inline constexpr std::size_t slab_bytes = 64 << 10;
inline constexpr std::size_t region_bytes = 2 << 20;

// The first bytes of a free object. May alias any type that the object has while it is in use.
using SlabLink [[gnu::may_alias]] = void*;

// The header at the start of a slab.
struct alignas(config::cache_line) Slab {
    SlabCache* owner;   // fixed while the slab is out of the store
    Slab* next;         // the owner's slabs
    SlabRegion* region;
    atomic<std::uint32_t> carved;   // objects that were ever handed out; written by the owner
    std::uint32_t idle;             // trim() counts here
    bool leaving;                   // trim() has chosen it
};

// 2 MiB, aligned to 2 MiB, so that it can be one huge page.
struct SlabRegion {
    static constexpr std::uint32_t slots = region_bytes / slab_bytes;
    static constexpr std::uint32_t all = 0xffffffffu;
    static_assert(slots == 32);

    char* base;
    std::uint32_t used = 0;   // a bit for each slab that is out
    SlabRegion* next = nullptr;
    SlabRegion* previous = nullptr;
};

inline Slab* slab_of(void* object) noexcept {
    return reinterpret_cast<Slab*>(reinterpret_cast<std::uintptr_t>(object) & ~(slab_bytes - 1));
}

// A word for each object of an annexed store, in the object's slab but not in the object: null
// until it is written, and null again when the object is given back. For data that few objects
// have.
inline atomic<void*>& annex_of(void* object, std::size_t object_bytes) noexcept {
    Slab* slab = slab_of(object);
    const auto offset = static_cast<std::size_t>(static_cast<char*>(object) - reinterpret_cast<char*>(slab));
    return reinterpret_cast<atomic<void*>*>(slab + 1)[offset / object_bytes];
}

// One per stream. Used by one thread at a time; only the splice by other caches is concurrent.
class alignas(config::cache_line) SlabCache {
public:
    // An object, zero-filled or as it was when it was last freed, its first 8 bytes undefined;
    // null: no memory.
    [[gnu::always_inline]] void* take() noexcept {
        void* object = free_;
        if (object == nullptr) [[unlikely]]
            return take_slow();
        free_ = *static_cast<SlabLink*>(object);
        return object;
    }

    // Like take(), but null also when only the slow path would find one.
    [[gnu::always_inline]] void* try_take() noexcept {
        void* object = free_;
        if (object != nullptr) [[likely]]
            free_ = *static_cast<SlabLink*>(object);
        return object;
    }

    // An object of any cache of this store.
    [[gnu::always_inline]] void give(void* object) noexcept {
        check(object);
        if (slab_of(object)->owner != this) [[unlikely]]
            return give_away(object);
        *static_cast<SlabLink*>(object) = free_;
        free_ = object;
    }

    // Makes the next take go through the slow path, which first calls `call`; unless an object has
    // been given meanwhile.
    void trip_next(void (*call)()) noexcept;

    // Sends objects home that were given here and belong to other caches. Call it before idling.
    void flush() noexcept;

    // While more than `keep_bytes` are idle, returns whole free slabs to the system. Returns how
    // many bytes were returned. Takes time proportional to the number of free objects.
    std::size_t trim(std::size_t keep_bytes) noexcept;

    // The bytes of free objects here, without those that other caches have sent home since. Counts
    // them one by one.
    std::size_t idle_bytes() const noexcept;

    // While no thread runs (check.cpp has it, and the store's).
    void check_whole() const;

    // Only for os::make; see SlabStore::adopt.
    explicit SlabCache(SlabStore& store) noexcept : store_(store) {}
    SlabCache(const SlabCache&) = delete;

private:
    friend class SlabStore;

    // For an object that is given back: it must begin where an object of a slab in use begins.
    // Defined after the store.
    void check(void* object) const noexcept;
    // On entry to the slow paths.
    void check() const noexcept {
        WEFT_ASSERT((away_count_ == 0) == (away_first_ == nullptr) && (away_count_ == 0 || away_owner_ != this));
        WEFT_ASSERT(hidden_ == nullptr || tripped_ != nullptr);
        WEFT_ASSERT(carving_ == nullptr || carving_->owner == this);
    }
    [[gnu::noinline]] void* take_slow() noexcept;
    void reveal() noexcept;
    [[gnu::noinline]] void give_away(void* object) noexcept;
    void carve() noexcept;
    void collect() noexcept;
    std::uint32_t choose_leaving(std::size_t keep_bytes) noexcept;
    void accept(void* first, void* last) noexcept;

    void* free_ = nullptr;
    SlabStore& store_;
    Slab* slabs_ = nullptr;     // all that this cache owns
    Slab* carving_ = nullptr;   // the one that still has objects never handed out; the head of slabs_ or null
    // Free objects that are hidden until take_slow().
    void* hidden_ = nullptr;
    void (*tripped_)() = nullptr;
    // Objects of one other cache, on their way home.
    SlabCache* away_owner_ = nullptr;
    void* away_first_ = nullptr;
    void* away_last_ = nullptr;
    std::uint32_t away_count_ = 0;
    SlabCache* next_ = nullptr;          // linked by the store: all caches
    SlabCache* next_orphan_ = nullptr;   // linked by the store: those without a stream

    // Objects that other caches sent home: on a line of its own, since others write it.
    alignas(config::cache_line) atomic<void*> returned_{nullptr};
};

// The process-wide source of slabs for one size of object. Thread-safe.
class SlabStore {
public:
    // `object_bytes`: a multiple of 64, at most 4096. `huge`: regions after the first are advised
    // to be huge pages (the first is not: a program with few units must not pay 2 MiB for them).
    // `annexed`: see annex_of().
    explicit SlabStore(std::size_t object_bytes, bool huge = true, bool annexed = false) noexcept;
    // Unmaps all memory, used or not. No cache of this store may be used any more.
    ~SlabStore();
    SlabStore(const SlabStore&) = delete;

    // A cache for a new stream: one that lost its stream, with all that it owns, or a new one;
    // null: no memory.
    SlabCache* adopt() noexcept;
    // The stream of `cache` ends. Its objects that others still hold come home to it nevertheless.
    void orphan(SlabCache* cache) noexcept;

    // Calls visit(object, argument) for every object that was ever handed out, free or not: its own
    // bytes must say what it is. No slab is opened or closed meanwhile; visit must not take, give
    // or trim here.
    void each(void (*visit)(void* object, void* argument), void* argument);

    // Trims the caches that have no stream. Returns the bytes returned to the system.
    std::size_t trim_orphans() noexcept;

    // While no thread runs: the regions, the slabs in use, and the caches.
    void check_whole() const;

    std::size_t slabs() const;                                            // in use by caches
    std::size_t resident_bytes() const { return slabs() * slab_bytes; }   // their size when all is touched
    std::size_t object_bytes() const { return object_bytes_; }
    std::size_t objects_per_slab() const { return slab_bytes / object_bytes_ - reserved_; }

private:
    friend class SlabCache;

    Slab* open_slab(SlabCache* owner) noexcept;
    void close_slabs(Slab* list) noexcept;
    SlabRegion* open_region() noexcept;
    void close_slab(Slab* slab) noexcept;
    // On entry, under the lock.
    void check() const {
        WEFT_ASSERT(slabs_ <= regions_ * SlabRegion::slots);
        WEFT_ASSERT(open_ == nullptr || (open_->previous == nullptr && open_->used != SlabRegion::all));
        WEFT_ASSERT(full_ == nullptr || (full_->previous == nullptr && full_->used == SlabRegion::all));
    }
    void each_of(SlabRegion* list, void (*visit)(void*, void*), void* argument);

    const std::size_t object_bytes_;
    const std::size_t reserved_;   // objects whose place the header takes, together with the annex
    const bool huge_;
    mutable os::Lock lock_;        // everything below
    SlabRegion* open_ = nullptr;   // regions with room for a slab
    SlabRegion* full_ = nullptr;
    SlabCache* caches_ = nullptr;
    SlabCache* orphans_ = nullptr;
    std::size_t regions_ = 0;
    std::size_t slabs_ = 0;
};

inline void SlabCache::check([[maybe_unused]] void* object) const noexcept {
    if constexpr (config::checked) {
        const Slab* const slab = slab_of(object);
        const auto offset = static_cast<std::size_t>(static_cast<char*>(object) - reinterpret_cast<const char*>(slab));
        WEFT_ASSERT(offset % store_.object_bytes_ == 0 && offset / store_.object_bytes_ >= store_.reserved_);
        // The store is this one, or, in the child of a fork, the parent's store of the same
        // objects, which the child has left as it is.
        WEFT_ASSERT(slab->owner != nullptr && slab->owner->store_.object_bytes_ == store_.object_bytes_);
    }
}

}   // namespace weft::mem
