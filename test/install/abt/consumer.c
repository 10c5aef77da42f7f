/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An Argobots program, built against an installed libabt. */
#include <abt.h>
#include <stdio.h>

static void body(void *answer) { *(int *)answer = 42; }

int main(int argc, char **argv) {
    int answer = 0;
    ABT_xstream self;
    ABT_pool pool;
    ABT_thread thread;
    if (ABT_init(argc, argv) != ABT_SUCCESS || ABT_xstream_self(&self) != ABT_SUCCESS) return 1;
    if (ABT_xstream_get_main_pools(self, 1, &pool) != ABT_SUCCESS) return 2;
    if (ABT_thread_create(pool, body, &answer, ABT_THREAD_ATTR_NULL, &thread) != ABT_SUCCESS) return 3;
    if (ABT_thread_free(&thread) != ABT_SUCCESS || ABT_finalize() != ABT_SUCCESS) return 4;
    printf("answer %d\n", answer);
    return 0;
}
