/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Cancellation and target regions: what is cancelled within a region that the host runs ends there,
 * and what is cancelled around a region does not reach into it. Run with cancellation on and
 * off. */
#include "check.h"

static int on;

/* A parallel region in a target region is cancelled: all its threads leave, and the team around
 * goes on. */
static void parallel_within(void) {
    EACH_SIZE(size) {
        int wrong = 0, behind = 0;
#pragma omp parallel num_threads(size) reduction(+ : wrong, behind)
        {
            for (int round = 0; round < 5; ++round) {
                int reached = 0, within = 0;
#pragma omp target map(tofrom : reached, within)
                {
#pragma omp parallel num_threads(3)
                    {
#pragma omp atomic
                        reached++;
#pragma omp cancel parallel
#pragma omp atomic
                        within++;
                    }
#pragma omp parallel num_threads(2)
                    {
#pragma omp atomic
                        reached += 100;
                    }
                }
                wrong += reached % 100 < 1 || reached % 100 > 3 || reached < 100;
                wrong += within != (on ? 0 : reached % 100);
            }
#pragma omp barrier
            behind++;
        }
        EQUAL(wrong, 0);
        CHECK(behind >= 1 && behind <= size);
    }
}

/* Loops and sections of a region's own: neither the next region's nor the loop around are
 * cancelled. */
static void loops_within(void) {
    EACH_SIZE(size) {
        int around = 0, wrong = 0;
#pragma omp parallel for num_threads(size) schedule(dynamic) reduction(+ : around, wrong)
        for (int i = 0; i < 20; ++i) {
            int ran = 0, later = 0;
#pragma omp target map(tofrom : ran, later)
            {
#pragma omp parallel num_threads(2)
                {
#pragma omp for
                    for (int k = 0; k < 100; ++k) {
#pragma omp cancel for
#pragma omp atomic
                        ran++;
                    }
#pragma omp for
                    for (int k = 0; k < 10; ++k) {
#pragma omp atomic
                        later++;
                    }
#pragma omp sections
                    {
#pragma omp section
                        {
#pragma omp cancel sections
#pragma omp atomic
                            ran += 1000;
                        }
                    }
                }
            }
            wrong += later != 10 || ran != (on ? 0 : 1100);
            around++;
        }
        EQUAL(around, 20);
        EQUAL(wrong, 0);
    }
}

/* A taskgroup that is cancelled in a region: only its own tasks are. */
static void groups_within(void) {
    EACH_SIZE(size) {
        int own = 0, others = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup
        for (int i = 0; i < 10; ++i) {
#pragma omp task shared(own, others)
            {
#pragma omp target map(tofrom : own)
                {
#pragma omp taskgroup
                    {
#pragma omp task shared(own)
                        {
#pragma omp cancel taskgroup
#pragma omp atomic
                            own++;
                        }
                    }
                }
#pragma omp atomic
                others++;
            }
        }
        EQUAL(others, 10);
        EQUAL(own, on ? 0 : 10);
    }
}

/* A cancelled taskgroup around a region that has begun lets the region end, with its tasks. */
static void group_around(void) {
    EACH_SIZE(size) {
        int within = 0, tasks = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup
        {
#pragma omp task shared(within, tasks)
            {
#pragma omp target map(tofrom : within, tasks)
                {
                    within++;
#pragma omp parallel num_threads(2)
#pragma omp single
                    for (int i = 0; i < 5; ++i) {
#pragma omp task shared(tasks)
                        {
#pragma omp atomic
                            tasks++;
                        }
                    }
                    within++;
                }
#pragma omp cancel taskgroup
            }
        }
        EQUAL(within, 2);
        EQUAL(tasks, 5);
    }
}

/* A thread in a target region whose own parallel region is cancelled ends the target region, and
 * leaves after it. */
static void parallel_around(void) {
    EACH_SIZE(size) {
        int begun = 0, ended = 0, behind = 0;
#pragma omp parallel num_threads(size)
        {
#pragma omp target map(tofrom : begun, ended)
            {
#pragma omp atomic
                begun++;
#pragma omp parallel num_threads(2)
                {
#pragma omp for schedule(dynamic)
                    for (int i = 0; i < 10; ++i) {
#pragma omp atomic
                        ended++;
                    }
                }
            }
#pragma omp cancel parallel
#pragma omp atomic
            behind++;
        }
        EQUAL(ended, 10 * begun);
        if (on) EQUAL(behind, 0);
        else EQUAL(behind, begun);
    }
}

/* A combined construct's region, and a loop in it. */
static void combined(void) {
    int ran = 0;
#pragma omp target parallel num_threads(4) map(tofrom : ran)
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 1000; ++i) {
#pragma omp cancel for if (i == 0)
#pragma omp atomic
            ran++;
#pragma omp cancellation point for
        }
    }
    CHECK(on ? ran < 1000 : ran == 1000);
    ran = 0;
#pragma omp target parallel num_threads(2) map(tofrom : ran)
    {
#pragma omp cancel parallel if (!on)
#pragma omp atomic
        ran++;
    }
    CHECK(ran >= 1 && ran <= 2);
}

int main(void) {
    on = omp_get_cancellation();
    parallel_within();
    loops_within();
    groups_within();
    group_around();
    parallel_around();
    combined();
    return verdict();
}
