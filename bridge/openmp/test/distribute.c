/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The distribute construct, its combined and composite forms, and loop regions of leagues: every
 * iteration runs once, in whichever team, and clauses have their effect. */
#include <string.h>

#include "check.h"

enum { most = 1000 };
static int times[most], by[most];

static void forget(void) {
    memset(times, 0, sizeof times);
    memset(by, -1, sizeof by);
}

/* The compiler allows only distribute and parallel in teams, but does not check within
 * functions. */
static void ran(int i) {
    __atomic_add_fetch(&times[i], 1, __ATOMIC_RELAXED);
    by[i] = omp_get_team_num();
}

/* Each of the first `count` iterations ran once, and no other did. */
#define EACH_ONCE(count)                                                         \
    do {                                                                         \
        int wrong_ = 0;                                                          \
        for (int i_ = 0; i_ < most; ++i_) wrong_ += times[i_] != (i_ < (count)); \
        EQUAL(wrong_, 0);                                                        \
    } while (0)

static const int counts[] = {0, 1, 2, 3, 7, 100, 1000}, teams_of[] = {1, 2, 3, 8};
#define EACH_CASE(count, teams)                                      \
    for (int c_ = 0, count; c_ < 7 && (count = counts[c_], 1); ++c_) \
        for (int t_ = 0, teams; t_ < 4 && (teams = teams_of[t_], 1); ++t_)

/* Without a schedule, with static, and with chunks. */
static void every_schedule(void) {
    EACH_CASE(count, teams) {
        forget();
#pragma omp teams distribute num_teams(teams)
        for (int i = 0; i < count; ++i) ran(i);
        EACH_ONCE(count);
        forget();
#pragma omp teams num_teams(teams)
        {
#pragma omp distribute dist_schedule(static)
            for (int i = 0; i < count; ++i) ran(i);
        }
        EACH_ONCE(count);
        for (int chunk = 1; chunk <= 7; chunk += 3) {
            forget();
#pragma omp target teams distribute num_teams(teams) dist_schedule(static, chunk)
            for (int i = 0; i < count; ++i) ran(i);
            EACH_ONCE(count);
        }
    }
}

/* static: at most one chunk for each team, of about one size, in the order of the teams. */
static void static_parts(void) {
    EACH_CASE(count, teams) {
        forget();
#pragma omp teams distribute num_teams(teams) dist_schedule(static)
        for (int i = 0; i < count; ++i) ran(i);
        int wrong = 0, parts[8] = {0};
        for (int i = 0; i < count; ++i) {
            wrong += by[i] < 0 || by[i] >= teams || (i > 0 && by[i] < by[i - 1]);
            if (by[i] >= 0 && by[i] < 8) parts[by[i]]++;
        }
        for (int t = 0; t < teams; ++t) wrong += parts[t] > count / teams + 1;
        EQUAL(wrong, 0);
    }
}

/* static with a chunk: chunks go round the teams, in the order of their numbers. */
static void static_chunks(void) {
    EACH_CASE(count, teams) {
        for (int chunk = 1; chunk <= 9; chunk += 4) {
            forget();
#pragma omp teams num_teams(teams)
            {
#pragma omp distribute dist_schedule(static, chunk)
                for (int i = 0; i < count; ++i) ran(i);
            }
            int wrong = 0;
            for (int i = 0; i < count; ++i) wrong += by[i] != i / chunk % teams;
            EQUAL(wrong, 0);
        }
    }
}

/* Two loops with one schedule and as many iterations run them in the same teams: the second finds
 * what the first has left. */
static void reproducible(void) {
    int first[200], wrong = 0;
#pragma omp teams num_teams(3) shared(first) reduction(+ : wrong)
    {
#pragma omp distribute dist_schedule(static)
        for (int i = 0; i < 200; ++i) first[i] = omp_get_team_num();
#pragma omp distribute dist_schedule(static)
        for (int i = 0; i < 200; ++i) wrong += first[i] != omp_get_team_num();
    }
    EQUAL(wrong, 0);
}

