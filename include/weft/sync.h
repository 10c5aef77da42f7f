/* What units wait for: mutex, condition, event, semaphore, latch, barrier, read-write lock, future,
 * channel.
 *
 * All of it serves ULTs and OS threads alike, and both may wait for one object: a ULT that waits is
 * suspended and lets others run, an OS thread that is no stream sleeps in the kernel. A tasklet
 * cannot wait: a call that would have to returns WEFT_WRONG_KIND, and nothing has happened. A call
 * that need not wait never switches, wherever it comes from.
 *
 * Deadlines are times of the monotonic clock, in nanoseconds, as weft_now_ns tells it; WEFT_FOREVER
 * is none. A call whose deadline has passed takes what can be had without waiting, and otherwise
 * returns WEFT_TIMED_OUT. A wait ends as soon as it is answered, and never before its deadline
 * otherwise.
 *
 * The objects that are structures lie where you put them, must not be moved, and need not be
 * destroyed. Mutex, condition and event are valid when all their bytes are zero, work before
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

/** The monotonic clock in nanoseconds: what deadlines are compared with. From anywhere, signal
 * handlers included; never switches. Since 0.2. */
WEFT_API uint64_t weft_now_ns(void) WEFT_NOTHROW;

/* ---- mutex ----------------------------------------------------------------------------------- */

/** A lock. Whoever comes may overtake those who wait; but one that was woken and overtaken is given
 * it next, or, where other streams or OS threads run, when it was overtaken eight times. One waiter
 * is woken at a time, so what a lock costs does not grow with the number of those who wait. */
