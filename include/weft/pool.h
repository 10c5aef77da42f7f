/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pools: where ready units wait (Argobots, Seo et al., TPDS 2018, section III). A pool is a small
 * table of functions; some come with the library, others are the program's own. */
#ifndef WEFT_POOL_H
#define WEFT_POOL_H

#include <stddef.h>
#include <stdint.h>

#include <weft/status.h>

WEFT_BEGIN

/** A user-level thread or a tasklet. */
typedef struct weft_unit weft_unit;
/** Where ready units wait. */
typedef struct weft_pool weft_pool;

/** The pools that come with the library. */
typedef enum weft_pool_kind {
    /** the kind of the settings */
    WEFT_POOL_DEFAULT = 0,
    /** first in, first out; one stream draws from it. No atomics on that stream; units that other
     * streams and threads push arrive through an inbox. While no stream draws from it any unit or
     * thread may pop from it. With WEFT_RESCUE=all (runtime.h) a private pool without an access is
     * a WEFT_POOL_SHARED */
    WEFT_POOL_PRIVATE = 1,
    /** first in, first out, for any number of streams */
    WEFT_POOL_SHARED = 2,
    /** newest first for one stream; other streams steal the oldest (Chase and Lev 2005). The stream
     * keeps its units to itself until another one has nothing to run, and publishes some at its
     * next push or pop; where it does not come to its pool, a stream that is about to sleep takes
     * them all the same, and so does weft_pool_pop. Every 37th pop takes a unit that has waited
     * long, so that none waits forever behind newer ones; where joiners call the units that they
     * wait for, the first such pop after a millisecond does, or that after a
     * weft_unit_join_free_many */
    WEFT_POOL_DEQUE = 3,
    /** made from a table by weft_pool_create_user */
    WEFT_POOL_USER = 4,
    /** last in, first out, for any number of streams; a unit that yields goes behind all others */
    WEFT_POOL_LIFO = 5,
    /** the most urgent first (weft_unit_options.priority), first in, first out among equals, for
     * any number of streams. Every 61st pop takes from another level, each in its turn, so that no
     * unit waits forever behind more urgent ones */
    WEFT_POOL_PRIORITY = 6,
    /** like WEFT_POOL_SHARED, for streams that mostly wait: a stream with this main pool sleeps as
     * soon as there is nothing to do, without spinning first (weft_settings.spin_ns) */
    WEFT_POOL_BLOCKING = 7
} weft_pool_kind;

/** Which streams and threads push to a pool and pop from it: a promise by the program. A checked
 * build stops the process when the promise is broken. One producer is one stream, or one OS thread
 * that is not a stream, for the life of the pool; a unit that yields or is resumed is pushed by the
 * stream that it left or was resumed on. One consumer is one at a time: a stream gives up the role
 * when it ceases to draw from the pool. Where only one producer may push, a unit for which no stack
 * is available ends at once with WEFT_OUTCOME_NO_STACK, and does not wait in the pool for a stack
 * to come free; a detached unit waits, but not in the pool (weft_unit_detach). */
typedef enum weft_pool_access {
    WEFT_POOL_ACCESS_DEFAULT = 0, /**< no promise: whatever the kind of pool allows */
    WEFT_POOL_ACCESS_PRIVATE = 1, /**< one stream pushes and pops; first in, first out, this is WEFT_POOL_PRIVATE */
    WEFT_POOL_ACCESS_SPSC = 2,    /**< one producer, one consumer */
    WEFT_POOL_ACCESS_MPSC = 3,    /**< any number of producers, one consumer */
    WEFT_POOL_ACCESS_SPMC = 4,    /**< one producer, any number of consumers */
    WEFT_POOL_ACCESS_MPMC = 5     /**< any number of either */
} weft_pool_access;

/** The options of a pool that comes with the library. Zero means the default. */
typedef struct weft_pool_options {
    size_t size;             /**< sizeof(weft_pool_options) */
    weft_pool_kind kind;     /**< its kind, except WEFT_POOL_USER */
    weft_pool_access access; /**< what the program promises of its use */
} weft_pool_options;

/** Where a push comes from: the `operation` that weft_pool_ops.push_with and push_many receive.
 * Numbers from 256 on are the program's (weft_pool_push_with). */
