/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Starting and stopping the runtime, and its settings.
 *
 * Each setting has an environment variable, read at the first weft_init. A variable overrides the
 * program's setting, so that a user can change a program without recompiling it. A value that is
 * not legal is refused: weft_init returns WEFT_ENVIRONMENT and weft_error_text() lists the legal
 * values.
 *
 * The child of a fork() has one OS thread, and a runtime of its own with one stream and the
 * parent's settings, in which everything works (since 0.6):
 * - Forked by a unit, the primary one or any other: that unit continues, with its handle, name,
 *   number, stack, values and exceptions, as the primary unit. The parent's other units, streams,
 *   pools, schedulers, timers, pollers, observers and domains do not exist in the child, and their
 *   handles are invalid. Counters begin at zero; only the parent prints counters and traces. If the
 *   forking unit is not the parent's primary unit, its end is the child's end: ready units run, and
 *   then exit(0) follows, as when the last thread of a process ends. In such a child the last
 *   weft_finalize returns WEFT_WRONG_CONTEXT.
 * - Forked by an OS thread that is not a stream, such as those that make blocking calls
 *   (weft_blocking): there is no runtime, and weft_init starts one. A blocking call that returns in
 *   the child ends its thread, and so the child.
 * - Forked by a callback (of a scheduler, a pool, a timer, a poller, a domain, an observer,
 *   weft_stream_post, weft_on_stream_stack): the callback must not return in the child: it replaces
 *   the program or ends it.
 * The program's own state stays as it was: a mutex that another unit held stays locked. An object
 * of sync.h that other units or threads waited for, or were in the middle of a call on, must be
 * initialized anew. A join with a branch of weft_invoke, or a wait for members of a team, that
 * other streams were running never ends. Where there is no memory for a runtime the child has none,
 * and may replace its program or end. posix_spawn and vfork cost nothing. */
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
    WEFT_GUARD_CANARY = 3,   /**< a word at the end of the stack, checked when the unit is switched out */
    WEFT_GUARD_NONE = 4      /**< no guard: overflows destroy what lies below */
} weft_guard;

/** What is done in a deadlock, when no unit can ever continue: all streams sleep, no timer, poller
 * or blocking call is pending, every OS thread of the process is Weft's or waits for Weft, and
 * units wait. Detected 0.2 seconds after the last stream has gone to sleep. Weft does not account
 * for wake-ups that it cannot know of, such as those by a signal handler or another process. */
typedef enum weft_deadlock {
    /** the waiting units are written to standard error, once: what each waits for, which unit or
     * thread holds it, where the unit was spawned, and its frames */
    WEFT_DEADLOCK_REPORT = 0,
    /** like WEFT_DEADLOCK_REPORT, and then abort() */
    WEFT_DEADLOCK_ABORT = 1,
    /** deadlocks are not detected */
    WEFT_DEADLOCK_IGNORE = 2
} weft_deadlock;

/** What is done for units that could run but that no stream runs, since the streams block, spin, or
 * compute without ever switching. */
typedef enum weft_rescue {
    /** WEFT_RESCUE_ON */
    WEFT_RESCUE_DEFAULT = 0,
    /** OS threads beside the streams run them, until the streams are no longer stuck. This applies
     * only to units in pools that at least two streams draw from, and that any number may draw from
     * (pool.h: not private pools, not the program's own, no promise of one consumer or producer),
     * and to domains that want more harts. A unit that is run in this way is on a stream that is
     * not one of the program's: weft_stream_at does not return that stream, and its rank is
     * unique */
    WEFT_RESCUE_ON = 1,
    /** they wait; if that lasts for a second, standard error says once which stream is stuck and
     * where */
    WEFT_RESCUE_OFF = 2,
    /** like on, and also for pools that one stream alone draws from: a program whose units rely on
     * never running at once must not set it. Where the program or the runtime creates a private
     * pool without an access (pool.h), it gets a pool of kind WEFT_POOL_SHARED, with the same
     * order. Units in a pool with a promise, in the program's own pool, or bound to their stream
     * still wait. Since 0.6 */
    WEFT_RESCUE_ALL = 4,
    /** they wait, and stuck streams are not detected. With every other value standard error says
     * within a second which unit blocks in which system call, or does not switch, while units wait
     * that its stream alone may run: in private pools, and in other pools that one stream draws
     * from. Units whose sleep has ended count as waiting, too */
    WEFT_RESCUE_IGNORE = 3
} weft_rescue;

/** Whether Weft uses fewer harts for a while where other processes compute on the same processors
 * and harts wait for each other again and again (hart.h, weft_hart_overdue). */
typedef enum weft_neighbours {
    WEFT_NEIGHBOURS_DEFAULT = 0,  /**< WEFT_NEIGHBOURS_WITHHOLD */
    WEFT_NEIGHBOURS_WITHHOLD = 1, /**< it does */
    WEFT_NEIGHBOURS_IGNORE = 2    /**< it does not check for neighbours */
} weft_neighbours;

