/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A user-defined scheduler: it draws from the stream's own pool first, and when that is empty from
 * the pool of another stream, chosen at random. All work begins in the first stream's pool, and the
 * other streams steal it. The primary stream takes no part: its ULT would be stolen, too, and could
 * not free the stream that it runs on.
 *
 *     stealing_scheduler [STREAMS [DEPTH]] */
#include "check.h"

#include <stdint.h>

struct state {
    uint32_t random;
    unsigned rounds;
};

static int init(ABT_sched sched, ABT_sched_config config) {
    (void)config;
    struct state *state = malloc(sizeof *state);
    if (state == NULL) return ABT_ERR_MEM;
    state->random = (uint32_t)(uintptr_t)sched | 1;
    state->rounds = 0;
    return ABT_sched_set_data(sched, state);
}

static void run(ABT_sched sched) {
    void *data;
    int count;
    check(ABT_sched_get_data(sched, &data), "ABT_sched_get_data");
    check(ABT_sched_get_num_pools(sched, &count), "ABT_sched_get_num_pools");
    struct state *state = data;
    ABT_pool *pools = malloc(sizeof *pools * (size_t)count);
    check(ABT_sched_get_pools(sched, count, 0, pools), "ABT_sched_get_pools");
    for (;;) {
        ABT_thread thread;
        check(ABT_pool_pop_thread(pools[0], &thread), "ABT_pool_pop_thread");
        if (thread == ABT_THREAD_NULL && count > 1) {
            state->random = state->random * 1664525u + 1013904223u;
            const int victim = 1 + (int)((state->random >> 16) % (uint32_t)(count - 1));
            check(ABT_pool_pop_thread(pools[victim], &thread), "ABT_pool_pop_thread");
        }
        if (thread != ABT_THREAD_NULL) check(ABT_self_schedule(thread, ABT_POOL_NULL), "ABT_self_schedule");
        if (++state->rounds % 16 != 0) continue;
        ABT_bool stop;
        check(ABT_sched_has_to_stop(sched, &stop), "ABT_sched_has_to_stop");
        if (stop == ABT_TRUE) break;
        check(ABT_xstream_check_events(sched), "ABT_xstream_check_events");
    }
    free(pools);
}

static int destroy(ABT_sched sched) {
    void *data;
    check(ABT_sched_get_data(sched, &data), "ABT_sched_get_data");
    free(data);
    return ABT_SUCCESS;
}

struct sum {
    int from, to;
    long result;
};

/* Each half becomes a ULT, in the pool of the stream that divides. */
static void add(void *argument) {
    struct sum *sum = argument;
    if (sum->to - sum->from <= 16) {
        for (int i = sum->from; i < sum->to; ++i) sum->result += i;
        return;
    }
    const int middle = sum->from + (sum->to - sum->from) / 2;
    struct sum halves[2] = {{sum->from, middle, 0}, {middle, sum->to, 0}};
    ABT_thread threads[2];
    const ABT_pool pool = main_pool_of(this_xstream());
    for (int i = 0; i < 2; ++i)
        check(ABT_thread_create(pool, add, &halves[i], ABT_THREAD_ATTR_NULL, &threads[i]), "ABT_thread_create");
    check(ABT_thread_free_many(2, threads), "ABT_thread_free_many");
    sum->result = halves[0].result + halves[1].result;
}

int main(int argc, char **argv) {
    enum { most = 64 };
    int streams = argc > 1 ? atoi(argv[1]) : 4;
    const int numbers = 1 << (argc > 2 ? atoi(argv[2]) : 14);
    if (streams > most) streams = most;
    check(ABT_init(argc, argv), "ABT_init");
    ABT_pool pools[most], mine[most];
    ABT_sched scheds[most];
    ABT_xstream xstreams[most];
    ABT_sched_def def = {.type = ABT_SCHED_TYPE_ULT, .init = init, .run = run, .free = destroy, .get_migr_pool = NULL};
    for (int i = 0; i < streams; ++i) {
        check(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &pools[i]), "ABT_pool_create_basic");
    }
    for (int i = 0; i < streams; ++i) {
        for (int j = 0; j < streams; ++j) mine[j] = pools[(i + j) % streams];
        check(ABT_sched_create(&def, streams, mine, ABT_SCHED_CONFIG_NULL, &scheds[i]), "ABT_sched_create");
    }
    for (int i = 0; i < streams; ++i) check(ABT_xstream_create(scheds[i], &xstreams[i]), "ABT_xstream_create");
    struct sum sum = {0, numbers, 0};
    ABT_thread root;
    check(ABT_thread_create(pools[0], add, &sum, ABT_THREAD_ATTR_NULL, &root), "ABT_thread_create");
    check(ABT_thread_free(&root), "ABT_thread_free");
    for (int i = 0; i < streams; ++i) {
        check(ABT_xstream_free(&xstreams[i]), "ABT_xstream_free");
        check(ABT_sched_free(&scheds[i]), "ABT_sched_free");
    }
    check(ABT_finalize(), "ABT_finalize");
    const long wanted = (long)numbers * (numbers - 1) / 2;
    printf("the sum of %d numbers on %d streams is %ld\n", numbers, streams, sum.result);
    return sum.result != wanted;
}