typedef enum weft_pool_operation {
    /** the program's weft_pool_push, or a unit that found no stack and tries again later */
    WEFT_POOL_OP_OTHER = 0,
    /** the unit is new */
    WEFT_POOL_OP_SPAWN = 1,
    /** the unit has spawned one that runs in its place */
    WEFT_POOL_OP_SPAWN_CHILD_FIRST = 2,
    /** the unit yields */
    WEFT_POOL_OP_YIELD = 3,
    /** the unit yields to one that it named */
    WEFT_POOL_OP_YIELD_TO = 4,
    /** the unit was suspended, or waited */
    WEFT_POOL_OP_RESUME = 5,
    /** the unit has resumed another, which runs in its place */
    WEFT_POOL_OP_RESUME_YIELD_TO = 6,
    /** the unit had ended and begins again */
    WEFT_POOL_OP_REVIVE = 7,
    /** the unit has revived one that runs in its place */
    WEFT_POOL_OP_REVIVE_CHILD_FIRST = 8,
    /** the unit comes from another pool */
    WEFT_POOL_OP_MIGRATE = 9
} weft_pool_operation;

/** The functions of a user's pool. `self` is the pointer given to weft_pool_create_user. The
 * runtime calls them on schedulers' stacks and on units' stacks: they must not suspend or throw. */
typedef struct weft_pool_ops {
    size_t size; /**< sizeof(weft_pool_ops) when the caller was compiled */
    /** Adds a ready unit; cannot fail (link units with weft_unit_link to need no memory). From any
     * stream and any OS thread. */
    void (*push)(void *self, weft_unit *unit);
    /** Removes and returns a ready unit, or returns NULL when there is none. From any stream that
     * draws from the pool. */
    weft_unit *(*pop)(void *self);
    /** How many units wait: a hint, stale as soon as it returns; but 0 only when a pop could return
     * NULL. */
    size_t (*length)(const void *self);
    /** Removes `unit` from the middle for yield_to; returns 1, or 0 if it is not there. May be
     * NULL. */
    int (*remove)(void *self, weft_unit *unit);
    /** Called once when the pool is freed. May be NULL. */
    void (*destroy)(void *self);
    /** A unit begins to belong to the pool: it is spawned there, or comes from another pool. Called
     * before its first push. May be NULL, like all members that follow. Since 0.2. */
    void (*attach)(void *self, weft_unit *unit);
    /** An attached unit no longer belongs to the pool: it goes to another pool, or it has ended;
     * then this is called before any joiner learns of the end. Not called for units that never end.
     * Since 0.2. */
    void (*detach)(void *self, weft_unit *unit);
    /** Called instead of push when it is set: `operation` says where the unit comes from, a
     * weft_pool_operation or the number given to weft_pool_push_with. Since 0.2. */
    void (*push_with)(void *self, weft_unit *unit, uint64_t operation);
    /** Called instead of a push for each of `count` units, in their order. Since 0.2. */
    void (*push_many)(void *self, weft_unit *const *units, size_t count, uint64_t operation);
    /** Called instead of a pop for each: removes at most `capacity` units and returns how many.
     * Since 0.2. */
    size_t (*pop_many)(void *self, weft_unit **units, size_t capacity);
    /** Called instead of the library's own wait in weft_pool_pop_wait: returns a unit, or NULL at
     * `deadline_ns` (weft_now_ns) or earlier. It may block the OS thread. Since 0.2. */
    weft_unit *(*pop_wait)(void *self, uint64_t deadline_ns);
    /** Called instead of attach when it is set: before a unit begins to belong to the pool, while
     * it still belongs to its former pool, if there is one. Returns 1, or 0 when the pool has no
     * memory for what it keeps of the unit: then the spawn, revival or push returns WEFT_NO_MEMORY
     * and nothing has happened, and a migration is dropped. A call that concerns many units admits
     * all or none; detach is called for those that were admitted before a refusal. It must neither
     * spawn nor free units. A branch of a fork (parallel.h) that another stream takes does not go
     * into a pool that has this function, but into the taking stream's own; a stream whose own pool
     * has it takes no branches. Since 0.5. */
    int (*admit)(void *self, weft_unit *unit);
} weft_pool_ops;

