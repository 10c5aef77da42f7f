/* What can be seen: counters, a list of the units that live, a dump of all with their frames, and
 * what becomes of units, as it happens. Counters are kept per stream, off the hot path, and summed
 * when they are read (the naming follows HPX's performance counters).
 *
 * With the environment variable WEFT_TRACE ("out.json"), or `trace` of the settings, all that
 * observers see, and besides where units were stolen and when streams slept, goes into a file that
 * Chrome (about:tracing) and Perfetto (ui.perfetto.dev) show: a track for each stream, on it the
 * units that ran, arrows from where one was spawned or suspended to where it went on. Streams keep
 * their events in memory, as many as WEFT_TRACE_EVENTS says; the file is written at exit or at the
 * last weft_finalize, whichever comes first. */
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
 * name   "/units/count/created", or of one stream "/units{stream#2}/count/created";
 *        weft_counters_print lists all
 * value  required; times in nanoseconds
 *
 * Returns WEFT_OK, WEFT_INVALID (no such counter: the text lists those that are near),
 * WEFT_NOT_INITIALIZED (not of what weft_counter_register has added). From any thread or unit;
 * never switches. Since 0.1. */
WEFT_API weft_status weft_counter_read(const char *name, uint64_t *value) WEFT_NOTHROW;

/** Adds a counter of a library's own: from now on weft_counter_read knows it, also where no runtime
 * runs, and weft_counters_print prints it after the runtime's own sums. It stays until the process
 * ends.
 *
 * name      required; begins with /, as "/openmp/count/regions", and has no tab, end of line or
 *           brace; it must stay as it is and where it is
 * read      required; called as read(argument) by whoever reads counters, on any thread and by
 *           several at once, within a lock of the runtime's: it must not call Weft, wait or throw
 * argument  given to read; may be NULL
 *
 * Returns WEFT_OK, WEFT_INVALID (also: no such name can be, or there is a counter of that name),
 * WEFT_NO_MEMORY. Works before weft_init. From any thread or unit; never switches. Since 0.6. */
WEFT_API weft_status weft_counter_register(const char *name, uint64_t (*read)(void *argument),
                                           void *argument) WEFT_NOTHROW;

/** Writes all counters to `file`, a line each: the name, a tab, the value; first the sums, then by
 * stream. With the environment variable WEFT_COUNTERS ("stderr", or a file's name beginning with /
 * or .; "off": nowhere) this is done at exit or at the last weft_finalize, whichever comes first.
 * Returns WEFT_OK, WEFT_INVALID, WEFT_NOT_INITIALIZED. From any thread or unit; never switches.
 * Since 0.1. */
WEFT_API weft_status weft_counters_print(FILE *file) WEFT_NOTHROW;

/** Writes all units that live to `file`, a line each: id, state, kind, name, what it waits for,
 * where it was spawned. Returns as weft_counters_print. From any thread or unit; never switches.
 * Since 0.1. */
WEFT_API weft_status weft_units_print(FILE *file) WEFT_NOTHROW;

/** Writes a dump to `file`: a line for each stream, lines on the harts (who has them, and who wants
 * them), and a line for each unit that lives, with what it waits for, how long it will wait at
 * most, and where it was spawned; below the line of one that has started and does not run, its
 * frames, innermost first. Frames that an earlier one has had are told by its id. The text is for
 * people and may change.
 *
 * file  required; the caller must not hold its lock (flockfile)
 *
 * The program goes on meanwhile: a unit that is created or ends then may be missed, and one that
 * did not keep still is said to have changed. Functions are named where the dynamic linker knows
 * them (-rdynamic, shared libraries), elsewhere by their place in their file, as addr2line takes
 * it. The setting WEFT_DUMP does the same at a signal, to standard error.
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_NOT_INITIALIZED, WEFT_SYSTEM (no OS thread could be had for
 * it, or the file cannot be written).
 * From any thread or unit, but not from weft_unit_each's visit; it takes the caller's OS thread
 * until it is done, and never switches. Since 0.3. */
