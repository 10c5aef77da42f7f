/* Argobots' interface, version 1.2, on Weft: programs written for Argobots are compiled with this
 * header and linked with libabt, or merely loaded with it. See doc/argobots.md. Compiles as C11 and
 * as C++; includes nothing of Weft.
 *
 * The nouns: an execution stream (`xstream`, ES) runs work units on one OS thread. A work unit is a
 * ULT (`thread`), which can yield and wait, or a tasklet (`task`), which runs to its end. Ready
 * work units wait in pools; a scheduler (`sched`) draws from its pools. An OS thread that is no
 * execution stream is called external. The primary ULT is the OS thread that called ABT_init.
 *
 * Conventions, which the comments below do not repeat:
 *  1. A call returns ABT_SUCCESS or one of the errors ABT_ERR_x.
 *  2. A handle that is ABT_x_NULL gives ABT_ERR_INV_x, where nothing else is said; so does the
 *     address of one for calls that free. A C null pointer is taken for such a handle. THREAD_NULL
 *     and TASK_NULL are the same to every call.
 *  3. A call that creates or starts something may return ABT_ERR_MEM (no memory) or ABT_ERR_SYS
 *     (the system refused). Nothing has been changed then, and the call may be repeated.
 *  4. Results come through pointers and are written only on success, but for: "X_NULL on error".
 *  5. "External: ERR_x", "tasklet: ERR_x", "not initialized: ERR_x": from there the call returns
 *     this error. Where nothing is said, a call may come from ULTs, tasklets and external threads,
 *     between ABT_init and ABT_finalize.
 *  6. A call does not switch to another work unit unless its comment says so.
 *  7. Calls on different objects may be made at the same time, and on one object too, except:
 *     attributes, configurations and definitions; freeing and any other use; set_data; pools of
 *     access PRIV. */
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

#define ABT_RELEASE_TYPE_ALPHA 0 /**< a version before all is written */
#define ABT_RELEASE_TYPE_BETA 1  /**< a version to be tried */
#define ABT_RELEASE_TYPE_RC 2    /**< a version that may become the release */
#define ABT_RELEASE_TYPE_PATCH 3 /**< a release, or a later correction of it */

/** The number of a version; of two, the later has the larger. */
#define ABT_CALC_VERSION(MAJOR, MINOR, REVISION, TYPE, PATCH) \
    ((MAJOR)*10000000 + (MINOR)*100000 + (REVISION)*1000 + (TYPE)*100 + (PATCH))

#define ABT_VERSION "1.2" /**< the version of Argobots whose interface this is */
#define ABT_NUMVERSION ABT_CALC_VERSION(1, 2, 0, ABT_RELEASE_TYPE_PATCH, 0) /**< its number: 10200300 */

#define ABT_API_PUBLIC __attribute__((visibility("default"))) /**< what libabt exports */
#define ABT_DEPRECATED __attribute__((deprecated))            /**< what new programs should not call */

/* ---- errors ---------------------------------------------------------------------------------- */

#define ABT_SUCCESS 0           /**< it is done */
#define ABT_ERR_UNINITIALIZED 1 /**< not between ABT_init and ABT_finalize */
#define ABT_ERR_MEM 2           /**< no memory */
#define ABT_ERR_OTHER 3         /**< none of the others */
#define ABT_ERR_INV_XSTREAM 4   /**< no such execution stream, or not one for this call; or the caller runs on none */
#define ABT_ERR_INV_XSTREAM_RANK 5    /**< a rank that is negative or taken */
#define ABT_ERR_INV_XSTREAM_BARRIER 6 /**< no such barrier of execution streams */
#define ABT_ERR_INV_SCHED 7           /**< no such scheduler, or one that is used already */
#define ABT_ERR_INV_SCHED_KIND 8      /**< no such kind of scheduler */
#define ABT_ERR_INV_SCHED_PREDEF 9    /**< no such scheduler among those that come with the library */
#define ABT_ERR_INV_SCHED_TYPE 10     /**< no such type of scheduler */
#define ABT_ERR_INV_SCHED_CONFIG 11   /**< no such configuration of schedulers */
#define ABT_ERR_INV_POOL 12           /**< no such pool */
#define ABT_ERR_INV_POOL_KIND 13      /**< no such kind of pool */
#define ABT_ERR_INV_POOL_ACCESS 14    /**< no such access to pools */
#define ABT_ERR_INV_UNIT 15           /**< no such unit */
#define ABT_ERR_INV_THREAD 16         /**< no such work unit, or not one for this call; or the caller is no ULT */
#define ABT_ERR_INV_THREAD_ATTR 17    /**< no such attribute of ULTs */
#define ABT_ERR_INV_TASK 18           /**< no tasklet */
#define ABT_ERR_INV_KEY 19            /**< no such key */
#define ABT_ERR_INV_MUTEX 20          /**< no such mutex, or another than others wait with */
#define ABT_ERR_INV_MUTEX_ATTR 21     /**< no such attribute of mutexes */
#define ABT_ERR_INV_COND 22           /**< no such condition variable */
#define ABT_ERR_INV_RWLOCK 23         /**< no such read-write lock */
#define ABT_ERR_INV_EVENTUAL 24       /**< no such eventual, or more bytes than it holds */
#define ABT_ERR_INV_FUTURE 25         /**< no such future */
#define ABT_ERR_INV_BARRIER 26        /**< no such barrier */
#define ABT_ERR_INV_TIMER 27          /**< no such timer */
#define ABT_ERR_INV_QUERY_KIND 28     /**< no such question to ABT_info_query_config */
#define ABT_ERR_XSTREAM 29            /**< an error of an execution stream */
#define ABT_ERR_XSTREAM_STATE 30      /**< not in this state of the execution stream */
#define ABT_ERR_XSTREAM_BARRIER 31    /**< an error of a barrier of execution streams */
#define ABT_ERR_SCHED 32              /**< the scheduler is in use, or has no such pools */
#define ABT_ERR_SCHED_CONFIG 33       /**< an error of a configuration of schedulers */
#define ABT_ERR_POOL 34               /**< the pool cannot do that */
#define ABT_ERR_UNIT 35               /**< the pool could make no unit */
#define ABT_ERR_THREAD 36             /**< the ULT is not suspended */
#define ABT_ERR_TASK 37               /**< an error of a tasklet */
#define ABT_ERR_KEY 38                /**< an error of a key */
#define ABT_ERR_MUTEX 39              /**< an error of a mutex */
#define ABT_ERR_MUTEX_LOCKED 40       /**< somebody else holds the mutex */
#define ABT_ERR_COND 41               /**< somebody waits for the condition, or the caller cannot wait */
#define ABT_ERR_COND_TIMEDOUT 42      /**< the deadline came first */
#define ABT_ERR_RWLOCK 43             /**< the caller cannot wait for the lock */
#define ABT_ERR_EVENTUAL 44           /**< the eventual is set already, or the caller cannot wait for it */
#define ABT_ERR_FUTURE 45             /**< the future is ready already, or the caller cannot wait for it */
#define ABT_ERR_BARRIER 46            /**< the caller cannot wait at the barrier */
#define ABT_ERR_TIMER 47              /**< an error of a timer */
#define ABT_ERR_MIGRATION_TARGET 48   /**< the work unit is there already */
#define ABT_ERR_MIGRATION_NA 49       /**< there is nowhere to migrate to */
#define ABT_ERR_MISSING_JOIN 50       /**< something was not joined */
#define ABT_ERR_FEATURE_NA 51         /**< the library was built without it, or the system has it not */
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
/** The functions that a pool of the program's own consists of; made by ABT_pool_user_def_create, or
 * an ABT_pool_def's address. */
typedef struct ABT_pool_def *ABT_pool_user_def;
/** A work unit as its pool sees it. */
typedef struct ABT_unit_opaque *ABT_unit;
/** A work unit: a ULT or a tasklet. */
typedef struct ABT_thread_opaque *ABT_thread;
/** What a ULT is created with. */
typedef struct ABT_thread_attr_opaque *ABT_thread_attr;
/** A work unit that is meant to be a tasklet; the same type as ABT_thread. */
typedef struct ABT_thread_opaque *ABT_task;
/** A name under which every work unit has a value of its own. */
typedef struct ABT_key_opaque *ABT_key;
/** A lock. */
typedef struct ABT_mutex_opaque *ABT_mutex;
/** What a mutex is created with. */
typedef struct ABT_mutex_attr_opaque *ABT_mutex_attr;
/** A condition variable. */
typedef struct ABT_cond_opaque *ABT_cond;
/** A lock for many readers or one writer. */
typedef struct ABT_rwlock_opaque *ABT_rwlock;
/** Something that happens once and carries some bytes. */
typedef struct ABT_eventual_opaque *ABT_eventual;
/** Several pointers to come. */
typedef struct ABT_future_opaque *ABT_future;
/** A barrier at which work units wait. */
typedef struct ABT_barrier_opaque *ABT_barrier;
/** A stop watch. */
typedef struct ABT_timer_opaque *ABT_timer;
/** What a tool asks about an event that it was told of. */
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

/** The number of a work unit; from 0 after each ABT_init. */
typedef uint64_t ABT_unit_id;
/** The number of a work unit, as ABT_unit_id. */
typedef uint64_t ABT_thread_id;

/* ---- starting and ending --------------------------------------------------------------------- */

/** Starts the library: the caller becomes the primary ULT on the primary execution stream. Calls
 * may nest, also from several threads at once: only the first starts anything, each needs its
 * ABT_finalize. The environment (ABT_ and ABT_ENV_) is read by the first. Both arguments are
 * ignored. From anywhere; may switch. */
ABT_API_PUBLIC int ABT_init(int argc, char **argv);

/** Ends what one ABT_init began. The last one runs what is ready in the primary execution stream's
 * pools, then frees that stream, its main scheduler, and all pools of that one, automatic or not.
 * ERR_UNINITIALIZED; the last one, by an external thread: ERR_INV_XSTREAM; by another than the
 * primary ULT: ERR_INV_THREAD. May switch. */
ABT_API_PUBLIC int ABT_finalize(void);

/** ABT_SUCCESS if the library runs, else ERR_UNINITIALIZED. From anywhere and at any time, signal
 * handlers included. */
ABT_API_PUBLIC int ABT_initialized(void);

/* ---- execution streams ----------------------------------------------------------------------- */

/** What an execution stream does. */
typedef enum ABT_xstream_state {
    ABT_XSTREAM_STATE_RUNNING,   /**< runs its main scheduler */
    ABT_XSTREAM_STATE_TERMINATED /**< has ended; can be revived or freed */
} ABT_xstream_state;

/** The schedulers that come with the library. */
typedef enum ABT_sched_predef {
    ABT_SCHED_DEFAULT,   /**< ABT_SCHED_BASIC */
    ABT_SCHED_BASIC,     /**< the first pool that has something, in the order of the pools */
    ABT_SCHED_PRIO,      /**< the same, the pools being levels of priority; makes three of them */
    ABT_SCHED_RANDWS,    /**< its first pool, and when that is empty another at random */
    ABT_SCHED_BASIC_WAIT /**< as ABT_SCHED_BASIC, and sleeps in the first pool when all are empty */
} ABT_sched_predef;

