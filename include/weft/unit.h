/* Units: user-level threads (ULTs), which can suspend, and tasklets, which run to completion.
 *
 * A unit is spawned into a pool, runs once on whatever stream pops it, and is joined and freed, or
 * detached. Per unit are kept, across suspensions and moves between streams: the callee-saved
 * registers, errno and the C++ exception globals. `thread_local` memory belongs to the carrier, not
 * to the unit. A compiler may read the address of errno (a function of the C library that it takes
 * for constant) before a call that switches and use it after: in a function that both switches and
 * reads errno afterwards, read it in a function of its own that is not inlined. */
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
    WEFT_UNIT_SUSPENDED = 3, /**< until somebody resumes it */
    WEFT_UNIT_DONE = 4       /**< its body has ended */
} weft_unit_state;

/** The least urgent priority of a unit. */
#define WEFT_PRIORITY_LEAST (-7)
/** The most urgent priority of a unit. */
#define WEFT_PRIORITY_MOST 7

/** The smallest stack that may be asked for, in bytes. Kernels that save more registers for a
 * signal than fit beside the code give a unit more. Since 0.6. */
#define WEFT_STACK_LEAST ((size_t)16384)

/** How a unit is to be. Zero means the default. */
typedef struct weft_unit_options {
    /** sizeof(weft_unit_options) */
    size_t size;
    /** of weft_ult_spawn and _spawn_many: any; of weft_tasklet_spawn: WEFT_KIND_TASKLET or nothing.
     * Nothing: as the stream or the settings say, or RoC where that kind does not suit the other
     * options */
    weft_kind kind;
    /** at least WEFT_STACK_LEAST, or the spawn is WEFT_INVALID; rounded up to a size class; 0: as
     * the settings say; with `stack`: its size */
    size_t stack_bytes;
    /** memory of the caller for the stack (not guarded), at least _SC_MINSIGSTKSZ + 8 KiB; it may
     * be reused once the unit is joined. NULL: Weft's */
    void *stack;
    /** copied, 23 bytes at most; NULL: none */
    const char *name;
    /** run the new unit at once and let the caller wait in its pool; only inside a ULT */
    bool child_first;
    /** note how deep the stack was used; see weft_unit_stack_get */
    bool measure_stack;
    /** how urgent: from WEFT_PRIORITY_LEAST to WEFT_PRIORITY_MOST; 0 is normal. For pools that look
     * at it (WEFT_POOL_PRIORITY, a user's): in others anything but 0 is WEFT_UNSUPPORTED, since it
     * would mean nothing; WEFT_POOL=priority gives the streams such pools. Also of `bound` units,
     * whose pool has no order. A tasklet may have one too. Since 0.2 */
    int8_t priority;
    /** with no pool named: into the main pool of this stream, as a hint; NULL: the calling one, or
     * stream 0 outside of streams. Since 0.2 */
    weft_stream *stream;
    /** only that stream ever runs the unit; it waits in a private pool of the stream's. With no
     * pool named; not with child_first for another stream. What is not bound stays nowhere: a unit
     * that names a stream, or has migrated to one (weft_unit_migrate_to_stream), may be stolen from
     * its pool, if others draw from that, as those of several streams do by default, and belongs to
     * the thief's deque then. Since 0.2 */
    bool bound;
    /** refuse to be asked to go to another pool; see weft_unit_migratable_set. Since 0.2 */
    bool not_migratable;
    /** see weft_unit_on_migration; NULL: none. Since 0.2 */
    void (*on_migration)(weft_unit *unit, void *argument);
    /** given to on_migration. Since 0.2 */
    void *on_migration_argument;
    /** of kind WEFT_KIND_AUTO: the address of anything that stands for the place where the unit is
     * spawned, for a function that spawns on behalf of others; NULL: the address of the call, and
     * the body. Since 0.4 */
    const void *site;
    /** as weft_unit_data_set would give it; not of weft_unit_spawn_many. Released also where the
     * spawn fails, once the runtime runs. NULL: none. Since 0.5 */
    void *data;
    /** with data, as there; NULL with `key`. Since 0.5 */
    void (*release)(void *data);
    /** of kind WEFT_KIND_HOSTED: on a pthread that no unit has been on, so that thread_local
     * variables have their first values. Since 0.6 */
    bool fresh;
    /** a floating-point environment of its own: how it rounds, which exceptions trap (<fenv.h>;
     * x86-64's MXCSR and x87 control word, AArch64's FPCR and FPSR), also over suspensions and on
     * other streams. It begins with the one in force where it is spawned (or revived), as a POSIX
     * thread does, and no other unit sees what it sets. All other native units of a stream share
     * one with its scheduler: what one sets, the next finds. What it has others call
     * (weft_blocking, weft_on_stream_stack) and its jobs (parallel.h) are called with it, wherever
     * that is; OS threads that the runtime starts meanwhile begin with the stream's. Each switch of
     * such a unit costs some 15 ns more, and it is not called where that saves a switch
     * (doc/decisions/0042). Hosted units have one anyway, and begin with their stream's.
     * WEFT_OWN_FLOAT=1 gives one to all units that are spawned, and to members of teams. Since
     * 0.6 */
    bool own_float;
    /** a lasting key (local.h): `data` is the unit's value under it, and weft_unit_data_get tells
     * of another. NULL: `data` is that of weft_unit_data_get. Since 0.6 */
    const struct weft_key *key;
} weft_unit_options;

