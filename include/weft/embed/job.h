/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Jobs: the parts that a fork of weft_invoke (<weft/parallel.h>) consists of, for headers of other
 * languages that fork by themselves.
 *
 * A stream's memory begins with a weft_jobs; its address is in the thread-local word
 * `weft_local_word`, which is NULL where the OS thread is not a stream. Read the word again after
 * each call that may switch, as <weft/embed/here.hpp> does, and keep it in no variable across such
 * a call.
 *
 * On an OS thread that is not a stream, fork by weft_job_offer and join by weft_job_take_back. On a
 * stream:
 *   fork   bottom < limit: store the address of the job at bottom, and bottom + 1 in bottom.
 *          Otherwise: weft_job_offer.
 *   join   bottom[-1] is the address of the job: store bottom - 1 in bottom, and do what the job is
 *          for. Otherwise: weft_job_take_back returns whether the caller is to do it.
 *
 * Each job that was forked is joined by the same unit, the last one first. Other threads may write
 * `limit` at any time. */
#ifndef WEFT_EMBED_JOB_H
#define WEFT_EMBED_JOB_H

#include <stdbool.h>

#include <weft/embed/layout.h>
#include <weft/status.h>

WEFT_BEGIN

/** A branch that waits to be run: it lies on the stack of the unit that forks it, and stays there
 * until it is joined. */
typedef struct weft_job {
    void (*run)(struct weft_job *job); /**< what a thief calls; it must return, and not throw */
    void *kept[5];                     /**< Weft's, once the job is offered; need not be initialised */
} weft_job;

/** Where the running unit of a stream leaves its jobs. Only that unit writes here, except to
 * `limit`. */
typedef struct weft_jobs {
    /** behind the newest job that no other thread sees */
    weft_job **bottom;
    /** a fork at or beyond it must call weft_job_offer: there is no room, or a stream has requested
     * work */
    weft_job **limit;
} weft_jobs;

/** Forks `job` where there is no room below the limit: makes room, and publishes jobs to the
 * streams that have requested work. Never switches. Since 0.4. */
WEFT_API void weft_job_offer(weft_job *job) WEFT_NOTHROW;

/** Joins a job that is not the newest below bottom. True: no stream has it, and the caller is to
 * run it. False: another stream has run it; the call may have switched to wait for that. Since
 * 0.4. */
WEFT_API bool weft_job_take_back(weft_job *job) WEFT_NOTHROW;

WEFT_END

#endif
