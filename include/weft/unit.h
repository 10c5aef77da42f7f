/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Units: user-level threads (ULTs), which can suspend, and tasklets, which run to completion.
 *
 * A unit is spawned into a pool, runs once on whatever stream pops it, and is joined and freed, or
 * detached. Each unit keeps across suspensions and moves between streams: the callee-saved
 * registers, errno and the C++ exception globals. `thread_local` memory belongs to the carrier, not
 * to the unit. A compiler may load the address of errno (from a C library function that it takes
 * for constant) before a call that switches, and use it after the call. A function that switches
 * and reads errno afterwards must therefore read it in a separate function that is not inlined. */
#ifndef WEFT_UNIT_H
#define WEFT_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/kind.h>
#include <weft/pool.h>
#include <weft/sched.h>
#include <weft/status.h>
#include <weft/stream.h>

WEFT_BEGIN

/** Where a unit is in its life. */
typedef enum weft_unit_state {
    WEFT_UNIT_READY = 1,     /**< in a pool, or popped and about to run */
    WEFT_UNIT_RUNNING = 2,   /**< on a stream */
    WEFT_UNIT_SUSPENDED = 3, /**< until it is resumed */
    WEFT_UNIT_DONE = 4       /**< its body has ended */
} weft_unit_state;

/** The least urgent priority of a unit. */
#define WEFT_PRIORITY_LEAST (-7)
/** The most urgent priority of a unit. */
#define WEFT_PRIORITY_MOST 7

/** The smallest stack that may be requested, in bytes. Where the kernel saves more registers for a
 * signal than fit beside the code, a unit gets a larger stack. Since 0.6. */
#define WEFT_STACK_LEAST ((size_t)16384)

/** The options of a spawn. Zero means the default. */
typedef struct weft_unit_options {
    /** sizeof(weft_unit_options) */
    size_t size;
    /** any for weft_ult_spawn and _spawn_many; WEFT_KIND_TASKLET or none for weft_tasklet_spawn.
     * None: the stream's or the settings' kind, or RoC where that kind does not suit the other
     * options */
    weft_kind kind;
    /** at least WEFT_STACK_LEAST, or the spawn returns WEFT_INVALID; rounded up to a size class; 0:
     * the settings' size; with `stack`: its size */
    size_t stack_bytes;
    /** the caller's memory for the stack (not guarded), at least _SC_MINSIGSTKSZ + 8 KiB; it may be
     * reused once the unit is joined. NULL: Weft allocates the stack */
    void *stack;
    /** copied, 23 bytes at most; NULL: none */
    const char *name;
    /** run the new unit at once, while the caller waits in its pool; only inside a ULT */
    bool child_first;
    /** record how deep the stack was used; see weft_unit_stack_get */
    bool measure_stack;
    /** from WEFT_PRIORITY_LEAST to WEFT_PRIORITY_MOST; 0 is normal. For pools that order units by
     * priority (WEFT_POOL_PRIORITY, a user's pool): in other pools anything but 0 is
     * WEFT_UNSUPPORTED, since it would have no effect. WEFT_POOL=priority gives the streams such
     * pools. Anything but 0 is WEFT_UNSUPPORTED for `bound` units too, whose pool has no order. A
     * tasklet may have a priority. Since 0.2 */
    int8_t priority;
    /** where no pool is named: spawn into the main pool of this stream, as a hint; NULL: the
     * calling stream, or stream 0 outside of streams. Since 0.2 */
    weft_stream *stream;
    /** only that stream ever runs the unit, which waits in one of the stream's private pools. Only
     * where no pool is named; not with child_first for another stream. A unit that is not bound may
     * be moved: if it names a stream, or has migrated to one (weft_unit_migrate_to_stream), it may
     * still be stolen from its pool where other streams draw from that pool, as they do by default
     * where there are several; it then belongs to the thief's deque. Since 0.2 */
    bool bound;
    /** refuse requests to migrate to another pool; see weft_unit_migratable_set. Since 0.2 */
    bool not_migratable;
    /** see weft_unit_on_migration; NULL: none. Since 0.2 */
    void (*on_migration)(weft_unit *unit, void *argument);
    /** passed to on_migration. Since 0.2 */
    void *on_migration_argument;
    /** for kind WEFT_KIND_AUTO: the address of anything that stands for the place where the unit is
     * spawned, for a function that spawns on its callers' behalf; NULL: the address of the call,
     * and the body. Since 0.4 */
    const void *site;
    /** the pointer that weft_unit_data_set would set; not for weft_unit_spawn_many. Once the
     * runtime runs, it is released also where the spawn fails. NULL: none. Since 0.5 */
    void *data;
    /** with `data`: what weft_unit_data_set takes as `release`; NULL with `key`. Since 0.5 */
    void (*release)(void *data);
    /** for kind WEFT_KIND_HOSTED: run on a pthread that no unit has used, so that thread_local
     * variables have their initial values. Since 0.6 */
    bool fresh;
    /** the unit has its own floating-point environment: how it rounds, which exceptions trap
     * (<fenv.h>; x86-64's MXCSR and x87 control word, AArch64's FPCR and FPSR), kept across
     * suspensions and on other streams. It begins with the environment in force where the unit is
     * spawned (or revived), as a POSIX thread does, and no other unit sees what it sets. All other
     * native units of a stream share one environment with its scheduler: what one unit sets, the
     * next finds. The functions that the unit passes to weft_blocking and weft_on_stream_stack, and
     * its jobs (parallel.h), are called with the unit's environment, wherever they run; OS threads
     * that the runtime starts meanwhile begin with the stream's. Each switch of such a unit costs
     * some 15 ns more, and it is never run by a call that saves a switch (doc/decisions/0042).
     * Hosted units always have their own environment, and begin with their stream's.
     * WEFT_OWN_FLOAT=1 gives one to all units that are spawned, and to members of teams. Since
     * 0.6 */
    bool own_float;
    /** a lasting key (local.h): `data` is the unit's value under this key, and not what
     * weft_unit_data_get returns. NULL: weft_unit_data_get returns `data`. Since 0.6 */
    const struct weft_key *key;
} weft_unit_options;

