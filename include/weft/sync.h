/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Objects that units wait for: mutex, condition, event, semaphore, latch, barrier, read-write lock,
 * future, channel.
 *
 * All objects serve ULTs and OS threads alike, and both may wait for one object: a ULT that waits
 * is suspended and lets other units run, an OS thread that is not a stream sleeps in the kernel. A
 * tasklet cannot wait: a call that would have to wait returns WEFT_WRONG_KIND, and nothing has
 * happened. A call that need not wait never switches, wherever it comes from.
 *
 * Deadlines are times of the monotonic clock, in nanoseconds, as weft_now_ns reads it; WEFT_FOREVER
 * means no deadline. A call whose deadline has passed takes what is available without waiting, and
 * otherwise returns WEFT_TIMED_OUT. A wait ends as soon as its condition is met, and otherwise
 * never before its deadline.
 *
 * The objects that are structures lie where the program puts them, must not be moved, and need not
 * be destroyed. Mutex, condition and event are valid when all their bytes are zero, work before
 * weft_init and after weft_finalize, and may lie in any 64 bytes aligned to 4: the calls align
 * inside. */
#ifndef WEFT_SYNC_H
#define WEFT_SYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/status.h>

WEFT_BEGIN

/** No deadline. */
#define WEFT_FOREVER UINT64_MAX

/** The monotonic clock in nanoseconds, which deadlines are compared with. From anywhere, signal
 * handlers included; never switches. Since 0.2. */
WEFT_API uint64_t weft_now_ns(void) WEFT_NOTHROW;

/* ---- mutex ----------------------------------------------------------------------------------- */

/** A lock. A caller that arrives may overtake the waiters. But a waiter that was woken and
 * overtaken is given the lock next, or, where other streams or OS threads run, after it was
 * overtaken eight times. One waiter is woken at a time, so the cost of a lock does not grow with
 * the number of waiters. */
typedef struct weft_mutex {
    uint32_t word;    /**< the library's; 0 while the lock is free */
    uint32_t gap;     /**< the library's */
    uint64_t body[6]; /**< the library's */
} weft_mutex;

/** An unlocked mutex, for static storage. */
#define WEFT_MUTEX_INIT            \
    {                              \
        0, 0, { 0, 0, 0, 0, 0, 0 } \
    }
/** An unlocked mutex that its holder may lock again, for static storage. */
#define WEFT_MUTEX_RECURSIVE_INIT  \
    {                              \
        1, 0, { 0, 0, 0, 0, 0, 0 } \
    }

/** Which of several waiters is served first; among equals, the first to arrive. */
typedef enum weft_urgency {
    WEFT_URGENCY_NORMAL = 0, /**< between the other two */
    WEFT_URGENCY_HIGH = 1,   /**< before all others */
    WEFT_URGENCY_LOW = 2     /**< after all others */
} weft_urgency;

/** Locks the mutex; waits as long as another holder has it.
 *
 * Returns WEFT_OK; WEFT_INVALID (null); WEFT_WRONG_STATE (the caller holds it already, and it is
 * not recursive); WEFT_WRONG_KIND and WEFT_WRONG_CONTEXT (a tasklet or a scheduler would have to
 * wait). From any thread, unit or scheduler; a ULT may switch. Since 0.2. */
WEFT_API weft_status weft_mutex_lock(weft_mutex *mutex) WEFT_NOTHROW;

/** Like weft_mutex_lock, with a deadline; also returns WEFT_TIMED_OUT. From any thread, unit or
 * scheduler; a ULT may switch. Since 0.7; before that its second argument was an urgency. */
WEFT_API weft_status weft_mutex_lock_until(weft_mutex *mutex, uint64_t deadline_ns) WEFT_NOTHROW;

/** Like weft_mutex_lock, with an urgency among the waiters. WEFT_INVALID also when there is no such
 * urgency. From any thread, unit or scheduler; a ULT may switch. Since 0.7. */
