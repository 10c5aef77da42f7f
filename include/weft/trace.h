/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Observation: counters, a list of the live units, a dump of all units with their frames, and
 * events of units as they happen. Counters are kept per stream, off the hot path, and summed when
 * they are read (the naming follows HPX's performance counters).
 *
 * With the environment variable WEFT_TRACE ("out.json"), or `trace` of the settings, all that
 * observers see, and also where units were stolen and when streams slept, goes into a file that
 * Chrome (about:tracing) and Perfetto (ui.perfetto.dev) show: a track for each stream, on it the
 * units that ran, and arrows from where a unit was spawned or suspended to where it continued.
 * Streams keep their events in memory, as many as WEFT_TRACE_EVENTS says; the file is written at
 * exit or at the last weft_finalize, whichever comes first. */
#ifndef WEFT_TRACE_H
#define WEFT_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/pool.h>
#include <weft/status.h>
#include <weft/stream.h>
#include <weft/unit.h>

WEFT_BEGIN

/** Reads a counter by name.
 *
 * name   "/units/count/created", or for one stream "/units{stream#2}/count/created";
 *        weft_counters_print lists all names
 * value  required; times in nanoseconds
 *
 * Returns WEFT_OK, WEFT_INVALID (no such counter: the text lists similar names),
 * WEFT_NOT_INITIALIZED (not for counters that weft_counter_register has added). From any thread or
 * unit; never switches. Since 0.1. */
WEFT_API weft_status weft_counter_read(const char *name, uint64_t *value) WEFT_NOTHROW;

/** Adds a library's own counter: from now on weft_counter_read knows it, also where no runtime
 * runs, and weft_counters_print prints it after the runtime's own sums. It stays until the process
 * ends.
 *
 * name      required; begins with /, like "/openmp/count/regions", and has no tab, end of line or
 *           brace; the string must neither change nor move
 * read      required; called as read(argument) by any thread that reads counters, and by several at
 *           once, under a lock of the runtime: it must not call Weft, wait or throw
 * argument  passed to read; may be NULL
 *
 * Returns WEFT_OK, WEFT_INVALID (also: the name is not legal, or there is a counter of that name),
 * WEFT_NO_MEMORY. Works before weft_init. From any thread or unit; never switches. Since 0.6. */
WEFT_API weft_status weft_counter_register(const char *name, uint64_t (*read)(void *argument),
                                           void *argument) WEFT_NOTHROW;

/** Writes all counters to `file`, one line each: the name, a tab, the value; first the sums, then
 * by stream. With the environment variable WEFT_COUNTERS ("stderr", or a file's name beginning with
 * / or .; "off": nowhere) this is done at exit or at the last weft_finalize, whichever comes first.
 * Returns WEFT_OK, WEFT_INVALID, WEFT_NOT_INITIALIZED. From any thread or unit; never switches.
 * Since 0.1. */
WEFT_API weft_status weft_counters_print(FILE *file) WEFT_NOTHROW;

/** Writes all live units to `file`, one line each: id, state, kind, name, what it waits for, where
 * it was spawned. Returns the statuses of weft_counters_print. From any thread or unit; never
 * switches. Since 0.1. */
WEFT_API weft_status weft_units_print(FILE *file) WEFT_NOTHROW;

/** Writes a dump to `file`: a line for each stream, lines on the harts (which claimants have them,
 * and which want them), and a line for each live unit, with what it waits for, how long it will
 * wait at most, and where it was spawned. Below the line of a unit that has started and does not
 * run follow its frames, innermost first; where they equal an earlier unit's frames, that unit's id
 * stands for them. The text is for people and may change.
 *
 * file  required; the caller must not hold its lock (flockfile)
 *
 * The program continues meanwhile: a unit that is created or ends then may be missed, and a unit
 * that changed while it was read is reported as changed. Functions are named where the dynamic
 * linker knows them (-rdynamic, shared libraries), and otherwise given by their offset in their
 * file, as addr2line takes it. The setting WEFT_DUMP writes this dump at a signal, to standard
 * error.
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_NOT_INITIALIZED, WEFT_SYSTEM (no OS thread was available for
 * it, or the file cannot be written). From any thread or unit, but not from weft_unit_each's visit;
 * it occupies the caller's OS thread until it is done, and never switches. Since 0.3. */
WEFT_API weft_status weft_dump(FILE *file) WEFT_NOTHROW;

/** Writes what weft_dump writes of one unit: its line, and its frames if it has started and does
 * not run. For a unit that has been freed it writes nothing, unless another unit has its memory: so
 * the handle may come from weft_unit_each.
 *
 * Returns the statuses of weft_dump. From where weft_dump may be called; never switches. Since
 * 0.5. */
WEFT_API weft_status weft_unit_dump(const weft_unit *unit, FILE *file) WEFT_NOTHROW;

/** A unit that is being shown, for a library that adds a description to it
 * (weft_describer_register). Since 0.6. */
typedef struct weft_description {
    size_t size;           /**< sizeof(weft_description) when libweft was compiled */
    const weft_unit *unit; /**< its handle, only to be compared: the unit may be freed now */
    uint32_t os_thread;    /**< of a guest (guest.h): its OS thread's kernel number (gettid); 0 for other units */
    char *text;            /**< where to put the description, with a 0 at the end; empty at first */
    size_t bytes;          /**< the size of `text`, the final 0 included */
    /** Copies memory that other threads may change or free at this moment. Returns the number of
     * bytes copied; 0 where the memory cannot be read. */
    size_t (*peek)(const void *address, void *to, size_t bytes);
} weft_description;

/** Adds a library's descriptions to the units that are shown: weft_dump, weft_unit_dump, the dump
 * at a signal and the report of a deadlock call `describe` once for each unit that they show, and
 * append the text, if there is one, to the unit's line. It is not called at other times, so a
 * program that shows no units pays nothing. It stays until the process ends.
 *
 * describe  required; called as describe(of, argument), on an OS thread that is in no unit, by
 *           several at once, while the program continues. It must not call Weft or throw, and must
 *           take no lock whose holder may switch or wait. `of` is valid until it returns
 * argument  passed to describe; may be NULL
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_NO_MEMORY. Works before weft_init. From any thread or unit;
 * never switches. Since 0.6. */
WEFT_API weft_status weft_describer_register(void (*describe)(const weft_description *of, void *argument),
                                             void *argument) WEFT_NOTHROW;

/** The events of a unit, as bits of a mask. From a unit's creation to its end the events come in
 * this order, where { } may be repeated: CREATE, START, { SUSPEND or YIELD, RESUME }, FINISH, JOIN,
 * FREE. A unit that ends without having begun (it was cancelled, or got no stack) has no START; a
 * detached unit has no JOIN. REVIVE begins another life, which continues with START. */
typedef enum weft_observed {
    /** it was spawned and goes into its pool next, or runs at once; reported by its spawner */
    WEFT_OBSERVED_CREATE = 1,
    /** its body is about to be called; reported by the unit itself */
    WEFT_OBSERVED_START = 2,
    /** it leaves to wait, for `waits_for` at `object`; reported by the unit itself. It may still
     * find at once what it waits for */
    WEFT_OBSERVED_SUSPEND = 4,
    /** it leaves and stays ready: a yield, a spawn of a child that runs first, a migration, a call
     * on the stream's stack; reported by the unit itself */
    WEFT_OBSERVED_YIELD = 8,
    /** it continues after SUSPEND or YIELD, maybe on another stream; reported by the unit itself */
    WEFT_OBSERVED_RESUME = 16,
    /** its body has ended, and its values with it (local.h); reported by the unit itself; `outcome`
     * says how */
    WEFT_OBSERVED_FINISH = 32,
    /** the first caller that joins or frees it learns of its end; reported by that caller, or,
     * where a joiner already waited, by the unit that ends, before the joiner resumes. Once in each
     * life. Only joins and frees count, not queries */
    WEFT_OBSERVED_JOIN = 64,
    /** the handle is about to become invalid; reported by the thread or unit that frees it, or by
     * the unit itself if it is detached. Not for units that the last weft_finalize finds */
    WEFT_OBSERVED_FREE = 128,
    /** its end is requested; reported by the requester */
    WEFT_OBSERVED_CANCEL = 256,
    /** it goes to the requested pool, which is `pool`; reported by the unit itself, or by its
     * stream if it has not begun */
    WEFT_OBSERVED_MIGRATE = 512,
    /** like CREATE, for another life */
    WEFT_OBSERVED_REVIVE = 1024,
    /** it was begun by a call and is about to leave for the first time: it becomes a full ULT
     * (kinds RoC, SS and SC); reported by the unit itself, before SUSPEND or YIELD. Since 0.4 */
    WEFT_OBSERVED_PROMOTE = 2048,
    /** all of them */
    WEFT_OBSERVED_ALL = 4095
} weft_observed;

/** What an observer's call receives; valid during the call. */
typedef struct weft_observation {
    /** sizeof(weft_observation) of the library; read only what lies within */
    size_t size;
    /** one of the bits of weft_observed */
    weft_observed what;
    /** the unit that it happens to; weft_unit_self is the unit that causes it, or NULL outside of
     * units */
    weft_unit *unit;
    /** the stream where it happens; NULL: on an OS thread that is not a stream */
    weft_stream *stream;
    /** the pool where the unit goes when it becomes ready */
    weft_pool *pool;
    /** for SUSPEND: weft_unit_info.waits_for; "" otherwise. Static memory */
    const char *waits_for;
    /** for SUSPEND: what the unit waits for, weft_unit_info.waits_object; NULL otherwise, or if
     * there is no object */
    const void *object;
    /** for FINISH, JOIN and FREE: how the unit has ended; WEFT_OUTCOME_RETURNED otherwise */
    weft_unit_outcome outcome;
} weft_observation;

/** An observer of units. */
typedef struct weft_observer weft_observer;

/** The options of an observer: the events it observes, and its call. */
typedef struct weft_observer_options {
    size_t size;                                                /**< sizeof(weft_observer_options) */
    unsigned events;                                            /**< bits of weft_observed, at least one */
    void (*call)(const weft_observation *seen, void *argument); /**< required */
    void *argument;                                             /**< passed to call */
} weft_observer_options;

/** Registers an observer: from now on options->call(seen, options->argument) is called whenever one
 * of the events happens to a unit that was spawned or revived after this call: units of the calling
 * stream and OS threads call it from now on, units of another stream from that stream's next switch
 * on. The primary unit and the calling unit are observed although they already live; schedulers are
 * not observed. A program without an observer pays nothing, even if it once had one.
 *
 * The call is made where it happens, and holds that up: on the stack of the unit (SUSPEND, YIELD,
 * START, RESUME, FINISH of a ULT), of the caller, or of the stream's scheduler; by several streams
 * at once. It must not throw, nor let the unit end. It may make calls that never switch and change
 * nothing (weft_unit_self, _id, _name, _kind, _state_get, _priority, _pool, _stack;
 * weft_stream_self and the getters of streams, pools and counters; weft_now_ns), and
 * weft_unit_each; it may take locks that no thread or unit holds while it calls Weft. It must not
 * spawn, free, join, resume, wait, yield or use objects that units wait at: otherwise the behaviour
 * is undefined, except that its own actions are not observed. errno is unchanged afterwards.
 *
 * options, observer  required
 *
 * Returns WEFT_OK, WEFT_INVALID (also: no such events), WEFT_NO_MEMORY, WEFT_WRONG_CONTEXT (the
 * caller is an observer), WEFT_NOT_INITIALIZED, WEFT_UNSUPPORTED (a library without
 * WEFT_FEATURE_OBSERVERS; see weft_features). From any thread or unit; never switches, but waits
 * for calls of observers that are under way. Since 0.3. */
WEFT_API weft_status weft_observer_register(const weft_observer_options *options,
                                            weft_observer **observer) WEFT_NOTHROW;

/** Removes an observer: its call is not made any more, and when this returns no call is under way.
 * The last weft_finalize removes all observers that are left.
 *
 * Returns WEFT_OK, WEFT_INVALID (also: it has been removed), WEFT_WRONG_CONTEXT (the caller is an
 * observer), WEFT_NOT_INITIALIZED. From any thread or unit, while no lock is held that an observer
 * takes; never switches, but waits like weft_observer_register. Since 0.3. */
WEFT_API weft_status weft_observer_unregister(weft_observer *observer) WEFT_NOTHROW;

WEFT_END

#endif
