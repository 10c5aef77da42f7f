/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The teams construct, clause by clause: how many teams there are, what each begins with, what each
 * has of its own, and what is combined at the end. */
#include <limits.h>
#include <string.h>

#include "check.h"

/* The compiler allows few routines in teams, but does not check within functions. */
static int level(void) { return omp_get_level(); }
static int place_in_team(void) { return omp_get_thread_num() * 1000 + omp_get_num_threads(); }
static int in_parallel(void) { return omp_in_parallel(); }
static int active_level(void) { return omp_get_active_level(); }
static int limit(void) { return omp_get_thread_limit(); }
static int final(void) { return omp_in_final(); }
static int most(void) { return omp_get_max_threads(); }

/* Atomic, since the teams of a league might run at once. */
static void add(int* to, int value) { __atomic_add_fetch(to, value, __ATOMIC_RELAXED); }

/* num_teams sets how many there are; the numbers are those below, each once, and stay the same for
 * the whole region. */
static void numbers(void) {
    for (int count = 1; count <= 9; ++count) {
        int seen[9] = {0}, told = 0;
#pragma omp teams num_teams(count) shared(seen) reduction(+ : told)
        {
            for (int again = 0; again < 3; ++again) add(&seen[omp_get_team_num()], 1);
            told += omp_get_num_teams();
        }
        EQUAL(told, count * count);
        for (int i = 0; i < 9; ++i) EQUAL(seen[i], i < count ? 3 : 0);
    }
}

/* Between a lower and an upper bound the runtime chooses. */
static void bounds(void) {
    int teams = 0, told = 0;
#pragma omp teams num_teams(2 : 5) reduction(+ : teams) reduction(max : told)
    {
        teams++;
        told = omp_get_num_teams();
    }
    CHECK(teams >= 2 && teams <= 5);
    EQUAL(told, teams);
#pragma omp target teams num_teams(3 : 4) map(tofrom : teams, told) reduction(+ : teams) reduction(max : told)
    {
        teams++;
        told = omp_get_num_teams();
    }
    EQUAL(told >= 3 && told <= 5, 1);
}

static int evaluated;
static int counted(int value) {
    evaluated++;
    return value;
}

/* The thread that meets the construct evaluates the clauses once. (gcc 12 evaluates those of target
 * teams once more.) */
static void evaluated_once(void) {
    int teams = 0;
    evaluated = 0;
#pragma omp teams num_teams(counted(3)) thread_limit(counted(2)) reduction(+ : teams)
    teams++;
    EQUAL(teams, 3);
    EQUAL(evaluated, 2);
}

/* Each team begins as an initial team: one thread, at level 0, in no parallel region, in no final
 * task. */
static void initial_teams(void) {
    int wrong = 0;
#pragma omp teams num_teams(3) reduction(+ : wrong)
    {
        wrong += level() != 0 || place_in_team() != 1 || in_parallel() || active_level() != 0 || final();
#pragma omp parallel num_threads(2) reduction(+ : wrong)
        wrong += omp_get_level() != 1 || omp_get_ancestor_thread_num(0) != 0 || omp_get_team_size(0) != 1;
        wrong += level() != 0 || place_in_team() != 1;
    }
    EQUAL(wrong, 0);
}

/* thread_limit holds for all threads of each team's contention group, nested teams among them. */
static void limits(void) {
    const int levels = omp_get_max_active_levels();
    omp_set_max_active_levels(3);
    for (int given = 1; given <= 5; ++given) {
        int wrong = 0, teams = 0;
#pragma omp teams num_teams(2) thread_limit(given) reduction(+ : wrong, teams)
        {
            teams++;
            wrong += limit() != given;
            int at_once = 0, highest = 0, arrived = 0;
#pragma omp parallel num_threads(4)
            {
#pragma omp atomic
                arrived++;
#pragma omp parallel num_threads(3)
                {
                    int now;
#pragma omp atomic capture
                    now = ++at_once;
#pragma omp critical(highest)
                    if (now > highest) highest = now;
#pragma omp atomic
                    at_once--;
                }
            }
            wrong += highest > given || arrived > given || arrived < 1;
        }
        EQUAL(wrong, 0);
        EQUAL(teams, 2);
    }
    omp_set_max_active_levels(levels);
    EQUAL(omp_get_thread_limit(), INT_MAX);
}

/* What each team has of its own, and what all share. */
static void sharing(void) {
    int own = 1, first = 2, all = 0, cells[3] = {1, 2, 3}, wrong = 0;
#pragma omp teams num_teams(4) private(own) firstprivate(first, cells) shared(all) reduction(+ : wrong)
    {
        own = omp_get_team_num();
        wrong += first != 2 || cells[2] != 3;
        first += own;
        cells[2] = own;
        add(&all, first + cells[2]);
        wrong += own != omp_get_team_num();
    }
    EQUAL(wrong, 0);
    EQUAL(own, 1);
    EQUAL(first, 2);
    EQUAL(cells[2], 3);
    EQUAL(all, 8 + 6 + 6);
    int counted_here = 0;
#pragma omp teams num_teams(2) default(none) shared(counted_here)
    add(&counted_here, 1);
    EQUAL(counted_here, 2);
#pragma omp teams num_teams(2) default(firstprivate) shared(counted_here)
    {
        first++;
        add(&counted_here, first);
    }
    EQUAL(counted_here, 8);
    EQUAL(first, 2);
}

