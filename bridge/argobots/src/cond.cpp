// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Argobots' condition is Weft's; the last bytes of its memory hold the mutex of the latest wait.
#include <new>

#include "clock.hpp"
#include "mutex.hpp"

namespace weft::argobots {
namespace {

// Everything lies in 64 bytes that may be aligned to 4 only. Weft's condition begins where they
// begin and aligns itself within them.
class Cond {
public:
    explicit Cond(ABT_cond cond) : memory_(reinterpret_cast<unsigned char*>(cond)) {}

    weft_cond* weft() const { return reinterpret_cast<weft_cond*>(memory_); }

    // Records the mutex, then waits; restores the former mutex if the wait is refused.
    template <class Wait>
    weft_status wait(weft_mutex* with, Wait&& waits) const {
        weft_mutex* const before = mutex();
        note(with);
        const weft_status status = waits(weft(), with);
        if (status != WEFT_OK && status != WEFT_TIMED_OUT) [[unlikely]]
            note(before);
        return status;
    }
    weft_mutex* mutex() const { return reinterpret_cast<weft_mutex*>(half(0) | std::uint64_t{half(1)} << 32); }

private:
    static constexpr std::size_t mutex_at = 56;
    static_assert(sizeof(weft_cond) + alignof(weft_cond) - alignof(ABT_cond_memory) <= mutex_at);
    static_assert(mutex_at + sizeof(weft_mutex*) <= sizeof(ABT_cond_memory));

    void note(const weft_mutex* mutex) const {
        const auto address = reinterpret_cast<std::uint64_t>(mutex);
        set_half(0, static_cast<std::uint32_t>(address));
        set_half(1, static_cast<std::uint32_t>(address >> 32));
    }
    // relaxed throughout: the halves do not change while there are waiters, and a waiter holds the
    // mutex when it writes them.
    std::uint32_t* place(int i) const { return reinterpret_cast<std::uint32_t*>(memory_ + mutex_at) + i; }
    std::uint32_t half(int i) const { return __atomic_load_n(place(i), __ATOMIC_RELAXED); }
    void set_half(int i, std::uint32_t value) const {
        if (half(i) != value) __atomic_store_n(place(i), value, __ATOMIC_RELAXED);
    }

    unsigned char* memory_;
};

// Whether there is a waiter that no signal has reached. A signal by the holder of the mutex takes
// effect when the mutex is unlocked; if the caller is that holder, it takes effect here.
bool is_waited_for(const Cond& cond) {
    weft_mutex nobodys = WEFT_MUTEX_INIT;
    if (weft_cond_settle(cond.weft(), &nobodys) == WEFT_OK) return false;
    weft_mutex* const mutex = cond.mutex();   // it exists: the waiters will lock it
    const weft_status status = weft_mutex_lock_until(mutex, 0);
    const bool holds = status == WEFT_OK || status == WEFT_WRONG_STATE;   // WEFT_WRONG_STATE: the caller holds it
    const bool waited_for = !holds || weft_cond_settle(cond.weft(), mutex) != WEFT_OK;
    if (status == WEFT_OK) weft_mutex_unlock(mutex);
    return waited_for;
}

int result_of(weft_status status) {
    switch (status) {
    case WEFT_OK: return ABT_SUCCESS;
    case WEFT_TIMED_OUT: return ABT_ERR_COND_TIMEDOUT;
    case WEFT_INVALID: return ABT_ERR_INV_MUTEX;       // other waiters use another mutex
    case WEFT_WRONG_STATE: return ABT_ERR_INV_MUTEX;   // the caller does not hold it
    default: return ABT_ERR_COND;
    }
}

// A tasklet cannot wait, but it can release the mutex to others for a while. The wait then ends
// without a signal, as any wait may.
int let_others(weft_mutex* mutex, std::uint64_t deadline_ns) {
    if (weft_mutex_unlock(mutex) != WEFT_OK) return ABT_ERR_INV_MUTEX;
    doze();
    lock(mutex);
    return weft_now_ns() < deadline_ns ? ABT_SUCCESS : ABT_ERR_COND_TIMEDOUT;
}

}   // namespace
}   // namespace weft::argobots

using namespace weft::argobots;

extern "C" {

int ABT_cond_create(ABT_cond* newcond) {
    auto* memory = new (std::nothrow) ABT_cond_memory{};
    *newcond = memory == nullptr ? ABT_COND_NULL : ABT_COND_MEMORY_GET_HANDLE(memory);
    return memory == nullptr ? ABT_ERR_MEM : ABT_SUCCESS;
}

int ABT_cond_free(ABT_cond* cond) {
    if (is_null_at(cond)) return ABT_ERR_INV_COND;
    if (is_waited_for(Cond(*cond))) return ABT_ERR_COND;
    delete reinterpret_cast<ABT_cond_memory*>(*cond);
    *cond = ABT_COND_NULL;
    return ABT_SUCCESS;
}

int ABT_cond_wait(ABT_cond cond, ABT_mutex mutex) {
    if (is_null(cond)) return ABT_ERR_INV_COND;
    if (is_null(mutex)) return ABT_ERR_INV_MUTEX;
    return result_of(Cond(cond).wait(to_mutex(mutex), weft_cond_wait));
}

int ABT_cond_timedwait(ABT_cond cond, ABT_mutex mutex, const struct timespec* abstime) {
    if (is_null(cond)) return ABT_ERR_INV_COND;
    if (is_null(mutex)) return ABT_ERR_INV_MUTEX;
    const std::uint64_t deadline_ns = deadline_of(*abstime);
    const weft_status status = Cond(cond).wait(to_mutex(mutex), [&](weft_cond* waited_for, weft_mutex* with) {
        return weft_cond_wait_until(waited_for, with, deadline_ns);
    });
    if (status == WEFT_WRONG_KIND) return let_others(to_mutex(mutex), deadline_ns);
    return result_of(status);
}

int ABT_cond_signal(ABT_cond cond) {
    if (is_null(cond)) return ABT_ERR_INV_COND;
    weft_cond_signal(Cond(cond).weft());
    return ABT_SUCCESS;
}

int ABT_cond_broadcast(ABT_cond cond) {
    if (is_null(cond)) return ABT_ERR_INV_COND;
    weft_cond_broadcast(Cond(cond).weft());
    return ABT_SUCCESS;
}

}   // extern "C"
