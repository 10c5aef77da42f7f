/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Detached tasks in and around target regions that the host runs, outside of parallel regions, too,
   where libgomp hangs. */
#include "check.h"

/* A region's end waits for what its tasks wait for, even where another thread of the program
 * fulfils the event. */
static void ends_with_its_tasks(void) {
    for (int round = 0; round < 20; ++round) {
        omp_event_handle_t handed = 0;
        int given = 0, ended = 0, in_time = 0;
#pragma omp parallel num_threads(2)
        {
            if (omp_get_thread_num() == 0) {
#pragma omp target map(tofrom : handed, given, ended)
                {
                    omp_event_handle_t event;
#pragma omp task detach(event) shared(ended)
                    {
#pragma omp atomic
                        ended++;
                    }
                    handed = event;
#pragma omp atomic write release
                    given = 1;
                }
#pragma omp atomic read
                in_time = ended;
                in_time = in_time == (omp_get_num_threads() > 1 ? 11 : 1);
            } else {
                int here = 0;
                while (!here) {
#pragma omp atomic read acquire
                    here = given;
                    if (!here) {
#pragma omp taskyield
                    }
                }
#pragma omp atomic
                ended += 10;
                omp_fulfill_event(handed);
            }
        }
        CHECK(in_time);
    }
}

/* Tasks of one region that depend on each other run in order, around an event that the region
 * itself fulfils. */
static void ordered_within(void) {
    int order = 0, data __attribute__((unused)) = 0;
#pragma omp target map(tofrom : order)
    {
        omp_event_handle_t event;
#pragma omp task detach(event) depend(out : data) shared(order)
        order += 1;
#pragma omp task depend(in : data) shared(order)
        order = order * 10 + 3;
        order += 100;
        omp_fulfill_event(event);
#pragma omp taskwait
        order = order * 10 + 4;
    }
    EQUAL(order, 10134);
}

/* Outside of parallel regions, too, a region with nowait does not block the thread that meets
 * it. */
static void not_held_up(void) {
    int value = 0, data __attribute__((unused)) = 0;
    omp_event_handle_t event;
#pragma omp task depend(out : data) detach(event)
    {}
#pragma omp target nowait depend(inout : data) map(tofrom : value)
    value = value * 10 + 1;
#pragma omp target update nowait depend(inout : data) to(value)
#pragma omp target nowait depend(inout : data) map(tofrom : value)
    value = value * 10 + 2;
    EQUAL(value, 0);
    omp_fulfill_event(event);
#pragma omp taskwait
    EQUAL(value, 12);
}

int main(void) {
    ends_with_its_tasks();
    ordered_within();
    not_held_up();
    return verdict();
}
