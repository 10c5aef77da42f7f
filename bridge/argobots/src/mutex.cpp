// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mutex.hpp"

#include <ctime>
#include <new>

namespace weft::argobots {

void doze() {
    constexpr timespec moment{0, 20'000};
    nanosleep(&moment, nullptr);
}

[[gnu::noinline]] weft_status lock_stubbornly(weft_mutex* mutex) {
    weft_status status{};
    while ((status = weft_mutex_lock(mutex)) == WEFT_WRONG_KIND || status == WEFT_WRONG_CONTEXT) doze();
    return status;
}

namespace {

struct Attribute {
    bool recursive = false;
};

Attribute* to_attribute(ABT_mutex_attr attr) { return reinterpret_cast<Attribute*>(attr); }

// WEFT_WRONG_STATE: the caller already holds the mutex that it locks, or does not hold the mutex
// that it unlocks. In Argobots the former waits forever, and the latter takes the mutex from its
// holder.
int result_of(weft_status status) {
    if (status == WEFT_OK) [[likely]]
        return ABT_SUCCESS;
    return ABT_ERR_MUTEX;
}

int lock_as(ABT_mutex mutex, weft_urgency urgency) {
    if (is_null(mutex)) return ABT_ERR_INV_MUTEX;
    weft_status status{};
    while ((status = weft_mutex_lock_urgent(to_mutex(mutex), urgency)) == WEFT_WRONG_KIND ||
           status == WEFT_WRONG_CONTEXT) {
        doze();
    }
    return result_of(status);
}

int make_mutex(bool recursive, ABT_mutex* newmutex) {
    auto* memory = new (std::nothrow) ABT_mutex_memory{{recursive ? 1 : 0}};
    *newmutex = memory == nullptr ? ABT_MUTEX_NULL : ABT_MUTEX_MEMORY_GET_HANDLE(memory);
    return memory == nullptr ? ABT_ERR_MEM : ABT_SUCCESS;
}

int make_attribute(bool recursive, ABT_mutex_attr* newattr) {
    auto* attribute = new (std::nothrow) Attribute{recursive};
    if (attribute == nullptr) return ABT_ERR_MEM;
    *newattr = reinterpret_cast<ABT_mutex_attr>(attribute);
    return ABT_SUCCESS;
}

}   // namespace
}   // namespace weft::argobots

using namespace weft::argobots;

extern "C" {

int ABT_mutex_create(ABT_mutex* newmutex) { return make_mutex(false, newmutex); }

int ABT_mutex_create_with_attr(ABT_mutex_attr attr, ABT_mutex* newmutex) {
    return make_mutex(!is_null(attr) && to_attribute(attr)->recursive, newmutex);
}

int ABT_mutex_free(ABT_mutex* mutex) {
    if (is_null_at(mutex)) return ABT_ERR_INV_MUTEX;
    delete reinterpret_cast<ABT_mutex_memory*>(*mutex);
    *mutex = ABT_MUTEX_NULL;
    return ABT_SUCCESS;
}

int ABT_mutex_lock(ABT_mutex mutex) {
    if (is_null(mutex)) [[unlikely]]
        return ABT_ERR_INV_MUTEX;
    return result_of(lock(to_mutex(mutex)));
}

int ABT_mutex_lock_high(ABT_mutex mutex) { return lock_as(mutex, WEFT_URGENCY_HIGH); }
int ABT_mutex_lock_low(ABT_mutex mutex) { return lock_as(mutex, WEFT_URGENCY_LOW); }

int ABT_mutex_trylock(ABT_mutex mutex) {
    if (is_null(mutex)) return ABT_ERR_INV_MUTEX;
    return weft_mutex_try_lock(to_mutex(mutex)) == WEFT_OK ? ABT_SUCCESS : ABT_ERR_MUTEX_LOCKED;
}

int ABT_mutex_spinlock(ABT_mutex mutex) {
    if (is_null(mutex)) return ABT_ERR_INV_MUTEX;
    return result_of(weft_mutex_spin_lock(to_mutex(mutex)));
}

int ABT_mutex_unlock(ABT_mutex mutex) {
    if (is_null(mutex)) [[unlikely]]
        return ABT_ERR_INV_MUTEX;
    return result_of(weft_mutex_unlock(to_mutex(mutex)));
}

int ABT_mutex_unlock_se(ABT_mutex mutex) { return ABT_mutex_unlock(mutex); }
int ABT_mutex_unlock_de(ABT_mutex mutex) { return ABT_mutex_unlock(mutex); }

int ABT_mutex_equal(ABT_mutex mutex1, ABT_mutex mutex2, ABT_bool* result) {
    *result = to_bool(mutex1 == mutex2);
    return ABT_SUCCESS;
}

int ABT_mutex_get_attr(ABT_mutex mutex, ABT_mutex_attr* attr) {
    if (is_null(mutex)) return ABT_ERR_INV_MUTEX;
    // Bit 0 of the first word marks a recursive mutex in static memory; it stays set while the
    // mutex is held.
    const auto word = __atomic_load_n(reinterpret_cast<const std::uint32_t*>(mutex), __ATOMIC_RELAXED);
    return make_attribute((word & 1) != 0, attr);
}

int ABT_mutex_attr_create(ABT_mutex_attr* newattr) { return make_attribute(false, newattr); }

int ABT_mutex_attr_free(ABT_mutex_attr* attr) {
    if (is_null_at(attr)) return ABT_ERR_INV_MUTEX_ATTR;
    delete to_attribute(*attr);
    *attr = ABT_MUTEX_ATTR_NULL;
    return ABT_SUCCESS;
}

int ABT_mutex_attr_set_recursive(ABT_mutex_attr attr, ABT_bool recursive) {
    if (is_null(attr)) return ABT_ERR_INV_MUTEX_ATTR;
    to_attribute(attr)->recursive = recursive != ABT_FALSE;
    return ABT_SUCCESS;
}

int ABT_mutex_attr_get_recursive(ABT_mutex_attr attr, ABT_bool* recursive) {
    if (is_null(attr)) return ABT_ERR_INV_MUTEX_ATTR;
    *recursive = to_bool(to_attribute(attr)->recursive);
    return ABT_SUCCESS;
}

}   // extern "C"
