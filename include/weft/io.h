/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Time, events from outside, and calls that block.
 *
 * Timers belong to the stream that starts them, which fires them between two units; a sleeping
 * stream wakes by itself for its next timer. Pollers are the event pool of Argobots (Seo et al.,
 * TPDS 2018, section III): calls that the streams make now and then to check whether something has
 * happened. A blocking section keeps a call that blocks its OS thread from blocking the stream. */
#ifndef WEFT_IO_H
#define WEFT_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/status.h>
#include <weft/stream.h>
#include <weft/sync.h>

WEFT_BEGIN

/* ---- time ------------------------------------------------------------------------------------ */

/** Sleeps until the monotonic clock (weft_now_ns) shows `deadline_ns` or more. Other units run
 * meanwhile. Returns WEFT_OK, WEFT_WRONG_KIND (a tasklet), WEFT_WRONG_CONTEXT (a scheduler). From
 * any thread or ULT; switches unless the deadline has passed. Since 0.2. */
WEFT_API weft_status weft_sleep_until(uint64_t deadline_ns) WEFT_NOTHROW;

/** Sleeps for at least `duration_ns`. Returns the statuses of weft_sleep_until. From any thread or
 * ULT; switches unless `duration_ns` is 0. Since 0.2. */
WEFT_API weft_status weft_sleep_for(uint64_t duration_ns) WEFT_NOTHROW;

/** A call at a later time. Its memory is the caller's, must be zero before the first start, and
 * must stay until the timer has fired or was cancelled. */
typedef struct weft_timer {
    uint64_t body[12]; /**< the library's */
} weft_timer;

/** Starts a timer: fn(argument) will be called once the deadline has passed, between two units, on
 * the stack of a stream's scheduler; it must be short and must not suspend. Once fn is called, the
 * timer may be started again, or its memory freed, also by fn itself.
 *
 * timer  not started, or fired, or cancelled
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (it is started already), WEFT_NOT_INITIALIZED. A
 * timer that is started from a stream fires on that stream; one that is started from any other OS
 * thread fires on stream 0. Never switches. Since 0.2. */
WEFT_API weft_status weft_timer_start(weft_timer *timer, void (*fn)(void *argument), void *argument,
                                      uint64_t deadline_ns) WEFT_NOTHROW;

/** Cancels a timer. Returns WEFT_OK: fn will not be called; WEFT_WRONG_STATE: it has been called,
 * is being called, or is about to be, or the timer was not started; WEFT_INVALID. From any thread
 * or unit; never switches. Since 0.2. */
WEFT_API weft_status weft_timer_cancel(weft_timer *timer) WEFT_NOTHROW;

/* ---- pollers --------------------------------------------------------------------------------- */

/** A call that the streams make now and then. */
typedef struct weft_poller weft_poller;

/** What is known of the events that a poller checks for. Zero means nothing. */
typedef struct weft_poller_hint {
    /** sizeof(weft_poller_hint) */
    size_t size;
    /** `descriptor` becomes ready when something may have happened: an idle stream sleeps in the
     * kernel and is woken by it */
    bool has_descriptor;
    /** a file descriptor that epoll takes (a socket, an eventfd); it stays open until the poller is
     * removed */
    int descriptor;
    /** epoll's events, for instance EPOLLIN; 0: EPOLLIN */
    uint32_t events;
    /** do not call before the descriptor is ready */
    bool only_when_ready;
} weft_poller_hint;

/** Adds a poller.
 *
 * fn        called as fn(argument), by one stream at a time, on the stack of its scheduler: it must
 *           be short and must not suspend. It may resume, set, signal, spawn, and remove the
 *           poller. Returns whether something has happened
 * hint      NULL, or what is known of the events
 * poller    required; receives the poller
 *
 * Each stream calls the poller after every 16 rounds of its scheduler, and when it finds nothing to
 * run, before it sleeps. While all streams are idle, a poller with a descriptor is called when the
 * descriptor is ready. One without a descriptor is called again by one idle stream after 10 us,
 * then after twice as long each time that nothing has happened, up to 1 ms. While there are pollers
 * each switch of a stream counts the rounds.
 *
 * Returns WEFT_OK, WEFT_INVALID (also: epoll does not take the descriptor), WEFT_NO_MEMORY,
 * WEFT_SYSTEM (with a descriptor: an OS thread or a descriptor needed to wait for it was not
 * available), WEFT_NOT_INITIALIZED. From any thread or unit; never switches. Since 0.2. */
WEFT_API weft_status weft_poller_register(bool (*fn)(void *argument), void *argument, const weft_poller_hint *hint,
                                          weft_poller **poller) WEFT_NOTHROW;

/** Removes a poller. When this returns, fn does not run and will not be called any more; if fn
 * itself calls this, fn is not called again. Waits for a call that runs on another stream at this
 * moment. Returns WEFT_OK, WEFT_INVALID, WEFT_NOT_INITIALIZED. From any thread or unit; never
 * switches. Since 0.2. */
WEFT_API weft_status weft_poller_unregister(weft_poller *poller) WEFT_NOTHROW;

/* ---- calls to a stream ----------------------------------------------------------------------- */

/** Lets a stream call fn(argument) soon, between two units, whatever its scheduler: on the
 * scheduler's stack, and for each sender in the order of its posts. fn must be short and must not
 * suspend. The call needs neither memory nor a lock.
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_BUSY (64 calls already wait there), WEFT_WRONG_CONTEXT (not
 * one of the program's streams: see weft_stream_self). From anywhere, signal handlers included; the
 * stream must not be freed at the same time. A suspended stream calls it when it is resumed. Never
 * switches. Since 0.2. */
WEFT_API weft_status weft_stream_post(weft_stream *stream, void (*fn)(void *argument), void *argument) WEFT_NOTHROW;

/* ---- calls that need another stack or thread ------------------------------------------------- */

/** Runs fn(argument), which may block its OS thread, and waits for it, without blocking the stream:
 * the unit gives the hart away, other units run meanwhile, and it takes a hart again afterwards. fn
 * runs on an OS thread of the blocking pool, with a large stack; afterwards the caller finds errno
 * as fn left it. fn is no unit: it may yield or wait in Weft only as an OS thread does. From an OS
 * thread that is not a stream fn is simply called.
 *
 * Twice as many OS threads as there are harts, at least 4, serve such calls at once; when none is
 * free for 1 ms, one more is started, up to 1,024.
 *
 * Returns WEFT_OK; WEFT_INVALID; WEFT_WRONG_KIND (a tasklet), WEFT_WRONG_CONTEXT (a scheduler),
 * WEFT_SYSTEM (no OS thread was available): with any status but WEFT_OK fn was not called. From any
 * thread or ULT; switches. Since 0.2. */
WEFT_API weft_status weft_blocking(void (*fn)(void *argument), void *argument) WEFT_NOTHROW;

/** Runs fn(argument) on the stream's own large stack and returns, for libraries whose frames are
 * larger than a unit's stack and its guard, at about the cost of two switches. The stack has the
 * size of the setting scheduler_stack_bytes, less a few KiB. While fn runs the caller does not
 * count as a unit: calls that would suspend return WEFT_WRONG_CONTEXT, and weft_unit_self() is
 * NULL. From a tasklet, a scheduler or an OS thread that is not a stream fn is simply called.
 *
 * Returns WEFT_OK or WEFT_INVALID. From anywhere but signal handlers; no other unit runs meanwhile,
 * but the stream may serve its other duties before the call returns. Since 0.2. */
WEFT_API weft_status weft_on_stream_stack(void (*fn)(void *argument), void *argument) WEFT_NOTHROW;

WEFT_END

#endif
