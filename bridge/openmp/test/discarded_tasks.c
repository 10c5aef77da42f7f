/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `cancel taskgroup`: which tasks end early, which are discarded, and what goes on. */
#include "check.h"
#include "flag.h"

enum { some = 20 };

static int on;

static void add(int* what) {
#pragma omp atomic
    ++*what;
}

static void cancel(void) {
#pragma omp task if (0)
    {
#pragma omp cancel taskgroup
        CHECK(!on);
    }
    raise();
}

static void make_some(int* begun) {
    for (int i = 0; i < some; ++i) {
#pragma omp task
        add(begun);
    }
}

/* The task that cancels ends at once, its taskgroup ends, and the tasks that it has made are
 * discarded, too. */
static void the_canceller(int size) {
    int before = 0, behind = 0, children = 0, after = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
    {
#pragma omp taskgroup
        {
#pragma omp task shared(before, behind, children)
            {
                add(&before);
#pragma omp cancel taskgroup
                add(&behind);
                make_some(&children);
            }
        }
        make_some(&after); /* in no group, or in one around */
#pragma omp taskgroup
        make_some(&after);
    }
    EQUAL(before, 1);
    EQUAL(behind, !on);
    EQUAL(children, on ? 0 : some);
    EQUAL(after, 2 * some);
}

/* A task that has begun goes on to its next point, however deep below the group it is, and
 * whichever thread runs it. */
static void tasks_that_have_begun(int size) {
    int begun = 0, ended = 0, points = 0;
    if (size == 1) return; /* a thread runs what it makes, or none waits */
    lower();
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task shared(begun, ended, points)
        {
#pragma omp task if (0) shared(begun, ended, points)
            {
                add(&begun);
                stand_by();
                add(&ended);
#pragma omp cancellation point taskgroup
                add(&points);
            }
            add(&ended);
#pragma omp cancellation point taskgroup
            add(&points);
        }
        while (!look(&begun)) sched_yield();
        cancel();
    }
    EQUAL(begun, 1);
    EQUAL(ended, 2);
    EQUAL(points, on ? 0 : 2);
}

/* Without a point it runs to its end. */
static void without_points(int size) {
    int begun = 0, ended = 0;
    if (size == 1) return;
    lower();
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task shared(begun, ended)
        {
            add(&begun);
            stand_by();
#pragma omp taskyield
#pragma omp taskwait
            add(&ended);
        }
        while (!look(&begun)) sched_yield();
        cancel();
    }
    EQUAL(ended, 1);
}

/* Only the innermost group around the task is cancelled: groups around and beside it are not, nor
   are later ones. */
static void which_group(int size) {
    int outer = 0, inner = 0, beside = 0, later = 0;
#pragma omp parallel num_threads(size)
    {
#pragma omp taskgroup
        {
#pragma omp taskgroup
            {
                cancel();
                make_some(&inner);
            }
            make_some(&outer);
#pragma omp task shared(beside)
            {
#pragma omp cancellation point taskgroup
                add(&beside);
#pragma omp taskgroup
                make_some(&beside);
            }
        }
#pragma omp taskgroup
        make_some(&later);
    }
    EQUAL(inner, on ? 0 : size * some);
    EQUAL(outer, size * some);
    EQUAL(beside, size * (some + 1));
    EQUAL(later, size * some);
}

/* Groups of other threads, and tasks in no group. */
static void others(int size) {
    int mine = 0, of_others = 0, of_none = 0;
#pragma omp parallel num_threads(size)
    {
        make_some(&of_none);
#pragma omp taskgroup
        {
            if (omp_get_thread_num() == 0) {
                cancel();
                make_some(&mine);
            } else {
                make_some(&of_others);
            }
        }
    }
    EQUAL(mine, on ? 0 : some);
    EQUAL(of_others, (size - 1) * some);
    EQUAL(of_none, size * some);
}

/* taskwait, and waits for dependences, go on where the tasks that they wait for are discarded. */
static void who_waits(int size) {
    int began = 0, waited = 0, in_order = 0;
    int of[2];
    (void)of;
    lower();
#pragma omp parallel num_threads(size)
#pragma omp taskgroup
    {
        if (omp_get_thread_num() == 0) {
            for (int i = 0; i < some; ++i) {
#pragma omp task depend(inout : of[0]) shared(began)
                add(&began);
#pragma omp task depend(in : of[0]) depend(out : of[1]) shared(began) priority(i)
                add(&began);
            }
            cancel();
#pragma omp taskwait depend(in : of[1])
            add(&waited);
#pragma omp task if (0) depend(inout : of[0]) shared(in_order)
            add(&in_order);
#pragma omp taskwait
            add(&waited);
        }
        stand_by();
    }
    EQUAL(waited, 2);
    EQUAL(in_order, !on);
    CHECK(began <= 2 * some && (on || began == 2 * some));
}

