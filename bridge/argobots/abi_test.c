/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Includes only abt.h, as C and, by abi_test.cpp, as C++: every number of the binary interface, and
 * the exact type of every function. This file was written from a list of the interface, not from
 * the header; nothing in it may ever change. */
#include "abt.h"

#include <assert.h>

/* ---- sizes and numbers ----------------------------------------------------------------------- */

static_assert(sizeof(ABT_mutex_memory) == 64 && sizeof(ABT_cond_memory) == 64 && sizeof(ABT_eventual_memory) == 64,
              "static memory");
static_assert(sizeof(ABT_sched_def) == 40 && sizeof(ABT_pool_def) == 128, "definitions");
static_assert(offsetof(ABT_pool_def, u_is_in_pool) == 32 && offsetof(ABT_pool_def, u_create_from_thread) == 40,
              "units");
static_assert(offsetof(ABT_pool_def, u_free) == 56 && offsetof(ABT_pool_def, p_init) == 64 &&
                  offsetof(ABT_pool_def, p_pop) == 88,
              "pools");
static_assert(offsetof(ABT_pool_def, p_pop_timedwait) == 96 && offsetof(ABT_pool_def, p_print_all) == 120,
              "pools, the end");
static_assert(offsetof(ABT_sched_def, run) == 16 && offsetof(ABT_sched_def, get_migr_pool) == 32, "schedulers");
static_assert(sizeof(ABT_sched_config_var) == 8 && sizeof(ABT_pool_config_var) == 8, "configurations");
static_assert(sizeof(ABT_bool) == 4 && sizeof(ABT_unit_id) == 8 && sizeof(ABT_thread_id) == 8 &&
                  sizeof(ABT_pool_context) == 8,
              "numbers");
static_assert(sizeof(ABT_thread_state) == 4 && sizeof(ABT_unit_type) == 4, "enumerations are as wide as int");
static_assert(ABT_TRUE == 1 && ABT_FALSE == 0 && ABT_XSTREAM_ANY_RANK == -1, "constants");

static_assert(ABT_NUMVERSION == 10200300 && sizeof(ABT_VERSION) == sizeof("1.2"), "version");
static_assert(ABT_CALC_VERSION(1, 2, 0, ABT_RELEASE_TYPE_RC, 1) == 10200201, "version of a candidate");
static_assert(ABT_RELEASE_TYPE_ALPHA == 0 && ABT_RELEASE_TYPE_BETA == 1 && ABT_RELEASE_TYPE_PATCH == 3,
              "kinds of versions");

static_assert(ABT_SUCCESS == 0, "errors");
static_assert(ABT_ERR_UNINITIALIZED == 1 && ABT_ERR_MEM == 2 && ABT_ERR_OTHER == 3, "errors");
static_assert(ABT_ERR_INV_XSTREAM == 4 && ABT_ERR_INV_XSTREAM_RANK == 5 && ABT_ERR_INV_XSTREAM_BARRIER == 6, "errors");
static_assert(ABT_ERR_INV_SCHED == 7 && ABT_ERR_INV_SCHED_KIND == 8 && ABT_ERR_INV_SCHED_PREDEF == 9, "errors");
static_assert(ABT_ERR_INV_SCHED_TYPE == 10 && ABT_ERR_INV_SCHED_CONFIG == 11 && ABT_ERR_INV_POOL == 12, "errors");
static_assert(ABT_ERR_INV_POOL_KIND == 13 && ABT_ERR_INV_POOL_ACCESS == 14 && ABT_ERR_INV_UNIT == 15, "errors");
static_assert(ABT_ERR_INV_THREAD == 16 && ABT_ERR_INV_THREAD_ATTR == 17 && ABT_ERR_INV_TASK == 18, "errors");
static_assert(ABT_ERR_INV_KEY == 19 && ABT_ERR_INV_MUTEX == 20 && ABT_ERR_INV_MUTEX_ATTR == 21, "errors");
static_assert(ABT_ERR_INV_COND == 22 && ABT_ERR_INV_RWLOCK == 23 && ABT_ERR_INV_EVENTUAL == 24, "errors");
static_assert(ABT_ERR_INV_FUTURE == 25 && ABT_ERR_INV_BARRIER == 26 && ABT_ERR_INV_TIMER == 27, "errors");
static_assert(ABT_ERR_INV_QUERY_KIND == 28 && ABT_ERR_XSTREAM == 29 && ABT_ERR_XSTREAM_STATE == 30, "errors");
static_assert(ABT_ERR_XSTREAM_BARRIER == 31 && ABT_ERR_SCHED == 32 && ABT_ERR_SCHED_CONFIG == 33, "errors");
static_assert(ABT_ERR_POOL == 34 && ABT_ERR_UNIT == 35 && ABT_ERR_THREAD == 36, "errors");
static_assert(ABT_ERR_TASK == 37 && ABT_ERR_KEY == 38 && ABT_ERR_MUTEX == 39, "errors");
static_assert(ABT_ERR_MUTEX_LOCKED == 40 && ABT_ERR_COND == 41 && ABT_ERR_COND_TIMEDOUT == 42, "errors");
static_assert(ABT_ERR_RWLOCK == 43 && ABT_ERR_EVENTUAL == 44 && ABT_ERR_FUTURE == 45, "errors");
static_assert(ABT_ERR_BARRIER == 46 && ABT_ERR_TIMER == 47 && ABT_ERR_MIGRATION_TARGET == 48, "errors");
static_assert(ABT_ERR_MIGRATION_NA == 49 && ABT_ERR_MISSING_JOIN == 50 && ABT_ERR_FEATURE_NA == 51, "errors");
static_assert(ABT_ERR_INV_TOOL_CONTEXT == 52 && ABT_ERR_INV_ARG == 53 && ABT_ERR_SYS == 54, "errors");
static_assert(ABT_ERR_CPUID == 55 && ABT_ERR_INV_POOL_CONFIG == 56 && ABT_ERR_INV_POOL_USER_DEF == 57, "errors");

static_assert(ABT_XSTREAM_STATE_RUNNING == 0 && ABT_XSTREAM_STATE_TERMINATED == 1, "states of execution streams");
static_assert(ABT_THREAD_STATE_READY == 0 && ABT_THREAD_STATE_RUNNING == 1 && ABT_THREAD_STATE_BLOCKED == 2,
              "states of work units");
static_assert(ABT_THREAD_STATE_TERMINATED == 3, "states of work units");
static_assert(ABT_TASK_STATE_READY == 0 && ABT_TASK_STATE_RUNNING == 1 && ABT_TASK_STATE_TERMINATED == 2,
              "states of tasklets");
static_assert(ABT_SCHED_STATE_READY == 0 && ABT_SCHED_STATE_RUNNING == 1 && ABT_SCHED_STATE_STOPPED == 2,
              "states of schedulers");
