/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A region that is cancelled while its threads are in taskgroups of their own, and in constructs
   within these: the threads leave them, and the memory of their reductions is freed, but not while
   any thread uses it (the address sanitizer checks). */
#include <sched.h>

#include "check.h"

enum { rounds = 10, width = 100 };

static int common[width];

static void add(int* what) {
#pragma omp atomic
    ++*what;
}

/* A thread cancels when another one is in the loop. A late thread finds what others have made for
 * it. */
static void leave(int size, int canceller) {
    int inside = 0, behind = 0;
#pragma omp parallel num_threads(size)
    {
        int own[width / 2] = {0};
        if (size > 1 && omp_get_thread_num() == canceller) {
            for (int seen = 0; !seen; sched_yield()) {
#pragma omp atomic read
                seen = inside;
            }
#pragma omp cancel parallel
        }
#pragma omp taskgroup task_reduction(+ : own)
        {
#pragma omp for reduction(task, + : common) schedule(static, 1)
            for (int i = 0; i < 4 * size; ++i) {
                add(&inside);
#pragma omp task in_reduction(+ : own, common)
                {
                    own[i % (width / 2)]++;
                    common[i % width]++;
                }
            }
#pragma omp for
            for (int i = 0; i < width / 2; ++i) {
#pragma omp task in_reduction(+ : own)
                own[i]++;
            }
        }
        add(&behind);
    }
    EQUAL(behind, size > 1 && omp_get_cancellation() ? 0 : size);
}

int main(void) {
    EACH_SIZE(size) {
        for (int round = 0; round < rounds; ++round) leave(size, round % size);
    }
    return verdict();
}
