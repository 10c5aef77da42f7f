/* Starting and stopping the runtime, and its settings.
 *
 * Each setting has an environment variable, read at the first weft_init; a variable wins over what
 * the program asks, so that a user can change a program that he cannot recompile. A value that is
 * not legal is refused: weft_init returns WEFT_ENVIRONMENT and weft_error_text() lists the legal
 * ones.
 *
 * The child of a fork() has one OS thread, and a runtime of its own with one stream and the
 * parent's settings, in which everything works (since 0.6):
 * - Forked by a unit, the primary one or any other: that unit goes on, with its handle, name,
 *   number, stack, values and exceptions, as the primary unit. The parent's other units, streams,
 *   pools, schedulers, timers, pollers, observers and domains are not there, and their handles are
 *   none. Counters begin at zero; counters and traces are printed by the parent alone. The end of a
 *   unit other than the parent's primary one is the child's: what is ready runs, and then exit(0),
 *   as when the last thread of a process ends. There the last weft_finalize returns
 *   WEFT_WRONG_CONTEXT.
 * - Forked by an OS thread that is no stream, as those that make blocking calls (weft_blocking):
 *   there is no runtime, and weft_init starts one. A blocking call that returns in the child ends
 *   its thread, and so the child.
 * - Forked by a callback (of a scheduler, a pool, a timer, a poller, a domain, an observer,
 *   weft_stream_post, weft_on_stream_stack): the callback must not return there: it replaces the
 *   program or ends it.
 * What is the program's own stays as it was: a mutex that another unit held is held; an object of
 * sync.h that others waited for, or were in the middle of a call on, is to be initialized anew. A
 * join with a branch of weft_invoke, or a wait for members of a team, that others were running
 * never ends. Where there is no memory for a runtime there is none, and the child may replace its
 * program or end. posix_spawn and vfork cost nothing. */
#ifndef WEFT_RUNTIME_H
#define WEFT_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <weft/hart.h>
#include <weft/pool.h>
#include <weft/sched.h>
#include <weft/status.h>
#include <weft/unit.h>

WEFT_BEGIN

/** As many streams as the process may use harts. */
#define WEFT_ALL_HARTS ((size_t)-1)

/** How stacks are guarded against overflow. */
typedef enum weft_guard {
    WEFT_GUARD_AUTO = 0,     /**< the first of the next three that works */
    WEFT_GUARD_INSTALL = 1,  /**< MADV_GUARD_INSTALL: Linux 6.13 and later; no limit on the number of stacks */
    WEFT_GUARD_MPROTECT = 2, /**< mprotect: near 32,000 stacks, canaries beyond */
    WEFT_GUARD_CANARY = 3,   /**< a word at the end of the stack, looked at when the unit is switched out */
    WEFT_GUARD_NONE = 4      /**< nothing: overflows destroy what lies below */
} weft_guard;

/** What is done when no unit can ever go on: all streams sleep, no timer, poller or blocking call
 * is pending, every OS thread of the process is Weft's or waits for Weft, and units wait. Seen 0.2
 * seconds after the last one has gone to sleep. What Weft cannot know of, as a signal handler or
 * another process that would wake somebody, does not count. */
typedef enum weft_deadlock {
    /** standard error gets the units that wait: for what, who holds it, where they were spawned,
     * and their frames; once */
    WEFT_DEADLOCK_REPORT = 0,
    /** as WEFT_DEADLOCK_REPORT, and then abort() */
    WEFT_DEADLOCK_ABORT = 1,
    /** nothing is looked for */
    WEFT_DEADLOCK_IGNORE = 2
} weft_deadlock;

/** What becomes of units that could run while no stream comes to them, since those block, spin, or
 * compute without ever switching. */
