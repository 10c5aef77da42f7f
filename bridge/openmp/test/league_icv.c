/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Control variables in a league: each team's initial task begins with those of the task that has
 * met the construct, and what it sets neither reaches another team nor stays. (On libgomp it does
 * both.) */
#include "check.h"

/* The compiler allows few routines in teams, but does not check within functions. */
static int threads(void) { return omp_get_max_threads(); }
static int levels(void) { return omp_get_max_active_levels(); }
static int limit(void) { return omp_get_thread_limit(); }
static void set(int to) {
    omp_set_num_threads(to);
    omp_set_max_active_levels(to);
}

/* Outside of target regions: what the program has set. */
static void on_the_host(void) {
    set(7);
    int wrong = 0;
#pragma omp teams num_teams(3) thread_limit(5) reduction(+ : wrong)
    {
        wrong += threads() != 7 || levels() != 7 || limit() != 5;
        set(20 + omp_get_team_num());
        wrong += threads() != 20 + omp_get_team_num();
        const int mine = omp_get_team_num();
#pragma omp parallel num_threads(2) reduction(+ : wrong)
        wrong += levels() != 20 + mine;
    }
    EQUAL(wrong, 0);
    EQUAL(threads(), 7);
    EQUAL(levels(), 7);
}

/* In a target region: what the environment has set. */
static void in_target(int initial_threads, int initial_levels) {
    set(7);
    int wrong = 0;
#pragma omp target teams num_teams(3) thread_limit(5) map(tofrom : wrong) reduction(+ : wrong)
    {
        wrong += threads() != initial_threads || levels() != initial_levels || limit() != 5;
        set(20 + omp_get_team_num());
        wrong += threads() != 20 + omp_get_team_num();
    }
    EQUAL(wrong, 0);
    EQUAL(threads(), 7);
}

/* The league of an inner region begins with that region's values. */
static void nested(void) {
    set(7);
    int wrong = 0;
#pragma omp teams num_teams(2) reduction(+ : wrong)
    {
        set(9);
#pragma omp parallel num_threads(2) reduction(+ : wrong)
        {
            int here = 0;
#pragma omp target teams num_teams(2) map(tofrom : here) reduction(+ : here)
            {
                here += threads() == 9;
                set(30);
            }
            wrong += here + (levels() != 9);
        }
        wrong += levels() != 9;
    }
    EQUAL(wrong, 0);
}

int main(void) {
    const int initial_threads = threads(), initial_levels = levels();
    on_the_host();
    in_target(initial_threads, initial_levels);
    nested();
    return verdict();
}
