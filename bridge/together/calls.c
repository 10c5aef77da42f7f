/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Both in one: OpenMP threads that call Argobots, while Argobots units wait. */
#include <abt.h>
#include <omp.h>

#include "part.h"

static ABT_key key;
static int destroyed;

static void destroy(void *value) {
    MUST(value != NULL);
    __atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED);
}

static void waits(void *event) {
    void *value = NULL;
    MUST(ABT_key_set(key, event) == ABT_SUCCESS);
    MUST(ABT_eventual_wait(event, NULL) == ABT_SUCCESS);
    MUST(ABT_key_get(key, &value) == ABT_SUCCESS && value == event);
}

static void region(void) {
#pragma omp parallel num_threads(4)
    {
        void *value = NULL;
        int rank = -1;
        ABT_thread self = ABT_THREAD_NULL;
        MUST(ABT_self_get_thread(&self) == ABT_SUCCESS && self != ABT_THREAD_NULL);
        MUST(ABT_key_set(key, &rank) == ABT_SUCCESS);
#pragma omp barrier
        MUST(ABT_self_get_specific(key, &value) == ABT_SUCCESS && value == &rank);
        MUST(ABT_thread_get_specific(self, key, &value) == ABT_SUCCESS && value == &rank);
        /* Thread 0 is the primary unit. The others are on no execution stream, unless the first one
         * carries them while thread 0 waits. */
        const int found = ABT_xstream_self_rank(&rank);
        MUST(found == ABT_SUCCESS ? rank == 0 : found == ABT_ERR_INV_XSTREAM);
        if (omp_get_thread_num() == 0) MUST(found == ABT_SUCCESS);
        if (omp_get_thread_num() != 0) {
            ABT_pool pool;
            MUST(ABT_finalize() != ABT_SUCCESS && ABT_xstream_exit() == ABT_ERR_INV_XSTREAM);
            MUST(ABT_self_get_last_pool(&pool) == ABT_SUCCESS && pool == ABT_POOL_NULL);
        }
        MUST(ABT_key_set(key, NULL) == ABT_SUCCESS);
    }
}

static void begin(void) {
    MUST(ABT_init(0, NULL) == ABT_SUCCESS);
    MUST(ABT_key_create(destroy, &key) == ABT_SUCCESS);
}

static void work(void) {
    ABT_xstream here;
    ABT_pool pool;
    ABT_eventual event;
    ABT_thread threads[10];
    MUST(ABT_xstream_self(&here) == ABT_SUCCESS && ABT_xstream_get_main_pools(here, 1, &pool) == ABT_SUCCESS);
    MUST(ABT_eventual_create(0, &event) == ABT_SUCCESS);
    for (int i = 0; i < 10; ++i)
        MUST(ABT_thread_create(pool, waits, event, ABT_THREAD_ATTR_NULL, &threads[i]) == ABT_SUCCESS);
    ABT_thread_yield();
    region();
    MUST(ABT_eventual_set(event, NULL, 0) == ABT_SUCCESS);
    region();
    const int before = destroyed;
    for (int i = 0; i < 10; ++i) MUST(ABT_thread_free(&threads[i]) == ABT_SUCCESS);
    MUST(destroyed == before + 10);
    MUST(ABT_eventual_free(&event) == ABT_SUCCESS);
}

/* With values that OpenMP threads still have. */
static void end(void) {
#pragma omp parallel num_threads(4)
    MUST(ABT_key_set(key, &key) == ABT_SUCCESS);
    const int before = destroyed;
    MUST(ABT_finalize() == ABT_SUCCESS);
    MUST(destroyed == before + 4);
    MUST(ABT_key_free(&key) == ABT_SUCCESS);
}

const struct part PART = {begin, work, end};
