/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Guests: OS threads that Weft did not create and that call in. Examples are the main thread of a
 * program that never calls weft_init, threads of the program's own pool, and threads of a Python
 * interpreter: any number of them at once, unrelated to each other.
 *
 * Between its outermost weft_guest_enter and the weft_guest_leave that belongs to it, the code of
 * such a thread is a ULT: it may do whatever a ULT may (wait for units and be waited for, register
 * domains, fork, yield, sleep). It stays on its own OS thread and stack: no other thread ever runs
 * it. The thread keeps its name, CPUs and signal mask; if it has no alternate signal stack, Weft
 * may give it one until it leaves.
 *
 * A guest has one of the process's harts while it runs (weft_hart_limit). When all are taken it is
 * admitted in its turn, and its thread sleeps until then. While it waits in a call of Weft, other
 * claimants may use its hart, and also its thread: the thread may meanwhile run contexts of domains
 * (domain.h), unless their domain sends the hart elsewhere (weft_domain_pass). A guest that leaves
 * keeps its hart until another claimant lacks one, so that a thread that comes again and again
 * enters and leaves by a few instructions. Blocking calls outside of Weft (a read, pthread_join)
 * keep the hart: see weft_blocking (io.h).
 *
 * A thread that enters when no runtime runs starts one: one stream, or WEFT_STREAMS of them, on
 * separate OS threads, asleep until there are units for them; the settings are the environment's.
 * This runtime stays until the process ends, and functions that exit calls may still enter (exit
 * stops the streams of a runtime that weft_init has started). In either case units that a guest
 * spawns without naming a pool go where spawns of other threads go, to stream 0. */
#ifndef WEFT_GUEST_H
#define WEFT_GUEST_H

#include <stdbool.h>

#include <weft/status.h>
#include <weft/unit.h>

WEFT_BEGIN

/** The calling OS thread enters. Calls nest: each needs its weft_guest_leave, and only the
 * outermost call has an effect. In a unit, or on a thread that has called weft_init, the call has
 * no effect, since the caller is inside already. A thread that ends inside leaves.
 *
 * Returns WEFT_OK; WEFT_NO_MEMORY, WEFT_SYSTEM, WEFT_ENVIRONMENT, WEFT_UNSUPPORTED (a runtime could
 * not be started, as weft_init says; nothing is left behind), WEFT_INVALID (more threads than are
 * supported: 16384, with the runtime's own). While another thread is in the last weft_finalize, it
 * waits for that, and starts another runtime. From anywhere; waits for its turn. Since 0.6. */
WEFT_API weft_status weft_guest_enter(void) WEFT_NOTHROW;

/** The calling OS thread leaves. Values under keys (local.h) that it has set inside are destroyed
 * at the outermost call.
 *
 * Returns WEFT_OK; WEFT_WRONG_STATE (an OS thread or a unit that has not entered, or has already
 * left as often; a thread that has entered by weft_init leaves by weft_finalize), WEFT_BUSY (it has
 * registered a domain, or is between a fork and its join; it is still inside). From anywhere; may
 * switch where values are destroyed. Since 0.6. */
WEFT_API weft_status weft_guest_leave(void) WEFT_NOTHROW;

/** Reports that the calling guest was woken for nothing and is about to wait again, as happens
 * where all waiters are notified of a change that concerns one of them. When the guest is woken
 * next and waits for a hart, it gets back its former place among the waiting claimants, as long as
 * it has had its hart for less than WEFT_SLICE_NS altogether since it came to that place. The call
 * has no effect where the caller is no guest. From anywhere; never switches. Since 0.6. */
WEFT_API void weft_guest_in_vain(void) WEFT_NOTHROW;

/** The guest on whose OS thread the caller runs, as the unit of the guest's code: the caller
 * itself, if a guest calls; the waiting guest, if its OS thread has brought a hart to a domain (in
 * `enter` of weft_domain_ops: then weft_domain_pass takes the hart elsewhere). NULL: one of the
 * runtime's OS threads, or one that is outside. From anywhere; never switches. Since 0.6. */
WEFT_API weft_unit *weft_guest_here(void) WEFT_NOTHROW;

/** Whether there is a guest that weft_guest_here returns, and it can continue: as soon as the OS
 * thread switches, the guest continues, with the hart that is there, before anything else. A
 * context that can yield should then yield to make room for it. From anywhere; never switches.
 * Since 0.6. */
WEFT_API bool weft_guest_awaited(void) WEFT_NOTHROW;

WEFT_END

#endif
