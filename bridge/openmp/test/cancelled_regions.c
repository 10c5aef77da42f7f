/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a cancelled parallel region leaves out, and what it does not affect: regions around and
   within it, and what comes afterwards. Threads that wait in it go on. */
#include <sched.h>

#include "check.h"

enum { some = 40, many = 1000 };

static int on;

static void await(const int* what) {
    for (int seen = 0; !seen; sched_yield()) {
#pragma omp atomic read
        seen = *what;
    }
}
static void say(int* what) {
#pragma omp atomic write
    *what = 1;
}
static void add(int* what, int by) {
#pragma omp atomic
    *what += by;
}

/* Threads that wait at a barrier leave it, whichever barrier it is: an explicit one, or that of
   single, sections, scope or a loop. */
static void at_each_barrier(int size, int which) {
    int behind = 0, there = 0;
#pragma omp parallel num_threads(size)
    {
        if (omp_get_thread_num() == size - 1) {
            if (size > 1) await(&there);
#pragma omp cancel parallel
        }
        say(&there);
        switch (which) {
        case 0:;
#pragma omp barrier
            break;
        case 1:;
#pragma omp single
            add(&there, 1);
            break;
        case 2:;
#pragma omp for schedule(dynamic)
            for (int i = 0; i < 4; ++i) add(&there, 1);
            break;
        case 3:;
#pragma omp for schedule(static)
            for (int i = 0; i < 4; ++i) add(&there, 1);
            break;
        case 4:;
#pragma omp sections
            {
#pragma omp section
                add(&there, 1);
#pragma omp section
                add(&there, 1);
            }
            break;
        case 5:;
#pragma omp scope
            add(&there, 1);
            break;
        }
        add(&behind, 1);
    }
    EQUAL(behind, on ? 0 : size);
}

/* At a cancellation point alone, without a barrier. */
static void at_points(int size) {
    int behind = 0, cancelled = 0;
#pragma omp parallel num_threads(size)
    {
        if (omp_get_thread_num() == 0) {
            say(&cancelled);
#pragma omp cancel parallel
        }
        await(&cancelled);
        do { /* it is noticed at some time */
#pragma omp cancellation point parallel
            sched_yield();
        } while (on);
        add(&behind, 1);
    }
    EQUAL(behind, on ? 0 : size);
}

/* A `cancel` whose condition is false cancels nothing, but is a point. */
static void conditions(int size) {
    int behind = 0, cancelled = 0, passed = 0;
#pragma omp parallel num_threads(size)
    {
#pragma omp cancel parallel if (size > 100)
        add(&passed, 1);
#pragma omp barrier
#pragma omp cancel parallel if (cancel : omp_get_thread_num() == 0)
        if (omp_get_thread_num() == 0) say(&cancelled);
        do {
#pragma omp cancel parallel if (0)
            sched_yield();
        } while (on);
        add(&behind, 1);
    }
    EQUAL(passed, size);
    EQUAL(behind, on ? 0 : size);
    EQUAL(cancelled, !on);
}

/* Inner regions go on when the one around them is cancelled, and are complete; a cancelled inner
   region does not affect the one around it. */
static void regions_within(int size) {
    int inner = 0, behind = 0, outer = 0, cancelled = 0;
#pragma omp parallel num_threads(size)
    {
        if (omp_get_thread_num() == 0 && size > 1) {
            say(&cancelled);
#pragma omp cancel parallel
        }
        await(size > 1 ? &cancelled : &(int){1});
#pragma omp parallel num_threads(2)
        {
#pragma omp cancellation point parallel
#pragma omp barrier
#pragma omp for
            for (int i = 0; i < some; ++i) add(&inner, 1);
        }
    }
    EQUAL(inner, (size > 1 && on ? size - 1 : size) * some);
#pragma omp parallel num_threads(size)
    {
#pragma omp parallel num_threads(2)
        {
#pragma omp cancel parallel
#pragma omp barrier
            add(&behind, 1);
        }
#pragma omp barrier
#pragma omp cancellation point parallel
        add(&outer, 1);
    }
    EQUAL(behind, on ? 0 : 2 * size);
    EQUAL(outer, size);
}

/* A thread that holds a lock or is in a critical section releases it first, and a thread that waits
   for one gets it: none is stuck. */
static void locks(int size) {
    int entered = 0, held = 0;
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(size)
    {
        int leave = 0;
        omp_set_lock(&lock);
        entered++;
        leave = entered == 1;
        omp_unset_lock(&lock);
        if (leave) {
#pragma omp cancel parallel
        }
        for (int i = 0; i < some; ++i) {
#pragma omp critical
            held++;
        }
#pragma omp cancellation point parallel
#pragma omp barrier
        add(&held, many);
    }
    EQUAL(entered, size);
    EQUAL(held, on ? (size - 1) * some : size * (some + many));
    omp_destroy_lock(&lock);
}

/* Tasks of a cancelled region that have not begun are discarded; threads that wait for them go
 * on. */
static void tasks_of_regions(int size) {
    int began = 0, waited = 0, cancelled = 0, passed = 0;
#pragma omp parallel num_threads(size)
    {
        if (omp_get_thread_num() == 0) {
            for (int i = 0; i < some; ++i) {
#pragma omp task shared(began)
                add(&began, 1);
            }
#pragma omp task if (0)
            {
                for (int i = 0; i < 3; ++i) {
#pragma omp task shared(began)
                    add(&began, 1);
                }
#pragma omp taskwait
                add(&waited, 1);
            }
            say(&cancelled);
#pragma omp cancel parallel
        }
        await(&cancelled);
        do {
#pragma omp cancellation point parallel
            sched_yield();
        } while (on);
        add(&passed, 1);
    }
    EQUAL(waited, 1);
    CHECK(began <= some + 3 && (on || began == some + 3));
    EQUAL(passed, on ? 0 : size);
}

int main(void) {
    on = omp_get_cancellation();
    omp_set_max_active_levels(2);
    EACH_SIZE(size) {
        for (int which = 0; which < 6; ++which) at_each_barrier(size, which);
        at_points(size);
        conditions(size);
        regions_within(size);
        locks(size);
        tasks_of_regions(size);
    }
    return verdict();
}
