/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Leagues of teams, on the host: which team a thread is in, in whatever team of threads it is, and
 * what teams and target regions leave as it was. */
#include <string.h>

#include "check.h"

/* The compiler allows few routines in teams, but does not check within functions. */
static int team_number(void) { return omp_get_team_num(); }
static int teams(void) { return omp_get_num_teams(); }
static int level(void) { return omp_get_level(); }
static int threads(void) { return omp_get_num_threads(); }
static void fork_levels(int count) { omp_set_max_active_levels(count); }

/* Outside of all leagues a thread is in team 0 of 1, in regions of any depth. */
static void outside(void) {
    EQUAL(team_number(), 0);
    EQUAL(teams(), 1);
    EACH_SIZE(size) {
        int wrong = 0;
#pragma omp parallel num_threads(size) reduction(+ : wrong)
#pragma omp parallel num_threads(2) reduction(+ : wrong)
        wrong += team_number() != 0 || teams() != 1;
        EQUAL(wrong, 0);
    }
}

/* All threads of the teams that a team of the league makes return its number, in nested teams,
 * too. */
static void in_teams_of_threads(void) {
    fork_levels(3);
    EACH_SIZE(size) {
        int wrong = 0, ran = 0;
#pragma omp teams num_teams(3) reduction(+ : wrong, ran)
        {
            const int mine = omp_get_team_num();
            wrong += level() != 0 || threads() != 1;
            for (int round = 0; round < 10; ++round) {
#pragma omp parallel num_threads(size) reduction(+ : wrong, ran)
                {
                    ran++;
                    wrong += team_number() != mine || teams() != 3 || level() != 1;
#pragma omp parallel num_threads(2) reduction(+ : wrong)
                    wrong += team_number() != mine || teams() != 3;
                }
            }
        }
        EQUAL(wrong, 0);
        CHECK(ran >= 30);
        EQUAL(team_number(), 0);
        EQUAL(teams(), 1);
    }
    fork_levels(1);
}

/* Explicit tasks, whichever thread runs them, and the loops of the teams' threads. */
static void in_tasks(void) {
    EACH_SIZE(size) {
        int wrong = 0, ran = 0;
#pragma omp teams num_teams(2) reduction(+ : wrong, ran)
        {
            const int mine = omp_get_team_num();
            int here = 0, ran_here = 0;
#pragma omp parallel num_threads(size)
            {
#pragma omp for schedule(dynamic)
                for (int i = 0; i < 20; ++i) {
#pragma omp task shared(here, ran_here)
                    {
                        const int other = team_number() != mine || teams() != 2;
#pragma omp atomic
                        here += other;
#pragma omp atomic
                        ran_here++;
                    }
                }
#pragma omp taskloop shared(here) num_tasks(5)
                for (int i = 0; i < 10; ++i) {
                    const int other = team_number() != mine;
#pragma omp atomic
                    here += other;
                }
            }
            wrong += here;
            ran += ran_here;
        }
        EQUAL(wrong, 0);
        EQUAL(ran, 40);
    }
}

/* The league of a target region, likewise. */
static void in_target(void) {
    EACH_SIZE(size) {
        int wrong = 0, ran = 0;
#pragma omp target teams num_teams(4) map(tofrom : wrong, ran) reduction(+ : wrong, ran)
        {
            const int mine = omp_get_team_num();
            ran += omp_get_num_teams() == 4;
            wrong += mine < 0 || mine > 3;
#pragma omp parallel num_threads(size) reduction(+ : wrong)
            wrong += team_number() != mine || teams() != 4;
        }
        EQUAL(wrong, 0);
        EQUAL(ran, 4);
        EQUAL(teams(), 1);
    }
}

/* A target region begins with team 0 of 1, whichever thread meets it, and after it the league is as
 * it was. */
static void target_in_leagues(void) {
    EACH_SIZE(size) {
        int wrong = 0;
#pragma omp teams num_teams(3) reduction(+ : wrong)
        {
            const int mine = omp_get_team_num();
#pragma omp parallel num_threads(size) reduction(+ : wrong)
            {
                int here = 0;
#pragma omp target map(tofrom : here)
                {
                    here += team_number() != 0 || teams() != 1;
#pragma omp parallel num_threads(2) reduction(+ : here)
                    here += team_number() != 0 || teams() != 1;
                }
                here += team_number() != mine || teams() != 3;
#pragma omp target teams num_teams(4) map(tofrom : here) reduction(+ : here)
                here += omp_get_num_teams() != 4;
                here += team_number() != mine || teams() != 3;
#pragma omp target nowait map(tofrom : here)
                here += team_number() != 0 || teams() != 1;
#pragma omp taskwait
                here += team_number() != mine || teams() != 3;
                wrong += here;
            }
            wrong += omp_get_team_num() != mine || omp_get_num_teams() != 3;
        }
        EQUAL(wrong, 0);
        EQUAL(team_number(), 0);
        EQUAL(teams(), 1);
    }
}

