/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* WEFT_OMP_MAX_THREADS=follow: for threads that are neither the first nor in a team,
 * omp_get_max_threads follows the load, and limits their regions. Several that ask share the harts.
 * It returns more than before only to a thread that has rested. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

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

static void rest(void) {
    const struct timespec enough = {0, 150000000};
    nanosleep(&enough, NULL);
}

/* The load changes once the holders of the harts have come or gone. */
static int told_in_the_end(int wanted) {
    const double until = omp_get_wtime() + 20;
    int told;
    while ((told = omp_get_max_threads()) != wanted && omp_get_wtime() < until) rest();
    return told;
}

/* Libraries write beyond the end of what they have sized by one answer if a later one is larger. */
static void is_told_no_more_before_it_rests(void) {
    const int told = omp_get_max_threads();
    const double until = omp_get_wtime() + .25;
    while (omp_get_wtime() < until) EQUAL(omp_get_max_threads(), told);
    /* one that computes does not rest, whenever it asks */
    while (omp_get_wtime() < until + .25) {}
    EQUAL(omp_get_max_threads(), told);
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
    is_told_no_more_before_it_rests();
    EQUAL(told_in_the_end(harts), harts);
    EQUAL(team_of_default_size(), harts);
    omp_set_num_threads(5);
    EQUAL(omp_get_max_threads(), 5);
    EQUAL(team_of_default_size(), 5);
    return argument;
}

static pthread_barrier_t turn;
static atomic_int shares;

/* By turns: neither holds a hart when the other asks. */
static void* one_of_two(void* argument) {
    for (int round = 0; round < 40; ++round) {
        pthread_barrier_wait(&turn);
        if ((round % 2 == 0) == (argument != NULL)) continue;
        const int told = omp_get_max_threads();
        if (round >= 2 && told == (harts >= 2 ? harts / 2 : 1)) atomic_fetch_add(&shares, 1);
    }
    return argument;
}

static void two_ask(void) {
    rest(); /* no hart is in use */
    atomic_store(&shares, 0);
    pthread_t threads[2];
    pthread_barrier_init(&turn, NULL, 2);
    for (int i = 0; i < 2; ++i) CHECK(pthread_create(&threads[i], NULL, one_of_two, i == 0 ? NULL : &turn) == 0);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
}

/* Where the machine is busy one may be kept from asking for a while. */
static void two_share_the_harts(void) {
    for (int attempt = 0; attempt < 5 && atomic_load(&shares) != 38; ++attempt) two_ask();
    EQUAL(atomic_load(&shares), 38);
}

int main(void) {
    harts = omp_get_num_procs();
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, foreign, NULL) == 0);
    pthread_join(thread, NULL);
    EQUAL(omp_get_max_threads(), harts);
    two_share_the_harts();
    return verdict();
}