/** Creates one of the pools that come with the library.
 *
 * kind  any but WEFT_POOL_USER
 * pool  required; receives the pool
 *
 * Returns WEFT_OK, WEFT_NO_MEMORY, WEFT_INVALID, WEFT_NOT_INITIALIZED. From any thread or unit;
 * never switches. Since 0.1. */
WEFT_API weft_status weft_pool_create(weft_pool_kind kind, weft_pool **pool) WEFT_NOTHROW;

/** Creates one of the pools that come with the library, with a promise of which streams and threads
 * use it.
 *
 * options  NULL for the defaults. With kind WEFT_POOL_SHARED and access private the pool becomes a
 *          WEFT_POOL_PRIVATE; a WEFT_POOL_PRIVATE takes no access with several consumers
 * pool     required; receives the pool
 *
 * Returns the statuses of weft_pool_create. From any thread or unit; never switches. Since 0.2. */
WEFT_API weft_status weft_pool_create_with(const weft_pool_options *options, weft_pool **pool) WEFT_NOTHROW;

/** Creates a pool from a table.
 *
 * ops   required, and so are its push (or push_with), pop and length; copied
 * self  passed to each function
 * pool  required; receives the pool
 *
 * Returns WEFT_OK, WEFT_NO_MEMORY, WEFT_INVALID (a function is missing), WEFT_NOT_INITIALIZED. From
 * any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_pool_create_user(const weft_pool_ops *ops, void *self, weft_pool **pool) WEFT_NOTHROW;

/** Frees a pool. Returns WEFT_OK, WEFT_INVALID, WEFT_BUSY (a scheduler draws from it, or units wait
 * in it; nothing is changed), WEFT_NOT_INITIALIZED (it has ended with its runtime). Suspended units
 * that belong to the pool must not be resumed any more. From any thread or unit; never switches.
 * Since 0.1. */
WEFT_API weft_status weft_pool_free(weft_pool *pool) WEFT_NOTHROW;

/** How many units wait in the pool: a hint. Returns WEFT_OK or WEFT_INVALID. From any thread or
 * unit; never switches. Since 0.1. */
WEFT_API weft_status weft_pool_length_get(const weft_pool *pool, size_t *length) WEFT_NOTHROW;

/** The pool's kind. Returns WEFT_OK or WEFT_INVALID. From anywhere; never switches. Since
 * 0.1. */
WEFT_API weft_status weft_pool_kind_get(const weft_pool *pool, weft_pool_kind *kind) WEFT_NOTHROW;

/** What the program has promised of the pool's use. Returns WEFT_OK or WEFT_INVALID. From anywhere;
 * never switches. Since 0.2. */
WEFT_API weft_status weft_pool_access_get(const weft_pool *pool, weft_pool_access *access) WEFT_NOTHROW;

/** Gives the pool a pointer that belongs to the program: what a runtime that embeds Weft knows of
 * the pool. Not at the same time as weft_pool_data_get. Returns WEFT_OK or WEFT_INVALID. From
 * anywhere; never switches. Since 0.5. */
WEFT_API weft_status weft_pool_data_set(weft_pool *pool, void *data) WEFT_NOTHROW;

/** The pointer that weft_pool_data_set has given the pool last, or NULL. Returns WEFT_OK or
 * WEFT_INVALID. From anywhere; never switches. Since 0.5. */
WEFT_API weft_status weft_pool_data_get(const weft_pool *pool, void **data) WEFT_NOTHROW;

/** Puts a popped unit back into a pool, which becomes its pool; wakes a stream that sleeps for want
 * of work. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (the unit is not ready, or it is bound
 * to its stream, as the primary unit is unless it roams (weft_settings.roaming_primary), and may
 * not leave its pool), WEFT_WRONG_CONTEXT (it leaves a private pool, and the caller is not on that
 * pool's stream), or WEFT_NO_MEMORY (weft_pool_ops.admit; the unit is still in no pool, and belongs
 * to its former pool). From schedulers and units; never switches. Since 0.1. */
