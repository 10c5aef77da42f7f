/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `cancel taskgroup` and its point mean the innermost taskgroup: not a group that a loop, sections,
   a scope or a parallel region has begun because its reduction has the task modifier. */
#include "check.h"
#include "flag.h"

enum { some = 10 };

static int on;

static void make_tasks(int *begun) {
    for (int i = 0; i < some; ++i) {
#pragma omp task
        {
#pragma omp atomic
            ++*begun;
        }
    }
}

static void cancel(void) {
#pragma omp task if (0)
    {
#pragma omp cancel taskgroup
        CHECK(!on);
    }
    raise();
}

/* Tasks that are queued when a taskgroup is cancelled are discarded, except for at most one task
   that each other thread has begun, and no task that is made afterwards begins. */
static void expect(int size, int before, int after) {
    if (!on) {
        EQUAL(before, 2 * some);
        EQUAL(after, 2 * some);
    } else {
        CHECK(size == 1 || before < size); /* alone a thread may run them as it makes them */
        EQUAL(after, 0);
    }
}

/* Tasks queued before the loop or in it, made in it or after it. */
static void around_a_loop(int size) {
    int before = 0, after = 0, others = 0, iterations = 0;
    lower();
#pragma omp parallel num_threads(size)
#pragma omp taskgroup
    {
        const int first = omp_get_thread_num() == 0;
        if (first) make_tasks(&before);
#pragma omp for schedule(static, 1) reduction(task, + : iterations)
        for (int i = 0; i < size; ++i) {
            iterations++;
            if (first) {
                make_tasks(&before);
                cancel();
                make_tasks(&after);
            } else {
                stand_by();
            }
        }
        if (first) make_tasks(&after);
        else make_tasks(&others); /* their own groups are not cancelled */
    }
    expect(size, before, after);
    EQUAL(others, some * (size - 1));
    EQUAL(iterations, size);
}

/* The thread with the first section cancels its group. */
static void around_sections(int size) {
    int before = 0, after = 0, others = 0, sections = 0;
    lower();
#pragma omp parallel num_threads(size)
#pragma omp taskgroup
    {
        int mine = 0;
#pragma omp sections reduction(task, + : sections)
        {
#pragma omp section
            {
                sections++;
                mine = 1;
                make_tasks(&before);
                make_tasks(&before);
                cancel();
                make_tasks(&after);
            }
#pragma omp section
            {
                sections++;
                stand_by();
            }
        }
        if (mine) make_tasks(&after);
        else make_tasks(&others);
    }
    expect(size <= 2 ? size : 2 * some + 1, before, after); /* a thread without a section may take tasks */
    EQUAL(others, some * (size - 1));
    EQUAL(sections, 2);
}

static void around_a_scope(int size) {
    int before = 0, after = 0, others = 0, threads = 0;
    lower();
#pragma omp parallel num_threads(size)
#pragma omp taskgroup
    {
        const int first = omp_get_thread_num() == 0;
        if (first) make_tasks(&before);
#pragma omp scope reduction(task, + : threads)
        {
            threads++;
            if (first) {
                make_tasks(&before);
                cancel();
                make_tasks(&after);
            } else {
                stand_by();
            }
        }
        if (first) make_tasks(&after);
        else make_tasks(&others);
    }
    expect(size, before, after);
    EQUAL(others, some * (size - 1));
    EQUAL(threads, size);
}

/* A taskgroup in a region with a task reduction. */
static void within_a_region(int size) {
    int before = 0, after = 0, threads = 0, behind = 0;
    lower();
#pragma omp parallel num_threads(size) reduction(task, + : threads)
    {
        threads++;
        if (omp_get_thread_num() == 0) {
#pragma omp taskgroup
            {
                make_tasks(&before);
                make_tasks(&before);
                cancel();
                make_tasks(&after);
                make_tasks(&after);
            }
        } else {
            stand_by();
        }
        make_tasks(&behind);
    }
    expect(size, before, after);
    EQUAL(threads, size);
    EQUAL(behind, some * size);
}

/* A point in a task of the loop sees that the group around the loop is cancelled; a `cancel` whose
   condition is false is a point as well. */
static void points(int size) {
    int passed[3] = {0, 0, 0}, iterations = 0;
#pragma omp parallel num_threads(size)
#pragma omp taskgroup
    {
#pragma omp for schedule(static, 1) reduction(task, + : iterations)
        for (int i = 0; i < size; ++i) {
            iterations++;
#pragma omp task if (0)
            {
#pragma omp task if (0)
                {
#pragma omp cancel taskgroup if (i == 0)
#pragma omp atomic
                    passed[0]++;
                }
#pragma omp cancellation point taskgroup
#pragma omp atomic
                passed[1]++;
#pragma omp cancel taskgroup if (0)
#pragma omp atomic
                passed[2]++;
            }
        }
    }
    for (int i = 0; i < 3; ++i) EQUAL(passed[i], on ? size - 1 : size);
    EQUAL(iterations, size);
}

/* A taskgroup within the loop is nearer than the one around it. */
static void within_a_loop(int size) {
    int inner = 0, outer = 0, iterations = 0;
#pragma omp parallel num_threads(size)
#pragma omp taskgroup
    {
#pragma omp for schedule(static, 1) reduction(task, + : iterations)
        for (int i = 0; i < size; ++i) {
            iterations++;
#pragma omp taskgroup
            {
#pragma omp task if (0)
                {
#pragma omp cancel taskgroup
                    CHECK(!on);
        }
#pragma omp task shared(inner)
        {
#pragma omp atomic
            inner++;
        }
    }
#pragma omp task shared(outer)
    {
#pragma omp atomic
        outer++;
    }
}
}
EQUAL(inner, on ? 0 : size);
EQUAL(outer, size);
EQUAL(iterations, size);
}

/* The sums have what the tasks that began have added, and nothing else. */
static void sums(int size) {
    int of_loop = 0, of_group = 0, began = 0;
#pragma omp parallel num_threads(size) reduction(+ : of_group)
    {
        int own = 0;
#pragma omp taskgroup task_reduction(+ : own)
        {
#pragma omp for schedule(dynamic) reduction(task, + : of_loop)
            for (int i = 0; i < 10 * size; ++i) {
#pragma omp task in_reduction(+ : of_loop, own)
                {
#pragma omp atomic
                    began++;
                    of_loop++;
                    own++;
#pragma omp cancel taskgroup if (i == 5)
                }
            }
        }
        of_group += own;
    }
    EQUAL(of_loop, began);
    EQUAL(of_group, began);
    if (!on) EQUAL(began, 10 * size);
    else CHECK(began >= 1 && began <= 10 * size);
}

int main(void) {
    on = omp_get_cancellation();
    EACH_SIZE(size) {
        around_a_loop(size);
        around_sections(size);
        around_a_scope(size);
        within_a_region(size);
        points(size);
        within_a_loop(size);
        sums(size);
    }
    return verdict();
}