static_assert(ABT_SCHED_STATE_TERMINATED == 3, "states of schedulers");
static_assert(ABT_SCHED_DEFAULT == 0 && ABT_SCHED_BASIC == 1 && ABT_SCHED_PRIO == 2, "schedulers");
static_assert(ABT_SCHED_RANDWS == 3 && ABT_SCHED_BASIC_WAIT == 4, "schedulers");
static_assert(ABT_SCHED_TYPE_ULT == 0 && ABT_SCHED_TYPE_TASK == 1, "types of schedulers");
static_assert(ABT_POOL_FIFO == 0 && ABT_POOL_FIFO_WAIT == 1 && ABT_POOL_RANDWS == 2, "pools");
static_assert(ABT_POOL_ACCESS_PRIV == 0 && ABT_POOL_ACCESS_SPSC == 1 && ABT_POOL_ACCESS_MPSC == 2, "access");
static_assert(ABT_POOL_ACCESS_SPMC == 3 && ABT_POOL_ACCESS_MPMC == 4, "access");
static_assert(ABT_UNIT_TYPE_THREAD == 0 && ABT_UNIT_TYPE_TASK == 1 && ABT_UNIT_TYPE_XSTREAM == 2, "types of units");
static_assert(ABT_UNIT_TYPE_EXT == 3, "types of units");
static_assert(ABT_SCHED_CONFIG_INT == 0 && ABT_SCHED_CONFIG_DOUBLE == 1 && ABT_SCHED_CONFIG_PTR == 2,
              "types of values");
static_assert(ABT_POOL_CONFIG_INT == 0 && ABT_POOL_CONFIG_DOUBLE == 1 && ABT_POOL_CONFIG_PTR == 2, "types of values");
static_assert(ABT_INFO_QUERY_KIND_ENABLED_DEBUG == 0 && ABT_INFO_QUERY_KIND_ENABLED_PRINT_ERRNO == 1, "questions");
static_assert(ABT_INFO_QUERY_KIND_ENABLED_LOG == 2 && ABT_INFO_QUERY_KIND_ENABLED_VALGRIND == 3, "questions");
static_assert(ABT_INFO_QUERY_KIND_ENABLED_CHECK_ERROR == 4 && ABT_INFO_QUERY_KIND_ENABLED_CHECK_POOL_PRODUCER == 5,
              "questions");
static_assert(ABT_INFO_QUERY_KIND_ENABLED_CHECK_POOL_CONSUMER == 6 && ABT_INFO_QUERY_KIND_ENABLED_PRESERVE_FPU == 7,
              "questions");
static_assert(ABT_INFO_QUERY_KIND_ENABLED_THREAD_CANCEL == 8 && ABT_INFO_QUERY_KIND_ENABLED_TASK_CANCEL == 9,
              "questions");
static_assert(ABT_INFO_QUERY_KIND_ENABLED_MIGRATION == 10 && ABT_INFO_QUERY_KIND_ENABLED_STACKABLE_SCHED == 11,
              "questions");
static_assert(ABT_INFO_QUERY_KIND_ENABLED_EXTERNAL_THREAD == 12 && ABT_INFO_QUERY_KIND_ENABLED_SCHED_SLEEP == 13,
              "questions");
static_assert(ABT_INFO_QUERY_KIND_ENABLED_PRINT_CONFIG == 14 && ABT_INFO_QUERY_KIND_ENABLED_AFFINITY == 15,
              "questions");
static_assert(ABT_INFO_QUERY_KIND_MAX_NUM_XSTREAMS == 16 && ABT_INFO_QUERY_KIND_DEFAULT_THREAD_STACKSIZE == 17,
              "questions");
static_assert(ABT_INFO_QUERY_KIND_DEFAULT_SCHED_STACKSIZE == 18 && ABT_INFO_QUERY_KIND_DEFAULT_SCHED_EVENT_FREQ == 19,
              "questions");
static_assert(ABT_INFO_QUERY_KIND_DEFAULT_SCHED_SLEEP_NSEC == 20 && ABT_INFO_QUERY_KIND_ENABLED_TOOL == 21,
              "questions");
static_assert(ABT_INFO_QUERY_KIND_FCONTEXT == 22 && ABT_INFO_QUERY_KIND_DYNAMIC_PROMOTION == 23, "questions");
static_assert(ABT_INFO_QUERY_KIND_ENABLED_STACK_UNWIND == 24 && ABT_INFO_QUERY_KIND_ENABLED_STACK_OVERFLOW_CHECK == 25,
              "questions");
static_assert(ABT_INFO_QUERY_KIND_WAIT_POLICY == 26 && ABT_INFO_QUERY_KIND_ENABLED_LAZY_STACK_ALLOC == 27, "questions");
static_assert(ABT_TOOL_QUERY_KIND_POOL == 0 && ABT_TOOL_QUERY_KIND_STACK_DEPTH == 1, "questions of tools");
static_assert(ABT_TOOL_QUERY_KIND_CALLER_TYPE == 2 && ABT_TOOL_QUERY_KIND_CALLER_HANDLE == 3, "questions of tools");
static_assert(ABT_TOOL_QUERY_KIND_SYNC_OBJECT_TYPE == 4 && ABT_TOOL_QUERY_KIND_SYNC_OBJECT_HANDLE == 5,
              "questions of tools");
static_assert(ABT_EXEC_ENTITY_TYPE_EXT == 0 && ABT_EXEC_ENTITY_TYPE_THREAD == 1, "who causes events");
static_assert(ABT_SYNC_EVENT_TYPE_UNKNOWN == 0 && ABT_SYNC_EVENT_TYPE_USER == 1, "what is waited for");
static_assert(ABT_SYNC_EVENT_TYPE_OTHER == 2 && ABT_SYNC_EVENT_TYPE_XSTREAM_JOIN == 3, "what is waited for");
static_assert(ABT_SYNC_EVENT_TYPE_THREAD_JOIN == 4 && ABT_SYNC_EVENT_TYPE_MUTEX == 5, "what is waited for");
static_assert(ABT_SYNC_EVENT_TYPE_COND == 6 && ABT_SYNC_EVENT_TYPE_RWLOCK == 7, "what is waited for");
static_assert(ABT_SYNC_EVENT_TYPE_EVENTUAL == 8 && ABT_SYNC_EVENT_TYPE_FUTURE == 9, "what is waited for");
static_assert(ABT_SYNC_EVENT_TYPE_BARRIER == 10, "what is waited for");

static_assert(ABT_TOOL_EVENT_THREAD_CREATE == 1 && ABT_TOOL_EVENT_THREAD_JOIN == 2 && ABT_TOOL_EVENT_THREAD_FREE == 4,
              "events");
static_assert(ABT_TOOL_EVENT_THREAD_REVIVE == 8 && ABT_TOOL_EVENT_THREAD_RUN == 16 &&
                  ABT_TOOL_EVENT_THREAD_FINISH == 32,
              "events");
static_assert(ABT_TOOL_EVENT_THREAD_CANCEL == 64 && ABT_TOOL_EVENT_THREAD_YIELD == 128 &&
                  ABT_TOOL_EVENT_THREAD_SUSPEND == 256,
              "events");
