/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <weft/weft.h>

/* Units on several streams share data that a mutex guards, and each other's results by joining. */
static weft_mutex mutex = WEFT_MUTEX_INIT;
static long sum;
static int results[64];

static void deep(int levels) {
    volatile char here[256];
    here[0] = (char)levels;
    if (levels > 0) deep(levels - 1);
    else weft_unit_yield();
    here[1] = here[0];
}

static void body(void *argument) {
    int *result = argument;
    for (int i = 0; i < 10; ++i) {
        weft_mutex_lock(&mutex);
        ++sum;
        weft_mutex_unlock(&mutex);
        deep(8);
    }
    *result = 1;
}

int main(void) {
    if (weft_init(NULL) != WEFT_OK) return 1;
    weft_stream *stream;
    if (weft_stream_create(NULL, &stream) != WEFT_OK) return 2;
    weft_pool *pool;
    weft_stream_pool_get(stream, &pool);
    weft_unit *units[64];
    for (int i = 0; i < 64; ++i) {
        weft_pool *const where = i % 2 == 0 ? pool : NULL;
        if (weft_ult_spawn(where, body, &results[i], NULL, &units[i]) != WEFT_OK) return 3;
    }
    int done = 0;
    for (int i = 0; i < 64; ++i) {
        if (weft_unit_join_free(units[i]) != WEFT_OK) return 4;
        done += results[i];
    }
    weft_stream_join_free(stream);
    weft_finalize();
    printf("%ld %d\n", sum, done);
    return 0;
}
