/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Detached tasks of a cancelled taskgroup: the group ends, whether their events come from the
   bodies, from elsewhere, or from both. */
#include "check.h"
#include "flag.h"

enum { some = 10 };

static int on;

static void cancel(void) {
#pragma omp task if (0)
    {
#pragma omp cancel taskgroup
        CHECK(!on);
    }
    raise();
}

/* Tasks that are queued when their group is cancelled, or made afterwards. */
static void fulfilled_by_bodies(int size) {
    int ran = 0;
    lower();
#pragma omp parallel num_threads(size)
#pragma omp taskgroup
    {
        if (omp_get_thread_num() == 0) {
            for (int i = 0; i < 2 * some; ++i) {
                omp_event_handle_t event;
                if (i == some) cancel();
#pragma omp task detach(event) shared(ran)
                {
#pragma omp atomic
                    ran++;
                    omp_fulfill_event(event);
                }
            }
        }
        stand_by();
    }
    if (!on) EQUAL(ran, 2 * some);
    else CHECK(ran <= 2 * some);
}

static void fulfilled_by_their_maker(int size) {
    int ran = 0;
    lower();
#pragma omp parallel num_threads(size)
#pragma omp taskgroup
    {
        if (omp_get_thread_num() == 0) {
            omp_event_handle_t events[some];
            for (int i = 0; i < some; ++i) {
                omp_event_handle_t event;
#pragma omp task detach(event) shared(ran)
                {
#pragma omp atomic
                    ran++;
                }
                events[i] = event;
            }
            cancel();
            for (int i = 0; i < some; ++i) omp_fulfill_event(events[i]);
        }
        stand_by();
    }
    if (!on) EQUAL(ran, some);
    else CHECK(ran <= some);
}

/* What depends on the tasks may go on then. */
static void depended_on(int size) {
    int ran = 0, behind = 0;
    int of[1];
    (void)of;
    lower();
#pragma omp parallel num_threads(size)
#pragma omp single
    {
#pragma omp taskgroup
        {
            omp_event_handle_t event;
#pragma omp task detach(event) depend(out : of[0]) shared(ran)
            {
                ran++;
                omp_fulfill_event(event);
            }
            cancel();
        }
#pragma omp task depend(in : of[0]) shared(behind)
        behind++;
    }
    CHECK(ran == 1 || (on && ran == 0));
    EQUAL(behind, 1);
}

int main(void) {
    on = omp_get_cancellation();
    EACH_SIZE(size) {
        fulfilled_by_bodies(size);
        fulfilled_by_their_maker(size);
        depended_on(size);
    }
    return verdict();
}