#define ABT_XSTREAM_ANY_RANK -1 /**< the smallest free rank */

/** Creates an execution stream, which runs at once, with the smallest free rank. `sched` becomes
 * its main scheduler; SCHED_NULL: the default one with one pool (FIFO, MPMC). A scheduler in use:
 * ERR_INV_SCHED. XSTREAM_NULL on error. */
ABT_API_PUBLIC int ABT_xstream_create(ABT_sched sched, ABT_xstream *newxstream);

/** As ABT_xstream_create, with a scheduler that is made for it, as ABT_sched_create_basic makes
 * one: same arguments, same errors; pools that were handed over stay when it fails. XSTREAM_NULL on
 * error. */
ABT_API_PUBLIC int ABT_xstream_create_basic(ABT_sched_predef predef, int num_pools, ABT_pool *pools,
                                            ABT_sched_config config, ABT_xstream *newxstream);

/** As ABT_xstream_create, with this rank. One that is taken or negative: ERR_INV_XSTREAM_RANK.
 * XSTREAM_NULL on error. */
ABT_API_PUBLIC int ABT_xstream_create_with_rank(ABT_sched sched, int rank, ABT_xstream *newxstream);

/** Joins the execution stream and frees it, with its scheduler and pools if these are automatic;
 * sets the handle to XSTREAM_NULL. The primary one, or the caller's own: ERR_INV_XSTREAM. May
 * switch. */
ABT_API_PUBLIC int ABT_xstream_free(ABT_xstream *xstream);

/** Asks the main scheduler to end when its pools are empty, and waits until the OS thread has. A
 * ULT that is blocked keeps it running if no other scheduler draws from its pool. The primary one,
 * or the caller's own: ERR_INV_XSTREAM. May switch. */
ABT_API_PUBLIC int ABT_xstream_join(ABT_xstream xstream);

/** Starts one that has terminated again, with the same main scheduler. Not terminated:
 * ERR_INV_XSTREAM. May switch. */
ABT_API_PUBLIC int ABT_xstream_revive(ABT_xstream xstream);

/** Ends the caller, and its execution stream whatever is left in the pools. Does not return when it
 * succeeds. On the primary one: ERR_INV_XSTREAM; external: ERR_INV_XSTREAM; tasklet, primary ULT:
 * ERR_INV_THREAD; not initialized: ERR_UNINITIALIZED. Switches. */
ABT_API_PUBLIC int ABT_xstream_exit(void);

/** Asks the execution stream to end whatever is left in the pools; it does when its scheduler next
 * looks for events. The primary one: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_xstream_cancel(ABT_xstream xstream);

/** The execution stream that the caller runs on. Superseded by ABT_self_get_xstream. External:
 * ERR_INV_XSTREAM; not initialized: ERR_UNINITIALIZED; XSTREAM_NULL on error. */
ABT_API_PUBLIC int ABT_xstream_self(ABT_xstream *xstream);

/** Its rank. Superseded by ABT_self_get_xstream_rank. External: ERR_INV_XSTREAM; not initialized:
 * ERR_UNINITIALIZED. */
ABT_API_PUBLIC int ABT_xstream_self_rank(int *rank);

/** Gives an execution stream another rank. One that is taken or negative: ERR_INV_XSTREAM_RANK; the
 * primary one: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_xstream_set_rank(ABT_xstream xstream, int rank);

/** The rank: a number of its own from 0 on. */
ABT_API_PUBLIC int ABT_xstream_get_rank(ABT_xstream xstream, int *rank);

/** Replaces the main scheduler: of the execution stream that the caller runs on, or of one that has
 * terminated; of another one: ERR_XSTREAM_STATE. The caller waits until the old scheduler has
 * ended, which its has_to_stop tells it as soon as its pools are empty; it is freed if automatic. A
 * caller whose pool was one of the old scheduler's belongs to the first of the new one's from then
 * on. SCHED_NULL: a default scheduler. One in use: ERR_INV_SCHED. External: ERR_INV_XSTREAM;
 * tasklet: ERR_INV_THREAD. Switches. */
ABT_API_PUBLIC int ABT_xstream_set_main_sched(ABT_xstream xstream, ABT_sched sched);

/** As ABT_xstream_set_main_sched, with a scheduler that is made for it, as ABT_sched_create_basic
 * makes one: same arguments, same errors. External: ERR_INV_XSTREAM; tasklet: ERR_INV_THREAD.
 * Switches. */
ABT_API_PUBLIC int ABT_xstream_set_main_sched_basic(ABT_xstream xstream, ABT_sched_predef predef, int num_pools,
                                                    ABT_pool *pools);

/** The main scheduler. */
ABT_API_PUBLIC int ABT_xstream_get_main_sched(ABT_xstream xstream, ABT_sched *sched);

/** The first pools of the main scheduler, at most `max_pools` of them. Negative: ERR_INV_ARG. */
ABT_API_PUBLIC int ABT_xstream_get_main_pools(ABT_xstream xstream, int max_pools, ABT_pool *pools);

/** Whether it runs or has terminated. */
ABT_API_PUBLIC int ABT_xstream_get_state(ABT_xstream xstream, ABT_xstream_state *state);

/** Whether both are the same; they may be XSTREAM_NULL. From anywhere. */
ABT_API_PUBLIC int ABT_xstream_equal(ABT_xstream xstream1, ABT_xstream xstream2, ABT_bool *result);

/** How many execution streams there are, the primary one included. Not initialized:
 * ERR_UNINITIALIZED, and 0. */
ABT_API_PUBLIC int ABT_xstream_get_num(int *num_xstreams);

/** Whether it is the primary one. */
ABT_API_PUBLIC int ABT_xstream_is_primary(ABT_xstream xstream, ABT_bool *is_primary);

/** Runs a unit that the caller has popped, as ABT_self_schedule does, by which it is superseded; it
 * belongs to `pool` from then on, and the unit's handle may change. External: ERR_INV_XSTREAM;
 * tasklet: ERR_INV_THREAD; what the pool's create_unit fails with. Switches. */
ABT_API_PUBLIC int ABT_xstream_run_unit(ABT_unit unit, ABT_pool pool);

/** Serves what was asked of the execution stream (join, cancel, stack dump). A scheduler of the
 * program's own must call it every now and then, for itself: otherwise ERR_INV_THREAD. External:
 * ERR_INV_XSTREAM; not initialized: ERR_UNINITIALIZED. May switch. */
ABT_API_PUBLIC int ABT_xstream_check_events(ABT_sched sched);

/** Binds the execution stream's OS thread to one CPU. No such CPU: ERR_CPUID; the system cannot:
 * ERR_FEATURE_NA, ERR_SYS. May switch. */
ABT_API_PUBLIC int ABT_xstream_set_cpubind(ABT_xstream xstream, int cpuid);

/** The first CPU that its OS thread may run on, also where nobody has bound it. It has ended:
 * ERR_INV_XSTREAM. ERR_SYS. */
ABT_API_PUBLIC int ABT_xstream_get_cpubind(ABT_xstream xstream, int *cpuid);

/** Binds it to several CPUs; none: to all. Negative number: ERR_INV_ARG; no such CPU: ERR_CPUID;
 * the system cannot: ERR_FEATURE_NA, ERR_SYS. May switch. */
ABT_API_PUBLIC int ABT_xstream_set_affinity(ABT_xstream xstream, int num_cpuids, int *cpuids);

/** The CPUs that its OS thread may run on, at most `max_cpuids` of them, and how many these are;
 * either may be NULL. Of one that nobody has bound: the process's. Negative: ERR_INV_ARG; it has
 * ended: ERR_INV_XSTREAM. ERR_SYS. */
ABT_API_PUBLIC int ABT_xstream_get_affinity(ABT_xstream xstream, int max_cpuids, int *cpuids, int *num_cpuids);

/* ---- barriers of execution streams ----------------------------------------------------------- */

/** Creates a barrier for `num_waiters` OS threads; 0: ERR_INV_ARG. XSTREAM_BARRIER_NULL on
 * error. */
ABT_API_PUBLIC int ABT_xstream_barrier_create(uint32_t num_waiters, ABT_xstream_barrier *newbarrier);

/** Frees it, and sets the handle to XSTREAM_BARRIER_NULL. */
ABT_API_PUBLIC int ABT_xstream_barrier_free(ABT_xstream_barrier *barrier);

/** Waits until all have come. Whoever calls, the OS thread sleeps, with all that it could run. */
ABT_API_PUBLIC int ABT_xstream_barrier_wait(ABT_xstream_barrier barrier);

/* ---- schedulers ------------------------------------------------------------------------------ */

/** What a scheduler does. */
typedef enum ABT_sched_state {
    ABT_SCHED_STATE_READY,     /**< has not begun */
    ABT_SCHED_STATE_RUNNING,   /**< runs */
    ABT_SCHED_STATE_STOPPED,   /**< has been stopped */
    ABT_SCHED_STATE_TERMINATED /**< has ended */
} ABT_sched_state;

/** What a scheduler runs as. */
typedef enum ABT_sched_type {
    ABT_SCHED_TYPE_ULT, /**< a ULT */
    ABT_SCHED_TYPE_TASK /**< a tasklet */
} ABT_sched_type;

/** Begins a scheduler; another result than ABT_SUCCESS is that of ABT_sched_create. */
typedef int (*ABT_sched_init_fn)(ABT_sched sched, ABT_sched_config config);
/** Draws from the pools and runs what it gets until ABT_sched_has_to_stop says so. */
typedef void (*ABT_sched_run_fn)(ABT_sched sched);
/** Ends a scheduler. */
typedef int (*ABT_sched_free_fn)(ABT_sched sched);
/** The pool that a work unit shall go to that migrates to this scheduler. */
typedef ABT_pool (*ABT_sched_get_migr_pool_fn)(ABT_sched sched);

/** A scheduler of the program's own. It is copied. */
typedef struct ABT_sched_def {
    ABT_sched_type type;                      /**< ABT_SCHED_TYPE_ULT */
    ABT_sched_init_fn init;                   /**< NULL, or called when it is created */
    ABT_sched_run_fn run;                     /**< required: called as a ULT of its own */
    ABT_sched_free_fn free;                   /**< NULL, or called when it is freed */
    ABT_sched_get_migr_pool_fn get_migr_pool; /**< NULL: the first pool */
} ABT_sched_def;

/** Creates a scheduler from a definition. Entries of `pools` that are POOL_NULL are replaced by new
 * pools; a negative number: ERR_INV_ARG. It is not automatic, unless `config` says so. What its
 * init returns is returned. SCHED_NULL on error. */
ABT_API_PUBLIC int ABT_sched_create(ABT_sched_def *def, int num_pools, ABT_pool *pools, ABT_sched_config config,
                                    ABT_sched *newsched);

/** Creates one of those that come with the library. `pools` NULL: as many as it needs are made,
 * entries that are POOL_NULL too. It is automatic, unless `config` says otherwise: freed with its
 * execution stream. A negative number: ERR_INV_ARG; no such one: ERR_INV_SCHED_PREDEF. SCHED_NULL
 * on error. */
