/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A flag for which threads stand by, as long as they are not to run tasks. The thread that has made
 * or cancelled the tasks raises it. */
#ifndef WEFT_OPENMP_FLAG_H
#define WEFT_OPENMP_FLAG_H

#include <sched.h>

static int flag;

static inline int look(const int* what) {
    int seen;
#pragma omp atomic read
    seen = *what;
    return seen;
}
static inline void raise(void) {
#pragma omp atomic write
    flag = 1;
}
static inline void lower(void) {
#pragma omp atomic write
    flag = 0;
}
static inline void stand_by(void) {
    while (!look(&flag)) sched_yield();
}

#endif