/** The settings of the runtime. Zero means the default. */
typedef struct weft_settings {
    /** sizeof(weft_settings) */
    size_t size;
    /** WEFT_STREAMS: streams to start; 0 and WEFT_ALL_HARTS ("all"): as many as the process may use
     * harts (weft_hart_limit); streams that have nothing to do sleep. With 0, fewer start where the
     * system refuses a thread or memory for a stream, and standard error says so. Until 0.5, 0 was
     * 1 */
    size_t streams;
    /** WEFT_STACK_BYTES: a ULT's stack, at least WEFT_STACK_LEAST; 0: 65536 */
    size_t stack_bytes;
    /** WEFT_GUARD_BYTES: 0: one page */
    size_t guard_bytes;
    /** WEFT_GUARD: auto, install, mprotect, canary, none */
    weft_guard guard;
    /** WEFT_KIND: the kind of a ULT whose options name none: full, lsa, roc, ss, sc, rtc, auto,
     * hosted; 0: auto */
    weft_kind kind;
    /** WEFT_POOL: the streams' main pools: private, shared, deque, lifo, priority, blocking; 0
     * (auto): private for one stream, deque for several. Each stream has one, and all streams share
     * the units in them, unless the pools are private (`scheduler`); priorities count within each
     * pool */
    weft_pool_kind pool;
    /** WEFT_SCHEDULER: basic, random-steal, basic-wait, priority; 0 (auto): the one that fits the
     * pools: random-steal where they are deques, or where several streams start and they are not
     * private, so that idle streams take units that wait for other streams; else basic */
    weft_sched_kind scheduler;
    /** WEFT_SCHEDULER_STACK_BYTES: the stack that schedulers and tasklets run on; 0: 262144 */
    size_t scheduler_stack_bytes;
    /** WEFT_IDLE_MEMORY_BYTES: idle stacks and descriptors beyond this go back to the system; 0:
     * 67108864 */
    size_t idle_memory_bytes;
    /** WEFT_SPIN_NS: how long an idle stream polls for work before it sleeps, while harts are to
     * spare; 0: 20000; 1: it does not poll */
    size_t spin_ns;
    /** WEFT_TIMING: off, on: whether the counters of time in units and in schedulers are kept (two
     * clock readings a switch) */
    bool timing;
    /** WEFT_DUMP: a signal that makes the process write a dump to standard error (weft_dump), by
     * its number, or in the variable by its name (USR1, ...); 0: none. The last weft_finalize
     * restores its handler. Not the signals of faults, KILL, STOP. Since 0.3 */
    int dump;
    /** WEFT_TRACE (the variable may also be off): a file for a trace of all units and streams,
     * which Chrome and Perfetto read (ui.perfetto.dev); written at exit or at the last
     * weft_finalize. Until then the string at `trace` must not change; NULL: no trace. See trace.h.
     * Since 0.3 */
    const char *trace;
    /** WEFT_TRACE_EVENTS: how many events of each stream the trace holds, rounded up to a power of
     * two (32 bytes each, once that many have occurred); beyond that the oldest are lost, and the
     * loss is reported; 0: 1048576. Since 0.3 */
    size_t trace_events;
    /** WEFT_OWN_STACKS: off, on: no ULT of kind auto runs on its scheduler's stack (kind SC): for
     * programs that query their units' stacks. Since 0.5 */
    bool own_stacks;
    /** WEFT_ROAMING_PRIMARY: off, on: the primary unit is not bound to stream 0. It waits in stream
     * 0's main pool like any other unit, in its order, may be pushed, popped and asked to migrate,
     * and runs on any stream that draws from its pool, on the stack of the OS thread that called
     * weft_init. It still cannot be cancelled, joined or ended. A program that gives stream 0
     * another main scheduler must itself set the pool that the primary unit then belongs to
     * (weft_unit_pool_set). Since 0.5 */
    bool roaming_primary;
    /** WEFT_HART_POLICY: how harts are shared when the claimants want more than there are: fair,
     * weighted, first-come; see hart.h. Since 0.6 */
    weft_hart_policy hart_policy;
    /** WEFT_SLICE_NS: how long a claimant keeps a hart while another claimant has none, and they
     * take turns; 0: 5000000. Since 0.6 */
    size_t slice_ns;
    /** WEFT_DEADLOCK: report, abort, ignore. Since 0.6 */
    weft_deadlock deadlock;
    /** WEFT_RESCUE: on, off, ignore, all: what is done when streams are stuck; 0: on. Since 0.6 */
    weft_rescue rescue;
    /** WEFT_RESCUE_BOUND: the most OS threads that rescue at once; standard error says once when
     * the bound is reached; 0 ("units"): as many as there are live units. Since 0.6 */
    size_t rescue_bound;
    /** WEFT_HARTS: the most harts that the process uses; the CPU set and the quota still limit
     * them; 0 ("all"): only these limit them. Kept for later runtimes that do not set it, and by
     * weft_hart_limit. Since 0.6 */
    size_t harts;
    /** WEFT_NEIGHBOURS: withhold, ignore: whether harts are withheld beside processes that compute
     * on the same processors; 0: withhold. Since 0.6 */
    weft_neighbours neighbours;
    /** WEFT_OWN_FLOAT: off, on (0, 1): every unit is spawned as with weft_unit_options.own_float.
     * It needs observers (WEFT_FEATURE_OBSERVERS), and costs as much as an observer. Since 0.6 */
    bool own_float;
} weft_settings;