ABT_API_PUBLIC int ABT_sched_create_basic(ABT_sched_predef predef, int num_pools, ABT_pool *pools,
                                          ABT_sched_config config, ABT_sched *newsched);

/** Frees a scheduler and those of its pools that are automatic and nobody else's; sets the handle
 * to SCHED_NULL. In use: ERR_SCHED. */
ABT_API_PUBLIC int ABT_sched_free(ABT_sched *sched);

/** Keeps a pointer of the program's in the scheduler. */
ABT_API_PUBLIC int ABT_sched_set_data(ABT_sched sched, void *data);

/** That pointer. */
ABT_API_PUBLIC int ABT_sched_get_data(ABT_sched sched, void **data);

/** How many pools it has. */
ABT_API_PUBLIC int ABT_sched_get_num_pools(ABT_sched sched, int *num_pools);

/** `max_pools` of its pools, from number `idx` on. Negative ones: ERR_INV_ARG; more than it has:
 * ERR_SCHED. */
ABT_API_PUBLIC int ABT_sched_get_pools(ABT_sched sched, int max_pools, int idx, ABT_pool *pools);

/** How many work units are ready in its pools. A pool that cannot tell: ERR_POOL. 0 on error. */
ABT_API_PUBLIC int ABT_sched_get_size(ABT_sched sched, size_t *size);

/** As ABT_sched_get_size, plus suspended ones that belong to its pools. A pool that cannot tell:
 * ERR_POOL. 0 on error. */
ABT_API_PUBLIC int ABT_sched_get_total_size(ABT_sched sched, size_t *size);

/** Asks it to end when its pools are empty. */
ABT_API_PUBLIC int ABT_sched_finish(ABT_sched sched);

/** Asks it to end whatever is left in its pools. */
ABT_API_PUBLIC int ABT_sched_exit(ABT_sched sched);

/** Whether it has to end now: for its run function. External: ERR_INV_XSTREAM, and ABT_FALSE. May
 * switch. */
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
    int idx;                    /**< its number; those of the program begin with 0 */
    ABT_sched_config_type type; /**< its type */
} ABT_sched_config_var;

extern ABT_API_PUBLIC ABT_sched_config_var
    ABT_sched_config_var_end; /**< ends the arguments of ABT_sched_config_create */
extern ABT_API_PUBLIC ABT_sched_config_var
    ABT_sched_config_access; /**< access of the pools that are made for the scheduler: ABT_pool_access */
extern ABT_API_PUBLIC ABT_sched_config_var
    ABT_sched_config_automatic; /**< whether the library frees the scheduler: ABT_bool */
extern ABT_API_PUBLIC ABT_sched_config_var
    ABT_sched_basic_freq; /**< how many work units it runs between two looks for events: int */

/** Creates a configuration from pairs of an ABT_sched_config_var and a value of its type, ended by
 * ABT_sched_config_var_end. No such type: ERR_INV_ARG. */
ABT_API_PUBLIC int ABT_sched_config_create(ABT_sched_config *config, ...);

/** Reads the values 0 to num_vars-1 into places of their types, which follow: NULL skips one, and
 * one that is not set stays as it was. A negative number: ERR_INV_ARG. */
ABT_API_PUBLIC int ABT_sched_config_read(ABT_sched_config config, int num_vars, ...);

/** Frees it, and sets the handle to SCHED_CONFIG_NULL. */
ABT_API_PUBLIC int ABT_sched_config_free(ABT_sched_config *config);

/** Sets one value, of which `val` is the address; NULL takes it away. No such type: ERR_INV_ARG. */
ABT_API_PUBLIC int ABT_sched_config_set(ABT_sched_config config, int idx, ABT_sched_config_type type, const void *val);

/** Reads one value and its type, each of which may be NULL. Not set: ERR_INV_ARG. */
ABT_API_PUBLIC int ABT_sched_config_get(ABT_sched_config config, int idx, ABT_sched_config_type *p_type, void *val);

/* ---- pools ----------------------------------------------------------------------------------- */

/** The pools that come with the library. */
typedef enum ABT_pool_kind {
    ABT_POOL_FIFO,      /**< first in, first out */
    ABT_POOL_FIFO_WAIT, /**< the same; schedulers can sleep in it */
    ABT_POOL_RANDWS     /**< the newest first for its scheduler, the oldest for those that steal */
} ABT_pool_kind;

/** Who pushes to a pool and who pops from it: one or several execution streams. */
typedef enum ABT_pool_access {
    ABT_POOL_ACCESS_PRIV, /**< one, the same for both */
    ABT_POOL_ACCESS_SPSC, /**< one pushes, one pops */
    ABT_POOL_ACCESS_MPSC, /**< several push, one pops */
    ABT_POOL_ACCESS_SPMC, /**< one pushes, several pop */
    ABT_POOL_ACCESS_MPMC  /**< several push, several pop */
} ABT_pool_access;

/** What is in a pool, or who calls. */
typedef enum ABT_unit_type {
    ABT_UNIT_TYPE_THREAD,  /**< a ULT */
    ABT_UNIT_TYPE_TASK,    /**< a tasklet */
    ABT_UNIT_TYPE_XSTREAM, /**< an execution stream */
    ABT_UNIT_TYPE_EXT      /**< an external thread */
} ABT_unit_type;

/** Why something is pushed or popped, and by whom: the sum of one bit of each group, or none. */
typedef uint64_t ABT_pool_context;
#define ABT_POOL_CONTEXT_PRIO_DEFAULT ((ABT_pool_context)0x0)    /**< as urgent as any other */
#define ABT_POOL_CONTEXT_PRIO_HIGH ((ABT_pool_context)0x1)       /**< more urgent than others */
#define ABT_POOL_CONTEXT_PRIO_LOW ((ABT_pool_context)0x2)        /**< less urgent than others */
#define ABT_POOL_CONTEXT_OWNER_OTHER ((ABT_pool_context)0x0)     /**< popped by no scheduler */
#define ABT_POOL_CONTEXT_OWNER_PRIMARY ((ABT_pool_context)0x100) /**< popped by a scheduler whose first pool it is */
#define ABT_POOL_CONTEXT_OWNER_SECONDARY \
    ((ABT_pool_context)0x200)                                  /**< popped by a scheduler whose first pool is another */
#define ABT_POOL_CONTEXT_OP_POOL_OTHER ((ABT_pool_context)0x0) /**< pushed by the program */
#define ABT_POOL_CONTEXT_OP_THREAD_CREATE ((ABT_pool_context)0x1000) /**< a new work unit */
#define ABT_POOL_CONTEXT_OP_THREAD_CREATE_TO \
    ((ABT_pool_context)0x2000)                                       /**< a ULT that goes to one that it has created */
#define ABT_POOL_CONTEXT_OP_THREAD_REVIVE ((ABT_pool_context)0x4000) /**< a work unit that was revived */
#define ABT_POOL_CONTEXT_OP_THREAD_REVIVE_TO \
    ((ABT_pool_context)0x8000)                                       /**< a ULT that goes to one that it has revived */
#define ABT_POOL_CONTEXT_OP_THREAD_YIELD ((ABT_pool_context)0x10000) /**< a ULT that yields */
#define ABT_POOL_CONTEXT_OP_THREAD_YIELD_TO ((ABT_pool_context)0x20000) /**< a ULT that yields to another */
#define ABT_POOL_CONTEXT_OP_THREAD_RESUME_YIELD_TO \
    ((ABT_pool_context)0x40000) /**< a ULT that yields to one that it resumes */
#define ABT_POOL_CONTEXT_OP_THREAD_YIELD_LOOP \
    ((ABT_pool_context)0x80000) /**< a ULT that yields again and again until something is so */
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
/** Makes the unit for a work unit: any value with bit 0 clear but UNIT_NULL, which says that there
 * is no memory. */
typedef ABT_unit (*ABT_unit_create_from_thread_fn)(ABT_thread thread);
/** Makes the unit for a tasklet. Never called. */
typedef ABT_unit (*ABT_unit_create_from_task_fn)(ABT_task task);
/** Frees what made the unit. */
typedef void (*ABT_unit_free_fn)(ABT_unit *unit);
/** Begins a pool; another result than ABT_SUCCESS is that of ABT_pool_create. */
typedef int (*ABT_pool_init_fn)(ABT_pool pool, ABT_pool_config config);
/** How many units are in the pool. */
typedef size_t (*ABT_pool_get_size_fn)(ABT_pool pool);
/** Puts a unit into the pool. */
typedef void (*ABT_pool_push_fn)(ABT_pool pool, ABT_unit unit);
/** Takes a unit out of the pool; UNIT_NULL: it is empty. */
typedef ABT_unit (*ABT_pool_pop_fn)(ABT_pool pool);
/** As ABT_pool_pop_fn, and waits so many seconds for one. */
typedef ABT_unit (*ABT_pool_pop_wait_fn)(ABT_pool pool, double time_secs);
/** As ABT_pool_pop_fn, and waits for one until the clock of ABT_get_wtime says so. */
typedef ABT_unit (*ABT_pool_pop_timedwait_fn)(ABT_pool pool, double abstime_secs);
/** Takes this unit out of the pool. */
typedef int (*ABT_pool_remove_fn)(ABT_pool pool, ABT_unit unit);
/** Ends the pool. */
typedef int (*ABT_pool_free_fn)(ABT_pool pool);
/** Calls print_fn(arg, unit) for each unit in the pool. */
typedef int (*ABT_pool_print_all_fn)(ABT_pool pool, void *arg, void (*print_fn)(void *arg, ABT_unit unit));

/** A pool of the program's own, the old way. It is copied. Required are u_create_from_thread,
 * u_free, p_get_size, p_push and p_pop; the first three of those that begin with u_, and
 * u_create_from_task, are never looked at. */
typedef struct ABT_pool_def {
    ABT_pool_access access;                              /**< what ABT_pool_get_access shall say */
    ABT_unit_get_type_fn u_get_type;                     /**< not looked at */
    ABT_unit_get_thread_fn u_get_thread;                 /**< not looked at */
    ABT_unit_get_task_fn u_get_task;                     /**< not looked at */
    ABT_unit_is_in_pool_fn u_is_in_pool;                 /**< NULL: ABT_thread_yield_to is refused */
    ABT_unit_create_from_thread_fn u_create_from_thread; /**< required */
    ABT_unit_create_from_task_fn u_create_from_task;     /**< not looked at */
    ABT_unit_free_fn u_free;                             /**< required */
    ABT_pool_init_fn p_init;                             /**< NULL, or called when it is created */
    ABT_pool_get_size_fn p_get_size;                     /**< required */
    ABT_pool_push_fn p_push;                             /**< required */
    ABT_pool_pop_fn p_pop;                               /**< required */
    ABT_pool_pop_timedwait_fn p_pop_timedwait;           /**< NULL: nobody can wait in it */
    ABT_pool_remove_fn p_remove;                         /**< NULL: nothing can be removed */
    ABT_pool_free_fn p_free;                             /**< NULL, or called when it is freed */
    ABT_pool_print_all_fn p_print_all;                   /**< NULL: its content is not printed */
} ABT_pool_def;

