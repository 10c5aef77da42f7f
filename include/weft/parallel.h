/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Lazy fork-join: two branches, of which another stream may take the second.
 *
 * Where no stream takes it, the second branch is a call like any other, and no unit is made for it:
 * a fork is two stores, and its join a comparison. So a program may fork wherever two things may be
 * done at once, however small they are. The algorithm is that of Frigo, Leiserson and Randall, "The
 * implementation of the Cilk-5 multithreaded language", 1998 (work first: the thief pays), with the
 * split deque of van Dijk and van de Pol, "Lace: non-blocking split deque for work-stealing", 2014
 * (what is not shared needs no fence). In C++: weft::invoke in <weft/parallel.hpp>. */
#ifndef WEFT_PARALLEL_H
#define WEFT_PARALLEL_H

#include <weft/embed/job.h>
#include <weft/status.h>

WEFT_BEGIN

/** The second branch of a weft_invoke. Since 0.7. */
typedef struct weft_branch {
    weft_job job;                 /**< leads from the job to the branch */
    void (*call)(void *argument); /**< g */
    void *argument;               /**< of g */
} weft_branch;

/** Runs the branch that begins with `job`. Since 0.7. */
WEFT_INLINE void weft_branch_run(weft_job *job) WEFT_NOTHROW {
    weft_branch *const branch = (weft_branch *)job;
    branch->call(branch->argument);
}

/** weft_invoke as a call of the library, under the symbol that other languages use; it reports a
 * null f or g. From where weft_invoke may be called; may switch. Since 0.7. */
WEFT_API weft_status weft_invoke_called(void (*f)(void *argument), void *f_argument, void (*g)(void *argument),
                                        void *g_argument) WEFT_NOTHROW __asm__("weft_invoke");

/* In object files another name: weft_invoke is the library's symbol. */
WEFT_INLINE weft_status weft_invoke(void (*f)(void *argument), void *f_argument, void (*g)(void *argument),
                                    void *g_argument) WEFT_NOTHROW __asm__("weft_invoke_inlined");

/** Runs f(f_argument) and g(g_argument), and returns when both have ended. The caller runs f. If no
 * stream has taken g when f has returned, the caller calls g, on the same stack and as the same
 * unit; otherwise another stream runs g as a unit of its own, with a stack as large as the caller's
 * (the default, where the caller is the primary unit), and the caller waits for its end.
 *
 * f, g     required; they may themselves call weft_invoke, as deep as the stack allows
 *
 * Returns WEFT_OK, or WEFT_INVALID (a null f or g): then neither has been called. From anywhere. In
 * a ULT it may switch: before g is called, after it, and wherever f and g do. While a tasklet waits
 * for a g that was taken, it runs other tasklets' branches, or its OS thread sleeps. A g of a
 * tasklet runs as a tasklet, so like f it cannot suspend. In a scheduler, in an OS thread that is
 * not a stream, and in a unit of a pool with the promise of one producer, no stream takes g: it is
 * called after f. Not in a function that is called while a unit is being suspended
 * (weft_unit_suspend).
 *
 * g is offered to other streams, once one of them has requested work, at the caller's next fork or
 * when the caller leaves its stream: a g that was forked before the others ran out of work stays
 * the caller's as long as f neither forks nor waits. A program must not rely on f and g running at
 * once: f must not wait for what only g does. g has the priority of the settings' default, no name
 * of its own, and may run on any stream, even where the caller is bound to one. Between the fork
 * and the join the unit does not end: weft_unit_exit in f, or in a g that was taken, returns
 * WEFT_WRONG_STATE, and weft_unit_cancel acts at the first yield or suspension after the join.
 * Since 0.4. */
WEFT_INLINE weft_status weft_invoke(void (*f)(void *argument), void *f_argument, void (*g)(void *argument),
                                    void *g_argument) WEFT_NOTHROW {
    weft_branch second;
    if (__builtin_expect(!f || !g, 0)) return weft_invoke_called(f, f_argument, g, g_argument);
    second.job.run = weft_branch_run;
    second.call = g;
    second.argument = g_argument;
    weft_job_fork(&second.job);
    f(f_argument);
    if (__builtin_expect(weft_job_join(&second.job), 1)) g(g_argument);
    return WEFT_OK;
}

WEFT_END

#endif