WEFT_API weft_status weft_dump(FILE *file) WEFT_NOTHROW;

/** Writes what weft_dump writes of one unit: its line, and its frames if it has started and does
 * not run. Nothing of one that has been freed, unless another has its place: so the handle may be
 * one that weft_unit_each has told.
 *
 * Returns as weft_dump, and from where that may be called; never switches. Since 0.5. */
WEFT_API weft_status weft_unit_dump(const weft_unit *unit, FILE *file) WEFT_NOTHROW;

/** A unit that is being shown, for a library that has something to say of it
 * (weft_describer_register). Since 0.6. */
typedef struct weft_description {
    size_t size;           /**< sizeof(weft_description) when libweft was compiled */
    const weft_unit *unit; /**< its handle, to be compared and not used: the unit may be freed at this moment */
    uint32_t os_thread;    /**< of a guest (guest.h): the kernel's number of its OS thread (gettid); of other units 0 */
    char *text;            /**< where to put the words, with a 0 at the end; empty at first */
    size_t bytes;          /**< how many fit, with that 0 */
    /** Copies memory that other threads may change or free at this moment. Returns how many bytes
     * it has copied; 0 where the memory cannot be read. */
    size_t (*peek)(const void *address, void *to, size_t bytes);
} weft_description;

/** Adds a library's words to what is shown of units: weft_dump, weft_unit_dump, the dump at a
 * signal and the report of a deadlock ask it once for each unit that they show, and append the
 * text, if there is one, to the unit's line. Nobody asks at other times, so a program that shows no
 * units pays nothing. It stays until the process ends.
 *
 * describe  required; called as describe(of, argument), on an OS thread that is in no unit, by
 *           several at once, while the program goes on. It must not call Weft or throw, and must
 *           take no lock whose holder may switch or wait. `of` is valid until it returns
 * argument  given to describe; may be NULL
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_NO_MEMORY. Works before weft_init. From any thread or unit;
 * never switches. Since 0.6. */
WEFT_API weft_status weft_describer_register(void (*describe)(const weft_description *of, void *argument),
                                             void *argument) WEFT_NOTHROW;

/** What becomes of a unit, as bits of a mask. From a unit's creation to its end the events come in
 * this order, where { } may be repeated: CREATE, START, { SUSPEND or YIELD, RESUME }, FINISH, JOIN,
 * FREE. A unit that ends without having begun (it was cancelled, or got no stack) has no START; one
 * that is detached no JOIN. REVIVE begins another life, which goes on with START. */
typedef enum weft_observed {
    /** it was spawned and goes into its pool next, or runs at once; by whoever spawns it */
    WEFT_OBSERVED_CREATE = 1,
    /** its body is about to be called; by itself */
    WEFT_OBSERVED_START = 2,
    /** it leaves to wait, for `waits_for` at `object`; by itself. It may still find at once what it
     * waits for */
    WEFT_OBSERVED_SUSPEND = 4,
    /** it leaves and stays ready: a yield, a spawn of a child that runs first, a migration, a call
     * on the stream's stack; by itself */
    WEFT_OBSERVED_YIELD = 8,
    /** it goes on after one of the last two, maybe on another stream; by itself */
    WEFT_OBSERVED_RESUME = 16,
    /** its body has ended, and its values with it (local.h); by itself; `outcome` says how */
    WEFT_OBSERVED_FINISH = 32,
    /** the first one learns of its end: by whoever asks, or, where somebody waited already, by the
     * unit that ends, before that one goes on. Once in each life. By what may free it unless it is
     * detached */
    WEFT_OBSERVED_JOIN = 64,
    /** the handle is about to become invalid; by whoever frees it, or by itself if it is detached.
     * Not of what the last weft_finalize finds */
    WEFT_OBSERVED_FREE = 128,
    /** it is asked to end; by whoever asks */
    WEFT_OBSERVED_CANCEL = 256,
    /** it goes where it was asked to; `pool` is that pool; by itself, or by its stream if it has
     * not begun */
    WEFT_OBSERVED_MIGRATE = 512,
    /** as CREATE, of another life */
    WEFT_OBSERVED_REVIVE = 1024,
    /** it was begun by a call and is about to leave for the first time: it becomes a fully fledged
     * ULT (kinds RoC, SS and SC); by itself, before SUSPEND or YIELD. Since 0.4 */
    WEFT_OBSERVED_PROMOTE = 2048,
    /** all of them */
    WEFT_OBSERVED_ALL = 4095
} weft_observed;