/** Creates a pool from a definition, of either sort. Its p_init is called last, with `config`, and
 * what that returns is returned. It is not automatic, unless `config` says so. No definition:
 * ERR_INV_POOL_USER_DEF. POOL_NULL on error. */
ABT_API_PUBLIC int ABT_pool_create(ABT_pool_user_def def, ABT_pool_config config, ABT_pool *newpool);

/** Creates a pool that comes with the library. `automatic`: it is freed with the last scheduler
 * that draws from it. No such kind: ERR_INV_POOL_KIND; no such access: ERR_INV_POOL_ACCESS.
 * POOL_NULL on error. */
ABT_API_PUBLIC int ABT_pool_create_basic(ABT_pool_kind kind, ABT_pool_access access, ABT_bool automatic,
                                         ABT_pool *newpool);

/** Frees a pool that is empty and that no scheduler uses; sets the handle to POOL_NULL. */
ABT_API_PUBLIC int ABT_pool_free(ABT_pool *pool);

/** Who may push and pop. */
ABT_API_PUBLIC int ABT_pool_get_access(ABT_pool pool, ABT_pool_access *access);

/** Whether nothing is ready in it. */
ABT_API_PUBLIC int ABT_pool_is_empty(ABT_pool pool, ABT_bool *is_empty);

/** How many work units are ready in it. It cannot tell: ERR_POOL. */
ABT_API_PUBLIC int ABT_pool_get_size(ABT_pool pool, size_t *size);

/** As ABT_pool_get_size, plus suspended ones that belong to it. It cannot tell: ERR_POOL. */
ABT_API_PUBLIC int ABT_pool_get_total_size(ABT_pool pool, size_t *size);

/** Takes a work unit out of the pool; THREAD_NULL when there is none. */
ABT_API_PUBLIC int ABT_pool_pop_thread(ABT_pool pool, ABT_thread *thread);

/** As ABT_pool_pop_thread, and hands these bits to the pool. */
ABT_API_PUBLIC int ABT_pool_pop_thread_ex(ABT_pool pool, ABT_thread *thread, ABT_pool_context pool_ctx);

/** Takes up to `len` work units out of the pool; `num` receives how many. It cannot take several:
 * ERR_POOL. */
ABT_API_PUBLIC int ABT_pool_pop_threads(ABT_pool pool, ABT_thread *threads, size_t len, size_t *num);

/** As ABT_pool_pop_threads, and hands these bits to the pool. */
ABT_API_PUBLIC int ABT_pool_pop_threads_ex(ABT_pool pool, ABT_thread *threads, size_t len, size_t *num,
                                           ABT_pool_context pool_ctx);

/** Puts a work unit that is ready and in no pool into this one, to which it belongs from then on.
 * THREAD_NULL is passed over. What the pool's create_unit fails with: ERR_UNIT, ERR_OTHER. */
ABT_API_PUBLIC int ABT_pool_push_thread(ABT_pool pool, ABT_thread thread);

/** As ABT_pool_push_thread, and hands these bits to the pool. */
ABT_API_PUBLIC int ABT_pool_push_thread_ex(ABT_pool pool, ABT_thread thread, ABT_pool_context pool_ctx);

/** As ABT_pool_push_thread, for several; THREAD_NULL entries are passed over. It cannot take
 * several: ERR_POOL. */
ABT_API_PUBLIC int ABT_pool_push_threads(ABT_pool pool, const ABT_thread *threads, size_t num);

/** As ABT_pool_push_threads, and hands these bits to the pool. */
ABT_API_PUBLIC int ABT_pool_push_threads_ex(ABT_pool pool, const ABT_thread *threads, size_t num,
                                            ABT_pool_context pool_ctx);

/** As ABT_pool_pop_thread, and waits so many seconds for one; the OS thread sleeps. It cannot wait:
 * ERR_POOL. */
ABT_API_PUBLIC int ABT_pool_pop_wait_thread(ABT_pool pool, ABT_thread *thread, double time_secs);

/** As ABT_pool_pop_wait_thread, and hands these bits to the pool. */
ABT_API_PUBLIC int ABT_pool_pop_wait_thread_ex(ABT_pool pool, ABT_thread *thread, double time_secs,
                                               ABT_pool_context pool_ctx);

/** Calls print_fn(arg, thread) for each work unit in it. It cannot tell: ERR_POOL. */
ABT_API_PUBLIC int ABT_pool_print_all_threads(ABT_pool pool, void *arg, void (*print_fn)(void *arg, ABT_thread));

/** Keeps a pointer of the program's in the pool. */
ABT_API_PUBLIC int ABT_pool_set_data(ABT_pool pool, void *data);

/** That pointer. */
ABT_API_PUBLIC int ABT_pool_get_data(ABT_pool pool, void **data);

/** Makes the scheduler a ULT in this pool: when that is run, it draws from its own pools until
 * these are empty. In use: ERR_INV_SCHED. */
ABT_API_PUBLIC int ABT_pool_add_sched(ABT_pool pool, ABT_sched sched);

/** The pool's number, from 0 on. */
ABT_API_PUBLIC int ABT_pool_get_id(ABT_pool pool, int *id);

/** As ABT_pool_pop_thread, by which it is superseded, for units; UNIT_NULL when there is none. */
ABT_API_PUBLIC int ABT_pool_pop(ABT_pool pool, ABT_unit *unit);

/** As ABT_pool_pop_wait_thread, by which it is superseded, for units. It cannot wait: ERR_POOL. */
ABT_API_PUBLIC int ABT_pool_pop_wait(ABT_pool pool, ABT_unit *unit, double time_secs);

/** As ABT_pool_pop_wait, but waits until the clock of ABT_get_wtime says so. It cannot wait:
 * ERR_POOL. */
ABT_API_PUBLIC int ABT_pool_pop_timedwait(ABT_pool pool, ABT_unit *unit, double abstime_secs) ABT_DEPRECATED;

/** Takes this unit, which must be in the pool, out of it. It cannot: ERR_POOL. */
ABT_API_PUBLIC int ABT_pool_remove(ABT_pool pool, ABT_unit unit);

/** As ABT_pool_push_thread, by which it is superseded, for a unit; the unit's handle may change. */
ABT_API_PUBLIC int ABT_pool_push(ABT_pool pool, ABT_unit unit);

/** As ABT_pool_print_all_threads, by which it is superseded, for units. It cannot tell:
 * ERR_POOL. */
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
    int key;                   /**< its key; those of the program begin with 0 */
    ABT_pool_config_type type; /**< its type */
} ABT_pool_config_var;

extern ABT_API_PUBLIC const ABT_pool_config_var
    ABT_pool_config_automatic; /**< whether the library frees the pool: ABT_bool */

/** Creates a configuration without values. */
ABT_API_PUBLIC int ABT_pool_config_create(ABT_pool_config *config);

/** Frees it, and sets the handle to POOL_CONFIG_NULL. */
ABT_API_PUBLIC int ABT_pool_config_free(ABT_pool_config *config);

/** Sets one value, of which `val` is the address; NULL takes it away. No such type: ERR_INV_ARG. */
ABT_API_PUBLIC int ABT_pool_config_set(ABT_pool_config config, int key, ABT_pool_config_type type, const void *val);

/** Reads one value and its type, each of which may be NULL. Not set: ERR_INV_ARG. */
ABT_API_PUBLIC int ABT_pool_config_get(ABT_pool_config config, int key, ABT_pool_config_type *p_type, void *val);

/* ---- definitions of pools -------------------------------------------------------------------- */

/** Makes the unit for a work unit that comes to belong to the pool: any value with bit 0 clear but
 * UNIT_NULL, which says that there is no memory; that of the handle is legal. */
typedef ABT_unit (*ABT_pool_user_create_unit_fn)(ABT_pool pool, ABT_thread thread);
/** Frees what made the unit. */
typedef void (*ABT_pool_user_free_unit_fn)(ABT_pool pool, ABT_unit unit);
/** Whether nothing is in the pool. */
typedef ABT_bool (*ABT_pool_user_is_empty_fn)(ABT_pool pool);
/** Takes a work unit out of the pool; THREAD_NULL: it is empty. */
typedef ABT_thread (*ABT_pool_user_pop_fn)(ABT_pool pool, ABT_pool_context context);
/** Puts a unit into the pool. */
typedef void (*ABT_pool_user_push_fn)(ABT_pool pool, ABT_unit unit, ABT_pool_context context);
/** Begins a pool; another result than ABT_SUCCESS is that of ABT_pool_create. */
typedef int (*ABT_pool_user_init_fn)(ABT_pool pool, ABT_pool_config config);
/** Ends the pool. */
typedef void (*ABT_pool_user_free_fn)(ABT_pool pool);
/** How many units are in the pool. */
typedef size_t (*ABT_pool_user_get_size_fn)(ABT_pool pool);
/** As pop, and waits so many seconds for one. */
typedef ABT_thread (*ABT_pool_user_pop_wait_fn)(ABT_pool pool, double time_secs, ABT_pool_context context);
/** Takes up to `max_threads` work units out of the pool, and tells how many these are. */
typedef void (*ABT_pool_user_pop_many_fn)(ABT_pool pool, ABT_thread *threads, size_t max_threads, size_t *num_popped,
                                          ABT_pool_context context);
/** Puts several units into the pool. */
typedef void (*ABT_pool_user_push_many_fn)(ABT_pool pool, const ABT_unit *units, size_t num_units,
                                           ABT_pool_context context);
/** Calls print_fn(arg, thread) for each work unit in the pool. */
typedef void (*ABT_pool_user_print_all_fn)(ABT_pool pool, void *arg, void (*print_fn)(void *arg, ABT_thread thread));

/** Creates a definition from the five functions that every pool needs. */
ABT_API_PUBLIC int ABT_pool_user_def_create(ABT_pool_user_create_unit_fn p_create_unit,
                                            ABT_pool_user_free_unit_fn p_free_unit,
                                            ABT_pool_user_is_empty_fn p_is_empty, ABT_pool_user_pop_fn p_pop,
                                            ABT_pool_user_push_fn p_push, ABT_pool_user_def *newdef);

/** Frees it, and sets the handle to POOL_USER_DEF_NULL; pools that were made from it stay. */
ABT_API_PUBLIC int ABT_pool_user_def_free(ABT_pool_user_def *def);

/** What begins a pool. */
ABT_API_PUBLIC int ABT_pool_user_def_set_init(ABT_pool_user_def def, ABT_pool_user_init_fn p_init);

/** What ends it. */
ABT_API_PUBLIC int ABT_pool_user_def_set_free(ABT_pool_user_def def, ABT_pool_user_free_fn p_free);

/** What counts its units. */
ABT_API_PUBLIC int ABT_pool_user_def_set_get_size(ABT_pool_user_def def, ABT_pool_user_get_size_fn p_get_size);

/** What pops and waits. */
ABT_API_PUBLIC int ABT_pool_user_def_set_pop_wait(ABT_pool_user_def def, ABT_pool_user_pop_wait_fn p_pop_wait);