/** Spawns a user-level thread: body(argument) runs once some stream pops it.
 *
 * pool     NULL: the main pool of the calling stream, or of stream 0 outside of streams
 * body     required
 * options  NULL for the defaults
 * unit     receives the handle, to be given to weft_unit_join_free; NULL detaches the unit: it
 *          frees itself
 *
 * Returns WEFT_OK, WEFT_NO_MEMORY (also: the pool has none for it; see weft_pool_ops.admit),
 * WEFT_INVALID (a null body, too small a stack, no such priority, both a pool and a stream, more
 * than the scheduler's stack for a unit that runs on that), WEFT_WRONG_KIND (there is no such
 * kind), WEFT_INVALID (fresh of another kind than hosted, hosted with a stack of the caller's),
 * WEFT_UNSUPPORTED (SS or SC where a scheduler with run, or one that was pushed into a pool, draws
 * from the pool; SS, SC or RtC with child_first; SC, RtC or hosted with measure_stack; hosted in a
 * simulation; on_migration in a library without WEFT_FEATURE_MIGRATION), WEFT_WRONG_CONTEXT
 * (child_first outside of a ULT), WEFT_NOT_INITIALIZED.
 * From any thread or unit; switches only with child_first. Since 0.1. */
WEFT_API weft_status weft_ult_spawn(weft_pool *pool, void (*body)(void *), void *argument,
                                    const weft_unit_options *options, weft_unit **unit) WEFT_NOTHROW;

/** As weft_ult_spawn, for a function that spawns on behalf of others: `site` is the address that
 * stands for the place where the unit is spawned, as weft_unit_info.spawn_site and
 * weft_unit_options.site have it, instead of the address of the call. Costs no more than
 * weft_ult_spawn. Since 0.5. */
WEFT_API weft_status weft_ult_spawn_at(weft_pool *pool, void (*body)(void *), void *argument,
                                       const weft_unit_options *options, const void *site,
                                       weft_unit **unit) WEFT_NOTHROW;

/** Spawns a tasklet: as weft_ult_spawn, but it runs on the scheduler's stack and any call in it
 * that would suspend returns WEFT_WRONG_KIND. Of the options only `name`, `priority`, `stream`,
 * `bound` and those of migration count; a stack that is larger than the scheduler's is refused
 * (WEFT_INVALID). Never switches. Since 0.1. */
WEFT_API weft_status weft_tasklet_spawn(weft_pool *pool, void (*body)(void *), void *argument,
                                        const weft_unit_options *options, weft_unit **unit) WEFT_NOTHROW;

/** As weft_tasklet_spawn, with a site as weft_ult_spawn_at has it. Since 0.5. */
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
 * Returns as weft_ult_spawn. From any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_unit_spawn_many(weft_pool *pool, size_t count, void (*body)(void *), void *const *arguments,
                                          const weft_unit_options *options, weft_unit **units) WEFT_NOTHROW;

/** Gives a unit that has ended another life: body(argument) runs once some stream pops it. The
 * handle, the id, the name, the kind, the size of the stack (or the user's stack, which must be
 * free again) and what was said of migration stay; its values are gone (local.h), and so is the
 * exception that ended it. It must be joined and freed anew, by one who knows that nobody else
 * joins it now.
 *
 * pool  NULL: the main pool of the calling stream, or of stream 0 outside of streams
 * body  required
 *
 * Returns WEFT_OK, WEFT_NO_MEMORY (nothing has changed), WEFT_INVALID, WEFT_WRONG_STATE (it has not
 * ended, or is the primary unit), WEFT_NOT_INITIALIZED. From any thread or unit; never switches.
 * Since 0.2. */
WEFT_API weft_status weft_unit_revive(weft_unit *unit, weft_pool *pool, void (*body)(void *),
                                      void *argument) WEFT_NOTHROW;

/** How a unit is to begin anew. Zero means the default. */
typedef struct weft_revive_options {
    size_t size;      /**< sizeof(weft_revive_options) */
    bool child_first; /**< run the unit at once and let the caller wait in its pool; only inside a ULT, and of a ULT */
    const void *site; /**< as weft_ult_spawn_at has it; NULL: the address of the call */
} weft_revive_options;

/** As weft_unit_revive, with options; NULL for the defaults. Returns as it does; with child_first
 * also WEFT_WRONG_CONTEXT (outside of a ULT) and WEFT_UNSUPPORTED (the unit is a tasklet, or of
 * kind SS or SC). Switches only with child_first. Since 0.5. */
WEFT_API weft_status weft_unit_revive_with(weft_unit *unit, weft_pool *pool, void (*body)(void *), void *argument,
                                           const weft_revive_options *options) WEFT_NOTHROW;

/** Waits until the unit has ended; the handle stays valid. Any number may wait for one unit; they
 * go on in the order in which they came. The unit may be freed when the joins of all others have
 * returned; weft_unit_outcome_get tells until then how it has ended.
 *
 * A unit that needs a stack, or a pthread (WEFT_KIND_HOSTED), waits for one as long as others run
 * or are ready that have one. For those that are suspended it waits some ten thousand tries, and
 * not in weft_finalize, which waits for none of the others either. Then it ends without having run.
 *
 * Returns WEFT_OK (its body has returned) or WEFT_NOT_RETURNED (it has ended otherwise;
 * weft_error_text says how). All other statuses mean that nothing was waited for: WEFT_INVALID,
 * WEFT_BUSY (a call that frees it waits for it, or it is detached), WEFT_WRONG_STATE (a unit cannot
 * join itself, nor a scheduler that its stream runs), WEFT_WRONG_KIND (the caller is a tasklet and
 * the unit has not ended), WEFT_WRONG_CONTEXT (the caller is a scheduler and the unit has not
 * ended).
 * From any thread or unit; a ULT may switch. Since 0.1. */