WEFT_API weft_status weft_mutex_lock_urgent(weft_mutex *mutex, weft_urgency urgency) WEFT_NOTHROW;

/** Like weft_mutex_lock_urgent, with a deadline; also returns WEFT_TIMED_OUT. From any thread, unit
 * or scheduler; a ULT may switch. Since 0.7. */
WEFT_API weft_status weft_mutex_lock_urgent_until(weft_mutex *mutex, weft_urgency urgency,
                                                  uint64_t deadline_ns) WEFT_NOTHROW;

/** Locks the mutex without letting other units run meanwhile: for critical sections of a few
 * instructions whose holders never suspend. A ULT that spins for a holder of its own stream spins
 * forever. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE. From anywhere but signal handlers;
 * never switches. Since 0.2. */
WEFT_API weft_status weft_mutex_spin_lock(weft_mutex *mutex) WEFT_NOTHROW;

/** Locks the mutex if it is free. Returns WEFT_OK, WEFT_BUSY, WEFT_INVALID. From anywhere but
 * signal handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_mutex_try_lock(weft_mutex *mutex) WEFT_NOTHROW;

/** Unlocks the mutex; wakes one waiter. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (the caller
 * does not hold it). From the holder; never switches. Since 0.2. */
WEFT_API weft_status weft_mutex_unlock(weft_mutex *mutex) WEFT_NOTHROW;

/* ---- condition ------------------------------------------------------------------------------- */

/** A condition variable. A signal by the holder of the mutex takes effect when the mutex is
 * unlocked; the condition must live until then (weft_cond_settle). A wait may end without a signal:
 * test the awaited condition in a loop. */
typedef struct weft_cond {
    uint32_t word;    /**< the library's; 0 while there is no waiter */
    uint32_t gap;     /**< the library's */
    uint64_t body[5]; /**< the library's */
} weft_cond;

/** A condition without waiters, for static storage. */
#define WEFT_COND_INIT          \
    {                           \
        0, 0, { 0, 0, 0, 0, 0 } \
    }

/** Unlocks the mutex, waits until the condition is signalled, and locks the mutex again, a
 * recursive one as often as it was locked.
 *
 * Returns WEFT_OK; WEFT_INVALID (null, or another caller waits for the condition with another
 * mutex); WEFT_WRONG_STATE (the caller does not hold the mutex); WEFT_WRONG_KIND (a tasklet),
 * WEFT_WRONG_CONTEXT (a scheduler). With any status but WEFT_OK nothing has happened. From any
 * thread or ULT; switches. Since 0.2. */
WEFT_API weft_status weft_cond_wait(weft_cond *cond, weft_mutex *mutex) WEFT_NOTHROW;

/** Like weft_cond_wait, with a deadline: WEFT_TIMED_OUT when it came first; the mutex is locked
 * again also in this case. From any thread or ULT; switches. Since 0.2. */
WEFT_API weft_status weft_cond_wait_until(weft_cond *cond, weft_mutex *mutex, uint64_t deadline_ns) WEFT_NOTHROW;

/** Like weft_cond_wait, for a wait that can be interrupted from outside: returns WEFT_OK at once
 * when unless(argument) is true. `unless` is called after the caller has become a waiter, so that a
 * weft_cond_interrupt that comes after the reason has arisen is not missed. `unless` must be short,
 * must not call Weft, and must start no thread. From any thread or ULT; switches. Since 0.7; before
 * that it always had a deadline. */
WEFT_API weft_status weft_cond_wait_unless(weft_cond *cond, weft_mutex *mutex, bool (*unless)(void *argument),
                                           void *argument) WEFT_NOTHROW;

/** Like weft_cond_wait_unless, with the deadline of weft_cond_wait_until. From any thread or ULT;
 * switches. Since 0.7. */
