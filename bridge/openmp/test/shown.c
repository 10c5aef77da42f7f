/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A team of three, of which thread 1 has a team of two within: all of them wait forever, for locks
 * and for each other. test/shown.py inspects them. */
#include <omp.h>

static omp_lock_t never, inner_never;

int main(void) {
    omp_set_max_active_levels(2);
    omp_init_lock(&never);
    omp_init_lock(&inner_never);
    omp_set_lock(&never);
    omp_set_lock(&inner_never);
#pragma omp parallel num_threads(3)
    {
        if (omp_get_thread_num() == 2) omp_set_lock(&never);
        if (omp_get_thread_num() == 1) {
#pragma omp parallel num_threads(2)
            omp_set_lock(&inner_never);
        }
    }
    return 0;
}