/* What depends on a discarded task runs, if it is in no cancelled group. */
static void who_depends(int size) {
    int order[1], behind = 0, within = 0;
    (void)order;
    lower();
#pragma omp parallel num_threads(size)
    {
        if (omp_get_thread_num() == 0) {
#pragma omp taskgroup
            {
                for (int i = 0; i < some; ++i) {
#pragma omp task depend(inout : order[0]) shared(within)
                    add(&within);
                }
                cancel();
            }
            for (int i = 0; i < some; ++i) {
#pragma omp task depend(inout : order[0]) shared(behind)
                add(&behind);
            }
        }
        stand_by();
    }
    EQUAL(behind, some);
    CHECK(within <= some && (on || within == some));
}

/* A taskloop's own group, if it has one, is the innermost; otherwise the group around it is. */
static void taskloops(int size) {
    int with = 0, behind_with = 0, without = 0, behind_without = 0, alone = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
    {
#pragma omp taskgroup
        {
#pragma omp taskloop grainsize(1)
            for (int i = 0; i < some; ++i) {
#pragma omp cancel taskgroup
                add(&with);
            }
            make_some(&behind_with);
        }
#pragma omp taskgroup
        {
#pragma omp taskloop grainsize(1) nogroup
            for (int i = 0; i < some; ++i) {
#pragma omp cancel taskgroup
                add(&without);
            }
            cancel();
            make_some(&behind_without);
#pragma omp taskloop grainsize(1) nogroup    /* behind the cancellation it makes no task */
            for (int i = 0; i < some; ++i) add(&behind_without);
        }
#pragma omp taskloop num_tasks(4)
        for (int i = 0; i < some; ++i) {
#pragma omp cancellation point taskgroup
            add(&alone);
        }
    }
    EQUAL(with, on ? 0 : some);
    EQUAL(behind_with, some);
    EQUAL(without, on ? 0 : some);
    EQUAL(behind_without, on ? 0 : 2 * some);
    EQUAL(alone, some);
}

/* Tasks of every kind cancel and are cancelled. */
static void sorts_of_tasks(int size) {
    int passed = 0, began = 0;
    for (int sort = 0; sort < 5; ++sort) {
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup
        {
            switch (sort) {
            case 0:;
#pragma omp task final(1) shared(passed)
                {
#pragma omp cancel taskgroup
                    add(&passed);
                }
                break;
            case 1:;
#pragma omp task untied shared(passed)
                {
#pragma omp taskyield
#pragma omp cancel taskgroup
                    add(&passed);
                }
                break;
            case 2:;
#pragma omp task mergeable if (0) shared(passed)
                {
#pragma omp cancel taskgroup
                    add(&passed);
                }
                break;
            case 3:;
#pragma omp task priority(3) shared(passed)
                {
#pragma omp cancel taskgroup if (passed >= 0)
                    add(&passed);
                }
                break;
            case 4:; int before = 1;
#pragma omp task firstprivate(before) shared(passed) depend(inout : flag)
                {
#pragma omp cancel taskgroup if (cancel : before)
                    add(&passed);
                }
                break;
            }
#pragma omp taskwait
#pragma omp task untied shared(began)
            add(&began);
#pragma omp task final(1) shared(began)
            add(&began);
#pragma omp task priority(1) shared(began)
            add(&began);
#pragma omp task if (0) shared(began)
            add(&began);
        }
    }
    EQUAL(passed, on ? 0 : 5);
    EQUAL(began, on ? 0 : 5 * 4);
}

/* A region within a task of a cancelled group is complete, as are its tasks. */
static void regions_within(int size) {
    int inner = 0, tasks = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup
    {
        cancel();
#pragma omp parallel num_threads(2)
        {
            add(&inner);
#pragma omp barrier
            make_some(&tasks);
#pragma omp taskgroup
            make_some(&tasks);
        }
    }
    EQUAL(inner, 2);
    EQUAL(tasks, 4 * some);
}

/* Outside of all regions, where libgomp discards none. */
static void alone(void) {
    int began = 0, behind = 0;
#pragma omp taskgroup
    {
        cancel();
        make_some(&began);
#pragma omp taskgroup
        make_some(&began);
    }
    make_some(&behind);
#pragma omp taskgroup
    make_some(&behind);
    CHECK(began <= 2 * some && (on || began == 2 * some));
    EQUAL(behind, 2 * some);
}

int main(void) {
    on = omp_get_cancellation();
    omp_set_max_active_levels(2);
    EACH_SIZE(size) {
        the_canceller(size);
        tasks_that_have_begun(size);
        without_points(size);
        which_group(size);
        others(size);
        who_waits(size);
        who_depends(size);
        taskloops(size);
        sorts_of_tasks(size);
        regions_within(size);
    }
    alone();
    return verdict();
}