static_assert(ABT_TOOL_EVENT_THREAD_RESUME == 512, "events");
static_assert(ABT_TOOL_EVENT_THREAD_NONE == 0 && ABT_TOOL_EVENT_THREAD_ALL == 0xfff, "events");
static_assert(ABT_POOL_CONTEXT_PRIO_HIGH == 0x1 && ABT_POOL_CONTEXT_PRIO_LOW == 0x2, "contexts");
static_assert(ABT_POOL_CONTEXT_OWNER_PRIMARY == 0x100 && ABT_POOL_CONTEXT_OWNER_SECONDARY == 0x200, "contexts");
static_assert(ABT_POOL_CONTEXT_OP_THREAD_CREATE == 0x1000 && ABT_POOL_CONTEXT_OP_THREAD_CREATE_TO == 0x2000,
              "contexts");
static_assert(ABT_POOL_CONTEXT_OP_THREAD_REVIVE == 0x4000 && ABT_POOL_CONTEXT_OP_THREAD_REVIVE_TO == 0x8000,
              "contexts");
static_assert(ABT_POOL_CONTEXT_OP_THREAD_YIELD == 0x10000 && ABT_POOL_CONTEXT_OP_THREAD_YIELD_TO == 0x20000,
              "contexts");
static_assert(ABT_POOL_CONTEXT_OP_THREAD_RESUME_YIELD_TO == 0x40000 && ABT_POOL_CONTEXT_OP_THREAD_YIELD_LOOP == 0x80000,
              "contexts");
static_assert(ABT_POOL_CONTEXT_OP_THREAD_RESUME == 0x100000 && ABT_POOL_CONTEXT_OP_THREAD_MIGRATE == 0x200000,
              "contexts");
static_assert(ABT_POOL_CONTEXT_PRIO_DEFAULT == 0 && ABT_POOL_CONTEXT_OWNER_OTHER == 0, "contexts");
static_assert(ABT_POOL_CONTEXT_OP_POOL_OTHER == 0, "contexts");

/* ---- types of functions that the program passes ---------------------------------------------- */

ABT_unit (*f_pool_user_create_unit)(ABT_pool, ABT_thread) = (ABT_pool_user_create_unit_fn)0;
void (*f_pool_user_free_unit)(ABT_pool, ABT_unit) = (ABT_pool_user_free_unit_fn)0;
ABT_bool (*f_pool_user_is_empty)(ABT_pool) = (ABT_pool_user_is_empty_fn)0;
ABT_thread (*f_pool_user_pop)(ABT_pool, ABT_pool_context) = (ABT_pool_user_pop_fn)0;
void (*f_pool_user_push)(ABT_pool, ABT_unit, ABT_pool_context) = (ABT_pool_user_push_fn)0;
int (*f_pool_user_init)(ABT_pool, ABT_pool_config) = (ABT_pool_user_init_fn)0;
void (*f_pool_user_free)(ABT_pool) = (ABT_pool_user_free_fn)0;
size_t (*f_pool_user_get_size)(ABT_pool) = (ABT_pool_user_get_size_fn)0;
ABT_thread (*f_pool_user_pop_wait)(ABT_pool, double, ABT_pool_context) = (ABT_pool_user_pop_wait_fn)0;
void (*f_pool_user_pop_many)(ABT_pool, ABT_thread *, size_t, size_t *, ABT_pool_context) = (ABT_pool_user_pop_many_fn)0;
void (*f_pool_user_push_many)(ABT_pool, const ABT_unit *, size_t, ABT_pool_context) = (ABT_pool_user_push_many_fn)0;
void (*f_pool_user_print_all)(ABT_pool, void *, void (*)(void *, ABT_thread)) = (ABT_pool_user_print_all_fn)0;
ABT_unit_type (*f_unit_get_type)(ABT_unit) = (ABT_unit_get_type_fn)0;
ABT_thread (*f_unit_get_thread)(ABT_unit) = (ABT_unit_get_thread_fn)0;
ABT_task (*f_unit_get_task)(ABT_unit) = (ABT_unit_get_task_fn)0;
ABT_bool (*f_unit_is_in_pool)(ABT_unit) = (ABT_unit_is_in_pool_fn)0;
ABT_unit (*f_unit_create_from_thread)(ABT_thread) = (ABT_unit_create_from_thread_fn)0;
ABT_unit (*f_unit_create_from_task)(ABT_task) = (ABT_unit_create_from_task_fn)0;
void (*f_unit_free)(ABT_unit *) = (ABT_unit_free_fn)0;
int (*f_pool_init)(ABT_pool, ABT_pool_config) = (ABT_pool_init_fn)0;
size_t (*f_pool_get_size)(ABT_pool) = (ABT_pool_get_size_fn)0;
void (*f_pool_push)(ABT_pool, ABT_unit) = (ABT_pool_push_fn)0;
ABT_unit (*f_pool_pop)(ABT_pool) = (ABT_pool_pop_fn)0;
ABT_unit (*f_pool_pop_wait)(ABT_pool, double) = (ABT_pool_pop_wait_fn)0;
ABT_unit (*f_pool_pop_timedwait)(ABT_pool, double) = (ABT_pool_pop_timedwait_fn)0;
int (*f_pool_remove)(ABT_pool, ABT_unit) = (ABT_pool_remove_fn)0;
int (*f_pool_free)(ABT_pool) = (ABT_pool_free_fn)0;
int (*f_pool_print_all)(ABT_pool, void *, void (*)(void *, ABT_unit)) = (ABT_pool_print_all_fn)0;
int (*f_sched_init)(ABT_sched, ABT_sched_config) = (ABT_sched_init_fn)0;
void (*f_sched_run)(ABT_sched) = (ABT_sched_run_fn)0;
int (*f_sched_free)(ABT_sched) = (ABT_sched_free_fn)0;
ABT_pool (*f_sched_get_migr_pool)(ABT_sched) = (ABT_sched_get_migr_pool_fn)0;
void (*f_tool_thread_callback)(ABT_thread, ABT_xstream, uint64_t, ABT_tool_context,
                               void *) = (ABT_tool_thread_callback_fn)0;
void (*f_tool_task_callback)(ABT_task, ABT_xstream, uint64_t, ABT_tool_context, void *) = (ABT_tool_task_callback_fn)0;

/* ---- functions, and exported data ------------------------------------------------------------ */

/* One of the functions is deprecated. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* init/finalize */
int (*p_init)(int argc, char **argv) = ABT_init;
int (*p_finalize)(void) = ABT_finalize;
int (*p_initialized)(void) = ABT_initialized;

/* execution stream */
int (*p_xstream_create)(ABT_sched sched, ABT_xstream *newxstream) = ABT_xstream_create;
int (*p_xstream_create_basic)(ABT_sched_predef predef, int num_pools, ABT_pool *pools, ABT_sched_config config,
                              ABT_xstream *newxstream) = ABT_xstream_create_basic;