typedef enum weft_rescue {
    /** WEFT_RESCUE_ON */
    WEFT_RESCUE_DEFAULT = 0,
    /** OS threads beside the streams run them, until it is over. Only what waits in pools that at
     * least two streams draw from, and any number may (pool.h: not private ones, not the program's
     * own, no promise of one consumer or producer), and domains that want more harts. A unit that
     * is run so is on a stream that is none of the program's: weft_stream_at does not tell of it,
     * and its rank is no other's */
    WEFT_RESCUE_ON = 1,
    /** they wait; if it lasts for a second, a sentence on standard error tells once which stream
     * stands where */
    WEFT_RESCUE_OFF = 2,
    /** as on, and also where one stream alone draws: a program whose units rely on never running at
     * once must not ask for it. Where the program or the runtime asks for a private pool without an
     * access (pool.h), it gets one of kind WEFT_POOL_SHARED, in the same order. What waits with a
     * promise, in a pool of the program's own or bound to its stream is left alone still. Since
     * 0.6 */
    WEFT_RESCUE_ALL = 4,
    /** they wait, and nobody looks. Otherwise, be it on or off, standard error is told within a
     * second which unit blocks in which system call, or does not switch, while units wait that its
     * stream alone may run: in private pools, and others that one stream draws from. Units wait
     * whose sleep has ended, too */
    WEFT_RESCUE_IGNORE = 3
} weft_rescue;

/** Whether fewer harts are used for a while where other processes compute on the same processors
 * and harts wait for each other again and again (hart.h, weft_hart_overdue). */
typedef enum weft_neighbours {
    WEFT_NEIGHBOURS_DEFAULT = 0,  /**< WEFT_NEIGHBOURS_WITHHOLD */
    WEFT_NEIGHBOURS_WITHHOLD = 1, /**< they are */
    WEFT_NEIGHBOURS_IGNORE = 2    /**< nobody looks */
} weft_neighbours;

