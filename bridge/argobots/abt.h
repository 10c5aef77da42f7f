/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The interface of Argobots 1.2, on Weft. A program written for Argobots is compiled with this
 * header and linked with libabt, or only loaded with libabt. See doc/argobots.md. This header
 * compiles as C11 and as C++, and includes no header of Weft.
 *
 * Terms: an execution stream (`xstream`, ES) runs work units on one OS thread. A work unit is a ULT
 * (`thread`), which can yield and wait, or a tasklet (`task`), which runs to its end. Ready work
 * units wait in pools; a scheduler (`sched`) draws from its pools. An OS thread that is not an
 * execution stream is called external. The primary ULT is the OS thread that called ABT_init.
 *
 * These conventions hold throughout; the comments of the calls do not repeat them:
 *  1. A call returns ABT_SUCCESS or one of the errors ABT_ERR_x.
 *  2. A handle that is ABT_x_NULL gives ABT_ERR_INV_x unless the comment says otherwise; so does
 *     the address of such a handle in a call that frees. A C null pointer is treated like
 *     ABT_x_NULL. Every call treats THREAD_NULL and TASK_NULL alike.
 *  3. A call that creates or starts something may return ABT_ERR_MEM (no memory) or ABT_ERR_SYS
 *     (the system refused). The call has then changed nothing and may be repeated.
 *  4. Results are written through pointers, and only on success, except where a comment says
 *     "X_NULL on error".
 *  5. "External: ERR_x", "tasklet: ERR_x", "not initialized: ERR_x": called from an external
 *     thread, from a tasklet, or outside ABT_init and ABT_finalize, the call returns this error.
 *     What a comment does not exclude is allowed: ULTs, tasklets and external threads may make the
 *     call, between ABT_init and ABT_finalize.
 *  6. A call does not switch to another work unit unless its comment says so.
 *  7. Concurrent calls are allowed on different objects, and on one object too, with these
 *     exceptions: attributes, configurations and definitions; freeing an object during any other
 *     use of it; set_data; pools of access PRIV. */
#ifndef ABT_H_INCLUDED
#define ABT_H_INCLUDED

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version --------------------------------------------------------------------------------- */

#define ABT_RELEASE_TYPE_ALPHA 0 /**< a version that is not yet complete */
#define ABT_RELEASE_TYPE_BETA 1  /**< a version for trial */
#define ABT_RELEASE_TYPE_RC 2    /**< a release candidate */
#define ABT_RELEASE_TYPE_PATCH 3 /**< a release, or a later fix of it */

/** The number of a version; a later version has a larger number. */
#define ABT_CALC_VERSION(MAJOR, MINOR, REVISION, TYPE, PATCH) \
    ((MAJOR)*10000000 + (MINOR)*100000 + (REVISION)*1000 + (TYPE)*100 + (PATCH))

#define ABT_VERSION "1.2" /**< the Argobots version of this interface */
#define ABT_NUMVERSION ABT_CALC_VERSION(1, 2, 0, ABT_RELEASE_TYPE_PATCH, 0) /**< its number: 10200300 */

#define ABT_API_PUBLIC __attribute__((visibility("default"))) /**< what libabt exports */
#define ABT_DEPRECATED __attribute__((deprecated))            /**< new programs should not call it */

/* ---- errors ---------------------------------------------------------------------------------- */

#define ABT_SUCCESS 0           /**< the call succeeded */
#define ABT_ERR_UNINITIALIZED 1 /**< not between ABT_init and ABT_finalize */
#define ABT_ERR_MEM 2           /**< no memory */
#define ABT_ERR_OTHER 3         /**< an error without a code of its own */
#define ABT_ERR_INV_XSTREAM 4   /**< no such execution stream, or not one for this call; or the caller runs on none */
#define ABT_ERR_INV_XSTREAM_RANK 5    /**< the rank is negative or taken */
#define ABT_ERR_INV_XSTREAM_BARRIER 6 /**< no such barrier of execution streams */
#define ABT_ERR_INV_SCHED 7           /**< no such scheduler, or it is already in use */
#define ABT_ERR_INV_SCHED_KIND 8      /**< no such kind of scheduler */
#define ABT_ERR_INV_SCHED_PREDEF 9    /**< the library provides no such scheduler */
#define ABT_ERR_INV_SCHED_TYPE 10     /**< no such type of scheduler */
#define ABT_ERR_INV_SCHED_CONFIG 11   /**< no such configuration of schedulers */
#define ABT_ERR_INV_POOL 12           /**< no such pool */
#define ABT_ERR_INV_POOL_KIND 13      /**< no such kind of pool */
#define ABT_ERR_INV_POOL_ACCESS 14    /**< no such access mode of pools */
#define ABT_ERR_INV_UNIT 15           /**< no such unit */
#define ABT_ERR_INV_THREAD 16         /**< no such work unit, or unfit for this call; or the caller is not a ULT */
#define ABT_ERR_INV_THREAD_ATTR 17    /**< no such attribute of ULTs */
#define ABT_ERR_INV_TASK 18           /**< no tasklet */
#define ABT_ERR_INV_KEY 19            /**< no such key */
#define ABT_ERR_INV_MUTEX 20          /**< no such mutex, or not the mutex of the condition's waiters */
#define ABT_ERR_INV_MUTEX_ATTR 21     /**< no such attribute of mutexes */
#define ABT_ERR_INV_COND 22           /**< no such condition variable */
#define ABT_ERR_INV_RWLOCK 23         /**< no such read-write lock */
#define ABT_ERR_INV_EVENTUAL 24       /**< no such eventual, or the value has more bytes than it holds */
#define ABT_ERR_INV_FUTURE 25         /**< no such future */
#define ABT_ERR_INV_BARRIER 26        /**< no such barrier */
#define ABT_ERR_INV_TIMER 27          /**< no such timer */
#define ABT_ERR_INV_QUERY_KIND 28     /**< no such query kind of ABT_info_query_config */
#define ABT_ERR_XSTREAM 29            /**< an error of an execution stream */
#define ABT_ERR_XSTREAM_STATE 30      /**< the execution stream's state does not allow it */
#define ABT_ERR_XSTREAM_BARRIER 31    /**< an error of a barrier of execution streams */
#define ABT_ERR_SCHED 32              /**< the scheduler is in use, or does not have such pools */
#define ABT_ERR_SCHED_CONFIG 33       /**< an error of a configuration of schedulers */
#define ABT_ERR_POOL 34               /**< the pool does not support the operation */
#define ABT_ERR_UNIT 35               /**< the pool could not create a unit */
#define ABT_ERR_THREAD 36             /**< the ULT is not suspended */
#define ABT_ERR_TASK 37               /**< an error of a tasklet */
#define ABT_ERR_KEY 38                /**< an error of a key */
#define ABT_ERR_MUTEX 39              /**< an error of a mutex */
#define ABT_ERR_MUTEX_LOCKED 40       /**< another holder has the mutex */
#define ABT_ERR_COND 41               /**< the condition has waiters, or the caller cannot wait */
#define ABT_ERR_COND_TIMEDOUT 42      /**< the deadline expired first */
#define ABT_ERR_RWLOCK 43             /**< the caller cannot wait for the lock */
#define ABT_ERR_EVENTUAL 44           /**< the eventual is already set, or the caller cannot wait for it */
#define ABT_ERR_FUTURE 45             /**< the future is already ready, or the caller cannot wait for it */
#define ABT_ERR_BARRIER 46            /**< the caller cannot wait at the barrier */
#define ABT_ERR_TIMER 47              /**< an error of a timer */
#define ABT_ERR_MIGRATION_TARGET 48   /**< the work unit is already there */
#define ABT_ERR_MIGRATION_NA 49       /**< there is nowhere to migrate to */
#define ABT_ERR_MISSING_JOIN 50       /**< something was not joined */
#define ABT_ERR_FEATURE_NA 51         /**< the library was built without it, or the system lacks it */
#define ABT_ERR_INV_TOOL_CONTEXT 52   /**< no such context of a tool */
#define ABT_ERR_INV_ARG 53            /**< an argument is out of range */
#define ABT_ERR_SYS 54                /**< the system refused */
#define ABT_ERR_CPUID 55              /**< no such CPU */
#define ABT_ERR_INV_POOL_CONFIG 56    /**< no such configuration of pools */
#define ABT_ERR_INV_POOL_USER_DEF 57  /**< no such definition of a pool */

/* ---- handles --------------------------------------------------------------------------------- */

/** True or false: ABT_TRUE or ABT_FALSE. */
typedef int ABT_bool;
#define ABT_TRUE 1  /**< true */
#define ABT_FALSE 0 /**< false */

/** An execution stream: an OS thread with a main scheduler. */
typedef struct ABT_xstream_opaque *ABT_xstream;
/** A barrier at which OS threads wait. */
typedef struct ABT_xstream_barrier_opaque *ABT_xstream_barrier;
/** A scheduler. */
typedef struct ABT_sched_opaque *ABT_sched;
/** Typed values that a scheduler is configured with. */
typedef struct ABT_sched_config_opaque *ABT_sched_config;
/** Where ready work units wait. */
typedef struct ABT_pool_opaque *ABT_pool;
/** Typed values that a pool is configured with. */
typedef struct ABT_pool_config_opaque *ABT_pool_config;
/** The functions that make up a user-defined pool: created by ABT_pool_user_def_create, or the
 * address of an ABT_pool_def. */
typedef struct ABT_pool_def *ABT_pool_user_def;
/** A work unit as its pool represents it. */
typedef struct ABT_unit_opaque *ABT_unit;
/** A work unit: a ULT or a tasklet. */
typedef struct ABT_thread_opaque *ABT_thread;
/** The attributes that a ULT is created with. */
typedef struct ABT_thread_attr_opaque *ABT_thread_attr;
/** A work unit that is meant to be a tasklet; the same type as ABT_thread. */
typedef struct ABT_thread_opaque *ABT_task;
/** A key under which each work unit has its own value. */
typedef struct ABT_key_opaque *ABT_key;
/** A lock. */
typedef struct ABT_mutex_opaque *ABT_mutex;
/** The attributes that a mutex is created with. */
typedef struct ABT_mutex_attr_opaque *ABT_mutex_attr;
/** A condition variable. */
typedef struct ABT_cond_opaque *ABT_cond;
/** A lock for several readers or one writer. */
typedef struct ABT_rwlock_opaque *ABT_rwlock;
/** An event that occurs once and carries some bytes. */
typedef struct ABT_eventual_opaque *ABT_eventual;
/** Several pointers that will be set later. */
typedef struct ABT_future_opaque *ABT_future;
/** A barrier at which work units wait. */
typedef struct ABT_barrier_opaque *ABT_barrier;
/** A stopwatch. */
typedef struct ABT_timer_opaque *ABT_timer;
/** What a tool queries about an event that it was notified of. */
typedef struct ABT_tool_context_opaque *ABT_tool_context;

#define ABT_XSTREAM_NULL ((ABT_xstream)(0x01))                 /**< no execution stream */
#define ABT_XSTREAM_BARRIER_NULL ((ABT_xstream_barrier)(0x02)) /**< no barrier of execution streams */
#define ABT_SCHED_NULL ((ABT_sched)(0x03))                     /**< no scheduler */
#define ABT_SCHED_CONFIG_NULL ((ABT_sched_config)(0x04))       /**< no configuration of a scheduler */
#define ABT_POOL_NULL ((ABT_pool)(0x05))                       /**< no pool */
#define ABT_POOL_CONFIG_NULL ((ABT_pool_config)(0x06))         /**< no configuration of a pool */
#define ABT_UNIT_NULL ((ABT_unit)(0x07))                       /**< no unit */
#define ABT_THREAD_NULL ((ABT_thread)(0x08))                   /**< no work unit */
#define ABT_THREAD_ATTR_NULL ((ABT_thread_attr)(0x09))         /**< no attribute: the defaults */
#define ABT_TASK_NULL ((ABT_task)(0x0a))                       /**< no tasklet */
#define ABT_KEY_NULL ((ABT_key)(0x0b))                         /**< no key */
#define ABT_MUTEX_NULL ((ABT_mutex)(0x0c))                     /**< no mutex */
#define ABT_MUTEX_ATTR_NULL ((ABT_mutex_attr)(0x0d))           /**< no attribute: the defaults */
#define ABT_COND_NULL ((ABT_cond)(0x0e))                       /**< no condition variable */
#define ABT_RWLOCK_NULL ((ABT_rwlock)(0x0f))                   /**< no read-write lock */
#define ABT_EVENTUAL_NULL ((ABT_eventual)(0x10))               /**< no eventual */
#define ABT_FUTURE_NULL ((ABT_future)(0x11))                   /**< no future */
#define ABT_BARRIER_NULL ((ABT_barrier)(0x12))                 /**< no barrier */
#define ABT_TIMER_NULL ((ABT_timer)(0x13))                     /**< no timer */
#define ABT_TOOL_CONTEXT_NULL ((ABT_tool_context)(0x14))       /**< no context of a tool */
#define ABT_POOL_USER_DEF_NULL ((ABT_pool_user_def)(0x15))     /**< no definition of a pool */