/** Spawns a user-level thread: body(argument) runs once some stream pops it.
 *
 * pool     NULL: the main pool of the calling stream, or of stream 0 outside of streams
 * body     required
 * options  NULL for the defaults
 * unit     receives the handle, to be passed to weft_unit_join_free; NULL detaches the unit: it
 *          frees itself
 *
 * Returns WEFT_OK, WEFT_NO_MEMORY (also: the pool has none for the unit; see weft_pool_ops.admit),
 * WEFT_INVALID (a null body, too small a stack, no such priority, both a pool and a stream, a
 * larger stack than the scheduler's for a unit that runs on the scheduler's), WEFT_WRONG_KIND
 * (there is no such kind), WEFT_INVALID (fresh with another kind than hosted, hosted with the
 * caller's stack), WEFT_UNSUPPORTED (SS or SC where a scheduler with run, or one that was pushed
 * into a pool, draws from the pool; SS, SC or RtC with child_first; SC, RtC or hosted with
 * measure_stack; hosted in a simulation; on_migration in a library without WEFT_FEATURE_MIGRATION),
 * WEFT_WRONG_CONTEXT (child_first outside of a ULT), WEFT_NOT_INITIALIZED.
 * From any thread or unit; switches only with child_first. Since 0.1. */
WEFT_API weft_status weft_ult_spawn(weft_pool *pool, void (*body)(void *), void *argument,
                                    const weft_unit_options *options, weft_unit **unit) WEFT_NOTHROW;

/** Like weft_ult_spawn, for a function that spawns on its callers' behalf: `site` is the address
 * that stands for the place where the unit is spawned (weft_unit_info.spawn_site,
 * weft_unit_options.site), instead of the address of the call. Costs no more than weft_ult_spawn.
 * Since 0.5. */
WEFT_API weft_status weft_ult_spawn_at(weft_pool *pool, void (*body)(void *), void *argument,
                                       const weft_unit_options *options, const void *site,
                                       weft_unit **unit) WEFT_NOTHROW;

/** Spawns a tasklet: like weft_ult_spawn, but the unit runs on the scheduler's stack, and any call
 * in it that would suspend returns WEFT_WRONG_KIND. Of the options only `name`, `priority`,
 * `stream`, `bound` and those of migration count; a stack that is larger than the scheduler's is
 * refused (WEFT_INVALID). Never switches. Since 0.1. */
WEFT_API weft_status weft_tasklet_spawn(weft_pool *pool, void (*body)(void *), void *argument,
                                        const weft_unit_options *options, weft_unit **unit) WEFT_NOTHROW;

/** Like weft_tasklet_spawn, with the `site` of weft_ult_spawn_at. Since 0.5. */
WEFT_API weft_status weft_tasklet_spawn_at(weft_pool *pool, void (*body)(void *), void *argument,
                                           const weft_unit_options *options, const void *site,
                                           weft_unit **unit) WEFT_NOTHROW;

/** Spawns `count` units that run body(arguments[i]); all of them or none.
 *
 * arguments  NULL: each gets NULL
 * options    NULL for the defaults; kind WEFT_KIND_TASKLET makes tasklets; child_first and stack
 *            must be zero
 * units      receives `count` handles; NULL detaches them
 *
 * Returns the statuses of weft_ult_spawn. From any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_unit_spawn_many(weft_pool *pool, size_t count, void (*body)(void *), void *const *arguments,
                                          const weft_unit_options *options, weft_unit **units) WEFT_NOTHROW;

/** Gives a unit that has ended another life: body(argument) runs once some stream pops it. The
 * handle, the id, the name, the kind, the size of the stack (or the user's stack, which must be
 * free again) and the migration settings stay; its values are gone (local.h), and so is the
 * exception that ended it. The unit must be joined and freed anew; the caller must know that no
 * other joiner waits for it now.
 *
 * pool  NULL: the main pool of the calling stream, or of stream 0 outside of streams
 * body  required
 *
 * Returns WEFT_OK, WEFT_NO_MEMORY (nothing has changed), WEFT_INVALID, WEFT_WRONG_STATE (it has not
 * ended, or is the primary unit), WEFT_NOT_INITIALIZED. From any thread or unit; never switches.
 * Since 0.2. */
WEFT_API weft_status weft_unit_revive(weft_unit *unit, weft_pool *pool, void (*body)(void *),
                                      void *argument) WEFT_NOTHROW;

/** The options of a revival. Zero means the default. */
typedef struct weft_revive_options {
    size_t size;      /**< sizeof(weft_revive_options) */
    bool child_first; /**< run the unit at once while the caller waits in its pool; only inside a ULT, and for a ULT */
    const void *site; /**< the `site` of weft_ult_spawn_at; NULL: the address of the call */
} weft_revive_options;

/** Like weft_unit_revive, with options; NULL for the defaults. Returns the statuses of
 * weft_unit_revive; with child_first also WEFT_WRONG_CONTEXT (outside of a ULT) and
 * WEFT_UNSUPPORTED (the unit is a tasklet, or of kind SS or SC). Switches only with child_first.
 * Since 0.5. */
WEFT_API weft_status weft_unit_revive_with(weft_unit *unit, weft_pool *pool, void (*body)(void *), void *argument,
                                           const weft_revive_options *options) WEFT_NOTHROW;