WEFT_API weft_status weft_unit_join(weft_unit *unit) WEFT_NOTHROW;

/** Whether a join that has returned `status` has joined: the unit has ended. From anywhere; never
 * switches. Since 0.7. */
static inline bool weft_unit_joined(weft_status status) { return status == WEFT_OK || status == WEFT_NOT_RETURNED; }

/** As weft_unit_join, but waits no longer than until the monotonic clock (weft_now_ns) shows
 * `deadline_ns`: WEFT_TIMED_OUT. Also WEFT_NO_MEMORY: there is none for a wait with a deadline.
 * After either the unit may be joined again, and others wait on for it. From any thread or unit; a
 * ULT may switch. Since 0.2. */
WEFT_API weft_status weft_unit_join_until(weft_unit *unit, uint64_t deadline_ns) WEFT_NOTHROW;

/** As weft_unit_join, but returns WEFT_BUSY when the unit has not ended. Never switches. Since
 * 0.1. */
WEFT_API weft_status weft_unit_try_join(weft_unit *unit) WEFT_NOTHROW;

/** Waits until all of `count` units have ended: one suspension, however many they are, unless they
 * are of a private pool, where it takes one for each that is still at work when it is asked for.
 * Null handles are passed over.
 *
 * Returns WEFT_OK (all bodies have returned) or WEFT_NOT_RETURNED (all units have ended;
 * weft_error_text says how the first of those has ended whose body has not returned); otherwise as
 * weft_unit_join, at the first that cannot be waited for. From any thread or unit; a ULT may
 * switch. Since 0.1. */
WEFT_API weft_status weft_unit_join_many(weft_unit *const *units, size_t count) WEFT_NOTHROW;

/** As weft_unit_join_many, with a deadline: or WEFT_TIMED_OUT; WEFT_NO_MEMORY as
 * weft_unit_join_until. One suspension for each that is still at work when it is asked for. From
 * any thread or unit; a ULT may switch. Since 0.7. */
WEFT_API weft_status weft_unit_join_many_until(weft_unit *const *units, size_t count,
                                               uint64_t deadline_ns) WEFT_NOTHROW;

/** How a unit has ended. */
typedef enum weft_unit_outcome {
    /** its body has returned, or called weft_unit_exit */
    WEFT_OUTCOME_RETURNED = 0,
    /** an exception has left its body; see weft_unit_exception_get */
    WEFT_OUTCOME_EXCEPTION = 1,
    /** it was asked to end; see weft_unit_cancel */
    WEFT_OUTCOME_CANCELLED = 2,
    /** its body was not called: no stack could be had for it, and none would have come free */
    WEFT_OUTCOME_NO_STACK = 3,
    /** its body was not called: it is of kind WEFT_KIND_HOSTED, and no pthread could be had for
     * it */
    WEFT_OUTCOME_NO_PTHREAD = 4
} weft_unit_outcome;

/** How the unit has ended.
 *
 * outcome  required; receives it
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_BUSY (it has not ended). From any thread or unit; never
 * switches. Since 0.7. */
WEFT_API weft_status weft_unit_outcome_get(const weft_unit *unit, weft_unit_outcome *outcome) WEFT_NOTHROW;

/** The exception that has left the unit's body: a pointer to a std::exception_ptr that lives as
 * long as the unit; NULL when it has ended otherwise.
 * Returns WEFT_OK, WEFT_INVALID, WEFT_BUSY (it has not ended). From any thread or unit; never
 * switches. Since 0.1. */
WEFT_API weft_status weft_unit_exception_get(const weft_unit *unit, void **exception) WEFT_NOTHROW;

/** Frees a unit that has ended, in whatever way; the handle is invalid afterwards. Nobody else may
 * wait for the unit, or ask anything of it.
 * Returns WEFT_OK, WEFT_INVALID, WEFT_BUSY (it has not ended). From any thread or unit; never
 * switches. Since 0.7; before that the name was weft_unit_join_free's. */
WEFT_API weft_status weft_unit_free(weft_unit *unit) WEFT_NOTHROW;

/** Joins the unit and, if its body has returned, frees it: one call for what nearly all units need.
 * A unit that has ended otherwise is kept, so that nobody misses it: ask weft_unit_outcome_get and
 * weft_unit_exception_get, then call weft_unit_free. From the call on nobody else may begin to wait
 * for the unit, or detach it.
 *
 * Returns WEFT_OK (it has ended, and is freed), WEFT_NOT_RETURNED (it has ended, and is not freed;
 * weft_error_text says how it has ended). Otherwise as weft_unit_join: nothing was waited for. Also
 * WEFT_BUSY while others wait for the unit, WEFT_WRONG_STATE for the primary unit. From any thread
 * or unit; a ULT may switch. Since 0.7. */
WEFT_API weft_status weft_unit_join_free(weft_unit *unit) WEFT_NOTHROW;

/** As weft_unit_join_free, with a deadline: or WEFT_TIMED_OUT; WEFT_NO_MEMORY as
 * weft_unit_join_until. After either the unit is as it was. Nobody else may wait for the unit
 * meanwhile. From any thread or unit; a ULT may switch. Since 0.7. */
WEFT_API weft_status weft_unit_join_free_until(weft_unit *unit, uint64_t deadline_ns) WEFT_NOTHROW;