typedef struct weft_mutex {
    uint32_t word;    /**< the library's; 0 when nobody holds it */
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

/** Which of several waiters is served first; among equals, who came first. */
typedef enum weft_urgency {
    WEFT_URGENCY_NORMAL = 0, /**< between the other two */
    WEFT_URGENCY_HIGH = 1,   /**< before all others */
    WEFT_URGENCY_LOW = 2     /**< when nobody else waits */
} weft_urgency;

/** Locks the mutex; waits as long as somebody else holds it.
 *
 * Returns WEFT_OK; WEFT_INVALID (null); WEFT_WRONG_STATE (the caller holds it already, and it is
 * not recursive); WEFT_WRONG_KIND and WEFT_WRONG_CONTEXT (a tasklet or a scheduler would have to
 * wait). From any thread, unit or scheduler; a ULT may switch. Since 0.2. */
WEFT_API weft_status weft_mutex_lock(weft_mutex *mutex) WEFT_NOTHROW;

/** As weft_mutex_lock, with a deadline: or WEFT_TIMED_OUT. From any thread, unit or scheduler; a
 * ULT may switch. Since 0.7; before that its second argument was an urgency. */
WEFT_API weft_status weft_mutex_lock_until(weft_mutex *mutex, uint64_t deadline_ns) WEFT_NOTHROW;

/** As weft_mutex_lock, with a place among those who wait. WEFT_INVALID also when there is no such
 * urgency. From any thread, unit or scheduler; a ULT may switch. Since 0.7. */
WEFT_API weft_status weft_mutex_lock_urgent(weft_mutex *mutex, weft_urgency urgency) WEFT_NOTHROW;

/** As weft_mutex_lock_urgent, with a deadline: or WEFT_TIMED_OUT. From any thread, unit or
 * scheduler; a ULT may switch. Since 0.7. */
WEFT_API weft_status weft_mutex_lock_urgent_until(weft_mutex *mutex, weft_urgency urgency,
                                                  uint64_t deadline_ns) WEFT_NOTHROW;

/** Locks the mutex without letting others run meanwhile: for critical sections of a few
 * instructions whose holders never suspend. A ULT that spins for one of its own stream spins
 * forever. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE. From anywhere but signal handlers;
 * never switches. Since 0.2. */
WEFT_API weft_status weft_mutex_spin_lock(weft_mutex *mutex) WEFT_NOTHROW;

/** Locks the mutex if nobody holds it. Returns WEFT_OK, WEFT_BUSY, WEFT_INVALID. From anywhere but
 * signal handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_mutex_try_lock(weft_mutex *mutex) WEFT_NOTHROW;

/** Unlocks the mutex; wakes one that waits. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (the
 * caller does not hold it). From whoever locked it; never switches. Since 0.2. */
WEFT_API weft_status weft_mutex_unlock(weft_mutex *mutex) WEFT_NOTHROW;

/* ---- condition ------------------------------------------------------------------------------- */

/** A condition variable. A signal by the holder of the mutex takes effect when the mutex is let go;
 * the condition must live until then (weft_cond_settle). A wait may end without a signal: test what
 * is waited for in a loop. */
typedef struct weft_cond {
    uint32_t word;    /**< the library's; 0 when nobody waits */
    uint32_t gap;     /**< the library's */
    uint64_t body[5]; /**< the library's */
} weft_cond;

/** A condition that nobody waits for, for static storage. */
#define WEFT_COND_INIT          \
    {                           \
        0, 0, { 0, 0, 0, 0, 0 } \
    }

/** Unlocks the mutex, waits until the condition is signalled, and locks the mutex again, a
 * recursive one as often as it was locked.
 *
 * Returns WEFT_OK; WEFT_INVALID (null, or others wait for the condition with another mutex);
 * WEFT_WRONG_STATE (the caller does not hold the mutex); WEFT_WRONG_KIND (a tasklet),
 * WEFT_WRONG_CONTEXT (a scheduler). In all but the first nothing has happened.
 * From any thread or ULT; switches. Since 0.2. */
WEFT_API weft_status weft_cond_wait(weft_cond *cond, weft_mutex *mutex) WEFT_NOTHROW;

/** As weft_cond_wait, with a deadline: WEFT_TIMED_OUT when it came first; the mutex is locked again
 * then, too. From any thread or ULT; switches. Since 0.2. */
WEFT_API weft_status weft_cond_wait_until(weft_cond *cond, weft_mutex *mutex, uint64_t deadline_ns) WEFT_NOTHROW;

/** As weft_cond_wait, for a wait that can be interrupted from outside: returns WEFT_OK at once when
 * unless(argument) is true, which is asked after the caller has taken its place, so that a
 * weft_cond_interrupt that comes after the reason is met. `unless` must be short, call nothing of
 * Weft, and start no thread. From any thread or ULT; switches. Since 0.7; before that it had a
 * deadline always. */
WEFT_API weft_status weft_cond_wait_unless(weft_cond *cond, weft_mutex *mutex, bool (*unless)(void *argument),
                                           void *argument) WEFT_NOTHROW;

/** As weft_cond_wait_unless, with a deadline, as weft_cond_wait_until. From any thread or ULT;
 * switches. Since 0.7. */
WEFT_API weft_status weft_cond_wait_unless_until(weft_cond *cond, weft_mutex *mutex, bool (*unless)(void *argument),
                                                 void *argument, uint64_t deadline_ns) WEFT_NOTHROW;

/** Wakes one that waits, if anybody does. Returns WEFT_OK or WEFT_INVALID. From anywhere but signal
 * handlers, with or without the mutex; never switches. Since 0.2. */
WEFT_API weft_status weft_cond_signal(weft_cond *cond) WEFT_NOTHROW;

/** Wakes all that wait; they get the mutex one after the other. Returns WEFT_OK or WEFT_INVALID.
 * From anywhere but signal handlers, with or without the mutex; never switches. Since 0.2. */
WEFT_API weft_status weft_cond_broadcast(weft_cond *cond) WEFT_NOTHROW;

/** As weft_cond_broadcast, and meets those who are about to wait: see weft_cond_wait_unless.
 * Returns WEFT_OK or WEFT_INVALID. From anywhere but signal handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_cond_interrupt(weft_cond *cond) WEFT_NOTHROW;

/** Before the memory of a condition is used otherwise by one who still holds the mutex under which
 * it was signalled: the signals take effect now. Returns WEFT_OK or WEFT_INVALID, WEFT_BUSY
 * (somebody waits still). From the holder of `mutex`; never switches. Since 0.2. */
WEFT_API weft_status weft_cond_settle(weft_cond *cond, weft_mutex *mutex) WEFT_NOTHROW;

/* ---- event ----------------------------------------------------------------------------------- */

/** Something that happens once (Argobots' eventual, Seo et al., TPDS 2018, section III), and
 * carries a pointer.
 *
 * Who shall not pay a call for what has happened may look at the word: by a load that acquires;
 * while it is WEFT_EVENT_IS_SET, and only then, the event is set. And where weft_event_reset may be
 * called, the word of an event that is set may be made 0 by a store that releases, which is as
 * good. Since 0.5. */
typedef struct weft_event {
    uint32_t word;    /**< the library's; 0 until it is set */
    uint32_t gap;     /**< the library's */
    uint64_t body[3]; /**< the library's */
} weft_event;

/** The word of an event that is set. Since 0.5. */
#define WEFT_EVENT_IS_SET ((uint32_t)1)

/** An event that is not set, for static storage. */
#define WEFT_EVENT_INIT   \
    {                     \
        0, 0, { 0, 0, 0 } \
    }

/** Sets the event; wakes all that wait. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (it is set;
 * its value stays). From anywhere but signal handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_event_set(weft_event *event, void *value) WEFT_NOTHROW;

/** Waits until the event is set, or has been.
 *
 * value  NULL, or receives the pointer that it carries
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_KIND (a tasklet, and it is not set), WEFT_WRONG_CONTEXT
 * (a scheduler). From any thread or unit; a ULT may switch. Since 0.2. */
WEFT_API weft_status weft_event_wait(weft_event *event, void **value) WEFT_NOTHROW;

/** As weft_event_wait, with a deadline: or WEFT_TIMED_OUT. From any thread or unit; a ULT may
 * switch. Since 0.2; until 0.6 the deadline was the last argument. */
WEFT_API weft_status weft_event_wait_until(weft_event *event, uint64_t deadline_ns, void **value) WEFT_NOTHROW;

/** Whether the event is set: WEFT_OK, or WEFT_BUSY; WEFT_INVALID. `value` as in weft_event_wait.
 * From anywhere but signal handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_event_test(weft_event *event, void **value) WEFT_NOTHROW;

/** Makes the event one that is not set. Not at the same time as a set of it. Returns WEFT_OK or
 * WEFT_INVALID. From anywhere but signal handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_event_reset(weft_event *event) WEFT_NOTHROW;

/** Waits until one of `count` events is set.
 *
 * events  not null, none of them null; the same may occur more than once
 * index   NULL, or receives which: the first in order of those that are set
 *
 * Returns WEFT_OK, WEFT_INVALID (also when count is 0), WEFT_NO_MEMORY, WEFT_WRONG_KIND,
 * WEFT_WRONG_CONTEXT. From any thread or unit; a ULT may switch. Since 0.2; until 0.6 it had a
 * deadline always. */
WEFT_API weft_status weft_event_wait_any(weft_event *const *events, size_t count, size_t *index) WEFT_NOTHROW;

/** As weft_event_wait_any, with a deadline: or WEFT_TIMED_OUT. From any thread or unit; a ULT may
 * switch. Since 0.7. */
WEFT_API weft_status weft_event_wait_any_until(weft_event *const *events, size_t count, uint64_t deadline_ns,
                                               size_t *index) WEFT_NOTHROW;

/** Waits until all of `count` events are set. Returns as weft_event_wait_any; count may be 0. From
 * any thread or unit; a ULT may switch. Since 0.2; until 0.6 it had a deadline always. */
WEFT_API weft_status weft_event_wait_all(weft_event *const *events, size_t count) WEFT_NOTHROW;

/** As weft_event_wait_all, with a deadline: or WEFT_TIMED_OUT. From any thread or unit; a ULT may
 * switch. Since 0.7. */
WEFT_API weft_status weft_event_wait_all_until(weft_event *const *events, size_t count,
                                               uint64_t deadline_ns) WEFT_NOTHROW;

/* ---- semaphore ------------------------------------------------------------------------------- */

/** The most that a semaphore or a latch counts. */
#define WEFT_COUNT_MAX ((uint32_t)0x3fffffff)

/** A counting semaphore. Zero bytes are one that counts 0. */
typedef struct weft_semaphore {
    uint32_t word;    /**< the library's */
    uint32_t gap;     /**< the library's */
    uint64_t body[2]; /**< the library's */
} weft_semaphore;

/** Begins with `count`, at most WEFT_COUNT_MAX. Returns WEFT_OK or WEFT_INVALID. From anywhere,
 * before anybody else knows it; never switches. Since 0.2. */
WEFT_API weft_status weft_semaphore_init(weft_semaphore *semaphore, uint32_t count) WEFT_NOTHROW;

/** Adds `count`; wakes as many as can be served, in the order in which they came. Returns WEFT_OK,
 * WEFT_INVALID (the sum would be above WEFT_COUNT_MAX). From anywhere but signal handlers; never
 * switches. Since 0.2. */
WEFT_API weft_status weft_semaphore_release(weft_semaphore *semaphore, uint32_t count) WEFT_NOTHROW;

/** Takes one; waits until there is one. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_KIND,
 * WEFT_WRONG_CONTEXT. From any thread or unit; a ULT may switch. Since 0.2. */
WEFT_API weft_status weft_semaphore_acquire(weft_semaphore *semaphore) WEFT_NOTHROW;

/** As weft_semaphore_acquire, with a deadline: or WEFT_TIMED_OUT. From any thread or unit; a ULT
 * may switch. Since 0.2. */
WEFT_API weft_status weft_semaphore_acquire_until(weft_semaphore *semaphore, uint64_t deadline_ns) WEFT_NOTHROW;

/** Takes one if there is one: WEFT_OK, or WEFT_BUSY; WEFT_INVALID. From anywhere but signal
 * handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_semaphore_try_acquire(weft_semaphore *semaphore) WEFT_NOTHROW;

/** How many there are: a hint. Returns WEFT_OK or WEFT_INVALID. From anywhere; never switches.
 * Since 0.2. */
WEFT_API weft_status weft_semaphore_count_get(const weft_semaphore *semaphore, uint32_t *count) WEFT_NOTHROW;

/* ---- latch ----------------------------------------------------------------------------------- */

/** Counts down to zero, once. Zero bytes are one that has. */
typedef struct weft_latch {
    uint32_t word;    /**< the library's */
    uint32_t gap;     /**< the library's */
    uint64_t body[2]; /**< the library's */
} weft_latch;

/** Begins with `count`, at most WEFT_COUNT_MAX. Returns WEFT_OK or WEFT_INVALID. From anywhere,
 * before anybody else knows it; never switches. Since 0.2. */
WEFT_API weft_status weft_latch_init(weft_latch *latch, uint32_t count) WEFT_NOTHROW;

/** Counts down by `count`; at zero all that wait are woken, and the latch may be gone when this
 * returns. Returns WEFT_OK, WEFT_INVALID (null, or more than is left). From anywhere but signal
 * handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_latch_count_down(weft_latch *latch, uint32_t count) WEFT_NOTHROW;

/** Waits until it has come to zero. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_KIND,
 * WEFT_WRONG_CONTEXT. From any thread or unit; a ULT may switch. Since 0.2. */
WEFT_API weft_status weft_latch_wait(weft_latch *latch) WEFT_NOTHROW;

/** As weft_latch_wait, with a deadline: or WEFT_TIMED_OUT. From any thread or unit; a ULT may
 * switch. Since 0.2. */
WEFT_API weft_status weft_latch_wait_until(weft_latch *latch, uint64_t deadline_ns) WEFT_NOTHROW;

/** Whether it has come to zero: WEFT_OK, or WEFT_BUSY; WEFT_INVALID. From anywhere but signal
 * handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_latch_test(const weft_latch *latch) WEFT_NOTHROW;

/* ---- barrier --------------------------------------------------------------------------------- */

/** Lets a fixed number of units or threads go on together, again and again: in phases, each of
 * which ends when all have arrived. */
typedef struct weft_barrier {
    uint32_t word;    /**< the library's */
    uint32_t gap;     /**< the library's */
    uint64_t body[5]; /**< the library's */
} weft_barrier;

/** Begins a barrier.
 *
 * expected    how many arrive in each phase, 1 to WEFT_COUNT_MAX
 * completion  NULL, or called as completion(argument) at the end of each phase by the last that
 *             arrives, before the others go on; it must not suspend
 *
 * Returns WEFT_OK or WEFT_INVALID. From anywhere, before anybody else knows it; never switches.
 * Since 0.2. */
WEFT_API weft_status weft_barrier_init(weft_barrier *barrier, uint32_t expected, void (*completion)(void *argument),
                                       void *argument) WEFT_NOTHROW;

/** Arrives and waits until all have. The barrier may be gone when this returns, if nobody is to
 * arrive any more. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_KIND, WEFT_WRONG_CONTEXT (in the last
 * two the caller has not arrived). From any thread or unit; a ULT switches unless it is the last.
 * Since 0.2. */
WEFT_API weft_status weft_barrier_wait(weft_barrier *barrier) WEFT_NOTHROW;

/** As weft_barrier_wait, with a deadline. After WEFT_TIMED_OUT the caller has arrived all the same,
 * and is not to arrive again in this phase. From any thread or unit; a ULT switches unless it is
 * the last, or the deadline has passed. Since 0.7. */
WEFT_API weft_status weft_barrier_wait_until(weft_barrier *barrier, uint64_t deadline_ns) WEFT_NOTHROW;

/** Arrives, `count` times, and does not wait.
 *
 * phase  NULL, or receives the phase, for weft_barrier_wait_phase
 *
 * Returns WEFT_OK, WEFT_INVALID (null, or more than are expected in this phase). From anywhere but
 * signal handlers; never switches but for what the completion does. Since 0.2. */
WEFT_API weft_status weft_barrier_arrive(weft_barrier *barrier, uint32_t count, uint32_t *phase) WEFT_NOTHROW;

/** Waits until that phase has ended. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_KIND,
 * WEFT_WRONG_CONTEXT. From any thread or unit; a ULT may switch. Since 0.2; until 0.6 it had a
 * deadline always. */
WEFT_API weft_status weft_barrier_wait_phase(weft_barrier *barrier, uint32_t phase) WEFT_NOTHROW;

/** As weft_barrier_wait_phase, with a deadline: or WEFT_TIMED_OUT. From any thread or unit; a ULT
 * may switch. Since 0.7. */
WEFT_API weft_status weft_barrier_wait_phase_until(weft_barrier *barrier, uint32_t phase,
                                                   uint64_t deadline_ns) WEFT_NOTHROW;

/** Arrives, and is expected no more from the next phase on. Returns WEFT_OK or WEFT_INVALID. From
 * anywhere but signal handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_barrier_arrive_and_drop(weft_barrier *barrier) WEFT_NOTHROW;

/* ---- read-write lock ------------------------------------------------------------------------- */

/** A lock for many readers or one writer. Neither side starves: a reader that comes while a writer
 * waits lets it go first, and after a writer all readers that wait then go together. Zero bytes are
 * an unlocked one. */
typedef struct weft_rwlock {
    uint32_t word;    /**< the library's; 0 when nobody holds it */
    uint32_t gap;     /**< the library's */
    uint64_t body[3]; /**< the library's */
} weft_rwlock;

/** An unlocked read-write lock, for static storage. */
#define WEFT_RWLOCK_INIT  \
    {                     \
        0, 0, { 0, 0, 0 } \
    }

/** Locks for reading. One that reads must not lock for reading again: a writer may wait in between.
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_KIND, WEFT_WRONG_CONTEXT. From any thread or unit; a
 * ULT may switch. Since 0.2. */
WEFT_API weft_status weft_rwlock_read_lock(weft_rwlock *lock) WEFT_NOTHROW;
/** Locks for writing. Returns as weft_rwlock_read_lock, or WEFT_WRONG_STATE (the caller writes
 * already). From any thread or unit; a ULT may switch. Since 0.2. */
WEFT_API weft_status weft_rwlock_write_lock(weft_rwlock *lock) WEFT_NOTHROW;
/** The first with a deadline, or WEFT_TIMED_OUT. From any thread or unit; a ULT may switch. Since
 * 0.2. */
WEFT_API weft_status weft_rwlock_read_lock_until(weft_rwlock *lock, uint64_t deadline_ns) WEFT_NOTHROW;
/** The second with a deadline, or WEFT_TIMED_OUT. From any thread or unit; a ULT may switch. Since
 * 0.2. */
WEFT_API weft_status weft_rwlock_write_lock_until(weft_rwlock *lock, uint64_t deadline_ns) WEFT_NOTHROW;
/** Locks for reading if that needs no waiting: WEFT_OK, or WEFT_BUSY; WEFT_INVALID. From anywhere
 * but signal handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_rwlock_try_read_lock(weft_rwlock *lock) WEFT_NOTHROW;
/** Locks for writing if that needs no waiting: WEFT_OK, or WEFT_BUSY; WEFT_INVALID. From anywhere
 * but signal handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_rwlock_try_write_lock(weft_rwlock *lock) WEFT_NOTHROW;
/** Unlocks, whichever way it was locked. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (nobody
 * holds it, or another writer does). From whoever locked it; never switches. Since 0.2. */
WEFT_API weft_status weft_rwlock_unlock(weft_rwlock *lock) WEFT_NOTHROW;

/* ---- future ---------------------------------------------------------------------------------- */

/** Several values to come: it is ready when all its compartments are filled (Argobots, Seo et al.,
 * TPDS 2018, section III). */
typedef struct weft_future weft_future;

/** Creates a future.
 *
 * compartments  how many values; with 0 it is ready at once, and the callback is called here
 * callback      NULL, or called once as callback(values, argument) by the one that fills the last
 *               compartment, before those who wait go on. No lock is held: it may use the future,
 *               and wait
 * future        required; receives the future
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_NO_MEMORY. From any thread or unit; never switches. Since
 * 0.2. */
WEFT_API weft_status weft_future_create(size_t compartments, void (*callback)(void **values, void *argument),
                                        void *argument, weft_future **future) WEFT_NOTHROW;

/** Frees a future that nobody waits for. Returns WEFT_OK, WEFT_INVALID. From any thread or unit;
 * never switches. Since 0.2. */
WEFT_API weft_status weft_future_free(weft_future *future) WEFT_NOTHROW;

/** Fills the next compartment. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (all are filled).
 * From anywhere but signal handlers; never switches but for what the callback does. Since 0.2. */
WEFT_API weft_status weft_future_set(weft_future *future, void *value) WEFT_NOTHROW;

/** Waits until the future is ready.
 *
 * values  NULL, or receives the array of its values, in the order of the compartments; valid until
 *         it is reset or freed
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_KIND, WEFT_WRONG_CONTEXT. From any thread or unit; a
 * ULT may switch. Since 0.2; until 0.6 it had a deadline always. */
WEFT_API weft_status weft_future_wait(weft_future *future, void ***values) WEFT_NOTHROW;

/** As weft_future_wait, with a deadline: or WEFT_TIMED_OUT. From any thread or unit; a ULT may
 * switch. Since 0.7. */
WEFT_API weft_status weft_future_wait_until(weft_future *future, uint64_t deadline_ns, void ***values) WEFT_NOTHROW;

/** Whether the future is ready: WEFT_OK, or WEFT_BUSY; WEFT_INVALID. From anywhere but signal
 * handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_future_test(weft_future *future) WEFT_NOTHROW;

/** Empties all compartments. Not at the same time as a set or a wait. Returns WEFT_OK or
 * WEFT_INVALID. From anywhere but signal handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_future_reset(weft_future *future) WEFT_NOTHROW;

/** The event that is set when the future is ready, for weft_event_wait_any; it lives as long as the
 * future. Returns WEFT_OK or WEFT_INVALID. From anywhere; never switches. Since 0.2. */
WEFT_API weft_status weft_future_event_get(weft_future *future, weft_event **event) WEFT_NOTHROW;

/* ---- channel --------------------------------------------------------------------------------- */

/** A bounded queue of elements of one size, for any number of senders and receivers, which can be
 * closed. With capacity 0 a send waits until its element is received. */
typedef struct weft_channel weft_channel;

/** How a channel is to be. Zero means the default. */
typedef struct weft_channel_options {
    size_t size;          /**< sizeof(weft_channel_options) */
    size_t capacity;      /**< elements that fit in; 0: none, each send meets a receive */
    size_t element_bytes; /**< size of an element; 0: of a pointer */
    /** Moves an element from one place to the other, where nothing lives; NULL: its bytes are
     * copied. Short; must not throw, call Weft, or start a thread. */
    void (*move)(void *to, void *from);
    /** Ends the life of an element that nobody has received when the channel is freed; NULL:
     * nothing is to be done. */
    void (*drop)(void *element);
} weft_channel_options;

/** Creates a channel. Returns WEFT_OK, WEFT_INVALID, WEFT_NO_MEMORY. From any thread or unit; never
 * switches. Since 0.2. */
WEFT_API weft_status weft_channel_create(const weft_channel_options *options, weft_channel **channel) WEFT_NOTHROW;

/** Frees a channel that nobody waits for. Returns WEFT_OK, WEFT_INVALID, WEFT_BUSY (somebody waits;
 * nothing is changed). From any thread or unit; never switches. Since 0.2. */
WEFT_API weft_status weft_channel_free(weft_channel *channel) WEFT_NOTHROW;

/** Sends the element at `element`; waits until there is room, or a receiver.
 *
 * Returns WEFT_OK (the element has been moved from), WEFT_CLOSED (it is untouched), WEFT_INVALID,
 * WEFT_WRONG_KIND, WEFT_WRONG_CONTEXT.
 * From any thread or unit; a ULT may switch. Since 0.2; until 0.6 it had a deadline always. */
WEFT_API weft_status weft_channel_send(weft_channel *channel, void *element) WEFT_NOTHROW;

/** As weft_channel_send, with a deadline: or WEFT_TIMED_OUT (the element is untouched). With one
 * that has passed it does not wait. From any thread or unit; a ULT may switch. Since 0.7. */
WEFT_API weft_status weft_channel_send_until(weft_channel *channel, void *element, uint64_t deadline_ns) WEFT_NOTHROW;

/** Receives an element into `element`, where nothing lives; waits until there is one.
 *
 * Returns WEFT_OK, WEFT_CLOSED (it is closed, and all that was sent has been received),
 * WEFT_INVALID, WEFT_WRONG_KIND, WEFT_WRONG_CONTEXT. From any thread or unit; a ULT may switch.
 * Since 0.2; until 0.6 it had a deadline always. */
WEFT_API weft_status weft_channel_receive(weft_channel *channel, void *element) WEFT_NOTHROW;

/** As weft_channel_receive, with a deadline: or WEFT_TIMED_OUT. From any thread or unit; a ULT may
 * switch. Since 0.7. */
WEFT_API weft_status weft_channel_receive_until(weft_channel *channel, uint64_t deadline_ns,
                                                void *element) WEFT_NOTHROW;

/** Closes the channel: nothing more can be sent, what is in it can be received, and all that wait
 * are woken. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (it was closed). From anywhere but
 * signal handlers; never switches. Since 0.2. */
WEFT_API weft_status weft_channel_close(weft_channel *channel) WEFT_NOTHROW;

/** How many elements are in it: a hint. Returns WEFT_OK or WEFT_INVALID. From anywhere; never
 * switches. Since 0.2. */
WEFT_API weft_status weft_channel_length_get(const weft_channel *channel, size_t *length) WEFT_NOTHROW;

/** One of the things that weft_channel_select may do. */
typedef struct weft_channel_case {
    weft_channel *channel; /**< NULL: this case never comes */
    bool send;             /**< true: sends *element; false: receives into it */
    void *element;         /**< as in weft_channel_send and weft_channel_receive */
    weft_status status;    /**< of the case that was done: WEFT_OK or WEFT_CLOSED */
} weft_channel_case;

/** Does exactly one of `count` cases, as soon as one can be done; of several that can, any.
 *
 * index  required; receives which
 *
 * Returns WEFT_OK (the case's status says how it went), WEFT_INVALID, WEFT_NO_MEMORY,
 * WEFT_WRONG_KIND, WEFT_WRONG_CONTEXT. From any thread or unit; a ULT may switch. Since 0.2; until
 * 0.6 it had a deadline always. */
WEFT_API weft_status weft_channel_select(weft_channel_case *cases, size_t count, size_t *index) WEFT_NOTHROW;

/** As weft_channel_select, with a deadline: or WEFT_TIMED_OUT (none was done). From any thread or
 * unit; a ULT may switch. Since 0.7. */
WEFT_API weft_status weft_channel_select_until(weft_channel_case *cases, size_t count, uint64_t deadline_ns,
                                               size_t *index) WEFT_NOTHROW;

WEFT_END

#endif