/** The number of a work unit, counted from 0 after each ABT_init. */
typedef uint64_t ABT_unit_id;
/** The number of a work unit, like ABT_unit_id. */
typedef uint64_t ABT_thread_id;

/* ---- starting and ending --------------------------------------------------------------------- */

/** Starts the library: the caller becomes the primary ULT on the primary execution stream. Calls
 * may nest, also from several threads at once: only the first one starts the library and reads the
 * environment (ABT_ and ABT_ENV_), but each needs its own ABT_finalize. Both arguments are ignored.
 * From anywhere; may switch. */
ABT_API_PUBLIC int ABT_init(int argc, char **argv);

/** Undoes one ABT_init. The last ABT_finalize runs the ready work units in the primary execution
 * stream's pools, then frees that stream, its main scheduler, and all pools of that scheduler,
 * automatic or not. ERR_UNINITIALIZED; the last one, by an external thread: ERR_INV_XSTREAM; by any
 * work unit but the primary ULT: ERR_INV_THREAD. May switch. */
ABT_API_PUBLIC int ABT_finalize(void);

/** ABT_SUCCESS while the library is initialized, else ERR_UNINITIALIZED. From anywhere and at any
 * time, signal handlers included. */
ABT_API_PUBLIC int ABT_initialized(void);

/* ---- execution streams ----------------------------------------------------------------------- */

/** The state of an execution stream. */
typedef enum ABT_xstream_state {
    ABT_XSTREAM_STATE_RUNNING,   /**< runs its main scheduler */
    ABT_XSTREAM_STATE_TERMINATED /**< has ended; can be revived or freed */
} ABT_xstream_state;

/** The schedulers that the library provides. */
typedef enum ABT_sched_predef {
    ABT_SCHED_DEFAULT,   /**< ABT_SCHED_BASIC */
    ABT_SCHED_BASIC,     /**< runs from the first non-empty pool, in the order of the pools */
    ABT_SCHED_PRIO,      /**< ABT_SCHED_BASIC with pools as priority levels; makes three */
    ABT_SCHED_RANDWS,    /**< its first pool, and when that is empty a random other pool */
    ABT_SCHED_BASIC_WAIT /**< ABT_SCHED_BASIC, but sleeps in the first pool when all are empty */
} ABT_sched_predef;

#define ABT_XSTREAM_ANY_RANK -1 /**< the smallest free rank */

/** Creates an execution stream with the smallest free rank; it starts at once. `sched` becomes its
 * main scheduler; SCHED_NULL: a default scheduler with one pool (FIFO, MPMC). A scheduler in use:
 * ERR_INV_SCHED. XSTREAM_NULL on error. */
ABT_API_PUBLIC int ABT_xstream_create(ABT_sched sched, ABT_xstream *newxstream);

/** Like ABT_xstream_create, with a new scheduler that is made as by ABT_sched_create_basic: same
 * arguments, same errors. On failure the caller's pools are kept. XSTREAM_NULL on error. */
ABT_API_PUBLIC int ABT_xstream_create_basic(ABT_sched_predef predef, int num_pools, ABT_pool *pools,
                                            ABT_sched_config config, ABT_xstream *newxstream);

/** Like ABT_xstream_create, with this rank. A rank that is taken or negative: ERR_INV_XSTREAM_RANK.
 * XSTREAM_NULL on error. */
ABT_API_PUBLIC int ABT_xstream_create_with_rank(ABT_sched sched, int rank, ABT_xstream *newxstream);

/** Joins the execution stream and frees it, with its scheduler and pools if these are automatic;
 * sets the handle to XSTREAM_NULL. The primary execution stream, or the caller's own:
 * ERR_INV_XSTREAM. May switch. */
ABT_API_PUBLIC int ABT_xstream_free(ABT_xstream *xstream);

/** Asks the main scheduler to end when its pools are empty, and waits until the OS thread has
 * ended. A blocked ULT keeps the scheduler running if no other scheduler draws from the ULT's pool.
 * The primary execution stream, or the caller's own: ERR_INV_XSTREAM. May switch. */
ABT_API_PUBLIC int ABT_xstream_join(ABT_xstream xstream);

/** Restarts a terminated execution stream with the same main scheduler. Not terminated:
 * ERR_INV_XSTREAM. May switch. */
ABT_API_PUBLIC int ABT_xstream_revive(ABT_xstream xstream);

/** Ends the caller and its execution stream, even if work units are left in the pools. Does not
 * return on success. On the primary execution stream: ERR_INV_XSTREAM; external: ERR_INV_XSTREAM;
 * tasklet, primary ULT: ERR_INV_THREAD; not initialized: ERR_UNINITIALIZED. Switches. */
ABT_API_PUBLIC int ABT_xstream_exit(void);

/** Asks the execution stream to end, even if work units are left in the pools; it ends when its
 * scheduler next checks for events. The primary execution stream: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_xstream_cancel(ABT_xstream xstream);

/** The execution stream that the caller runs on. Superseded by ABT_self_get_xstream. External:
 * ERR_INV_XSTREAM; not initialized: ERR_UNINITIALIZED; XSTREAM_NULL on error. */
ABT_API_PUBLIC int ABT_xstream_self(ABT_xstream *xstream);

/** The rank of the caller's execution stream. Superseded by ABT_self_get_xstream_rank. External:
 * ERR_INV_XSTREAM; not initialized: ERR_UNINITIALIZED. */
ABT_API_PUBLIC int ABT_xstream_self_rank(int *rank);

/** Changes the rank of an execution stream. A rank that is taken or negative: ERR_INV_XSTREAM_RANK;
 * the primary execution stream: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_xstream_set_rank(ABT_xstream xstream, int rank);

/** The execution stream's rank: a unique number, from 0 on. */
ABT_API_PUBLIC int ABT_xstream_get_rank(ABT_xstream xstream, int *rank);

/** Replaces the main scheduler of the execution stream that the caller runs on, or of one that has
 * terminated; of any other: ERR_XSTREAM_STATE. The caller waits until the old scheduler has ended:
 * its has_to_stop asks it to as soon as its pools are empty. The old scheduler is freed if
 * automatic. A caller whose pool was one of the old scheduler's pools then belongs to the new
 * scheduler's first pool. SCHED_NULL: a default scheduler. A scheduler in use: ERR_INV_SCHED.
 * External: ERR_INV_XSTREAM; tasklet: ERR_INV_THREAD. Switches. */
ABT_API_PUBLIC int ABT_xstream_set_main_sched(ABT_xstream xstream, ABT_sched sched);

/** Like ABT_xstream_set_main_sched, with a new scheduler that is made as by ABT_sched_create_basic:
 * same arguments, same errors. External: ERR_INV_XSTREAM; tasklet: ERR_INV_THREAD. Switches. */
ABT_API_PUBLIC int ABT_xstream_set_main_sched_basic(ABT_xstream xstream, ABT_sched_predef predef, int num_pools,
                                                    ABT_pool *pools);

/** The execution stream's main scheduler. */
ABT_API_PUBLIC int ABT_xstream_get_main_sched(ABT_xstream xstream, ABT_sched *sched);

/** The first pools of the main scheduler, at most `max_pools` of them. Negative: ERR_INV_ARG. */
ABT_API_PUBLIC int ABT_xstream_get_main_pools(ABT_xstream xstream, int max_pools, ABT_pool *pools);

/** Whether the execution stream runs or has terminated. */
ABT_API_PUBLIC int ABT_xstream_get_state(ABT_xstream xstream, ABT_xstream_state *state);

/** Whether both handles name the same execution stream; they may be XSTREAM_NULL. From anywhere. */
ABT_API_PUBLIC int ABT_xstream_equal(ABT_xstream xstream1, ABT_xstream xstream2, ABT_bool *result);

/** The number of execution streams, the primary one included. Not initialized: ERR_UNINITIALIZED,
 * and 0. */
ABT_API_PUBLIC int ABT_xstream_get_num(int *num_xstreams);

/** Whether this is the primary execution stream. */
ABT_API_PUBLIC int ABT_xstream_is_primary(ABT_xstream xstream, ABT_bool *is_primary);

/** Runs a unit that the caller has popped, as ABT_self_schedule does. Superseded by
 * ABT_self_schedule. The unit then belongs to `pool`, and its handle may change. External:
 * ERR_INV_XSTREAM; tasklet: ERR_INV_THREAD; the error of the pool's create_unit. Switches. */
ABT_API_PUBLIC int ABT_xstream_run_unit(ABT_unit unit, ABT_pool pool);

/** Serves pending requests to the execution stream (join, cancel, stack dump). A user-defined
 * scheduler must call it from time to time, for itself: otherwise ERR_INV_THREAD. External:
 * ERR_INV_XSTREAM; not initialized: ERR_UNINITIALIZED. May switch. */
ABT_API_PUBLIC int ABT_xstream_check_events(ABT_sched sched);

/** Binds the execution stream's OS thread to one CPU. No such CPU: ERR_CPUID; the system cannot:
 * ERR_FEATURE_NA, ERR_SYS. May switch. */
ABT_API_PUBLIC int ABT_xstream_set_cpubind(ABT_xstream xstream, int cpuid);

/** The first CPU that the execution stream's OS thread may run on, also if the thread was never
 * bound. Terminated: ERR_INV_XSTREAM. ERR_SYS. */
ABT_API_PUBLIC int ABT_xstream_get_cpubind(ABT_xstream xstream, int *cpuid);

/** Binds the execution stream's OS thread to several CPUs; none: to all. Negative number:
 * ERR_INV_ARG; no such CPU: ERR_CPUID; the system cannot: ERR_FEATURE_NA, ERR_SYS. May switch. */
ABT_API_PUBLIC int ABT_xstream_set_affinity(ABT_xstream xstream, int num_cpuids, int *cpuids);

/** The CPUs that the execution stream's OS thread may run on, at most `max_cpuids` of them, and
 * their number; either may be NULL. If the thread was never bound: the process's CPUs. Negative:
 * ERR_INV_ARG; terminated: ERR_INV_XSTREAM. ERR_SYS. */
ABT_API_PUBLIC int ABT_xstream_get_affinity(ABT_xstream xstream, int max_cpuids, int *cpuids, int *num_cpuids);

/* ---- barriers of execution streams ----------------------------------------------------------- */

/** Creates a barrier for `num_waiters` OS threads; 0: ERR_INV_ARG. XSTREAM_BARRIER_NULL on
 * error. */
ABT_API_PUBLIC int ABT_xstream_barrier_create(uint32_t num_waiters, ABT_xstream_barrier *newbarrier);

/** Frees the barrier and sets the handle to XSTREAM_BARRIER_NULL. */
ABT_API_PUBLIC int ABT_xstream_barrier_free(ABT_xstream_barrier *barrier);

/** Waits until all waiters have arrived. Whatever the caller is, its OS thread sleeps, and none of
 * that thread's work units run meanwhile. */
ABT_API_PUBLIC int ABT_xstream_barrier_wait(ABT_xstream_barrier barrier);

/* ---- schedulers ------------------------------------------------------------------------------ */

/** The state of a scheduler. */
typedef enum ABT_sched_state {
    ABT_SCHED_STATE_READY,     /**< has not begun */
    ABT_SCHED_STATE_RUNNING,   /**< runs */
    ABT_SCHED_STATE_STOPPED,   /**< has been stopped */
    ABT_SCHED_STATE_TERMINATED /**< has ended */
} ABT_sched_state;

/** The type of work unit that a scheduler runs as. */
typedef enum ABT_sched_type {
    ABT_SCHED_TYPE_ULT, /**< a ULT */
    ABT_SCHED_TYPE_TASK /**< a tasklet */
} ABT_sched_type;

