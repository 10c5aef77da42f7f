/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Schedulers, which pick the next unit from their pools (Argobots, Seo et al., TPDS 2018, section
 * III).
 *
 * A table has either `pick` (the stream owns the loop and calls pick for the next unit: stateless)
 * or `run` (the scheduler owns its loop: stateful). Stateless schedulers are faster, because a unit
 * that leaves can itself call pick for its successor. The lightest kinds of unit (WEFT_KIND_SS,
 * WEFT_KIND_SC) run only under stateless schedulers. */
#ifndef WEFT_SCHED_H
#define WEFT_SCHED_H

#include <stdbool.h>
#include <stddef.h>

#include <weft/pool.h>
#include <weft/status.h>

WEFT_BEGIN

/** Picks the next unit for one stream. */
typedef struct weft_sched weft_sched;

/** The schedulers that come with the library; all are stateless. */
typedef enum weft_sched_kind {
    /** the kind of the settings */
    WEFT_SCHED_DEFAULT = 0,
    /** tries the pools in their order and takes a unit from the first that has one. Every 61st time
     * it begins at another pool, each in its turn, so that no pool starves behind one whose units
     * yield */
    WEFT_SCHED_BASIC = 1,
    /** tries the first pool; when it is empty, and every 1021st time, the others, beginning at a
     * random one */
    WEFT_SCHED_RANDOM_STEAL = 2,
    /** made from a table by weft_sched_create_user */
    WEFT_SCHED_USER = 3,
    /** like basic, but its stream sleeps as soon as there is nothing to do, without spinning first
     * (weft_settings.spin_ns) */
    WEFT_SCHED_BASIC_WAIT = 4,
    /** tries the pools in the order of their importance, the most important first: like basic, but
     * begins at another pool only every 1021st time */
    WEFT_SCHED_PRIORITY = 5
} weft_sched_kind;

/** The functions of a user's scheduler. `self` is the pointer given to weft_sched_create_user. */
typedef struct weft_sched_ops {
    size_t size; /**< sizeof(weft_sched_ops) when the caller was compiled */
    /** Returns the next unit, or NULL when there is none now. Called on units' stacks as well as on
     * the scheduler's: it must not suspend, throw, or need more than 4 KiB of stack. Exactly one of
     * pick and run is set. */
    weft_unit *(*pick)(void *self, weft_sched *sched);
    /** Runs units with weft_sched_run_unit until weft_sched_check_stop returns true; calls
     * weft_sched_wait when there is nothing to do. It runs as a unit, on a stack of its own:
     * between two units it may itself yield, join, suspend and wait for anything that units wait
     * for; its stream runs no unit of its pools meanwhile. */
    void (*run)(void *self, weft_sched *sched);
    /** Called once when the scheduler is freed. May be NULL. */
    void (*destroy)(void *self);
} weft_sched_ops;

/** Creates one of the schedulers that come with the library.
 *
 * kind   any but WEFT_SCHED_USER; WEFT_SCHED_DEFAULT is basic
 * pools  `count` pools, at least 1; the first is the main pool of the stream that will run the
 *        scheduler
 * sched  required; receives the scheduler, which belongs to the stream it is given to
 *
 * Returns WEFT_OK, WEFT_NO_MEMORY, WEFT_INVALID, WEFT_NOT_INITIALIZED. From any thread or unit;
 * never switches. Since 0.1. */
WEFT_API weft_status weft_sched_create(weft_sched_kind kind, weft_pool *const *pools, size_t count,
                                       weft_sched **sched) WEFT_NOTHROW;

/** Creates a scheduler from a table. `pools`, `count` and `sched` are as in weft_sched_create;
 * `ops` is copied, and `self` is passed to its functions. Returns the statuses of
 * weft_sched_create; WEFT_INVALID also when not exactly one of pick and run is set. From any thread
 * or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_sched_create_user(const weft_sched_ops *ops, void *self, weft_pool *const *pools,
                                            size_t count, weft_sched **sched) WEFT_NOTHROW;

/** Frees a scheduler that no stream runs and that is in no pool. Returns WEFT_OK, WEFT_INVALID,
 * WEFT_BUSY or WEFT_NOT_INITIALIZED (it has ended with its runtime). From any thread or unit; never
 * switches. Since 0.1. */
WEFT_API weft_status weft_sched_free(weft_sched *sched) WEFT_NOTHROW;