int (*p_xstream_create_with_rank)(ABT_sched sched, int rank, ABT_xstream *newxstream) = ABT_xstream_create_with_rank;
int (*p_xstream_free)(ABT_xstream *xstream) = ABT_xstream_free;
int (*p_xstream_join)(ABT_xstream xstream) = ABT_xstream_join;
int (*p_xstream_revive)(ABT_xstream xstream) = ABT_xstream_revive;
int (*p_xstream_exit)(void) = ABT_xstream_exit;
int (*p_xstream_cancel)(ABT_xstream xstream) = ABT_xstream_cancel;
int (*p_xstream_self)(ABT_xstream *xstream) = ABT_xstream_self;
int (*p_xstream_self_rank)(int *rank) = ABT_xstream_self_rank;
int (*p_xstream_set_rank)(ABT_xstream xstream, int rank) = ABT_xstream_set_rank;
int (*p_xstream_get_rank)(ABT_xstream xstream, int *rank) = ABT_xstream_get_rank;
int (*p_xstream_set_main_sched)(ABT_xstream xstream, ABT_sched sched) = ABT_xstream_set_main_sched;
int (*p_xstream_set_main_sched_basic)(ABT_xstream xstream, ABT_sched_predef predef, int num_pools,
                                      ABT_pool *pools) = ABT_xstream_set_main_sched_basic;
int (*p_xstream_get_main_sched)(ABT_xstream xstream, ABT_sched *sched) = ABT_xstream_get_main_sched;
int (*p_xstream_get_main_pools)(ABT_xstream xstream, int max_pools, ABT_pool *pools) = ABT_xstream_get_main_pools;
int (*p_xstream_get_state)(ABT_xstream xstream, ABT_xstream_state *state) = ABT_xstream_get_state;
int (*p_xstream_equal)(ABT_xstream xstream1, ABT_xstream xstream2, ABT_bool *result) = ABT_xstream_equal;
int (*p_xstream_get_num)(int *num_xstreams) = ABT_xstream_get_num;
int (*p_xstream_is_primary)(ABT_xstream xstream, ABT_bool *is_primary) = ABT_xstream_is_primary;
int (*p_xstream_run_unit)(ABT_unit unit, ABT_pool pool) = ABT_xstream_run_unit;
int (*p_xstream_check_events)(ABT_sched sched) = ABT_xstream_check_events;
int (*p_xstream_set_cpubind)(ABT_xstream xstream, int cpuid) = ABT_xstream_set_cpubind;
int (*p_xstream_get_cpubind)(ABT_xstream xstream, int *cpuid) = ABT_xstream_get_cpubind;
int (*p_xstream_set_affinity)(ABT_xstream xstream, int num_cpuids, int *cpuids) = ABT_xstream_set_affinity;
int (*p_xstream_get_affinity)(ABT_xstream xstream, int max_cpuids, int *cpuids,
                              int *num_cpuids) = ABT_xstream_get_affinity;

/* barriers of execution streams */
int (*p_xstream_barrier_create)(uint32_t num_waiters, ABT_xstream_barrier *newbarrier) = ABT_xstream_barrier_create;
int (*p_xstream_barrier_free)(ABT_xstream_barrier *barrier) = ABT_xstream_barrier_free;
int (*p_xstream_barrier_wait)(ABT_xstream_barrier barrier) = ABT_xstream_barrier_wait;

/* scheduler */
int (*p_sched_create)(ABT_sched_def *def, int num_pools, ABT_pool *pools, ABT_sched_config config,
                      ABT_sched *newsched) = ABT_sched_create;
int (*p_sched_create_basic)(ABT_sched_predef predef, int num_pools, ABT_pool *pools, ABT_sched_config config,
                            ABT_sched *newsched) = ABT_sched_create_basic;
int (*p_sched_free)(ABT_sched *sched) = ABT_sched_free;
int (*p_sched_set_data)(ABT_sched sched, void *data) = ABT_sched_set_data;
int (*p_sched_get_data)(ABT_sched sched, void **data) = ABT_sched_get_data;
int (*p_sched_get_num_pools)(ABT_sched sched, int *num_pools) = ABT_sched_get_num_pools;
int (*p_sched_get_pools)(ABT_sched sched, int max_pools, int idx, ABT_pool *pools) = ABT_sched_get_pools;
int (*p_sched_get_size)(ABT_sched sched, size_t *size) = ABT_sched_get_size;
int (*p_sched_get_total_size)(ABT_sched sched, size_t *size) = ABT_sched_get_total_size;
int (*p_sched_finish)(ABT_sched sched) = ABT_sched_finish;
int (*p_sched_exit)(ABT_sched sched) = ABT_sched_exit;
int (*p_sched_has_to_stop)(ABT_sched sched, ABT_bool *stop) = ABT_sched_has_to_stop;

/* scheduler config */
int (*p_sched_config_create)(ABT_sched_config *config, ...) = ABT_sched_config_create;
int (*p_sched_config_read)(ABT_sched_config config, int num_vars, ...) = ABT_sched_config_read;
int (*p_sched_config_free)(ABT_sched_config *config) = ABT_sched_config_free;
int (*p_sched_config_set)(ABT_sched_config config, int idx, ABT_sched_config_type type,
                          const void *val) = ABT_sched_config_set;
int (*p_sched_config_get)(ABT_sched_config config, int idx, ABT_sched_config_type *p_type,
                          void *val) = ABT_sched_config_get;

/* pool */
int (*p_pool_create)(ABT_pool_user_def def, ABT_pool_config config, ABT_pool *newpool) = ABT_pool_create;
int (*p_pool_create_basic)(ABT_pool_kind kind, ABT_pool_access access, ABT_bool automatic,
                           ABT_pool *newpool) = ABT_pool_create_basic;
int (*p_pool_free)(ABT_pool *pool) = ABT_pool_free;
int (*p_pool_get_access)(ABT_pool pool, ABT_pool_access *access) = ABT_pool_get_access;
int (*p_pool_is_empty)(ABT_pool pool, ABT_bool *is_empty) = ABT_pool_is_empty;
int (*p_pool_get_size)(ABT_pool pool, size_t *size) = ABT_pool_get_size;
int (*p_pool_get_total_size)(ABT_pool pool, size_t *size) = ABT_pool_get_total_size;
int (*p_pool_pop_thread)(ABT_pool pool, ABT_thread *thread) = ABT_pool_pop_thread;
int (*p_pool_pop_thread_ex)(ABT_pool pool, ABT_thread *thread, ABT_pool_context pool_ctx) = ABT_pool_pop_thread_ex;
int (*p_pool_pop_threads)(ABT_pool pool, ABT_thread *threads, size_t len, size_t *num) = ABT_pool_pop_threads;
int (*p_pool_pop_threads_ex)(ABT_pool pool, ABT_thread *threads, size_t len, size_t *num,
                             ABT_pool_context pool_ctx) = ABT_pool_pop_threads_ex;
int (*p_pool_push_thread)(ABT_pool pool, ABT_thread thread) = ABT_pool_push_thread;
int (*p_pool_push_thread_ex)(ABT_pool pool, ABT_thread thread, ABT_pool_context pool_ctx) = ABT_pool_push_thread_ex;
int (*p_pool_push_threads)(ABT_pool pool, const ABT_thread *threads, size_t num) = ABT_pool_push_threads;
int (*p_pool_push_threads_ex)(ABT_pool pool, const ABT_thread *threads, size_t num,
                              ABT_pool_context pool_ctx) = ABT_pool_push_threads_ex;
int (*p_pool_pop_wait_thread)(ABT_pool pool, ABT_thread *thread, double time_secs) = ABT_pool_pop_wait_thread;
int (*p_pool_pop_wait_thread_ex)(ABT_pool pool, ABT_thread *thread, double time_secs,
                                 ABT_pool_context pool_ctx) = ABT_pool_pop_wait_thread_ex;