/* So a distribute after such a region still runs each iteration exactly once. */
static void distribute_behind_target(void) {
    int times[1000];
    memset(times, 0, sizeof times);
#pragma omp teams num_teams(2) shared(times)
    {
#pragma omp parallel num_threads(2)
        {
            int other = 0;
#pragma omp target teams num_teams(4) map(tofrom : other) reduction(+ : other)
            other++;
        }
#pragma omp distribute
        for (int i = 0; i < 1000; ++i) {
#pragma omp atomic
            times[i]++;
        }
    }
    int wrong = 0;
    for (int i = 0; i < 1000; ++i) wrong += times[i] != 1;
    EQUAL(wrong, 0);
}

/* The league of a region that follows another is its own, even where the runtime chooses its
 * size. */
static void one_after_the_other(void) {
    for (int count = 1; count <= 5; ++count) {
        unsigned seen = 0;
#pragma omp teams num_teams(count) reduction(| : seen)
        seen |= 1U << omp_get_team_num();
        EQUAL(seen, (1U << count) - 1);
#pragma omp target teams num_teams(count) map(tofrom : seen) reduction(^ : seen)
        seen ^= 1U << omp_get_team_num();
        EQUAL(seen, 0);
        EQUAL(teams(), 1);
    }
    int ran = 0, told = 0;
#pragma omp teams reduction(+ : ran) reduction(max : told)
    {
        ran++;
        told = omp_get_num_teams();
    }
    EQUAL(ran, told);
    ran = told = 0;
#pragma omp target teams map(tofrom : ran, told) reduction(+ : ran) reduction(max : told)
    {
        ran++;
        told = omp_get_num_teams();
    }
    EQUAL(ran, told);
}

/* Affinity formats know the team, too. */
static void in_formats(void) {
    int wrong = 0;
#pragma omp teams num_teams(3) reduction(+ : wrong)
    {
        char expected[32];
        snprintf(expected, sizeof expected, "%d of 3", omp_get_team_num());
#pragma omp parallel num_threads(2) reduction(+ : wrong)
        {
            char text[32] = "";
            omp_capture_affinity(text, sizeof text, "%{team_num} of %T");
            wrong += strcmp(text, expected) != 0;
            char within[32] = "";
#pragma omp target map(tofrom : within)
            omp_capture_affinity(within, sizeof within, "%t of %{num_teams}");
            wrong += strcmp(within, "0 of 1") != 0;
        }
    }
    EQUAL(wrong, 0);
}

/* A thread in the middle of a construct, outside of all parallel regions, finds it unchanged after
   a target region with a construct of that kind. */
static void in_the_middle(void) {
    int outer = 0, inner = 0, singles = 0;
#pragma omp for schedule(dynamic, 2)
    for (int i = 0; i < 10; ++i) {
        outer += i;
#pragma omp target map(tofrom : inner, singles)
        {
#pragma omp for schedule(dynamic)
            for (int k = 0; k < 7; ++k) inner++;
#pragma omp single
            singles++;
        }
    }
    EQUAL(outer, 45);
    EQUAL(inner, 70);
    EQUAL(singles, 10);
    outer = inner = 0;
#pragma omp sections
    {
#pragma omp section
#pragma omp target map(tofrom : inner)
        {
#pragma omp for schedule(guided) ordered
            for (int k = 0; k < 5; ++k) {
#pragma omp ordered
                inner = inner * 10 + k;
            }
        }
#pragma omp section
        outer++;
    }
    EQUAL(outer, 1);
    EQUAL(inner, 1234);
}

/* In a loop of a team's threads, of each schedule. */
static void in_loops(void) {
    EACH_SIZE(size) {
        for (int kind = 1; kind <= 3; ++kind) {
            omp_set_schedule((omp_sched_t)kind, 3);
            int sum = 0, inner = 0;
#pragma omp parallel num_threads(size) reduction(+ : sum, inner)
#pragma omp for schedule(runtime) nowait
            for (int i = 0; i < 50; ++i) {
                sum += i;
                int here = 0;
#pragma omp target map(tofrom : here)
                {
#pragma omp for schedule(dynamic)
                    for (int k = 0; k < 4; ++k) here++;
                }
                inner += here;
            }
            EQUAL(sum, 1225);
            EQUAL(inner, 200);
        }
    }
}

int main(void) {
    outside();
    in_teams_of_threads();
    in_tasks();
    in_target();
    distribute_behind_target();
    one_after_the_other();
    in_formats();
    in_the_middle();
    in_loops();
    target_in_leagues();
    return verdict();
}