/** What pops several. */
ABT_API_PUBLIC int ABT_pool_user_def_set_pop_many(ABT_pool_user_def def, ABT_pool_user_pop_many_fn p_pop_many);

/** What pushes several. */
ABT_API_PUBLIC int ABT_pool_user_def_set_push_many(ABT_pool_user_def def, ABT_pool_user_push_many_fn p_push_many);

/** What goes over its units. */
ABT_API_PUBLIC int ABT_pool_user_def_set_print_all(ABT_pool_user_def def, ABT_pool_user_print_all_fn p_print_all);

/* ---- units ----------------------------------------------------------------------------------- */

/** The work unit that a unit stands for. */
ABT_API_PUBLIC int ABT_unit_get_thread(ABT_unit unit, ABT_thread *thread);

/** Does nothing but look at its arguments: ABT_xstream_run_unit and the calls that push do what it
 * was for. */
ABT_API_PUBLIC int ABT_unit_set_associated_pool(ABT_unit unit, ABT_pool pool);

/* ---- ULTs: creating and joining -------------------------------------------------------------- */

/** What a work unit does. */
typedef enum ABT_thread_state {
    ABT_THREAD_STATE_READY,     /**< waits for its turn */
    ABT_THREAD_STATE_RUNNING,   /**< runs */
    ABT_THREAD_STATE_BLOCKED,   /**< is suspended */
    ABT_THREAD_STATE_TERMINATED /**< has ended; can be revived or freed */
} ABT_thread_state;

/** Creates a ULT that will call thread_func(arg), and pushes it to the pool. `attr` may be
 * THREAD_ATTR_NULL. `newthread` NULL: it is unnamed, and frees itself when it ends. What the pool's
 * create_unit fails with: ERR_UNIT, ERR_OTHER. THREAD_NULL on error. */
ABT_API_PUBLIC int ABT_thread_create(ABT_pool pool, void (*thread_func)(void *), void *arg, ABT_thread_attr attr,
                                     ABT_thread *newthread);

/** As ABT_thread_create, but the ULT runs at once, in the place of the caller, which is pushed to
 * its pool. External: ERR_INV_XSTREAM; tasklet, main scheduler: ERR_INV_THREAD. Switches. */
ABT_API_PUBLIC int ABT_thread_create_to(ABT_pool pool, void (*thread_func)(void *), void *arg, ABT_thread_attr attr,
                                        ABT_thread *newthread);

/** ABT_thread_create in the first main pool of the execution stream. THREAD_NULL on error. */
ABT_API_PUBLIC int ABT_thread_create_on_xstream(ABT_xstream xstream, void (*thread_func)(void *), void *arg,
                                                ABT_thread_attr attr, ABT_thread *newthread);

/** ABT_thread_create for each of several; `newthread_list` NULL: all are unnamed. An attribute with
 * a stack: ERR_INV_THREAD_ATTR. */
ABT_API_PUBLIC int ABT_thread_create_many(int num_threads, ABT_pool *pool_list, void (**thread_func_list)(void *),
                                          void **arg_list, ABT_thread_attr attr, ABT_thread *newthread_list);

/** Lets a work unit that has terminated run again, with another function and argument, in this
 * pool. It keeps handle, stack, number and values of keys. Not terminated: ERR_INV_THREAD; what the
 * pool's create_unit fails with. */
ABT_API_PUBLIC int ABT_thread_revive(ABT_pool pool, void (*thread_func)(void *), void *arg, ABT_thread *thread);

/** As ABT_thread_revive for a ULT, but the ULT runs at once, in the place of the caller, which is
 * pushed to its pool. External: ERR_INV_XSTREAM; tasklet, main scheduler: ERR_INV_THREAD.
 * Switches. */
ABT_API_PUBLIC int ABT_thread_revive_to(ABT_pool pool, void (*thread_func)(void *), void *arg, ABT_thread *thread);

/** Joins a work unit and frees it; sets the handle to THREAD_NULL. The caller itself, the primary
 * ULT, a main scheduler: ERR_INV_THREAD. May switch. */
ABT_API_PUBLIC int ABT_thread_free(ABT_thread *thread);

/** As ABT_thread_free, for each of several, but those that are THREAD_NULL. May switch. */
ABT_API_PUBLIC int ABT_thread_free_many(int num_threads, ABT_thread *thread_list);

/** Waits until a work unit has ended: a ULT lets others run meanwhile, a tasklet and an external
 * thread sleep. The caller itself, the primary ULT, a main scheduler: ERR_INV_THREAD. May
 * switch. */
ABT_API_PUBLIC int ABT_thread_join(ABT_thread thread);

/** As ABT_thread_join, for each of several, but those that are THREAD_NULL. May switch. */
ABT_API_PUBLIC int ABT_thread_join_many(int num_threads, ABT_thread *thread_list);

/** Ends the caller. Does not return when it succeeds. Superseded by ABT_self_exit. External:
 * ERR_INV_XSTREAM; tasklet, primary ULT: ERR_INV_THREAD; not initialized: ERR_UNINITIALIZED.
 * Switches. */
ABT_API_PUBLIC int ABT_thread_exit(void);

/** Asks a work unit to end: it does when it would begin or continue. The primary ULT:
 * ERR_INV_THREAD. ERR_FEATURE_NA. */
ABT_API_PUBLIC int ABT_thread_cancel(ABT_thread thread);

/** The calling ULT. Superseded by ABT_self_get_thread. External: ERR_INV_XSTREAM; tasklet:
 * ERR_INV_THREAD; not initialized: ERR_UNINITIALIZED; THREAD_NULL on error. */
ABT_API_PUBLIC int ABT_thread_self(ABT_thread *thread);

/** Its number. Superseded by ABT_self_get_thread_id. External: ERR_INV_XSTREAM; tasklet:
 * ERR_INV_THREAD; not initialized: ERR_UNINITIALIZED. */
ABT_API_PUBLIC int ABT_thread_self_id(ABT_unit_id *id);

/** The execution stream that a work unit ran on last; XSTREAM_NULL: on none yet. */
ABT_API_PUBLIC int ABT_thread_get_last_xstream(ABT_thread thread, ABT_xstream *xstream);

/** What a work unit does. It may do something else by now. */
ABT_API_PUBLIC int ABT_thread_get_state(ABT_thread thread, ABT_thread_state *state);

/** The pool that a work unit belongs to. */
ABT_API_PUBLIC int ABT_thread_get_last_pool(ABT_thread thread, ABT_pool *pool);

/** The number of that pool. */
ABT_API_PUBLIC int ABT_thread_get_last_pool_id(ABT_thread thread, int *id);

/** The unit that stands for a work unit in its pool. */
ABT_API_PUBLIC int ABT_thread_get_unit(ABT_thread thread, ABT_unit *unit);

/** Lets a work unit that is in no pool belong to this one. What the pool's create_unit fails with:
 * ERR_UNIT, ERR_OTHER. */
ABT_API_PUBLIC int ABT_thread_set_associated_pool(ABT_thread thread, ABT_pool pool);

/* ---- ULTs: yielding, resuming, migrating ----------------------------------------------------- */

/** Yields to this ULT, which is taken out of its pool; when it is not ready in one, does nothing.
 * From a tasklet or an external thread it does nothing. Superseded by ABT_self_yield_to. The caller
 * itself, a tasklet as the target, a main scheduler as the caller: ERR_INV_THREAD; the pool cannot
 * remove: ERR_POOL. Switches. */
ABT_API_PUBLIC int ABT_thread_yield_to(ABT_thread thread);

/** Pushes the calling ULT to its pool and lets others run. From a tasklet or an external thread it
 * does nothing. Superseded by ABT_self_yield. From anywhere; switches. */
ABT_API_PUBLIC int ABT_thread_yield(void);

/** Pushes a suspended ULT to its pool. Not suspended: ERR_THREAD; a tasklet: ERR_INV_THREAD. */
ABT_API_PUBLIC int ABT_thread_resume(ABT_thread thread);

/** Asks a work unit to go to a pool of this execution stream: it does when it is next looked at by
 * a scheduler, yields or is suspended. It is there already: ERR_MIGRATION_TARGET; it may not
 * migrate, or is a main scheduler: ERR_INV_THREAD. ERR_FEATURE_NA. */
ABT_API_PUBLIC int ABT_thread_migrate_to_xstream(ABT_thread thread, ABT_xstream xstream);

/** As ABT_thread_migrate_to_xstream, to a pool of this scheduler. */
ABT_API_PUBLIC int ABT_thread_migrate_to_sched(ABT_thread thread, ABT_sched sched);

/** As ABT_thread_migrate_to_xstream, to this pool. */
ABT_API_PUBLIC int ABT_thread_migrate_to_pool(ABT_thread thread, ABT_pool pool);

/** As ABT_thread_migrate_to_xstream, to any other execution stream; there is none:
 * ERR_MIGRATION_NA. */
ABT_API_PUBLIC int ABT_thread_migrate(ABT_thread thread);

/** What is called as cb_func(thread, cb_arg) when the work unit has migrated; NULL: nothing.
 * ERR_FEATURE_NA. */
ABT_API_PUBLIC int ABT_thread_set_callback(ABT_thread thread, void (*cb_func)(ABT_thread thread, void *cb_arg),
                                           void *cb_arg);

/** Whether it may migrate; without effect for the primary ULT and main schedulers.
 * ERR_FEATURE_NA. */
ABT_API_PUBLIC int ABT_thread_set_migratable(ABT_thread thread, ABT_bool migratable);

/** Whether it may. ERR_FEATURE_NA. */
ABT_API_PUBLIC int ABT_thread_is_migratable(ABT_thread thread, ABT_bool *is_migratable);

/* ---- ULTs: questions ------------------------------------------------------------------------- */

/** Whether it is the primary ULT. */
ABT_API_PUBLIC int ABT_thread_is_primary(ABT_thread thread, ABT_bool *is_primary);

/** Whether nobody was given its handle when it was created. */
ABT_API_PUBLIC int ABT_thread_is_unnamed(ABT_thread thread, ABT_bool *is_unnamed);

/** Whether both are the same; they may be THREAD_NULL or TASK_NULL, which are the same. */
ABT_API_PUBLIC int ABT_thread_equal(ABT_thread thread1, ABT_thread thread2, ABT_bool *result);

/** How many bytes of stack it has; 0 of a tasklet, or on the stack of an OS thread. */
ABT_API_PUBLIC int ABT_thread_get_stacksize(ABT_thread thread, size_t *stacksize);

/** Where its stack lies (the lowest address) and how large it is. */
ABT_API_PUBLIC int ABT_thread_get_stack(ABT_thread thread, void **stackaddr, size_t *stacksize);

/** Its number. */
ABT_API_PUBLIC int ABT_thread_get_id(ABT_thread thread, ABT_unit_id *thread_id);

/** Gives a work unit that has not begun another argument. */
ABT_API_PUBLIC int ABT_thread_set_arg(ABT_thread thread, void *arg);

/** Its argument. */
ABT_API_PUBLIC int ABT_thread_get_arg(ABT_thread thread, void **arg);

