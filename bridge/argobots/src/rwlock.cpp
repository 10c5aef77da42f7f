// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A read-write lock in which readers take precedence and a reader may lock again. Weft's own lock
// does not allow this: a waiting writer would come between.
#include <new>

#include "mutex.hpp"
#include "tool.hpp"

namespace weft::argobots {
namespace {

struct RwLock {
    weft_mutex mutex = WEFT_MUTEX_INIT;   // guards all members below; held for a few instructions
    weft_cond readable = WEFT_COND_INIT;
    weft_cond writable = WEFT_COND_INIT;
    std::uint32_t readers = 0;   // the number of holders that read
    std::uint32_t waiting_readers = 0;
    bool written = false;   // there is a writer
};

RwLock* to_rwlock(ABT_rwlock rwlock) { return reinterpret_cast<RwLock*>(rwlock); }

// Waits while `taken` returns true; called with the mutex held.
template <class Taken>
weft_status wait_while(RwLock& lock, weft_cond& cond, Taken&& taken) {
    weft_status status = WEFT_OK;
    while (status == WEFT_OK && taken()) {
        const WaitsAt at(ABT_SYNC_EVENT_TYPE_RWLOCK, &lock);
        status = weft_cond_wait(&cond, &lock.mutex);
    }
    return status;
}

int result_of(weft_status status) { return status == WEFT_OK ? ABT_SUCCESS : ABT_ERR_RWLOCK; }

}   // namespace
}   // namespace weft::argobots

using namespace weft::argobots;

extern "C" {

int ABT_rwlock_create(ABT_rwlock* newrwlock) {
    auto* created = new (std::nothrow) RwLock;
    *newrwlock = created == nullptr ? ABT_RWLOCK_NULL : reinterpret_cast<ABT_rwlock>(created);
    return created == nullptr ? ABT_ERR_MEM : ABT_SUCCESS;
}

int ABT_rwlock_free(ABT_rwlock* rwlock) {
    if (is_null_at(rwlock)) return ABT_ERR_INV_RWLOCK;
    delete to_rwlock(*rwlock);
    *rwlock = ABT_RWLOCK_NULL;
    return ABT_SUCCESS;
}

int ABT_rwlock_rdlock(ABT_rwlock rwlock) {
    if (is_null(rwlock)) return ABT_ERR_INV_RWLOCK;
    if (caller() == Caller::tasklet) return ABT_ERR_RWLOCK;
    RwLock& of = *to_rwlock(rwlock);
    lock(&of.mutex);
    ++of.waiting_readers;
    const weft_status status = wait_while(of, of.readable, [&] { return of.written; });
    --of.waiting_readers;
    if (status == WEFT_OK) ++of.readers;
    weft_mutex_unlock(&of.mutex);
    return result_of(status);
}

int ABT_rwlock_wrlock(ABT_rwlock rwlock) {
    if (is_null(rwlock)) return ABT_ERR_INV_RWLOCK;
    if (caller() == Caller::tasklet) return ABT_ERR_RWLOCK;
    RwLock& of = *to_rwlock(rwlock);
    lock(&of.mutex);
    const weft_status status = wait_while(of, of.writable, [&] { return of.written || of.readers != 0; });
    if (status == WEFT_OK) of.written = true;
    weft_mutex_unlock(&of.mutex);
    return result_of(status);
}

int ABT_rwlock_unlock(ABT_rwlock rwlock) {
    if (is_null(rwlock)) return ABT_ERR_INV_RWLOCK;
    RwLock& of = *to_rwlock(rwlock);
    lock(&of.mutex);
    const bool held = of.written || of.readers != 0;
    if (of.written) {
        of.written = false;
    } else if (held) {
        --of.readers;
    }
    // Wakes all waiting readers, which take precedence, or else one writer. The last of these
    // readers will wake a writer.
    if (of.waiting_readers != 0) {
        weft_cond_broadcast(&of.readable);
    } else if (of.readers == 0) {
        weft_cond_signal(&of.writable);
    }
    weft_mutex_unlock(&of.mutex);
    return held ? ABT_SUCCESS : ABT_ERR_RWLOCK;
}

}   // extern "C"
