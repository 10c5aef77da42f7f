/* Time, events from outside, and calls that block.
 *
 * Timers belong to the stream that starts them, and are fired by it between two units; one that
 * sleeps wakes by itself for the next. Pollers are the event pool of Argobots (Seo et al., TPDS
 * 2018, section III): calls that the streams make now and then to see whether something has
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

/** Sleeps until the monotonic clock (weft_now_ns) shows `deadline_ns` or more. Others run
 * meanwhile. Returns WEFT_OK, WEFT_WRONG_KIND (a tasklet), WEFT_WRONG_CONTEXT (a scheduler). From
 * any thread or ULT; switches unless the time has come. Since 0.2. */
WEFT_API weft_status weft_sleep_until(uint64_t deadline_ns) WEFT_NOTHROW;

/** Sleeps for at least `duration_ns`. Returns as weft_sleep_until. From any thread or ULT; switches
 * unless it is 0. Since 0.2. */
WEFT_API weft_status weft_sleep_for(uint64_t duration_ns) WEFT_NOTHROW;

/** A call at a later time. Its memory is the caller's, must be zero before the first start, and
 * must stay until it has fired or was cancelled. */
typedef struct weft_timer {
    uint64_t body[12]; /**< the library's */
} weft_timer;

/** Starts a timer: fn(argument) will be called when the time has come, between two units, on the
 * stack of a stream's scheduler; it must be short and must not suspend. When it is called the timer
 * may be started again, or its memory be freed, by fn too.
 *
 * timer  not started, or fired, or cancelled
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (it is started already), WEFT_NOT_INITIALIZED.
 * From a stream it is that stream which fires; from any other OS thread it is stream 0. Never
 * switches. Since 0.2. */
WEFT_API weft_status weft_timer_start(weft_timer *timer, void (*fn)(void *argument), void *argument,
                                      uint64_t deadline_ns) WEFT_NOTHROW;

/** Cancels a timer. Returns WEFT_OK: fn will not be called; WEFT_WRONG_STATE: it has been called,
 * is being called, or is about to be, or the timer was not started; WEFT_INVALID. From any thread
 * or unit; never switches. Since 0.2. */
WEFT_API weft_status weft_timer_cancel(weft_timer *timer) WEFT_NOTHROW;

/* ---- pollers --------------------------------------------------------------------------------- */

/** A call that the streams make now and then. */
typedef struct weft_poller weft_poller;

/** What is known of the events that a poller looks for. Zero means nothing. */
typedef struct weft_poller_hint {
    /** sizeof(weft_poller_hint) */
    size_t size;
    /** `descriptor` tells when there may be something: an idle stream sleeps in the kernel and
     * wakes by it */
    bool has_descriptor;
    /** a file descriptor that epoll takes (a socket, an eventfd); it stays open until the poller is
     * removed */
    int descriptor;
    /** of epoll, for instance EPOLLIN; 0: EPOLLIN */
    uint32_t events;
    /** do not call before the descriptor is ready */
    bool only_when_ready;
} weft_poller_hint;

/** Adds a poller.
 *
 * fn        called as fn(argument), by one stream at a time, on the stack of its scheduler: it must
 *           be short and must not suspend. It may resume, set, signal, spawn, and remove the poller
 *           itself. Returns whether something has happened
 * hint      NULL, or what is known
 * poller    required; receives the poller
 *
 * Each stream calls it after every 16 rounds of its scheduler, and when it finds nothing to run,
 * before it sleeps. While all are idle: with a descriptor, when that is ready; without one, one
 * idle stream calls it again after 10 us, then after twice as long each time that nothing has
 * happened, up to 1 ms. While there are pollers each switch of a stream counts the rounds.
 *
 * Returns WEFT_OK, WEFT_INVALID (also: epoll does not take the descriptor), WEFT_NO_MEMORY,
 * WEFT_SYSTEM (with a descriptor: an OS thread or descriptors that are needed to wait for it could
 * not be had), WEFT_NOT_INITIALIZED. From any thread or unit; never switches. Since 0.2. */
WEFT_API weft_status weft_poller_register(bool (*fn)(void *argument), void *argument, const weft_poller_hint *hint,
                                          weft_poller **poller) WEFT_NOTHROW;

/** Removes a poller. When this returns fn does not run and will not be called any more; called by
 * fn itself, it is not called again. Waits for a call that runs on another stream at this moment.
 * Returns WEFT_OK, WEFT_INVALID, WEFT_NOT_INITIALIZED. From any thread or unit; never switches.
 * Since 0.2. */
WEFT_API weft_status weft_poller_unregister(weft_poller *poller) WEFT_NOTHROW;

/* ---- calls to a stream ----------------------------------------------------------------------- */

/** Lets a stream call fn(argument) between two units, soon, whatever its scheduler: on the stack of
 * the scheduler, in the order of the posts of one sender. fn must be short and must not suspend.
 * Neither memory nor a lock is needed.
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_BUSY (64 calls wait there already), WEFT_WRONG_CONTEXT (no
 * stream of the program's: weft_stream_self). From anywhere, signal handlers included; the stream
 * must not be freed at the same time. A suspended stream calls it when it is resumed. Never
 * switches. Since 0.2. */
WEFT_API weft_status weft_stream_post(weft_stream *stream, void (*fn)(void *argument), void *argument) WEFT_NOTHROW;

/* ---- calls that need another stack or thread ------------------------------------------------- */

/** Runs fn(argument), which may block its OS thread, and waits for it, without blocking the stream:
 * the unit gives the hart away, others run meanwhile, and it takes one again afterwards. fn runs on
 * an OS thread kept for this, with a large stack and errno as it leaves it; it is no unit: it may
 * not yield or wait in Weft's sense other than as an OS thread. From an OS thread that is no stream
 * fn is simply called.
 *
 * As many OS threads as twice the harts, at least 4, are there for such calls at once; when none is
 * free for 1 ms, one more is started, up to 1,024.
 *
 * Returns WEFT_OK; WEFT_INVALID; WEFT_WRONG_KIND (a tasklet), WEFT_WRONG_CONTEXT (a scheduler),
 * WEFT_SYSTEM (no OS thread could be had): in all but the first fn was not called. From any thread
 * or ULT; switches. Since 0.2. */
WEFT_API weft_status weft_blocking(void (*fn)(void *argument), void *argument) WEFT_NOTHROW;

/** Runs fn(argument) on the stream's own large stack and comes back, for libraries whose frames are
 * larger than a unit's stack and its guard: for about the cost of two switches. As much as the
 * setting scheduler_stack_bytes is there, less a few KiB. While fn runs the calling unit does not
 * count as one: whatever would suspend returns WEFT_WRONG_CONTEXT, and weft_unit_self() is NULL.
 * From a tasklet, a scheduler or an OS thread that is no stream fn is simply called.
 *
 * Returns WEFT_OK or WEFT_INVALID. From anywhere but signal handlers; others do not run meanwhile,
 * but the stream may look after its other duties before it comes back. Since 0.2. */
WEFT_API weft_status weft_on_stream_stack(void (*fn)(void *argument), void *argument) WEFT_NOTHROW;

WEFT_END

#endif
