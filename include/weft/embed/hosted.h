/* Hosted units (WEFT_KIND_HOSTED): ULTs that are pthreads to whatever they call.
 *
 * Such a unit runs on the stack and by the thread pointer of a pthread that is parked for it, from
 * its first run to its end, on whatever stream it goes on. So pthread_self, thread_local variables
 * (also of libraries that are opened later), errno, keys, what the C library keeps for a thread,
 * pthread mutexes and exceptions are its own, and pthread_getattr_np tells the stack that it stands
 * on.
 *
 * At its end, before it can be joined, destructors run as at the end of a thread: of C++
 * thread_local objects and of keys. Then the pthread is kept for the next unit, which finds plain
 * thread_local variables as the last one left them; with weft_unit_options.fresh it gets a new one.
 * One on which there have been thread_local objects with destructors has no second unit: a compiler
 * would take them for alive there. Pthreads are started when needed and joined by the last
 * weft_finalize; when the kernel refuses one (RLIMIT_NPROC, pids.max), a unit waits for another's,
 * and when none can come free it ends with WEFT_SYSTEM, and its body has not run.
 *
 * The stack is as large as the C library makes those of threads, or weft_unit_options.stack_bytes
 * if that is more. The unit's floating-point control words are its own, too.
 *
 * pthread_exit in a hosted unit ends the unit, after unwinding; so does pthread_cancel of its
 * pthread, at a place where a thread would be cancelled, but it does not wake one that waits in the
 * kernel. What is bound to the kernel's thread is the carrier's: gettid, signal masks, timers and
 * counters by thread. A contended mutex with priority inheritance does not work: the kernel takes
 * the carrier for its owner. With the interposers of bridge/pthread pthread_kill, the affinity of
 * threads, and setuid and its like, are right in hosted units. Who waits for one waits for the
 * unit, and not for its pthread by pthread_join. A hosted unit runs no other unit as its scheduler
 * (weft_unit_run). */
#ifndef WEFT_EMBED_HOSTED_H
#define WEFT_EMBED_HOSTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/unit.h>

WEFT_BEGIN

/** Whether the caller is a hosted unit. From anywhere; never switches. Since 0.6. */
WEFT_API bool weft_hosted(void) WEFT_NOTHROW;

/** The kernel's number of the pthread that the calling hosted unit is; 0 elsewhere. From anywhere;
 * never switches. Since 0.6. */
WEFT_API uint32_t weft_hosted_thread_id(void) WEFT_NOTHROW;

/** Calls fn(argument) at once, on this stack: in a hosted unit by the thread pointer of the OS
 * thread that runs it, so that what the C library does there concerns that thread; elsewhere
 * plainly. errno is handed on both ways. fn is required and must not switch, nor call Weft. From
 * anywhere; never switches. Since 0.6. */
WEFT_API void weft_hosted_as_carrier(void (*fn)(void *argument), void *argument) WEFT_NOTHROW;

/** Calls fn(argument) at once, on this stack, while the OS thread may use all CPUs of the process:
 * in a hosted unit of a stream that is bound (weft_stream_bind_hart and its like), so that threads
 * and processes that fn starts are not bound as the stream is; elsewhere plainly. fn is required
 * and must not switch. From anywhere; never switches. Since 0.6. */
WEFT_API void weft_hosted_unconfined(void (*fn)(void *argument), void *argument) WEFT_NOTHROW;

/** A signal for the hosted unit that is the pthread `thread` (pthread_t): its handler runs on the
 * unit's stack and by its thread pointer. It gets it now if it runs, otherwise when it goes on; one
 * that leaves at this very moment may leave it to whoever comes next on its OS thread. Signal 0
 * asks whether there is such a pthread.
 *
 * Returns WEFT_OK, WEFT_INVALID (`thread` is no pthread of hosted units, or there is no such
 * signal), WEFT_NOT_INITIALIZED. From any thread or unit; never switches. Since 0.6. */
WEFT_API weft_status weft_hosted_signal(uintptr_t thread, int signal) WEFT_NOTHROW;

/** Says that `count` hosted units are about to be spawned, each of which begins with a pthread of
 * its own. Those pthreads that will be missing are started at once, one while the kernel still
 * prepares another; otherwise each is started, and waited for, when its unit first runs. A promise
 * that is not kept leaves pthreads idle, which later hosted units use. When the kernel refuses one,
 * none is started any more, and the units that need it try again.
 *
 * count        how many units
 * stack_bytes  of each, as in their weft_unit_options: in bytes; 0: what the C library gives
 *              threads
 *
 * Returns WEFT_OK, WEFT_INVALID (stacks that are too small), WEFT_SYSTEM (the kernel refused one,
 * or no memory), WEFT_NOT_INITIALIZED. From any thread or ULT that has 16 KiB of stack left; takes
 * the time that it takes to start `count` threads, and switches only where the kernel refuses one:
 * OS threads that take harts to domains end then, as in weft_hosted_make_room. Since 0.6. */
WEFT_API weft_status weft_hosted_prepare(size_t count, size_t stack_bytes) WEFT_NOTHROW;

/** The kernel has refused the caller an OS thread (EAGAIN of pthread_create: RLIMIT_NPROC,
 * pids.max). Those of Weft's end that it can do without, one after the other: pthreads that are
 * parked for hosted units and promised to none, then those that take harts to domains and are idle,
 * then the reactor. After each attempt(argument) is called, until it returns true. Where none is
 * left it waits for some to have nothing to do: 20 ms, and up to 10 s while more of them run units
 * than there are harts. attempt is required and must not switch.
 *
 * Returns WEFT_OK, WEFT_SYSTEM (attempt has not succeeded), WEFT_WRONG_CONTEXT (Weft is starting a
 * thread of its own on this OS thread), WEFT_NOT_INITIALIZED. From any thread or ULT; may switch.
 * Since 0.6. */
WEFT_API weft_status weft_hosted_make_room(bool (*attempt)(void *argument), void *argument) WEFT_NOTHROW;

WEFT_END

#endif
