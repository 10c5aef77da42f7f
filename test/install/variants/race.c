/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two units on two streams write to one variable, and nothing orders them. */
#include <stdio.h>
#include <weft/weft.h>

static volatile long shared;
static int arrived;

static void racing_unit(void *argument) {
    (void)argument;
    weft_unit_yield();
    /* Both at a time, by means that order nothing: relaxed, and without a yield, which might bring
     * in the streams' own ordering. */
    __atomic_fetch_add(&arrived, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < 2) {}
    for (int i = 0; i < 10000; ++i) ++shared;
    weft_unit_yield();
}

int main(void) {
    weft_init(NULL);
    weft_stream *stream;
    weft_stream_create(NULL, &stream);
    weft_pool *pool;
    weft_stream_pool_get(stream, &pool);
    weft_unit *units[2];
    weft_ult_spawn(pool, racing_unit, NULL, NULL, &units[0]);
    weft_ult_spawn(NULL, racing_unit, NULL, NULL, &units[1]);
    for (int i = 0; i < 2; ++i) weft_unit_join_free(units[i]);
    weft_stream_join_free(stream);
    weft_finalize();
    printf("%ld\n", shared);
    return 0;
}