/** Initializes a scheduler. ABT_sched_create returns any result other than ABT_SUCCESS. */
typedef int (*ABT_sched_init_fn)(ABT_sched sched, ABT_sched_config config);
/** Draws work units from the pools and runs them until ABT_sched_has_to_stop says to stop. */
typedef void (*ABT_sched_run_fn)(ABT_sched sched);
/** Finalizes a scheduler. */
typedef int (*ABT_sched_free_fn)(ABT_sched sched);
/** The pool for a work unit that migrates to this scheduler. */
typedef ABT_pool (*ABT_sched_get_migr_pool_fn)(ABT_sched sched);

/** The definition of a user-defined scheduler. The library copies it. */
typedef struct ABT_sched_def {
    ABT_sched_type type;                      /**< ABT_SCHED_TYPE_ULT */
    ABT_sched_init_fn init;                   /**< NULL, or called when it is created */
    ABT_sched_run_fn run;                     /**< required: called as its own ULT */
    ABT_sched_free_fn free;                   /**< NULL, or called when it is freed */
    ABT_sched_get_migr_pool_fn get_migr_pool; /**< NULL: the first pool */
} ABT_sched_def;

/** Creates a scheduler from a definition. Entries of `pools` that are POOL_NULL are replaced by new
 * pools; a negative number: ERR_INV_ARG. The scheduler is not automatic unless `config` says so.
 * Returns what the definition's init returns. SCHED_NULL on error. */
ABT_API_PUBLIC int ABT_sched_create(ABT_sched_def *def, int num_pools, ABT_pool *pools, ABT_sched_config config,
                                    ABT_sched *newsched);

/** Creates one of the schedulers that the library provides. `pools` NULL: the library makes as many
 * pools as the scheduler needs; it also makes a pool for each entry that is POOL_NULL. The
 * scheduler is automatic unless `config` says otherwise: it is freed with its execution stream. A
 * negative number: ERR_INV_ARG; no such scheduler: ERR_INV_SCHED_PREDEF. SCHED_NULL on error. */
ABT_API_PUBLIC int ABT_sched_create_basic(ABT_sched_predef predef, int num_pools, ABT_pool *pools,
                                          ABT_sched_config config, ABT_sched *newsched);

/** Frees a scheduler, and those of its pools that are automatic and used by no other scheduler;
 * sets the handle to SCHED_NULL. In use: ERR_SCHED. */
ABT_API_PUBLIC int ABT_sched_free(ABT_sched *sched);

/** Stores a pointer of the program in the scheduler. */
ABT_API_PUBLIC int ABT_sched_set_data(ABT_sched sched, void *data);

/** The pointer that ABT_sched_set_data stored. */
ABT_API_PUBLIC int ABT_sched_get_data(ABT_sched sched, void **data);

/** The scheduler's number of pools. */
ABT_API_PUBLIC int ABT_sched_get_num_pools(ABT_sched sched, int *num_pools);

/** `max_pools` of the scheduler's pools, from number `idx` on. Negative arguments: ERR_INV_ARG;
 * more pools than it has: ERR_SCHED. */
ABT_API_PUBLIC int ABT_sched_get_pools(ABT_sched sched, int max_pools, int idx, ABT_pool *pools);

/** The number of ready work units in the scheduler's pools. A pool that cannot count them:
 * ERR_POOL. 0 on error. */
ABT_API_PUBLIC int ABT_sched_get_size(ABT_sched sched, size_t *size);

/** ABT_sched_get_size plus the number of suspended work units that belong to the scheduler's pools.
 * A pool that cannot count its units: ERR_POOL. 0 on error. */
ABT_API_PUBLIC int ABT_sched_get_total_size(ABT_sched sched, size_t *size);

/** Asks the scheduler to end when its pools are empty. */
ABT_API_PUBLIC int ABT_sched_finish(ABT_sched sched);

/** Asks the scheduler to end even if work units are left in its pools. */
ABT_API_PUBLIC int ABT_sched_exit(ABT_sched sched);

/** Whether the scheduler must end now; called by its run function. External: ERR_INV_XSTREAM, and
 * ABT_FALSE. May switch. */
ABT_API_PUBLIC int ABT_sched_has_to_stop(ABT_sched sched, ABT_bool *stop);

/* ---- configurations of schedulers ------------------------------------------------------------ */

/** The type of a value. */
typedef enum ABT_sched_config_type {
    ABT_SCHED_CONFIG_INT,    /**< int */
    ABT_SCHED_CONFIG_DOUBLE, /**< double */
    ABT_SCHED_CONFIG_PTR     /**< void* */
} ABT_sched_config_type;

/** The number of a value and its type. */
typedef struct ABT_sched_config_var {
    int idx;                    /**< its number; the program's numbers begin with 0 */
    ABT_sched_config_type type; /**< its type */
} ABT_sched_config_var;

extern ABT_API_PUBLIC ABT_sched_config_var
    ABT_sched_config_var_end; /**< ends the arguments of ABT_sched_config_create */
extern ABT_API_PUBLIC ABT_sched_config_var
    ABT_sched_config_access; /**< access of the pools that the library makes for the scheduler: ABT_pool_access */
extern ABT_API_PUBLIC ABT_sched_config_var
    ABT_sched_config_automatic; /**< whether the library frees the scheduler: ABT_bool */
extern ABT_API_PUBLIC ABT_sched_config_var
    ABT_sched_basic_freq; /**< how many work units it runs between two checks for events: int */

/** Creates a configuration from pairs of an ABT_sched_config_var and a value of its type, ended by
 * ABT_sched_config_var_end. No such type: ERR_INV_ARG. */
ABT_API_PUBLIC int ABT_sched_config_create(ABT_sched_config *config, ...);

/** Reads the values 0 to num_vars-1 into variables of their types, whose addresses follow. NULL
 * skips a value; the variable of a value that is not set keeps its content. A negative number:
 * ERR_INV_ARG. */
ABT_API_PUBLIC int ABT_sched_config_read(ABT_sched_config config, int num_vars, ...);

/** Frees the configuration and sets the handle to SCHED_CONFIG_NULL. */
ABT_API_PUBLIC int ABT_sched_config_free(ABT_sched_config *config);

/** Sets one value, whose address is `val`; NULL removes the value. No such type: ERR_INV_ARG. */
ABT_API_PUBLIC int ABT_sched_config_set(ABT_sched_config config, int idx, ABT_sched_config_type type, const void *val);

/** Reads one value and its type, each of which may be NULL. Not set: ERR_INV_ARG. */
ABT_API_PUBLIC int ABT_sched_config_get(ABT_sched_config config, int idx, ABT_sched_config_type *p_type, void *val);

/* ---- pools ----------------------------------------------------------------------------------- */

/** The pools that the library provides. */
typedef enum ABT_pool_kind {
    ABT_POOL_FIFO,      /**< first in, first out */
    ABT_POOL_FIFO_WAIT, /**< ABT_POOL_FIFO in which schedulers can sleep */
    ABT_POOL_RANDWS     /**< its scheduler gets the newest first, thieves the oldest */
} ABT_pool_kind;

/** How many execution streams push to a pool and how many pop from it. */
typedef enum ABT_pool_access {
    ABT_POOL_ACCESS_PRIV, /**< one pushes and pops */
    ABT_POOL_ACCESS_SPSC, /**< one pushes, one pops */
    ABT_POOL_ACCESS_MPSC, /**< several push, one pops */
    ABT_POOL_ACCESS_SPMC, /**< one pushes, several pop */
    ABT_POOL_ACCESS_MPMC  /**< several push, several pop */
} ABT_pool_access;

/** The type of a unit, or of a caller. */
typedef enum ABT_unit_type {
    ABT_UNIT_TYPE_THREAD,  /**< a ULT */
    ABT_UNIT_TYPE_TASK,    /**< a tasklet */
    ABT_UNIT_TYPE_XSTREAM, /**< an execution stream */
    ABT_UNIT_TYPE_EXT      /**< an external thread */
} ABT_unit_type;

/** Why a unit is pushed or popped, and by which party: the sum of one bit of each group, or
 * none. */
typedef uint64_t ABT_pool_context;
#define ABT_POOL_CONTEXT_PRIO_DEFAULT ((ABT_pool_context)0x0)    /**< as urgent as any other */
#define ABT_POOL_CONTEXT_PRIO_HIGH ((ABT_pool_context)0x1)       /**< more urgent than others */
#define ABT_POOL_CONTEXT_PRIO_LOW ((ABT_pool_context)0x2)        /**< less urgent than others */
#define ABT_POOL_CONTEXT_OWNER_OTHER ((ABT_pool_context)0x0)     /**< not popped by a scheduler */
#define ABT_POOL_CONTEXT_OWNER_PRIMARY ((ABT_pool_context)0x100) /**< popped by a scheduler whose first pool it is */
#define ABT_POOL_CONTEXT_OWNER_SECONDARY \
    ((ABT_pool_context)0x200)                                  /**< popped by a scheduler whose first pool is another */
#define ABT_POOL_CONTEXT_OP_POOL_OTHER ((ABT_pool_context)0x0) /**< pushed by the program */
#define ABT_POOL_CONTEXT_OP_THREAD_CREATE ((ABT_pool_context)0x1000) /**< a new work unit */
#define ABT_POOL_CONTEXT_OP_THREAD_CREATE_TO \
    ((ABT_pool_context)0x2000) /**< a ULT that switches to one that it has created */
#define ABT_POOL_CONTEXT_OP_THREAD_REVIVE ((ABT_pool_context)0x4000) /**< a work unit that was revived */
#define ABT_POOL_CONTEXT_OP_THREAD_REVIVE_TO \
    ((ABT_pool_context)0x8000) /**< a ULT that switches to one that it has revived */
#define ABT_POOL_CONTEXT_OP_THREAD_YIELD ((ABT_pool_context)0x10000)    /**< a ULT that yields */
#define ABT_POOL_CONTEXT_OP_THREAD_YIELD_TO ((ABT_pool_context)0x20000) /**< a ULT that yields to another */
#define ABT_POOL_CONTEXT_OP_THREAD_RESUME_YIELD_TO \
    ((ABT_pool_context)0x40000) /**< a ULT that yields to a ULT that it resumes */
#define ABT_POOL_CONTEXT_OP_THREAD_YIELD_LOOP \
    ((ABT_pool_context)0x80000) /**< a ULT that yields repeatedly until a condition holds */
#define ABT_POOL_CONTEXT_OP_THREAD_RESUME ((ABT_pool_context)0x100000)  /**< a ULT that was resumed */
#define ABT_POOL_CONTEXT_OP_THREAD_MIGRATE ((ABT_pool_context)0x200000) /**< a work unit that migrates */

/** The type of the work unit that a unit stands for. Never called. */
typedef ABT_unit_type (*ABT_unit_get_type_fn)(ABT_unit unit);
/** The ULT that a unit stands for. Never called. */
typedef ABT_thread (*ABT_unit_get_thread_fn)(ABT_unit unit);
/** The tasklet that a unit stands for. Never called. */
typedef ABT_task (*ABT_unit_get_task_fn)(ABT_unit unit);
/** Whether the unit is in the pool. */
typedef ABT_bool (*ABT_unit_is_in_pool_fn)(ABT_unit unit);
/** Creates the unit for a work unit: any value with bit 0 clear except UNIT_NULL, which means that
 * there is no memory. */
typedef ABT_unit (*ABT_unit_create_from_thread_fn)(ABT_thread thread);
/** Creates the unit for a tasklet. Never called. */
typedef ABT_unit (*ABT_unit_create_from_task_fn)(ABT_task task);
/** Frees a unit that the pool created. */
typedef void (*ABT_unit_free_fn)(ABT_unit *unit);
/** Initializes a pool. ABT_pool_create returns any result other than ABT_SUCCESS. */
typedef int (*ABT_pool_init_fn)(ABT_pool pool, ABT_pool_config config);
/** How many units are in the pool. */
typedef size_t (*ABT_pool_get_size_fn)(ABT_pool pool);
/** Puts a unit into the pool. */
typedef void (*ABT_pool_push_fn)(ABT_pool pool, ABT_unit unit);
/** Takes a unit out of the pool; UNIT_NULL: the pool is empty. */
typedef ABT_unit (*ABT_pool_pop_fn)(ABT_pool pool);
/** Like ABT_pool_pop_fn, but waits for a unit for up to so many seconds. */
typedef ABT_unit (*ABT_pool_pop_wait_fn)(ABT_pool pool, double time_secs);
/** Like ABT_pool_pop_fn, but waits for a unit until the clock of ABT_get_wtime shows this time. */
typedef ABT_unit (*ABT_pool_pop_timedwait_fn)(ABT_pool pool, double abstime_secs);
/** Takes this unit out of the pool. */
typedef int (*ABT_pool_remove_fn)(ABT_pool pool, ABT_unit unit);
/** Finalizes the pool. */
typedef int (*ABT_pool_free_fn)(ABT_pool pool);
/** Calls print_fn(arg, unit) for each unit in the pool. */
typedef int (*ABT_pool_print_all_fn)(ABT_pool pool, void *arg, void (*print_fn)(void *arg, ABT_unit unit));

