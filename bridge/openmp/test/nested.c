/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Regions within regions. */
#include "check.h"

static void depths(void) {
    omp_set_max_active_levels(4);
    for (int round = 0; round < 10; ++round) {
        int leaves = 0, bad = 0;
#pragma omp parallel num_threads(3) reduction(+ : leaves, bad)
        {
            const int outer = omp_get_thread_num();
#pragma omp parallel num_threads(4) reduction(+ : leaves, bad)
            {
                const int middle = omp_get_thread_num();
#pragma omp parallel num_threads(2) reduction(+ : leaves, bad)
                {
                    leaves++;
                    bad += omp_get_level() != 3 || omp_get_active_level() != 3;
                    bad += omp_get_ancestor_thread_num(1) != outer || omp_get_ancestor_thread_num(2) != middle;
                    bad += omp_get_team_size(1) != 3 || omp_get_team_size(2) != 4 || omp_get_team_size(3) != 2;
                }
                bad += omp_get_thread_num() != middle || omp_get_num_threads() != 4;
            }
            bad += omp_get_thread_num() != outer || omp_get_num_threads() != 3;
        }
        EQUAL(leaves, 24);
        EQUAL(bad, 0);
    }
}

static void serialized(void) {
    omp_set_max_active_levels(1);
    int threads = 0;
#pragma omp parallel num_threads(4) reduction(+ : threads)
#pragma omp parallel num_threads(4) reduction(+ : threads)
    {
        threads++;
        CHECK(omp_get_num_threads() == 1 && omp_get_level() == 2 && omp_get_active_level() == 1);
    }
    EQUAL(threads, 4);
}

static void loops_in_tasks(void) {
    omp_set_max_active_levels(3);
    long sum = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    for (int i = 0; i < 16; ++i) {
#pragma omp task
        {
            long mine = 0;
#pragma omp parallel for num_threads(3) reduction(+ : mine) schedule(dynamic)
            for (int k = 0; k < 100; ++k) mine += k;
#pragma omp atomic
            sum += mine;
        }
    }
    EQUAL(sum, 16 * 4950);
}

static void wide(void) {
    omp_set_max_active_levels(2);
    long sum = 0;
#pragma omp parallel num_threads(8) reduction(+ : sum)
    for (int round = 0; round < 5; ++round) {
#pragma omp parallel num_threads(8) reduction(+ : sum)
        {
#pragma omp barrier
            sum += 1;
#pragma omp barrier
        }
    }
    EQUAL(sum, 8 * 8 * 5);
}

int main(void) {
    depths();
    serialized();
    loops_in_tasks();
    wide();
    return verdict();
}