/** Its function. */
ABT_API_PUBLIC int ABT_thread_get_thread_func(ABT_thread thread, void (**thread_func)(void *));

/** Sets its value of a key. */
ABT_API_PUBLIC int ABT_thread_set_specific(ABT_thread thread, ABT_key key, void *value);

/** Its value of a key; NULL when none was set. */
ABT_API_PUBLIC int ABT_thread_get_specific(ABT_thread thread, ABT_key key, void **value);

/** A new attribute that describes it, which the caller frees. A tasklet: ERR_INV_THREAD. */
ABT_API_PUBLIC int ABT_thread_get_attr(ABT_thread thread, ABT_thread_attr *attr);

/* ---- attributes of ULTs ---------------------------------------------------------------------- */

/** Creates one that says what the default is: a stack of ABT_THREAD_STACKSIZE bytes, and it may
 * migrate. */
ABT_API_PUBLIC int ABT_thread_attr_create(ABT_thread_attr *newattr);

/** Frees it, and sets the handle to THREAD_ATTR_NULL. */
ABT_API_PUBLIC int ABT_thread_attr_free(ABT_thread_attr *attr);

/** Where the stack shall lie, aligned to 8, or NULL: where the library likes; and its size. Not
 * aligned: ERR_INV_ARG. */
ABT_API_PUBLIC int ABT_thread_attr_set_stack(ABT_thread_attr attr, void *stackaddr, size_t stacksize);

/** What was set so. */
ABT_API_PUBLIC int ABT_thread_attr_get_stack(ABT_thread_attr attr, void **stackaddr, size_t *stacksize);

/** The size alone. */
ABT_API_PUBLIC int ABT_thread_attr_set_stacksize(ABT_thread_attr attr, size_t stacksize);

/** The size. */
ABT_API_PUBLIC int ABT_thread_attr_get_stacksize(ABT_thread_attr attr, size_t *stacksize);

/** As ABT_thread_set_callback, from the beginning. ERR_FEATURE_NA. */
ABT_API_PUBLIC int ABT_thread_attr_set_callback(ABT_thread_attr attr, void (*cb_func)(ABT_thread thread, void *cb_arg),
                                                void *cb_arg);

/** Whether it may migrate. ERR_FEATURE_NA. */
ABT_API_PUBLIC int ABT_thread_attr_set_migratable(ABT_thread_attr attr, ABT_bool is_migratable);

/* ---- tasklets -------------------------------------------------------------------------------- */

/** What a tasklet does. The numbers are not those of ABT_thread_state. */
typedef enum ABT_task_state {
    ABT_TASK_STATE_READY,     /**< waits for its turn */
    ABT_TASK_STATE_RUNNING,   /**< runs */
    ABT_TASK_STATE_TERMINATED /**< has ended; can be revived or freed */
} ABT_task_state;

/** Creates a tasklet that will call task_func(arg), which may not wait, and pushes it to the pool.
 * `newtask` NULL: it is unnamed, and frees itself when it ends. What the pool's create_unit fails
 * with: ERR_UNIT, ERR_OTHER. TASK_NULL on error. */
ABT_API_PUBLIC int ABT_task_create(ABT_pool pool, void (*task_func)(void *), void *arg, ABT_task *newtask);

/** As ABT_task_create, in the first main pool of the execution stream. TASK_NULL on error. */
ABT_API_PUBLIC int ABT_task_create_on_xstream(ABT_xstream xstream, void (*task_func)(void *), void *arg,
                                              ABT_task *newtask);

/** As ABT_thread_revive. */
ABT_API_PUBLIC int ABT_task_revive(ABT_pool pool, void (*task_func)(void *), void *arg, ABT_task *task);

/** As ABT_thread_free; sets the handle to TASK_NULL. May switch. */
ABT_API_PUBLIC int ABT_task_free(ABT_task *task);

/** As ABT_thread_join. May switch. */
ABT_API_PUBLIC int ABT_task_join(ABT_task task);

/** As ABT_thread_cancel. */
ABT_API_PUBLIC int ABT_task_cancel(ABT_task task);

/** The calling tasklet. External: ERR_INV_XSTREAM; ULT: ERR_INV_TASK; not initialized:
 * ERR_UNINITIALIZED; TASK_NULL on error. */
ABT_API_PUBLIC int ABT_task_self(ABT_task *task);

/** Its number. External: ERR_INV_XSTREAM; ULT: ERR_INV_TASK; not initialized: ERR_UNINITIALIZED. */
ABT_API_PUBLIC int ABT_task_self_id(uint64_t *id);

/** The execution stream that it ran on last; XSTREAM_NULL: on none yet. */
ABT_API_PUBLIC int ABT_task_get_xstream(ABT_task task, ABT_xstream *xstream);

/** What it does. A ULT: ERR_INV_TASK. */
ABT_API_PUBLIC int ABT_task_get_state(ABT_task task, ABT_task_state *state);

/** As ABT_thread_get_last_pool. */
ABT_API_PUBLIC int ABT_task_get_last_pool(ABT_task task, ABT_pool *pool);

/** As ABT_thread_get_last_pool_id. */
ABT_API_PUBLIC int ABT_task_get_last_pool_id(ABT_task task, int *id);

/** As ABT_thread_set_migratable. */
ABT_API_PUBLIC int ABT_task_set_migratable(ABT_task task, ABT_bool flag);

/** As ABT_thread_is_migratable. */
ABT_API_PUBLIC int ABT_task_is_migratable(ABT_task task, ABT_bool *flag);

/** As ABT_thread_equal. */
ABT_API_PUBLIC int ABT_task_equal(ABT_task task1, ABT_task task2, ABT_bool *result);

/** As ABT_thread_get_id. */
ABT_API_PUBLIC int ABT_task_get_id(ABT_task task, uint64_t *task_id);

/** As ABT_thread_get_arg. */
ABT_API_PUBLIC int ABT_task_get_arg(ABT_task task, void **arg);

#define ABT_task_is_unnamed ABT_thread_is_unnamed     /**< the same call for a tasklet */
#define ABT_task_set_specific ABT_thread_set_specific /**< the same call for a tasklet */
#define ABT_task_get_specific ABT_thread_get_specific /**< the same call for a tasklet */
#define ABT_self_get_task ABT_self_get_thread         /**< the same call for a tasklet */
#define ABT_self_get_task_id ABT_self_get_thread_id   /**< the same call for a tasklet */

/* ---- the caller ------------------------------------------------------------------------------ */

/** The execution stream that the caller runs on. External: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_get_xstream(ABT_xstream *xstream);

/** Its rank. External: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_get_xstream_rank(int *rank);

/** The caller, ULT or tasklet. External: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_get_thread(ABT_thread *thread);

/** Its number. External: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_get_thread_id(ABT_unit_id *id);

/** Sets the caller's value of a key. External: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_set_specific(ABT_key key, void *value);

/** The caller's value of a key; NULL when none was set. External: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_get_specific(ABT_key key, void **value);

/** What the caller is. External: ERR_INV_XSTREAM; not initialized: ERR_UNINITIALIZED; both times
 * ABT_UNIT_TYPE_EXT. */
ABT_API_PUBLIC int ABT_self_get_type(ABT_unit_type *type);

/** Whether the caller is the primary ULT. External: ERR_INV_XSTREAM; tasklet: ERR_INV_THREAD; not
 * initialized: ERR_UNINITIALIZED; ABT_FALSE on error. */
ABT_API_PUBLIC int ABT_self_is_primary(ABT_bool *is_primary);

/** Whether the caller is on the primary execution stream. External: ERR_INV_XSTREAM; not
 * initialized: ERR_UNINITIALIZED; ABT_FALSE on error. */
ABT_API_PUBLIC int ABT_self_on_primary_xstream(ABT_bool *on_primary);

/** Whether nobody was given the caller's handle when it was created. External: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_is_unnamed(ABT_bool *is_unnamed);

/** The pool that the caller belongs to. External: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_get_last_pool(ABT_pool *pool);

/** The number of that pool. External: ERR_INV_XSTREAM; not initialized: ERR_UNINITIALIZED; -1 on
 * error. */
ABT_API_PUBLIC int ABT_self_get_last_pool_id(int *pool_id);

/** Lets the caller belong to this pool: it is pushed there when it next yields or is resumed.
 * External: ERR_INV_XSTREAM; what the pool's create_unit fails with. */
ABT_API_PUBLIC int ABT_self_set_associated_pool(ABT_pool pool);

/** The unit that stands for the caller. External: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_get_unit(ABT_unit *unit);

/** Pushes the calling ULT to its pool and lets others run. External: ERR_INV_XSTREAM; tasklet:
 * ERR_INV_THREAD. Switches. */
ABT_API_PUBLIC int ABT_self_yield(void);

/** As ABT_self_yield, and the next to run is this ULT, which is ready and which the caller has
 * popped. The caller itself, a main scheduler as the caller or the target, a tasklet as the target:
 * ERR_INV_THREAD. External: ERR_INV_XSTREAM; tasklet: ERR_INV_THREAD. Switches. */
ABT_API_PUBLIC int ABT_self_yield_to(ABT_thread thread);

/** As ABT_self_yield_to, with a target that is suspended, which it resumes. */
ABT_API_PUBLIC int ABT_self_resume_yield_to(ABT_thread thread);

/** Suspends the calling ULT until ABT_thread_resume. External: ERR_INV_XSTREAM; tasklet:
 * ERR_INV_THREAD. Switches. */
ABT_API_PUBLIC int ABT_self_suspend(void);

/** As ABT_self_suspend, and the next to run is this ULT, which is ready and which the caller has
 * popped. Errors as ABT_self_yield_to. Switches. */
ABT_API_PUBLIC int ABT_self_suspend_to(ABT_thread thread);

/** As ABT_self_suspend_to, with a target that is suspended, which it resumes. Switches. */
ABT_API_PUBLIC int ABT_self_resume_suspend_to(ABT_thread thread);

/** Ends the calling ULT. Does not return when it succeeds. External: ERR_INV_XSTREAM; tasklet,
 * primary ULT: ERR_INV_THREAD. Switches. */
ABT_API_PUBLIC int ABT_self_exit(void);

/** As ABT_self_exit, and the next to run is this ULT, which is ready and which the caller has
 * popped. Errors as ABT_self_yield_to and ABT_self_exit. Switches. */
ABT_API_PUBLIC int ABT_self_exit_to(ABT_thread thread);

/** As ABT_self_exit_to, with a target that is suspended, which it resumes. Switches. */
ABT_API_PUBLIC int ABT_self_resume_exit_to(ABT_thread thread);

/** Runs a work unit that the caller has popped, as a scheduler does: returns when it yields, is
 * suspended or ends. `pool`: POOL_NULL, or what it belongs to from now on. External:
 * ERR_INV_XSTREAM; tasklet: ERR_INV_THREAD; what the pool's create_unit fails with. Switches. */
ABT_API_PUBLIC int ABT_self_schedule(ABT_thread thread, ABT_pool pool);

/** Gives the caller another argument. External: ERR_INV_XSTREAM; not initialized:
 * ERR_UNINITIALIZED. */
