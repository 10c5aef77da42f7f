// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sync/mutex.hpp"

#include "sync/objects.hpp"

namespace weft::sync {
namespace {

// A holder on another stream or OS thread is often about to release the mutex; not a holder that
// was given the mutex and does not run yet.
bool take_soon(Mutex& mutex, Waiter& waiter) {
    static constexpr int looks = 40;
    for (int i = 0; i < looks; ++i) {
        if (mutex.come()) {
            if (mutex.take(waiter)) return true;
        } else if (mutex.is_on_its_way()) {
            return false;
        }
        arch::pause();
    }
    return false;
}

}   // namespace

[[gnu::noinline]] weft_status lock_slow(Mutex mutex, Urgency urgency, std::uint64_t deadline_ns) noexcept {
    const Caller caller;
    void* const identity = caller.identity();
    Waiter waiter;
    Mutex::ask(waiter, urgency);
    if (mutex.come() && mutex.take(waiter)) {   // the quick way gives up too soon when others come and go
        note_holder(mutex, caller.unit, identity);
        return WEFT_OK;
    }
    if (mutex.owner() == identity) {
        if (!mutex.is_recursive())
            return fail(WEFT_WRONG_STATE, "the caller holds the mutex already; make it a recursive one");
        ++mutex.body().depth;
        return WEFT_OK;
    }
    bool others = others_run(caller);
    while (!others || !take_soon(mutex, waiter)) {
        waiter.answer = Answer::none;
        const weft_status status = wait_at(mutex, waiter, deadline_ns, Waits::mutex, mutex.address());
        if (status != WEFT_OK) return status;
        if (waiter.answer != Answer::woken || mutex.take(waiter)) break;
        others = others_run(caller);
        if (!others) Mutex::insist(waiter);   // the holder has left in the middle: to be woken again is two switches
    }
    note_holder(mutex, caller.unit, identity);
    return WEFT_OK;
}

[[gnu::noinline]] weft_status unlock_slow(Mutex mutex) noexcept {
    const Caller caller;
    if (!mutex.is_held()) return fail(WEFT_WRONG_STATE, "the mutex is not locked");
    if (mutex.owner() != caller.identity())
        return fail(WEFT_WRONG_STATE, "another unit or thread holds the mutex; only its holder unlocks it");
    if (mutex.body().depth != 0) {
        --mutex.body().depth;
        return WEFT_OK;
    }
    if (caller.unit != nullptr) caller.unit->latest_lock = nullptr;
    unlock(mutex);
    return WEFT_OK;
}

}   // namespace weft::sync