/** The definition of a user-defined pool, the old way. The library copies it. u_create_from_thread,
 * u_free, p_get_size, p_push and p_pop are required. The library ignores u_get_type, u_get_thread,
 * u_get_task and u_create_from_task. */
typedef struct ABT_pool_def {
    ABT_pool_access access;                              /**< what ABT_pool_get_access returns */
    ABT_unit_get_type_fn u_get_type;                     /**< ignored */
    ABT_unit_get_thread_fn u_get_thread;                 /**< ignored */
    ABT_unit_get_task_fn u_get_task;                     /**< ignored */
    ABT_unit_is_in_pool_fn u_is_in_pool;                 /**< NULL: ABT_thread_yield_to is refused */
    ABT_unit_create_from_thread_fn u_create_from_thread; /**< required */
    ABT_unit_create_from_task_fn u_create_from_task;     /**< ignored */
    ABT_unit_free_fn u_free;                             /**< required */
    ABT_pool_init_fn p_init;                             /**< NULL, or called when it is created */
    ABT_pool_get_size_fn p_get_size;                     /**< required */
    ABT_pool_push_fn p_push;                             /**< required */
    ABT_pool_pop_fn p_pop;                               /**< required */
    ABT_pool_pop_timedwait_fn p_pop_timedwait;           /**< NULL: no caller can wait in it */
    ABT_pool_remove_fn p_remove;                         /**< NULL: nothing can be removed */
    ABT_pool_free_fn p_free;                             /**< NULL, or called when it is freed */
    ABT_pool_print_all_fn p_print_all;                   /**< NULL: its units cannot be listed */
} ABT_pool_def;

/** Creates a pool from a definition of either kind. Calls the definition's p_init last, with
 * `config`, and returns what it returns. The pool is not automatic unless `config` says so. No
 * definition: ERR_INV_POOL_USER_DEF. POOL_NULL on error. */
ABT_API_PUBLIC int ABT_pool_create(ABT_pool_user_def def, ABT_pool_config config, ABT_pool *newpool);

/** Creates one of the pools that the library provides. `automatic`: the pool is freed with the last
 * scheduler that draws from it. No such kind: ERR_INV_POOL_KIND; no such access:
 * ERR_INV_POOL_ACCESS. POOL_NULL on error. */
ABT_API_PUBLIC int ABT_pool_create_basic(ABT_pool_kind kind, ABT_pool_access access, ABT_bool automatic,
                                         ABT_pool *newpool);

/** Frees a pool that is empty and used by no scheduler; sets the handle to POOL_NULL. */
ABT_API_PUBLIC int ABT_pool_free(ABT_pool *pool);

/** The pool's access mode: which streams may push and pop. */
ABT_API_PUBLIC int ABT_pool_get_access(ABT_pool pool, ABT_pool_access *access);

/** Whether the pool has no ready work unit. */
ABT_API_PUBLIC int ABT_pool_is_empty(ABT_pool pool, ABT_bool *is_empty);

/** The number of ready work units in the pool. A pool that cannot count them: ERR_POOL. */
ABT_API_PUBLIC int ABT_pool_get_size(ABT_pool pool, size_t *size);

/** ABT_pool_get_size plus the number of suspended work units that belong to the pool. A pool that
 * cannot count its units: ERR_POOL. */
ABT_API_PUBLIC int ABT_pool_get_total_size(ABT_pool pool, size_t *size);

/** Takes a work unit out of the pool; THREAD_NULL if the pool is empty. */
ABT_API_PUBLIC int ABT_pool_pop_thread(ABT_pool pool, ABT_thread *thread);

/** Like ABT_pool_pop_thread, and passes this context to the pool. */
ABT_API_PUBLIC int ABT_pool_pop_thread_ex(ABT_pool pool, ABT_thread *thread, ABT_pool_context pool_ctx);

/** Takes up to `len` work units out of the pool; `num` receives their number. A pool that cannot
 * pop several: ERR_POOL. */
ABT_API_PUBLIC int ABT_pool_pop_threads(ABT_pool pool, ABT_thread *threads, size_t len, size_t *num);

/** Like ABT_pool_pop_threads, and passes this context to the pool. */
ABT_API_PUBLIC int ABT_pool_pop_threads_ex(ABT_pool pool, ABT_thread *threads, size_t len, size_t *num,
                                           ABT_pool_context pool_ctx);

/** Puts a work unit that is ready and in no pool into this pool; the work unit then belongs to this
 * pool. THREAD_NULL is skipped. The pool's create_unit failed: ERR_UNIT, ERR_OTHER. */
ABT_API_PUBLIC int ABT_pool_push_thread(ABT_pool pool, ABT_thread thread);

/** Like ABT_pool_push_thread, and passes this context to the pool. */
ABT_API_PUBLIC int ABT_pool_push_thread_ex(ABT_pool pool, ABT_thread thread, ABT_pool_context pool_ctx);

/** Like ABT_pool_push_thread, for several work units; THREAD_NULL entries are skipped. A pool that
 * cannot push several: ERR_POOL. */
ABT_API_PUBLIC int ABT_pool_push_threads(ABT_pool pool, const ABT_thread *threads, size_t num);

/** Like ABT_pool_push_threads, and passes this context to the pool. */
ABT_API_PUBLIC int ABT_pool_push_threads_ex(ABT_pool pool, const ABT_thread *threads, size_t num,
                                            ABT_pool_context pool_ctx);

/** Like ABT_pool_pop_thread, but waits for a work unit for up to so many seconds; the OS thread
 * sleeps. A pool that cannot wait: ERR_POOL. */
ABT_API_PUBLIC int ABT_pool_pop_wait_thread(ABT_pool pool, ABT_thread *thread, double time_secs);

/** Like ABT_pool_pop_wait_thread, and passes this context to the pool. */
ABT_API_PUBLIC int ABT_pool_pop_wait_thread_ex(ABT_pool pool, ABT_thread *thread, double time_secs,
                                               ABT_pool_context pool_ctx);

/** Calls print_fn(arg, thread) for each work unit in the pool. A pool that cannot list its units:
 * ERR_POOL. */
ABT_API_PUBLIC int ABT_pool_print_all_threads(ABT_pool pool, void *arg, void (*print_fn)(void *arg, ABT_thread));

/** Stores a pointer of the program in the pool. */
ABT_API_PUBLIC int ABT_pool_set_data(ABT_pool pool, void *data);

/** The pointer that ABT_pool_set_data stored. */
ABT_API_PUBLIC int ABT_pool_get_data(ABT_pool pool, void **data);

/** Makes the scheduler a ULT in this pool. When this ULT runs, it draws from the scheduler's own
 * pools until they are empty. A scheduler in use: ERR_INV_SCHED. */
ABT_API_PUBLIC int ABT_pool_add_sched(ABT_pool pool, ABT_sched sched);

/** The pool's number, from 0 on. */
ABT_API_PUBLIC int ABT_pool_get_id(ABT_pool pool, int *id);

/** Like ABT_pool_pop_thread, which supersedes it, for units; UNIT_NULL if the pool is empty. */
ABT_API_PUBLIC int ABT_pool_pop(ABT_pool pool, ABT_unit *unit);

/** Like ABT_pool_pop_wait_thread, which supersedes it, for units. A pool that cannot wait:
 * ERR_POOL. */
ABT_API_PUBLIC int ABT_pool_pop_wait(ABT_pool pool, ABT_unit *unit, double time_secs);

/** Like ABT_pool_pop_wait, but waits until the clock of ABT_get_wtime shows this time. A pool
 * that cannot wait: ERR_POOL. */
ABT_API_PUBLIC int ABT_pool_pop_timedwait(ABT_pool pool, ABT_unit *unit, double abstime_secs) ABT_DEPRECATED;

/** Takes this unit, which must be in the pool, out of the pool. A pool that cannot remove:
 * ERR_POOL. */
ABT_API_PUBLIC int ABT_pool_remove(ABT_pool pool, ABT_unit unit);

/** Like ABT_pool_push_thread, which supersedes it, for a unit; the unit's handle may change. */
ABT_API_PUBLIC int ABT_pool_push(ABT_pool pool, ABT_unit unit);

/** Like ABT_pool_print_all_threads, which supersedes it, for units. A pool that cannot list its
 * units: ERR_POOL. */
ABT_API_PUBLIC int ABT_pool_print_all(ABT_pool pool, void *arg, void (*print_fn)(void *arg, ABT_unit));

/* ---- configurations of pools ----------------------------------------------------------------- */

/** The type of a value. */
typedef enum ABT_pool_config_type {
    ABT_POOL_CONFIG_INT,    /**< int */
    ABT_POOL_CONFIG_DOUBLE, /**< double */
    ABT_POOL_CONFIG_PTR     /**< void* */
} ABT_pool_config_type;

/** The key of a value and its type. */
typedef struct ABT_pool_config_var {
    int key;                   /**< its key; the program's keys begin with 0 */
    ABT_pool_config_type type; /**< its type */
} ABT_pool_config_var;

extern ABT_API_PUBLIC const ABT_pool_config_var
    ABT_pool_config_automatic; /**< whether the library frees the pool: ABT_bool */

/** Creates a configuration without values. */
ABT_API_PUBLIC int ABT_pool_config_create(ABT_pool_config *config);

/** Frees the configuration and sets the handle to POOL_CONFIG_NULL. */
ABT_API_PUBLIC int ABT_pool_config_free(ABT_pool_config *config);

/** Sets one value, whose address is `val`; NULL removes the value. No such type: ERR_INV_ARG. */
ABT_API_PUBLIC int ABT_pool_config_set(ABT_pool_config config, int key, ABT_pool_config_type type, const void *val);

/** Reads one value and its type, each of which may be NULL. Not set: ERR_INV_ARG. */
ABT_API_PUBLIC int ABT_pool_config_get(ABT_pool_config config, int key, ABT_pool_config_type *p_type, void *val);

/* ---- definitions of pools -------------------------------------------------------------------- */

/** Creates the unit for a work unit that will belong to the pool: any value with bit 0 clear except
 * UNIT_NULL, which means that there is no memory. The value of the work unit's handle is legal. */
typedef ABT_unit (*ABT_pool_user_create_unit_fn)(ABT_pool pool, ABT_thread thread);
/** Frees a unit that the pool created. */
typedef void (*ABT_pool_user_free_unit_fn)(ABT_pool pool, ABT_unit unit);
/** Whether the pool is empty. */
typedef ABT_bool (*ABT_pool_user_is_empty_fn)(ABT_pool pool);
/** Takes a work unit out of the pool; THREAD_NULL: the pool is empty. */
typedef ABT_thread (*ABT_pool_user_pop_fn)(ABT_pool pool, ABT_pool_context context);
/** Puts a unit into the pool. */
typedef void (*ABT_pool_user_push_fn)(ABT_pool pool, ABT_unit unit, ABT_pool_context context);
/** Initializes a pool. ABT_pool_create returns any result other than ABT_SUCCESS. */
typedef int (*ABT_pool_user_init_fn)(ABT_pool pool, ABT_pool_config config);
/** Finalizes the pool. */
typedef void (*ABT_pool_user_free_fn)(ABT_pool pool);
/** How many units are in the pool. */
typedef size_t (*ABT_pool_user_get_size_fn)(ABT_pool pool);
/** Like ABT_pool_user_pop_fn, but waits for a work unit for up to so many seconds. */
typedef ABT_thread (*ABT_pool_user_pop_wait_fn)(ABT_pool pool, double time_secs, ABT_pool_context context);
/** Takes up to `max_threads` work units out of the pool and stores their number in `num_popped`. */
typedef void (*ABT_pool_user_pop_many_fn)(ABT_pool pool, ABT_thread *threads, size_t max_threads, size_t *num_popped,
                                          ABT_pool_context context);
