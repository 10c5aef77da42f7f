/* Schedulers: pick the next unit from their pools (Argobots, Seo et al., TPDS 2018, section III).
 *
 * A table has either `pick` (the stream owns the loop and asks for the next unit: stateless) or
 * `run` (the scheduler owns its loop: stateful). Stateless schedulers are faster, because a unit
 * that leaves can ask for its successor itself, and the lightest kinds of unit (WEFT_KIND_SS,
 * WEFT_KIND_SC) run under no others. */
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
    /** as the settings say */
    WEFT_SCHED_DEFAULT = 0,
    /** the pools in their order: the first that has a unit gives it. Every 61st time it begins at
     * another pool, each in its turn, so that none starves behind one whose units yield */
    WEFT_SCHED_BASIC = 1,
    /** the first pool; when it is empty, and every 1021st time, the others, beginning at a random
     * one */
    WEFT_SCHED_RANDOM_STEAL = 2,
    /** made from a table by weft_sched_create_user */
    WEFT_SCHED_USER = 3,
    /** as basic, but its stream sleeps as soon as nothing is to be done, without looking round for
     * a while (weft_settings.spin_ns) */
    WEFT_SCHED_BASIC_WAIT = 4,
    /** the pools in the order of their importance, the most important first: as basic, but every
     * 1021st time only does it begin at another pool */
    WEFT_SCHED_PRIORITY = 5
} weft_sched_kind;

/** A scheduler of one's own. `self` is what was given to weft_sched_create_user. */
typedef struct weft_sched_ops {
    size_t size; /**< sizeof(weft_sched_ops) when the caller was compiled */
    /** Returns the next unit, or NULL when there is none now. Called on units' stacks as well as on
     * the scheduler's: must not suspend, throw, or need more than 4 KiB of stack. Exactly one of
     * pick and run is set. */
    weft_unit *(*pick)(void *self, weft_sched *sched);
    /** Runs units with weft_sched_run_unit until weft_sched_check_stop says true; calls
     * weft_sched_wait when there is nothing to do. It runs as a unit, on a stack of its own:
     * between two units it may itself yield, join, suspend and wait for whatever units wait for;
     * its stream runs nothing of its pools meanwhile. */
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

/** Creates a scheduler from a table. Arguments as weft_sched_create; `ops` is copied. Returns as it
 * does; WEFT_INVALID also when not exactly one of pick and run is set. From any thread or unit;
 * never switches. Since 0.1. */
WEFT_API weft_status weft_sched_create_user(const weft_sched_ops *ops, void *self, weft_pool *const *pools,
                                            size_t count, weft_sched **sched) WEFT_NOTHROW;

/** Frees a scheduler that no stream runs and that is in no pool. Returns WEFT_OK, WEFT_INVALID,
 * WEFT_BUSY or WEFT_NOT_INITIALIZED (it has gone with its runtime). From any thread or unit; never
 * switches. Since 0.1. */
WEFT_API weft_status weft_sched_free(weft_sched *sched) WEFT_NOTHROW;

/** How many pools the scheduler has. Returns WEFT_OK or WEFT_INVALID. From any thread or unit;
 * never switches. Since 0.7. */
WEFT_API weft_status weft_sched_pool_count_get(const weft_sched *sched, size_t *count) WEFT_NOTHROW;

/** Pool number `index` of the scheduler, from 0 on. Returns WEFT_OK or WEFT_INVALID (also: it has
 * not so many). From any thread or unit; never switches. Since 0.7. */
WEFT_API weft_status weft_sched_pool_get(const weft_sched *sched, size_t index, weft_pool **pool) WEFT_NOTHROW;

/** Whether what uses the scheduler owns it: then it is freed when that use ends, with its stream,
 * when another takes its place, or after its last turn in a pool. So it is unless this says no;
 * then it is given back, to be used again or freed by weft_sched_free. Before the scheduler is
 * given away. Returns WEFT_OK or WEFT_INVALID. From any thread or unit; never switches. Since
 * 0.2. */
WEFT_API weft_status weft_sched_owned_set(weft_sched *sched, bool owned) WEFT_NOTHROW;

/** How a scheduler is to run as a unit. Zero means the default. */
typedef struct weft_sched_push_options {
    /** sizeof(weft_sched_push_options) */
    size_t size;
    /** how many units it runs before it yields to the others of the pool that it was pushed to; 0:
     * 61; SIZE_MAX: until its pools are empty */
    size_t turn;
} weft_sched_push_options;

/** Pushes a scheduler into a pool: it runs there as a unit, on a stack of the size that schedulers
 * have, and runs the units of its own pools. A turn is a number of units, or ends when its pools
 * are empty; then it goes to the end of the pool, so that what was pushed behind it runs next.
 * While nothing waits in its pools it sleeps, as a unit, and is woken by a push. It ends, and is
 * given back or freed (weft_sched_owned_set), when nothing waits in its pools and no unit lives
 * that belongs to a pool which nobody else draws from. Each turn may be another stream's. To any
 * depth.
 *
 * A scheduler with `run` yields by itself in weft_sched_check_stop, and draws from no private pool.
 *
 * pool     required; none of the scheduler's own
 * sched    required; belongs to nobody yet
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

/** Whether the scheduler should return from `run`: its stream is asked to stop and its pools are
 * empty; another scheduler is to take its place; or, in a pool, nothing belongs to it any more
 * (weft_sched_push). Also does what the stream was asked from outside, so call it at least once a
 * millisecond. Only from `run`; in a pool it may switch. Since 0.1. */
WEFT_API bool weft_sched_check_stop(weft_sched *sched) WEFT_NOTHROW;

/** Gives the hart back and sleeps until a pool of the scheduler has a unit or the stream is wanted.
 * May return early. Only from `run`; in a pool it switches, and its stream runs others. Returns
 * WEFT_OK, WEFT_INVALID or WEFT_WRONG_CONTEXT. Since 0.1. */
WEFT_API weft_status weft_sched_wait(weft_sched *sched) WEFT_NOTHROW;

WEFT_END

#endif