int (*p_pool_print_all_threads)(ABT_pool pool, void *arg,
                                void (*print_fn)(void *arg, ABT_thread)) = ABT_pool_print_all_threads;
int (*p_pool_set_data)(ABT_pool pool, void *data) = ABT_pool_set_data;
int (*p_pool_get_data)(ABT_pool pool, void **data) = ABT_pool_get_data;
int (*p_pool_add_sched)(ABT_pool pool, ABT_sched sched) = ABT_pool_add_sched;
int (*p_pool_get_id)(ABT_pool pool, int *id) = ABT_pool_get_id;
int (*p_pool_pop)(ABT_pool pool, ABT_unit *unit) = ABT_pool_pop;
int (*p_pool_pop_wait)(ABT_pool pool, ABT_unit *unit, double time_secs) = ABT_pool_pop_wait;
int (*p_pool_pop_timedwait)(ABT_pool pool, ABT_unit *unit, double abstime_secs) = ABT_pool_pop_timedwait;
int (*p_pool_remove)(ABT_pool pool, ABT_unit unit) = ABT_pool_remove;
int (*p_pool_push)(ABT_pool pool, ABT_unit unit) = ABT_pool_push;
int (*p_pool_print_all)(ABT_pool pool, void *arg, void (*print_fn)(void *arg, ABT_unit)) = ABT_pool_print_all;

/* pool config/user def */
int (*p_pool_config_create)(ABT_pool_config *config) = ABT_pool_config_create;
int (*p_pool_config_free)(ABT_pool_config *config) = ABT_pool_config_free;
int (*p_pool_config_set)(ABT_pool_config config, int key, ABT_pool_config_type type,
                         const void *val) = ABT_pool_config_set;
int (*p_pool_config_get)(ABT_pool_config config, int key, ABT_pool_config_type *p_type,
                         void *val) = ABT_pool_config_get;
int (*p_pool_user_def_create)(ABT_pool_user_create_unit_fn p_create_unit, ABT_pool_user_free_unit_fn p_free_unit,
                              ABT_pool_user_is_empty_fn p_is_empty, ABT_pool_user_pop_fn p_pop,
                              ABT_pool_user_push_fn p_push, ABT_pool_user_def *newdef) = ABT_pool_user_def_create;
int (*p_pool_user_def_free)(ABT_pool_user_def *def) = ABT_pool_user_def_free;
int (*p_pool_user_def_set_init)(ABT_pool_user_def def, ABT_pool_user_init_fn p_init) = ABT_pool_user_def_set_init;
int (*p_pool_user_def_set_free)(ABT_pool_user_def def, ABT_pool_user_free_fn p_free) = ABT_pool_user_def_set_free;
int (*p_pool_user_def_set_get_size)(ABT_pool_user_def def,
                                    ABT_pool_user_get_size_fn p_get_size) = ABT_pool_user_def_set_get_size;
int (*p_pool_user_def_set_pop_wait)(ABT_pool_user_def def,
                                    ABT_pool_user_pop_wait_fn p_pop_wait) = ABT_pool_user_def_set_pop_wait;
int (*p_pool_user_def_set_pop_many)(ABT_pool_user_def def,
                                    ABT_pool_user_pop_many_fn p_pop_many) = ABT_pool_user_def_set_pop_many;
int (*p_pool_user_def_set_push_many)(ABT_pool_user_def def,
                                     ABT_pool_user_push_many_fn p_push_many) = ABT_pool_user_def_set_push_many;
int (*p_pool_user_def_set_print_all)(ABT_pool_user_def def,
                                     ABT_pool_user_print_all_fn p_print_all) = ABT_pool_user_def_set_print_all;

/* unit */
int (*p_unit_get_thread)(ABT_unit unit, ABT_thread *thread) = ABT_unit_get_thread;
int (*p_unit_set_associated_pool)(ABT_unit unit, ABT_pool pool) = ABT_unit_set_associated_pool;

/* ULTs: create/join */
int (*p_thread_create)(ABT_pool pool, void (*thread_func)(void *), void *arg, ABT_thread_attr attr,
                       ABT_thread *newthread) = ABT_thread_create;
int (*p_thread_create_to)(ABT_pool pool, void (*thread_func)(void *), void *arg, ABT_thread_attr attr,
                          ABT_thread *newthread) = ABT_thread_create_to;
int (*p_thread_create_on_xstream)(ABT_xstream xstream, void (*thread_func)(void *), void *arg, ABT_thread_attr attr,
                                  ABT_thread *newthread) = ABT_thread_create_on_xstream;
int (*p_thread_create_many)(int num_threads, ABT_pool *pool_list, void (**thread_func_list)(void *), void **arg_list,
                            ABT_thread_attr attr, ABT_thread *newthread_list) = ABT_thread_create_many;
int (*p_thread_revive)(ABT_pool pool, void (*thread_func)(void *), void *arg, ABT_thread *thread) = ABT_thread_revive;
int (*p_thread_revive_to)(ABT_pool pool, void (*thread_func)(void *), void *arg,
                          ABT_thread *thread) = ABT_thread_revive_to;
int (*p_thread_free)(ABT_thread *thread) = ABT_thread_free;
int (*p_thread_free_many)(int num_threads, ABT_thread *thread_list) = ABT_thread_free_many;
int (*p_thread_join)(ABT_thread thread) = ABT_thread_join;
int (*p_thread_join_many)(int num_threads, ABT_thread *thread_list) = ABT_thread_join_many;
int (*p_thread_exit)(void) = ABT_thread_exit;
int (*p_thread_cancel)(ABT_thread thread) = ABT_thread_cancel;
int (*p_thread_self)(ABT_thread *thread) = ABT_thread_self;
int (*p_thread_self_id)(ABT_unit_id *id) = ABT_thread_self_id;
int (*p_thread_get_last_xstream)(ABT_thread thread, ABT_xstream *xstream) = ABT_thread_get_last_xstream;
int (*p_thread_get_state)(ABT_thread thread, ABT_thread_state *state) = ABT_thread_get_state;
int (*p_thread_get_last_pool)(ABT_thread thread, ABT_pool *pool) = ABT_thread_get_last_pool;
int (*p_thread_get_last_pool_id)(ABT_thread thread, int *id) = ABT_thread_get_last_pool_id;
int (*p_thread_get_unit)(ABT_thread thread, ABT_unit *unit) = ABT_thread_get_unit;
int (*p_thread_set_associated_pool)(ABT_thread thread, ABT_pool pool) = ABT_thread_set_associated_pool;

/* ULTs: yield/migrate */
int (*p_thread_yield_to)(ABT_thread thread) = ABT_thread_yield_to;
int (*p_thread_yield)(void) = ABT_thread_yield;
int (*p_thread_resume)(ABT_thread thread) = ABT_thread_resume;
int (*p_thread_migrate_to_xstream)(ABT_thread thread, ABT_xstream xstream) = ABT_thread_migrate_to_xstream;
int (*p_thread_migrate_to_sched)(ABT_thread thread, ABT_sched sched) = ABT_thread_migrate_to_sched;
int (*p_thread_migrate_to_pool)(ABT_thread thread, ABT_pool pool) = ABT_thread_migrate_to_pool;
int (*p_thread_migrate)(ABT_thread thread) = ABT_thread_migrate;
int (*p_thread_set_callback)(ABT_thread thread, void (*cb_func)(ABT_thread thread, void *cb_arg),
                             void *cb_arg) = ABT_thread_set_callback;