/** Puts several units into the pool. */
typedef void (*ABT_pool_user_push_many_fn)(ABT_pool pool, const ABT_unit *units, size_t num_units,
                                           ABT_pool_context context);
/** Calls print_fn(arg, thread) for each work unit in the pool. */
typedef void (*ABT_pool_user_print_all_fn)(ABT_pool pool, void *arg, void (*print_fn)(void *arg, ABT_thread thread));

/** Creates a definition from the five required functions. */
ABT_API_PUBLIC int ABT_pool_user_def_create(ABT_pool_user_create_unit_fn p_create_unit,
                                            ABT_pool_user_free_unit_fn p_free_unit,
                                            ABT_pool_user_is_empty_fn p_is_empty, ABT_pool_user_pop_fn p_pop,
                                            ABT_pool_user_push_fn p_push, ABT_pool_user_def *newdef);

/** Frees the definition and sets the handle to POOL_USER_DEF_NULL; pools made from it stay
 * valid. */
ABT_API_PUBLIC int ABT_pool_user_def_free(ABT_pool_user_def *def);

/** Sets the function that initializes a pool. */
ABT_API_PUBLIC int ABT_pool_user_def_set_init(ABT_pool_user_def def, ABT_pool_user_init_fn p_init);

/** Sets the function that finalizes a pool. */
ABT_API_PUBLIC int ABT_pool_user_def_set_free(ABT_pool_user_def def, ABT_pool_user_free_fn p_free);

/** Sets the function that counts a pool's units. */
ABT_API_PUBLIC int ABT_pool_user_def_set_get_size(ABT_pool_user_def def, ABT_pool_user_get_size_fn p_get_size);

/** Sets the function that pops and waits. */
ABT_API_PUBLIC int ABT_pool_user_def_set_pop_wait(ABT_pool_user_def def, ABT_pool_user_pop_wait_fn p_pop_wait);

/** Sets the function that pops several work units. */
ABT_API_PUBLIC int ABT_pool_user_def_set_pop_many(ABT_pool_user_def def, ABT_pool_user_pop_many_fn p_pop_many);

/** Sets the function that pushes several units. */
ABT_API_PUBLIC int ABT_pool_user_def_set_push_many(ABT_pool_user_def def, ABT_pool_user_push_many_fn p_push_many);

/** Sets the function that iterates over a pool's units. */
ABT_API_PUBLIC int ABT_pool_user_def_set_print_all(ABT_pool_user_def def, ABT_pool_user_print_all_fn p_print_all);

/* ---- units ----------------------------------------------------------------------------------- */

/** The work unit that a unit stands for. */
ABT_API_PUBLIC int ABT_unit_get_thread(ABT_unit unit, ABT_thread *thread);

/** Only checks its arguments: ABT_xstream_run_unit and the push calls now associate the unit
 * themselves. */
ABT_API_PUBLIC int ABT_unit_set_associated_pool(ABT_unit unit, ABT_pool pool);

/* ---- ULTs: creating and joining -------------------------------------------------------------- */

/** The state of a work unit. */
typedef enum ABT_thread_state {
    ABT_THREAD_STATE_READY,     /**< waits for its turn */
    ABT_THREAD_STATE_RUNNING,   /**< runs */
    ABT_THREAD_STATE_BLOCKED,   /**< is suspended */
    ABT_THREAD_STATE_TERMINATED /**< has ended; can be revived or freed */
} ABT_thread_state;

/** Creates a ULT that will call thread_func(arg), and pushes it to the pool. `attr` may be
 * THREAD_ATTR_NULL. `newthread` NULL: the ULT is unnamed and frees itself when it ends. The pool's
 * create_unit failed: ERR_UNIT, ERR_OTHER. THREAD_NULL on error. */
ABT_API_PUBLIC int ABT_thread_create(ABT_pool pool, void (*thread_func)(void *), void *arg, ABT_thread_attr attr,
                                     ABT_thread *newthread);

/** Like ABT_thread_create, but the ULT runs at once in place of the caller, which is pushed to its
 * pool. External: ERR_INV_XSTREAM; tasklet, main scheduler: ERR_INV_THREAD. Switches. */
ABT_API_PUBLIC int ABT_thread_create_to(ABT_pool pool, void (*thread_func)(void *), void *arg, ABT_thread_attr attr,
                                        ABT_thread *newthread);

/** ABT_thread_create in the first pool of the execution stream's main scheduler. THREAD_NULL on
 * error. */
ABT_API_PUBLIC int ABT_thread_create_on_xstream(ABT_xstream xstream, void (*thread_func)(void *), void *arg,
                                                ABT_thread_attr attr, ABT_thread *newthread);

/** ABT_thread_create for several ULTs; `newthread_list` NULL: all are unnamed. An attribute with a
 * stack: ERR_INV_THREAD_ATTR. */
ABT_API_PUBLIC int ABT_thread_create_many(int num_threads, ABT_pool *pool_list, void (**thread_func_list)(void *),
                                          void **arg_list, ABT_thread_attr attr, ABT_thread *newthread_list);

/** Makes a terminated work unit run again, with a new function and argument, in this pool. It keeps
 * its handle, stack, number and values of keys. Not terminated: ERR_INV_THREAD; the error of the
 * pool's create_unit. */
ABT_API_PUBLIC int ABT_thread_revive(ABT_pool pool, void (*thread_func)(void *), void *arg, ABT_thread *thread);

/** Like ABT_thread_revive for a ULT, but the ULT runs at once in place of the caller, which is
 * pushed to its pool. External: ERR_INV_XSTREAM; tasklet, main scheduler: ERR_INV_THREAD.
 * Switches. */
ABT_API_PUBLIC int ABT_thread_revive_to(ABT_pool pool, void (*thread_func)(void *), void *arg, ABT_thread *thread);

/** Joins a work unit and frees it; sets the handle to THREAD_NULL. The caller itself, the primary
 * ULT, a main scheduler: ERR_INV_THREAD. May switch. */
ABT_API_PUBLIC int ABT_thread_free(ABT_thread *thread);

/** ABT_thread_free for several work units; THREAD_NULL entries are skipped. May switch. */
ABT_API_PUBLIC int ABT_thread_free_many(int num_threads, ABT_thread *thread_list);

/** Waits until a work unit has ended. While waiting, a ULT lets other work units run; the OS thread
 * of a tasklet or an external thread sleeps. The caller itself, the primary ULT, a main scheduler:
 * ERR_INV_THREAD. May switch. */
ABT_API_PUBLIC int ABT_thread_join(ABT_thread thread);

/** ABT_thread_join for several work units; THREAD_NULL entries are skipped. May switch. */
ABT_API_PUBLIC int ABT_thread_join_many(int num_threads, ABT_thread *thread_list);

/** Ends the caller. Does not return on success. Superseded by ABT_self_exit. External:
 * ERR_INV_XSTREAM; tasklet, primary ULT: ERR_INV_THREAD; not initialized: ERR_UNINITIALIZED.
 * Switches. */
ABT_API_PUBLIC int ABT_thread_exit(void);

/** Asks a work unit to end; it ends when it would next begin or continue. The primary ULT:
 * ERR_INV_THREAD. ERR_FEATURE_NA. */
ABT_API_PUBLIC int ABT_thread_cancel(ABT_thread thread);

/** The calling ULT. Superseded by ABT_self_get_thread. External: ERR_INV_XSTREAM; tasklet:
 * ERR_INV_THREAD; not initialized: ERR_UNINITIALIZED; THREAD_NULL on error. */
ABT_API_PUBLIC int ABT_thread_self(ABT_thread *thread);

/** The number of the calling ULT. Superseded by ABT_self_get_thread_id. External: ERR_INV_XSTREAM;
 * tasklet: ERR_INV_THREAD; not initialized: ERR_UNINITIALIZED. */
ABT_API_PUBLIC int ABT_thread_self_id(ABT_unit_id *id);

/** The execution stream that a work unit last ran on; XSTREAM_NULL: it has not run yet. */
ABT_API_PUBLIC int ABT_thread_get_last_xstream(ABT_thread thread, ABT_xstream *xstream);

/** The state of a work unit, which may have changed when the call returns. */
ABT_API_PUBLIC int ABT_thread_get_state(ABT_thread thread, ABT_thread_state *state);

/** The pool that a work unit belongs to. */
ABT_API_PUBLIC int ABT_thread_get_last_pool(ABT_thread thread, ABT_pool *pool);

/** The number of the pool that a work unit belongs to. */
ABT_API_PUBLIC int ABT_thread_get_last_pool_id(ABT_thread thread, int *id);

/** The unit that stands for a work unit in its pool. */
ABT_API_PUBLIC int ABT_thread_get_unit(ABT_thread thread, ABT_unit *unit);

/** Associates a work unit that is in no pool with this pool. The pool's create_unit failed:
 * ERR_UNIT, ERR_OTHER. */
ABT_API_PUBLIC int ABT_thread_set_associated_pool(ABT_thread thread, ABT_pool pool);

/* ---- ULTs: yielding, resuming, migrating ----------------------------------------------------- */

/** Takes this ULT out of its pool and yields to it. Does nothing if the ULT is not ready in a pool,
 * or if the caller is a tasklet or an external thread. Superseded by ABT_self_yield_to. The caller
 * itself, a tasklet as the target, a main scheduler as the caller: ERR_INV_THREAD; the pool cannot
 * remove: ERR_POOL. Switches. */
ABT_API_PUBLIC int ABT_thread_yield_to(ABT_thread thread);

/** Pushes the calling ULT to its pool and lets other work units run. From a tasklet or an external
 * thread it does nothing. Superseded by ABT_self_yield. From anywhere; switches. */
ABT_API_PUBLIC int ABT_thread_yield(void);

/** Pushes a suspended ULT to its pool. Not suspended: ERR_THREAD; a tasklet: ERR_INV_THREAD. */
ABT_API_PUBLIC int ABT_thread_resume(ABT_thread thread);

/** Asks a work unit to migrate to a pool of this execution stream. It migrates when a scheduler
 * next picks it, or when it yields or is suspended. Already there: ERR_MIGRATION_TARGET; it may not
 * migrate, or is a main scheduler: ERR_INV_THREAD. ERR_FEATURE_NA. */
ABT_API_PUBLIC int ABT_thread_migrate_to_xstream(ABT_thread thread, ABT_xstream xstream);

/** Like ABT_thread_migrate_to_xstream, but to a pool of this scheduler. */
ABT_API_PUBLIC int ABT_thread_migrate_to_sched(ABT_thread thread, ABT_sched sched);

/** Like ABT_thread_migrate_to_xstream, but to this pool. */
ABT_API_PUBLIC int ABT_thread_migrate_to_pool(ABT_thread thread, ABT_pool pool);

/** Like ABT_thread_migrate_to_xstream, but to any other execution stream; if there is none:
 * ERR_MIGRATION_NA. */
ABT_API_PUBLIC int ABT_thread_migrate(ABT_thread thread);

/** Sets the function that is called as cb_func(thread, cb_arg) when the work unit has migrated;
 * NULL: none. ERR_FEATURE_NA. */
ABT_API_PUBLIC int ABT_thread_set_callback(ABT_thread thread, void (*cb_func)(ABT_thread thread, void *cb_arg),
                                           void *cb_arg);

/** Sets whether the work unit may migrate; has no effect on the primary ULT and main schedulers.
 * ERR_FEATURE_NA. */
ABT_API_PUBLIC int ABT_thread_set_migratable(ABT_thread thread, ABT_bool migratable);

/** Whether the work unit may migrate. ERR_FEATURE_NA. */
ABT_API_PUBLIC int ABT_thread_is_migratable(ABT_thread thread, ABT_bool *is_migratable);

/* ---- ULTs: questions ------------------------------------------------------------------------- */

/** Whether the work unit is the primary ULT. */
ABT_API_PUBLIC int ABT_thread_is_primary(ABT_thread thread, ABT_bool *is_primary);

/** Whether the work unit was created without returning its handle. */
ABT_API_PUBLIC int ABT_thread_is_unnamed(ABT_thread thread, ABT_bool *is_unnamed);

/** Whether both handles name the same work unit; they may be THREAD_NULL or TASK_NULL, which are
 * equal. */
ABT_API_PUBLIC int ABT_thread_equal(ABT_thread thread1, ABT_thread thread2, ABT_bool *result);

/** The size of the work unit's stack in bytes; 0 for a tasklet, and on the stack of an OS
 * thread. */
ABT_API_PUBLIC int ABT_thread_get_stacksize(ABT_thread thread, size_t *stacksize);