/** Waits until the unit has ended; the handle stays valid. Any number of units and threads may wait
 * for one unit; they resume in the order of their arrival. The unit may be freed once all other
 * joins of it have returned; until then weft_unit_outcome_get tells how it ended.
 *
 * A unit that needs a stack, or a pthread (WEFT_KIND_HOSTED), waits for one as long as units that
 * have one run or are ready. It waits for suspended units that have one during some ten thousand
 * tries, and not at all in weft_finalize, which waits for none of the suspended units either. Then
 * it ends without having run.
 *
 * Returns WEFT_OK (its body has returned) or WEFT_NOT_RETURNED (it has ended otherwise;
 * weft_error_text says how). All other statuses mean that the call has not waited: WEFT_INVALID,
 * WEFT_BUSY (a call that frees the unit waits for it, or it is detached), WEFT_WRONG_STATE (a unit
 * cannot join itself, nor a scheduler that its stream runs), WEFT_WRONG_KIND (the caller is a
 * tasklet and the unit has not ended), WEFT_WRONG_CONTEXT (the caller is a scheduler and the unit
 * has not ended).
 * From any thread or unit; a ULT may switch. Since 0.1. */
WEFT_API weft_status weft_unit_join(weft_unit *unit) WEFT_NOTHROW;

/** Whether a join that returned `status` has joined the unit, which then has ended. From anywhere;
 * never switches. Since 0.7. */
static inline bool weft_unit_joined(weft_status status) { return status == WEFT_OK || status == WEFT_NOT_RETURNED; }

/** Like weft_unit_join, but waits no longer than until the monotonic clock (weft_now_ns) shows
 * `deadline_ns`: WEFT_TIMED_OUT. Also returns WEFT_NO_MEMORY: there is none for a wait with a
 * deadline. After either status the unit may be joined again, and its other joiners still wait.
 * From any thread or unit; a ULT may switch. Since 0.2. */
WEFT_API weft_status weft_unit_join_until(weft_unit *unit, uint64_t deadline_ns) WEFT_NOTHROW;

/** Like weft_unit_join, but returns WEFT_BUSY when the unit has not ended. Never switches. Since
 * 0.1. */
WEFT_API weft_status weft_unit_try_join(weft_unit *unit) WEFT_NOTHROW;

/** Waits until all of `count` units have ended: by one suspension, however many units there are,
 * except for units of a private pool. There each unit that has not ended when its turn comes takes
 * a suspension. Null handles are skipped.
 *
 * Returns WEFT_OK (all bodies have returned) or WEFT_NOT_RETURNED (all units have ended;
 * weft_error_text says how the first unit ended whose body has not returned). Otherwise it returns
 * what weft_unit_join would, at the first unit that cannot be waited for. From any thread or unit;
 * a ULT may switch. Since 0.1. */
WEFT_API weft_status weft_unit_join_many(weft_unit *const *units, size_t count) WEFT_NOTHROW;

/** Like weft_unit_join_many, with a deadline: also returns WEFT_TIMED_OUT, and WEFT_NO_MEMORY as
 * weft_unit_join_until does. Each unit that has not ended when its turn comes takes a suspension.
 * From any thread or unit; a ULT may switch. Since 0.7. */
WEFT_API weft_status weft_unit_join_many_until(weft_unit *const *units, size_t count,
                                               uint64_t deadline_ns) WEFT_NOTHROW;

/** How a unit has ended. */
typedef enum weft_unit_outcome {
    /** its body has returned, or called weft_unit_exit */
    WEFT_OUTCOME_RETURNED = 0,
    /** an exception has left its body; see weft_unit_exception_get */
    WEFT_OUTCOME_EXCEPTION = 1,
    /** its end was requested; see weft_unit_cancel */
    WEFT_OUTCOME_CANCELLED = 2,
    /** its body was not called: no stack was available for it, and none would have come free */
    WEFT_OUTCOME_NO_STACK = 3,
    /** its body was not called: it is of kind WEFT_KIND_HOSTED, and no pthread was available for
     * it */
    WEFT_OUTCOME_NO_PTHREAD = 4
} weft_unit_outcome;

/** How the unit has ended.
 *
 * outcome  required; receives the outcome
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_BUSY (it has not ended). From any thread or unit; never
 * switches. Since 0.7. */
WEFT_API weft_status weft_unit_outcome_get(const weft_unit *unit, weft_unit_outcome *outcome) WEFT_NOTHROW;

/** The exception that left the unit's body: a pointer to a std::exception_ptr that lives as long as
 * the unit; NULL when the unit ended otherwise. Returns WEFT_OK, WEFT_INVALID, WEFT_BUSY (it has
 * not ended). From any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_unit_exception_get(const weft_unit *unit, void **exception) WEFT_NOTHROW;

/** Frees a unit that has ended, in whatever way; the handle is invalid afterwards. No other thread
 * or unit may wait for the unit or use its handle. Returns WEFT_OK, WEFT_INVALID, WEFT_BUSY (it has
 * not ended). From any thread or unit; never switches. Since 0.7; before that the name was
 * weft_unit_join_free's. */
WEFT_API weft_status weft_unit_free(weft_unit *unit) WEFT_NOTHROW;

/** Joins the unit and, if its body has returned, frees it: one call for what nearly all units need.
 * A unit that has ended otherwise is kept, so that this is not overlooked: call
 * weft_unit_outcome_get and weft_unit_exception_get, then weft_unit_free. From the call on no other
 * thread or unit may begin to wait for the unit, or detach it.
 *
 * Returns WEFT_OK (it has ended, and is freed), WEFT_NOT_RETURNED (it has ended, and is not freed;
 * weft_error_text says how it has ended). Otherwise it returns what weft_unit_join would, and has
 * not waited. Also WEFT_BUSY while the unit has other joiners, WEFT_WRONG_STATE for the primary
 * unit. From any thread or unit; a ULT may switch. Since 0.7. */