WEFT_API weft_status weft_cond_wait_unless_until(weft_cond *cond, weft_mutex *mutex, bool (*unless)(void *argument),
                                                 void *argument, uint64_t deadline_ns) WEFT_NOTHROW;

/** Wakes one waiter, if there is one. Returns WEFT_OK or WEFT_INVALID. From anywhere but signal
 * handlers, with or without the mutex; never switches. Since 0.2. */
WEFT_API weft_status weft_cond_signal(weft_cond *cond) WEFT_NOTHROW;

/** Wakes all waiters; they get the mutex one after the other. Returns WEFT_OK or WEFT_INVALID.
 * From anywhere but signal handlers, with or without the mutex; never switches. Since 0.2. */
WEFT_API weft_status weft_cond_broadcast(weft_cond *cond) WEFT_NOTHROW;

/** Like weft_cond_broadcast, and reaches callers that are about to wait, too: see
 * weft_cond_wait_unless. Returns WEFT_OK or WEFT_INVALID. From anywhere but signal handlers; never
 * switches. Since 0.2. */
WEFT_API weft_status weft_cond_interrupt(weft_cond *cond) WEFT_NOTHROW;

/** Lets the signals of the condition take effect now. To be called before the memory of a condition
 * is reused by a caller that still holds the mutex under which the condition was signalled. Returns
 * WEFT_OK or WEFT_INVALID, WEFT_BUSY (there is still a waiter). From the holder of `mutex`; never
 * switches. Since 0.2. */
WEFT_API weft_status weft_cond_settle(weft_cond *cond, weft_mutex *mutex) WEFT_NOTHROW;

/* ---- event ----------------------------------------------------------------------------------- */

/** Something that happens once (Argobots' eventual, Seo et al., TPDS 2018, section III), and
 * carries a pointer.
 *
 * To test an event without a call, load `word` with acquire ordering: while it is
 * WEFT_EVENT_IS_SET, and only then, the event is set. Where weft_event_reset may be called, a store
 * of 0 to the word of a set event, with release ordering, has the same effect. Since 0.5. */
typedef struct weft_event {
    uint32_t word;    /**< the library's; 0 until it is set */
    uint32_t gap;     /**< the library's */
    uint64_t body[3]; /**< the library's */
} weft_event;

/** The word of a set event. Since 0.5. */
#define WEFT_EVENT_IS_SET ((uint32_t)1)

/** An event that is not set, for static storage. */
#define WEFT_EVENT_INIT   \
    {                     \
        0, 0, { 0, 0, 0 } \
    }

/** Sets the event; wakes all waiters. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (it is
 * already set; its value stays). From anywhere but signal handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_event_set(weft_event *event, void *value) WEFT_NOTHROW;

/** Waits until the event is set; returns at once if it is set already.
 *
 * value  NULL, or receives the pointer that the event carries
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_KIND (a tasklet, and it is not set), WEFT_WRONG_CONTEXT
 * (a scheduler). From any thread or unit; a ULT may switch. Since 0.2. */
WEFT_API weft_status weft_event_wait(weft_event *event, void **value) WEFT_NOTHROW;

/** Like weft_event_wait, with a deadline; also returns WEFT_TIMED_OUT. From any thread or unit; a
 * ULT may switch. Since 0.2; until 0.6 the deadline was the last argument. */
WEFT_API weft_status weft_event_wait_until(weft_event *event, uint64_t deadline_ns, void **value) WEFT_NOTHROW;

/** Whether the event is set: WEFT_OK, or WEFT_BUSY; WEFT_INVALID. `value` is as in weft_event_wait.
 * From anywhere but signal handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_event_test(weft_event *event, void **value) WEFT_NOTHROW;

/** Makes the event unset. Not at the same time as a call that sets it. Returns WEFT_OK or
 * WEFT_INVALID. From anywhere but signal handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_event_reset(weft_event *event) WEFT_NOTHROW;

/** Waits until one of `count` events is set.
 *
 * events  not null, none of them null; an event may occur more than once
 * index   NULL, or receives the index of the first event, in order, that is set
 *
 * Returns WEFT_OK, WEFT_INVALID (also when count is 0), WEFT_NO_MEMORY, WEFT_WRONG_KIND,
 * WEFT_WRONG_CONTEXT. From any thread or unit; a ULT may switch. Since 0.2; until 0.6 it always had
 * a deadline. */