/* Variables of every type, up and down, in steps. */
static void variables(void) {
    long sum = 0;
    static int cells[50];
#pragma omp teams num_teams(3) reduction(+ : sum)
    {
#pragma omp distribute
        for (unsigned char i = 0; i < 100; i += 25) sum += i; /* to 250, gcc 12 has none, in any loop */
#pragma omp distribute dist_schedule(static, 2)
        for (long i = 100; i > -100; i -= 7) sum += i;
#pragma omp distribute
        for (unsigned long long i = ~0ULL - 5; i < ~0ULL; ++i) sum++;
#pragma omp distribute
        for (short i = 5; i >= -5; --i) sum += 1;
#pragma omp distribute dist_schedule(static, 3)
        for (int* cell = cells; cell != cells + 50; ++cell) *cell += 1;
#pragma omp distribute
        for (int i = 9; i < 3; ++i) sum += 1000000;
    }
    long expected = 0 + 25 + 50 + 75 + 5 + 11;
    for (long i = 100; i > -100; i -= 7) expected += i;
    EQUAL(sum, expected);
    for (int i = 0; i < 50; ++i) EQUAL(cells[i], 1);
}

/* private, firstprivate and lastprivate; the last iteration is the sequentially last one. */
static void clauses(void) {
    EACH_CASE(count, teams) {
        if (count == 0) continue;
        int own = 5, first = 6, last = -1, behind = -1;
        int cells[2] = {-1, -1};
#pragma omp teams distribute num_teams(teams) private(own) firstprivate(first) lastprivate(last, cells)
        for (int i = 0; i < count; ++i) {
            own = i;
            last = own + first;
            cells[0] = i;
            cells[1] = -i;
        }
        EQUAL(last, count - 1 + 6);
        EQUAL(cells[0] - cells[1], 2 * (count - 1));
        EQUAL(own, 5);
#pragma omp target teams distribute num_teams(teams) dist_schedule(static, 2) map(tofrom : behind) lastprivate(behind)
        for (int i = 0; i < count; ++i) behind = i;
        EQUAL(behind, count - 1);
    }
}

/* collapse makes one iteration space of several loops, whatever their bounds. */
static void collapsed(void) {
    for (int teams = 1; teams <= 4; ++teams) {
        int last = -1;
        forget();
#pragma omp teams distribute num_teams(teams) collapse(2) dist_schedule(static, 3) lastprivate(last)
        for (int i = 0; i < 10; ++i)
            for (int k = 0; k < 20; ++k) {
                ran(i * 20 + k);
                last = i * 20 + k;
            }
        EACH_ONCE(200);
        EQUAL(last, 199);
        forget();
#pragma omp teams distribute parallel for num_teams(teams) num_threads(2) collapse(3)
        for (int i = 4; i >= 0; --i)
            for (long k = 0; k < 8; k += 2)
                for (unsigned j = 0; j < 5; ++j) ran(i * 20 + (int)k / 2 * 5 + (int)j);
        EACH_ONCE(100);
        int triangle = 0;
#pragma omp teams distribute num_teams(teams) collapse(2) reduction(+ : triangle)
        for (int i = 0; i < 20; ++i)
            for (int k = i; k < 20; ++k) triangle++;
        EQUAL(triangle, 210);
    }
}

/* distribute parallel for: the threads of a team share the team's iterations, with each
 * schedule. */
static void with_parallel_for(void) {
    EACH_CASE(count, teams) {
        for (int kind = 1; kind <= 4; ++kind) {
            omp_set_schedule((omp_sched_t)kind, kind == 2 ? 3 : 0);
            forget();
#pragma omp teams distribute parallel for num_teams(teams) num_threads(3) schedule(runtime)
            for (int i = 0; i < count; ++i) ran(i);
            EACH_ONCE(count);
        }
        forget();
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(2) dist_schedule(static, 16) \
    schedule(guided)
        for (int i = 0; i < count; ++i) ran(i);
        EACH_ONCE(count);
        forget();
#pragma omp teams num_teams(teams)
        {
#pragma omp distribute parallel for simd num_threads(2) schedule(dynamic, 2) simdlen(4)
            for (int i = 0; i < count; ++i) ran(i);
        }
        EACH_ONCE(count);
    }
}

/* The threads of a team run the chunk of distribute that the team has, and all of them return its
 * number. */
