/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Each thread of a team has a taskgroup of its own, with a reduction of a variable of its own, and
 * in it the threads share a construct with a task reduction. A task finds the copies of the
 * construct, and after them those of the thread that has made the task, whichever thread comes
 * first and whichever comes last. */
#include <sched.h>

#include "check.h"

enum { each = 40 };

/* The thread that comes to the construct only when another one is in it already; -1: none waits. */
static int late = -1;

static void await_another(int size, const int *inside) {
    if (size == 1 || omp_get_thread_num() != late) return;
    for (int seen = 0; !seen; sched_yield()) {
#pragma omp atomic read
        seen = *inside;
    }
}

static void be_inside(int *inside) {
#pragma omp atomic write
    *inside = 1;
}

static void in_a_loop(int size) {
    int common = 0, sums = 0, inside = 0;
#pragma omp parallel num_threads(size) reduction(+ : sums)
    {
        int own = 0;
#pragma omp taskgroup task_reduction(+ : own)
        {
            await_another(size, &inside);
#pragma omp for schedule(static, 1) reduction(task, + : common)
            for (int i = 0; i < each * size; ++i) {
                be_inside(&inside);
#pragma omp task in_reduction(+ : own) in_reduction(+ : common)
                {
                    own += 1;
                    common += 2;
                }
            }
        }
        EQUAL(own, each);
        sums += own;
    }
    EQUAL(common, 2 * each * size);
    EQUAL(sums, each * size);
}

/* The threads make different numbers of iterations, and loops of each schedule begin by another
 * entry. */
static void in_loops_of_other_schedules(int size) {
    int common = 0, sums = 0;
    long turns = 0;
#pragma omp parallel num_threads(size) reduction(+ : sums)
    {
        int own = 0;
#pragma omp taskgroup task_reduction(+ : own)
        {
#pragma omp for schedule(dynamic) reduction(task, + : common)
            for (int i = 0; i < each; ++i) {
#pragma omp task in_reduction(+ : own, common)
                own += 1, common += 2;
            }
#pragma omp for schedule(guided, 2) ordered reduction(task, + : common)
            for (unsigned long i = 0; i < each; ++i) {
#pragma omp ordered
                turns++;
#pragma omp task in_reduction(+ : own, common)
                own += 1, common += 2;
            }
#pragma omp for ordered(1) reduction(task, + : common)
            for (int i = 0; i < each; ++i) {
#pragma omp ordered depend(sink : i - 1)
#pragma omp ordered depend(source)
#pragma omp task in_reduction(+ : own, common)
                own += 1, common += 2;
            }
        }
        sums += own;
    }
    EQUAL(common, 3 * 2 * each);
    EQUAL(sums, 3 * each);
    EQUAL(turns, each);
}

static void in_sections(int size) {
    int common = 0, sums = 0;
#pragma omp parallel num_threads(size) reduction(+ : sums)
    {
        int own = 0;
#pragma omp taskgroup task_reduction(+ : own)
        {
#pragma omp sections reduction(task, + : common)
            {
#pragma omp section
                for (int i = 0; i < each; ++i) {
#pragma omp task in_reduction(+ : own, common)
                    own += 1, common += 2;
                }
#pragma omp section
                for (int i = 0; i < each; ++i) {
#pragma omp task in_reduction(+ : own, common)
                    own += 1, common += 2;
                }
            }
        }
        sums += own;
    }
    EQUAL(common, 2 * 2 * each);
    EQUAL(sums, 2 * each);
}

static void in_a_scope(int size) {
    int common = 0, sums = 0, inside = 0;
#pragma omp parallel num_threads(size) reduction(+ : sums)
    {
        int own = 0;
#pragma omp taskgroup task_reduction(+ : own)
        {
            await_another(size, &inside);
#pragma omp scope reduction(task, + : common)
            {
                be_inside(&inside);
                for (int i = 0; i < each; ++i) {
#pragma omp task in_reduction(+ : own, common)
                    own += 1, common += 2;
                }
            }
        }
        EQUAL(own, each);
        sums += own;
    }
    EQUAL(common, 2 * each * size);
    EQUAL(sums, each * size);
}

/* No variable of the thread's own group is looked up: the group is still there where the construct
 * ends. */
static void without_a_look(int size) {
    int common = 0, inside = 0, of_groups = 0;
#pragma omp parallel num_threads(size) reduction(+ : of_groups)
    {
        int own = 0;
#pragma omp taskgroup task_reduction(+ : own)
        {
            await_another(size, &inside);
#pragma omp for schedule(static, 1) reduction(task, + : common)
            for (int i = 0; i < size; ++i) {
                be_inside(&inside);
                common += 1;
            }
#pragma omp task in_reduction(+ : own)
            own += 3;
        }
        of_groups += own;
    }
    EQUAL(common, size);
    EQUAL(of_groups, 3 * size);
}

int main(void) {
    EACH_SIZE(size) {
        for (late = -1; late < 2; ++late) {
            in_a_loop(size);
            in_a_scope(size);
            without_a_look(size);
        }
        in_loops_of_other_schedules(size);
        in_sections(size);
    }
    return verdict();
}