/** What an observer is told; valid during the call. */
typedef struct weft_observation {
    /** sizeof(weft_observation) of the library; read only what lies within */
    size_t size;
    /** one of the bits */
    weft_observed what;
    /** to whom it happens; weft_unit_self is who does it, or NULL outside of units */
    weft_unit *unit;
    /** where it happens; NULL: on an OS thread that is no stream */
    weft_stream *stream;
    /** where the unit goes when it becomes ready */
    weft_pool *pool;
    /** of SUSPEND: as weft_unit_info has it; "" otherwise. Static memory */
    const char *waits_for;
    /** of SUSPEND: what it waits for, as weft_unit_info has it; NULL otherwise, or if there is
     * none */
    const void *object;
    /** of FINISH, JOIN and FREE: how the unit has ended; WEFT_OUTCOME_RETURNED otherwise */
    weft_unit_outcome outcome;
} weft_observation;

/** Who observes units. */
typedef struct weft_observer weft_observer;

/** What an observer wants to be told. */
typedef struct weft_observer_options {
    size_t size;                                                /**< sizeof(weft_observer_options) */
    unsigned events;                                            /**< bits of weft_observed, at least one */
    void (*call)(const weft_observation *seen, void *argument); /**< required */
    void *argument;                                             /**< given to call */
} weft_observer_options;

/** From now on options->call(seen, options->argument) is called whenever one of the events happens
 * to a unit that was spawned or revived after this: by units of the calling stream and by OS
 * threads from now on, by those of another stream from its next switch on. The primary unit, and
 * the calling one, are observed though they live already; schedulers are not. Nothing is paid for
 * by programs without an observer, however long ago there was one.
 *
 * The call is made where it happens, and holds that up: on the stack of the unit (SUSPEND, YIELD,
 * START, RESUME, FINISH of a ULT), of the caller, or of the stream's scheduler; by several streams
 * at once. It must not throw, nor let the unit end. It may call what is said never to switch and
 * changes nothing (weft_unit_self, _id, _name, _kind, _state_get, _priority, _pool, _stack;
 * weft_stream_self and what asks of streams, pools and counters; weft_now_ns), and weft_unit_each;
 * it may take locks that are not held by somebody who calls Weft. It must not spawn, free, join,
 * resume, wait, yield or use what units wait at: then the behaviour is undefined, but that what it
 * does is not observed. errno is as it was afterwards.
 *
 * options, observer  required
 *
 * Returns WEFT_OK, WEFT_INVALID (also: no such events), WEFT_NO_MEMORY, WEFT_WRONG_CONTEXT (an
 * observer calls), WEFT_NOT_INITIALIZED, WEFT_UNSUPPORTED (a library without
 * WEFT_FEATURE_OBSERVERS; see weft_features). From any thread or unit; never switches, but waits
 * for calls of observers that are under way. Since 0.3. */
WEFT_API weft_status weft_observer_register(const weft_observer_options *options,
                                            weft_observer **observer) WEFT_NOTHROW;

/** Its call is not made any more, and when this returns none is under way. The last weft_finalize
 * removes all that are left.
 *
 * Returns WEFT_OK, WEFT_INVALID (also: it has been removed), WEFT_WRONG_CONTEXT (an observer
 * calls), WEFT_NOT_INITIALIZED. From any thread or unit, while no lock is held that an observer
 * takes; never switches, but waits as weft_observer_register. Since 0.3. */
WEFT_API weft_status weft_observer_unregister(weft_observer *observer) WEFT_NOTHROW;

WEFT_END

#endif