/** Starts the runtime: the calling OS thread becomes the primary unit of stream 0.
 *
 * settings  NULL for the defaults
 *
 * May be nested: each call needs its weft_finalize; settings of inner calls are ignored. Where the
 * runtime has started by itself (guest.h), and the caller is an OS thread outside or a guest, the
 * caller is a guest until the weft_finalize that belongs to the call; then weft_init returns the
 * statuses of weft_guest_enter.
 *
 * Returns WEFT_OK, WEFT_NO_MEMORY, WEFT_INVALID (settings out of range), WEFT_ENVIRONMENT (also:
 * the file of the trace cannot be written), WEFT_SYSTEM (a thread was refused), WEFT_WRONG_CONTEXT
 * (the runtime was started by another OS thread and the caller is no unit of it), WEFT_UNSUPPORTED
 * (a trace is requested of a library without WEFT_FEATURE_OBSERVERS; see weft_features). After a
 * failure nothing is left behind. From any OS thread, or any unit when nested; never switches,
 * except that a guest may wait for its turn. Since 0.1. */
WEFT_API weft_status weft_init(const weft_settings *settings) WEFT_NOTHROW;

/** Ends what one weft_init began. The last one runs ready units until all pools are empty, stops
 * the streams, and frees everything: all handles become invalid. Units that are still suspended
 * never continue. Their number, with that of detached units for which no stack was available, is in
 * weft_error_text() and the status is WEFT_BUSY, but all is freed. Contexts of a library that only
 * wait for more to do (weft_domain_ops.idle: members of OpenMP's teams between regions) are not
 * counted.
 *
 * A runtime that has started by itself (guest.h) does not end here: it stays until the process
 * ends.
 *
 * Returns WEFT_OK, WEFT_BUSY (units are left, and all is freed; or guests are inside, as many as
 * weft_error_text() says, and nothing is done), WEFT_NOT_INITIALIZED (also: there was no weft_init
 * for this call), WEFT_WRONG_CONTEXT (the last one must be called by the primary unit, and on
 * stream 0; a roaming primary unit (weft_settings.roaming_primary) gets there by a yield, if it
 * belongs to a pool that only stream 0 draws from, or if the other streams that draw from it have
 * been stopped; or the caller has continued in the child of a fork, which ends with it; nothing is
 * done), WEFT_NO_MEMORY (a main scheduler of stream 0 that owns its loop cannot be ended now, or
 * there is no memory for the pool where a roaming primary unit waits meanwhile; nothing is done).
 * May switch. Since 0.1. */
WEFT_API weft_status weft_finalize(void) WEFT_NOTHROW;

/** Whether the runtime runs. From anywhere; never switches. Since 0.1. */
WEFT_API bool weft_initialized(void) WEFT_NOTHROW;

/** The settings in force, environment included. The caller sets `settings->size`. Returns WEFT_OK,
 * WEFT_INVALID or WEFT_NOT_INITIALIZED. From anywhere; never switches. Since 0.1. */
WEFT_API weft_status weft_settings_get(weft_settings *settings) WEFT_NOTHROW;

/** Writes each environment variable to `file`: name, legal values, default, meaning. From anywhere;
 * never switches. Returns WEFT_OK or WEFT_INVALID. Since 0.1. */
WEFT_API weft_status weft_environment_print(FILE *file) WEFT_NOTHROW;

/** Checks the environment variables of weft_environment_print without starting anything.
 *
 * file  receives one line for each variable whose value is not legal: name, value, legal values;
 *       NULL: nothing is written
 *
 * Files that a variable names are not opened.
 * Returns WEFT_OK, or WEFT_ENVIRONMENT: weft_error_text() is the last of those lines. From
 * anywhere; never switches. Since 0.6. */
WEFT_API weft_status weft_environment_check(FILE *file) WEFT_NOTHROW;

/** Writes a line to `file` for each variable of the environment that is probably misspelt: its name
 * begins with WEFT_, is not read by Weft or by what comes with it, and becomes a name that one of
 * them reads if at most two letters are inserted, deleted or changed. Other variables that begin
 * with WEFT_ are taken for the variables of other programs. When a runtime starts, and by `weft
 * run`, these lines are written to standard error, each name once in a tree of processes: the
 * variable WEFT_TOLD_OF, which is put into the environment, lists the names.
 *
 * Returns the number of such variables; 0 where `file` is NULL. From anywhere; never switches.
 * Since 0.6. */
WEFT_API size_t weft_environment_doubts(FILE *file) WEFT_NOTHROW;

/** Gives idle memory of the calling stream and of the common store back to the system, whatever the
 * threshold. Returns WEFT_OK or WEFT_NOT_INITIALIZED. From anywhere; never switches. Since 0.1. */
WEFT_API weft_status weft_memory_trim(void) WEFT_NOTHROW;

WEFT_END

#endif