/** What a program may ask of the runtime. Zero means the default. */
typedef struct weft_settings {
    /** sizeof(weft_settings) */
    size_t size;
    /** WEFT_STREAMS: streams to start; 0 and WEFT_ALL_HARTS ("all"): as many as the process may use
     * harts (weft_hart_limit); those that have nothing to do sleep. With 0 fewer start, and
     * standard error is told, where the system refuses a thread or memory for one. Until 0.5, 0 was
     * 1 */
    size_t streams;
    /** WEFT_STACK_BYTES: a ULT's stack, at least WEFT_STACK_LEAST; 0: 65536 */
    size_t stack_bytes;
    /** WEFT_GUARD_BYTES: 0: one page */
    size_t guard_bytes;
    /** WEFT_GUARD: auto, install, mprotect, canary, none */
    weft_guard guard;
    /** WEFT_KIND: the kind of a ULT whose options do not say: full, lsa, roc, ss, sc, rtc, auto,
     * hosted; 0: auto */
    weft_kind kind;
    /** WEFT_POOL: the streams' main pools: private, shared, deque, lifo, priority, blocking; 0
     * (auto): private for one stream, deque for several. Each stream has one, and all share what is
     * in them, unless they are private (`scheduler`); priorities count within each */
    weft_pool_kind pool;
    /** WEFT_SCHEDULER: basic, random-steal, basic-wait, priority; 0 (auto): as fits the pools:
     * random-steal where they are deques, or where several streams start and they are not private,
     * so that idle streams take what waits for others; else basic */
    weft_sched_kind scheduler;
    /** WEFT_SCHEDULER_STACK_BYTES: where schedulers and tasklets run; 0: 262144 */
    size_t scheduler_stack_bytes;
    /** WEFT_IDLE_MEMORY_BYTES: idle stacks and descriptors kept above this go back to the system;
     * 0: 67108864 */
    size_t idle_memory_bytes;
    /** WEFT_SPIN_NS: how long an idle stream looks for work before it sleeps, when harts are to
     * spare; 0: 20000; 1: does not look */
    size_t spin_ns;
    /** WEFT_TIMING: off, on: whether the counters of time in units and in schedulers are kept (two
     * clock readings a switch) */
    bool timing;
    /** WEFT_DUMP: a signal that makes the process write a dump to standard error (weft_dump), by
     * its number, or in the variable by its name (USR1, ...); 0: none. Its handler is restored by
     * the last weft_finalize. Not the signals of faults, KILL, STOP. Since 0.3 */
    int dump;
    /** WEFT_TRACE (there also off): a file for a trace of all units and streams, which Chrome and
     * Perfetto read (ui.perfetto.dev); written at exit or at the last weft_finalize, and until then
     * `trace` stays as it is; NULL: none. See trace.h. Since 0.3 */
    const char *trace;
    /** WEFT_TRACE_EVENTS: how many events of each stream the trace holds, rounded up to a power of
     * two, 32 bytes each once there are so many; the oldest are lost, and that is told; 0: 1048576.
     * Since 0.3 */
    size_t trace_events;
    /** WEFT_OWN_STACKS: off, on: no ULT of kind auto runs on its scheduler's stack (kind SC): for
     * programs that ask for the stack of their units. Since 0.5 */
    bool own_stacks;
    /** WEFT_ROAMING_PRIMARY: off, on: the primary unit is not bound to stream 0. It waits in stream
     * 0's main pool as any other unit, in its order, may be pushed, popped and asked to migrate,
     * and runs on whatever stream draws from its pool, on the stack of the OS thread that called
     * weft_init. As before it is not cancelled, joined or ended. A program that gives stream 0
     * another main scheduler says itself to which pool it belongs then (weft_unit_pool_set). Since
     * 0.5 */
    bool roaming_primary;
    /** WEFT_HART_POLICY: how harts are shared among those who want more than there are: fair,
     * weighted, first-come; see hart.h. Since 0.6 */
    weft_hart_policy hart_policy;
    /** WEFT_SLICE_NS: for how long one keeps a hart where not all who want one have one, and they
     * take turns; 0:
     * 5000000. Since 0.6 */
    size_t slice_ns;
    /** WEFT_DEADLOCK: report, abort, ignore. Since 0.6 */
    weft_deadlock deadlock;
    /** WEFT_RESCUE: on, off, ignore, all: what happens when streams are stuck; 0: on. Since 0.6 */
    weft_rescue rescue;
    /** WEFT_RESCUE_BOUND: how many OS threads rescue at once, at most; reaching it is told once on
     * standard error; 0 ("units"): as many as there are live units. Since 0.6 */
    size_t rescue_bound;
    /** WEFT_HARTS: harts that the process uses, at most; what CPU set and quota allow is the limit
     * all the same; 0 ("all"): that alone. Kept for later runtimes that do not say otherwise, and
     * by weft_hart_limit. Since 0.6 */
    size_t harts;
    /** WEFT_NEIGHBOURS: withhold, ignore: whether harts are withheld beside processes that compute
     * on the same processors; 0: withhold. Since 0.6 */
    weft_neighbours neighbours;
    /** WEFT_OWN_FLOAT: off, on (0, 1): every unit that is spawned is as weft_unit_options.own_float
     * makes one. It needs observers (WEFT_FEATURE_OBSERVERS), and costs as much as one. Since
     * 0.6 */
    bool own_float;
} weft_settings;

/** Starts the runtime: the calling OS thread becomes the primary unit of stream 0.
 *
 * settings  NULL for the defaults
 *
 * May be nested: each call needs its weft_finalize; settings of inner calls are ignored. Where the
 * runtime has started by itself (guest.h), and the caller is an OS thread outside or a guest, it is
 * a guest until the weft_finalize that belongs to the call; what weft_guest_enter returns is
 * returned.
 * Returns WEFT_OK, WEFT_NO_MEMORY, WEFT_INVALID (settings out of range), WEFT_ENVIRONMENT (also:
 * the file of the trace cannot be written), WEFT_SYSTEM (a thread was refused), WEFT_WRONG_CONTEXT
 * (the runtime was started by another OS thread and the caller is no unit of it), WEFT_UNSUPPORTED
 * (a trace is asked for of a library without WEFT_FEATURE_OBSERVERS; see weft_features). After a
 * failure nothing is left behind. From any OS thread, or any unit when nested; never switches, but
 * for a guest, who may wait for its turn. Since 0.1. */
