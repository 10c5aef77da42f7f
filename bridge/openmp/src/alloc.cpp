// Memory allocators (OpenMP 5.1, section 2.13 and 3.13). All memory is the same here; traits that say how much there is, how it is aligned and what is done
// when there is none are followed.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "export.hpp"
#include "fatal.hpp"
#include "team.hpp"

using namespace weft_openmp;   // NOLINT: entry points

namespace {

using Handle = std::uintptr_t;   // omp_allocator_handle_t: 0 none, a predefined one, or a pointer to Allocator

enum : Handle { last_predefined = 8 };
enum : int { alignment_key = 2, pool_size_key = 4, fallback_key = 5, fallback_data_key = 6, first_key = 1, last_key = 8 };
enum : std::uintptr_t { by_default = ~std::uintptr_t{0}, default_memory = 11, null_pointer = 12, abortion = 13, other_allocator = 14 };

struct Trait {
    int key;
    std::uintptr_t value;
};

struct Allocator {
    std::size_t alignment = 1;
    std::size_t pool_bytes = ~std::size_t{0};
    std::uintptr_t fallback = default_memory;
    Handle other = 0;
    std::atomic<std::size_t> used{0};
};

// Before what is allocated.
struct Head {
    void* block;
    std::size_t bytes;      // asked for
    std::size_t whole;      // what the pool was told
    Allocator* counted;     // whose pool it is of, or null
    Handle handle;
};

Handle chosen(Handle handle) { return handle != 0 ? handle : this_thread().icv().allocator; }
Allocator* made(Handle handle) { return handle > last_predefined ? reinterpret_cast<Allocator*>(handle) : nullptr; }

bool take(Allocator& from, std::size_t bytes) {
    std::size_t used = from.used.load(std::memory_order_relaxed);   // relaxed: a count, and nothing else
    do {
        if (bytes > from.pool_bytes - used) return false;
    } while (!from.used.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));   // relaxed: as above
    return true;
}

void* allocate(std::size_t alignment, std::size_t bytes, Handle handle, bool zeroed) {
    if (bytes == 0) return nullptr;
    for (handle = chosen(handle);;) {
        Allocator* const allocator = made(handle);
        const std::size_t aligned = std::max({alignment, allocator == nullptr ? std::size_t{1} : allocator->alignment, alignof(std::max_align_t)});
        std::size_t whole;
        void* block = nullptr;
        if (!__builtin_add_overflow(bytes, sizeof(Head) + aligned, &whole) && (allocator == nullptr || take(*allocator, whole))) {
            block = zeroed ? std::calloc(1, whole) : std::malloc(whole);
            if (block == nullptr && allocator != nullptr) allocator->used.fetch_sub(whole, std::memory_order_relaxed);   // relaxed: as in take
        }
        if (block != nullptr) {
            const std::uintptr_t first = (reinterpret_cast<std::uintptr_t>(block) + sizeof(Head) + aligned - 1) & ~(aligned - 1);
            auto* const head = reinterpret_cast<Head*>(first) - 1;
            *head = {block, bytes, whole, allocator, handle};
            return reinterpret_cast<void*>(first);
        }
        if (allocator == nullptr) return nullptr;
        switch (allocator->fallback) {
        case null_pointer: return nullptr;
        case abortion: fatal_error("Out of memory allocating %zu bytes", bytes);
        case other_allocator: handle = chosen(allocator->other); break;
        default: handle = 1; break;   // omp_default_mem_alloc
        }
    }
}

void release(void* memory) {
    if (memory == nullptr) return;
    const Head head = *(static_cast<Head*>(memory) - 1);
    if (head.counted != nullptr) head.counted->used.fetch_sub(head.whole, std::memory_order_relaxed);   // relaxed: as in take
    std::free(head.block);
}

bool product(std::size_t count, std::size_t bytes, std::size_t& all) { return !__builtin_mul_overflow(count, bytes, &all); }

}  // namespace