int (*p_thread_set_migratable)(ABT_thread thread, ABT_bool migratable) = ABT_thread_set_migratable;
int (*p_thread_is_migratable)(ABT_thread thread, ABT_bool *is_migratable) = ABT_thread_is_migratable;

/* ULTs: query */
int (*p_thread_is_primary)(ABT_thread thread, ABT_bool *is_primary) = ABT_thread_is_primary;
int (*p_thread_is_unnamed)(ABT_thread thread, ABT_bool *is_unnamed) = ABT_thread_is_unnamed;
int (*p_thread_equal)(ABT_thread thread1, ABT_thread thread2, ABT_bool *result) = ABT_thread_equal;
int (*p_thread_get_stacksize)(ABT_thread thread, size_t *stacksize) = ABT_thread_get_stacksize;
int (*p_thread_get_stack)(ABT_thread thread, void **stackaddr, size_t *stacksize) = ABT_thread_get_stack;
int (*p_thread_get_id)(ABT_thread thread, ABT_unit_id *thread_id) = ABT_thread_get_id;
int (*p_thread_set_arg)(ABT_thread thread, void *arg) = ABT_thread_set_arg;
int (*p_thread_get_arg)(ABT_thread thread, void **arg) = ABT_thread_get_arg;
int (*p_thread_get_thread_func)(ABT_thread thread, void (**thread_func)(void *)) = ABT_thread_get_thread_func;
int (*p_thread_set_specific)(ABT_thread thread, ABT_key key, void *value) = ABT_thread_set_specific;
int (*p_thread_get_specific)(ABT_thread thread, ABT_key key, void **value) = ABT_thread_get_specific;
int (*p_thread_get_attr)(ABT_thread thread, ABT_thread_attr *attr) = ABT_thread_get_attr;
int (*p_thread_attr_create)(ABT_thread_attr *newattr) = ABT_thread_attr_create;
int (*p_thread_attr_free)(ABT_thread_attr *attr) = ABT_thread_attr_free;
int (*p_thread_attr_set_stack)(ABT_thread_attr attr, void *stackaddr, size_t stacksize) = ABT_thread_attr_set_stack;
int (*p_thread_attr_get_stack)(ABT_thread_attr attr, void **stackaddr, size_t *stacksize) = ABT_thread_attr_get_stack;
int (*p_thread_attr_set_stacksize)(ABT_thread_attr attr, size_t stacksize) = ABT_thread_attr_set_stacksize;
int (*p_thread_attr_get_stacksize)(ABT_thread_attr attr, size_t *stacksize) = ABT_thread_attr_get_stacksize;
int (*p_thread_attr_set_callback)(ABT_thread_attr attr, void (*cb_func)(ABT_thread thread, void *cb_arg),
                                  void *cb_arg) = ABT_thread_attr_set_callback;
int (*p_thread_attr_set_migratable)(ABT_thread_attr attr, ABT_bool is_migratable) = ABT_thread_attr_set_migratable;

/* tasklet */
int (*p_task_create)(ABT_pool pool, void (*task_func)(void *), void *arg, ABT_task *newtask) = ABT_task_create;
int (*p_task_create_on_xstream)(ABT_xstream xstream, void (*task_func)(void *), void *arg,
                                ABT_task *newtask) = ABT_task_create_on_xstream;
int (*p_task_revive)(ABT_pool pool, void (*task_func)(void *), void *arg, ABT_task *task) = ABT_task_revive;
int (*p_task_free)(ABT_task *task) = ABT_task_free;
int (*p_task_join)(ABT_task task) = ABT_task_join;
int (*p_task_cancel)(ABT_task task) = ABT_task_cancel;
int (*p_task_self)(ABT_task *task) = ABT_task_self;
int (*p_task_self_id)(uint64_t *id) = ABT_task_self_id;
int (*p_task_get_xstream)(ABT_task task, ABT_xstream *xstream) = ABT_task_get_xstream;
int (*p_task_get_state)(ABT_task task, ABT_task_state *state) = ABT_task_get_state;
int (*p_task_get_last_pool)(ABT_task task, ABT_pool *pool) = ABT_task_get_last_pool;
int (*p_task_get_last_pool_id)(ABT_task task, int *id) = ABT_task_get_last_pool_id;
int (*p_task_set_migratable)(ABT_task task, ABT_bool flag) = ABT_task_set_migratable;
int (*p_task_is_migratable)(ABT_task task, ABT_bool *flag) = ABT_task_is_migratable;
int (*p_task_equal)(ABT_task task1, ABT_task task2, ABT_bool *result) = ABT_task_equal;
int (*p_task_get_id)(ABT_task task, uint64_t *task_id) = ABT_task_get_id;
int (*p_task_get_arg)(ABT_task task, void **arg) = ABT_task_get_arg;

/* self */
int (*p_self_get_xstream)(ABT_xstream *xstream) = ABT_self_get_xstream;
int (*p_self_get_xstream_rank)(int *rank) = ABT_self_get_xstream_rank;
int (*p_self_get_thread)(ABT_thread *thread) = ABT_self_get_thread;
int (*p_self_get_thread_id)(ABT_unit_id *id) = ABT_self_get_thread_id;
int (*p_self_set_specific)(ABT_key key, void *value) = ABT_self_set_specific;
int (*p_self_get_specific)(ABT_key key, void **value) = ABT_self_get_specific;
int (*p_self_get_type)(ABT_unit_type *type) = ABT_self_get_type;
int (*p_self_is_primary)(ABT_bool *is_primary) = ABT_self_is_primary;
int (*p_self_on_primary_xstream)(ABT_bool *on_primary) = ABT_self_on_primary_xstream;
int (*p_self_is_unnamed)(ABT_bool *is_unnamed) = ABT_self_is_unnamed;
int (*p_self_get_last_pool)(ABT_pool *pool) = ABT_self_get_last_pool;
int (*p_self_get_last_pool_id)(int *pool_id) = ABT_self_get_last_pool_id;
int (*p_self_set_associated_pool)(ABT_pool pool) = ABT_self_set_associated_pool;
int (*p_self_get_unit)(ABT_unit *unit) = ABT_self_get_unit;
int (*p_self_yield)(void) = ABT_self_yield;
int (*p_self_yield_to)(ABT_thread thread) = ABT_self_yield_to;
int (*p_self_resume_yield_to)(ABT_thread thread) = ABT_self_resume_yield_to;
int (*p_self_suspend)(void) = ABT_self_suspend;
int (*p_self_suspend_to)(ABT_thread thread) = ABT_self_suspend_to;
int (*p_self_resume_suspend_to)(ABT_thread thread) = ABT_self_resume_suspend_to;
int (*p_self_exit)(void) = ABT_self_exit;
int (*p_self_exit_to)(ABT_thread thread) = ABT_self_exit_to;
int (*p_self_resume_exit_to)(ABT_thread thread) = ABT_self_resume_exit_to;
int (*p_self_schedule)(ABT_thread thread, ABT_pool pool) = ABT_self_schedule;
int (*p_self_set_arg)(void *arg) = ABT_self_set_arg;
int (*p_self_get_arg)(void **arg) = ABT_self_get_arg;
int (*p_self_get_thread_func)(void (**thread_func)(void *)) = ABT_self_get_thread_func;