WEFT_API weft_status weft_event_wait_any(weft_event *const *events, size_t count, size_t *index) WEFT_NOTHROW;

/** Like weft_event_wait_any, with a deadline; also returns WEFT_TIMED_OUT. From any thread or unit;
 * a ULT may switch. Since 0.7. */
WEFT_API weft_status weft_event_wait_any_until(weft_event *const *events, size_t count, uint64_t deadline_ns,
                                               size_t *index) WEFT_NOTHROW;

/** Waits until all of `count` events are set. Returns the statuses of weft_event_wait_any; count
 * may be 0. From any thread or unit; a ULT may switch. Since 0.2; until 0.6 it always had a
 * deadline. */
WEFT_API weft_status weft_event_wait_all(weft_event *const *events, size_t count) WEFT_NOTHROW;

/** Like weft_event_wait_all, with a deadline; also returns WEFT_TIMED_OUT. From any thread or unit;
 * a ULT may switch. Since 0.7. */
WEFT_API weft_status weft_event_wait_all_until(weft_event *const *events, size_t count,
                                               uint64_t deadline_ns) WEFT_NOTHROW;

/* ---- semaphore ------------------------------------------------------------------------------- */

/** The largest count of a semaphore or a latch. */
#define WEFT_COUNT_MAX ((uint32_t)0x3fffffff)

/** A counting semaphore. Zero bytes are a semaphore with the count 0. */
typedef struct weft_semaphore {
    uint32_t word;    /**< the library's */
    uint32_t gap;     /**< the library's */
    uint64_t body[2]; /**< the library's */
} weft_semaphore;

/** Begins with `count`, at most WEFT_COUNT_MAX. Returns WEFT_OK or WEFT_INVALID. From anywhere,
 * before any other thread or unit knows the object; never switches. Since 0.2. */
WEFT_API weft_status weft_semaphore_init(weft_semaphore *semaphore, uint32_t count) WEFT_NOTHROW;

/** Adds `count`; wakes as many waiters as can be served, in the order of their arrival. Returns
 * WEFT_OK, WEFT_INVALID (the sum would be above WEFT_COUNT_MAX). From anywhere but signal handlers;
 * never switches. Since 0.2. */
WEFT_API weft_status weft_semaphore_release(weft_semaphore *semaphore, uint32_t count) WEFT_NOTHROW;

/** Takes one from the count; waits while the count is 0. Returns WEFT_OK, WEFT_INVALID,
 * WEFT_WRONG_KIND, WEFT_WRONG_CONTEXT. From any thread or unit; a ULT may switch. Since 0.2. */
WEFT_API weft_status weft_semaphore_acquire(weft_semaphore *semaphore) WEFT_NOTHROW;

/** Like weft_semaphore_acquire, with a deadline; also returns WEFT_TIMED_OUT. From any thread or
 * unit; a ULT may switch. Since 0.2. */
WEFT_API weft_status weft_semaphore_acquire_until(weft_semaphore *semaphore, uint64_t deadline_ns) WEFT_NOTHROW;

/** Takes one from the count if it is not 0: WEFT_OK, or WEFT_BUSY; WEFT_INVALID. From anywhere but
 * signal handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_semaphore_try_acquire(weft_semaphore *semaphore) WEFT_NOTHROW;

/** The count: a hint. Returns WEFT_OK or WEFT_INVALID. From anywhere; never switches.
 * Since 0.2. */
WEFT_API weft_status weft_semaphore_count_get(const weft_semaphore *semaphore, uint32_t *count) WEFT_NOTHROW;