/** The lowest address of the work unit's stack, and the stack's size. */
ABT_API_PUBLIC int ABT_thread_get_stack(ABT_thread thread, void **stackaddr, size_t *stacksize);

/** The work unit's number. */
ABT_API_PUBLIC int ABT_thread_get_id(ABT_thread thread, ABT_unit_id *thread_id);

/** Changes the argument of a work unit that has not begun. */
ABT_API_PUBLIC int ABT_thread_set_arg(ABT_thread thread, void *arg);

/** The work unit's argument. */
ABT_API_PUBLIC int ABT_thread_get_arg(ABT_thread thread, void **arg);

/** The work unit's function. */
ABT_API_PUBLIC int ABT_thread_get_thread_func(ABT_thread thread, void (**thread_func)(void *));

/** Sets the work unit's value of a key. */
ABT_API_PUBLIC int ABT_thread_set_specific(ABT_thread thread, ABT_key key, void *value);

/** The work unit's value of a key; NULL if none was set. */
ABT_API_PUBLIC int ABT_thread_get_specific(ABT_thread thread, ABT_key key, void **value);

/** Creates an attribute that describes the ULT; the caller frees it. A tasklet: ERR_INV_THREAD. */
ABT_API_PUBLIC int ABT_thread_get_attr(ABT_thread thread, ABT_thread_attr *attr);

/* ---- attributes of ULTs ---------------------------------------------------------------------- */

/** Creates an attribute with the defaults: a stack of ABT_THREAD_STACKSIZE bytes, and the ULT may
 * migrate. */
ABT_API_PUBLIC int ABT_thread_attr_create(ABT_thread_attr *newattr);

/** Frees the attribute and sets the handle to THREAD_ATTR_NULL. */
ABT_API_PUBLIC int ABT_thread_attr_free(ABT_thread_attr *attr);

/** Sets the address of the stack, aligned to 8 (NULL: the library allocates the stack), and its
 * size. Not aligned: ERR_INV_ARG. */
ABT_API_PUBLIC int ABT_thread_attr_set_stack(ABT_thread_attr attr, void *stackaddr, size_t stacksize);

/** The address and the size of the stack. */
ABT_API_PUBLIC int ABT_thread_attr_get_stack(ABT_thread_attr attr, void **stackaddr, size_t *stacksize);

/** Sets the size of the stack alone. */
ABT_API_PUBLIC int ABT_thread_attr_set_stacksize(ABT_thread_attr attr, size_t stacksize);

/** The size of the stack. */
ABT_API_PUBLIC int ABT_thread_attr_get_stacksize(ABT_thread_attr attr, size_t *stacksize);

/** Like ABT_thread_set_callback, for ULTs created with the attribute. ERR_FEATURE_NA. */
ABT_API_PUBLIC int ABT_thread_attr_set_callback(ABT_thread_attr attr, void (*cb_func)(ABT_thread thread, void *cb_arg),
                                                void *cb_arg);

/** Sets whether the ULT may migrate. ERR_FEATURE_NA. */
ABT_API_PUBLIC int ABT_thread_attr_set_migratable(ABT_thread_attr attr, ABT_bool is_migratable);

/* ---- tasklets -------------------------------------------------------------------------------- */

/** The state of a tasklet. The numbers differ from those of ABT_thread_state. */
typedef enum ABT_task_state {
    ABT_TASK_STATE_READY,     /**< waits for its turn */
    ABT_TASK_STATE_RUNNING,   /**< runs */
    ABT_TASK_STATE_TERMINATED /**< has ended; can be revived or freed */
} ABT_task_state;

/** Creates a tasklet that will call task_func(arg), which may not wait, and pushes it to the pool.
 * `newtask` NULL: the tasklet is unnamed and frees itself when it ends. The pool's create_unit
 * failed: ERR_UNIT, ERR_OTHER. TASK_NULL on error. */
ABT_API_PUBLIC int ABT_task_create(ABT_pool pool, void (*task_func)(void *), void *arg, ABT_task *newtask);

/** ABT_task_create in the first pool of the execution stream's main scheduler. TASK_NULL on
 * error. */
ABT_API_PUBLIC int ABT_task_create_on_xstream(ABT_xstream xstream, void (*task_func)(void *), void *arg,
                                              ABT_task *newtask);

/** Like ABT_thread_revive. */
ABT_API_PUBLIC int ABT_task_revive(ABT_pool pool, void (*task_func)(void *), void *arg, ABT_task *task);

/** Like ABT_thread_free; sets the handle to TASK_NULL. May switch. */
ABT_API_PUBLIC int ABT_task_free(ABT_task *task);

/** Like ABT_thread_join. May switch. */
ABT_API_PUBLIC int ABT_task_join(ABT_task task);

/** Like ABT_thread_cancel. */
ABT_API_PUBLIC int ABT_task_cancel(ABT_task task);

/** The calling tasklet. External: ERR_INV_XSTREAM; ULT: ERR_INV_TASK; not initialized:
 * ERR_UNINITIALIZED; TASK_NULL on error. */
ABT_API_PUBLIC int ABT_task_self(ABT_task *task);

/** The number of the calling tasklet. External: ERR_INV_XSTREAM; ULT: ERR_INV_TASK; not
 * initialized: ERR_UNINITIALIZED. */
ABT_API_PUBLIC int ABT_task_self_id(uint64_t *id);

/** The execution stream that the tasklet last ran on; XSTREAM_NULL: it has not run yet. */
ABT_API_PUBLIC int ABT_task_get_xstream(ABT_task task, ABT_xstream *xstream);

/** The tasklet's state. A ULT: ERR_INV_TASK. */
ABT_API_PUBLIC int ABT_task_get_state(ABT_task task, ABT_task_state *state);

/** Like ABT_thread_get_last_pool. */
ABT_API_PUBLIC int ABT_task_get_last_pool(ABT_task task, ABT_pool *pool);

/** Like ABT_thread_get_last_pool_id. */
ABT_API_PUBLIC int ABT_task_get_last_pool_id(ABT_task task, int *id);

/** Like ABT_thread_set_migratable. */
ABT_API_PUBLIC int ABT_task_set_migratable(ABT_task task, ABT_bool flag);

/** Like ABT_thread_is_migratable. */
ABT_API_PUBLIC int ABT_task_is_migratable(ABT_task task, ABT_bool *flag);

/** Like ABT_thread_equal. */
ABT_API_PUBLIC int ABT_task_equal(ABT_task task1, ABT_task task2, ABT_bool *result);

/** Like ABT_thread_get_id. */
ABT_API_PUBLIC int ABT_task_get_id(ABT_task task, uint64_t *task_id);

/** Like ABT_thread_get_arg. */
ABT_API_PUBLIC int ABT_task_get_arg(ABT_task task, void **arg);

#define ABT_task_is_unnamed ABT_thread_is_unnamed     /**< ABT_thread_is_unnamed, for a tasklet */
#define ABT_task_set_specific ABT_thread_set_specific /**< ABT_thread_set_specific, for a tasklet */
#define ABT_task_get_specific ABT_thread_get_specific /**< ABT_thread_get_specific, for a tasklet */
#define ABT_self_get_task ABT_self_get_thread         /**< ABT_self_get_thread, for a tasklet */
#define ABT_self_get_task_id ABT_self_get_thread_id   /**< ABT_self_get_thread_id, for a tasklet */

/* ---- the caller ------------------------------------------------------------------------------ */

/** The execution stream that the caller runs on. External: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_get_xstream(ABT_xstream *xstream);

/** The rank of the caller's execution stream. External: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_get_xstream_rank(int *rank);

/** The caller's handle, whether ULT or tasklet. External: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_get_thread(ABT_thread *thread);

/** The caller's number. External: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_get_thread_id(ABT_unit_id *id);

/** Sets the caller's value of a key. External: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_set_specific(ABT_key key, void *value);

/** The caller's value of a key; NULL if none was set. External: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_get_specific(ABT_key key, void **value);

/** The caller's type. External: ERR_INV_XSTREAM; not initialized: ERR_UNINITIALIZED; on both errors
 * `type` receives ABT_UNIT_TYPE_EXT. */
ABT_API_PUBLIC int ABT_self_get_type(ABT_unit_type *type);

/** Whether the caller is the primary ULT. External: ERR_INV_XSTREAM; tasklet: ERR_INV_THREAD; not
 * initialized: ERR_UNINITIALIZED; ABT_FALSE on error. */
ABT_API_PUBLIC int ABT_self_is_primary(ABT_bool *is_primary);

/** Whether the caller is on the primary execution stream. External: ERR_INV_XSTREAM; not
 * initialized: ERR_UNINITIALIZED; ABT_FALSE on error. */
ABT_API_PUBLIC int ABT_self_on_primary_xstream(ABT_bool *on_primary);

/** Whether the caller was created without returning its handle. External: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_is_unnamed(ABT_bool *is_unnamed);

/** The pool that the caller belongs to. External: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_get_last_pool(ABT_pool *pool);

/** The number of the pool that the caller belongs to. External: ERR_INV_XSTREAM; not initialized:
 * ERR_UNINITIALIZED; -1 on error. */
ABT_API_PUBLIC int ABT_self_get_last_pool_id(int *pool_id);

/** Associates the caller with this pool: it is pushed there when it next yields or is resumed.
 * External: ERR_INV_XSTREAM; the error of the pool's create_unit. */
ABT_API_PUBLIC int ABT_self_set_associated_pool(ABT_pool pool);

/** The unit that stands for the caller. External: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_get_unit(ABT_unit *unit);

/** Pushes the calling ULT to its pool and lets other work units run. External: ERR_INV_XSTREAM;
 * tasklet: ERR_INV_THREAD. Switches. */
ABT_API_PUBLIC int ABT_self_yield(void);

/** Like ABT_self_yield, but this ULT runs next; it must be ready, and the caller must have popped
 * it. The caller itself, a main scheduler as the caller or the target, a tasklet as the target:
 * ERR_INV_THREAD. External: ERR_INV_XSTREAM; tasklet: ERR_INV_THREAD. Switches. */
ABT_API_PUBLIC int ABT_self_yield_to(ABT_thread thread);

/** Like ABT_self_yield_to, but the target is suspended, and the call resumes it. */
ABT_API_PUBLIC int ABT_self_resume_yield_to(ABT_thread thread);

/** Suspends the calling ULT until ABT_thread_resume. External: ERR_INV_XSTREAM; tasklet:
 * ERR_INV_THREAD. Switches. */
ABT_API_PUBLIC int ABT_self_suspend(void);

/** Like ABT_self_suspend, but this ULT runs next; it must be ready, and the caller must have popped
 * it. Errors as for ABT_self_yield_to. Switches. */
ABT_API_PUBLIC int ABT_self_suspend_to(ABT_thread thread);

/** Like ABT_self_suspend_to, but the target is suspended, and the call resumes it. Switches. */
ABT_API_PUBLIC int ABT_self_resume_suspend_to(ABT_thread thread);

/** Ends the calling ULT. Does not return on success. External: ERR_INV_XSTREAM; tasklet, primary
 * ULT: ERR_INV_THREAD. Switches. */
ABT_API_PUBLIC int ABT_self_exit(void);

/** Like ABT_self_exit, but this ULT runs next; it must be ready, and the caller must have popped
 * it. Errors as for ABT_self_yield_to and ABT_self_exit. Switches. */
ABT_API_PUBLIC int ABT_self_exit_to(ABT_thread thread);

/** Like ABT_self_exit_to, but the target is suspended, and the call resumes it. Switches. */
ABT_API_PUBLIC int ABT_self_resume_exit_to(ABT_thread thread);

/** Runs a work unit that the caller has popped, as a scheduler does. Returns when the work unit
 * yields, is suspended or ends. `pool`: POOL_NULL, or the pool that the work unit belongs to from
 * now on. External: ERR_INV_XSTREAM; tasklet: ERR_INV_THREAD; the error of the pool's create_unit.
 * Switches. */
ABT_API_PUBLIC int ABT_self_schedule(ABT_thread thread, ABT_pool pool);

/** Changes the caller's argument. External: ERR_INV_XSTREAM; not initialized: ERR_UNINITIALIZED. */
ABT_API_PUBLIC int ABT_self_set_arg(void *arg);

/** The caller's argument. External: ERR_INV_XSTREAM; not initialized: ERR_UNINITIALIZED; NULL on
 * error. */
ABT_API_PUBLIC int ABT_self_get_arg(void **arg);