/* keys */
int (*p_key_create)(void (*destructor)(void *value), ABT_key *newkey) = ABT_key_create;
int (*p_key_free)(ABT_key *key) = ABT_key_free;
int (*p_key_set)(ABT_key key, void *value) = ABT_key_set;
int (*p_key_get)(ABT_key key, void **value) = ABT_key_get;

/* mutex */
int (*p_mutex_create)(ABT_mutex *newmutex) = ABT_mutex_create;
int (*p_mutex_create_with_attr)(ABT_mutex_attr attr, ABT_mutex *newmutex) = ABT_mutex_create_with_attr;
int (*p_mutex_free)(ABT_mutex *mutex) = ABT_mutex_free;
int (*p_mutex_lock)(ABT_mutex mutex) = ABT_mutex_lock;
int (*p_mutex_lock_high)(ABT_mutex mutex) = ABT_mutex_lock_high;
int (*p_mutex_lock_low)(ABT_mutex mutex) = ABT_mutex_lock_low;
int (*p_mutex_trylock)(ABT_mutex mutex) = ABT_mutex_trylock;
int (*p_mutex_spinlock)(ABT_mutex mutex) = ABT_mutex_spinlock;
int (*p_mutex_unlock)(ABT_mutex mutex) = ABT_mutex_unlock;
int (*p_mutex_unlock_se)(ABT_mutex mutex) = ABT_mutex_unlock_se;
int (*p_mutex_unlock_de)(ABT_mutex mutex) = ABT_mutex_unlock_de;
int (*p_mutex_equal)(ABT_mutex mutex1, ABT_mutex mutex2, ABT_bool *result) = ABT_mutex_equal;
int (*p_mutex_get_attr)(ABT_mutex mutex, ABT_mutex_attr *attr) = ABT_mutex_get_attr;
int (*p_mutex_attr_create)(ABT_mutex_attr *newattr) = ABT_mutex_attr_create;
int (*p_mutex_attr_free)(ABT_mutex_attr *attr) = ABT_mutex_attr_free;
int (*p_mutex_attr_set_recursive)(ABT_mutex_attr attr, ABT_bool recursive) = ABT_mutex_attr_set_recursive;
int (*p_mutex_attr_get_recursive)(ABT_mutex_attr attr, ABT_bool *recursive) = ABT_mutex_attr_get_recursive;

/* cond */
int (*p_cond_create)(ABT_cond *newcond) = ABT_cond_create;
int (*p_cond_free)(ABT_cond *cond) = ABT_cond_free;
int (*p_cond_wait)(ABT_cond cond, ABT_mutex mutex) = ABT_cond_wait;
int (*p_cond_timedwait)(ABT_cond cond, ABT_mutex mutex, const struct timespec *abstime) = ABT_cond_timedwait;
int (*p_cond_signal)(ABT_cond cond) = ABT_cond_signal;
int (*p_cond_broadcast)(ABT_cond cond) = ABT_cond_broadcast;

/* rwlock */
int (*p_rwlock_create)(ABT_rwlock *newrwlock) = ABT_rwlock_create;
int (*p_rwlock_free)(ABT_rwlock *rwlock) = ABT_rwlock_free;
int (*p_rwlock_rdlock)(ABT_rwlock rwlock) = ABT_rwlock_rdlock;
int (*p_rwlock_wrlock)(ABT_rwlock rwlock) = ABT_rwlock_wrlock;
int (*p_rwlock_unlock)(ABT_rwlock rwlock) = ABT_rwlock_unlock;

/* eventual */
int (*p_eventual_create)(int nbytes, ABT_eventual *neweventual) = ABT_eventual_create;
int (*p_eventual_free)(ABT_eventual *eventual) = ABT_eventual_free;
int (*p_eventual_wait)(ABT_eventual eventual, void **value) = ABT_eventual_wait;
int (*p_eventual_timedwait)(ABT_eventual eventual, void **value,
                            const struct timespec *abstime) = ABT_eventual_timedwait;
int (*p_eventual_test)(ABT_eventual eventual, void **value, ABT_bool *is_ready) = ABT_eventual_test;
int (*p_eventual_set)(ABT_eventual eventual, void *value, int nbytes) = ABT_eventual_set;
int (*p_eventual_reset)(ABT_eventual eventual) = ABT_eventual_reset;

/* future */
int (*p_future_create)(uint32_t num_compartments, void (*cb_func)(void **arg),
                       ABT_future *newfuture) = ABT_future_create;
int (*p_future_free)(ABT_future *future) = ABT_future_free;
int (*p_future_wait)(ABT_future future) = ABT_future_wait;
int (*p_future_test)(ABT_future future, ABT_bool *is_ready) = ABT_future_test;
int (*p_future_set)(ABT_future future, void *value) = ABT_future_set;
int (*p_future_reset)(ABT_future future) = ABT_future_reset;

/* barrier */
int (*p_barrier_create)(uint32_t num_waiters, ABT_barrier *newbarrier) = ABT_barrier_create;
int (*p_barrier_reinit)(ABT_barrier barrier, uint32_t num_waiters) = ABT_barrier_reinit;
int (*p_barrier_free)(ABT_barrier *barrier) = ABT_barrier_free;
int (*p_barrier_wait)(ABT_barrier barrier) = ABT_barrier_wait;
int (*p_barrier_get_num_waiters)(ABT_barrier barrier, uint32_t *num_waiters) = ABT_barrier_get_num_waiters;

/* error/timer */
int (*p_error_get_str)(int err, char *str, size_t *len) = ABT_error_get_str;
double (*p_get_wtime)(void) = ABT_get_wtime;
int (*p_timer_create)(ABT_timer *newtimer) = ABT_timer_create;
int (*p_timer_dup)(ABT_timer timer, ABT_timer *newtimer) = ABT_timer_dup;
int (*p_timer_free)(ABT_timer *timer) = ABT_timer_free;
int (*p_timer_start)(ABT_timer timer) = ABT_timer_start;
int (*p_timer_stop)(ABT_timer timer) = ABT_timer_stop;
int (*p_timer_read)(ABT_timer timer, double *secs) = ABT_timer_read;
int (*p_timer_stop_and_read)(ABT_timer timer, double *secs) = ABT_timer_stop_and_read;
int (*p_timer_stop_and_add)(ABT_timer timer, double *secs) = ABT_timer_stop_and_add;
int (*p_timer_get_overhead)(double *overhead) = ABT_timer_get_overhead;

