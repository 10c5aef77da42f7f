/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Streams: execution streams, which run units on a hart in the order of their scheduler (Argobots,
 * Seo et al., TPDS 2018, section III). Each has an OS thread, its carrier; it holds a hart while it
 * runs units and gives the hart back when it has nothing to run. There may be more streams than
 * harts. */
#ifndef WEFT_STREAM_H
#define WEFT_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include <weft/kind.h>
#include <weft/pool.h>
#include <weft/sched.h>
#include <weft/status.h>

WEFT_BEGIN

/** An execution stream. */
typedef struct weft_stream weft_stream;

/** The options of a stream. Zero means the default. */
typedef struct weft_stream_options {
    size_t size;       /**< sizeof(weft_stream_options) */
    weft_sched *sched; /**< its scheduler, freed with it unless weft_sched_owned_set says no; NULL: made from `pool` */
    weft_pool *pool;   /**< with sched NULL: its main pool; NULL: a new one, freed with the stream */
    const char *name;  /**< at most 15 bytes are kept; NULL: "weft/RANK" */
    weft_kind kind;    /**< the kind of ULTs that are spawned on it without a kind; 0: the settings' kind. Since 0.4 */
    void *data;        /**< what weft_stream_data_get returns from the beginning. Since 0.5 */
} weft_stream_options;

/** Starts a stream, while the others run. From any thread or unit; never switches. Where the
 * streams' pools are deques, a new stream without a scheduler of its own steals from the existing
 * ones, which do not steal from it; units that it has stolen go back to the pools that they come
 * from when they yield or wait.
 *
 * options  NULL for the defaults
 * stream   required; receives the stream
 *
 * Returns WEFT_OK, WEFT_NO_MEMORY, WEFT_INVALID, WEFT_WRONG_KIND (there is no such kind), WEFT_BUSY
 * (the scheduler is another stream's, or a private or deque pool at its head is), WEFT_SYSTEM (no
 * OS thread was available), WEFT_NOT_INITIALIZED. Since 0.1. */
WEFT_API weft_status weft_stream_create(const weft_stream_options *options, weft_stream **stream) WEFT_NOTHROW;

/** Sets the kind of ULTs that are spawned on the stream without a kind from now on;
 * WEFT_KIND_DEFAULT: the settings' kind. Where it does not suit the other options
 * (weft_unit_options), WEFT_KIND_ROC is taken instead.
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_KIND (there is no such kind), WEFT_WRONG_CONTEXT (the
 * caller does not run on that stream). From a unit of the stream; never switches. Since 0.4. */
WEFT_API weft_status weft_stream_kind_set(weft_stream *stream, weft_kind kind) WEFT_NOTHROW;

/** Stops a stream once its pools are empty, waits for that, and frees it with its scheduler.
 * Suspended units that belong to its pools stay; a stream that draws from those pools later runs
 * them. The call waits for units of pools that only this stream draws from while they are in a
 * domain that they have registered (an arena, members of weft_spmd), or bound to another stream
 * (weft_unit_bind). It has no deadline: to wait for a limited time, call weft_stream_stop and check
 * weft_stream_ended_get.
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_NOT_INITIALIZED (it has ended with its runtime),
 * WEFT_WRONG_CONTEXT (stream 0, or the caller runs on it, or is a tasklet), WEFT_BUSY (another call
 * frees it already). From any thread or ULT; may switch. Since 0.7; before that its name was
 * weft_stream_free. */
WEFT_API weft_status weft_stream_join_free(weft_stream *stream) WEFT_NOTHROW;

/** Frees a stream that has ended (weft_stream_stop), with its scheduler. Returns the statuses of
 * weft_stream_join_free, and WEFT_BUSY also when the stream has not ended. From any thread or ULT;
 * never switches. Since 0.7; before that the name was weft_stream_join_free's. */
WEFT_API weft_status weft_stream_free(weft_stream *stream) WEFT_NOTHROW;

/** Requests that a stream end, and does not wait for that; weft_stream_join_free does.
 *
 * at_once  true: the stream ends when it next has the choice, whatever waits in its pools; units
 *          stay there, for a stream that draws from the pools later. False: when its pools are
 *          empty
 *
 * A scheduler with `run` learns of the request by weft_sched_check_stop. Returns WEFT_OK,
 * WEFT_INVALID, WEFT_WRONG_CONTEXT (stream 0). From any thread or unit; never switches. Since
 * 0.5. */
WEFT_API weft_status weft_stream_stop(weft_stream *stream, bool at_once) WEFT_NOTHROW;

/** Whether the stream has ended, as requested. Returns WEFT_OK or WEFT_INVALID. From any
 * thread or unit; never switches. Since 0.5. */
WEFT_API weft_status weft_stream_ended_get(const weft_stream *stream, bool *ended) WEFT_NOTHROW;

/** Gives the stream a pointer that belongs to the program: what a runtime that embeds Weft knows of
 * the stream. Not at the same time as weft_stream_data_get. Returns WEFT_OK or WEFT_INVALID. From
 * anywhere; never switches. Since 0.5. */
WEFT_API weft_status weft_stream_data_set(weft_stream *stream, void *data) WEFT_NOTHROW;

/** The pointer that weft_stream_data_set has given the stream last, or NULL. Returns WEFT_OK or
 * WEFT_INVALID. From anywhere; never switches. Since 0.5. */
WEFT_API weft_status weft_stream_data_get(const weft_stream *stream, void **data) WEFT_NOTHROW;