/** As weft_unit_join_many, and frees each of the units whose body has returned and sets its handle
 * to NULL. Those that have ended otherwise keep their handles.
 *
 * Returns WEFT_OK (all are freed), WEFT_NOT_RETURNED (all have ended, and some are not freed;
 * weft_error_text says how the first of them has ended). Otherwise as weft_unit_join_free, at the
 * first that cannot be waited for: it and those after it are not freed. From any thread or unit; a
 * ULT may switch. Since 0.7. */
WEFT_API weft_status weft_unit_join_free_many(weft_unit **units, size_t count) WEFT_NOTHROW;

/** As weft_unit_join_free_many, with a deadline: or WEFT_TIMED_OUT; WEFT_NO_MEMORY as
 * weft_unit_join_until. After either none is freed. Nobody else may wait for them meanwhile. From
 * any thread or unit; a ULT may switch. Since 0.7. */
WEFT_API weft_status weft_unit_join_free_many_until(weft_unit **units, size_t count, uint64_t deadline_ns) WEFT_NOTHROW;

/** Lets the unit free itself when it ends (or at once when it has ended); the handle is invalid
 * afterwards. If its body throws after that, std::terminate ends the process, as with a
 * std::thread: nobody could learn of it. The same holds for a unit that is spawned detached. Where
 * no stack, or no pthread, can be had for a detached unit it does not end (as one that is joined,
 * with WEFT_OUTCOME_NO_STACK or WEFT_OUTCOME_NO_PTHREAD): it stays ready, is tried again now and
 * then, and runs when one comes free. Where none has found one for a second a sentence on stderr
 * says so, once; weft_finalize counts those that have never run as it counts suspended ones, and
 * tells of them on stderr. A unit that is detached after it has ended so is told of there, too.
 * Returns WEFT_OK, WEFT_INVALID, WEFT_BUSY (somebody waits for it), WEFT_WRONG_STATE (the primary
 * unit). From any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_unit_detach(weft_unit *unit) WEFT_NOTHROW;

/** Ends the calling ULT at once. Destructors of its C++ frames do not run; exceptions that it
 * handles are let go. Does not return, except with a status: WEFT_WRONG_CONTEXT (outside of a ULT),
 * WEFT_WRONG_KIND (in a tasklet), WEFT_WRONG_STATE (in the primary unit, whose end is the
 * program's; between a fork and its join; after weft_unit_end_disable). Since 0.1. */
WEFT_API weft_status weft_unit_exit(void) WEFT_NOTHROW;

/** Asks the unit to end. Cooperative: it ends with WEFT_OUTCOME_CANCELLED when it looks: a unit
 * that has not started, when its turn comes, without calling its body; a ULT that yields, before it
 * leaves; one that comes back from a yield, or from a suspension of the program's own
 * (weft_unit_suspend), there. A wait of the library's (a join, say) goes to its end first, since
 * the unit may hold then what it has waited for. A unit that does not look ends as if nothing had
 * been asked. As with weft_unit_exit, destructors of its C++ frames do not run, and what it holds
 * stays held; where that matters ask by a std::stop_token (weft/thread.hpp).
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (it has ended, or is the primary unit),
 * WEFT_UNSUPPORTED (a library without WEFT_FEATURE_CANCEL; see weft_features). From any thread or
 * unit, itself included; never switches. Since 0.2. */
WEFT_API weft_status weft_unit_cancel(weft_unit *unit) WEFT_NOTHROW;

/** From here on the calling unit does not end but by returning from its body: weft_unit_exit is
 * refused (WEFT_WRONG_STATE), and what weft_unit_cancel has asked for waits until
 * weft_unit_end_enable has been called as often as this. For code that has others work by what lies
 * on the unit's stack, or that owes somebody a wake-up. As pthread_setcancelstate. Costs a few
 * instructions.
 *
 * Returns WEFT_OK or WEFT_WRONG_CONTEXT (outside of ULTs). From ULTs; never switches. Since 0.6. */
WEFT_API weft_status weft_unit_end_disable(void) WEFT_NOTHROW;

/** Ends what one weft_unit_end_disable has begun. A unit that was asked to end meanwhile ends where
 * it next looks, and not here.
 *
 * Returns WEFT_OK, WEFT_WRONG_CONTEXT (outside of ULTs), WEFT_WRONG_STATE (its end is not
 * disabled). From ULTs; never switches. Since 0.6. */
WEFT_API weft_status weft_unit_end_enable(void) WEFT_NOTHROW;

/** Asks the unit to go to another pool, which becomes its pool (migration, Argobots IV-C). It goes
 * when it looks: a unit that has not started, when its turn comes; a ULT that yields, instead of
 * going to its own pool; one that comes back from a yield, a suspension or a wait, by leaving again
 * (a joiner that has itself begun the unit it waits for may go at its next yield only). One that
 * ends before it looks has not moved, nor has one that the pool has no memory for
 * (weft_pool_ops.admit): it stays where it is. Another request takes the place of one that has not
 * been heeded. The pool must live until the unit has gone there.
 *
 * pool  required; any pool, also a private one of another stream or one of the user's. A unit that
 *       has left a private pool is handled by the rules of shared ones for the rest of its life
 *
 * Returns WEFT_OK (it is asked), WEFT_INVALID (also: it belongs to that pool), WEFT_NO_MEMORY,
 * WEFT_UNSUPPORTED (it is not migratable, or this is a library without WEFT_FEATURE_MIGRATION; see
 * weft_features), WEFT_WRONG_STATE (it has ended, is a tasklet that has started, or is the primary
 * unit and does not roam). From any thread or unit, itself included; never switches. Since 0.2. */
