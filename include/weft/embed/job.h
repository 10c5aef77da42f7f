/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Jobs: the parts that a fork of weft_invoke (<weft/parallel.h>) consists of, for headers of other
 * languages that fork by themselves.
 *
 * A stream's memory begins with a weft_jobs; its address is in the thread-local word
 * `weft_local_word`, which is NULL where the OS thread is not a stream. Read the word again after
 * each call that may switch, as weft_jobs_here does, and keep it in no variable across such a call.
 *
 * On an OS thread that is not a stream, fork by weft_job_offer and join by weft_job_take_back. On a
 * stream:
 *   fork   unless `closed`: store `newest` in the job's `older`, and the address of the job in
 *          `newest`. Otherwise: weft_job_offer.
 *   join   `newest` is the address of the job: store the job's `older` in `newest`, and do what the
 *          job is for. Otherwise: weft_job_take_back returns whether the caller is to do it.
 * weft_job_fork and weft_job_join do so.
 *
 * Each job that was forked is joined by the same unit, the last one first. Other threads may write
 * `closed` at any time. */
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
    /** Weft's, once the job is forked; need not be initialised */
    union {
        struct weft_job *older; /**< the next older job, as long as no other thread sees this one */
        void *kept[5];          /**< afterwards */
    };
} weft_job;

/** Where the running unit of a stream leaves its jobs. Only that unit writes here, except to
 * `closed`. */
typedef struct weft_jobs {
    /** the newest job that no other thread sees; NULL: none */
    weft_job *newest;
    /** a fork must call weft_job_offer: the unit has not forked since it got the stream, or another
     * stream has requested work */
    bool closed;
} weft_jobs;

/** Forks `job` where the jobs are closed, or there are none: opens them, and publishes jobs to the
 * streams that have requested work. From anywhere; never switches. Since 0.4. */
WEFT_API void weft_job_offer(weft_job *job) WEFT_NOTHROW;

/** Joins a job that is not the newest one. True: no stream has it, and the caller is to run it.
 * False: another stream has run it; the call may have switched to wait for that. Since 0.4. */
WEFT_API bool weft_job_take_back(weft_job *job) WEFT_NOTHROW;

/** The jobs of the running unit; NULL on an OS thread that is not a stream. Volatile assembly reads
 * the thread-local word anew each time: a unit may wake on another OS thread, and a compiler that
 * knew the word would keep its address. From anywhere; never switches. Since 0.7. */
WEFT_INLINE weft_jobs *weft_jobs_here(void) WEFT_NOTHROW {
    /* The loader refuses a program whose inlined code has another layout than the library. */
    __attribute__((used)) static const char *const layout = &weft_embed_layout_1;
    weft_jobs *jobs;
#if defined(__x86_64__)
    __asm__ volatile(
        "movq    weft_local_word@gottpoff(%%rip), %0\n\t"
        "movq    %%fs:(%0), %0"
        : "=r"(jobs));
#elif defined(__aarch64__)
    void *thread;
    __asm__ volatile(
        "mrs     %1, tpidr_el0\n\t"
        "adrp    %0, :gottprel:weft_local_word\n\t"
        "ldr     %0, [%0, :gottprel_lo12:weft_local_word]\n\t"
        "ldr     %0, [%1, %0]"
        : "=&r"(jobs), "=&r"(thread));
#else
#error "Weft has no port for this processor"
#endif
    return jobs;
}

/** The address of `job`, which usually lies in a frame, computed where it is needed: where gcc sees
 * that the address is needed again after a call, it keeps it in a register that the function must
 * save first. The memory operand lets the address escape. From anywhere; never switches. Since
 * 0.7. */
WEFT_INLINE weft_job *weft_job_address(weft_job *job) WEFT_NOTHROW {
#if defined(__x86_64__) && !defined(__clang__)
    weft_job *address;
    __asm__ volatile("leaq    %1, %0" : "=r"(address) : "m"(job->run));
    return address;
#else
    return job;
#endif
}

/** Forks `job`, whose `run` is set: another stream may take it until weft_job_join. From anywhere;
 * never switches. Since 0.7. */
WEFT_INLINE void weft_job_fork(weft_job *job) WEFT_NOTHROW {
    weft_jobs *const jobs = weft_jobs_here();
    /* relaxed: a thief may close them at any time, and a fork that has not seen that yet does no
     * harm. */
    if (__builtin_expect(!jobs || __atomic_load_n(&jobs->closed, __ATOMIC_RELAXED), 0)) {
        weft_job_offer(weft_job_address(job));
        return;
    }
    job->older = jobs->newest;
    jobs->newest = weft_job_address(job);
}

/** Joins `job`, the last one that the calling unit has forked and not joined. Returns whether the
 * caller is to do what the job is for; false: another stream has done it. From where weft_job_fork
 * was called, perhaps on another stream meanwhile; may switch. Since 0.7. */
WEFT_INLINE bool weft_job_join(weft_job *job) WEFT_NOTHROW {
    weft_jobs *const jobs = weft_jobs_here();
    if (__builtin_expect(!jobs || jobs->newest != weft_job_address(job), 0))
        return weft_job_take_back(weft_job_address(job));
    jobs->newest = job->older;
    return true;
}

WEFT_END

#endif