OPENMP_API Handle omp_init_allocator(Handle, int count, const Trait* traits) {
    Allocator wanted;
    for (int i = 0; i < count; ++i) {
        const std::uintptr_t value = traits[i].value;
        switch (traits[i].key) {
        case alignment_key:
            if (value == by_default) break;
            if (value == 0 || (value & (value - 1)) != 0) return 0;
            wanted.alignment = value;
            break;
        case pool_size_key:
            if (value != by_default) wanted.pool_bytes = value;
            break;
        case fallback_key:
            if (value == by_default) break;
            if (value < default_memory || value > other_allocator) return 0;
            wanted.fallback = value;
            break;
        case fallback_data_key: wanted.other = value; break;
        default:
            if (traits[i].key < first_key || traits[i].key > last_key) return 0;
            break;   // memory is alike for all, and every thread may have it
        }
    }
    auto* const allocator = new Allocator;
    allocator->alignment = wanted.alignment;
    allocator->pool_bytes = wanted.pool_bytes;
    allocator->fallback = wanted.fallback;
    allocator->other = wanted.other;
    return reinterpret_cast<Handle>(allocator);
}
OPENMP_API Handle omp_init_allocator_(const Handle* space, const std::int32_t* count, const Trait* traits) { return omp_init_allocator(*space, *count, traits); }
OPENMP_API Handle omp_init_allocator_8_(const Handle* space, const std::int64_t* count, const Trait* traits) {
    return omp_init_allocator(*space, static_cast<int>(*count), traits);
}
OPENMP_API void omp_destroy_allocator(Handle handle) { delete made(handle); }
OPENMP_API void omp_destroy_allocator_(const Handle* handle) { omp_destroy_allocator(*handle); }
OPENMP_API Handle omp_get_default_allocator() { return this_thread().icv().allocator; }
OPENMP_API Handle omp_get_default_allocator_() { return omp_get_default_allocator(); }
OPENMP_API void omp_set_default_allocator(Handle handle) {
    Icv values = this_thread().icv();
    values.allocator = handle != 0 ? handle : 1;
    this_thread().set_icv(values);
}
OPENMP_API void omp_set_default_allocator_(const Handle* handle) { omp_set_default_allocator(*handle); }

OPENMP_API void* omp_alloc(std::size_t bytes, Handle handle) { return allocate(1, bytes, handle, false); }
OPENMP_API void* omp_aligned_alloc(std::size_t alignment, std::size_t bytes, Handle handle) { return allocate(alignment, bytes, handle, false); }
OPENMP_API void* omp_calloc(std::size_t count, std::size_t bytes, Handle handle) {
    std::size_t all;
    return product(count, bytes, all) ? allocate(1, all, handle, true) : nullptr;
}
OPENMP_API void* omp_aligned_calloc(std::size_t alignment, std::size_t count, std::size_t bytes, Handle handle) {
    std::size_t all;
    return product(count, bytes, all) ? allocate(alignment, all, handle, true) : nullptr;
}
OPENMP_API void omp_free(void* memory, Handle) { release(memory); }
OPENMP_API void* omp_realloc(void* memory, std::size_t bytes, Handle handle, Handle) {
    if (memory == nullptr) return allocate(1, bytes, handle, false);
    if (bytes == 0) {
        release(memory);
        return nullptr;
    }
    const Head& head = *(static_cast<Head*>(memory) - 1);
    void* const grown = allocate(1, bytes, handle != 0 ? handle : head.handle, false);
    if (grown == nullptr) return nullptr;
    std::memcpy(grown, memory, std::min(bytes, head.bytes));
    release(memory);
    return grown;
}
OPENMP_API void* GOMP_alloc(std::size_t alignment, std::size_t bytes, Handle handle) {
    void* const memory = allocate(alignment, bytes, handle, false);
    if (memory == nullptr && bytes != 0) fatal_error("Out of memory allocating %zu bytes", bytes);
    return memory;
}
OPENMP_API void GOMP_free(void* memory, Handle) { release(memory); }