WEFT_API weft_status weft_unit_migrate_to_pool(weft_unit *unit, weft_pool *pool) WEFT_NOTHROW;

/** As weft_unit_migrate_to_pool, to the main pool of a stream. Since 0.2. */
WEFT_API weft_status weft_unit_migrate_to_stream(weft_unit *unit, weft_stream *stream) WEFT_NOTHROW;

/** As weft_unit_migrate_to_pool, to the main pool of a scheduler; WEFT_INVALID if it belongs to any
 * of the scheduler's pools. Since 0.2. */
WEFT_API weft_status weft_unit_migrate_to_sched(weft_unit *unit, weft_sched *sched) WEFT_NOTHROW;

/** As weft_unit_migrate_to_pool, to the shortest main pool of a stream that is not its own;
 * WEFT_UNSUPPORTED also when there is none. Since 0.2. */
WEFT_API weft_status weft_unit_migrate(weft_unit *unit) WEFT_NOTHROW;

/** Waits until the unit has gone where it was asked to: the blocking form of a migration is a
 * request and this. Of the calling unit itself: it goes now. The unit must not be freed meanwhile.
 * One that is suspended goes when it is resumed, so somebody must do that.
 *
 * Returns WEFT_OK (it has gone, or was not asked), WEFT_NO_MEMORY (the pool has refused it
 * meanwhile; see weft_pool_ops.admit), WEFT_INVALID, WEFT_WRONG_STATE (it has ended before),
 * WEFT_WRONG_KIND (the caller is a tasklet), WEFT_WRONG_CONTEXT (a scheduler calls),
 * WEFT_UNSUPPORTED (a library without WEFT_FEATURE_MIGRATION). From any thread or unit; a ULT may
 * switch. Since 0.2. */
WEFT_API weft_status weft_unit_migrate_wait(weft_unit *unit) WEFT_NOTHROW;

/** As weft_unit_migrate_wait, but waits no longer than until the monotonic clock (weft_now_ns)
 * shows `deadline_ns`: WEFT_TIMED_OUT. Also WEFT_NO_MEMORY: there is none for a wait with a
 * deadline. After either the unit is still asked to go, and may be waited for again, or freed once
 * it has ended. Of the calling unit itself: it goes now, whatever the deadline. From any thread or
 * unit; a ULT may switch. Since 0.7. */
WEFT_API weft_status weft_unit_migrate_wait_until(weft_unit *unit, uint64_t deadline_ns) WEFT_NOTHROW;

/** Says what is called when the unit migrates: callback(unit, argument), once for each request that
 * it heeds, when it belongs to the new pool and has not gone there yet, on the stream that it
 * leaves. It must not suspend or throw. NULL: nothing. Migrations of a scheduler's making
 * (stealing, weft_pool_push) are none. Returns WEFT_OK, WEFT_INVALID, WEFT_NO_MEMORY,
 * WEFT_UNSUPPORTED (a library without WEFT_FEATURE_MIGRATION). From any thread or unit; never
 * switches. Since 0.2. */
WEFT_API weft_status weft_unit_on_migration(weft_unit *unit, void (*callback)(weft_unit *unit, void *argument),
                                            void *argument) WEFT_NOTHROW;

/** Says whether the unit may be asked to migrate from now on; what it was asked before it does.
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (the primary unit never may unless it roams),
 * WEFT_UNSUPPORTED (it may, in a library without WEFT_FEATURE_MIGRATION). From any thread or unit;
 * never switches. Since 0.2. */
WEFT_API weft_status weft_unit_migratable_set(weft_unit *unit, bool migratable) WEFT_NOTHROW;

/** Whether the unit may be asked to migrate: never in a library without WEFT_FEATURE_MIGRATION.
 * Returns WEFT_OK or WEFT_INVALID. From any thread or unit; never switches. Since 0.2. */
WEFT_API weft_status weft_unit_migratable_get(const weft_unit *unit, bool *migratable) WEFT_NOTHROW;

/** Lets others run: the calling ULT goes to the end of its pool. Returns WEFT_OK, WEFT_WRONG_KIND
 * (in a tasklet), WEFT_WRONG_CONTEXT (outside of units). May switch. Since 0.1. */
WEFT_API weft_status weft_unit_yield(void) WEFT_NOTHROW;

/** Lets `unit`, which must be ready, run now in the caller's place; the caller goes to the end of
 * its own pool.
 *
 * Returns WEFT_OK; WEFT_WRONG_STATE (it is not ready, or no longer where it could be taken from),
 * WEFT_UNSUPPORTED (its pool cannot give a unit out of the middle: a deque, but for the calling
 * stream's own and the unit that would be popped next; a user's pool without `remove`; another
 * stream's private one), WEFT_WRONG_KIND (a tasklet calls, or is called for), WEFT_WRONG_CONTEXT,
 * WEFT_INVALID. In all those nothing happens. Argobots IV-B. May switch. Since 0.1. */
WEFT_API weft_status weft_unit_yield_to(weft_unit *unit) WEFT_NOTHROW;

/** How the calling ULT leaves. Since 0.7. */
typedef enum weft_hand_off_by {
    WEFT_BY_YIELD = 0,   /**< it goes to the end of its own pool, as by weft_unit_yield */
    WEFT_BY_SUSPEND = 1, /**< it is suspended, as by weft_unit_suspend: whoever knows it resumes it */
    WEFT_BY_EXIT = 2     /**< it ends, as by weft_unit_exit */
} weft_hand_off_by;

