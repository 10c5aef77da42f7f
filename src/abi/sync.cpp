// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "weft/sync.h"

#include <cstring>
#include <new>

#include "abi/convert.hpp"
#include "os/clock.hpp"
#include "sync/future.hpp"
#include "sync/objects.hpp"

using namespace weft;
using namespace weft::sync;

namespace {

bool known(weft_urgency urgency) {
    return urgency == WEFT_URGENCY_NORMAL || urgency == WEFT_URGENCY_HIGH || urgency == WEFT_URGENCY_LOW;
}
static_assert(static_cast<int>(Urgency::high) == WEFT_URGENCY_HIGH &&
              static_cast<int>(Urgency::low) == WEFT_URGENCY_LOW);

// The quick way: the mutex is free.
[[gnu::always_inline]] inline bool lock_free(Mutex& mutex) {
    if (!mutex.try_take()) return false;
    const Caller caller;
    note_holder(mutex, caller.unit, caller.identity());
    return true;
}

// The caller, which is no unit, has locked the mutex.
[[gnu::noinline]] weft_status note_other_holder(Mutex mutex) noexcept {
    note_holder(mutex, nullptr, Caller().identity());
    return WEFT_OK;
}

// `deadline_ns`: a value that is known at compile time need not be tested.
[[gnu::always_inline]] inline weft_status wait_for_set(Event event, void** value, std::uint64_t deadline_ns) {
    Waiter waiter;
    const weft_status status = wait_at(event, waiter, deadline_ns, Waits::event, event.address());
    if (value != nullptr && status == WEFT_OK) *value = event.value();
    return status;
}
[[gnu::noinline]] weft_status wait_unset(Event event) noexcept { return wait_for_set(event, nullptr, forever); }
[[gnu::noinline]] weft_status wait_unset_until(Event event, void** value, std::uint64_t deadline_ns) noexcept {
    return wait_for_set(event, value, deadline_ns);
}

[[gnu::noinline]] weft_status set_already() noexcept {
    return fail(WEFT_WRONG_STATE, "the event is set already; reset it first");
}
[[gnu::noinline]] weft_status set_waiting_for_others(Event event, void* value) noexcept {
    return event.set(value) ? WEFT_OK : set_already();
}
[[gnu::noinline]] weft_status release_many(Event event) noexcept {
    event.release_many();
    return WEFT_OK;
}
// Each case calls at most one function, as its last step.
template <class By>
[[gnu::always_inline]] inline weft_status set_event(Event event, void* value, By by) {
    AgentRef one{};
    switch (event.begin_set(value, one, by)) {
    case Event::Set::nobody_waits: return WEFT_OK;
    case Event::Set::one_waits: return wake_unit(one.unit());
    case Event::Set::many_wait: return release_many(event);
    case Event::Set::already: return set_already();
    case Event::Set::busy: break;
    }
    return set_waiting_for_others(event, value);
}

}   // namespace

