/* Lazy fork-join: two branches, of which the second may be taken by another stream.
 *
 * Where nobody takes it, the second branch is a call like any other, and no unit is made for it: a fork is two stores, and its join a
 * comparison. So a program may fork wherever two things may be done at once, however small they are. The algorithm is that of
 * Frigo, Leiserson and Randall, "The implementation of the Cilk-5 multithreaded language", 1998 (work first: the thief pays), with the split
 * deque of van Dijk and van de Pol, "Lace: non-blocking split deque for work-stealing", 2014 (what is not shared needs no fence).
 * In C++: weft::invoke in <weft/parallel.hpp>. */
#ifndef WEFT_PARALLEL_H
#define WEFT_PARALLEL_H

#include <stdbool.h>

#include <weft/status.h>

WEFT_BEGIN

/** Runs f(f_argument) and g(g_argument), and returns when both have ended. The caller runs f. When it has done so and nobody has taken g, it
 * calls g, on the same stack and as the same unit; otherwise another stream runs g as a unit of its own, with a stack as large as the
 * caller's (the default, where the caller is the primary unit), and the caller waits for its end.
 *
 * f, g     required; they may call weft_invoke in their turn, as deep as the stack allows
 *
 * Returns WEFT_OK, or WEFT_INVALID (a null f or g): then neither has been called.
 * From anywhere. In a ULT it may switch: before g is called, after it, and wherever f and g do. A tasklet that waits for a g that was taken makes other
 * tasklets' branches its own meanwhile, or its OS thread sleeps; a g of a tasklet runs as a tasklet, so it can suspend no more than f can. In a scheduler, in an OS
 * thread that is no stream, in a unit of a pool for which it was promised that one alone pushes to it, nobody takes g: it is called
 * after f. Not in a function that is called while a unit is being suspended (weft_unit_suspend).
 *
 * g is offered to other streams when one of them has asked for work, at the caller's next fork or when it leaves its stream: a g that was left before the
 * others ran out of work stays the caller's as long as f neither forks nor waits. Nobody may count on f and g running at
 * once: f must not wait for what only g does. g has the priority of the settings' default, no name of its own, and may run on any stream, also where the caller is
 * bound to one.
 * Between the fork and the join the unit does not end: weft_unit_exit in f, or in a g that was taken, returns WEFT_WRONG_STATE, and
 * weft_unit_cancel acts at the first yield or suspension after the join. Since 0.4. */
WEFT_API weft_status weft_invoke(void (*f)(void *argument), void *f_argument, void (*g)(void *argument), void *g_argument) WEFT_NOTHROW;

/* ---- for headers of other languages: what a fork is made of ------------------------------------------------------------------------------
 *
 * A weft_jobs begins a stream's memory; where that lies is in the thread-local word `weft_local_word`, NULL where the OS thread is no
 * stream. Read it anew after each call that may switch, as <weft/here.hpp> does, and keep it in no variable across one.
 *
 * On an OS thread that is no stream, both are the library's.
 *   fork   bottom < limit: store the address of the job at bottom, and bottom + 1 in bottom. Otherwise: weft_job_offer.
 *   join   bottom[-1] is the address of the job: store bottom - 1 in bottom, and do what the job is for. Otherwise: weft_job_take_back says
 *          whether that is to be done.
 *
 * Each job that was forked is joined by the same unit, the last one first. `limit` may be written by others at any time. */

/** A branch that waits to be run: on the stack of the one who forks it, in place until it is joined. */
typedef struct weft_job {
    void (*run)(struct weft_job *job); /**< what a thief calls; it throws nothing and returns */
    void *kept[5];                     /**< Weft's, once the job is offered; need not be initialised */
} weft_job;

/** Where the unit that runs on a stream leaves its jobs. Only it writes here, but for `limit`. */
typedef struct weft_jobs {
    weft_job **bottom; /**< behind the newest job that nobody else sees */
    weft_job **limit;  /**< a fork at or beyond it is weft_job_offer's: there is no room, or somebody has asked for work */
} weft_jobs;

/** Forks `job` where there is no room below the limit: makes room, and shows jobs to the streams that have asked for work. Never switches. Since 0.4. */
WEFT_API void weft_job_offer(weft_job *job) WEFT_NOTHROW;

/** Joins a job that is not the newest below bottom. True: nobody has it, and it is to be run by the caller. False: another stream has run it; it may have
 * switched to wait for that. Since 0.4. */
WEFT_API bool weft_job_take_back(weft_job *job) WEFT_NOTHROW;

WEFT_END

#endif