/** Where the unit is that runs next. Since 0.7. */
typedef enum weft_hand_off_to {
    WEFT_TO_READY = 0,     /**< it waits in its pool, and is taken out of that */
    WEFT_TO_SUSPENDED = 1, /**< it is suspended, and resumes without a turn in its pool */
    WEFT_TO_POPPED = 2     /**< it was popped: it is ready, and in no pool */
} weft_hand_off_to;

/** Lets `unit` run now in the caller's place, and leaves: all ways of both.
 *
 * to  where the unit is
 * by  how the caller leaves
 *
 * Returns WEFT_OK, unless the caller ends; WEFT_WRONG_STATE (it is not there: not yet, not any
 * more, or it waits for something else, such as a join), WEFT_UNSUPPORTED (with WEFT_TO_READY as
 * weft_unit_yield_to; otherwise it belongs to the private pool of another stream), WEFT_WRONG_KIND
 * (a tasklet calls, or is called for), WEFT_WRONG_CONTEXT, WEFT_INVALID (also: there is no such
 * way), and with WEFT_BY_EXIT as weft_unit_exit. In all those nothing happens. Argobots IV-B. May
 * switch. Since 0.7. */
WEFT_API weft_status weft_unit_hand_off(weft_unit *unit, weft_hand_off_to to, weft_hand_off_by by) WEFT_NOTHROW;

/** Runs a unit that was popped, and returns when it has ended or left the stream: the calling ULT
 * is its scheduler meanwhile, as `run` of a weft_sched is (Argobots' self_schedule). What the unit
 * leaves for goes back to the caller. To any depth.
 *
 * Returns WEFT_OK; WEFT_WRONG_STATE (it is not ready, or is the caller), WEFT_UNSUPPORTED (it
 * belongs to the private pool of another stream), WEFT_WRONG_KIND (in a tasklet or a hosted unit),
 * WEFT_WRONG_CONTEXT (outside of units), WEFT_INVALID. The caller stays on its stream. Since
 * 0.5. */
WEFT_API weft_status weft_unit_run(weft_unit *unit) WEFT_NOTHROW;

/** Suspends the calling ULT until somebody calls weft_unit_resume on it.
 *
 * publish   NULL, or called as publish(unit, argument) once the unit is suspended and its stack has
 *           been left, on whatever runs next: it puts the unit where its waker will find it. Its
 *           last act may already have been answered by a resume. It must not suspend, and must not
 *           touch the unit's stack after that last act.
 * argument  given to publish
 *
 * Returns WEFT_OK when resumed, WEFT_WRONG_KIND (in a tasklet), WEFT_WRONG_CONTEXT (outside of
 * units). May switch. Since 0.1. */
WEFT_API weft_status weft_unit_suspend(void (*publish)(weft_unit *unit, void *argument), void *argument) WEFT_NOTHROW;

/** Makes a suspended unit ready: it goes to its pool. Of several that resume it at once, one
 * succeeds. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (it is not suspended: not yet, or not
 * any more). From any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_unit_resume(weft_unit *unit) WEFT_NOTHROW;

/** The calling unit, or NULL outside of units. From anywhere; never switches. Since 0.1. */
WEFT_API weft_unit *weft_unit_self(void) WEFT_NOTHROW;

/** The kind of the calling unit; WEFT_KIND_DEFAULT outside of units. From anywhere; never switches.
 * Since 0.5. */
WEFT_API weft_kind weft_unit_self_kind(void) WEFT_NOTHROW;

/** Says on standard error that a handle is used whose runtime has ended: of which unit, as far as
 * that is known still, and what to do. For owners of handles, whose destructors find that no
 * runtime runs (weft_initialized), as weft::thread does. The unit is not touched, whose memory has
 * gone.
 *
 * owner  what has the handle, for the sentence; NULL: "handle"
 *
 * From anywhere; never switches. Since 0.6. */
WEFT_API void weft_unit_outlived(const weft_unit *unit, const char *owner) WEFT_NOTHROW;

/** A number that no other unit of this run of the runtime has, and not 0. Returns WEFT_OK or
 * WEFT_INVALID. From any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_unit_id_get(const weft_unit *unit, uint64_t *id) WEFT_NOTHROW;

/** The unit's name, "" when it has none; valid as long as the unit. Returns WEFT_OK or
 * WEFT_INVALID. From any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_unit_name_get(const weft_unit *unit, const char **name) WEFT_NOTHROW;

/** Names the unit; `name` is copied, 23 bytes at most. Returns WEFT_OK, WEFT_INVALID or
 * WEFT_NO_MEMORY. From the unit itself, or while it does not run; never switches. Since 0.1. */
WEFT_API weft_status weft_unit_name_set(weft_unit *unit, const char *name) WEFT_NOTHROW;

/** Gives the unit a pointer, once. It belongs to whoever spawns the unit, or to the program: a
 * library that meets units of others hangs what it knows of them under a lasting key of its own
 * (local.h), and reads here no more than it has put there. It stays over a revival.
 *
 * data     not null
 * release  NULL, or called as release(data) when the unit is freed (a detached one: when it has
 *          ended), or by the last weft_finalize; it must not suspend or throw, nor free or spawn
 *          units
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_NO_MEMORY, WEFT_WRONG_STATE (it has one: of several that give
 * it one at once, one succeeds). From any thread or unit; never switches. Since 0.5. */