/* An allocate clause gives private copies memory of an allocator. */
static void allocated(void) {
    int first = 3, sum = 0;
#pragma omp teams num_teams(3) allocate(omp_default_mem_alloc : first) firstprivate(first) reduction(+ : sum)
    sum += first++;
    EQUAL(sum, 9);
    EQUAL(first, 3);
}

struct range {
    int least, most;
};
static void join(struct range* to, const struct range* from) {
    if (from->least < to->least) to->least = from->least;
    if (from->most > to->most) to->most = from->most;
}
#pragma omp declare reduction(join : struct range : join(&omp_out, &omp_in)) initializer(omp_priv = {INT_MAX, INT_MIN})

/* Reductions over teams, with each operator, of an array section, and with an operator that the
 * program defines. */
static void reductions(void) {
    int sum = 1, product = 2, difference = 3, least = 100, greatest = -100;
    int bits = 0xff, any = 0, odd = 1, both = 1, either = 0;
    double real = 0.5;
    int cells[4] = {1, 1, 1, 1};
    struct range range = {50, 50};
#pragma omp teams num_teams(5) reduction(+ : sum, real, cells[1 : 2]) reduction(* : product) reduction(- : difference) \
    reduction(min : least) reduction(max : greatest) reduction(& : bits) reduction(| : any) reduction(^ : odd) \
    reduction(&& : both) reduction(|| : either) reduction(join : range)
    {
        const int me = omp_get_team_num();
        sum += me;
        real += me;
        product *= me + 1;
        difference -= me;
        least = me - 7;
        greatest = me;
        bits &= ~(1 << me);
        any |= 1 << me;
        odd ^= 1;
        both = both && me != 3;
        either = either || me == 4;
        cells[1] += me;
        cells[2] -= me;
        range.least = range.most = me * 10;
    }
    EQUAL(sum, 11);
    EQUAL(real * 2, 21);
    EQUAL(product, 240);
    EQUAL(difference, 3 - 10);
    EQUAL(least, -7);
    EQUAL(greatest, 4);
    EQUAL(bits, 0xff & ~31);
    EQUAL(any, 31);
    EQUAL(odd, 0);
    EQUAL(both, 0);
    EQUAL(either, 1);
    CHECK(cells[0] == 1 && cells[1] == 11 && cells[2] == -9 && cells[3] == 1);
    CHECK(range.least == 0 && range.most == 50);
}

/* Teams within a function of the program, and the encountering task that goes on afterwards. */
static long in_function(int count) {
    long sum = 0;
#pragma omp teams num_teams(count) reduction(+ : sum)
    {
        long part = 0;
#pragma omp parallel for num_threads(3) reduction(+ : part)
        for (int i = 0; i < 100; ++i) part += i;
        sum += part;
    }
    return sum;
}

/* nteams-var and teams-thread-limit-var hold where there is no clause, and clauses win. */
static void by_variables(void) {
    omp_set_num_teams(2);
    omp_set_teams_thread_limit(3);
    EQUAL(omp_get_max_teams(), 2);
    EQUAL(omp_get_teams_thread_limit(), 3);
    int teams = 0, wrong = 0;
#pragma omp teams reduction(+ : teams, wrong)
    {
        teams++;
        wrong += limit() > 3;
    }
    CHECK(teams >= 1 && teams <= 2);
    EQUAL(wrong, 0);
    teams = 0;
#pragma omp teams num_teams(4) thread_limit(2) reduction(+ : teams, wrong)
    {
        teams++;
        wrong += limit() > 2 || omp_get_num_teams() != 4;
    }
    EQUAL(teams, 4);
    EQUAL(wrong, 0);
}

/* nthreads-var is inherited, so a parallel region in a team has as many threads as one outside, up
 * to the limit. */
static void inherited(void) {
    omp_set_dynamic(0);
    omp_set_num_threads(3);
    int wrong = 0, ran = 0;
#pragma omp teams num_teams(2) thread_limit(10) reduction(+ : wrong, ran)
    {
        wrong += most() != 3;
#pragma omp parallel reduction(+ : ran)
        ran++;
    }
    EQUAL(wrong, 0);
    EQUAL(ran, 6);
}

int main(void) {
    numbers();
    bounds();
    evaluated_once();
    initial_teams();
    limits();
    sharing();
    allocated();
    reductions();
    EQUAL(in_function(4), 4 * 4950);
    inherited();
    by_variables();
    return verdict();
}
