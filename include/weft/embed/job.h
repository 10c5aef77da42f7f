/* Jobs: what a fork of weft_invoke (<weft/parallel.h>) is made of, for headers of other languages
 * that fork by themselves.
 *
 * A weft_jobs begins a stream's memory; where that lies is in the thread-local word
 * `weft_local_word`, NULL where the OS thread is no stream. Read it anew after each call that may
 * switch, as <weft/embed/here.hpp> does, and keep it in no variable across one.
 *
 * On an OS thread that is no stream, both are the library's.
 *   fork   bottom < limit: store the address of the job at bottom, and bottom + 1 in bottom.
 *          Otherwise: weft_job_offer.
 *   join   bottom[-1] is the address of the job: store bottom - 1 in bottom, and do what the job is
 *          for. Otherwise: weft_job_take_back says whether that is to be done.
 *
 * Each job that was forked is joined by the same unit, the last one first. `limit` may be written
 * by others at any time. */
#ifndef WEFT_EMBED_JOB_H
#define WEFT_EMBED_JOB_H

#include <stdbool.h>

#include <weft/embed/layout.h>
#include <weft/status.h>

WEFT_BEGIN

/** A branch that waits to be run: on the stack of the one who forks it, in place until it is
 * joined. */
typedef struct weft_job {
    void (*run)(struct weft_job *job); /**< what a thief calls; it throws nothing and returns */
    void *kept[5];                     /**< Weft's, once the job is offered; need not be initialised */
} weft_job;

/** Where the unit that runs on a stream leaves its jobs. Only it writes here, but for `limit`. */
typedef struct weft_jobs {
    /** behind the newest job that nobody else sees */
    weft_job **bottom;
    /** a fork at or beyond it is weft_job_offer's: there is no room, or somebody has asked for
     * work */
    weft_job **limit;
} weft_jobs;

/** Forks `job` where there is no room below the limit: makes room, and shows jobs to the streams
 * that have asked for work. Never switches. Since 0.4. */
WEFT_API void weft_job_offer(weft_job *job) WEFT_NOTHROW;

/** Joins a job that is not the newest below bottom. True: nobody has it, and it is to be run by the
 * caller. False: another stream has run it; it may have switched to wait for that. Since 0.4. */
WEFT_API bool weft_job_take_back(weft_job *job) WEFT_NOTHROW;

WEFT_END

#endif
