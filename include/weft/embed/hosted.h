/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Hosted units (WEFT_KIND_HOSTED): ULTs that look like pthreads to the code that they call.
 *
 * Such a unit runs on the stack and with the thread pointer of a pthread that is parked for it,
 * from its first run to its end, on whatever stream it resumes. So pthread_self, thread_local
 * variables (also of libraries that are opened later), errno, keys, the C library's per-thread
 * state, pthread mutexes and exceptions are its own, and pthread_getattr_np reports the stack that
 * it runs on.
 *
 * At its end, before it can be joined, destructors run as at the end of a thread: those of C++
 * thread_local objects and of keys. Then the pthread is kept for the next unit, which finds plain
 * thread_local variables as the last unit left them; with weft_unit_options.fresh a unit gets a new
 * pthread. A pthread on which there have been thread_local objects with destructors gets no second
 * unit: compiled code would take these objects for alive there. Pthreads are started when needed
 * and joined by the last weft_finalize. When the kernel refuses one (RLIMIT_NPROC, pids.max), a
 * unit waits for another unit's pthread; when none can come free it ends with
 * WEFT_OUTCOME_NO_PTHREAD, and its body has not run.
 *
 * The stack is as large as the C library makes threads' stacks, or weft_unit_options.stack_bytes if
 * that is more. The unit also has its own floating-point control words.
 *
 * pthread_exit in a hosted unit ends the unit, after unwinding; so does pthread_cancel of its
 * pthread, at a place where a thread would be cancelled, but it does not wake a unit that waits in
 * the kernel. State that is bound to the kernel's thread is the carrier's: gettid, signal masks,
 * per-thread timers and counters. A contended mutex with priority inheritance does not work: the
 * kernel takes the carrier for its owner. With the interposers of bridge/pthread, pthread_kill,
 * thread affinity, and setuid and its like work correctly in hosted units. To wait for a hosted
 * unit, join the unit, and not its pthread by pthread_join. A hosted unit runs no other unit as its
 * scheduler (weft_unit_run). */
#ifndef WEFT_EMBED_HOSTED_H
#define WEFT_EMBED_HOSTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/unit.h>

WEFT_BEGIN

/** Whether the caller is a hosted unit. From anywhere; never switches. Since 0.6. */
WEFT_API bool weft_hosted(void) WEFT_NOTHROW;

/** The kernel's thread number of the calling hosted unit's own pthread; 0 elsewhere. From anywhere;
 * never switches. Since 0.6. */
WEFT_API uint32_t weft_hosted_thread_id(void) WEFT_NOTHROW;

/** Calls fn(argument) at once, on this stack: in a hosted unit with the thread pointer of the OS
 * thread that runs it, so that the C library's actions in fn concern that thread; elsewhere it is a
 * plain call. errno is passed on in both directions. fn is required and must not switch, nor call
 * Weft. From anywhere; never switches. Since 0.6. */
WEFT_API void weft_hosted_as_carrier(void (*fn)(void *argument), void *argument) WEFT_NOTHROW;

/** Calls fn(argument) at once, on this stack, while the OS thread may use all CPUs of the process:
 * in a hosted unit of a stream that is bound (weft_stream_bind_hart and its like), so that threads
 * and processes that fn starts are not bound as the stream is; elsewhere it is a plain call. fn is
 * required and must not switch. From anywhere; never switches. Since 0.6. */
WEFT_API void weft_hosted_unconfined(void (*fn)(void *argument), void *argument) WEFT_NOTHROW;

/** Sends a signal to the hosted unit that is the pthread `thread` (pthread_t): its handler runs on
 * the unit's stack and with its thread pointer. A unit that runs gets the signal now, another one
 * when it resumes; a unit that leaves at this very moment may leave the signal to the next unit on
 * its OS thread. Signal 0 only checks whether there is such a pthread.
 *
 * Returns WEFT_OK, WEFT_INVALID (`thread` is not a pthread of hosted units, or there is no such
 * signal), WEFT_NOT_INITIALIZED. From any thread or unit; never switches. Since 0.6. */
WEFT_API weft_status weft_hosted_signal(uintptr_t thread, int signal) WEFT_NOTHROW;

/** Announces that `count` hosted units are about to be spawned, each of which begins with its own
 * pthread. The pthreads that will be missing are started at once, one while the kernel still
 * prepares another; otherwise each is started, and waited for, when its unit first runs. If the
 * units are not spawned, pthreads stay idle, and later hosted units use them. When the kernel
 * refuses a pthread, no further one is started, and the units that need one try again.
 *
 * count        how many units
 * stack_bytes  the stack of each, as in weft_unit_options: in bytes; 0: what the C library gives
 *              threads
 *
 * Returns WEFT_OK, WEFT_INVALID (stacks that are too small), WEFT_SYSTEM (the kernel refused one,
 * or no memory), WEFT_NOT_INITIALIZED. From any thread or ULT that has 16 KiB of stack left; takes
 * as long as the start of `count` threads takes, and switches only where the kernel refuses one:
 * then OS threads that take harts to domains end, as in weft_hosted_make_room. Since 0.6. */
WEFT_API weft_status weft_hosted_prepare(size_t count, size_t stack_bytes) WEFT_NOTHROW;

/** Ends OS threads of Weft for a caller to which the kernel has refused an OS thread (EAGAIN of
 * pthread_create: RLIMIT_NPROC, pids.max). The threads that Weft can do without end one after the
 * other: pthreads that are parked for hosted units and reserved for none, then idle threads that
 * take harts to domains, then the reactor. After each of them attempt(argument) is called, until it
 * returns true. Where none is left the call waits for some threads to become idle: 20 ms, and up to
 * 10 s while more of Weft's threads are busy than there are harts. attempt is required and must not
 * switch.
 *
 * Returns WEFT_OK, WEFT_SYSTEM (attempt has not succeeded), WEFT_WRONG_CONTEXT (Weft is starting a
 * thread of its own on this OS thread), WEFT_NOT_INITIALIZED. From any thread or ULT; may switch.
 * Since 0.6. */
WEFT_API weft_status weft_hosted_make_room(bool (*attempt)(void *argument), void *argument) WEFT_NOTHROW;

WEFT_END

#endif
