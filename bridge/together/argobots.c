/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Argobots: units with values under keys, in pools of Argobots and of the program, on the first
 * stream and on another one. */
#include <abt.h>
#include <pthread.h>

#include "part.h"

enum { units = 20 };

static ABT_key key;
static int destroyed, made, freed;
static ABT_pool custom;

static void destroy(void *value) {
    MUST(value != NULL);
    __atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED);
}

static void body(void *number) {
    void *value = NULL;
    ABT_thread self;
    MUST(ABT_self_get_thread(&self) == ABT_SUCCESS);
    MUST(ABT_key_get(key, &value) == ABT_SUCCESS && value == NULL);
    MUST(ABT_key_set(key, number) == ABT_SUCCESS);
    ABT_thread_yield();
    MUST(ABT_key_get(key, &value) == ABT_SUCCESS && value == number);
    MUST(ABT_thread_get_specific(self, key, &value) == ABT_SUCCESS && value == number);
}

/* A pool that the program defines: what it makes for a unit lies in the unit's record. */
static ABT_thread waiting[units];
static int first, count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static ABT_unit make_unit(ABT_pool pool, ABT_thread thread) {
    (void)pool;
    __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
    ABT_thread *place = malloc(sizeof *place);
    *place = thread;
    return (ABT_unit)place;
}
static void free_unit(ABT_pool pool, ABT_unit unit) {
    (void)pool;
    __atomic_fetch_add(&freed, 1, __ATOMIC_RELAXED);
    free((void *)unit);
}
static ABT_bool is_empty(ABT_pool pool) {
    (void)pool;
    pthread_mutex_lock(&lock);
    const ABT_bool empty = count == 0;
    pthread_mutex_unlock(&lock);
    return empty;
}
static ABT_thread pop(ABT_pool pool, ABT_pool_context context) {
    (void)pool;
    (void)context;
    ABT_thread thread = ABT_THREAD_NULL;
    pthread_mutex_lock(&lock);
    if (count != 0) {
        thread = waiting[first++ % units];
        --count;
    }
    pthread_mutex_unlock(&lock);
    return thread;
}
static void push(ABT_pool pool, ABT_unit unit, ABT_pool_context context) {
    (void)pool;
    (void)context;
    pthread_mutex_lock(&lock);
    waiting[(first + count++) % units] = *(ABT_thread *)unit;
    pthread_mutex_unlock(&lock);
}

static void run_in(ABT_pool pool) {
    ABT_thread threads[units];
    for (long i = 0; i < units; ++i)
        MUST(ABT_thread_create(pool, body, (void *)(i + 1), ABT_THREAD_ATTR_NULL, &threads[i]) == ABT_SUCCESS);
    const int before = destroyed;
    for (int i = 0; i < units; ++i) MUST(ABT_thread_free(&threads[i]) == ABT_SUCCESS);
    MUST(destroyed == before + units);
}

static void begin(void) {
    MUST(ABT_initialized() == ABT_ERR_UNINITIALIZED);
    MUST(ABT_init(0, NULL) == ABT_SUCCESS);
    MUST(ABT_initialized() == ABT_SUCCESS);
    MUST(ABT_key_create(destroy, &key) == ABT_SUCCESS);
}

static void work(void) {
    ABT_xstream here, there;
    ABT_pool pool;
    void *value = NULL;
    MUST(ABT_xstream_self(&here) == ABT_SUCCESS);
    MUST(ABT_key_set(key, &here) == ABT_SUCCESS && ABT_key_get(key, &value) == ABT_SUCCESS && value == &here);
    MUST(ABT_xstream_get_main_pools(here, 1, &pool) == ABT_SUCCESS);
    run_in(pool);

    ABT_pool_user_def def;
    MUST(ABT_pool_user_def_create(make_unit, free_unit, is_empty, pop, push, &def) == ABT_SUCCESS);
    MUST(ABT_pool_create(def, ABT_POOL_CONFIG_NULL, &custom) == ABT_SUCCESS);
    MUST(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &custom, ABT_SCHED_CONFIG_NULL, &there) == ABT_SUCCESS);
    run_in(custom);
    MUST(ABT_xstream_free(&there) == ABT_SUCCESS);
    MUST(ABT_pool_free(&custom) == ABT_SUCCESS || 1);
    MUST(ABT_pool_user_def_free(&def) == ABT_SUCCESS);
    MUST(ABT_key_set(key, NULL) == ABT_SUCCESS);
}

/* The primary unit's value under a key is destroyed, and what pools have made for units is
 * freed. */
static void end(void) {
    MUST(ABT_key_set(key, &key) == ABT_SUCCESS);
    const int before = destroyed;
    MUST(ABT_finalize() == ABT_SUCCESS);
    MUST(destroyed == before + 1);
    MUST(made == freed);
    MUST(ABT_key_free(&key) == ABT_SUCCESS);
    MUST(ABT_initialized() == ABT_ERR_UNINITIALIZED);
}

const struct part PART = {begin, work, end};