/* ---- latch ----------------------------------------------------------------------------------- */

/** Counts down to zero, once. Zero bytes are a latch that has reached zero. */
typedef struct weft_latch {
    uint32_t word;    /**< the library's */
    uint32_t gap;     /**< the library's */
    uint64_t body[2]; /**< the library's */
} weft_latch;

/** Begins with `count`, at most WEFT_COUNT_MAX. Returns WEFT_OK or WEFT_INVALID. From anywhere,
 * before any other thread or unit knows the object; never switches. Since 0.2. */
WEFT_API weft_status weft_latch_init(weft_latch *latch, uint32_t count) WEFT_NOTHROW;

/** Counts down by `count`; at zero all waiters are woken, and the latch may be gone when this
 * returns. Returns WEFT_OK, WEFT_INVALID (null, or more than is left). From anywhere but signal
 * handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_latch_count_down(weft_latch *latch, uint32_t count) WEFT_NOTHROW;

/** Waits until the latch has reached zero. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_KIND,
 * WEFT_WRONG_CONTEXT. From any thread or unit; a ULT may switch. Since 0.2. */
WEFT_API weft_status weft_latch_wait(weft_latch *latch) WEFT_NOTHROW;

/** Like weft_latch_wait, with a deadline; also returns WEFT_TIMED_OUT. From any thread or unit; a
 * ULT may switch. Since 0.2. */
WEFT_API weft_status weft_latch_wait_until(weft_latch *latch, uint64_t deadline_ns) WEFT_NOTHROW;

/** Whether the latch has reached zero: WEFT_OK, or WEFT_BUSY; WEFT_INVALID. From anywhere but
 * signal handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_latch_test(const weft_latch *latch) WEFT_NOTHROW;

/* ---- barrier --------------------------------------------------------------------------------- */

/** Lets a fixed number of units or threads proceed together, again and again: in phases, each of
 * which ends when all have arrived. */
typedef struct weft_barrier {
    uint32_t word;    /**< the library's */
    uint32_t gap;     /**< the library's */
    uint64_t body[5]; /**< the library's */
} weft_barrier;

/** Begins a barrier.
 *
 * expected    the number of arrivals in each phase, 1 to WEFT_COUNT_MAX
 * completion  NULL, or called as completion(argument) at the end of each phase by the last to
 *             arrive, before the others resume; it must not suspend
 *
 * Returns WEFT_OK or WEFT_INVALID. From anywhere, before any other thread or unit knows the object;
 * never switches. Since 0.2. */
WEFT_API weft_status weft_barrier_init(weft_barrier *barrier, uint32_t expected, void (*completion)(void *argument),
                                       void *argument) WEFT_NOTHROW;

/** Arrives and waits until all have arrived. The barrier may be gone when this returns, if no
 * further arrival is to come. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_KIND, WEFT_WRONG_CONTEXT
 * (in the last two the caller has not arrived). From any thread or unit; a ULT switches unless it
 * is the last. Since 0.2. */
WEFT_API weft_status weft_barrier_wait(weft_barrier *barrier) WEFT_NOTHROW;

/** Like weft_barrier_wait, with a deadline. After WEFT_TIMED_OUT the caller has arrived
 * nonetheless, and must not arrive again in this phase. From any thread or unit; a ULT switches
 * unless it is the last, or the deadline has passed. Since 0.7. */
WEFT_API weft_status weft_barrier_wait_until(weft_barrier *barrier, uint64_t deadline_ns) WEFT_NOTHROW;

/** Arrives, `count` times, and does not wait.
 *
 * phase  NULL, or receives the phase, for weft_barrier_wait_phase
 *
 * Returns WEFT_OK, WEFT_INVALID (null, or more than are expected in this phase). From anywhere but
 * signal handlers; never switches, except as the completion does. Since 0.2. */
