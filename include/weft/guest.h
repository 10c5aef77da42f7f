/* Guests: OS threads that Weft did not make and that call in. main of a program that never calls
 * weft_init, threads of a pool of its own, threads of a Python interpreter: any number of them,
 * unrelated to each other, at once.
 *
 * Between its outermost weft_guest_enter and the weft_guest_leave that belongs to it, the code of
 * such a thread is a ULT: it may do whatever a ULT may (wait for units and be waited for, register
 * domains, fork, yield, sleep). It stays on its own OS thread and stack: no other thread ever runs
 * it. The thread keeps its name, CPUs and signal mask; if it has no alternate signal stack it may
 * have one of Weft's until it leaves.
 *
 * A guest has one of the process's harts while it runs (weft_hart_limit). When all are taken it is
 * admitted in its turn, and its thread sleeps until then. While it waits for something by a call of
 * Weft's, its hart is for others, and so is its thread: it may run contexts of domains (domain.h)
 * meanwhile, whose domain has it so (weft_domain_pass). A guest that leaves keeps its hart until
 * somebody lacks one, so that a thread that comes again and again comes in and goes out by a few
 * instructions. Blocking calls of others (a read, pthread_join) keep the hart: see weft_blocking
 * (io.h).
 *
 * A thread that has entered when no runtime runs has started one: one stream, or WEFT_STREAMS of
 * them, on OS threads of its own, asleep until there are units for them; settings are the
 * environment's. It stays until the process ends, and what exit calls may still come in (exit stops
 * the streams of a runtime that weft_init has started). Where one runs, what a guest spawns without
 * naming a pool goes where spawns of other threads go, to stream 0. */
#ifndef WEFT_GUEST_H
#define WEFT_GUEST_H

#include <stdbool.h>

#include <weft/status.h>
#include <weft/unit.h>

WEFT_BEGIN

/** The calling OS thread comes in. Calls nest: each needs its weft_guest_leave, and only the
 * outermost does anything. So in a unit, or on a thread that has called weft_init: that is inside
 * already, and the call does nothing. A thread that ends inside leaves.
 *
 * Returns WEFT_OK; WEFT_NO_MEMORY, WEFT_SYSTEM, WEFT_ENVIRONMENT, WEFT_UNSUPPORTED (a runtime could
 * not be started, as weft_init says; nothing is left behind), WEFT_INVALID (more threads than are
 * supported: 16384, with the runtime's own). While another thread is in the last weft_finalize, it
 * waits for that, and starts another runtime. From anywhere; waits for its turn. Since 0.6. */
WEFT_API weft_status weft_guest_enter(void) WEFT_NOTHROW;

/** The calling OS thread goes out. Values under keys (local.h) that it has set inside are destroyed
 * at the outermost call.
 *
 * Returns WEFT_OK; WEFT_WRONG_STATE (an OS thread or a unit that has not entered, or has left as
 * often; what weft_init has entered is left by weft_finalize), WEFT_BUSY (it has registered a
 * domain, or is between a fork and its join; it is inside still).
 * From anywhere; may switch where values are destroyed. Since 0.6. */
WEFT_API weft_status weft_guest_leave(void) WEFT_NOTHROW;

/** The calling guest has been woken for nothing and is about to wait again: all are told of a
 * change that concerns one of them. When it is woken next and waits for a hart, it comes where it
 * stood before, as long as it has had its hart for less than WEFT_SLICE_NS altogether since it came
 * there. Where no guest calls nothing is done. From anywhere; never switches. Since 0.6. */
WEFT_API void weft_guest_in_vain(void) WEFT_NOTHROW;

/** The guest, as the unit that its code is, on whose OS thread the caller runs: itself, if a guest
 * calls; the one that waits, if its OS thread has brought a hart to a domain (in `enter` of
 * weft_domain_ops: then weft_domain_pass takes the hart elsewhere). NULL: an OS thread of the
 * runtime's, or one that is outside. From anywhere; never switches. Since 0.6. */
WEFT_API weft_unit *weft_guest_here(void) WEFT_NOTHROW;

/** Whether there is such a guest, and it can go on: as soon as the OS thread switches, it does,
 * with the hart that is there, before anything else. A context that could yield then makes room.
 * From anywhere; never switches. Since 0.6. */
WEFT_API bool weft_guest_awaited(void) WEFT_NOTHROW;

WEFT_END

#endif