WEFT_API weft_status weft_unit_data_set(weft_unit *unit, void *data, void (*release)(void *data)) WEFT_NOTHROW;

/** What weft_unit_data_set has given the unit, or NULL. Returns WEFT_OK or WEFT_INVALID. From any
 * thread or unit; never switches. Since 0.5. */
WEFT_API weft_status weft_unit_data_get(const weft_unit *unit, void **data) WEFT_NOTHROW;

/** What weft_unit_data_get tells of the calling unit; NULL outside of units. From anywhere; never
 * switches. Since 0.7. */
WEFT_API void *weft_unit_self_data(void) WEFT_NOTHROW;

/** What the unit's body is called with.
 *
 * argument  required; receives it
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (its body has ended by an exception). From any
 * thread or unit; never switches. Since 0.5. */
WEFT_API weft_status weft_unit_argument_get(const weft_unit *unit, void **argument) WEFT_NOTHROW;

/** Changes what the unit's body is called with, or, once it was called, what weft_unit_argument_get
 * tells. From the unit itself, or while it cannot begin meanwhile. Returns WEFT_OK, WEFT_INVALID,
 * WEFT_WRONG_STATE (it has ended). Never switches. Since 0.5. */
WEFT_API weft_status weft_unit_argument_set(weft_unit *unit, void *argument) WEFT_NOTHROW;

/** Where the unit was spawned or revived, as weft_unit_info.spawn_site has it. Returns WEFT_OK or
 * WEFT_INVALID. From any thread or unit; never switches. Since 0.5. */
WEFT_API weft_status weft_unit_spawn_site_get(const weft_unit *unit, const void **site) WEFT_NOTHROW;

/** Whether the unit frees itself when it ends. Returns WEFT_OK or WEFT_INVALID. From the unit
 * itself, an observer that is told of it, or while it lives; never switches. Since 0.5. */
WEFT_API weft_status weft_unit_detached_get(const weft_unit *unit, bool *detached) WEFT_NOTHROW;

/** The unit's kind. Returns WEFT_OK or WEFT_INVALID. From any thread or unit; never switches. Since
 * 0.1. */
WEFT_API weft_status weft_unit_kind_get(const weft_unit *unit, weft_kind *kind) WEFT_NOTHROW;

/** The unit's state: stale as soon as it returns, unless it is WEFT_UNIT_DONE; whoever reads that
 * sees what the unit has done. Returns WEFT_OK or WEFT_INVALID. From any thread or unit; never
 * switches. Since 0.1. */
WEFT_API weft_status weft_unit_state_get(const weft_unit *unit, weft_unit_state *state) WEFT_NOTHROW;

/** How urgent the unit is. Returns WEFT_OK or WEFT_INVALID. From any thread or unit; never
 * switches. Since 0.2. */
WEFT_API weft_status weft_unit_priority_get(const weft_unit *unit, int *priority) WEFT_NOTHROW;

/** Changes how urgent the unit is; it counts from the next time that the unit goes into a pool.
 * `priority` is from WEFT_PRIORITY_LEAST to WEFT_PRIORITY_MOST. Returns WEFT_OK, WEFT_INVALID,
 * WEFT_UNSUPPORTED (it is not 0, and the unit's pool has no order of priorities:
 * WEFT_POOL=priority, or a pool of WEFT_POOL_PRIORITY). From any thread or unit; never switches.
 * Since 0.2. */
WEFT_API weft_status weft_unit_priority_set(weft_unit *unit, int priority) WEFT_NOTHROW;

/** The pool the unit belongs to: where it goes when it becomes ready. Returns WEFT_OK or
 * WEFT_INVALID. From any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_unit_pool_get(const weft_unit *unit, weft_pool **pool) WEFT_NOTHROW;

/** Says to which pool the unit belongs from now on: it goes there when it next becomes ready. Of a
 * unit that was popped (it is ready, and in no pool), of one that is suspended by the program and
 * that nobody resumes meanwhile, or of the calling unit itself, which goes there at its next yield
 * or resume. No migration: it is not asked whether the unit is migratable, and nothing is called or
 * told but the pools of one's own (weft_pool_ops.attach, detach, admit).
 *
 * unit  required
 * pool  required; any pool, also a private one of another stream. What was popped is put there by
 *       weft_pool_push, or run by whoever has it
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (it runs elsewhere, waits for something of the
 * library's, such as a join, or has ended; or it is bound to its stream and stays in its pool),
 * WEFT_WRONG_CONTEXT (it leaves a private pool, and the caller is not on that pool's stream),
 * WEFT_NO_MEMORY (weft_pool_ops.admit; nothing has changed). From any thread or unit; never
 * switches. Since 0.5. */
WEFT_API weft_status weft_unit_pool_set(weft_unit *unit, weft_pool *pool) WEFT_NOTHROW;

/** Binds the calling ULT to the stream that runs it, until weft_unit_unbind: it goes on on no other
 * one, so that compiled code may keep addresses of thread_local variables, errno among them, over
 * its waits. What it is asked to migrate to before comes first; then it is as one that was spawned
 * with `bound`, and weft_stream_join_free waits for its weft_unit_unbind, which comes before its
 * end.
 *
 * former  required; receives what weft_unit_unbind is to be given: the pool that the unit belongs
 *         to otherwise, or NULL where it stays in that
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_CONTEXT (outside of ULTs), WEFT_WRONG_STATE (it is
 * bound already, as the primary unit and a guest are), WEFT_UNSUPPORTED (it is a context of a
 * domain, or the stream is not the program's, and comes and goes), WEFT_NO_MEMORY. From ULTs; may
 * switch. Since 0.6. */