WEFT_API weft_status weft_barrier_arrive(weft_barrier *barrier, uint32_t count, uint32_t *phase) WEFT_NOTHROW;

/** Waits until the given phase has ended. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_KIND,
 * WEFT_WRONG_CONTEXT. From any thread or unit; a ULT may switch. Since 0.2; until 0.6 it always had
 * a deadline. */
WEFT_API weft_status weft_barrier_wait_phase(weft_barrier *barrier, uint32_t phase) WEFT_NOTHROW;

/** Like weft_barrier_wait_phase, with a deadline; also returns WEFT_TIMED_OUT. From any thread or
 * unit; a ULT may switch. Since 0.7. */
WEFT_API weft_status weft_barrier_wait_phase_until(weft_barrier *barrier, uint32_t phase,
                                                   uint64_t deadline_ns) WEFT_NOTHROW;

/** Arrives, and lowers by one the number of arrivals expected from the next phase on. Returns
 * WEFT_OK or WEFT_INVALID. From anywhere but signal handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_barrier_arrive_and_drop(weft_barrier *barrier) WEFT_NOTHROW;

/* ---- read-write lock ------------------------------------------------------------------------- */

/** A lock for many readers or one writer. Neither side starves: a reader that arrives while a
 * writer waits lets the writer go first, and after a writer all readers that wait at that moment
 * get the lock together. Zero bytes are an unlocked one. */
typedef struct weft_rwlock {
    uint32_t word;    /**< the library's; 0 while the lock is free */
    uint32_t gap;     /**< the library's */
    uint64_t body[3]; /**< the library's */
} weft_rwlock;

/** An unlocked read-write lock, for static storage. */
#define WEFT_RWLOCK_INIT  \
    {                     \
        0, 0, { 0, 0, 0 } \
    }

/** Locks for reading. A reader must not lock for reading again: a writer may wait in between.
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_KIND, WEFT_WRONG_CONTEXT. From any thread or unit; a
 * ULT may switch. Since 0.2. */
WEFT_API weft_status weft_rwlock_read_lock(weft_rwlock *lock) WEFT_NOTHROW;
/** Locks for writing. Returns the statuses of weft_rwlock_read_lock, or WEFT_WRONG_STATE (the
 * caller already holds the lock for writing). From any thread or unit; a ULT may switch. Since
 * 0.2. */
WEFT_API weft_status weft_rwlock_write_lock(weft_rwlock *lock) WEFT_NOTHROW;
/** Like weft_rwlock_read_lock, with a deadline; also returns WEFT_TIMED_OUT. From any thread or
 * unit; a ULT may switch. Since 0.2. */
WEFT_API weft_status weft_rwlock_read_lock_until(weft_rwlock *lock, uint64_t deadline_ns) WEFT_NOTHROW;
/** Like weft_rwlock_write_lock, with a deadline; also returns WEFT_TIMED_OUT. From any thread or
 * unit; a ULT may switch. Since 0.2. */
WEFT_API weft_status weft_rwlock_write_lock_until(weft_rwlock *lock, uint64_t deadline_ns) WEFT_NOTHROW;
/** Locks for reading if that needs no waiting: WEFT_OK, or WEFT_BUSY; WEFT_INVALID. From anywhere
 * but signal handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_rwlock_try_read_lock(weft_rwlock *lock) WEFT_NOTHROW;
/** Locks for writing if that needs no waiting: WEFT_OK, or WEFT_BUSY; WEFT_INVALID. From anywhere
 * but signal handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_rwlock_try_write_lock(weft_rwlock *lock) WEFT_NOTHROW;
/** Unlocks a lock that is held for reading or for writing. Returns WEFT_OK, WEFT_INVALID,
 * WEFT_WRONG_STATE (the lock is free, or another writer holds it). From the holder; never switches.
 * Since 0.2. */
WEFT_API weft_status weft_rwlock_unlock(weft_rwlock *lock) WEFT_NOTHROW;