WEFT_API weft_status weft_unit_join_free(weft_unit *unit) WEFT_NOTHROW;

/** Like weft_unit_join_free, with a deadline: also returns WEFT_TIMED_OUT, and WEFT_NO_MEMORY as
 * weft_unit_join_until does. After either status the unit is as it was. No other thread or unit may
 * wait for the unit meanwhile. From any thread or unit; a ULT may switch. Since 0.7. */
WEFT_API weft_status weft_unit_join_free_until(weft_unit *unit, uint64_t deadline_ns) WEFT_NOTHROW;

/** Like weft_unit_join_many, and frees each unit whose body has returned and sets its handle to
 * NULL. Units that have ended otherwise keep their handles.
 *
 * Returns WEFT_OK (all are freed), WEFT_NOT_RETURNED (all have ended, and some are not freed;
 * weft_error_text says how the first of these has ended). Otherwise it returns what
 * weft_unit_join_free would, at the first unit that cannot be waited for: that unit and those after
 * it are not freed. From any thread or unit; a ULT may switch. Since 0.7. */
WEFT_API weft_status weft_unit_join_free_many(weft_unit **units, size_t count) WEFT_NOTHROW;

/** Like weft_unit_join_free_many, with a deadline: also returns WEFT_TIMED_OUT, and WEFT_NO_MEMORY
 * as weft_unit_join_until does. After either status none is freed. No other thread or unit may wait
 * for the units meanwhile. From any thread or unit; a ULT may switch. Since 0.7. */
WEFT_API weft_status weft_unit_join_free_many_until(weft_unit **units, size_t count, uint64_t deadline_ns) WEFT_NOTHROW;

/** Lets the unit free itself when it ends (or at once when it has ended); the handle is invalid
 * afterwards. If its body throws after that, std::terminate ends the process, as with a
 * std::thread, since no joiner could learn of the exception. This holds also for a unit that is
 * spawned detached.
 *
 * A detached unit for which no stack, or no pthread, is available does not end with
 * WEFT_OUTCOME_NO_STACK or WEFT_OUTCOME_NO_PTHREAD, as a unit that is joined does: it stays ready,
 * is retried now and then, and runs when a stack or pthread comes free. Where none of these units
 * has found one for a second, stderr says so, once. weft_finalize counts those that have never run
 * as it counts suspended units, and reports them on stderr. It reports there, too, a unit that is
 * detached after it has ended with one of these outcomes.
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_BUSY (a joiner waits for it), WEFT_WRONG_STATE (the primary
 * unit). From any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_unit_detach(weft_unit *unit) WEFT_NOTHROW;

/** Ends the calling ULT at once. Destructors of its C++ frames do not run; exceptions that it
 * handles are released. Does not return, except with a status: WEFT_WRONG_CONTEXT (outside of a
 * ULT), WEFT_WRONG_KIND (in a tasklet), WEFT_WRONG_STATE (in the primary unit, whose end is the
 * program's; between a fork and its join; after weft_unit_end_disable). Since 0.1. */
WEFT_API weft_status weft_unit_exit(void) WEFT_NOTHROW;

/** Requests that the unit end. The request is cooperative: the unit ends with
 * WEFT_OUTCOME_CANCELLED when it checks for it. A unit that has not started checks when its turn
 * comes, and ends without a call of its body. A ULT that yields checks before it leaves, and a ULT
 * that resumes from a yield, or from the program's own suspension (weft_unit_suspend), at that
 * point. A wait in the library (a join, say) completes first, since the unit may then hold what it
 * waited for. A unit that never checks ends as if there were no request. As with weft_unit_exit,
 * destructors of its C++ frames do not run, and what it holds stays held; where that matters use a
 * std::stop_token (weft/thread.hpp).
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (it has ended, or is the primary unit),
 * WEFT_UNSUPPORTED (a library without WEFT_FEATURE_CANCEL; see weft_features). From any thread or
 * unit, itself included; never switches. Since 0.2. */
WEFT_API weft_status weft_unit_cancel(weft_unit *unit) WEFT_NOTHROW;

/** From here on the calling unit ends only by returning from its body: weft_unit_exit is refused
 * (WEFT_WRONG_STATE), and a request by weft_unit_cancel waits until weft_unit_end_enable has been
 * called as often as this. For code that lets other units or threads use data on the unit's stack,
 * or that owes a waiter a wake-up. Compare pthread_setcancelstate. Costs a few instructions.
 *
 * Returns WEFT_OK or WEFT_WRONG_CONTEXT (outside of ULTs). From ULTs; never switches. Since 0.6. */
WEFT_API weft_status weft_unit_end_disable(void) WEFT_NOTHROW;

/** Ends what one weft_unit_end_disable has begun. A unit whose end was requested meanwhile ends
 * where it next checks, and not here.
 *
 * Returns WEFT_OK, WEFT_WRONG_CONTEXT (outside of ULTs), WEFT_WRONG_STATE (its end is not
 * disabled). From ULTs; never switches. Since 0.6. */
WEFT_API weft_status weft_unit_end_enable(void) WEFT_NOTHROW;