WEFT_API weft_status weft_pool_push(weft_pool *pool, weft_unit *unit) WEFT_NOTHROW;

/** Like weft_pool_push; a user's pool receives `operation`, a weft_pool_operation or any number
 * from 256 on. Since 0.2. */
WEFT_API weft_status weft_pool_push_with(weft_pool *pool, weft_unit *unit, uint64_t operation) WEFT_NOTHROW;

/** Like weft_pool_push, for `count` units, in their order; wakes at most as many streams. All units
 * are checked first: with any other status than WEFT_OK none has been pushed. Null handles are
 * refused. Since 0.2. */
WEFT_API weft_status weft_pool_push_many(weft_pool *pool, weft_unit *const *units, size_t count) WEFT_NOTHROW;

/** Like weft_pool_push_many; a user's pool receives `operation`, as with weft_pool_push_with. Since
 * 0.5. */
WEFT_API weft_status weft_pool_push_many_with(weft_pool *pool, weft_unit *const *units, size_t count,
                                              uint64_t operation) WEFT_NOTHROW;

/** Takes a ready unit out of a pool, to be passed to weft_sched_run_unit or back to weft_pool_push.
 *
 * unit  required; receives the unit, or NULL when nothing waits
 *
 * Since 0.5 any unit or thread may pop from a private pool that no stream draws from: the popped
 * unit may be run on any stream, and is handled by the rules of shared pools for the rest of its
 * life.
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_CONTEXT (the pool is private, and another stream draws
 * from it). From schedulers and units, and from OS threads that are not streams; never switches.
 * Since 0.1. */
WEFT_API weft_status weft_pool_pop(weft_pool *pool, weft_unit **unit) WEFT_NOTHROW;

/** Takes at most `capacity` ready units out of a pool, oldest or most urgent first, as the pool
 * orders them.
 *
 * units  required; receives the units
 * count  required; receives how many
 *
 * Returns the statuses of weft_pool_pop. From where weft_pool_pop may be called; never switches.
 * Since 0.2. */
WEFT_API weft_status weft_pool_pop_many(weft_pool *pool, weft_unit **units, size_t capacity,
                                        size_t *count) WEFT_NOTHROW;

/** Takes a ready unit out of a pool, and waits for one when there is none.
 *
 * unit  required; receives the unit, or NULL when the caller's stream has something else to do (see
 *       weft_sched_check_stop)
 *
 * The wait blocks the OS thread, and gives the hart of a stream back meanwhile. So only a
 * scheduler's `run` and OS threads that are not streams wait. In a unit, whose stream could run
 * other units, the call returns WEFT_WRONG_CONTEXT when the pool is empty, and so it does for a
 * private pool that the caller's stream does not draw from. Otherwise it returns the statuses of
 * weft_pool_pop. From where weft_pool_pop may be called; never switches. Since 0.2; until 0.6 it
 * had a timeout. */
WEFT_API weft_status weft_pool_pop_wait(weft_pool *pool, weft_unit **unit) WEFT_NOTHROW;

/** Like weft_pool_pop_wait, with a deadline: when it has passed, `unit` receives NULL. With a
 * deadline that has already passed the call does not wait. From where weft_pool_pop may be called;
 * never switches. Since 0.7. */
WEFT_API weft_status weft_pool_pop_wait_until(weft_pool *pool, uint64_t deadline_ns, weft_unit **unit) WEFT_NOTHROW;

/** Removes a ready unit from the middle of the pool that it waits in.
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (the unit does not wait there, or its push has
 * not completed yet), WEFT_UNSUPPORTED (no unit can be removed from the pool's middle: a deque,
 * another stream's private pool, a user's pool without `remove`). From where weft_pool_pop may be
 * called; never switches. Since 0.2. */
WEFT_API weft_status weft_pool_remove(weft_pool *pool, weft_unit *unit) WEFT_NOTHROW;

/** A pointer-sized slot in the unit that belongs to the pool as long as the pool holds the unit: a
 * user's pool links its units with it and never needs memory to push. Never null for a unit. From
 * the functions of a pool; never switches. Since 0.1. */
WEFT_API void **weft_unit_link(weft_unit *unit) WEFT_NOTHROW;

WEFT_END

#endif
