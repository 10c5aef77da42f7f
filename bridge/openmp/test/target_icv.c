/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Control variables in target regions that the host runs: each region begins with those of the
 * environment, whatever the program has set, and what it sets ends with it. */
#include <string.h>

#include "check.h"

enum { threads, dynamic, levels, nested, schedule, chunk, device, limit, bind, allocator, kinds };
struct values {
    long of[kinds];
};

static struct values now(void) {
    omp_sched_t kind;
    int iterations;
    omp_get_schedule(&kind, &iterations);
    return (struct values){{omp_get_max_threads(), omp_get_dynamic(), omp_get_max_active_levels(), omp_get_nested(),
                            (long)kind, iterations, omp_get_default_device(), omp_get_thread_limit(),
                            (long)omp_get_proc_bind(), (long)omp_get_default_allocator()}};
}

static int alike(struct values a, struct values b) { return memcmp(&a, &b, sizeof a) == 0; }

static struct values first;

/* Sets all that routines can set, to values that nothing else sets. */
static void set(int to) {
    omp_set_num_threads(to + 20);
    omp_set_dynamic(!first.of[dynamic]);
    omp_set_max_active_levels(to + 7);
    omp_set_schedule(to % 2 != 0 ? omp_sched_guided : omp_sched_static, to + 3);
    omp_set_default_allocator(to % 2 != 0 ? omp_large_cap_mem_alloc : omp_high_bw_mem_alloc);
}

/* Whichever thread meets it, a region begins with the first values, changes its own, and leaves
 * those around it alone. */
static void met_by_each(void) {
    EACH_SIZE(size) {
        int wrong = 0;
#pragma omp parallel num_threads(size) reduction(+ : wrong)
        {
            set(omp_get_thread_num());
            const struct values around = now();
            for (int round = 0; round < 5; ++round) {
                int here = 0;
#pragma omp target map(tofrom : here)
                {
                    here += !alike(now(), first);
                    set(round + 40);
                    here += omp_get_max_threads() != round + 60 || omp_get_max_active_levels() != round + 47;
                }
                wrong += here + !alike(now(), around);
            }
        }
        EQUAL(wrong, 0);
    }
}

/* In explicit tasks, too, and where the region is a deferred task. */
static void in_tasks(void) {
    EACH_SIZE(size) {
        int wrong = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        for (int i = 0; i < 10; ++i) {
            set(i);
#pragma omp task shared(wrong)
            {
                set(i + 1);
                const struct values around = now();
                int here = 0;
#pragma omp target map(tofrom : here)
                here = !alike(now(), first);
                here += !alike(now(), around);
#pragma omp atomic
                wrong += here;
            }
#pragma omp target nowait map(tofrom : wrong)
            {
                const int here = !alike(now(), first);
#pragma omp atomic
                wrong += here;
                set(50);
            }
        }
        EQUAL(wrong, 0);
    }
}

/* Teams within inherit what the region has set, and have as many threads as the region says. */
static void teams_within(void) {
    set(3);
    int ran = 0, nesting = 0, initial = 0;
#pragma omp target map(tofrom : ran, nesting, initial)
    {
        initial = omp_get_max_threads();
        omp_set_dynamic(0);
        omp_set_num_threads(2);
        omp_set_max_active_levels(4);
#pragma omp parallel reduction(+ : ran) reduction(max : nesting)
        {
            ran++;
            nesting = omp_get_max_active_levels();
        }
    }
    EQUAL(initial, first.of[threads]);
    EQUAL(ran, 2);
    EQUAL(nesting, 4);
    EQUAL(omp_get_max_threads(), 23);
    EQUAL(omp_get_max_active_levels(), 10);
}

/* The compiler allows few routines in teams, but does not check within functions. */
static int limit_here(void) { return omp_get_thread_limit(); }

/* thread_limit is what the clause says, whatever the environment has set, and in a combined
 * construct, too. */
static void limits(void) {
    int told = 0, wrong = 0;
#pragma omp target thread_limit(2) map(from : told)
    told = omp_get_thread_limit();
    EQUAL(told, 2);
#pragma omp target thread_limit(20) map(from : told)
    told = omp_get_thread_limit();
    EQUAL(told, 20);
#pragma omp target teams num_teams(2) thread_limit(3) map(tofrom : wrong) reduction(+ : wrong)
    {
        int ran = 0;
#pragma omp parallel num_threads(8) reduction(+ : ran)
        ran += omp_get_thread_limit() == 3;
        wrong += ran < 1 || ran > 3;
    }
    EQUAL(wrong, 0);
#pragma omp teams num_teams(2) thread_limit(3) reduction(+ : wrong)
#pragma omp parallel num_threads(2) reduction(+ : wrong)
    {
        int inner = 0;
#pragma omp target map(from : inner)
        inner = omp_get_thread_limit();
        wrong += inner != first.of[limit];
    }
    EQUAL(wrong, 0);
#pragma omp teams num_teams(2) thread_limit(20) reduction(+ : wrong)
    wrong += limit_here() != 20;
    EQUAL(wrong, 0);
    EQUAL(omp_get_thread_limit(), first.of[limit]);
}

/* The thread stays in its place, and a region has all places for its teams, whatever partition the
 * thread had. */
static void places(void) {
    const int all = omp_get_partition_num_places();
    EACH_SIZE(size) {
        int wrong = 0;
#pragma omp parallel num_threads(size) proc_bind(spread) reduction(+ : wrong)
        {
            const int mine = omp_get_place_num(), part = omp_get_partition_num_places();
            int here = 0;
#pragma omp target map(tofrom : here)
            {
                here += omp_get_place_num() != mine || omp_get_partition_num_places() != all;
#pragma omp parallel num_threads(2) proc_bind(close) reduction(+ : here)
                {
                    here += omp_get_partition_num_places() != all;
                    here += omp_get_thread_num() == 0 && omp_get_place_num() != mine;
                }
            }
            wrong += here + (omp_get_place_num() != mine || omp_get_partition_num_places() != part);
        }
        EQUAL(wrong, 0);
    }
}

/* default-device-var, and a loop whose schedule is the region's. */
static void others(void) {
    int told = -1, iterations = 0, sum = 0;
    omp_set_default_device(0);
#pragma omp target map(tofrom : told, iterations, sum)
    {
        told = omp_get_default_device();
        omp_set_default_device(3);
        omp_set_schedule(omp_sched_dynamic, 11);
        omp_sched_t kind;
        omp_get_schedule(&kind, &iterations);
#pragma omp parallel for schedule(runtime) reduction(+ : sum) num_threads(2)
        for (int i = 0; i < 100; ++i) sum += i;
    }
    EQUAL(told, first.of[device]);
    EQUAL(omp_get_default_device(), 0);
    EQUAL(iterations, 11);
    EQUAL(sum, 4950);
}

/* Variables of the process, or of the device, are the same in regions. */
static void of_the_process(void) {
    omp_set_num_teams(3);
    omp_set_teams_thread_limit(5);
    int teams = 0, team_limit = 0, cancellation = -1;
#pragma omp target map(from : teams, team_limit, cancellation)
    {
        teams = omp_get_max_teams();
        team_limit = omp_get_teams_thread_limit();
        cancellation = omp_get_cancellation();
    }
    EQUAL(teams, 3);
    EQUAL(team_limit, 5);
    EQUAL(cancellation, omp_get_cancellation());
}

int main(void) {
    first = now();
    met_by_each();
    in_tasks();
    teams_within();
    limits();
    places();
    others();
    of_the_process();
    return verdict();
}