/** Requests that the unit move to another pool, which becomes its pool (migration, Argobots IV-C).
 * The unit moves when it checks for the request: a unit that has not started, when its turn comes;
 * a ULT that yields, instead of going to its own pool; a ULT that resumes from a yield, a
 * suspension or a wait, by leaving again (a joiner that has itself begun the unit it waits for may
 * move only at its next yield). A unit that ends before it checks has not moved. Nor has a unit
 * that the pool has no memory for (weft_pool_ops.admit): it stays where it is. A further request
 * replaces one that has not taken effect. The pool must live until the unit has gone there.
 *
 * pool  required; any pool, also another stream's private pool or a user's pool. A unit that has
 *       left a private pool is handled by the rules of shared pools for the rest of its life
 *
 * Returns WEFT_OK (the request is made), WEFT_INVALID (also: it belongs to that pool),
 * WEFT_NO_MEMORY, WEFT_UNSUPPORTED (it is not migratable, or this is a library without
 * WEFT_FEATURE_MIGRATION; see weft_features), WEFT_WRONG_STATE (it has ended, is a tasklet that has
 * started, or is bound to its stream, as the primary unit is unless it roams). From any thread or
 * unit, itself included; never switches. Since 0.2. */
WEFT_API weft_status weft_unit_migrate_to_pool(weft_unit *unit, weft_pool *pool) WEFT_NOTHROW;

/** Like weft_unit_migrate_to_pool, to the main pool of a stream. Since 0.2. */
WEFT_API weft_status weft_unit_migrate_to_stream(weft_unit *unit, weft_stream *stream) WEFT_NOTHROW;

/** Like weft_unit_migrate_to_pool, to the main pool of a scheduler; WEFT_INVALID if the unit
 * belongs to any of the scheduler's pools. Since 0.2. */
WEFT_API weft_status weft_unit_migrate_to_sched(weft_unit *unit, weft_sched *sched) WEFT_NOTHROW;

/** Like weft_unit_migrate_to_pool, to the shortest of the streams' main pools that is not the
 * unit's own pool; WEFT_UNSUPPORTED also when there is none. Since 0.2. */
WEFT_API weft_status weft_unit_migrate(weft_unit *unit) WEFT_NOTHROW;

/** Waits until the unit has gone to the requested pool: the blocking form of a migration is a
 * request followed by this call. The calling unit itself moves now. The unit must not be freed
 * meanwhile. A suspended unit moves when it is resumed, so the program must resume it.
 *
 * Returns WEFT_OK (it has gone, or there was no request), WEFT_NO_MEMORY (the pool has refused it
 * meanwhile; see weft_pool_ops.admit), WEFT_INVALID, WEFT_WRONG_STATE (it has ended before),
 * WEFT_WRONG_KIND (the caller is a tasklet), WEFT_WRONG_CONTEXT (the caller is a scheduler),
 * WEFT_UNSUPPORTED (a library without WEFT_FEATURE_MIGRATION). From any thread or unit; a ULT may
 * switch. Since 0.2. */
WEFT_API weft_status weft_unit_migrate_wait(weft_unit *unit) WEFT_NOTHROW;

/** Like weft_unit_migrate_wait, but waits no longer than until the monotonic clock (weft_now_ns)
 * shows `deadline_ns`: WEFT_TIMED_OUT. Also returns WEFT_NO_MEMORY: there is none for a wait with a
 * deadline. After either status the request still stands, and the unit may be waited for again, or
 * freed once it has ended. The calling unit itself moves now, whatever the deadline. From any
 * thread or unit; a ULT may switch. Since 0.7. */
WEFT_API weft_status weft_unit_migrate_wait_until(weft_unit *unit, uint64_t deadline_ns) WEFT_NOTHROW;

/** Sets what is called when the unit migrates: callback(unit, argument), once for each request that
 * takes effect, when the unit belongs to the new pool and has not gone there yet, on the stream
 * that it leaves. The callback must not suspend or throw. NULL: nothing is called. Moves that a
 * scheduler makes (stealing, weft_pool_push) are not migrations. Returns WEFT_OK, WEFT_INVALID,
 * WEFT_NO_MEMORY, WEFT_UNSUPPORTED (a library without WEFT_FEATURE_MIGRATION). From any thread or
 * unit; never switches. Since 0.2. */
WEFT_API weft_status weft_unit_on_migration(weft_unit *unit, void (*callback)(weft_unit *unit, void *argument),
                                            void *argument) WEFT_NOTHROW;

/** Sets whether the unit accepts migration requests from now on; it still fulfils an earlier
 * request. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (the primary unit never accepts them
 * unless it roams), WEFT_UNSUPPORTED (`migratable` is true, in a library without
 * WEFT_FEATURE_MIGRATION). From any thread or unit; never switches. Since 0.2. */
WEFT_API weft_status weft_unit_migratable_set(weft_unit *unit, bool migratable) WEFT_NOTHROW;

/** Whether the unit accepts migration requests: never in a library without WEFT_FEATURE_MIGRATION.
 * Returns WEFT_OK or WEFT_INVALID. From any thread or unit; never switches. Since 0.2. */
WEFT_API weft_status weft_unit_migratable_get(const weft_unit *unit, bool *migratable) WEFT_NOTHROW;

/** Lets other units run: the calling ULT goes to the end of its pool. Returns WEFT_OK,
 * WEFT_WRONG_KIND (in a tasklet), WEFT_WRONG_CONTEXT (outside of units). May switch. Since 0.1. */
WEFT_API weft_status weft_unit_yield(void) WEFT_NOTHROW;

/** Lets `unit`, which must be ready, run now in the caller's place; the caller goes to the end of
 * its own pool.
 *
 * Returns WEFT_OK; WEFT_WRONG_STATE (it is not ready, or no longer where it could be taken from),
 * WEFT_UNSUPPORTED (its pool cannot remove a unit from its middle: a deque, except the unit that
 * would be popped next from the calling stream's own deque; a user's pool without `remove`; another
 * stream's private pool), WEFT_WRONG_KIND (the caller or `unit` is a tasklet), WEFT_WRONG_CONTEXT,
 * WEFT_INVALID. With any status but WEFT_OK nothing happens. Argobots IV-B. May switch. Since
 * 0.1. */