static void in_its_team(void) {
    for (int teams = 1; teams <= 4; ++teams) {
        forget();
#pragma omp teams distribute parallel for num_teams(teams) num_threads(3) dist_schedule(static, 10) schedule(static, 1)
        for (int i = 0; i < 200; ++i) ran(i);
        int wrong = 0;
        for (int i = 0; i < 200; ++i) wrong += by[i] != i / 10 % teams;
        EQUAL(wrong, 0);
    }
}

/* Reductions, lastprivate and conditions of the composite construct. */
static void composite_clauses(void) {
    EACH_CASE(count, teams) {
        long sum = 3, product = 1;
        int greatest = -1, last = -1, first = 4;
#pragma omp teams distribute parallel for num_teams(teams) num_threads(3) reduction(+ : sum) reduction(max : greatest) \
    firstprivate(first) lastprivate(last)
        for (int i = 0; i < count; ++i) {
            sum += i + first - 4;
            greatest = i;
            last = i;
        }
        EQUAL(sum, 3 + (long)count * (count - 1) / 2);
        EQUAL(greatest, count - 1);
        if (count > 0) EQUAL(last, count - 1);
#pragma omp teams distribute parallel for simd num_teams(teams) if (parallel : count > 5) reduction(* : product)
        for (int i = 0; i < count; ++i) product *= i % 100 == 1 ? 2 : 1;
        EQUAL(product, count > 901 ? 1024 : count > 1 ? 2 : 1);
        int lanes = 0;
#pragma omp teams distribute simd num_teams(teams) reduction(+ : lanes) safelen(8)
        for (int i = 0; i < count; ++i) lanes += 2;
        EQUAL(lanes, 2 * count);
    }
}

/* loop, which lets the runtime choose, bound to the league, to a team or to a thread;
 * order(concurrent). */
static void loops(void) {
    EACH_CASE(count, teams) {
        forget();
#pragma omp teams loop num_teams(teams)
        for (int i = 0; i < count; ++i) ran(i);
        EACH_ONCE(count);
        forget();
#pragma omp teams num_teams(teams)
        {
#pragma omp loop bind(teams)
            for (int i = 0; i < count; ++i) ran(i);
        }
        EACH_ONCE(count);
        long sum = 0;
        int at = 0;
#pragma omp target teams loop num_teams(teams) map(tofrom : sum, at) reduction(+ : sum) lastprivate(at)
        for (at = 0; at < count; ++at) sum += at;
        EQUAL(sum, (long)count * (count - 1) / 2);
        if (count > 0) EQUAL(at, count);
        sum = 0;
#pragma omp target parallel loop num_threads(3) map(tofrom : sum) reduction(+ : sum)
        for (int i = 0; i < count; ++i) sum += i;
#pragma omp teams distribute num_teams(teams) order(concurrent) reduction(+ : sum)
        for (int i = 0; i < count; ++i) {
#pragma omp loop bind(thread) reduction(+ : sum)
            for (int k = 0; k < 2; ++k) sum += i;
        }
        EQUAL(sum, 3L * count * (count - 1) / 2);
    }
}

/* There is no barrier after a distribute, and several may follow each other, with regions between
 * them. */
static void in_a_row(void) {
    forget();
    int inner = 0;
#pragma omp teams num_teams(3) reduction(+ : inner)
    {
#pragma omp distribute
        for (int i = 0; i < 300; ++i) ran(i);
#pragma omp parallel num_threads(2) reduction(+ : inner)
        inner++;
#pragma omp distribute dist_schedule(static, 5)
        for (int i = 300; i < 600; ++i) ran(i);
#pragma omp distribute parallel for num_threads(2)
        for (int i = 600; i < most; ++i) ran(i);
    }
    EACH_ONCE(most);
    EQUAL(inner, 6);
}

/* distribute within a function that a league calls binds to that league; outside of all leagues
 * there is one team. */
static void orphan(int count) {
#pragma omp distribute
    for (int i = 0; i < count; ++i) ran(i);
}
static void orphans(void) {
    forget();
#pragma omp teams num_teams(4)
    orphan(77);
    EACH_ONCE(77);
    forget();
    orphan(77);
    EACH_ONCE(77);
}

int main(void) {
    every_schedule();
    static_parts();
    static_chunks();
    reproducible();
    variables();
    clauses();
    collapsed();
    with_parallel_for();
    in_its_team();
    composite_clauses();
    loops();
    in_a_row();
    orphans();
    return verdict();
}