/** The caller's function. External: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_get_thread_func(void (**thread_func)(void *));

/* ---- keys ------------------------------------------------------------------------------------ */

/** Creates a key. `destructor`: NULL, or called for each value that is not NULL when the value's
 * work unit is freed. KEY_NULL on error. */
ABT_API_PUBLIC int ABT_key_create(void (*destructor)(void *value), ABT_key *newkey);

/** Frees the key and sets the handle to KEY_NULL. Values that were set remain, and the destructor
 * is still called for them. */
ABT_API_PUBLIC int ABT_key_free(ABT_key *key);

/** ABT_self_set_specific, which supersedes it; not initialized: ERR_UNINITIALIZED. */
ABT_API_PUBLIC int ABT_key_set(ABT_key key, void *value);

/** ABT_self_get_specific, which supersedes it; not initialized: ERR_UNINITIALIZED. */
ABT_API_PUBLIC int ABT_key_get(ABT_key key, void **value);

/* ---- mutexes --------------------------------------------------------------------------------- */

/** Memory for a mutex. Zero bytes are an unlocked mutex; a mutex that has not been used yet may be
 * copied. */
typedef struct ABT_mutex_memory {
    int dummy[16]; /**< private to the library */
} ABT_mutex_memory;

#define ABT_MUTEX_INITIALIZER \
    {                         \
        { 0 }                 \
    } /**< an unlocked mutex, for an ABT_mutex_memory */
#define ABT_RECURSIVE_MUTEX_INITIALIZER \
    {                                   \
        { 1 }                           \
    } /**< an unlocked mutex that its holder may lock again, for an ABT_mutex_memory */

/** The mutex in this memory, which needs no freeing and works also before ABT_init and after
 * ABT_finalize. */
#define ABT_MUTEX_MEMORY_GET_HANDLE(p_memory) ((ABT_mutex)(p_memory))

/** Creates a mutex that is not recursive. MUTEX_NULL on error. */
ABT_API_PUBLIC int ABT_mutex_create(ABT_mutex *newmutex);

/** Creates a mutex. `attr` may be MUTEX_ATTR_NULL. MUTEX_NULL on error. */
ABT_API_PUBLIC int ABT_mutex_create_with_attr(ABT_mutex_attr attr, ABT_mutex *newmutex);

/** Frees a mutex that is not locked, and sets the handle to MUTEX_NULL. */
ABT_API_PUBLIC int ABT_mutex_free(ABT_mutex *mutex);

/** Locks the mutex; waits while another holder has it. A later caller may overtake the waiters.
 * From anywhere; may switch. */
ABT_API_PUBLIC int ABT_mutex_lock(ABT_mutex mutex);

/** Like ABT_mutex_lock, but the caller gets the mutex before the waiters in ABT_mutex_lock. From
 * anywhere; may switch. */
ABT_API_PUBLIC int ABT_mutex_lock_high(ABT_mutex mutex);

/** Like ABT_mutex_lock, but the caller gets the mutex after the waiters in ABT_mutex_lock. From
 * anywhere; may switch. */
ABT_API_PUBLIC int ABT_mutex_lock_low(ABT_mutex mutex);

/** Locks the mutex if it is free; else ERR_MUTEX_LOCKED. From anywhere. */
ABT_API_PUBLIC int ABT_mutex_trylock(ABT_mutex mutex);

/** Locks the mutex without letting other work units run meanwhile. From anywhere. */
ABT_API_PUBLIC int ABT_mutex_spinlock(ABT_mutex mutex);

/** Unlocks the mutex and wakes one waiter. From anywhere. */
ABT_API_PUBLIC int ABT_mutex_unlock(ABT_mutex mutex);

/** Like ABT_mutex_unlock, which supersedes it. From anywhere. */
ABT_API_PUBLIC int ABT_mutex_unlock_se(ABT_mutex mutex);

/** Like ABT_mutex_unlock, which supersedes it. From anywhere. */
ABT_API_PUBLIC int ABT_mutex_unlock_de(ABT_mutex mutex);

/** Whether both handles name the same mutex; they may be MUTEX_NULL. From anywhere. */
ABT_API_PUBLIC int ABT_mutex_equal(ABT_mutex mutex1, ABT_mutex mutex2, ABT_bool *result);

/** Creates an attribute that describes the mutex; the caller frees it. */
ABT_API_PUBLIC int ABT_mutex_get_attr(ABT_mutex mutex, ABT_mutex_attr *attr);

/** Creates an attribute with the default: not recursive. MUTEX_ATTR_NULL on error. */
ABT_API_PUBLIC int ABT_mutex_attr_create(ABT_mutex_attr *newattr);

/** Frees the attribute and sets the handle to MUTEX_ATTR_NULL. */
ABT_API_PUBLIC int ABT_mutex_attr_free(ABT_mutex_attr *attr);

/** Sets whether the holder may lock the mutex again. */
ABT_API_PUBLIC int ABT_mutex_attr_set_recursive(ABT_mutex_attr attr, ABT_bool recursive);

/** Whether the holder may lock the mutex again. */
ABT_API_PUBLIC int ABT_mutex_attr_get_recursive(ABT_mutex_attr attr, ABT_bool *recursive);

/* ---- condition variables --------------------------------------------------------------------- */

/** Memory for a condition variable. Zero bytes are a condition variable without waiters; one that
 * has not been used yet may be copied. */
typedef struct ABT_cond_memory {
    int dummy[16]; /**< private to the library */
} ABT_cond_memory;

#define ABT_COND_INITIALIZER \
    {                        \
        { 0 }                \
    } /**< a condition variable without waiters, for an ABT_cond_memory */

/** The condition variable in this memory, which needs no freeing and works also before ABT_init and
 * after ABT_finalize. */
#define ABT_COND_MEMORY_GET_HANDLE(p_memory) ((ABT_cond)(p_memory))

/** Creates a condition variable. COND_NULL on error. */
ABT_API_PUBLIC int ABT_cond_create(ABT_cond *newcond);

/** Frees the condition variable and sets the handle to COND_NULL. It has waiters: ERR_COND. */
ABT_API_PUBLIC int ABT_cond_free(ABT_cond *cond);

/** Unlocks the mutex, waits to be woken, and locks the mutex again. Other waiters use another
 * mutex: ERR_INV_MUTEX; tasklet: ERR_COND. From anywhere; switches. */
ABT_API_PUBLIC int ABT_cond_wait(ABT_cond cond, ABT_mutex mutex);

/** Like ABT_cond_wait, but only until the real-time clock (CLOCK_REALTIME, as set when the call
 * begins) reaches `abstime`: ERR_COND_TIMEDOUT, and the mutex is locked again. From anywhere;
 * switches. */
ABT_API_PUBLIC int ABT_cond_timedwait(ABT_cond cond, ABT_mutex mutex, const struct timespec *abstime);

/** Wakes the waiter that has waited longest, if any. From anywhere. */
ABT_API_PUBLIC int ABT_cond_signal(ABT_cond cond);

/** Wakes all waiters. From anywhere. */
ABT_API_PUBLIC int ABT_cond_broadcast(ABT_cond cond);

/* ---- read-write locks ------------------------------------------------------------------------ */

/** Creates a lock for several readers or one writer; readers take precedence over writers.
 * RWLOCK_NULL on error. */
ABT_API_PUBLIC int ABT_rwlock_create(ABT_rwlock *newrwlock);

/** Frees the lock and sets the handle to RWLOCK_NULL. */
ABT_API_PUBLIC int ABT_rwlock_free(ABT_rwlock *rwlock);

/** Locks for reading; waits while there is a writer. A reader may lock for reading again. Tasklet:
 * ERR_RWLOCK. May switch. */
ABT_API_PUBLIC int ABT_rwlock_rdlock(ABT_rwlock rwlock);

/** Locks for writing; waits while there is a reader or a writer. Tasklet: ERR_RWLOCK. May
 * switch. */
ABT_API_PUBLIC int ABT_rwlock_wrlock(ABT_rwlock rwlock);

/** Unlocks a lock that was locked for reading or for writing. May switch. */
ABT_API_PUBLIC int ABT_rwlock_unlock(ABT_rwlock rwlock);

/* ---- eventuals ------------------------------------------------------------------------------- */

/** Memory for an eventual without a value. Zero bytes are an eventual that is not set. */
typedef struct ABT_eventual_memory {
    int dummy[16]; /**< private to the library */
} ABT_eventual_memory;

#define ABT_EVENTUAL_INITIALIZER \
    {                            \
        { 0 }                    \
    } /**< an eventual that is not set, for an ABT_eventual_memory */

/** The eventual in this memory, which needs no freeing. */
#define ABT_EVENTUAL_MEMORY_GET_HANDLE(p_memory) ((ABT_eventual)(p_memory))

/** Creates an eventual for a value of up to `nbytes` bytes; 0: it has no value. Negative:
 * ERR_INV_ARG. */
ABT_API_PUBLIC int ABT_eventual_create(int nbytes, ABT_eventual *neweventual);

/** Frees an eventual without waiters and sets the handle to EVENTUAL_NULL. */
ABT_API_PUBLIC int ABT_eventual_free(ABT_eventual *eventual);

/** Waits until the eventual is set. `value`: NULL, or receives the address of the value; NULL if
 * the eventual has none. Tasklet: ERR_EVENTUAL. May switch. */
ABT_API_PUBLIC int ABT_eventual_wait(ABT_eventual eventual, void **value);

/** Like ABT_eventual_wait, but only until the real-time clock (CLOCK_REALTIME, as set when the call
 * begins) reaches `abstime`: ERR_COND_TIMEDOUT. Tasklet: ERR_EVENTUAL. May switch. */
ABT_API_PUBLIC int ABT_eventual_timedwait(ABT_eventual eventual, void **value, const struct timespec *abstime);

/** Whether the eventual is set; `value` is written only if it is. */
ABT_API_PUBLIC int ABT_eventual_test(ABT_eventual eventual, void **value, ABT_bool *is_ready);

/** Copies the value into the eventual and wakes all waiters. Negative number: ERR_INV_ARG; more
 * bytes than the eventual holds: ERR_INV_EVENTUAL; already set: ERR_EVENTUAL. */
ABT_API_PUBLIC int ABT_eventual_set(ABT_eventual eventual, void *value, int nbytes);

/** Makes the eventual not set again. */
ABT_API_PUBLIC int ABT_eventual_reset(ABT_eventual eventual);

/* ---- futures --------------------------------------------------------------------------------- */

/** Creates a future that is ready when `num_compartments` pointers have been set. `cb_func`: NULL,
 * or called once with all pointers, by the caller that sets the last one, before the waiters
 * resume; it may call whatever that caller may. */
ABT_API_PUBLIC int ABT_future_create(uint32_t num_compartments, void (*cb_func)(void **arg), ABT_future *newfuture);

/** Frees a future without waiters and sets the handle to FUTURE_NULL. */
ABT_API_PUBLIC int ABT_future_free(ABT_future *future);

/** Waits until the future is ready. Tasklet: ERR_FUTURE. May switch. */
ABT_API_PUBLIC int ABT_future_wait(ABT_future future);

/** Whether the future is ready. */
ABT_API_PUBLIC int ABT_future_test(ABT_future future, ABT_bool *is_ready);

/** Sets the next pointer of the future. Already ready: ERR_FUTURE. */
ABT_API_PUBLIC int ABT_future_set(ABT_future future, void *value);

/** Makes the future one without any pointer set. */
ABT_API_PUBLIC int ABT_future_reset(ABT_future future);

/* ---- barriers -------------------------------------------------------------------------------- */

/** Creates a barrier for `num_waiters` ULTs and external threads; 0: ERR_INV_ARG. BARRIER_NULL on
 * error. */
ABT_API_PUBLIC int ABT_barrier_create(uint32_t num_waiters, ABT_barrier *newbarrier);

/** Changes the number of waiters of a barrier at which none waits; 0: ERR_INV_ARG. */
ABT_API_PUBLIC int ABT_barrier_reinit(ABT_barrier barrier, uint32_t num_waiters);

/** Frees the barrier and sets the handle to BARRIER_NULL. */
ABT_API_PUBLIC int ABT_barrier_free(ABT_barrier *barrier);

/** Waits until all waiters have arrived; the barrier can then be used again. Tasklet: ERR_BARRIER.
 * Switches unless the caller is the last to arrive. */
ABT_API_PUBLIC int ABT_barrier_wait(ABT_barrier barrier);