/** Requests that a stream run nothing, from its next switch on, until weft_stream_resume; its hart
 * is given back. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (it is suspended already),
 * WEFT_WRONG_CONTEXT (the caller runs on it, or it is stream 0). Does not wait. From any thread or
 * unit; never switches. Since 0.1. */
WEFT_API weft_status weft_stream_suspend(weft_stream *stream) WEFT_NOTHROW;

/** Lets a suspended stream run again. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (it is not
 * suspended). From any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_stream_resume(weft_stream *stream) WEFT_NOTHROW;

/** The stream that runs the caller, or NULL outside of streams. It need not be one of the
 * program's: a guest (guest.h) has one, and so have the OS threads that carry harts to domains.
 * These streams are not counted, not found by weft_stream_at, and come and go: a call that would
 * stop, suspend, free or bind such a stream, give it another scheduler, post to it or bind a unit
 * to it, returns WEFT_WRONG_CONTEXT. Its main pool is stream 0's. From anywhere; never switches.
 * Since 0.1. */
WEFT_API weft_stream *weft_stream_self(void) WEFT_NOTHROW;

/** The stream's rank: 0 for the stream of weft_init, then the smallest free number. Returns WEFT_OK
 * or WEFT_INVALID. From anywhere; never switches. Since 0.1. */
WEFT_API weft_status weft_stream_rank_get(const weft_stream *stream, size_t *rank) WEFT_NOTHROW;

/** The stream of the given rank, or NULL. From any thread or unit; never switches. Since 0.1. */
WEFT_API weft_stream *weft_stream_at(size_t rank) WEFT_NOTHROW;

/** How many streams there are. From any thread or unit; never switches. Since 0.1. */
WEFT_API size_t weft_stream_count(void) WEFT_NOTHROW;

/** Gives a stream another scheduler, which replaces its own at the next turn of the stream's loop:
 * no unit is interrupted, and a scheduler with `run` returns first (weft_sched_check_stop returns
 * true). The old scheduler is freed, or given back (weft_sched_owned_set). A scheduler that was to
 * replace it and has not done so yet is superseded, and freed or given back as well. Units in pools
 * that no scheduler draws from any more wait there; but the stream still runs the units bound to
 * it, and whatever waits in the same private pool with them.
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_NO_MEMORY, WEFT_BUSY (the scheduler is in use, or another
 * stream owns its private pool or the deque at its head). Does not wait. From any thread or unit;
 * never switches. Since 0.2. */
WEFT_API weft_status weft_stream_sched_set(weft_stream *stream, weft_sched *sched) WEFT_NOTHROW;

/** The stream's scheduler, which may be replaced at any moment. Returns WEFT_OK or WEFT_INVALID.
 * From any thread or unit; never switches. Since 0.2. */
WEFT_API weft_status weft_stream_sched_get(const weft_stream *stream, weft_sched **sched) WEFT_NOTHROW;

/** How many units stand below the running unit, each of which runs the next as a scheduler: a
 * scheduler that was pushed into a pool (weft_sched_push), a main scheduler with `run`, or a ULT
 * that runs units itself (weft_unit_run). 0: the stream's own loop runs the unit.
 *
 * depth  required
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_CONTEXT (the caller is not on that stream). From the
 * stream; never switches. Since 0.5. */
WEFT_API weft_status weft_stream_depth_get(const weft_stream *stream, size_t *depth) WEFT_NOTHROW;

/** The stream's main pool: the first of its scheduler's. Returns WEFT_OK or WEFT_INVALID. From any
 * thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_stream_pool_get(const weft_stream *stream, weft_pool **pool) WEFT_NOTHROW;

/** The stream's name; valid as long as the stream exists. Returns WEFT_OK or WEFT_INVALID. From
 * anywhere; never switches. Since 0.1. */
WEFT_API weft_status weft_stream_name_get(const weft_stream *stream, const char **name) WEFT_NOTHROW;

/** Binds a stream's carrier to one hart, numbered as in hart.h. May be repeated while it runs; each
 * binding replaces the last. Returns WEFT_OK, WEFT_INVALID (no such hart), WEFT_SYSTEM (the kernel
 * refused). From any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_stream_bind_hart(weft_stream *stream, size_t hart) WEFT_NOTHROW;

/** Binds a stream's carrier to a set of CPUs, in the kernel's notation: "0-3,8". CPUs outside the
 * process's own set are refused. Returns the statuses of weft_stream_bind_hart. From any thread or
 * unit; never switches. Since 0.1. */
WEFT_API weft_status weft_stream_bind_cpus(weft_stream *stream, const char *cpus) WEFT_NOTHROW;

/** Binds a stream's carrier to the CPUs of a NUMA node (the operating system's number). Loads
 * hwloc. Returns the statuses of weft_stream_bind_hart; WEFT_UNSUPPORTED without hwloc. From any
 * thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_stream_bind_numa(weft_stream *stream, unsigned node) WEFT_NOTHROW;

/** Lets a stream's carrier run on all CPUs of the process again. Returns the statuses of
 * weft_stream_bind_hart. From any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_stream_unbind(weft_stream *stream) WEFT_NOTHROW;

/** Writes the CPUs that a stream's carrier may run on, in the form "0-3,8", terminated by a null
 * byte.
 *
 * buffer, bytes  required; WEFT_INVALID when it is too small
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_SYSTEM. From any thread or unit; never switches. Since
 * 0.1. */
WEFT_API weft_status weft_stream_binding_get(const weft_stream *stream, char *buffer, size_t bytes) WEFT_NOTHROW;

WEFT_END

#endif
