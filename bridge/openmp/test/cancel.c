/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Cancellation: with OMP_CANCELLATION the rest is left out, and no thread waits forever; without it
 * nothing happens. */
#include <sched.h>

#include "check.h"

int main(void) {
    const int on = omp_get_cancellation();
    EACH_SIZE(size) {
        int after = 0;
#pragma omp parallel num_threads(size) reduction(+ : after)
        {
            if (omp_get_thread_num() == size - 1) {
#pragma omp cancel parallel
            }
#pragma omp cancellation point parallel
#pragma omp barrier
            after++;
        }
        if (on) EQUAL(after, 0);
        else EQUAL(after, size);

        int ran = 0;
#pragma omp parallel num_threads(size)
        {
#pragma omp for schedule(dynamic)
            for (int i = 0; i < 1000; ++i) {
#pragma omp cancellation point for
                /* The thread that is to cancel may have lost its CPU. */
                while (on && i == 990) {
#pragma omp cancellation point for
                    sched_yield();
                }
#pragma omp atomic
                ran++;
                if (i == 10) {
#pragma omp cancel for
                }
            }
        }
        if (on)
            CHECK(ran > 11 - size &&
                  ran < 1000); /* others may have been cancelled in one of the first */
        else EQUAL(ran, 1000);

        int parts = 0;
#pragma omp parallel num_threads(size)
#pragma omp sections
        {
#pragma omp section
            {
#pragma omp atomic
                parts++;
#pragma omp cancel sections
            }
#pragma omp section
            {
#pragma omp cancellation point sections
#pragma omp atomic
                parts++;
            }
        }
        if (on) CHECK(parts >= 1);
        else EQUAL(parts, 2);

        int tasks = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup
        for (int i = 0; i < 1000; ++i) {
#pragma omp task
            {
#pragma omp cancellation point taskgroup
#pragma omp atomic
                tasks++;
#pragma omp cancel taskgroup if (i == 5)
            }
        }
        if (on) CHECK(tasks >= 1 && tasks <= 1000);
        else EQUAL(tasks, 1000);
        /* The runtime takes no part in a static loop except at its end: it is over there, and the
         * next loop is complete. */
        int of_loops[2] = {0, 0};
#pragma omp parallel num_threads(size)
        for (int round = 0; round < 2; ++round) {
#pragma omp for schedule(static, 1)
            for (int i = 0; i < 20; ++i) {
#pragma omp atomic
                of_loops[round]++;
#pragma omp cancel for if (round == 0 && i == 0)
            }
        }
        if (on) CHECK(of_loops[0] <= 20 - (20 + size - 1) / size + 1); /* of the cancelling thread alone */
        else EQUAL(of_loops[0], 20);
        EQUAL(of_loops[1], 20);

        /* A thread that is still in the loop before, or meets no point, is not cancelled. */
        int earlier = 0, without_points = 0, cancelled = 0;
        omp_set_schedule(omp_sched_static, 1);
#pragma omp parallel num_threads(size)
        {
#pragma omp for schedule(runtime) nowait
            for (int i = 0; i < 1000; ++i) {
                for (int seen = omp_get_thread_num() != 1; !seen;) {
#pragma omp atomic read
                    seen = cancelled;
                }
#pragma omp atomic
                earlier++;
            }
#pragma omp for schedule(static, 1)
            for (int i = 0; i < size; ++i) {
                if (i != 0) continue;
#pragma omp atomic write
                cancelled = 1;
#pragma omp cancel for
            }
#pragma omp for schedule(dynamic)
            for (int i = 0; i < 1000; ++i) {
#pragma omp atomic
                without_points++;
                if (i == 0) {
#pragma omp cancel for
                }
            }
        }
        EQUAL(earlier, 1000);
        EQUAL(without_points, on && size == 1 ? 1 : 1000);

        /* What comes after works as usual. */
        int sum = 0;
#pragma omp parallel for num_threads(size) reduction(+ : sum)
        for (int i = 0; i < 100; ++i) sum += i;
        EQUAL(sum, 4950);
    }
    return verdict();
}
