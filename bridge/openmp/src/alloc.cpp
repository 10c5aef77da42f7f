// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory allocators (OpenMP 5.1, section 2.13 and 3.13). All memory is of one kind here. The traits
// that say how much of it there is and for whom, how it is aligned and what to do when there is
// none left are followed.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "export.hpp"
#include "fatal.hpp"
#include "team.hpp"

using namespace weft_openmp;   // NOLINT: entry points

namespace {

using Handle = std::uintptr_t;   // omp_allocator_handle_t: 0 none, a predefined one, or a pointer to Allocator

enum : Handle { default_allocator = 1, last_predefined = 8 };
enum : std::uintptr_t { high_bandwidth_space = 3, last_space = 4 };

// The omp_atk_ and omp_atv_ constants of omp.h.
enum class Key : int { sync_hint = 1, alignment, access, pool_size, fallback, fallback_data, pinned, partition };
enum : std::uintptr_t {
    by_default = ~std::uintptr_t{0},
    contended = 3,
    by_one_thread = 6,   // sync_hint, and two values between
    by_all = 7,
    by_thread = 8,
    by_team = 9,
    by_group = 10,   // access
    default_memory = 11,
    null_pointer = 12,
    abortion = 13,
    other_allocator = 14,   // fallback
    of_environment = 15,
    interleaved = 18   // partition, and two values between
};

struct Trait {
    Key key;
    std::uintptr_t value;
};

struct Allocator;

// How much of an allocator's memory is in use, where its size is limited: by all threads, or by one
// thread, team or contention group.
struct Pool {
    Allocator* of = nullptr;
    std::atomic<std::size_t> used{0};
    const void* whose = nullptr;
    Pool* next = nullptr;
};

struct Allocator {
    std::size_t alignment = 1;
    std::size_t pool_bytes = ~std::size_t{0};
    std::uintptr_t access = by_all;
    std::uintptr_t fallback = default_memory;
    Handle other = 0;
    Pool common{this};       // if all threads have access
    Pool* parts = nullptr;   // else one for each thread, team or contention group
    SpinLock parting;        // guards `parts`