/** How many pools the scheduler has. Returns WEFT_OK or WEFT_INVALID. From any thread or unit;
 * never switches. Since 0.7. */
WEFT_API weft_status weft_sched_pool_count_get(const weft_sched *sched, size_t *count) WEFT_NOTHROW;

/** Pool number `index` of the scheduler, from 0 on. Returns WEFT_OK or WEFT_INVALID (also: the
 * scheduler has fewer pools). From any thread or unit; never switches. Since 0.7. */
WEFT_API weft_status weft_sched_pool_get(const weft_sched *sched, size_t index, weft_pool **pool) WEFT_NOTHROW;

/** Sets whether the user of the scheduler (a stream or a pool) owns it. An owned scheduler is freed
 * when that use ends: with its stream, when another scheduler replaces it, or after its last turn
 * in a pool. This is the default. A scheduler that is not owned is given back, to be used again or
 * freed by weft_sched_free. To be called before the scheduler is given away. Returns WEFT_OK or
 * WEFT_INVALID. From any thread or unit; never switches. Since 0.2. */
WEFT_API weft_status weft_sched_owned_set(weft_sched *sched, bool owned) WEFT_NOTHROW;

/** The options of a scheduler that runs as a unit. Zero means the default. */
typedef struct weft_sched_push_options {
    /** sizeof(weft_sched_push_options) */
    size_t size;
    /** how many units it runs before it yields to the other units of the pool that it was pushed
     * to; 0: 61; SIZE_MAX: until its pools are empty */
    size_t turn;
} weft_sched_push_options;

/** Pushes a scheduler into a pool: it runs there as a unit, on a stack of the schedulers' size, and
 * runs the units of its own pools. A turn lasts for a number of units, or until its pools are
 * empty; then it goes to the end of the pool, so that what was pushed behind it runs next. While
 * nothing waits in its pools it sleeps, as a unit, and a push wakes it. It ends, and is given back
 * or freed (weft_sched_owned_set), when nothing waits in its pools and no unit lives that belongs
 * to a pool which only this scheduler draws from. Each turn may run on another stream. May be
 * nested to any depth.
 *
 * A scheduler with `run` yields by itself in weft_sched_check_stop, and draws from no private pool.
 *
 * pool     required; none of the scheduler's own
 * sched    required; not in use yet
 * options  NULL for the defaults
 * unit     receives the handle of its unit, to be joined and freed; NULL detaches it
 *
 * Returns WEFT_OK, WEFT_NO_MEMORY, WEFT_INVALID, WEFT_BUSY (the scheduler is in use, or another
 * stream owns its private pool or the deque at its head), WEFT_UNSUPPORTED (run and a private
 * pool), WEFT_NOT_INITIALIZED. From any thread or unit; never switches. Since 0.2. */
WEFT_API weft_status weft_sched_push(weft_sched *sched, weft_pool *pool, const weft_sched_push_options *options,
                                     weft_unit **unit) WEFT_NOTHROW;

/** Whether the scheduler is stateless, that is, has `pick`. Returns WEFT_OK or WEFT_INVALID. From
 * anywhere; never switches. Since 0.1. */
WEFT_API weft_status weft_sched_stateless_get(const weft_sched *sched, bool *stateless) WEFT_NOTHROW;

/** Runs a unit that was popped, and returns when it has ended or left the stream. Only from `run`
 * of a scheduler. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_CONTEXT, WEFT_WRONG_STATE (the unit is
 * not ready). Since 0.1. */
WEFT_API weft_status weft_sched_run_unit(weft_sched *sched, weft_unit *unit) WEFT_NOTHROW;

/** Whether the scheduler should return from `run`: its stream's stop is requested and its pools are
 * empty; another scheduler is to replace it; or, in a pool, nothing belongs to it any more
 * (weft_sched_push). The call also serves requests to the stream from outside, so call it at least
 * once a millisecond. Only from `run`; in a pool it may switch. Since 0.1. */
WEFT_API bool weft_sched_check_stop(weft_sched *sched) WEFT_NOTHROW;

/** Gives the hart back and sleeps until a pool of the scheduler has a unit or the stream has
 * something else to do. May return early. Only from `run`; in a pool it switches, and its stream
 * runs other units. Returns WEFT_OK, WEFT_INVALID or WEFT_WRONG_CONTEXT. Since 0.1. */
WEFT_API weft_status weft_sched_wait(weft_sched *sched) WEFT_NOTHROW;

WEFT_END

#endif
