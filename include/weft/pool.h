/* Pools: where ready units wait (Argobots, Seo et al., TPDS 2018, section III). A pool is a small
 * table of functions; some come with the library, others are yours. */
#ifndef WEFT_POOL_H
#define WEFT_POOL_H

#include <stddef.h>

#include <weft/status.h>

WEFT_BEGIN

/** A user-level thread or a tasklet. */
typedef struct weft_unit weft_unit;
/** Where ready units wait. */
typedef struct weft_pool weft_pool;

/** The pools that come with the library. */
typedef enum weft_pool_kind {
    WEFT_POOL_DEFAULT = 0, /**< as the settings say */
    WEFT_POOL_PRIVATE = 1, /**< first in, first out; drawn from by one stream. No atomics on that stream;
                                what other streams and threads push comes by an inbox */
    WEFT_POOL_SHARED = 2,  /**< first in, first out, for any number of streams */
    WEFT_POOL_DEQUE = 3,   /**< one stream's newest first; other streams steal the oldest (Chase and Lev 2005) */
    WEFT_POOL_USER = 4     /**< made from a table by weft_pool_create_user */
} weft_pool_kind;

/** A pool of one's own. `self` is what was given to weft_pool_create_user. The calls come from inside the
 * runtime, on schedulers' stacks and on units' stacks: they must not suspend or throw. */
typedef struct weft_pool_ops {
    size_t size; /**< sizeof(weft_pool_ops) when the caller was compiled */
    /** Takes a ready unit in; cannot fail (link units with weft_unit_link to need no memory). From any
     * stream and any OS thread. */
    void (*push)(void *self, weft_unit *unit);
    /** Takes a ready unit out, or returns NULL when there is none. From any stream that draws from it. */
    weft_unit *(*pop)(void *self);
    /** How many wait: a hint, stale as soon as it returns; but 0 only when a pop could return NULL. */
    size_t (*length)(const void *self);
    /** Takes `unit` out of the middle for yield_to; returns 1, or 0 if it is not there. May be NULL. */
    int (*remove)(void *self, weft_unit *unit);
    /** Called once when the pool is freed. May be NULL. */
    void (*destroy)(void *self);
} weft_pool_ops;

/** Creates one of the pools that come with the library.
 *
 * kind  WEFT_POOL_PRIVATE, WEFT_POOL_SHARED or WEFT_POOL_DEQUE
 * pool  required; receives the pool
 *
 * Returns WEFT_OK, WEFT_NO_MEMORY, WEFT_INVALID, WEFT_NOT_INITIALIZED. From any thread or unit; never
 * switches. Since 0.1. */
WEFT_API weft_status weft_pool_create(weft_pool_kind kind, weft_pool **pool) WEFT_NOTHROW;

/** Creates a pool from a table.
 *
 * ops   required; push, pop and length are; copied
 * self  given to each function
 * pool  required; receives the pool
 *
 * Returns WEFT_OK, WEFT_NO_MEMORY, WEFT_INVALID (a function is missing), WEFT_NOT_INITIALIZED. From any
 * thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_pool_create_user(const weft_pool_ops *ops, void *self, weft_pool **pool) WEFT_NOTHROW;

/** Frees a pool. Returns WEFT_OK, WEFT_INVALID, WEFT_BUSY (a scheduler draws from it, or units wait in it;
 * nothing is changed). Units that are suspended and belong to the pool must not be resumed any more.
 * From any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_pool_free(weft_pool *pool) WEFT_NOTHROW;

/** How many units wait in the pool: a hint. Returns WEFT_OK or WEFT_INVALID. From any thread or unit;
 * never switches. Since 0.1. */
WEFT_API weft_status weft_pool_length(const weft_pool *pool, size_t *length) WEFT_NOTHROW;

/** What kind of pool it is. Returns WEFT_OK or WEFT_INVALID. From anywhere; never switches. Since 0.1. */
WEFT_API weft_status weft_pool_kind_get(const weft_pool *pool, weft_pool_kind *kind) WEFT_NOTHROW;

/** Puts a unit that was popped back into a pool, which becomes its pool; wakes a stream that sleeps for
 * want of work. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (the unit is not ready, or it is the
 * primary unit of a stream and may not leave its pool), or WEFT_WRONG_CONTEXT (it leaves a private pool, and the caller
 * is not on that pool's stream). From schedulers and units; never switches. Since 0.1. */
WEFT_API weft_status weft_pool_push(weft_pool *pool, weft_unit *unit) WEFT_NOTHROW;

/** Takes a ready unit out of a pool, to be given to weft_sched_run_unit or back to weft_pool_push.
 *
 * unit  required; receives the unit, or NULL when nothing waits
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_CONTEXT (the caller is not on a stream, or the pool is another
 * stream's private one). From schedulers and units; never switches. Since 0.1. */
WEFT_API weft_status weft_pool_pop(weft_pool *pool, weft_unit **unit) WEFT_NOTHROW;

/** A pointer-sized slot in the unit that belongs to the pool as long as the pool holds the unit: a
 * pool of one's own links its units with it and never needs memory to push. Never null for a unit.
 * From the functions of a pool; never switches. Since 0.1. */
WEFT_API void **weft_unit_link(weft_unit *unit) WEFT_NOTHROW;

WEFT_END

#endif