/* ---- future ---------------------------------------------------------------------------------- */

/** Several values that arrive later: a future is ready when all its compartments are filled
 * (Argobots, Seo et al., TPDS 2018, section III). */
typedef struct weft_future weft_future;

/** Creates a future.
 *
 * compartments  the number of values; with 0 the future is ready at once, and the callback is
 *               called in this call
 * callback      NULL, or called once as callback(values, argument) by the caller that fills the
 *               last compartment, before the waiters resume. No lock is held: the callback may use
 *               the future, and may wait
 * future        required; receives the future
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_NO_MEMORY. From any thread or unit; never switches. Since
 * 0.2. */
WEFT_API weft_status weft_future_create(size_t compartments, void (*callback)(void **values, void *argument),
                                        void *argument, weft_future **future) WEFT_NOTHROW;

/** Frees a future without waiters. Returns WEFT_OK, WEFT_INVALID. From any thread or unit;
 * never switches. Since 0.2. */
WEFT_API weft_status weft_future_free(weft_future *future) WEFT_NOTHROW;

/** Fills the next compartment. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (all are filled).
 * From anywhere but signal handlers; never switches, except as the callback does. Since 0.2. */
WEFT_API weft_status weft_future_set(weft_future *future, void *value) WEFT_NOTHROW;

/** Waits until the future is ready.
 *
 * values  NULL, or receives the array of the future's values, in the order of the compartments;
 *         valid until the future is reset or freed
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_KIND, WEFT_WRONG_CONTEXT. From any thread or unit; a
 * ULT may switch. Since 0.2; until 0.6 it always had a deadline. */
WEFT_API weft_status weft_future_wait(weft_future *future, void ***values) WEFT_NOTHROW;

/** Like weft_future_wait, with a deadline; also returns WEFT_TIMED_OUT. From any thread or unit; a
 * ULT may switch. Since 0.7. */
WEFT_API weft_status weft_future_wait_until(weft_future *future, uint64_t deadline_ns, void ***values) WEFT_NOTHROW;

/** Whether the future is ready: WEFT_OK, or WEFT_BUSY; WEFT_INVALID. From anywhere but signal
 * handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_future_test(weft_future *future) WEFT_NOTHROW;

/** Empties all compartments. Not at the same time as a call that sets or waits. Returns WEFT_OK or
 * WEFT_INVALID. From anywhere but signal handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_future_reset(weft_future *future) WEFT_NOTHROW;

/** The event that is set when the future is ready, for weft_event_wait_any; the event lives as long
 * as the future. Returns WEFT_OK or WEFT_INVALID. From anywhere; never switches. Since 0.2. */
WEFT_API weft_status weft_future_event_get(weft_future *future, weft_event **event) WEFT_NOTHROW;

/* ---- channel --------------------------------------------------------------------------------- */

/** A bounded queue of elements of one size, for any number of senders and receivers, which can be
 * closed. With capacity 0 a send waits until its element is received. */
typedef struct weft_channel weft_channel;

/** The options of a channel. Zero means the default. */
typedef struct weft_channel_options {
    size_t size;          /**< sizeof(weft_channel_options) */
    size_t capacity;      /**< the number of elements that fit in; 0: none, each send meets a receive */
    size_t element_bytes; /**< size of an element; 0: of a pointer */
    /** Moves an element from one place to another, where no object lives; NULL: its bytes are
     * copied. Must be short; must not throw, call Weft, or start a thread. */
    void (*move)(void *to, void *from);
    /** Ends the life of an element that has not been received when the channel is freed; NULL:
     * nothing needs to be done. */
    void (*drop)(void *element);
} weft_channel_options;

/** Creates a channel. Returns WEFT_OK, WEFT_INVALID, WEFT_NO_MEMORY. From any thread or unit; never
 * switches. Since 0.2. */
WEFT_API weft_status weft_channel_create(const weft_channel_options *options, weft_channel **channel) WEFT_NOTHROW;

