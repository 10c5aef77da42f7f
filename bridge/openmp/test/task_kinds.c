/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tasks that are units (WEFT_OMP_TASK_KIND): each waits alone. On libgomp this would hang, since
 * its tasks wait on the stack of the thread that runs them. */
#include <stdint.h>

#include "check.h"

static void sleepers_are_woken_by_later_tasks(int size) {
    enum { count = 16 };
    omp_lock_t locks[count];
    int after = 0, released = 0;
    for (int i = 0; i < count; ++i) {
        omp_init_lock(&locks[i]);
        omp_set_lock(&locks[i]);
    }
#pragma omp parallel num_threads(size)
#pragma omp single
    {
        for (int i = 0; i < count; ++i) {
#pragma omp task firstprivate(i)
            {
                omp_set_lock(&locks[i]);
#pragma omp atomic
                ++after;
                omp_unset_lock(&locks[i]);
            }
        }
        for (int i = 0; i < count; ++i) {
#pragma omp task firstprivate(i)
            {
#pragma omp atomic
                ++released;
                omp_unset_lock(&locks[i]);
            }
        }
#pragma omp taskwait
        EQUAL(after, count);
    }
    EQUAL(released, count);
    for (int i = 0; i < count; ++i) omp_destroy_lock(&locks[i]);
}

/* The barrier waits for tasks that nothing else has waited for, children of children too. */
static void the_barrier_waits(int size) {
    long sum = 0;
    for (int round = 0; round < 50; ++round) {
#pragma omp parallel num_threads(size)
        {
#pragma omp task shared(sum)
            {
#pragma omp task shared(sum)
                {
#pragma omp task shared(sum)
#pragma omp atomic
                    ++sum;
                }
            }
        }
        EQUAL(sum, (long)(round + 1) * size);
    }
}

/* What a task learns about itself stays the same after a wait, wherever it goes on. */
static void a_task_keeps_what_it_is(int size) {
#pragma omp parallel num_threads(size)
    {
        for (int i = 0; i < 8; ++i) {
#pragma omp task firstprivate(i)
            {
                const int number = omp_get_thread_num();
                CHECK(number >= 0 && number < size);
                EQUAL(omp_get_num_threads(), size);
                EQUAL(omp_get_level(), 1);
                omp_set_num_threads(3 + i);
                for (int round = 0; round < 4; ++round) {
#pragma omp task
                    EQUAL(omp_get_max_threads(), 3 + i);
#pragma omp taskyield
#pragma omp taskwait
                    EQUAL(omp_get_thread_num(), number);
                    EQUAL(omp_get_max_threads(), 3 + i);
                }
            }
        }
    }
}

/* A region within a task has threads of its own, and shares variables of its own. */
static void regions_within_tasks(int size) {
    omp_set_max_active_levels(4);
    long sum = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int i = 0; i < 12; ++i) {
#pragma omp task shared(sum)
        {
            long mine = 0;
#pragma omp parallel num_threads(3) reduction(+ : mine)
            {
                EQUAL(omp_get_num_threads(), 3);
                EQUAL(omp_get_level(), 2);
#pragma omp for schedule(dynamic)
                for (int k = 0; k < 100; ++k) mine += k;
#pragma omp single
#pragma omp task
                CHECK(omp_get_level() == 2);
            }
            EQUAL(omp_get_level(), 1);
            EQUAL(mine, 4950);
#pragma omp atomic
            sum += mine;
        }
    }
    EQUAL(sum, 12 * 4950);
}

/* Copies by thread number do not collide. */
static void reductions_of_tasks(int size) {
    long sum = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < 500; ++i) {
#pragma omp task in_reduction(+ : sum)
        sum += i;
    }
    EQUAL(sum, 124750);
    long nested = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int k = 0; k < 10; ++k) {
#pragma omp task shared(nested)
        {
            long mine = 0;
#pragma omp taskgroup task_reduction(+ : mine)
            for (int i = 0; i < 50; ++i) {
#pragma omp task in_reduction(+ : mine)
                mine += i;
            }
#pragma omp atomic
            nested += mine;
        }
    }
    EQUAL(nested, 10 * 1225);
}

/* More tasks than a team has units for. */
static void many(int size) {
    long sum = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
    for (int i = 0; i < 20000; ++i) {
#pragma omp task shared(sum)
#pragma omp atomic
        ++sum;
    }
    EQUAL(sum, 20000);
}

/* Outside of regions nothing waits for a task but its maker: the task has ended before its maker
 * goes on. */
static void outside(void) {
    int done = 0;
#pragma omp task shared(done)
    done = 1;
    EQUAL(done, 1);
}

int main(void) {
    outside();
    EACH_SIZE(size) {
        sleepers_are_woken_by_later_tasks(size);
        the_barrier_waits(size);
        a_task_keeps_what_it_is(size);
        regions_within_tasks(size);
        reductions_of_tasks(size);
        many(size);
    }
    return verdict();
}