WEFT_API weft_status weft_init(const weft_settings *settings) WEFT_NOTHROW;

/** Ends what one weft_init began. The last one runs what is ready until all pools are empty, stops
 * the streams, and frees everything: all handles become invalid. Units that are still suspended
 * never go on; their number, with that of detached units for which no stack could be had, is in
 * weft_error_text() and the status is WEFT_BUSY, but all is freed. Contexts of a library that only
 * wait for more to do (weft_domain_ops.idle: members of OpenMP's teams between regions) are not
 * counted.
 *
 * A runtime that has started by itself (guest.h) is not ended: it stays until the process ends.
 *
 * Returns WEFT_OK, WEFT_BUSY (see above; or guests are inside, so many as weft_error_text() says:
 * nothing is done), WEFT_NOT_INITIALIZED (also: there was no weft_init for it), WEFT_WRONG_CONTEXT
 * (the last one must be called by the primary unit, and on stream 0, where a roaming one
 * (weft_settings.roaming_primary) comes by a yield, if it belongs to a pool that only stream 0
 * draws from, or the others that do have been stopped; or the caller has gone on in the child of a
 * fork, which ends with it; nothing is done), WEFT_NO_MEMORY (a main scheduler of stream 0 that
 * owns its loop cannot be ended now, or there is none for the pool where a roaming primary unit
 * waits meanwhile; nothing is done). May switch. Since 0.1. */
WEFT_API weft_status weft_finalize(void) WEFT_NOTHROW;

/** Whether the runtime runs. From anywhere; never switches. Since 0.1. */
WEFT_API bool weft_initialized(void) WEFT_NOTHROW;

/** The settings in force, environment included. Returns WEFT_OK, WEFT_INVALID or
 * WEFT_NOT_INITIALIZED. `settings->size` is set by the caller. From anywhere; never switches. Since
 * 0.1. */
WEFT_API weft_status weft_settings_get(weft_settings *settings) WEFT_NOTHROW;

/** Writes each environment variable to `file`: name, legal values, default, meaning. From anywhere;
 * never switches. Returns WEFT_OK or WEFT_INVALID. Since 0.1. */
WEFT_API weft_status weft_environment_print(FILE *file) WEFT_NOTHROW;

/** Checks the environment variables of weft_environment_print without starting anything.
 *
 * file  gets one line for each variable whose value is not legal: name, value, legal values; NULL:
 *       nothing is written
 *
 * Files that a variable names are not opened.
 * Returns WEFT_OK, or WEFT_ENVIRONMENT: weft_error_text() is the last of those lines. From
 * anywhere; never switches. Since 0.6. */
WEFT_API weft_status weft_environment_check(FILE *file) WEFT_NOTHROW;

/** Writes a line to `file` for each variable of the environment that is probably misspelt: its name
 * begins with WEFT_, is none that Weft or what comes with it reads, and becomes one if at most two
 * letters are put in, left out or changed. Others that begin with WEFT_ are somebody else's. When a
 * runtime starts, and by `weft run`, the same is told on standard error, each name once in a tree
 * of processes: the variable WEFT_TOLD_OF, which is put into the environment, has the names.
 *
 * Returns how many there are; 0 where `file` is NULL. From anywhere; never switches. Since 0.6. */
WEFT_API size_t weft_environment_doubts(FILE *file) WEFT_NOTHROW;

/** Gives idle memory of the calling stream and of the common store back to the system, whatever the
 * threshold. Returns WEFT_OK or WEFT_NOT_INITIALIZED. From anywhere; never switches. Since 0.1. */
WEFT_API weft_status weft_memory_trim(void) WEFT_NOTHROW;

WEFT_END

#endif