ABT_API_PUBLIC int ABT_self_set_arg(void *arg);

/** The caller's argument. External: ERR_INV_XSTREAM; not initialized: ERR_UNINITIALIZED; NULL on
 * error. */
ABT_API_PUBLIC int ABT_self_get_arg(void **arg);

/** The caller's function. External: ERR_INV_XSTREAM. */
ABT_API_PUBLIC int ABT_self_get_thread_func(void (**thread_func)(void *));

/* ---- keys ------------------------------------------------------------------------------------ */

/** Creates a key. `destructor`: NULL, or called for each value that is not NULL when its work unit
 * is freed. KEY_NULL on error. */
ABT_API_PUBLIC int ABT_key_create(void (*destructor)(void *value), ABT_key *newkey);

/** Frees it, and sets the handle to KEY_NULL. Values that were set stay, and their destructor is
 * still called. */
ABT_API_PUBLIC int ABT_key_free(ABT_key *key);

/** ABT_self_set_specific, by which it is superseded; not initialized: ERR_UNINITIALIZED. */
ABT_API_PUBLIC int ABT_key_set(ABT_key key, void *value);

/** ABT_self_get_specific, by which it is superseded; not initialized: ERR_UNINITIALIZED. */
ABT_API_PUBLIC int ABT_key_get(ABT_key key, void **value);

/* ---- mutexes --------------------------------------------------------------------------------- */

