/* Pools: where ready units wait (Argobots, Seo et al., TPDS 2018, section III). A pool is a small
 * table of functions; some come with the library, others are yours. */
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
    /** as the settings say */
    WEFT_POOL_DEFAULT = 0,
    /** first in, first out; drawn from by one stream. No atomics on that stream; what other streams
     * and threads push comes by an inbox. Without a stream anybody may pop from it. With
     * WEFT_RESCUE=all (runtime.h) one without an access is WEFT_POOL_SHARED */
    WEFT_POOL_PRIVATE = 1,
    /** first in, first out, for any number of streams */
    WEFT_POOL_SHARED = 2,
    /** one stream's newest first; other streams steal the oldest (Chase and Lev 2005). Every 61st
     * pop takes the oldest, so that none waits for ever behind newer ones; where joiners call what
     * they wait for, the first such pop after a millisecond */
    WEFT_POOL_DEQUE = 3,
    /** made from a table by weft_pool_create_user */
    WEFT_POOL_USER = 4,
    /** last in, first out, for any number of streams; what yields goes behind all others */
    WEFT_POOL_LIFO = 5,
    /** the most urgent first (weft_unit_options.priority), first in, first out among equals, for
     * any number of streams. Every 61st pop takes from another level, each in its turn, so that
     * none waits for ever behind more urgent ones */
    WEFT_POOL_PRIORITY = 6,
    /** as WEFT_POOL_SHARED, for those who wait: a stream whose main pool it is sleeps as soon as
     * nothing is to be done, without looking round for a while (weft_settings.spin_ns) */
    WEFT_POOL_BLOCKING = 7
} weft_pool_kind;

/** Who may push to a pool and who may pop from it: a promise of the program's. A build that checks
 * stops the process when it is not kept. One producer is one stream, or one OS thread that is no
 * stream, for the life of the pool; a unit that yields or is resumed is pushed by the stream that
 * it left or was resumed on. One consumer is one at a time: a stream gives the part up when it
 * ceases to draw from the pool. Where one alone may push, a unit for which no stack can be had ends
 * at once with WEFT_NO_MEMORY, and does not wait in the pool for one to come free; a detached one
 * waits, and not in the pool (weft_unit_detach). */
typedef enum weft_pool_access {
    WEFT_POOL_ACCESS_DEFAULT = 0, /**< nothing is promised: as the kind of pool allows */
    WEFT_POOL_ACCESS_PRIVATE = 1, /**< one stream pushes and pops; first in, first out this is WEFT_POOL_PRIVATE */
    WEFT_POOL_ACCESS_SPSC = 2,    /**< one producer, one consumer */
    WEFT_POOL_ACCESS_MPSC = 3,    /**< any number of producers, one consumer */
    WEFT_POOL_ACCESS_SPMC = 4,    /**< one producer, any number of consumers */
    WEFT_POOL_ACCESS_MPMC = 5     /**< any number of either */
} weft_pool_access;

/** How a pool that comes with the library is to be. Zero means the default. */
typedef struct weft_pool_options {
    size_t size;             /**< sizeof(weft_pool_options) */
    weft_pool_kind kind;     /**< its kind, but for WEFT_POOL_USER */
    weft_pool_access access; /**< what is promised of its use */
} weft_pool_options;

/** Where a push comes from: the word that weft_pool_ops.push_with and push_many are told. Numbers
 * from 256 on are the program's (weft_pool_push_with). */