WEFT_API weft_status weft_unit_bind(weft_pool **former) WEFT_NOTHROW;

/** Ends what weft_unit_bind of the calling unit began, which has returned WEFT_OK. The unit goes to
 * its former pool when it next becomes ready, or at once where a scheduler that was pushed into a
 * pool runs the units of that.
 *
 * former  as weft_unit_bind gave it
 *
 * Returns WEFT_OK, WEFT_WRONG_CONTEXT (outside of ULTs), WEFT_WRONG_STATE (it is not bound, or is
 * its OS thread's own code: a primary unit that does not roam, a guest). From ULTs; may switch.
 * Since 0.6. */
WEFT_API weft_status weft_unit_unbind(weft_pool *former) WEFT_NOTHROW;

/** A unit's stack. */
typedef struct weft_stack_info {
    size_t size;         /**< sizeof(weft_stack_info), set by the caller */
    void *lowest;        /**< its lowest usable byte; NULL while it has none */
    size_t bytes;        /**< usable bytes */
    size_t most_bytes;   /**< the most that was ever used, to a page; 0 unless measured (measure_stack) */
    weft_status guarded; /**< WEFT_OK: by a guard page or a canary; WEFT_UNSUPPORTED: by nothing */
} weft_stack_info;

/** What is known of a unit's stack; of one of kind SC that has not suspended, asked by itself, its
 * scheduler's. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_KIND (a tasklet has none). From the unit
 * itself or, while it does not run or after its join, from anywhere; never switches. Since 0.1. */
WEFT_API weft_status weft_unit_stack_get(const weft_unit *unit, weft_stack_info *info) WEFT_NOTHROW;

/** One unit, as weft_unit_each sees it. */
typedef struct weft_unit_info {
    /** sizeof(weft_unit_info) of the library; read only what lies within */
    size_t size;
    /** the handle; it may be freed by others at any time */
    weft_unit *unit;
    /** as weft_unit_id_get */
    uint64_t id;
    /** its kind */
    weft_kind kind;
    /** its state when it was looked at */
    weft_unit_state state;
    /** "" when it has none; valid during the call */
    const char *name;
    /** the code address that spawned it */
    const void *spawn_site;
    /** what a suspended unit waits for ("join", "suspend", "mutex", "sleep", ...); "" otherwise */
    const char *waits_for;
    /** the object it waits for (for a join the unit's handle), or NULL */
    const void *waits_object;
    /** the deadline of its wait, as weft_now_ns; 0: it has none. Since 0.2 */
    uint64_t waits_until_ns;
    /** its body has been called, in this life. Since 0.5 */
    bool started;
    /** as weft_unit_pool_get, when it was looked at. Since 0.5 */
    weft_pool *pool;
} weft_unit_info;

/** Calls visit(info, argument) for each unit that lives, found by walking the memory of the
 * descriptors: a unit that is created or ends meanwhile may be missed. Returns WEFT_OK,
 * WEFT_INVALID, WEFT_NOT_INITIALIZED. visit must not suspend, spawn or free. From any thread or
 * unit; never switches. Since 0.1. */
WEFT_API weft_status weft_unit_each(void (*visit)(const weft_unit_info *info, void *argument),
                                    void *argument) WEFT_NOTHROW;

/** As weft_unit_each, of the units that belong to a pool: those that wait in it, and those that
 * run, or are suspended, and return to it. A library that has pools of its own comes to its own
 * units with it, and to nobody else's.
 *
 * pool  required
 *
 * Returns and may be called as weft_unit_each. Since 0.6. */
WEFT_API weft_status weft_pool_unit_each(const weft_pool *pool,
                                         void (*visit)(const weft_unit_info *info, void *argument),
                                         void *argument) WEFT_NOTHROW;

/** What weft_unit_each tells of a unit, of one: what some moment had, if others run it meanwhile.
 *
 * info  required; info->size is set by the caller. `name` lives as long as the unit
 *
 * Returns WEFT_OK or WEFT_INVALID. From any thread or unit; never switches. Since 0.5. */
WEFT_API weft_status weft_unit_info_get(const weft_unit *unit, weft_unit_info *info) WEFT_NOTHROW;

/** A place in the program that has spawned units of kind WEFT_KIND_AUTO into pools that several
 * streams may draw from. In private pools such units are of kind WEFT_KIND_LSA, and teach
 * nothing. */
typedef struct weft_site_info {
    /** sizeof(weft_site_info) of the library; read only what lies within */
    size_t size;
    /** the code address that spawns them, or weft_unit_options.site */
    const void *address;
    /** the body; NULL with a site */
    const void *what;
    /** how many units that have ended were looked at: one of some 16 at first, of some 128 later */
    uint32_t samples;
    /** of the latest 64 of them, those that have suspended: 0 to 1 */
    double share;
    /** of units that it spawns now */
    weft_kind kind;
} weft_site_info;

/** Calls visit(info, argument) for each such place since weft_init; of 256 places at most something
 * is learnt. Returns WEFT_OK, WEFT_INVALID, WEFT_NOT_INITIALIZED. From any thread or unit; never
 * switches. Since 0.4. */
WEFT_API weft_status weft_site_each(void (*visit)(const weft_site_info *info, void *argument),
                                    void *argument) WEFT_NOTHROW;

WEFT_END

#endif
