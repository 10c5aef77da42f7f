// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mem/slab.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>
#include <utility>

#include "base/sanitizer.hpp"
#include "os/memory.hpp"

namespace weft::mem {

namespace {

constexpr std::uint32_t away_batch = 32;    // one atomic operation for that many objects that go home
constexpr std::size_t carve_bytes = 4096;   // fresh objects are linked a page at a time

SlabLink& link_of(void* object) { return *static_cast<SlabLink*>(object); }

void unmap(const SlabRegion& region) {
    sanitizer::end_root(region.base, region_bytes);
    os::unmap(region.base, region_bytes);
}

void list_push(SlabRegion*& list, SlabRegion* region) {
    region->previous = nullptr;
    region->next = list;
    if (list != nullptr) list->previous = region;
    list = region;
}

void list_remove(SlabRegion*& list, SlabRegion* region) {
    (region->previous != nullptr ? region->previous->next : list) = region->next;
    if (region->next != nullptr) region->next->previous = region->previous;
}

}   // namespace

// ---- the cache ----------------------------------------------------------------------------------

void* SlabCache::take_slow() noexcept {
    check();
    reveal();
    if (free_ == nullptr) collect();
    if (free_ == nullptr) carve();
    void* object = free_;
    if (object != nullptr) free_ = link_of(object);
    return object;
}

void SlabCache::trip_next(void (*call)()) noexcept {
    reveal();
    hidden_ = std::exchange(free_, nullptr);
    tripped_ = call;
}

void SlabCache::reveal() noexcept {
    if (tripped_ == nullptr) return;
    SlabLink* end = &free_;
    while (*end != nullptr) end = &link_of(*end);   // the objects that were given meanwhile
    *end = std::exchange(hidden_, nullptr);
    std::exchange(tripped_, nullptr)();
}

// Takes over what other caches sent home; only when there is nothing else, so that the chain needs
// no walk.
void SlabCache::collect() noexcept {
    WEFT_ASSERT(free_ == nullptr);
    // acquire: pairs with the release in accept(); without it the links might not be visible yet.
    free_ = returned_.exchange(nullptr, std::memory_order_acquire);
}

void SlabCache::carve() noexcept {
    if (carving_ == nullptr) {
        Slab* slab = store_.open_slab(this);
        if (slab == nullptr) return;
        slab->next = slabs_;
        slabs_ = carving_ = slab;
    }
    const std::size_t bytes = store_.object_bytes();
    const auto all = static_cast<std::uint32_t>(store_.objects_per_slab());
    // relaxed: the owner is the only writer, and each() learns from it only how far it may read.
    const std::uint32_t before = carving_->carved.load(std::memory_order_relaxed);
    const std::uint32_t count = std::min(all - before, static_cast<std::uint32_t>(carve_bytes / bytes));
    auto* first = reinterpret_cast<char*>(carving_) + (store_.reserved_ + before) * bytes;
    for (std::uint32_t i = count; i-- > 0;) {
        link_of(first + i * bytes) = free_;
        free_ = first + i * bytes;
    }
    carving_->carved.store(before + count, std::memory_order_relaxed);
    if (before + count == all) carving_ = nullptr;
}

void SlabCache::give_away(void* object) noexcept {
    check();
    SlabCache* owner = slab_of(object)->owner;
    if (owner != away_owner_) {
        flush();
        away_owner_ = owner;
    }
    link_of(object) = away_first_;
    if (away_first_ == nullptr) away_last_ = object;
    away_first_ = object;
    if (++away_count_ == away_batch) flush();
}

void SlabCache::flush() noexcept {
    if (away_count_ == 0) return;
    away_owner_->accept(away_first_, away_last_);
    away_first_ = away_last_ = nullptr;
    away_count_ = 0;
}

// Called by other threads: puts the chain from `first` to `last` before the present one. Takers
// take all at once, so a head that went and came back is harmless.
void SlabCache::accept(void* first, void* last) noexcept {
    void* head = returned_.load(std::memory_order_relaxed);   // relaxed: a guess, which the exchange in the loop checks
    do {
        link_of(last) = head;
        // release: pairs with the acquire in collect(), which follows the links and hands the
        // objects out again.
    } while (!returned_.compare_exchange_weak(head, first, std::memory_order_release, std::memory_order_relaxed));
}

std::size_t SlabCache::idle_bytes() const noexcept {
    std::size_t count = 0;
    for (void* object = hidden_; object != nullptr; object = link_of(object)) ++count;
    for (void* object = free_; object != nullptr; object = link_of(object)) ++count;
    return count * store_.object_bytes();
}

// Marks the slabs that trim() is to return: all their objects are in the free list. Returns their
// number.
std::uint32_t SlabCache::choose_leaving(std::size_t keep_bytes) noexcept {
    for (Slab* slab = slabs_; slab != nullptr; slab = slab->next) {
        slab->idle = 0;
        slab->leaving = false;
    }
    std::size_t idle = 0;
    for (void* object = free_; object != nullptr; object = link_of(object)) {
        ++slab_of(object)->idle;
        idle += store_.object_bytes();
    }
    std::uint32_t chosen = 0;
    for (Slab* slab = slabs_; slab != nullptr && idle > keep_bytes; slab = slab->next) {
        if (slab->idle != slab->carved.load(std::memory_order_relaxed)) continue;   // relaxed: only the owner writes
        slab->leaving = true;
        idle -= slab->idle * store_.object_bytes();
        ++chosen;
    }
    return chosen;
}

std::size_t SlabCache::trim(std::size_t keep_bytes) noexcept {
    reveal();
    void* mine = free_;
    free_ = nullptr;
    collect();
    if (mine != nullptr) {   // goes behind what has just come home
        SlabLink* end = &free_;
        while (*end != nullptr) end = &link_of(*end);
        *end = mine;
    }
    const std::uint32_t chosen = choose_leaving(keep_bytes);
    if (chosen == 0) return 0;
    SlabLink* end = &free_;
    for (void* object = free_; object != nullptr; object = link_of(object)) {
        if (slab_of(object)->leaving) continue;
        *end = object;
        end = &link_of(object);
    }
    *end = nullptr;
    Slab* leaving = nullptr;
    for (Slab** at = &slabs_; *at != nullptr;) {
        Slab* slab = *at;
        if (!slab->leaving) {
            at = &slab->next;
            continue;
        }
        *at = slab->next;
        slab->next = leaving;
        leaving = slab;
        if (slab == carving_) carving_ = nullptr;
    }
    store_.close_slabs(leaving);
    return chosen * slab_bytes;
}

// ---- the store ----------------------------------------------------------------------------------

namespace {

std::size_t reserved(std::size_t object_bytes, bool annexed) {
    const std::size_t bytes = sizeof(Slab) + (annexed ? slab_bytes / object_bytes * sizeof(void*) : 0);
    return (bytes + object_bytes - 1) / object_bytes;
}

}   // namespace

SlabStore::SlabStore(std::size_t object_bytes, bool huge, bool annexed) noexcept
    : object_bytes_(object_bytes), reserved_(reserved(object_bytes, annexed)), huge_(huge) {
    WEFT_ASSERT(object_bytes > 0 && object_bytes % config::cache_line == 0 && object_bytes <= carve_bytes);
}

SlabStore::~SlabStore() {
    while (SlabCache* cache = caches_) {
        caches_ = cache->next_;
        os::destroy(cache);
    }
    for (SlabRegion* list : {open_, full_}) {
        while (SlabRegion* region = list) {
            list = region->next;
            unmap(*region);
            os::destroy(region);
        }
    }
}

SlabCache* SlabStore::adopt() noexcept {
    std::lock_guard hold(lock_);
    SlabCache* cache = orphans_;
    if (cache != nullptr) {
        orphans_ = cache->next_orphan_;
        return cache;
    }
    cache = os::make<SlabCache>(*this);
    if (cache == nullptr) return nullptr;
    cache->next_ = caches_;
    caches_ = cache;
    return cache;
}

void SlabStore::orphan(SlabCache* cache) noexcept {
    cache->flush();
    cache->trim(0);
    std::lock_guard hold(lock_);
    cache->next_orphan_ = orphans_;
    orphans_ = cache;
}

std::size_t SlabStore::trim_orphans() noexcept {
    SlabCache* taken = nullptr;
    {
        std::lock_guard hold(lock_);
        taken = orphans_;
        orphans_ = nullptr;
    }
    std::size_t bytes = 0;
    while (SlabCache* cache = taken) {   // in this thread's hands alone now; trim() takes the lock itself
        taken = cache->next_orphan_;
        bytes += cache->trim(0);
        std::lock_guard hold(lock_);
        cache->next_orphan_ = orphans_;
        orphans_ = cache;
    }
    return bytes;
}

void SlabStore::each(void (*visit)(void* object, void* argument), void* argument) {
    std::lock_guard hold(lock_);
    each_of(open_, visit, argument);
    each_of(full_, visit, argument);
}

void SlabStore::each_of(SlabRegion* list, void (*visit)(void*, void*), void* argument) {
    for (SlabRegion* region = list; region != nullptr; region = region->next) {
        for (std::uint32_t used = region->used; used != 0; used &= used - 1) {
            auto* start = region->base + static_cast<std::size_t>(std::countr_zero(used)) * slab_bytes;
            // relaxed: an object that is being carved just now may be missed; no code has seen it
            // yet.
            const std::uint32_t carved = reinterpret_cast<Slab*>(start)->carved.load(std::memory_order_relaxed);
            for (std::uint32_t i = 0; i < carved; ++i) visit(start + (reserved_ + i) * object_bytes_, argument);
        }
    }
}

std::size_t SlabStore::slabs() const {
    std::lock_guard hold(lock_);
    return slabs_;
}

SlabRegion* SlabStore::open_region() noexcept {
    auto* base = static_cast<char*>(os::map(region_bytes, region_bytes));
    if (base == nullptr) return nullptr;
    auto* region = os::make<SlabRegion>(base);
    if (region == nullptr) {
        os::unmap(base, region_bytes);
        return nullptr;
    }
    // units lie there, and memory that only they refer to must not be reported as leaked when the
    // process ends while they exist
    sanitizer::begin_root(base, region_bytes);
    if (regions_ == 0) {
        os::advise_huge(base, region_bytes, false);   // also where the system makes all memory huge by default
    } else if (huge_) {
        os::advise_huge(base, region_bytes, true);
    }
    ++regions_;
    list_push(open_, region);
    return region;
}

Slab* SlabStore::open_slab(SlabCache* owner) noexcept {
    std::lock_guard hold(lock_);
    check();
    SlabRegion* region = open_ != nullptr ? open_ : open_region();
    if (region == nullptr) return nullptr;
    const int slot = std::countr_one(region->used);
    region->used |= 1u << slot;
    if (region->used == SlabRegion::all) {
        list_remove(open_, region);
        list_push(full_, region);
    }
    ++slabs_;
    char* const place = region->base + static_cast<std::size_t>(slot) * slab_bytes;
    // a page fault for each page would take twice as long, and as long as filling many descriptors
    os::populate(place, slab_bytes);
    auto* slab = new (place) Slab{};
    slab->owner = owner;
    slab->region = region;
    return slab;
}

void SlabStore::close_slabs(Slab* list) noexcept {
    std::lock_guard hold(lock_);
    check();
    while (Slab* slab = list) {
        list = slab->next;
        close_slab(slab);
    }
}

// The last region with room stays mapped when it empties, without its pages: a program whose use
// varies by one slab must not map and unmap each time.
void SlabStore::close_slab(Slab* slab) noexcept {
    SlabRegion* region = slab->region;
    const auto slot = static_cast<std::size_t>(reinterpret_cast<char*>(slab) - region->base) / slab_bytes;
    if (region->used == SlabRegion::all) {
        list_remove(full_, region);
        list_push(open_, region);
    }
    region->used &= ~(1u << slot);
    --slabs_;
    if (region->used != 0) {
        os::discard(slab, slab_bytes);
        return;
    }
    if (region->next == nullptr && region->previous == nullptr) {
        os::discard(region->base, region_bytes);   // the whole region: a huge page arrived whole, with its first slab
        return;
    }
    list_remove(open_, region);
    --regions_;
    unmap(*region);
    os::destroy(region);
}

}   // namespace weft::mem