/** Room for a mutex. Zero bytes are an unlocked one; one that was not used yet may be copied. */
typedef struct ABT_mutex_memory {
    int dummy[16]; /**< the library's */
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

/** Locks the mutex; waits as long as somebody else holds it. Whoever comes may overtake those who
 * wait. From anywhere; may switch. */
ABT_API_PUBLIC int ABT_mutex_lock(ABT_mutex mutex);

/** As ABT_mutex_lock, but the caller is served before those that wait in ABT_mutex_lock. From
 * anywhere; may switch. */
ABT_API_PUBLIC int ABT_mutex_lock_high(ABT_mutex mutex);

/** As ABT_mutex_lock, but the caller is served after those that wait in ABT_mutex_lock. From
 * anywhere; may switch. */
ABT_API_PUBLIC int ABT_mutex_lock_low(ABT_mutex mutex);

/** Locks the mutex if nobody holds it; else ERR_MUTEX_LOCKED. From anywhere. */
ABT_API_PUBLIC int ABT_mutex_trylock(ABT_mutex mutex);

/** Locks the mutex without letting others run meanwhile. From anywhere. */
ABT_API_PUBLIC int ABT_mutex_spinlock(ABT_mutex mutex);

/** Unlocks the mutex; wakes one that waits. From anywhere. */
ABT_API_PUBLIC int ABT_mutex_unlock(ABT_mutex mutex);

/** As ABT_mutex_unlock; superseded by it. From anywhere. */
ABT_API_PUBLIC int ABT_mutex_unlock_se(ABT_mutex mutex);

/** As ABT_mutex_unlock; superseded by it. From anywhere. */
ABT_API_PUBLIC int ABT_mutex_unlock_de(ABT_mutex mutex);

/** Whether both are the same; they may be MUTEX_NULL. From anywhere. */
ABT_API_PUBLIC int ABT_mutex_equal(ABT_mutex mutex1, ABT_mutex mutex2, ABT_bool *result);

/** A new attribute that describes it, which the caller frees. */
ABT_API_PUBLIC int ABT_mutex_get_attr(ABT_mutex mutex, ABT_mutex_attr *attr);

/** Creates one that says what the default is: not recursive. MUTEX_ATTR_NULL on error. */
ABT_API_PUBLIC int ABT_mutex_attr_create(ABT_mutex_attr *newattr);

/** Frees it, and sets the handle to MUTEX_ATTR_NULL. */
ABT_API_PUBLIC int ABT_mutex_attr_free(ABT_mutex_attr *attr);

/** Whether the holder may lock again. */
ABT_API_PUBLIC int ABT_mutex_attr_set_recursive(ABT_mutex_attr attr, ABT_bool recursive);

/** Whether the holder may. */
ABT_API_PUBLIC int ABT_mutex_attr_get_recursive(ABT_mutex_attr attr, ABT_bool *recursive);

/* ---- condition variables --------------------------------------------------------------------- */

/** Room for a condition variable. Zero bytes are one that nobody waits for; one that was not used
 * yet may be copied. */
typedef struct ABT_cond_memory {
    int dummy[16]; /**< the library's */
} ABT_cond_memory;

#define ABT_COND_INITIALIZER \
    {                        \
        { 0 }                \
    } /**< a condition that nobody waits for, for an ABT_cond_memory */

/** The condition variable in this memory, which needs no freeing and works also before ABT_init and
 * after ABT_finalize. */
#define ABT_COND_MEMORY_GET_HANDLE(p_memory) ((ABT_cond)(p_memory))

/** Creates a condition variable. COND_NULL on error. */
ABT_API_PUBLIC int ABT_cond_create(ABT_cond *newcond);

/** Frees it, and sets the handle to COND_NULL. Somebody waits: ERR_COND. */
ABT_API_PUBLIC int ABT_cond_free(ABT_cond *cond);

/** Unlocks the mutex, waits to be woken, and locks it again. Others wait with another mutex:
 * ERR_INV_MUTEX; tasklet: ERR_COND. From anywhere; switches. */
ABT_API_PUBLIC int ABT_cond_wait(ABT_cond cond, ABT_mutex mutex);

/** As ABT_cond_wait, until the real-time clock (CLOCK_REALTIME, as it goes when the call begins)
 * says `abstime`: ERR_COND_TIMEDOUT, and the mutex is locked again. From anywhere; switches. */
ABT_API_PUBLIC int ABT_cond_timedwait(ABT_cond cond, ABT_mutex mutex, const struct timespec *abstime);

/** Wakes the one that has waited longest, if any. From anywhere. */
ABT_API_PUBLIC int ABT_cond_signal(ABT_cond cond);

/** Wakes all that wait. From anywhere. */
ABT_API_PUBLIC int ABT_cond_broadcast(ABT_cond cond);

/* ---- read-write locks ------------------------------------------------------------------------ */

/** Creates a lock for many readers or one writer; readers go before writers. RWLOCK_NULL on
 * error. */
ABT_API_PUBLIC int ABT_rwlock_create(ABT_rwlock *newrwlock);

/** Frees it, and sets the handle to RWLOCK_NULL. */
ABT_API_PUBLIC int ABT_rwlock_free(ABT_rwlock *rwlock);

/** Locks for reading; waits as long as somebody writes. A reader may read again. Tasklet:
 * ERR_RWLOCK. May switch. */
ABT_API_PUBLIC int ABT_rwlock_rdlock(ABT_rwlock rwlock);

/** Locks for writing; waits as long as anybody reads or writes. Tasklet: ERR_RWLOCK. May switch. */
ABT_API_PUBLIC int ABT_rwlock_wrlock(ABT_rwlock rwlock);

/** Unlocks, whichever way it was locked. May switch. */
ABT_API_PUBLIC int ABT_rwlock_unlock(ABT_rwlock rwlock);

/* ---- eventuals ------------------------------------------------------------------------------- */

/** Room for an eventual without a value. Zero bytes are one that is not set. */
typedef struct ABT_eventual_memory {
    int dummy[16]; /**< the library's */
} ABT_eventual_memory;

#define ABT_EVENTUAL_INITIALIZER \
    {                            \
        { 0 }                    \
    } /**< an eventual that is not set, for an ABT_eventual_memory */

/** The eventual in this memory, which needs no freeing. */
#define ABT_EVENTUAL_MEMORY_GET_HANDLE(p_memory) ((ABT_eventual)(p_memory))

/** Creates an eventual for a value of up to `nbytes` bytes; 0: it has none. Negative:
 * ERR_INV_ARG. */
ABT_API_PUBLIC int ABT_eventual_create(int nbytes, ABT_eventual *neweventual);

/** Frees one that nobody waits for, and sets the handle to EVENTUAL_NULL. */
ABT_API_PUBLIC int ABT_eventual_free(ABT_eventual *eventual);

/** Waits until it is set. `value`: NULL, or receives where the value lies, NULL when it has none.
 * Tasklet: ERR_EVENTUAL. May switch. */
ABT_API_PUBLIC int ABT_eventual_wait(ABT_eventual eventual, void **value);

/** As ABT_eventual_wait, until the real-time clock (CLOCK_REALTIME, as it goes when the call
 * begins) says `abstime`: ERR_COND_TIMEDOUT. Tasklet: ERR_EVENTUAL. May switch. */
ABT_API_PUBLIC int ABT_eventual_timedwait(ABT_eventual eventual, void **value, const struct timespec *abstime);

/** Whether it is set; only then `value` is written. */
ABT_API_PUBLIC int ABT_eventual_test(ABT_eventual eventual, void **value, ABT_bool *is_ready);

/** Copies the value and wakes all that wait. Negative number: ERR_INV_ARG; more bytes than it
 * holds: ERR_INV_EVENTUAL; it is set already: ERR_EVENTUAL. */
ABT_API_PUBLIC int ABT_eventual_set(ABT_eventual eventual, void *value, int nbytes);

/** Makes it one that is not set. */
ABT_API_PUBLIC int ABT_eventual_reset(ABT_eventual eventual);

/* ---- futures --------------------------------------------------------------------------------- */

/** Creates a future that is ready when `num_compartments` pointers were set. `cb_func`: NULL, or
 * called once with all of them, by who sets the last, before those who wait go on; it may call
 * whatever its caller may. */
ABT_API_PUBLIC int ABT_future_create(uint32_t num_compartments, void (*cb_func)(void **arg), ABT_future *newfuture);

/** Frees one that nobody waits for, and sets the handle to FUTURE_NULL. */
ABT_API_PUBLIC int ABT_future_free(ABT_future *future);

/** Waits until it is ready. Tasklet: ERR_FUTURE. May switch. */
ABT_API_PUBLIC int ABT_future_wait(ABT_future future);

/** Whether it is ready. */
ABT_API_PUBLIC int ABT_future_test(ABT_future future, ABT_bool *is_ready);

/** Sets the next pointer. It is ready already: ERR_FUTURE. */
ABT_API_PUBLIC int ABT_future_set(ABT_future future, void *value);

/** Makes it one of which nothing is set. */
ABT_API_PUBLIC int ABT_future_reset(ABT_future future);

/* ---- barriers -------------------------------------------------------------------------------- */

/** Creates a barrier for `num_waiters` ULTs and external threads; 0: ERR_INV_ARG. BARRIER_NULL on
 * error. */
ABT_API_PUBLIC int ABT_barrier_create(uint32_t num_waiters, ABT_barrier *newbarrier);

/** Gives one at which nobody waits another number; 0: ERR_INV_ARG. */
ABT_API_PUBLIC int ABT_barrier_reinit(ABT_barrier barrier, uint32_t num_waiters);

/** Frees it, and sets the handle to BARRIER_NULL. */
ABT_API_PUBLIC int ABT_barrier_free(ABT_barrier *barrier);

/** Waits until all have come; then it begins anew. Tasklet: ERR_BARRIER. Switches unless the caller
 * is the last. */
ABT_API_PUBLIC int ABT_barrier_wait(ABT_barrier barrier);

/** For how many it is. */
ABT_API_PUBLIC int ABT_barrier_get_num_waiters(ABT_barrier barrier, uint32_t *num_waiters);

/* ---- texts of errors, and time --------------------------------------------------------------- */

/** The name of an error as it stands in this header, "ABT_ERR_MEM" for instance, and its length
 * without the zero; each may be NULL. No such error: ERR_OTHER. From anywhere. */
ABT_API_PUBLIC int ABT_error_get_str(int err, char *str, size_t *len);

/** The real-time clock in seconds. From anywhere. */
ABT_API_PUBLIC double ABT_get_wtime(void);

/** Creates a timer. TIMER_NULL on error. From anywhere. */
ABT_API_PUBLIC int ABT_timer_create(ABT_timer *newtimer);

/** Creates a timer that says what another does. TIMER_NULL on error. From anywhere. */
ABT_API_PUBLIC int ABT_timer_dup(ABT_timer timer, ABT_timer *newtimer);

/** Frees it, and sets the handle to TIMER_NULL. From anywhere. */
ABT_API_PUBLIC int ABT_timer_free(ABT_timer *timer);

/** Notes when it was started: now. From anywhere. */
ABT_API_PUBLIC int ABT_timer_start(ABT_timer timer);

/** Notes when it was stopped: now. From anywhere. */
ABT_API_PUBLIC int ABT_timer_stop(ABT_timer timer);

/** How many seconds went by between the two. From anywhere. */
ABT_API_PUBLIC int ABT_timer_read(ABT_timer timer, double *secs);

/** ABT_timer_stop, then ABT_timer_read. From anywhere. */
ABT_API_PUBLIC int ABT_timer_stop_and_read(ABT_timer timer, double *secs);

/** As ABT_timer_stop_and_read, but adds what it reads to `secs`. From anywhere. */
ABT_API_PUBLIC int ABT_timer_stop_and_add(ABT_timer timer, double *secs);

/** How many seconds a start and a stop with nothing between them read. From anywhere. */
ABT_API_PUBLIC int ABT_timer_get_overhead(double *overhead);

/* ---- information ----------------------------------------------------------------------------- */

/** What can be asked about the library, and the type of the answer. */
typedef enum ABT_info_query_kind {
    /** a debug build? ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_DEBUG,
    /** are errors printed? ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_PRINT_ERRNO,
    /** is there a log? ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_LOG,
    /** is Valgrind told of stacks? ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_VALGRIND,
    /** are arguments looked at? ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_CHECK_ERROR,
    /** is it looked at who pushes? ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_CHECK_POOL_PRODUCER,
    /** is it looked at who pops? ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_CHECK_POOL_CONSUMER,
    /** are floating-point control words kept over switches? ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_PRESERVE_FPU,
    /** can ULTs be cancelled? ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_THREAD_CANCEL,
    /** can tasklets be cancelled? ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_TASK_CANCEL,
    /** can work units migrate? ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_MIGRATION,
    /** can schedulers be put into pools? ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_STACKABLE_SCHED,
    /** may external threads call? ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_EXTERNAL_THREAD,
    /** do schedulers sleep when nothing is to be done? ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_SCHED_SLEEP,
    /** is the configuration printed at ABT_init? ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_PRINT_CONFIG,
    /** can execution streams be bound? ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_AFFINITY,
    /** how many execution streams are expected at most? unsigned */
    ABT_INFO_QUERY_KIND_MAX_NUM_XSTREAMS,
    /** bytes of a ULT's stack? size_t */
    ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE,
    /** bytes of a scheduler's stack? size_t */
    ABT_INFO_QUERY_KIND_DEFAULT_SCHED_STACKSIZE,
    /** work units between two looks for events? uint64_t */
    ABT_INFO_QUERY_KIND_DEFAULT_SCHED_EVENT_FREQ,
    /** nanoseconds that a scheduler sleeps? uint64_t */
    ABT_INFO_QUERY_KIND_DEFAULT_SCHED_SLEEP_NSEC,
    /** can tools register? ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_TOOL,
    /** are stacks switched without the system's help? ABT_bool */
    ABT_INFO_QUERY_KIND_FCONTEXT,
    /** do ULTs begin on the scheduler's stack? ABT_bool */
    ABT_INFO_QUERY_KIND_DYNAMIC_PROMOTION,
    /** do dumps show the frames? ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_STACK_UNWIND,
    /** how are overflows found? int: 0 not, 1 canary, 2 mprotect, 3 mprotect or error */
    ABT_INFO_QUERY_KIND_ENABLED_STACK_OVERFLOW_CHECK,
    /** how do OS threads wait? int: 0 asleep, 1 busily */
    ABT_INFO_QUERY_KIND_WAIT_POLICY,
    /** do ULTs get their stack when they begin? ABT_bool */
    ABT_INFO_QUERY_KIND_ENABLED_LAZY_STACK_ALLOC
} ABT_info_query_kind;

/** Answers a question; `val` is the address of a variable of the answer's type. No such question:
 * ERR_INV_QUERY_KIND; some may be asked at any time, the others, not initialized:
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

/** Prints the stacks of all ULTs in a pool. It cannot tell: ERR_POOL. */
ABT_API_PUBLIC int ABT_info_print_thread_stacks_in_pool(FILE *fp, ABT_pool pool);

/** Has the stacks of all ULTs in the main schedulers' pools printed, as soon as all schedulers look
 * for events, or else after `timeout` seconds (negative: never), which may show wrong ones. Then
 * cb_func(whether that time was up, arg) is called, if not NULL. From anywhere, signal handlers
 * included. */
ABT_API_PUBLIC int ABT_info_trigger_print_all_thread_stacks(FILE *fp, double timeout, void (*cb_func)(ABT_bool, void *),
                                                            void *arg);

/* ---- tools ----------------------------------------------------------------------------------- */

#define ABT_TOOL_EVENT_THREAD_NONE ((uint64_t)0x0)              /**< no event */
#define ABT_TOOL_EVENT_THREAD_CREATE ((uint64_t)0x1)            /**< was created */
#define ABT_TOOL_EVENT_THREAD_JOIN ((uint64_t)0x2)              /**< was joined */
#define ABT_TOOL_EVENT_THREAD_FREE ((uint64_t)0x4)              /**< is about to be freed */
#define ABT_TOOL_EVENT_THREAD_REVIVE ((uint64_t)0x8)            /**< was revived */
#define ABT_TOOL_EVENT_THREAD_RUN ((uint64_t)0x10)              /**< begins, or goes on */
#define ABT_TOOL_EVENT_THREAD_FINISH ((uint64_t)0x20)           /**< has ended */
#define ABT_TOOL_EVENT_THREAD_CANCEL ((uint64_t)0x40)           /**< has ended because it was asked to */
#define ABT_TOOL_EVENT_THREAD_YIELD ((uint64_t)0x80)            /**< yields */
#define ABT_TOOL_EVENT_THREAD_SUSPEND ((uint64_t)0x100)         /**< is suspended */
#define ABT_TOOL_EVENT_THREAD_RESUME ((uint64_t)0x200)          /**< was resumed */
#define ABT_TOOL_EVENT_THREAD_ALL ((((uint64_t)0x1) << 12) - 1) /**< all events */

/** What a tool can ask about an event, and the type of the answer. */
typedef enum ABT_tool_query_kind {
    ABT_TOOL_QUERY_KIND_POOL,              /**< to which pool is it pushed? ABT_pool */
    ABT_TOOL_QUERY_KIND_STACK_DEPTH,       /**< how many schedulers are below it? int */
    ABT_TOOL_QUERY_KIND_CALLER_TYPE,       /**< who caused it? ABT_exec_entity_type */
    ABT_TOOL_QUERY_KIND_CALLER_HANDLE,     /**< which one? ABT_thread */
    ABT_TOOL_QUERY_KIND_SYNC_OBJECT_TYPE,  /**< what does it wait for? ABT_sync_event_type */
    ABT_TOOL_QUERY_KIND_SYNC_OBJECT_HANDLE /**< for which one? the handle of that type */
} ABT_tool_query_kind;

/** Who causes an event. */
typedef enum ABT_exec_entity_type {
    ABT_EXEC_ENTITY_TYPE_EXT,   /**< an external thread */
    ABT_EXEC_ENTITY_TYPE_THREAD /**< a work unit */
} ABT_exec_entity_type;

/** What a ULT waits for. */
typedef enum ABT_sync_event_type {
    ABT_SYNC_EVENT_TYPE_UNKNOWN,      /**< it is not known */
    ABT_SYNC_EVENT_TYPE_USER,         /**< the program: it yields, or suspends itself */
    ABT_SYNC_EVENT_TYPE_OTHER,        /**< something of the library's */
    ABT_SYNC_EVENT_TYPE_XSTREAM_JOIN, /**< the end of an execution stream */
    ABT_SYNC_EVENT_TYPE_THREAD_JOIN,  /**< the end of a work unit */
    ABT_SYNC_EVENT_TYPE_MUTEX,        /**< a mutex */
    ABT_SYNC_EVENT_TYPE_COND,         /**< a condition variable */
    ABT_SYNC_EVENT_TYPE_RWLOCK,       /**< a read-write lock */
    ABT_SYNC_EVENT_TYPE_EVENTUAL,     /**< an eventual */
    ABT_SYNC_EVENT_TYPE_FUTURE,       /**< a future */
    ABT_SYNC_EVENT_TYPE_BARRIER       /**< a barrier */
} ABT_sync_event_type;

/** Is told of an event of a work unit, on the OS thread where it happens; must not wait for
 * anything of Argobots. `xstream`: XSTREAM_NULL on an external thread. */
typedef void (*ABT_tool_thread_callback_fn)(ABT_thread thread, ABT_xstream xstream, uint64_t event,
                                            ABT_tool_context context, void *user_arg);
/** As ABT_tool_thread_callback_fn, for tasklets. */
typedef void (*ABT_tool_task_callback_fn)(ABT_task task, ABT_xstream xstream, uint64_t event, ABT_tool_context context,
                                          void *user_arg);

/** Sets the function that is told of the events in `event_mask`, a sum of ABT_TOOL_EVENT_THREAD_x;
 * there is one for the whole process. NULL: none. ERR_FEATURE_NA. */
ABT_API_PUBLIC int ABT_tool_register_thread_callback(ABT_tool_thread_callback_fn cb_func, uint64_t event_mask,
                                                     void *user_arg);

/** Answers a question about the event of which the caller, a tool's function, is told; `val` is the
 * address of a variable of the answer's type. No such question, or not of this event: ERR_INV_ARG.
 * ERR_FEATURE_NA. */
ABT_API_PUBLIC int ABT_tool_query_thread(ABT_tool_context context, uint64_t event, ABT_tool_query_kind query_kind,
                                         void *val);

#ifdef __cplusplus
}
#endif

#endif