/** The barrier's number of waiters. */
ABT_API_PUBLIC int ABT_barrier_get_num_waiters(ABT_barrier barrier, uint32_t *num_waiters);

/* ---- texts of errors, and time --------------------------------------------------------------- */

/** The name of an error as in this header, for instance "ABT_ERR_MEM", and its length without the
 * terminating zero; each may be NULL. No such error: ERR_OTHER. From anywhere. */
ABT_API_PUBLIC int ABT_error_get_str(int err, char *str, size_t *len);

/** The real-time clock in seconds. From anywhere. */
ABT_API_PUBLIC double ABT_get_wtime(void);

/** Creates a timer. TIMER_NULL on error. From anywhere. */
ABT_API_PUBLIC int ABT_timer_create(ABT_timer *newtimer);

/** Creates a copy of a timer. TIMER_NULL on error. From anywhere. */
ABT_API_PUBLIC int ABT_timer_dup(ABT_timer timer, ABT_timer *newtimer);

/** Frees the timer and sets the handle to TIMER_NULL. From anywhere. */
ABT_API_PUBLIC int ABT_timer_free(ABT_timer *timer);

/** Records the current time as the start. From anywhere. */
ABT_API_PUBLIC int ABT_timer_start(ABT_timer timer);

/** Records the current time as the stop. From anywhere. */
ABT_API_PUBLIC int ABT_timer_stop(ABT_timer timer);

/** The seconds from the start to the stop. From anywhere. */
ABT_API_PUBLIC int ABT_timer_read(ABT_timer timer, double *secs);

/** ABT_timer_stop, then ABT_timer_read. From anywhere. */
ABT_API_PUBLIC int ABT_timer_stop_and_read(ABT_timer timer, double *secs);

/** Like ABT_timer_stop_and_read, but adds the seconds to `secs`. From anywhere. */
ABT_API_PUBLIC int ABT_timer_stop_and_add(ABT_timer timer, double *secs);

/** The seconds that a timer reads when it is stopped right after its start. From anywhere. */
ABT_API_PUBLIC int ABT_timer_get_overhead(double *overhead);

/* ---- information ----------------------------------------------------------------------------- */

/** What can be queried about the library, and the type of the answer. */
typedef enum ABT_info_query_kind {
    /** whether this is a debug build: ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_DEBUG,
    /** whether errors are printed: ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_PRINT_ERRNO,
    /** whether there is a log: ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_LOG,
    /** whether stacks are registered with Valgrind: ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_VALGRIND,
    /** whether arguments are checked: ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_CHECK_ERROR,
    /** whether it is checked which stream pushes: ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_CHECK_POOL_PRODUCER,
    /** whether it is checked which stream pops: ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_CHECK_POOL_CONSUMER,
    /** whether switches preserve the floating-point control words: ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_PRESERVE_FPU,
    /** whether ULTs can be cancelled: ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_THREAD_CANCEL,
    /** whether tasklets can be cancelled: ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_TASK_CANCEL,
    /** whether work units can migrate: ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_MIGRATION,
    /** whether schedulers can be put into pools: ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_STACKABLE_SCHED,
    /** whether external threads may call the library: ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_EXTERNAL_THREAD,
    /** whether idle schedulers sleep: ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_SCHED_SLEEP,
    /** whether ABT_init prints the configuration: ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_PRINT_CONFIG,
    /** whether execution streams can be bound to CPUs: ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_AFFINITY,
    /** the expected maximum number of execution streams: unsigned */
    ABT_INFO_QUERY_KIND_MAX_NUM_XSTREAMS,
    /** the size of a ULT's stack in bytes: size_t */
    ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE,
    /** the size of a scheduler's stack in bytes: size_t */
    ABT_INFO_QUERY_KIND_DEFAULT_SCHED_STACKSIZE,
    /** the number of work units run between two checks for events: uint64_t */
    ABT_INFO_QUERY_KIND_DEFAULT_SCHED_EVENT_FREQ,
    /** how long a scheduler sleeps, in nanoseconds: uint64_t */
    ABT_INFO_QUERY_KIND_DEFAULT_SCHED_SLEEP_NSEC,
    /** whether tools can register: ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_TOOL,
    /** whether stacks are switched without a system call: ABT_bool */
    ABT_INFO_QUERY_KIND_FCONTEXT,
    /** whether ULTs begin on the scheduler's stack: ABT_bool */
    ABT_INFO_QUERY_KIND_DYNAMIC_PROMOTION,
    /** whether dumps show the frames: ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_STACK_UNWIND,
    /** how stack overflows are detected, int: 0 not, 1 canary, 2 mprotect, 3 mprotect or error */
    ABT_INFO_QUERY_KIND_ENABLED_STACK_OVERFLOW_CHECK,
    /** how OS threads wait, int: 0 asleep, 1 busily */
    ABT_INFO_QUERY_KIND_WAIT_POLICY,
    /** whether ULTs get their stack when they begin: ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_LAZY_STACK_ALLOC
} ABT_info_query_kind;

/** Answers a query; `val` is the address of a variable of the answer's type. No such query:
 * ERR_INV_QUERY_KIND. Some queries work at any time; the others, not initialized:
 * ERR_UNINITIALIZED. From anywhere. */
ABT_API_PUBLIC int ABT_info_query_config(ABT_info_query_kind query_kind, void *val);

/** Prints the configuration. Not initialized: ERR_UNINITIALIZED. */
ABT_API_PUBLIC int ABT_info_print_config(FILE *fp);

/** Prints all execution streams. Not initialized: ERR_UNINITIALIZED. */
ABT_API_PUBLIC int ABT_info_print_all_xstreams(FILE *fp);

/** Prints an execution stream. */
ABT_API_PUBLIC int ABT_info_print_xstream(FILE *fp, ABT_xstream xstream);

/** Prints a scheduler. */
ABT_API_PUBLIC int ABT_info_print_sched(FILE *fp, ABT_sched sched);

/** Prints a pool. */
ABT_API_PUBLIC int ABT_info_print_pool(FILE *fp, ABT_pool pool);

/** Prints a work unit. */
ABT_API_PUBLIC int ABT_info_print_thread(FILE *fp, ABT_thread thread);

/** Prints an attribute. */
ABT_API_PUBLIC int ABT_info_print_thread_attr(FILE *fp, ABT_thread_attr attr);

/** Prints a tasklet; TASK_NULL: ERR_INV_TASK. */
ABT_API_PUBLIC int ABT_info_print_task(FILE *fp, ABT_task task);

/** Prints the stack of a ULT that does not run. */
ABT_API_PUBLIC int ABT_info_print_thread_stack(FILE *fp, ABT_thread thread);

/** Prints the stacks of all ULTs in a pool. A pool that cannot list its units: ERR_POOL. */
ABT_API_PUBLIC int ABT_info_print_thread_stacks_in_pool(FILE *fp, ABT_pool pool);

/** Requests a dump of the stacks of all ULTs in the main schedulers' pools. It is printed as soon
 * as all schedulers check for events, or else after `timeout` seconds (negative: never); after a
 * timeout the stacks shown may be wrong. Then cb_func(whether the timeout expired, arg) is called,
 * if not NULL. From anywhere, signal handlers included. */
ABT_API_PUBLIC int ABT_info_trigger_print_all_thread_stacks(FILE *fp, double timeout, void (*cb_func)(ABT_bool, void *),
                                                            void *arg);

/* ---- tools ----------------------------------------------------------------------------------- */

#define ABT_TOOL_EVENT_THREAD_NONE ((uint64_t)0x0)              /**< no event */
#define ABT_TOOL_EVENT_THREAD_CREATE ((uint64_t)0x1)            /**< was created */
#define ABT_TOOL_EVENT_THREAD_JOIN ((uint64_t)0x2)              /**< was joined */
#define ABT_TOOL_EVENT_THREAD_FREE ((uint64_t)0x4)              /**< is about to be freed */
#define ABT_TOOL_EVENT_THREAD_REVIVE ((uint64_t)0x8)            /**< was revived */
#define ABT_TOOL_EVENT_THREAD_RUN ((uint64_t)0x10)              /**< begins, or resumes */
#define ABT_TOOL_EVENT_THREAD_FINISH ((uint64_t)0x20)           /**< has ended */
#define ABT_TOOL_EVENT_THREAD_CANCEL ((uint64_t)0x40)           /**< has ended because it was cancelled */
#define ABT_TOOL_EVENT_THREAD_YIELD ((uint64_t)0x80)            /**< yields */
#define ABT_TOOL_EVENT_THREAD_SUSPEND ((uint64_t)0x100)         /**< is suspended */
#define ABT_TOOL_EVENT_THREAD_RESUME ((uint64_t)0x200)          /**< was resumed */
#define ABT_TOOL_EVENT_THREAD_ALL ((((uint64_t)0x1) << 12) - 1) /**< all events */

/** What a tool can query about an event, and the type of the answer. */
typedef enum ABT_tool_query_kind {
    ABT_TOOL_QUERY_KIND_POOL,              /**< the pool that it is pushed to: ABT_pool */
    ABT_TOOL_QUERY_KIND_STACK_DEPTH,       /**< the number of schedulers below it: int */
    ABT_TOOL_QUERY_KIND_CALLER_TYPE,       /**< the type of the event's cause: ABT_exec_entity_type */
    ABT_TOOL_QUERY_KIND_CALLER_HANDLE,     /**< the work unit that caused it: ABT_thread */
    ABT_TOOL_QUERY_KIND_SYNC_OBJECT_TYPE,  /**< the type of what it waits for: ABT_sync_event_type */
    ABT_TOOL_QUERY_KIND_SYNC_OBJECT_HANDLE /**< the object it waits for: a handle of that type */
} ABT_tool_query_kind;

/** What can cause an event. */
typedef enum ABT_exec_entity_type {
    ABT_EXEC_ENTITY_TYPE_EXT,   /**< an external thread */
    ABT_EXEC_ENTITY_TYPE_THREAD /**< a work unit */
} ABT_exec_entity_type;

/** What a ULT can wait for. */
typedef enum ABT_sync_event_type {
    ABT_SYNC_EVENT_TYPE_UNKNOWN,      /**< not known */
    ABT_SYNC_EVENT_TYPE_USER,         /**< the program: it yields, or suspends itself */
    ABT_SYNC_EVENT_TYPE_OTHER,        /**< something inside the library */
    ABT_SYNC_EVENT_TYPE_XSTREAM_JOIN, /**< the end of an execution stream */
    ABT_SYNC_EVENT_TYPE_THREAD_JOIN,  /**< the end of a work unit */
    ABT_SYNC_EVENT_TYPE_MUTEX,        /**< a mutex */
    ABT_SYNC_EVENT_TYPE_COND,         /**< a condition variable */
    ABT_SYNC_EVENT_TYPE_RWLOCK,       /**< a read-write lock */
    ABT_SYNC_EVENT_TYPE_EVENTUAL,     /**< an eventual */
    ABT_SYNC_EVENT_TYPE_FUTURE,       /**< a future */
    ABT_SYNC_EVENT_TYPE_BARRIER       /**< a barrier */
} ABT_sync_event_type;

/** A tool's callback for an event of a work unit, called on the OS thread where the event happens.
 * It must not wait for anything of Argobots. `xstream`: XSTREAM_NULL on an external thread. */
typedef void (*ABT_tool_thread_callback_fn)(ABT_thread thread, ABT_xstream xstream, uint64_t event,
                                            ABT_tool_context context, void *user_arg);
/** Like ABT_tool_thread_callback_fn, for tasklets. */
typedef void (*ABT_tool_task_callback_fn)(ABT_task task, ABT_xstream xstream, uint64_t event, ABT_tool_context context,
                                          void *user_arg);

/** Sets the callback for the events in `event_mask`, a sum of ABT_TOOL_EVENT_THREAD_x. The whole
 * process has one callback; NULL: none. ERR_FEATURE_NA. */
ABT_API_PUBLIC int ABT_tool_register_thread_callback(ABT_tool_thread_callback_fn cb_func, uint64_t event_mask,
                                                     void *user_arg);

/** Answers a query about the event that the caller, a tool's callback, was called for; `val` is the
 * address of a variable of the answer's type. No such query, or not for this event: ERR_INV_ARG.
 * ERR_FEATURE_NA. */
ABT_API_PUBLIC int ABT_tool_query_thread(ABT_tool_context context, uint64_t event, ABT_tool_query_kind query_kind,
                                         void *val);

#ifdef __cplusplus
}
#endif

#endif
