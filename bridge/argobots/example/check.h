/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Shared by the examples: a failed call ends the program and prints the names of the call and the
 * error. */
#ifndef CHECK_H
#define CHECK_H

#include <abt.h>
#include <stdio.h>
#include <stdlib.h>

static inline void check(int error, const char *what) {
    if (error == ABT_SUCCESS) return;
    char name[64] = "?";
    ABT_error_get_str(error, name, NULL);
    fprintf(stderr, "%s: %s\n", what, name);
    exit(1);
}

static inline ABT_pool main_pool_of(ABT_xstream xstream) {
    ABT_pool pool;
    check(ABT_xstream_get_main_pools(xstream, 1, &pool), "ABT_xstream_get_main_pools");
    return pool;
}

static inline ABT_xstream this_xstream(void) {
    ABT_xstream self;
    check(ABT_self_get_xstream(&self), "ABT_self_get_xstream");
    return self;
}

#endif