WEFT_API weft_status weft_unit_yield_to(weft_unit *unit) WEFT_NOTHROW;

/** How the calling ULT leaves. Since 0.7. */
typedef enum weft_hand_off_by {
    WEFT_BY_YIELD = 0,   /**< it goes to the end of its own pool, as by weft_unit_yield */
    WEFT_BY_SUSPEND = 1, /**< it is suspended, as by weft_unit_suspend, until it is resumed */
    WEFT_BY_EXIT = 2     /**< it ends, as by weft_unit_exit */
} weft_hand_off_by;

/** Where the unit that runs next is now. Since 0.7. */
typedef enum weft_hand_off_to {
    WEFT_TO_READY = 0,     /**< it waits in its pool, and is taken out of it */
    WEFT_TO_SUSPENDED = 1, /**< it is suspended, and resumes without a turn in its pool */
    WEFT_TO_POPPED = 2     /**< it was popped: it is ready, and in no pool */
} weft_hand_off_to;

/** Lets `unit` run now in the caller's place, and leaves: every combination of weft_hand_off_to and
 * weft_hand_off_by.
 *
 * to  where the unit is
 * by  how the caller leaves
 *
 * Returns WEFT_OK, unless the caller ends; WEFT_WRONG_STATE (the unit is not there: not yet, not
 * any more, or it waits for something else, such as a join), WEFT_UNSUPPORTED (with WEFT_TO_READY,
 * the reasons of weft_unit_yield_to; otherwise it belongs to the private pool of another stream),
 * WEFT_WRONG_KIND (the caller or `unit` is a tasklet), WEFT_WRONG_CONTEXT, WEFT_INVALID (also:
 * there is no such `to` or `by`), and with WEFT_BY_EXIT the statuses of weft_unit_exit. With any
 * status but WEFT_OK nothing happens. Argobots IV-B. May switch. Since 0.7. */
WEFT_API weft_status weft_unit_hand_off(weft_unit *unit, weft_hand_off_to to, weft_hand_off_by by) WEFT_NOTHROW;

/** Runs a unit that was popped, and returns when it has ended or left the stream: the calling ULT
 * is its scheduler meanwhile, as `run` of a weft_sched is (Argobots' self_schedule). Wherever the
 * unit leaves to, control returns to the caller. May be nested to any depth.
 *
 * Returns WEFT_OK; WEFT_WRONG_STATE (it is not ready, or is the caller), WEFT_UNSUPPORTED (it
 * belongs to the private pool of another stream), WEFT_WRONG_KIND (in a tasklet or a hosted unit),
 * WEFT_WRONG_CONTEXT (outside of units), WEFT_INVALID. The caller stays on its stream. Since
 * 0.5. */
WEFT_API weft_status weft_unit_run(weft_unit *unit) WEFT_NOTHROW;

/** Suspends the calling ULT until weft_unit_resume is called on it.
 *
 * publish   NULL, or called as publish(unit, argument) once the unit is suspended and its stack is
 *           no longer in use, on the stack of whatever runs next: it puts the unit where its waker
 *           will find it. As soon as it has done so, a waker may resume the unit. publish must not
 *           suspend, and must not touch the unit's stack once the waker can find the unit
 * argument  passed to publish
 *
 * Returns WEFT_OK when resumed, WEFT_WRONG_KIND (in a tasklet), WEFT_WRONG_CONTEXT (outside of
 * units). May switch. Since 0.1. */
WEFT_API weft_status weft_unit_suspend(void (*publish)(weft_unit *unit, void *argument), void *argument) WEFT_NOTHROW;

/** Makes a suspended unit ready: it goes to its pool. Of several calls that resume it at once, one
 * succeeds. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (it is not suspended: not yet, or not
 * any more). From any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_unit_resume(weft_unit *unit) WEFT_NOTHROW;

/** The calling unit, or NULL outside of units. From anywhere; never switches. Since 0.1. */
WEFT_API weft_unit *weft_unit_self(void) WEFT_NOTHROW;

/** The kind of the calling unit; WEFT_KIND_DEFAULT outside of units. From anywhere; never switches.
 * Since 0.5. */
WEFT_API weft_kind weft_unit_self_kind(void) WEFT_NOTHROW;

/** Reports on standard error that a handle is used whose runtime has ended: of which unit, as far
 * as that is still known, and what to do. For owners of handles whose destructors find that no
 * runtime runs (weft_initialized), as weft::thread does. The unit is not accessed, since its memory
 * is gone.
 *
 * owner  what owns the handle, for the message; NULL: "handle"
 *
 * From anywhere; never switches. Since 0.6. */
WEFT_API void weft_unit_outlived(const weft_unit *unit, const char *owner) WEFT_NOTHROW;

/** A number other than 0 that is unique among all units of this run of the runtime. Returns WEFT_OK
 * or WEFT_INVALID. From any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_unit_id_get(const weft_unit *unit, uint64_t *id) WEFT_NOTHROW;

/** The unit's name, "" when it has none; valid as long as the unit lives. Returns WEFT_OK or
 * WEFT_INVALID. From any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_unit_name_get(const weft_unit *unit, const char **name) WEFT_NOTHROW;

/** Names the unit; `name` is copied, 23 bytes at most. Returns WEFT_OK, WEFT_INVALID or
 * WEFT_NO_MEMORY. From the unit itself, or while it does not run; never switches. Since 0.1. */
WEFT_API weft_status weft_unit_name_set(weft_unit *unit, const char *name) WEFT_NOTHROW;

