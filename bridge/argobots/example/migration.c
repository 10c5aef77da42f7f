/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A ULT that is sent from stream to stream while it runs: it serves each request at its next yield,
 * and a callback is called. */
#include "check.h"

#include <stdatomic.h>

enum { streams = 3, rounds = 12 };

static atomic_int moves;
static void moved(ABT_thread thread, void *argument) {
    (void)thread, (void)argument;
    atomic_fetch_add(&moves, 1);
}

static atomic_int on = -1; /* the rank where it last ran */
static atomic_int stop;

static void travel(void *argument) {
    (void)argument;
    while (!atomic_load(&stop)) {
        int rank;
        check(ABT_self_get_xstream_rank(&rank), "ABT_self_get_xstream_rank");
        atomic_store(&on, rank);
        check(ABT_thread_yield(), "ABT_thread_yield");
    }
}

int main(int argc, char **argv) {
    check(ABT_init(argc, argv), "ABT_init");
    ABT_xstream xstreams[streams];
    for (int i = 0; i < streams; ++i) check(ABT_xstream_create(ABT_SCHED_NULL, &xstreams[i]), "ABT_xstream_create");
    ABT_thread_attr attr;
    check(ABT_thread_attr_create(&attr), "ABT_thread_attr_create");
    check(ABT_thread_attr_set_callback(attr, moved, NULL), "ABT_thread_attr_set_callback");
    ABT_thread thread;
    check(ABT_thread_create(main_pool_of(xstreams[0]), travel, NULL, attr, &thread), "ABT_thread_create");
    check(ABT_thread_attr_free(&attr), "ABT_thread_attr_free");
    for (int i = 1; i <= rounds; ++i) {
        int rank;
        check(ABT_xstream_get_rank(xstreams[i % streams], &rank), "ABT_xstream_get_rank");
        check(ABT_thread_migrate_to_xstream(thread, xstreams[i % streams]), "ABT_thread_migrate_to_xstream");
        while (atomic_load(&on) != rank) check(ABT_thread_yield(), "ABT_thread_yield");
    }
    atomic_store(&stop, 1);
    check(ABT_thread_free(&thread), "ABT_thread_free");
    for (int i = 0; i < streams; ++i) check(ABT_xstream_free(&xstreams[i]), "ABT_xstream_free");
    check(ABT_finalize(), "ABT_finalize");
    printf("%d migrations among %d streams\n", atomic_load(&moves), streams);
    return atomic_load(&moves) != rounds;
}