    Allocator() = default;
    Allocator(const Allocator&) = delete;
    Allocator& operator=(const Allocator&) = delete;
    ~Allocator() {
        while (parts != nullptr) delete std::exchange(parts, parts->next);
    }
};

// Lies before each block. It is as large as libgomp's, since pools count it.
struct Head {
    void* block;
    std::size_t bytes;     // asked for
    std::size_t whole;     // what the pool has counted
    std::uintptr_t from;   // a predefined allocator's handle, or a pointer to Pool
};
constexpr std::size_t least_alignment = alignof(std::max_align_t);   // malloc's
static_assert(sizeof(Head) == 32 && sizeof(Head) % least_alignment == 0);

// def-allocator-var belongs to the implicit task (OpenMP 5.1, table 2.3), whichever explicit task
// the thread runs.
const Icv*& values_with_allocator() { return this_thread().slot->implicit.icv; }
Handle chosen(Handle handle) { return handle != 0 ? handle : values_with_allocator()->allocator; }
Allocator* made(Handle handle) { return handle > last_predefined ? reinterpret_cast<Allocator*>(handle) : nullptr; }
Pool* pool_of(const Head& head) { return head.from > last_predefined ? reinterpret_cast<Pool*>(head.from) : nullptr; }
Handle handle_of(const Head& head) {
    const Pool* const pool = pool_of(head);
    return pool != nullptr ? reinterpret_cast<Handle>(pool->of) : head.from;
}

// ---- pools --------------------------------------------------------------------------------------

const void* who_has_access(std::uintptr_t access) {
    const Thread& me = this_thread();
    if (access == by_thread) return &me;
    const Team* team = me.team;
    if (access == by_group) {
        if (team->group != nullptr) return team->group;
        while (team->outer != nullptr) team = team->outer;
    }
    return team;
}

// Called under `parting`. A part with nothing in use is given to the next thread, team or group
// that needs one: threads and teams end.
Pool& part(Allocator& allocator) {
    const void* const whose = who_has_access(allocator.access);
    Pool* unused = nullptr;
    for (Pool* pool = allocator.parts; pool != nullptr; pool = pool->next) {
        if (pool->whose == whose) return *pool;
        if (pool->used.load(std::memory_order_relaxed) == 0) unused = pool;   // relaxed: as in grow
    }
    if (unused == nullptr) unused = allocator.parts = new Pool{&allocator, 0, nullptr, allocator.parts};
    unused->whose = whose;
    return *unused;
}

// relaxed: as in grow
void give_back(Pool& pool, std::size_t bytes) { pool.used.fetch_sub(bytes, std::memory_order_relaxed); }

// How much of `whole` this pool has counted already: the share of the old block, which is to be
// given up.
std::size_t counted(const Pool& pool, const Head* old) {
    return old != nullptr && pool_of(*old) == &pool ? old->whole : 0;
}

// Takes the growth over the old block. What the new block saves is given back once it exists.
[[gnu::always_inline]] inline bool grow(Pool& pool, std::size_t whole, const Head* old) {
    const std::size_t before = counted(pool, old), more = whole - std::min(whole, before);
    std::size_t used = pool.used.load(std::memory_order_relaxed);   // relaxed: a count, and nothing else
    do {
        if (more > pool.of->pool_bytes - used) return false;
    } while (!pool.used.compare_exchange_weak(used, used + more, std::memory_order_relaxed));   // relaxed: a count
    return true;
}

[[gnu::noinline]] Pool* take_of_part(Allocator& allocator, std::size_t whole, const Head* old) {
    const std::lock_guard guard(allocator.parting);
    Pool& pool = part(allocator);
    return grow(pool, whole, old) ? &pool : nullptr;
}

// The pool, with that much more in use; null: it has too little left.
[[gnu::always_inline]] inline Pool* take(Allocator& allocator, std::size_t whole, const Head* old) {
    if (allocator.access != by_all) [[unlikely]]
        return take_of_part(allocator, whole, old);
    return grow(allocator.common, whole, old) ? &allocator.common : nullptr;
}

void undo(Pool& pool, std::size_t whole, const Head* old) {
    give_back(pool, whole - std::min(whole, counted(pool, old)));
}

// ---- blocks -------------------------------------------------------------------------------------

struct Wanted {
    std::size_t alignment, bytes;
    bool zeroed = false;
    Head* old = nullptr;   // the block that it replaces, whose contents it gets
};

[[gnu::always_inline]] inline void* place(void* block, std::size_t alignment, std::size_t whole, std::size_t bytes,
                                          std::uintptr_t from) {
    const std::uintptr_t least = reinterpret_cast<std::uintptr_t>(block) + sizeof(Head);
    const std::uintptr_t first = (least + alignment - 1) & ~(alignment - 1);
    auto* const head = reinterpret_cast<Head*>(first) - 1;
    *head = {block, bytes, whole, from};
    return reinterpret_cast<void*>(first);
}

// C library memory with the old block's contents. Null: there is none, and the old block is
// unchanged. Counts nothing.
[[gnu::always_inline]] inline void* memory_for(const Wanted& wanted, std::size_t alignment, std::size_t whole,
                                               std::uintptr_t from) {
    Head* const old = wanted.old;
    // A large block may grow in place, or be remapped; a small one is copied faster.
    constexpr std::size_t large = 4096;
    if (old != nullptr && old->whole >= large && alignment == least_alignment && old->block == old) {
        void* const block = std::realloc(old->block, whole);
        return block == nullptr ? nullptr : place(block, alignment, whole, wanted.bytes, from);
    }
    void* const block = wanted.zeroed ? std::calloc(1, whole) : std::malloc(whole);
    if (block == nullptr) return nullptr;
    void* const memory = place(block, alignment, whole, wanted.bytes, from);
    if (old != nullptr) {
        std::memcpy(memory, old + 1, std::min(wanted.bytes, old->bytes));
        std::free(old->block);
    }
    return memory;
}

// From this allocator alone. Null: it has too little left, and nothing has changed.
[[gnu::always_inline]] inline void* allocate_from(Handle handle, const Wanted& wanted) {
    Allocator* const allocator = made(handle);
    // Programs may ask for powers of two only. Other numbers are rounded down, so that the block is
    // large enough.
    const std::size_t of_trait = allocator == nullptr ? 1 : allocator->alignment;
    const std::size_t alignment = std::max({std::bit_floor(wanted.alignment), of_trait, least_alignment});
    std::size_t whole;
    if (__builtin_add_overflow(wanted.bytes, sizeof(Head) + alignment - least_alignment, &whole)) return nullptr;
    Pool* const pool = allocator == nullptr ? nullptr : take(*allocator, whole, wanted.old);
    if (allocator != nullptr && pool == nullptr) return nullptr;
    Pool* const old_pool = wanted.old == nullptr ? nullptr : pool_of(*wanted.old);
    const std::size_t old_whole = wanted.old == nullptr ? 0 : wanted.old->whole;
    const std::uintptr_t from = pool == nullptr ? handle : reinterpret_cast<std::uintptr_t>(pool);
    void* const memory = memory_for(wanted, alignment, whole, from);
    if (memory == nullptr) {
        if (pool != nullptr) undo(*pool, whole, wanted.old);
    } else if (old_pool != nullptr) {
        give_back(*old_pool, old_pool != pool ? old_whole : old_whole - std::min(old_whole, whole));
    }
    return memory;
}

// Called where `handle` has no memory left.
[[gnu::noinline]] void* fall_back(Handle handle, const Wanted& wanted) {
    constexpr int most = 1000;   // a longer chain is a cycle
    for (int i = 0; i < most; ++i) {
        const Allocator* const allocator = made(handle);
        if (allocator == nullptr) return nullptr;
        switch (allocator->fallback) {
        case null_pointer: return nullptr;
        case abortion: fatal_error("Out of memory allocating %zu bytes", wanted.bytes);
        case other_allocator: handle = chosen(allocator->other); break;
        default: handle = default_allocator; break;
        }
        if (void* const memory = allocate_from(handle, wanted)) return memory;
    }
    return nullptr;
}

// Inlined, so that what an entry point does not ask for costs nothing.
[[gnu::always_inline]] inline void* allocate(Handle handle, const Wanted& wanted) {
    if (wanted.bytes == 0) return nullptr;
    handle = chosen(handle);
    void* const memory = allocate_from(handle, wanted);
    return memory != nullptr ? memory : fall_back(handle, wanted);
}

void release(void* memory) {
    if (memory == nullptr) return;
    const Head head = *(static_cast<Head*>(memory) - 1);
    if (Pool* const pool = pool_of(head)) give_back(*pool, head.whole);
    std::free(head.block);
}

bool product(std::size_t count, std::size_t bytes, std::size_t& whole) {
    return !__builtin_mul_overflow(count, bytes, &whole);
}

// ---- traits -------------------------------------------------------------------------------------

bool is_of(std::uintptr_t value, std::uintptr_t first, std::uintptr_t last) { return value >= first && value <= last; }

// False: the trait has no such value, or none that can be had here (memory is never pinned). All
// memory is alike, so most values change nothing.
bool follow(Allocator& allocator, const Trait& trait) {
    const std::uintptr_t value = trait.value;
    if (value == by_default) return trait.key >= Key::sync_hint && trait.key <= Key::partition;
    switch (trait.key) {
    case Key::sync_hint: return is_of(value, contended, by_one_thread);
    case Key::alignment: allocator.alignment = value; return std::has_single_bit(value);
    case Key::access: allocator.access = value; return is_of(value, by_all, by_group);
    case Key::pool_size: allocator.pool_bytes = value; return true;
    case Key::fallback: allocator.fallback = value; return is_of(value, default_memory, other_allocator);
    case Key::fallback_data: allocator.other = value; return true;
    case Key::pinned: return value == 0;
    case Key::partition: return is_of(value, of_environment, interleaved);
    }
    return false;
}

}   // namespace