/** Gives the unit a pointer, once. This slot belongs to the code that spawns the unit, or to the
 * program. A library that meets units of other libraries keeps what it knows of them under a
 * lasting key of its own (local.h), and reads here only what it has set itself. The pointer
 * survives a revival.
 *
 * data     not null
 * release  NULL, or called as release(data) when the unit is freed (a detached one: when it has
 *          ended), or by the last weft_finalize; it must not suspend or throw, nor free or spawn
 *          units
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_NO_MEMORY, WEFT_WRONG_STATE (it has one: of several calls at
 * once, one succeeds). From any thread or unit; never switches. Since 0.5. */
WEFT_API weft_status weft_unit_data_set(weft_unit *unit, void *data, void (*release)(void *data)) WEFT_NOTHROW;

/** The pointer that weft_unit_data_set has given the unit, or NULL. Returns WEFT_OK or
 * WEFT_INVALID. From any thread or unit; never switches. Since 0.5. */
WEFT_API weft_status weft_unit_data_get(const weft_unit *unit, void **data) WEFT_NOTHROW;

/** What weft_unit_data_get returns for the calling unit; NULL outside of units. From anywhere;
 * never switches. Since 0.7. */
WEFT_API void *weft_unit_self_data(void) WEFT_NOTHROW;

/** The argument that the unit's body is called with.
 *
 * argument  required; receives the argument
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (its body has ended by an exception). From any
 * thread or unit; never switches. Since 0.5. */
WEFT_API weft_status weft_unit_argument_get(const weft_unit *unit, void **argument) WEFT_NOTHROW;

/** Changes the argument that the unit's body is called with, or, once the body was called, what
 * weft_unit_argument_get returns. From the unit itself, or while the unit cannot begin meanwhile.
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (it has ended). Never switches. Since 0.5. */
WEFT_API weft_status weft_unit_argument_set(weft_unit *unit, void *argument) WEFT_NOTHROW;

/** Where the unit was spawned or revived: the address in weft_unit_info.spawn_site. Returns WEFT_OK
 * or WEFT_INVALID. From any thread or unit; never switches. Since 0.5. */
WEFT_API weft_status weft_unit_spawn_site_get(const weft_unit *unit, const void **site) WEFT_NOTHROW;

/** Whether the unit frees itself when it ends. Returns WEFT_OK or WEFT_INVALID. From the unit
 * itself, an observer that is notified of it, or while the unit lives; never switches. Since
 * 0.5. */
WEFT_API weft_status weft_unit_detached_get(const weft_unit *unit, bool *detached) WEFT_NOTHROW;

/** The unit's kind. Returns WEFT_OK or WEFT_INVALID. From any thread or unit; never switches. Since
 * 0.1. */
WEFT_API weft_status weft_unit_kind_get(const weft_unit *unit, weft_kind *kind) WEFT_NOTHROW;

/** The unit's state: stale as soon as the call returns, unless it is WEFT_UNIT_DONE; a caller that
 * reads WEFT_UNIT_DONE sees everything that the unit has done. Returns WEFT_OK or WEFT_INVALID.
 * From any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_unit_state_get(const weft_unit *unit, weft_unit_state *state) WEFT_NOTHROW;

/** The unit's priority. Returns WEFT_OK or WEFT_INVALID. From any thread or unit; never
 * switches. Since 0.2. */
WEFT_API weft_status weft_unit_priority_get(const weft_unit *unit, int *priority) WEFT_NOTHROW;

/** Changes the unit's priority, which takes effect the next time that the unit goes into a pool.
 * `priority` is from WEFT_PRIORITY_LEAST to WEFT_PRIORITY_MOST. Returns WEFT_OK, WEFT_INVALID,
 * WEFT_UNSUPPORTED (it is not 0, and the unit's pool does not order units by priority; the streams'
 * pools do so with WEFT_POOL=priority, and pools of kind WEFT_POOL_PRIORITY always). From any
 * thread or unit; never switches. Since 0.2. */
WEFT_API weft_status weft_unit_priority_set(weft_unit *unit, int priority) WEFT_NOTHROW;

/** The pool the unit belongs to: where it goes when it becomes ready. Returns WEFT_OK or
 * WEFT_INVALID. From any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_unit_pool_get(const weft_unit *unit, weft_pool **pool) WEFT_NOTHROW;

/** Sets the pool that the unit belongs to from now on: it goes there when it next becomes ready.
 * For a unit that was popped (it is ready, and in no pool), for one that is suspended by the
 * program and not resumed meanwhile, or for the calling unit itself, which goes there at its next
 * yield or resume. This is no migration: it does not matter whether the unit is migratable, and
 * only the program's own pools are notified (weft_pool_ops.attach, detach, admit).
 *
 * unit  required
 * pool  required; any pool, also another stream's private pool. A popped unit is put there by
 *       weft_pool_push, or run by the code that popped it
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (it runs elsewhere, waits in the library, for
 * instance in a join, or has ended; or it is bound to its stream and stays in its pool),
 * WEFT_WRONG_CONTEXT (it leaves a private pool, and the caller is not on that pool's stream),
 * WEFT_NO_MEMORY (weft_pool_ops.admit; nothing has changed). From any thread or unit; never
 * switches. Since 0.5. */
WEFT_API weft_status weft_unit_pool_set(weft_unit *unit, weft_pool *pool) WEFT_NOTHROW;

/** Binds the calling ULT to the stream that runs it, until weft_unit_unbind: no other stream
 * resumes it, so that compiled code may keep addresses of thread_local variables, errno among them,
 * across its waits. An earlier migration request is fulfilled first; from then on the unit behaves
 * as if it had been spawned with `bound`, and weft_stream_join_free waits for its weft_unit_unbind,
 * which comes before its end.
 *
 * former  required; receives what weft_unit_unbind takes: the pool that the unit otherwise belongs
 *         to, or NULL where the unit stays in its pool
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_CONTEXT (outside of ULTs), WEFT_WRONG_STATE (it is
 * bound already, as the primary unit and a guest are), WEFT_UNSUPPORTED (it is a context of a
 * domain, or the stream is not one of the program's but one that comes and goes), WEFT_NO_MEMORY.
 * From ULTs; may switch. Since 0.6. */