/* info */
int (*p_info_query_config)(ABT_info_query_kind query_kind, void *val) = ABT_info_query_config;
int (*p_info_print_config)(FILE *fp) = ABT_info_print_config;
int (*p_info_print_all_xstreams)(FILE *fp) = ABT_info_print_all_xstreams;
int (*p_info_print_xstream)(FILE *fp, ABT_xstream xstream) = ABT_info_print_xstream;
int (*p_info_print_sched)(FILE *fp, ABT_sched sched) = ABT_info_print_sched;
int (*p_info_print_pool)(FILE *fp, ABT_pool pool) = ABT_info_print_pool;
int (*p_info_print_thread)(FILE *fp, ABT_thread thread) = ABT_info_print_thread;
int (*p_info_print_thread_attr)(FILE *fp, ABT_thread_attr attr) = ABT_info_print_thread_attr;
int (*p_info_print_task)(FILE *fp, ABT_task task) = ABT_info_print_task;
int (*p_info_print_thread_stack)(FILE *fp, ABT_thread thread) = ABT_info_print_thread_stack;
int (*p_info_print_thread_stacks_in_pool)(FILE *fp, ABT_pool pool) = ABT_info_print_thread_stacks_in_pool;
int (*p_info_trigger_print_all_thread_stacks)(FILE *fp, double timeout, void (*cb_func)(ABT_bool, void *),
                                              void *arg) = ABT_info_trigger_print_all_thread_stacks;

/* tool */
int (*p_tool_register_thread_callback)(ABT_tool_thread_callback_fn cb_func, uint64_t event_mask,
                                       void *user_arg) = ABT_tool_register_thread_callback;
int (*p_tool_query_thread)(ABT_tool_context context, uint64_t event, ABT_tool_query_kind query_kind,
                           void *val) = ABT_tool_query_thread;

int (*p_task_is_unnamed)(ABT_thread thread, ABT_bool *is_unnamed) = ABT_task_is_unnamed;
int (*p_task_set_specific)(ABT_thread thread, ABT_key key, void *value) = ABT_task_set_specific;
int (*p_task_get_specific)(ABT_thread thread, ABT_key key, void **value) = ABT_task_get_specific;
int (*p_self_get_task)(ABT_thread *thread) = ABT_self_get_task;
int (*p_self_get_task_id)(ABT_unit_id *id) = ABT_self_get_task_id;

/* ---- checks that are possible only at run time ----------------------------------------------- */

static int wrong;

static void expect(int is_so, int line) {
    if (!is_so) {
        printf("abi_test: line %d\n", line);
        ++wrong;
    }
}

static uintptr_t number(const void *handle) { return (uintptr_t)handle; }

static void handles_that_are_none(void) {
    ABT_xstream xstream = ABT_XSTREAM_NULL;
    expect(number(xstream) == 1, __LINE__);
    ABT_xstream_barrier xstream_barrier = ABT_XSTREAM_BARRIER_NULL;
    expect(number(xstream_barrier) == 2, __LINE__);
    ABT_sched sched = ABT_SCHED_NULL;
    expect(number(sched) == 3, __LINE__);
    ABT_sched_config sched_config = ABT_SCHED_CONFIG_NULL;
    expect(number(sched_config) == 4, __LINE__);
    ABT_pool pool = ABT_POOL_NULL;
    expect(number(pool) == 5, __LINE__);
    ABT_pool_config pool_config = ABT_POOL_CONFIG_NULL;
    expect(number(pool_config) == 6, __LINE__);
    ABT_unit unit = ABT_UNIT_NULL;
    expect(number(unit) == 7, __LINE__);
    ABT_thread thread = ABT_THREAD_NULL;
    expect(number(thread) == 8, __LINE__);
    ABT_thread_attr thread_attr = ABT_THREAD_ATTR_NULL;
    expect(number(thread_attr) == 9, __LINE__);
    ABT_task task = ABT_TASK_NULL;
    expect(number(task) == 10, __LINE__);
    ABT_key key = ABT_KEY_NULL;
    expect(number(key) == 11, __LINE__);
    ABT_mutex mutex = ABT_MUTEX_NULL;
    expect(number(mutex) == 12, __LINE__);
    ABT_mutex_attr mutex_attr = ABT_MUTEX_ATTR_NULL;
    expect(number(mutex_attr) == 13, __LINE__);
    ABT_cond cond = ABT_COND_NULL;
    expect(number(cond) == 14, __LINE__);
    ABT_rwlock rwlock = ABT_RWLOCK_NULL;
    expect(number(rwlock) == 15, __LINE__);
    ABT_eventual eventual = ABT_EVENTUAL_NULL;
    expect(number(eventual) == 16, __LINE__);
    ABT_future future = ABT_FUTURE_NULL;
    expect(number(future) == 17, __LINE__);
    ABT_barrier barrier = ABT_BARRIER_NULL;
    expect(number(barrier) == 18, __LINE__);
    ABT_timer timer = ABT_TIMER_NULL;
    expect(number(timer) == 19, __LINE__);
    ABT_tool_context tool_context = ABT_TOOL_CONTEXT_NULL;
    expect(number(tool_context) == 20, __LINE__);
    ABT_pool_user_def pool_user_def = ABT_POOL_USER_DEF_NULL;
    expect(number(pool_user_def) == 21, __LINE__);
}

static void static_memory(void) {
    static ABT_mutex_memory mutex = ABT_MUTEX_INITIALIZER, recursive = ABT_RECURSIVE_MUTEX_INITIALIZER;
    static ABT_cond_memory cond = ABT_COND_INITIALIZER;
    static ABT_eventual_memory eventual = ABT_EVENTUAL_INITIALIZER;
    ABT_mutex mutex_handle = ABT_MUTEX_MEMORY_GET_HANDLE(&mutex);
    ABT_cond cond_handle = ABT_COND_MEMORY_GET_HANDLE(&cond);
    ABT_eventual eventual_handle = ABT_EVENTUAL_MEMORY_GET_HANDLE(&eventual);
    expect(number(mutex_handle) == number(&mutex), __LINE__);
    expect(number(cond_handle) == number(&cond), __LINE__);
    expect(number(eventual_handle) == number(&eventual), __LINE__);
    expect(recursive.dummy[0] == 1, __LINE__);
    for (int i = 0; i < 16; ++i) {
        expect(
            mutex.dummy[i] == 0 && cond.dummy[i] == 0 && eventual.dummy[i] == 0 && (i == 0 || recursive.dummy[i] == 0),
            __LINE__);
    }
}

static void data(void) {
    expect(ABT_sched_config_var_end.idx == -1 && ABT_sched_config_var_end.type == ABT_SCHED_CONFIG_INT, __LINE__);
    expect(ABT_sched_config_access.idx == -2 && ABT_sched_config_access.type == ABT_SCHED_CONFIG_INT, __LINE__);
    expect(ABT_sched_config_automatic.idx == -3 && ABT_sched_config_automatic.type == ABT_SCHED_CONFIG_INT, __LINE__);
    expect(ABT_sched_basic_freq.idx == -4 && ABT_sched_basic_freq.type == ABT_SCHED_CONFIG_INT, __LINE__);
    expect(ABT_pool_config_automatic.key == -2 && ABT_pool_config_automatic.type == ABT_POOL_CONFIG_INT, __LINE__);
}

int main(void) {
    handles_that_are_none();
    static_memory();
    data();
    return wrong;
}