OPENMP_API Handle omp_init_allocator(std::uintptr_t space, int count, const Trait* traits) {
    if (space > last_space || space == high_bandwidth_space) return 0;   // no faster memory is known
    auto allocator = std::make_unique<Allocator>();
    for (int i = 0; i < count; ++i) {
        if (!follow(*allocator, traits[i])) return 0;
    }
    return reinterpret_cast<Handle>(allocator.release());
}
OPENMP_API Handle omp_init_allocator_(const std::uintptr_t* space, const std::int32_t* count, const Trait* traits) {
    return omp_init_allocator(*space, *count, traits);
}
OPENMP_API Handle omp_init_allocator_8_(const std::uintptr_t* space, const std::int64_t* count, const Trait* traits) {
    return omp_init_allocator(*space, static_cast<int>(*count), traits);
}
OPENMP_API void omp_destroy_allocator(Handle handle) { delete made(handle); }
OPENMP_API void omp_destroy_allocator_(const Handle* handle) { omp_destroy_allocator(*handle); }
OPENMP_API Handle omp_get_default_allocator() { return values_with_allocator()->allocator; }
OPENMP_API Handle omp_get_default_allocator_() { return omp_get_default_allocator(); }
OPENMP_API void omp_set_default_allocator(Handle handle) {
    Icv values = *values_with_allocator();
    values.allocator = handle != 0 ? handle : default_allocator;
    values_with_allocator() = interned(values);
}
OPENMP_API void omp_set_default_allocator_(const Handle* handle) { omp_set_default_allocator(*handle); }

OPENMP_API void* omp_alloc(std::size_t bytes, Handle handle) { return allocate(handle, {1, bytes}); }
OPENMP_API void* omp_aligned_alloc(std::size_t alignment, std::size_t bytes, Handle handle) {
    return allocate(handle, {alignment, bytes});
}
OPENMP_API void* omp_calloc(std::size_t count, std::size_t bytes, Handle handle) {
    std::size_t whole;
    return product(count, bytes, whole) ? allocate(handle, {1, whole, true}) : nullptr;
}
OPENMP_API void* omp_aligned_calloc(std::size_t alignment, std::size_t count, std::size_t bytes, Handle handle) {
    std::size_t whole;
    return product(count, bytes, whole) ? allocate(handle, {alignment, whole, true}) : nullptr;
}
OPENMP_API void omp_free(void* memory, Handle) { release(memory); }
OPENMP_API void* omp_realloc(void* memory, std::size_t bytes, Handle handle, Handle) {
    if (memory == nullptr) return allocate(handle, {1, bytes});
    if (bytes == 0) {
        release(memory);
        return nullptr;
    }
    auto* const head = static_cast<Head*>(memory) - 1;
    return allocate(handle != 0 ? handle : handle_of(*head), {1, bytes, false, head});
}
OPENMP_API void* GOMP_alloc(std::size_t alignment, std::size_t bytes, Handle handle) {
    void* const memory = allocate(handle, {alignment, bytes});
    if (memory == nullptr && bytes != 0) fatal_error("Out of memory allocating %zu bytes", bytes);
    return memory;
}
OPENMP_API void GOMP_free(void* memory, Handle) { release(memory); }