typedef enum weft_pool_operation {
    /** a program's weft_pool_push, or a unit that found no stack and tries again later */
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

/** A pool of one's own. `self` is what was given to weft_pool_create_user. The calls come from
 * inside the runtime, on schedulers' stacks and on units' stacks: they must not suspend or
 * throw. */
typedef struct weft_pool_ops {
    size_t size; /**< sizeof(weft_pool_ops) when the caller was compiled */
    /** Takes a ready unit in; cannot fail (link units with weft_unit_link to need no memory). From
     * any stream and any OS thread. */
    void (*push)(void *self, weft_unit *unit);
    /** Takes a ready unit out, or returns NULL when there is none. From any stream that draws from
     * it. */
    weft_unit *(*pop)(void *self);
    /** How many wait: a hint, stale as soon as it returns; but 0 only when a pop could return
     * NULL. */
    size_t (*length)(const void *self);
    /** Takes `unit` out of the middle for yield_to; returns 1, or 0 if it is not there. May be
     * NULL. */
    int (*remove)(void *self, weft_unit *unit);
    /** Called once when the pool is freed. May be NULL. */
    void (*destroy)(void *self);
    /** A unit begins to belong to the pool: it is spawned there, or comes from another pool; before
     * its first push. May be NULL, as all that follow. Since 0.2. */
    void (*attach)(void *self, weft_unit *unit);
    /** A unit that was attached belongs to the pool no more: it has ended, before anybody learns of
     * it, or goes to another pool. Not called for units that never end. Since 0.2. */
    void (*detach)(void *self, weft_unit *unit);
    /** Instead of push, when it is set: `operation` says where the unit comes from, a
     * weft_pool_operation or the word of weft_pool_push_with. Since 0.2. */
    void (*push_with)(void *self, weft_unit *unit, uint64_t operation);
    /** Instead of a push for each of `count` units, in their order. Since 0.2. */
    void (*push_many)(void *self, weft_unit *const *units, size_t count, uint64_t operation);
    /** Instead of a pop for each: takes at most `capacity` units out and returns how many. Since
     * 0.2. */
    size_t (*pop_many)(void *self, weft_unit **units, size_t capacity);
    /** Instead of the library's own waiting in weft_pool_pop_wait: a unit, or NULL at `deadline_ns`
     * (weft_now_ns) or earlier. It may block the OS thread. Since 0.2. */
    weft_unit *(*pop_wait)(void *self, uint64_t deadline_ns);
    /** Instead of attach, when it is set: asked before a unit begins to belong to the pool, while
     * it belongs to the one before still, if there is one. Returns 1, or 0 when the pool has no
     * memory for what it keeps of the unit: then the spawn, revival or push returns WEFT_NO_MEMORY
     * and nothing has happened, and a migration is dropped. What is asked for many units at once is
     * done for all or none; those that were admitted before a refusal are told by detach. It must
     * neither spawn nor free units. The branches of forks (parallel.h) that other streams take do
     * not go into a pool that has this, but into that stream's own; one whose own pool has it takes
     * none. Since 0.5. */
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

/** Creates one of the pools that come with the library, with a promise of who uses it.
 *
 * options  NULL for the defaults. Of kind WEFT_POOL_SHARED and access private it becomes a
 *          WEFT_POOL_PRIVATE; a WEFT_POOL_PRIVATE takes no access with several consumers
 * pool     required; receives the pool
 *
 * Returns as weft_pool_create. From any thread or unit; never switches. Since 0.2. */
WEFT_API weft_status weft_pool_create_with(const weft_pool_options *options, weft_pool **pool) WEFT_NOTHROW;

/** Creates a pool from a table.
 *
 * ops   required; push (or push_with), pop and length are; copied
 * self  given to each function
 * pool  required; receives the pool
 *
 * Returns WEFT_OK, WEFT_NO_MEMORY, WEFT_INVALID (a function is missing), WEFT_NOT_INITIALIZED. From
 * any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_pool_create_user(const weft_pool_ops *ops, void *self, weft_pool **pool) WEFT_NOTHROW;

/** Frees a pool. Returns WEFT_OK, WEFT_INVALID, WEFT_BUSY (a scheduler draws from it, or units wait
 * in it; nothing is changed), WEFT_NOT_INITIALIZED (it has gone with its runtime). Units that are
 * suspended and belong to the pool must not be resumed any more.
 * From any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_pool_free(weft_pool *pool) WEFT_NOTHROW;

/** How many units wait in the pool: a hint. Returns WEFT_OK or WEFT_INVALID. From any thread or
 * unit; never switches. Since 0.1. */
WEFT_API weft_status weft_pool_length_get(const weft_pool *pool, size_t *length) WEFT_NOTHROW;

/** What kind of pool it is. Returns WEFT_OK or WEFT_INVALID. From anywhere; never switches. Since
 * 0.1. */
WEFT_API weft_status weft_pool_kind_get(const weft_pool *pool, weft_pool_kind *kind) WEFT_NOTHROW;

/** What was promised of the pool's use. Returns WEFT_OK or WEFT_INVALID. From anywhere; never
 * switches. Since 0.2. */
WEFT_API weft_status weft_pool_access_get(const weft_pool *pool, weft_pool_access *access) WEFT_NOTHROW;

/** Gives the pool a pointer of the program's: what a runtime that embeds Weft knows of it. Not at
 * the same time as weft_pool_data_get. Returns WEFT_OK or WEFT_INVALID. From anywhere; never
 * switches. Since 0.5. */
WEFT_API weft_status weft_pool_data_set(weft_pool *pool, void *data) WEFT_NOTHROW;

/** What weft_pool_data_set has given the pool last, or NULL. Returns WEFT_OK or WEFT_INVALID. From
 * anywhere; never switches. Since 0.5. */
WEFT_API weft_status weft_pool_data_get(const weft_pool *pool, void **data) WEFT_NOTHROW;

/** Puts a unit that was popped back into a pool, which becomes its pool; wakes a stream that sleeps
 * for want of work. Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (the unit is not ready, or it
 * is bound to its stream, as the primary unit is unless it roams (weft_settings.roaming_primary),
 * and may not leave its pool), WEFT_WRONG_CONTEXT (it leaves a private pool, and the caller is not
 * on that pool's stream), or WEFT_NO_MEMORY (weft_pool_ops.admit; it is in no pool still, and
 * belongs to the one that it belonged to). From schedulers and units; never switches. Since 0.1. */
WEFT_API weft_status weft_pool_push(weft_pool *pool, weft_unit *unit) WEFT_NOTHROW;

/** As weft_pool_push; a pool of one's own is told `operation`, a weft_pool_operation or any number
 * from 256 on. Since 0.2. */
WEFT_API weft_status weft_pool_push_with(weft_pool *pool, weft_unit *unit, uint64_t operation) WEFT_NOTHROW;

/** As weft_pool_push of `count` units, in their order; wakes as many streams at most. All are
 * looked at first: with any other status than WEFT_OK none has been pushed. Null handles are
 * refused. Since 0.2. */
WEFT_API weft_status weft_pool_push_many(weft_pool *pool, weft_unit *const *units, size_t count) WEFT_NOTHROW;

/** As weft_pool_push_many; a pool of one's own is told `operation`, as by weft_pool_push_with.
 * Since 0.5. */
WEFT_API weft_status weft_pool_push_many_with(weft_pool *pool, weft_unit *const *units, size_t count,
                                              uint64_t operation) WEFT_NOTHROW;

/** Takes a ready unit out of a pool, to be given to weft_sched_run_unit or back to weft_pool_push.
 *
 * unit  required; receives the unit, or NULL when nothing waits
 *
 * From a private pool that no stream draws from anybody may pop, since 0.5: what comes out may be
 * run on any stream, and is handled by the rules of shared pools for the rest of its life.
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_CONTEXT (the pool is a private one, and another stream
 * draws from it). From schedulers and units, and from OS threads that are no streams; never
 * switches. Since 0.1. */
WEFT_API weft_status weft_pool_pop(weft_pool *pool, weft_unit **unit) WEFT_NOTHROW;

/** Takes at most `capacity` ready units out of a pool, oldest or most urgent first, as the pool has
 * it.
 *
 * units  required; receives the units
 * count  required; receives how many
 *
 * Returns as weft_pool_pop. From where weft_pool_pop may be called; never switches. Since 0.2. */
WEFT_API weft_status weft_pool_pop_many(weft_pool *pool, weft_unit **units, size_t capacity,
                                        size_t *count) WEFT_NOTHROW;

/** Takes a ready unit out of a pool, and waits for one when there is none.
 *
 * unit  required; receives the unit, or NULL when the caller's stream is wanted
 *       (weft_sched_check_stop tells)
 *
 * Waiting blocks the OS thread, and gives the hart of a stream back meanwhile. So only a
 * scheduler's `run` and OS threads that are no streams wait: in a unit, whose stream could run
 * others, it returns WEFT_WRONG_CONTEXT when nothing is there, and so it does of a private pool
 * that the caller's stream does not draw from. Returns as weft_pool_pop otherwise. From where
 * weft_pool_pop may be called; never switches. Since 0.2; until 0.6 it had a timeout. */
WEFT_API weft_status weft_pool_pop_wait(weft_pool *pool, weft_unit **unit) WEFT_NOTHROW;

/** As weft_pool_pop_wait, with a deadline: when it has passed, `unit` receives NULL. With one that
 * has passed already it does not wait. From where weft_pool_pop may be called; never switches.
 * Since 0.7. */
WEFT_API weft_status weft_pool_pop_wait_until(weft_pool *pool, uint64_t deadline_ns, weft_unit **unit) WEFT_NOTHROW;

/** Takes one ready unit out of the middle of the pool that it waits in.
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (it does not wait there, or so newly that its
 * pusher is not done), WEFT_UNSUPPORTED (the pool gives no unit out of its middle: a deque, another
 * stream's private one, one of the program's without remove). From where weft_pool_pop may be
 * called; never switches. Since 0.2. */
WEFT_API weft_status weft_pool_remove(weft_pool *pool, weft_unit *unit) WEFT_NOTHROW;

/** A pointer-sized slot in the unit that belongs to the pool as long as the pool holds the unit: a
 * pool of one's own links its units with it and never needs memory to push. Never null for a unit.
 * From the functions of a pool; never switches. Since 0.1. */
WEFT_API void **weft_unit_link(weft_unit *unit) WEFT_NOTHROW;

WEFT_END

#endif