extern "C" {

uint64_t weft_now_ns(void) noexcept { return os::now_ns(); }

weft_status weft_unit_join_until(weft_unit* unit, uint64_t deadline_ns) noexcept {
    if (unit == nullptr) return is_null("unit");
    return join_until(*to_unit(unit), deadline_ns);
}

weft_status weft_unit_migrate_wait_until(weft_unit* unit, uint64_t deadline_ns) noexcept {
    if (unit == nullptr) return is_null("unit");
    return wait_for_move_until(*to_unit(unit), deadline_ns);
}

weft_status weft_unit_join_many_until(weft_unit* const* units, size_t count, uint64_t deadline_ns) noexcept {
    if (units == nullptr && count != 0) return is_null("units");
    weft_status all = WEFT_OK;
    for (size_t i = 0; i < count; ++i) {
        const weft_status status = units[i] == nullptr ? WEFT_OK : weft_unit_join_until(units[i], deadline_ns);
        if (!weft_unit_joined(status)) return status;
        if (status != WEFT_OK) all = status;
    }
    return all == WEFT_OK ? all : weft_unit_join_many(units, count);   // which reports how the first has ended
}

weft_status weft_unit_join_free_until(weft_unit* unit, uint64_t deadline_ns) noexcept {
    const weft_status status = weft_unit_join_until(unit, deadline_ns);
    return status == WEFT_OK ? weft_unit_free(unit) : status;
}

weft_status weft_unit_join_free_many_until(weft_unit** units, size_t count, uint64_t deadline_ns) noexcept {
    const weft_status status = weft_unit_join_many_until(units, count, deadline_ns);
    return weft_unit_joined(status) ? weft_unit_join_free_many(units, count) : status;
}

// ---- mutex --------------------------------------------------------------------------------------

weft_status weft_mutex_lock(weft_mutex* mutex) noexcept {
    if (mutex == nullptr) [[unlikely]]
        return is_null("mutex");
    Mutex of = at<Mutex>(mutex);
    if (!of.try_take()) [[unlikely]]
        return lock_slow(of, Urgency::normal, forever);
    Unit* const unit = running_or_null();
    if (unit == nullptr) [[unlikely]]
        return note_other_holder(of);
    note_holder(of, unit, unit);
    return WEFT_OK;
}

weft_status weft_mutex_lock_until(weft_mutex* mutex, uint64_t deadline_ns) noexcept {
    return weft_mutex_lock_urgent_until(mutex, WEFT_URGENCY_NORMAL, deadline_ns);
}

weft_status weft_mutex_lock_urgent(weft_mutex* mutex, weft_urgency urgency) noexcept {
    return weft_mutex_lock_urgent_until(mutex, urgency, WEFT_FOREVER);
}

weft_status weft_mutex_lock_urgent_until(weft_mutex* mutex, weft_urgency urgency, uint64_t deadline_ns) noexcept {
    if (mutex == nullptr) return is_null("mutex");
    if (!known(urgency))
        return fail(WEFT_INVALID, "there is no urgency %d; see weft_urgency", static_cast<int>(urgency));
    Mutex of = at<Mutex>(mutex);
    if (lock_free(of)) return WEFT_OK;
    return lock_slow(of, static_cast<Urgency>(urgency), deadline_ns);
}

weft_status weft_mutex_spin_lock(weft_mutex* mutex) noexcept {
    if (mutex == nullptr) return is_null("mutex");
    Mutex of = at<Mutex>(mutex);
    if (lock_free(of)) return WEFT_OK;
    // a recursive mutex, or an error
    if (of.owner() == Caller().identity()) return lock_slow(of, Urgency::normal, forever);
    os::Backoff backoff;
    while (!lock_free(of)) backoff.wait();
    return WEFT_OK;
}

weft_status weft_mutex_try_lock(weft_mutex* mutex) noexcept {
    if (mutex == nullptr) return is_null("mutex");
    Mutex of = at<Mutex>(mutex);
    if (lock_free(of)) return WEFT_OK;
    if (of.is_recursive() && of.owner() == Caller().identity()) return lock_slow(of, Urgency::normal, forever);
    return say(WEFT_BUSY, "the mutex is locked");
}

weft_status weft_mutex_unlock(weft_mutex* mutex) noexcept {
    if (mutex == nullptr) [[unlikely]]
        return is_null("mutex");
    Mutex of = at<Mutex>(mutex);
    Unit* const unit = running_or_null();
    if (unit == nullptr || of.owner() != unit || !of.unlock_quickly(unit)) [[unlikely]]
        return unlock_slow(of);
    unit->latest_lock = nullptr;
    return WEFT_OK;
}

// ---- condition ----------------------------------------------------------------------------------

weft_status weft_cond_wait(weft_cond* cond, weft_mutex* mutex) noexcept {
    if (cond == nullptr || mutex == nullptr) return is_null(cond == nullptr ? "cond" : "mutex");
    return wait_condition(at<Condition>(cond), at<Mutex>(mutex));
}

weft_status weft_cond_wait_until(weft_cond* cond, weft_mutex* mutex, uint64_t deadline_ns) noexcept {
    if (cond == nullptr || mutex == nullptr) return is_null(cond == nullptr ? "cond" : "mutex");
    return wait_condition(at<Condition>(cond), at<Mutex>(mutex), deadline_ns, nullptr, nullptr);
}

weft_status weft_cond_wait_unless(weft_cond* cond, weft_mutex* mutex, bool (*unless)(void*), void* argument) noexcept {
    return weft_cond_wait_unless_until(cond, mutex, unless, argument, WEFT_FOREVER);
}

weft_status weft_cond_wait_unless_until(weft_cond* cond, weft_mutex* mutex, bool (*unless)(void*), void* argument,
                                        uint64_t deadline_ns) noexcept {
    if (cond == nullptr || mutex == nullptr) return is_null(cond == nullptr ? "cond" : "mutex");
    if (unless == nullptr) return is_null("unless");
    return wait_condition(at<Condition>(cond), at<Mutex>(mutex), deadline_ns, unless, argument);
}

weft_status weft_cond_signal(weft_cond* cond) noexcept {
    if (cond == nullptr) return is_null("cond");
    return sync::signal(at<Condition>(cond));
}

weft_status weft_cond_broadcast(weft_cond* cond) noexcept {
    if (cond == nullptr) return is_null("cond");
    at<Condition>(cond).broadcast();
    return WEFT_OK;
}

weft_status weft_cond_interrupt(weft_cond* cond) noexcept {
    if (cond == nullptr) return is_null("cond");
    at<Condition>(cond).interrupt();
    return WEFT_OK;
}

weft_status weft_cond_settle(weft_cond* cond, weft_mutex* mutex) noexcept {
    if (cond == nullptr || mutex == nullptr) return is_null(cond == nullptr ? "cond" : "mutex");
    return settle(at<Condition>(cond), at<Mutex>(mutex));
}

// ---- event --------------------------------------------------------------------------------------

weft_status weft_event_set(weft_event* event, void* value) noexcept {
    if (event == nullptr) [[unlikely]]
        return is_null("event");
    Event of = at<Event>(event);
    return os::single_threaded() ? set_event(of, value, SingleThreaded()) : set_event(of, value, AtOnce());
}

weft_status weft_event_wait(weft_event* event, void** value) noexcept {
    if (event == nullptr) [[unlikely]]
        return is_null("event");
    const Event of = at<Event>(event);
    if (!of.come()) return value == nullptr ? wait_unset(of) : wait_unset_until(of, value, forever);
    if (value != nullptr) *value = of.value();
    return WEFT_OK;
}

weft_status weft_event_wait_until(weft_event* event, uint64_t deadline_ns, void** value) noexcept {
    if (event == nullptr) [[unlikely]]
        return is_null("event");
    const Event of = at<Event>(event);
    if (!of.come()) return wait_unset_until(of, value, deadline_ns);
    if (value != nullptr) *value = of.value();
    return WEFT_OK;
}

weft_status weft_event_test(weft_event* event, void** value) noexcept {
    if (event == nullptr) return is_null("event");
    Event of = at<Event>(event);
    if (!of.come()) return say(WEFT_BUSY, "the event is not set");
    if (value != nullptr) *value = of.value();
    return WEFT_OK;
}

weft_status weft_event_reset(weft_event* event) noexcept {
    if (event == nullptr) return is_null("event");
    at<Event>(event).reset();
    return WEFT_OK;
}

weft_status weft_event_wait_any(weft_event* const* events, size_t count, size_t* index) noexcept {
    return weft_event_wait_any_until(events, count, WEFT_FOREVER, index);
}

weft_status weft_event_wait_any_until(weft_event* const* events, size_t count, uint64_t deadline_ns,
                                      size_t* index) noexcept {
    if (events == nullptr) return is_null("events");
    if (count == 0) return fail(WEFT_INVALID, "count is 0: none of no events will ever be set");
    for (size_t i = 0; i < count; ++i) {
        if (events[i] == nullptr) return fail(WEFT_INVALID, "events[%zu] is null; each is required", i);
    }
    return wait_any(events, count, index, deadline_ns);
}

weft_status weft_event_wait_all(weft_event* const* events, size_t count) noexcept {
    return weft_event_wait_all_until(events, count, WEFT_FOREVER);
}

weft_status weft_event_wait_all_until(weft_event* const* events, size_t count, uint64_t deadline_ns) noexcept {
    if (events == nullptr && count != 0) return is_null("events");
    for (size_t i = 0; i < count; ++i) {
        if (events[i] == nullptr) return fail(WEFT_INVALID, "events[%zu] is null; each is required", i);
    }
    for (size_t i = 0; i < count; ++i) {
        if (const weft_status status = weft_event_wait_until(events[i], deadline_ns, nullptr); status != WEFT_OK)
            return status;
    }
    return WEFT_OK;
}

// ---- semaphore ----------------------------------------------------------------------------------

weft_status weft_semaphore_init(weft_semaphore* semaphore, uint32_t count) noexcept {
    if (semaphore == nullptr) return is_null("semaphore");
    if (count > WEFT_COUNT_MAX)
        return fail(WEFT_INVALID, "a semaphore counts at most %u, not %u", WEFT_COUNT_MAX, count);
    *semaphore = {count, 0, {0, 0}};
    return WEFT_OK;
}

weft_status weft_semaphore_release(weft_semaphore* semaphore, uint32_t count) noexcept {
    if (semaphore == nullptr) return is_null("semaphore");
    if (!at<Semaphore>(semaphore).release(count))
        return fail(WEFT_INVALID, "a semaphore counts at most %u; %u more are too many", WEFT_COUNT_MAX, count);
    return WEFT_OK;
}

weft_status weft_semaphore_acquire(weft_semaphore* semaphore) noexcept {
    return weft_semaphore_acquire_until(semaphore, WEFT_FOREVER);
}

weft_status weft_semaphore_acquire_until(weft_semaphore* semaphore, uint64_t deadline_ns) noexcept {
    if (semaphore == nullptr) return is_null("semaphore");
    Waiter waiter;
    return take_or_wait(at<Semaphore>(semaphore), waiter, deadline_ns, Waits::semaphore, semaphore);
}

weft_status weft_semaphore_try_acquire(weft_semaphore* semaphore) noexcept {
    if (semaphore == nullptr) return is_null("semaphore");
    return at<Semaphore>(semaphore).try_acquire() ? WEFT_OK : say(WEFT_BUSY, "the semaphore counts 0");
}

weft_status weft_semaphore_count_get(const weft_semaphore* semaphore, uint32_t* count) noexcept {
    if (semaphore == nullptr || count == nullptr) return is_null(semaphore == nullptr ? "semaphore" : "count");
    *count = at<Semaphore>(const_cast<weft_semaphore*>(semaphore)).count();
    return WEFT_OK;
}

// ---- latch --------------------------------------------------------------------------------------

weft_status weft_latch_init(weft_latch* latch, uint32_t count) noexcept {
    if (latch == nullptr) return is_null("latch");
    if (count > WEFT_COUNT_MAX) return fail(WEFT_INVALID, "a latch counts at most %u, not %u", WEFT_COUNT_MAX, count);
    *latch = {count, 0, {0, 0}};
    return WEFT_OK;
}

weft_status weft_latch_count_down(weft_latch* latch, uint32_t count) noexcept {
    if (latch == nullptr) return is_null("latch");
    if (!at<Latch>(latch).count_down(count))
        return fail(WEFT_INVALID, "the latch has not %u left to count down", count);
    return WEFT_OK;
}

weft_status weft_latch_wait(weft_latch* latch) noexcept { return weft_latch_wait_until(latch, WEFT_FOREVER); }

weft_status weft_latch_wait_until(weft_latch* latch, uint64_t deadline_ns) noexcept {
    if (latch == nullptr) return is_null("latch");
    Waiter waiter;
    return take_or_wait(at<Latch>(latch), waiter, deadline_ns, Waits::latch, latch);
}

weft_status weft_latch_test(const weft_latch* latch) noexcept {
    if (latch == nullptr) return is_null("latch");
    return at<Latch>(const_cast<weft_latch*>(latch)).come() ? WEFT_OK
                                                            : say(WEFT_BUSY, "the latch has not reached zero");
}

// ---- barrier ------------------------------------------------------------------------------------

weft_status weft_barrier_init(weft_barrier* barrier, uint32_t expected, void (*completion)(void*),
                              void* argument) noexcept {
    if (barrier == nullptr) return is_null("barrier");
    if (expected == 0 || expected > WEFT_COUNT_MAX) {
        return fail(WEFT_INVALID, "a barrier is for 1 to %u, not %u", WEFT_COUNT_MAX, expected);
    }
    *barrier = {expected, 0, {0, 0, 0, 0, 0}};
    Barrier::Body& body = at<Barrier>(barrier).body();
    body.completion = completion;
    body.argument = argument;
    body.expected = expected;
    return WEFT_OK;
}

weft_status weft_barrier_wait(weft_barrier* barrier) noexcept {
    if (barrier == nullptr) return is_null("barrier");
    return arrive_and_wait(at<Barrier>(barrier));
}

weft_status weft_barrier_wait_until(weft_barrier* barrier, uint64_t deadline_ns) noexcept {
    if (barrier == nullptr) return is_null("barrier");
    if (const Caller caller; !caller.may_wait()) return may_not_wait(caller, Waits::barrier);   // before it has arrived
    uint32_t phase = 0;
    const weft_status status = weft_barrier_arrive(barrier, 1, &phase);
    return status == WEFT_OK ? weft_barrier_wait_phase_until(barrier, phase, deadline_ns) : status;
}

weft_status weft_barrier_arrive(weft_barrier* barrier, uint32_t count, uint32_t* phase) noexcept {
    if (barrier == nullptr) return is_null("barrier");
    if (!at<Barrier>(barrier).arrive(count, 0, phase))
        return fail(WEFT_INVALID, "%u are not expected any more in this phase", count);
    return WEFT_OK;
}

weft_status weft_barrier_wait_phase(weft_barrier* barrier, uint32_t phase) noexcept {
    return weft_barrier_wait_phase_until(barrier, phase, WEFT_FOREVER);
}

weft_status weft_barrier_wait_phase_until(weft_barrier* barrier, uint32_t phase, uint64_t deadline_ns) noexcept {
    if (barrier == nullptr) return is_null("barrier");
    Barrier of = at<Barrier>(barrier);
    Waiter waiter;
    return take_or_wait(Barrier::End(of, phase), waiter, deadline_ns, Waits::barrier, barrier);
}

weft_status weft_barrier_arrive_and_drop(weft_barrier* barrier) noexcept {
    if (barrier == nullptr) return is_null("barrier");
    if (!at<Barrier>(barrier).arrive(1, 1, nullptr)) return fail(WEFT_INVALID, "this phase expects no more arrivals");
    return WEFT_OK;
}

// ---- read-write lock ----------------------------------------------------------------------------

weft_status weft_rwlock_read_lock(weft_rwlock* lock) noexcept {
    return weft_rwlock_read_lock_until(lock, WEFT_FOREVER);
}

weft_status weft_rwlock_read_lock_until(weft_rwlock* lock, uint64_t deadline_ns) noexcept {
    if (lock == nullptr) return is_null("lock");
    RwLock of = at<RwLock>(lock);
    if (of.try_read()) return WEFT_OK;
    if (of.owner() == Caller().identity()) return fail(WEFT_WRONG_STATE, "the caller holds the lock for writing");
    Waiter waiter;
    return take_or_wait(RwLock::ForReading(of), waiter, deadline_ns, Waits::rwlock, lock);
}

weft_status weft_rwlock_write_lock(weft_rwlock* lock) noexcept {
    return weft_rwlock_write_lock_until(lock, WEFT_FOREVER);
}

weft_status weft_rwlock_write_lock_until(weft_rwlock* lock, uint64_t deadline_ns) noexcept {
    if (lock == nullptr) return is_null("lock");
    RwLock of = at<RwLock>(lock);
    void* const identity = Caller().identity();
    weft_status status = WEFT_OK;
    if (!of.try_write()) {
        if (of.owner() == identity) return fail(WEFT_WRONG_STATE, "the caller holds the lock for writing");
        Waiter waiter;
        status = take_or_wait(RwLock::ForWriting(of), waiter, deadline_ns, Waits::rwlock, lock);
    }
    if (status == WEFT_OK) of.set_owner(identity);
    return status;
}

weft_status weft_rwlock_try_read_lock(weft_rwlock* lock) noexcept {
    if (lock == nullptr) return is_null("lock");
    return at<RwLock>(lock).try_read() ? WEFT_OK : say(WEFT_BUSY, "a writer holds the lock, or waits for it");
}

weft_status weft_rwlock_try_write_lock(weft_rwlock* lock) noexcept {
    if (lock == nullptr) return is_null("lock");
    RwLock of = at<RwLock>(lock);
    if (!of.try_write()) return say(WEFT_BUSY, "the lock is held");
    of.set_owner(Caller().identity());
    return WEFT_OK;
}

weft_status weft_rwlock_unlock(weft_rwlock* lock) noexcept {
    if (lock == nullptr) return is_null("lock");
    if (!at<RwLock>(lock).unlock(Caller().identity())) {
        return fail(WEFT_WRONG_STATE, "the lock is not held, or another writer holds it; only its holder unlocks it");
    }
    return WEFT_OK;
}

// ---- future -------------------------------------------------------------------------------------

namespace {
Future* to_future(weft_future* handle, const char* call = __builtin_FUNCTION()) {
    return handles::to_object<Future>(handles::Thing::future, handle, call);
}
}   // namespace

weft_status weft_future_create(size_t compartments, void (*callback)(void**, void*), void* argument,
                               weft_future** future) noexcept {
    if (future == nullptr) return is_null("future");
    Future* made = Future::make(compartments, callback, argument);
    if (made == nullptr) return fail(WEFT_NO_MEMORY, "no memory for a future of %zu compartments", compartments);
    *future = handles::to_handle<weft_future>(handles::Thing::future, made);
    return WEFT_OK;
}

weft_status weft_future_free(weft_future* future) noexcept {
    if (future == nullptr) return is_null("future");
    Future* const of = to_future(future);
    handles::freed(of);
    Future::destroy(of);
    return WEFT_OK;
}

weft_status weft_future_set(weft_future* future, void* value) noexcept {
    if (future == nullptr) return is_null("future");
    if (!to_future(future)->set(value))
        return fail(WEFT_WRONG_STATE, "all compartments of the future are filled; reset it first");
    return WEFT_OK;
}

weft_status weft_future_wait(weft_future* future, void*** values) noexcept {
    return weft_future_wait_until(future, WEFT_FOREVER, values);
}

weft_status weft_future_wait_until(weft_future* future, uint64_t deadline_ns, void*** values) noexcept {
    if (future == nullptr) return is_null("future");
    Future* const of = to_future(future);
    const weft_status status = weft_event_wait_until(of->event(), deadline_ns, nullptr);
    if (status == WEFT_OK && values != nullptr) *values = of->values();
    return status;
}

weft_status weft_future_test(weft_future* future) noexcept {
    if (future == nullptr) return is_null("future");
    return weft_event_test(to_future(future)->event(), nullptr);
}

weft_status weft_future_reset(weft_future* future) noexcept {
    if (future == nullptr) return is_null("future");
    to_future(future)->reset();
    return WEFT_OK;
}

weft_status weft_future_event_get(weft_future* future, weft_event** event) noexcept {
    if (future == nullptr || event == nullptr) return is_null(future == nullptr ? "future" : "event");
    *event = to_future(future)->event();
    return WEFT_OK;
}

// ---- channel ------------------------------------------------------------------------------------

namespace {

Channel* to_channel(weft_channel* handle, const char* call = __builtin_FUNCTION()) {
    return handles::to_object<Channel>(handles::Thing::channel, handle, call);
}

// How a wait at a channel ended.
weft_status outcome(weft_status waited, const Waiter& waiter) {
    if (waited == WEFT_OK && waiter.answer == Answer::closed) return say(WEFT_CLOSED, "the channel is closed");
    return waited;
}

}   // namespace

weft_status weft_channel_create(const weft_channel_options* options, weft_channel** channel) noexcept {
    if (channel == nullptr) return is_null("channel");
    weft_channel_options given{};
    if (options != nullptr) {
        if (options->size < sizeof(std::size_t) || options->size > 4096) {
            return fail(WEFT_INVALID, "weft_channel_options.size is %zu; set it to sizeof(weft_channel_options)",
                        options->size);
        }
        std::memcpy(&given, options, options->size < sizeof given ? options->size : sizeof given);
    }
    if (given.element_bytes == 0) given.element_bytes = sizeof(void*);
    const std::size_t most = (~std::size_t{0} / 2) / given.element_bytes;
    void* block =
        given.capacity > most ? nullptr : os::allocate(sizeof(Channel) + given.capacity * given.element_bytes);
    if (block == nullptr) {
        return fail(WEFT_NO_MEMORY, "no memory for a channel of %zu elements of %zu bytes", given.capacity,
                    given.element_bytes);
    }
    static_assert(sizeof(Channel) % alignof(std::max_align_t) == 0, "the elements lie behind it");
    auto* made = new (block) Channel({given.element_bytes, given.capacity, given.move, given.drop},
                                     static_cast<char*>(block) + sizeof(Channel));
    *channel = handles::to_handle<weft_channel>(handles::Thing::channel, made);
    return WEFT_OK;
}

weft_status weft_channel_free(weft_channel* channel) noexcept {
    if (channel == nullptr) return is_null("channel");
    Channel* of = to_channel(channel);
    if (of->somebody_waits()) return say(WEFT_BUSY, "a unit or thread waits for the channel; close it first");
    handles::freed(of);
    of->drop_all();
    of->~Channel();
    os::release(of);
    return WEFT_OK;
}

weft_status weft_channel_send(weft_channel* channel, void* element) noexcept {
    return weft_channel_send_until(channel, element, WEFT_FOREVER);
}

weft_status weft_channel_send_until(weft_channel* channel, void* element, uint64_t deadline_ns) noexcept {
    if (channel == nullptr || element == nullptr) return is_null(channel == nullptr ? "channel" : "element");
    Waiter waiter;
    waiter.item = element;
    return outcome(take_or_wait(Channel::Sending(*to_channel(channel)), waiter, deadline_ns, Waits::channel, channel),
                   waiter);
}

weft_status weft_channel_receive(weft_channel* channel, void* element) noexcept {
    return weft_channel_receive_until(channel, WEFT_FOREVER, element);
}

weft_status weft_channel_receive_until(weft_channel* channel, uint64_t deadline_ns, void* element) noexcept {
    if (channel == nullptr || element == nullptr) return is_null(channel == nullptr ? "channel" : "element");
    Waiter waiter;
    waiter.item = element;
    return outcome(take_or_wait(Channel::Receiving(*to_channel(channel)), waiter, deadline_ns, Waits::channel, channel),
                   waiter);
}

weft_status weft_channel_close(weft_channel* channel) noexcept {
    if (channel == nullptr) return is_null("channel");
    if (!to_channel(channel)->close()) return fail(WEFT_WRONG_STATE, "the channel was closed already");
    return WEFT_OK;
}

weft_status weft_channel_length_get(const weft_channel* channel, size_t* length) noexcept {
    if (channel == nullptr || length == nullptr) return is_null(channel == nullptr ? "channel" : "length");
    *length = to_channel(const_cast<weft_channel*>(channel))->length();
    return WEFT_OK;
}

weft_status weft_channel_select(weft_channel_case* cases, size_t count, size_t* index) noexcept {
    return weft_channel_select_until(cases, count, WEFT_FOREVER, index);
}

weft_status weft_channel_select_until(weft_channel_case* cases, size_t count, uint64_t deadline_ns,
                                      size_t* index) noexcept {
    if (cases == nullptr || index == nullptr) return is_null(cases == nullptr ? "cases" : "index");
    if (count == 0) return fail(WEFT_INVALID, "count is 0: none of no cases will ever come");
    for (size_t i = 0; i < count; ++i) {
        if (cases[i].channel != nullptr && cases[i].element == nullptr)
            return fail(WEFT_INVALID, "cases[%zu].element is null; it is required", i);
    }
    return sync::select(cases, count, index, deadline_ns);
}

}   // extern "C"