/** Frees a channel without waiters. Returns WEFT_OK, WEFT_INVALID, WEFT_BUSY (it has waiters;
 * nothing is changed). From any thread or unit; never switches. Since 0.2. */
WEFT_API weft_status weft_channel_free(weft_channel *channel) WEFT_NOTHROW;

/** Sends the element at `element`; waits until there is room, or a receiver.
 *
 * Returns WEFT_OK (the element has been moved from), WEFT_CLOSED (it is untouched), WEFT_INVALID,
 * WEFT_WRONG_KIND, WEFT_WRONG_CONTEXT.
 * From any thread or unit; a ULT may switch. Since 0.2; until 0.6 it always had a deadline. */
WEFT_API weft_status weft_channel_send(weft_channel *channel, void *element) WEFT_NOTHROW;

/** Like weft_channel_send, with a deadline; also returns WEFT_TIMED_OUT (the element is untouched).
 * With a deadline that has passed it does not wait. From any thread or unit; a ULT may switch.
 * Since 0.7. */
WEFT_API weft_status weft_channel_send_until(weft_channel *channel, void *element, uint64_t deadline_ns) WEFT_NOTHROW;

/** Receives an element into `element`, where no object lives; waits until there is an element.
 *
 * Returns WEFT_OK, WEFT_CLOSED (the channel is closed, and all elements sent have been received),
 * WEFT_INVALID, WEFT_WRONG_KIND, WEFT_WRONG_CONTEXT. From any thread or unit; a ULT may switch.
 * Since 0.2; until 0.6 it always had a deadline. */
WEFT_API weft_status weft_channel_receive(weft_channel *channel, void *element) WEFT_NOTHROW;

/** Like weft_channel_receive, with a deadline; also returns WEFT_TIMED_OUT. From any thread or
 * unit; a ULT may switch. Since 0.7. */
WEFT_API weft_status weft_channel_receive_until(weft_channel *channel, uint64_t deadline_ns,
                                                void *element) WEFT_NOTHROW;

/** Closes the channel: nothing more can be sent, the elements in it can still be received, and all
 * waiters are woken. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (it was already closed). From
 * anywhere but signal handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_channel_close(weft_channel *channel) WEFT_NOTHROW;

/** How many elements are in the channel: a hint. Returns WEFT_OK or WEFT_INVALID. From anywhere;
 * never switches. Since 0.2. */
WEFT_API weft_status weft_channel_length_get(const weft_channel *channel, size_t *length) WEFT_NOTHROW;

/** One of the operations that weft_channel_select may perform. */
typedef struct weft_channel_case {
    weft_channel *channel; /**< NULL: this case never becomes possible */
    bool send;             /**< true: sends *element; false: receives into *element */
    void *element;         /**< as in weft_channel_send and weft_channel_receive */
    weft_status status;    /**< set in the case that was performed: WEFT_OK or WEFT_CLOSED */
} weft_channel_case;

/** Performs exactly one of `count` cases, as soon as one is possible; if several are, any of them.
 *
 * index  required; receives the case's index
 *
 * Returns WEFT_OK (the case's status has the result), WEFT_INVALID, WEFT_NO_MEMORY,
 * WEFT_WRONG_KIND, WEFT_WRONG_CONTEXT. From any thread or unit; a ULT may switch. Since 0.2; until
 * 0.6 it always had a deadline. */
WEFT_API weft_status weft_channel_select(weft_channel_case *cases, size_t count, size_t *index) WEFT_NOTHROW;

/** Like weft_channel_select, with a deadline; also returns WEFT_TIMED_OUT (no case was performed).
 * From any thread or unit; a ULT may switch. Since 0.7. */
WEFT_API weft_status weft_channel_select_until(weft_channel_case *cases, size_t count, uint64_t deadline_ns,
                                               size_t *index) WEFT_NOTHROW;

WEFT_END

#endif
