/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* WEFT_OMP_MAX_THREADS=follow: for threads that are neither the first nor in a team,
 * omp_get_max_threads follows the load, and limits their regions. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "check.h"

static int harts;
static atomic_int busy, release;

static int team_of_default_size(void) {
    int size = 0;
#pragma omp parallel
#pragma omp single
    size = omp_get_num_threads();
    return size;
}

/* The load changes once the holders of the harts have come or gone. */
static int told_in_the_end(int wanted) {
    const double until = omp_get_wtime() + 20;
    int told;
    while ((told = omp_get_max_threads()) != wanted && omp_get_wtime() < until) sched_yield();
    return told;
}

/* Computes on all harts until it may end. */
static void* holder(void* argument) {
#pragma omp parallel num_threads(harts)
    {
        atomic_fetch_add(&busy, 1);
        while (!atomic_load(&release)) {}
    }
    return argument;
}

static void* foreign(void* argument) {
    EQUAL(told_in_the_end(harts), harts);
    for (int round = 0; round < 1000; ++round) {
        const int told = omp_get_max_threads();
        const int got = team_of_default_size();
        EQUAL(got, told);
    }
    EQUAL(told_in_the_end(harts), harts); /* its own team, which waits for the next region, is no load */

    pthread_t other;
    CHECK(pthread_create(&other, NULL, holder, NULL) == 0);
    while (atomic_load(&busy) != harts) sched_yield();
    EQUAL(told_in_the_end(1), 1);
    EQUAL(team_of_default_size(), 1);
    int size = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
    size = omp_get_num_threads();
    EQUAL(size, 3);
    atomic_store(&release, 1);
    pthread_join(other, NULL);

    EQUAL(team_of_default_size(), 1); /* as it was told last */
    EQUAL(told_in_the_end(harts), harts);
    EQUAL(team_of_default_size(), harts);
    omp_set_num_threads(5);
    EQUAL(omp_get_max_threads(), 5);
    EQUAL(team_of_default_size(), 5);
    return argument;
}

int main(void) {
    harts = omp_get_num_procs();
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, foreign, NULL) == 0);
    pthread_join(thread, NULL);
    EQUAL(omp_get_max_threads(), harts);
    return verdict();
}
