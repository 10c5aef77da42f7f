// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Invariants of the memory stores and their caches while no thread runs: each list agrees with its
// count. In checked builds.
#include <bit>

#include "mem/slab.hpp"
#include "mem/stack.hpp"

namespace weft::mem {
namespace {

SlabLink next_free(void* object) { return *static_cast<SlabLink*>(object); }

}   // namespace

// ---- slabs --------------------------------------------------------------------------------------

void SlabCache::check_whole() const {
    check();
    std::size_t objects = 0, idle = 0, away = 0;
    bool carves = carving_ == nullptr;
    for (const Slab* slab = slabs_; slab != nullptr; slab = slab->next) {
        const std::uint32_t carved = slab->carved.load();
        WEFT_ASSERT(slab->owner == this && carved <= store_.objects_per_slab());
        WEFT_ASSERT(slab == carving_ || carved == store_.objects_per_slab());
        objects += carved;
        carves |= slab == carving_;
    }
    WEFT_ASSERT(carves);
    for (void* const list : {free_, hidden_, returned_.load()}) {
        for (void* object = list; object != nullptr && idle <= objects; object = next_free(object), ++idle) {
            check(object);
            WEFT_ASSERT(slab_of(object)->owner == this);
        }
    }
    WEFT_ASSERT(idle <= objects);
    for (void* object = away_first_; object != nullptr && away <= away_count_; object = next_free(object), ++away) {
        check(object);
        WEFT_ASSERT(slab_of(object)->owner == away_owner_);
    }
    WEFT_ASSERT(away == away_count_);
}

void SlabStore::check_whole() const {
    check();
    std::size_t regions = 0, out = 0, owned = 0;
    for (const SlabRegion* list : {open_, full_}) {
        const SlabRegion* before = nullptr;
        for (const SlabRegion* region = list; region != nullptr; before = region, region = region->next, ++regions) {
            WEFT_ASSERT(region->previous == before && (region->used == SlabRegion::all) == (list == full_));
            for (std::uint32_t used = region->used; used != 0; used &= used - 1, ++out) {
                const auto* slab = reinterpret_cast<const Slab*>(
                    region->base + static_cast<std::size_t>(std::countr_zero(used)) * slab_bytes);
                WEFT_ASSERT(slab->region == region && slab->owner != nullptr);
            }
        }
    }
    WEFT_ASSERT(regions == regions_ && out == slabs_);
    std::size_t caches = 0, orphans = 0;
    for (const SlabCache* cache = caches_; cache != nullptr; cache = cache->next_, ++caches) {
        cache->check_whole();
        for (const Slab* slab = cache->slabs_; slab != nullptr; slab = slab->next) ++owned;
    }
    WEFT_ASSERT(owned == slabs_);
    for (const SlabCache* cache = orphans_; cache != nullptr && orphans <= caches; cache = cache->next_orphan_)
        ++orphans;
    WEFT_ASSERT(orphans <= caches);
}

// ---- stacks -------------------------------------------------------------------------------------

void StackStore::check_whole() const {
    check();
    std::size_t hot = 0, hot_bytes = 0, cold = 0, cold_bytes = 0, prepared = 0, cached = 0;
    for (std::uint8_t of = 0; of < stack_classes; ++of) {
        const Depot& depot = depots_[of];
        for (const Stack* stack = depot.hot; stack != nullptr; stack = stack->next, ++hot) {
            WEFT_ASSERT(stack->size_class == of && stack->prepared && !stack->user);
            hot_bytes += stack->bytes;
        }
        WEFT_ASSERT(depot.carving == nullptr ||
                    (depot.carving->size_class == of && depot.carving->carved < depot.carving->count));
        const StackChunk* before = nullptr;
        for (const StackChunk* chunk = depot.cold; chunk != nullptr; before = chunk, chunk = chunk->cold_next) {
            WEFT_ASSERT(chunk->cold_previous == before && chunk->size_class == of && chunk->cold_count != 0);
            std::uint32_t here = 0;
            for (const Stack* stack = chunk->cold; stack != nullptr; stack = stack->next, ++here) {
                WEFT_ASSERT(stack->chunk == chunk);
                if (!stack->prepared) continue;
                ++cold;
                cold_bytes += stack->bytes;
            }
            WEFT_ASSERT(here == chunk->cold_count && here < chunk->count);
        }
    }
    WEFT_ASSERT(hot == hot_count_ && hot_bytes == hot_bytes_);
    WEFT_ASSERT(cold == cold_count_ && cold_bytes == cold_bytes_);
    const StackChunk* before = nullptr;
    for (StackChunk* chunk = chunks_; chunk != nullptr; before = chunk, chunk = chunk->next) {
        WEFT_ASSERT(chunk->previous == before && chunk->carved <= chunk->count);
        for (std::uint32_t i = 0; i < chunk->carved; ++i) prepared += chunk->record(i)->prepared ? 1 : 0;
    }
    WEFT_ASSERT(prepared == existing_.load());
    for (const StackCache* cache = caches_; cache != nullptr; cache = cache->next_) {
        for (const StackCache::List& list : cache->lists_) {
            std::size_t count = 0;
            for (const Stack* stack = list.first; stack != nullptr; stack = stack->next, ++count) {
                WEFT_ASSERT(&cache->lists_[stack->size_class] == &list && stack->prepared);
            }
            WEFT_ASSERT(count == list.count.load() && count <= list.limit);
            cached += count;
        }
    }
    WEFT_ASSERT(hot + cold + cached <= prepared);
}

}   // namespace weft::mem