WEFT_API weft_status weft_unit_bind(weft_pool **former) WEFT_NOTHROW;

/** Ends a weft_unit_bind of the calling unit that has returned WEFT_OK. The unit goes to its former
 * pool when it next becomes ready, or at once where a scheduler that was pushed into a pool runs
 * the units of the former pool.
 *
 * former  as weft_unit_bind gave it
 *
 * Returns WEFT_OK, WEFT_WRONG_CONTEXT (outside of ULTs), WEFT_WRONG_STATE (the unit is not bound,
 * or is its OS thread's own code: a primary unit that does not roam, or a guest). From ULTs; may
 * switch. Since 0.6. */
WEFT_API weft_status weft_unit_unbind(weft_pool *former) WEFT_NOTHROW;

/** A unit's stack. */
typedef struct weft_stack_info {
    size_t size;         /**< sizeof(weft_stack_info), set by the caller */
    void *lowest;        /**< its lowest usable byte; NULL while the unit has no stack */
    size_t bytes;        /**< usable bytes */
    size_t most_bytes;   /**< the most bytes ever used, to a page; 0 unless measured (measure_stack) */
    weft_status guarded; /**< WEFT_OK: by a guard page or a canary; WEFT_UNSUPPORTED: by nothing */
} weft_stack_info;

/** Describes a unit's stack; for a unit of kind SC that has not suspended and is itself the caller,
 * its scheduler's stack. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_KIND (a tasklet has none). From
 * the unit itself or, while it does not run or after its join, from anywhere; never switches. Since
 * 0.1. */
WEFT_API weft_status weft_unit_stack_get(const weft_unit *unit, weft_stack_info *info) WEFT_NOTHROW;

/** Describes one unit, as weft_unit_each sees it. */
typedef struct weft_unit_info {
    /** sizeof(weft_unit_info) of the library; read only what lies within */
    size_t size;
    /** the handle; other threads may free the unit at any time */
    weft_unit *unit;
    /** see weft_unit_id_get */
    uint64_t id;
    /** its kind */
    weft_kind kind;
    /** its state when it was read */
    weft_unit_state state;
    /** "" when it has none; valid during the call */
    const char *name;
    /** the code address that spawned it */
    const void *spawn_site;
    /** what a suspended unit waits for ("join", "suspend", "mutex", "sleep", ...); "" for other
     * units */
    const char *waits_for;
    /** the object it waits for (for a join, the joined unit's handle), or NULL */
    const void *waits_object;
    /** the deadline of its wait, by the clock of weft_now_ns; 0: none. Since 0.2 */
    uint64_t waits_until_ns;
    /** whether its body has been called, in this life. Since 0.5 */
    bool started;
    /** what weft_unit_pool_get returned when the unit was read. Since 0.5 */
    weft_pool *pool;
} weft_unit_info;

/** Calls visit(info, argument) for each unit that lives, found by a walk of the descriptors'
 * memory: a unit that is created or ends meanwhile may be missed. Returns WEFT_OK, WEFT_INVALID,
 * WEFT_NOT_INITIALIZED. visit must not suspend, spawn or free. From any thread or unit; never
 * switches. Since 0.1. */
WEFT_API weft_status weft_unit_each(void (*visit)(const weft_unit_info *info, void *argument),
                                    void *argument) WEFT_NOTHROW;

/** Like weft_unit_each, for the units that belong to a pool: those that wait in it, and those that
 * run, or are suspended, and return to it. A library that has its own pools finds its own units by
 * this call, and no other units.
 *
 * pool  required
 *
 * Returns the statuses of weft_unit_each, and may be called where weft_unit_each may. Since 0.6. */
WEFT_API weft_status weft_pool_unit_each(const weft_pool *pool,
                                         void (*visit)(const weft_unit_info *info, void *argument),
                                         void *argument) WEFT_NOTHROW;

/** Reads for one unit what weft_unit_each reports: the values of some moment, if a stream runs the
 * unit meanwhile.
 *
 * info  required; the caller sets info->size. `name` is valid as long as the unit lives
 *
 * Returns WEFT_OK or WEFT_INVALID. From any thread or unit; never switches. Since 0.5. */
WEFT_API weft_status weft_unit_info_get(const weft_unit *unit, weft_unit_info *info) WEFT_NOTHROW;

/** A place in the program that has spawned units of kind WEFT_KIND_AUTO into pools that several
 * streams may draw from. In private pools such units are of kind WEFT_KIND_LSA, and Weft learns
 * nothing from them. */
typedef struct weft_site_info {
    /** sizeof(weft_site_info) of the library; read only what lies within */
    size_t size;
    /** the code address that spawns the units, or weft_unit_options.site */
    const void *address;
    /** the body; NULL with a site */
    const void *what;
    /** how many ended units were sampled: one in some 16 at first, one in some 128 later */
    uint32_t samples;
    /** the share of the latest 64 samples that have suspended: 0 to 1 */
    double share;
    /** the kind of the units that it spawns now */
    weft_kind kind;
} weft_site_info;

/** Calls visit(info, argument) for each such place since weft_init; Weft learns about at most 256
 * places. Returns WEFT_OK, WEFT_INVALID, WEFT_NOT_INITIALIZED. From any thread or unit; never
 * switches. Since 0.4. */
WEFT_API weft_status weft_site_each(void (*visit)(const weft_site_info *info, void *argument),
                                    void *argument) WEFT_NOTHROW;

WEFT_END

#endif
