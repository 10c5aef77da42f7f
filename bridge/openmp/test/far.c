/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Loops up to the limits of their variables' types. libgomp 12 does not end some of them, so only
 * Weft is tested. */
#include <limits.h>

#include "check.h"

int main(void) {
    for (int way = 0; way < 3; ++way) {
        omp_set_schedule(way == 0 ? omp_sched_static : way == 1 ? omp_sched_dynamic : omp_sched_guided, 2);
        int edges = 0;
#pragma omp parallel for num_threads(4) schedule(runtime) reduction(+ : edges)
        for (long i = LONG_MAX - 6; i < LONG_MAX; i += 2) edges++;
        EQUAL(edges, 3);

        int wide = 0;
#pragma omp parallel for num_threads(4) schedule(runtime) reduction(+ : wide)
        for (long i = LONG_MIN; i < LONG_MAX - LONG_MAX / 2; i += LONG_MAX / 4) wide++;
        EQUAL(wide, 7);
    }
    return verdict();
}
