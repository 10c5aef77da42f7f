/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* OpenMP: a region of four, and tasks. It has neither beginning nor end. */
#include <omp.h>

#include "part.h"

static void work(void) {
    int sum = 0, tasks = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {
        MUST(omp_get_num_threads() == 4);
        sum += omp_get_thread_num() + 1;
#pragma omp barrier
#pragma omp single
        for (int i = 0; i < 50; ++i) {
#pragma omp task
            __atomic_fetch_add(&tasks, 1, __ATOMIC_RELAXED);
        }
    }
    MUST(sum == 10 && tasks == 50);
}

static void nothing(void) {}

const struct part PART = {work, work, nothing};
