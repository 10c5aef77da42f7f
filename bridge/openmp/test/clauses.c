/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Clauses of parallel, for, sections, single, scope, masked, simd, loop: the values of the
 * variables, and which thread runs what. */
#include <complex.h>
#include <string.h>

#include "check.h"

#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" /* of copies that gcc makes for conditional lastprivate */

/* ---- reduction: operators, types, arrays, sections, the program's own, of tasks, of scans ---- */

#define SUM(type)                                                                                        \
    do {                                                                                                 \
        type sum = 1, product = 1, difference = 0;                                                       \
        _Pragma("omp parallel for num_threads(size) reduction(+:sum) reduction(*:product) reduction(-:difference)") \
        for (int i = 1; i <= 6; ++i) {                                                                   \
            sum += (type)i;                                                                              \
            product *= (type)(i % 3 + 1);                                                                \
            difference -= (type)i;                                                                       \
        }                                                                                                \
        CHECK(sum == (type)22);                                                                          \
        CHECK(product == (type)36);                                                                      \
        CHECK(difference == (type)-21);                                                                  \
    } while (0)
#define EXTREMES(type)                                                                                   \
    do {                                                                                                 \
        type least = 100, most = 0;                                                                      \
        _Pragma("omp parallel for num_threads(size) reduction(min : least) reduction(max : most)")       \
        for (int i = 3; i < 90; ++i) {                                                                   \
            if ((type)i < least) least = (type)i;                                                        \
            if ((type)i > most) most = (type)i;                                                          \
        }                                                                                                \
        CHECK(least == (type)3 && most == (type)89);                                                     \
    } while (0)
#define BITS(type)                                                                                       \
    do {                                                                                                 \
        type every = (type)-1, some = 0, odd = 0;                                                        \
        _Pragma("omp parallel for num_threads(size) reduction(&:every) reduction(|:some) reduction(^:odd)")     \
        for (int i = 0; i < 7; ++i) {                                                                    \
            every &= (type)~(1 << i);                                                                    \
            some |= (type)(1 << i);                                                                      \
            odd ^= (type)(3 << i);                                                                       \
        }                                                                                                \
        CHECK(every == (type)(-1 & ~0x7f) && some == (type)0x7f && odd == (type)0x81);                   \
    } while (0)

struct pair {
    long key;
    int count;
};
static void merge(struct pair* into, const struct pair* from) {
    if (from->key > into->key) into->key = from->key;
    into->count += from->count;
}
#pragma omp declare reduction(merged : struct pair : merge(&omp_out, &omp_in)) initializer(omp_priv = {-1, 0})
#pragma omp declare reduction(longest : int : omp_out = omp_in > omp_out ? omp_in : omp_out) \
    initializer(omp_priv = omp_orig - omp_orig)

static void reductions(void) {
    EACH_SIZE(size) {
        SUM(signed char);
        SUM(unsigned short);
        SUM(int);
        SUM(unsigned long);
        SUM(long long);
        SUM(float);
        SUM(double);
        SUM(long double);
        SUM(_Complex float);
        SUM(_Complex double);
        EXTREMES(char);
        EXTREMES(unsigned);
        EXTREMES(long);
        EXTREMES(float);
        EXTREMES(long double);
        BITS(unsigned char);
        BITS(int);
        BITS(unsigned long long);
        _Bool all = 1, any = 0;
#pragma omp parallel for num_threads(size) reduction(&& : all) reduction(|| : any)
        for (int i = 0; i < 50; ++i) {
            all = all && i < 50;
            any = any || i == 49;
        }
        CHECK(all && any);

        long whole[10] = {0}, cells[4][5] = {{0}}, *pointer = whole;
        struct pair pair = {0, 0};
        int found = 3;
#pragma omp parallel for num_threads(size) reduction(+ : whole) reduction(+ : cells[1 : 2][ : 5]) \
    reduction(merged : pair) reduction(longest : found)
        for (int i = 0; i < 60; ++i) {
            whole[i % 10] += i;
            cells[1 + i % 2][i % 5] += 1;
            const struct pair one = {i * 7 % 60, 1};
            merge(&pair, &one);
            if (i > found) found = i;
        }
        for (int i = 0; i < 10; ++i) EQUAL(whole[i], 6 * i + 150);
        for (int i = 0; i < 5; ++i) EQUAL(cells[1][i] + cells[2][i], 12);
        EQUAL(pair.key, 59);
        EQUAL(pair.count, 60);
        EQUAL(found, 59);
        const int some = 4;
#pragma omp parallel num_threads(size) reduction(+ : pointer[2 : some])
        for (int i = 2; i < 6; ++i) pointer[i] += 1;
        for (int i = 0; i < 10; ++i) EQUAL(whole[i], 6 * i + 150 + (i >= 2 && i < 6 ? size : 0));

        long by_default = 0, scoped = 0;
#pragma omp parallel num_threads(size)
        {
#pragma omp for reduction(default, + : by_default) nowait
            for (int i = 0; i < 10; ++i) by_default += i;
#pragma omp scope reduction(+ : scoped) nowait
            scoped += 1;
        }
        EQUAL(by_default, 45);
        EQUAL(scoped, size);
    }
}

static void tasks_reduce(void) {
    EACH_SIZE(size) {
        long cells[3] = {0}, nested = 0;
        struct pair pair = {0, 0};
#pragma omp parallel num_threads(size) reduction(task, + : cells)
        {
#pragma omp task in_reduction(+ : cells)
            cells[omp_get_level()] += 1;
#pragma omp single
#pragma omp taskgroup task_reduction(merged : pair) task_reduction(+ : nested)
            {
#pragma omp taskloop in_reduction(+ : nested) num_tasks(4) nogroup
                for (int i = 0; i < 10; ++i) nested += i;
#pragma omp taskgroup task_reduction(+ : nested)
                for (int i = 0; i < 10; ++i) {
#pragma omp task in_reduction(merged : pair) in_reduction(+ : nested)
                    {
                        const struct pair one = {i, 1};
                        merge(&pair, &one);
                        nested += 100;
                    }
                }
            }
        }
        EQUAL(cells[1], size);
        EQUAL(pair.key, 9);
        EQUAL(pair.count, 10);
        EQUAL(nested, 1045);
        long sum = 0, least = 1000;
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskloop reduction(+ : sum) reduction(min : least) grainsize(4)
        for (int i = 5; i < 50; ++i) {
            sum += i;
            if (i < least) least = i;
        }
        EQUAL(sum, 1215);
        EQUAL(least, 5);
        long guided = 0, ull = 0, runtime = 0, turned = 0;
#pragma omp parallel num_threads(size)
        {
#pragma omp for reduction(task, + : guided) schedule(guided)
            for (int i = 0; i < 20; ++i) {
#pragma omp task in_reduction(+ : guided)
                guided += i;
            }
#pragma omp for reduction(task, + : ull) schedule(monotonic : dynamic)
            for (unsigned long long i = 0; i < 20; ++i) {
#pragma omp task in_reduction(+ : ull)
                ull += (long)i;
            }
#pragma omp for reduction(task, + : runtime) schedule(runtime)
            for (unsigned long long i = 0; i < 20; ++i) runtime += (long)i;
#pragma omp for reduction(task, + : turned) ordered schedule(static, 2)
            for (int i = 0; i < 20; ++i) {
#pragma omp ordered
                turned += i;
            }
        }
        EQUAL(guided, 190);
        EQUAL(ull, 190);
        EQUAL(runtime, 190);
        EQUAL(turned, 190);
    }
}

static void scans(void) {
    EACH_SIZE(size) {
        int values[64], before[64], upto[64], exclusive = 0, inclusive = 5;
        for (int i = 0; i < 64; ++i) values[i] = i * 3 % 11;
#pragma omp parallel num_threads(size)
        {
#pragma omp for reduction(inscan, + : exclusive)
            for (int i = 0; i < 64; ++i) {
                before[i] = exclusive;
#pragma omp scan exclusive(exclusive)
                exclusive += values[i];
            }
#pragma omp for reduction(inscan, + : inclusive)
            for (int i = 0; i < 64; ++i) {
                inclusive += values[i];
#pragma omp scan inclusive(inclusive)
                upto[i] = inclusive;
            }
        }
        int sum = 0, right = 0;
        for (int i = 0; i < 64; ++i) {
            right += before[i] == sum;
            sum += values[i];
            right += upto[i] == sum + 5;
        }
        EQUAL(right, 128);
        EQUAL(exclusive, sum);
        EQUAL(inclusive, sum + 5);
        int simd = 0;
#pragma omp simd reduction(inscan, + : simd)
        for (int i = 0; i < 64; ++i) {
            simd += values[i];
#pragma omp scan inclusive(simd)
            upto[i] = simd;
        }
        EQUAL(upto[63], sum);
    }
}

/* ---- private, firstprivate, lastprivate, linear, copyprivate, copyin ---- */

static int kept = 1;
static char block[100];
#pragma omp threadprivate(kept, block)

static void variables(void) {
    EACH_SIZE(size) {
        int first = 7, last = 0, both = 3, step = 0, other = 0, sectioned = 0;
        int cells[4] = {1, 2, 3, 4};
#pragma omp parallel for num_threads(size) firstprivate(first, cells) lastprivate(last) firstprivate(both) \
    lastprivate(both) linear(step : 2) schedule(dynamic, 3)
        for (int i = 0; i < 40; ++i) {
            CHECK(first == 7 && cells[3] == 4);
            CHECK(step == 2 * i);
            last = i;
            both = 3 + i;
            step += 2;
        }
        EQUAL(last, 39);
        EQUAL(both, 42);
        EQUAL(step, 80);
#pragma omp parallel num_threads(size)
#pragma omp sections lastprivate(sectioned) firstprivate(first) private(other) nowait
        {
            sectioned = first;
#pragma omp section
            {
                other = 2;
                sectioned = other + first;
            }
        }
        EQUAL(sectioned, 9);
        EQUAL(other, 0);

        int found = -1, in_section = -1, in_order = -1, turn = -1;
#pragma omp parallel num_threads(size)
        {
#pragma omp for lastprivate(conditional : found) schedule(guided)
            for (int i = 0; i < 100; ++i)
                if (i % 9 == 4) found = i;
#pragma omp for ordered schedule(static, 2) lastprivate(conditional : in_order)
            for (int i = 0; i < 100; ++i) {
                if (i == 31) in_order = i;
#pragma omp ordered
                turn = i;
            }
#pragma omp sections lastprivate(conditional : in_section)
            {
#pragma omp section
                in_section = 1;
#pragma omp section
                if (size > 100) in_section = 2;
            }
        }
        EQUAL(found, 94);
        EQUAL(in_section, 1);
        EQUAL(in_order, 31);
        EQUAL(turn, 99);
        int runtime = -1;
        unsigned long long far = 0;
#pragma omp parallel num_threads(size)
        {
#pragma omp for lastprivate(conditional : runtime) schedule(runtime)
            for (int i = 0; i < 100; ++i)
                if (i % 7 == 1) runtime = i;
#pragma omp for lastprivate(conditional : far) schedule(static)
            for (unsigned long long i = 1ULL << 63; i < (1ULL << 63) + 50; ++i)
                if (i % 2 == 0) far = i;
        }
        EQUAL(runtime, 99);
        CHECK(far == (1ULL << 63) + 48);

        int told = 0, heard = 0;
        double pair[2] = {0, 0};
#pragma omp parallel num_threads(size) private(told) firstprivate(pair) reduction(+ : heard)
        {
#pragma omp single copyprivate(told, pair, kept)
            {
                told = 12;
                pair[1] = 0.5;
                kept = 77;
            }
            heard += told == 12 && pair[1] == 0.5 && kept == 77;
        }
        EQUAL(heard, size);
        kept = 5;
        memset(block, 'x', sizeof block);
        int copied = 0;
#pragma omp parallel num_threads(size) copyin(kept, block) reduction(+ : copied)
        {
            copied += kept == 5 && block[99] == 'x';
            kept = 1000 + omp_get_thread_num();
        }
        EQUAL(copied, size);
        int stayed = 0;
#pragma omp parallel num_threads(size) reduction(+ : stayed)
        stayed += kept == 1000 + omp_get_thread_num();
        EQUAL(stayed, size);
    }
}

/* ---- if, num_threads, proc_bind, default ---- */

static void parallel_clauses(void) {
    for (int yes = 0; yes < 2; ++yes) {
        int threads = 0;
#pragma omp parallel if (parallel : yes) num_threads(3) default(none) shared(threads)
#pragma omp atomic
        threads++;
        EQUAL(threads, yes ? 3 : 1);
    }
    int threads = 0;
#pragma omp parallel num_threads(2) proc_bind(close) reduction(+ : threads)
    threads++;
#pragma omp parallel num_threads(2) proc_bind(spread) reduction(+ : threads)
    threads++;
#pragma omp parallel num_threads(2) proc_bind(primary) reduction(+ : threads)
    threads++;
#pragma omp parallel num_threads(2) proc_bind(master) reduction(+ : threads)
    threads++;
    EQUAL(threads, 8);
    omp_set_num_threads(5);
    threads = 0;
#pragma omp parallel reduction(+ : threads)
    threads++;
    EQUAL(threads, 5);
}

/* ---- loops ---- */

static int grid[12][11][10];

static void loop_clauses(void) {
    EACH_SIZE(size) {
        memset(grid, 0, sizeof grid);
        int last = -1, triangle = 0, none = 0, simd = 0, bound = 0, concurrent = 0, held = 0;
#pragma omp parallel num_threads(size)
        {
#pragma omp for collapse(3) schedule(static, 7) lastprivate(last) nowait
            for (int a = 0; a < 12; ++a)
                for (long b = 10; b >= 0; --b)
                    for (unsigned short c = 0; c < 10; c = (unsigned short)(c + 1)) {
                        grid[a][b][c]++;
                        last = a + (int)b + c;
                    }
#pragma omp for collapse(2) reduction(+ : triangle)
            for (int a = 0; a < 20; ++a)
                for (int b = a; b < 20; ++b) triangle++;
#pragma omp for collapse(2) reduction(+ : none)
            for (int a = 0; a < 20; ++a)
                for (int b = 7; b < 7; ++b) none++;
#pragma omp for simd schedule(simd : dynamic, 5) reduction(+ : simd) safelen(8) simdlen(4)
            for (int i = 0; i < 100; ++i) simd += i;
#pragma omp for order(concurrent) reduction(+ : concurrent)
            for (int i = 0; i < 100; ++i) concurrent += i;
#pragma omp loop bind(parallel) reduction(+ : bound) collapse(2)
            for (int i = 0; i < 10; ++i)
                for (int k = 0; k < 10; ++k) bound += i;
#pragma omp for ordered schedule(monotonic : dynamic, 2)
            for (int i = 0; i < 30; ++i) {
#pragma omp ordered threads
                held = held * 7 % 1000 + i;
            }
        }
        int right = 0, turned = 0;
        for (int a = 0; a < 12; ++a)
            for (int b = 0; b < 11; ++b)
                for (int c = 0; c < 10; ++c) right += grid[a][b][c] == 1;
        for (int i = 0; i < 30; ++i) turned = turned * 7 % 1000 + i;
        EQUAL(right, 1320);
        EQUAL(last, 11 + 0 + 9);
        EQUAL(triangle, 210);
        EQUAL(none, 0);
        EQUAL(simd, 4950);
        EQUAL(concurrent, 4950);
        EQUAL(bound, 450);
        EQUAL(held, turned);
    }
    /* static without a chunk: one part for each thread, in the order of the numbers; static with a
     * chunk: by turns. A program may rely on both. */
    int owner[64], turns[64];
#pragma omp parallel num_threads(4)
    {
#pragma omp for schedule(static)
        for (int i = 0; i < 64; ++i) owner[i] = omp_get_thread_num();
#pragma omp for schedule(static, 4)
        for (int i = 0; i < 64; ++i) turns[i] = omp_get_thread_num();
    }
    int right = 0;
    for (int i = 0; i < 64; ++i) right += owner[i] == i / 16 && turns[i] == i / 4 % 4;
    EQUAL(right, 64);
    /* Both static schedules, by the run-time schedule. */
    omp_set_schedule(omp_sched_static, 4);
#pragma omp parallel for num_threads(4) schedule(runtime)
    for (int i = 0; i < 64; ++i) turns[i] = omp_get_thread_num();
    omp_set_schedule(omp_sched_static, 0);
#pragma omp parallel for num_threads(4) schedule(runtime)
    for (int i = 0; i < 64; ++i) owner[i] = omp_get_thread_num();
    right = 0;
    for (int i = 0; i < 64; ++i) right += owner[i] == i / 16 && turns[i] == i / 4 % 4;
    EQUAL(right, 64);
    /* monotonic: each thread's iterations rise. */
    int falls = 0;
#pragma omp parallel num_threads(4) reduction(+ : falls)
    {
        int before = -1;
#pragma omp for schedule(monotonic : dynamic)
        for (int i = 0; i < 200; ++i) {
            falls += i <= before;
            before = i;
        }
    }
    EQUAL(falls, 0);
}

static void unsigned_loops(void) {
    EACH_SIZE(size) {
        unsigned long long sums[8] = {0};
#pragma omp parallel num_threads(size)
        {
#pragma omp for schedule(dynamic, 3) reduction(+ : sums)
            for (unsigned long long i = 1; i < 100; i += 3) sums[0] += i;
#pragma omp for schedule(guided) reduction(+ : sums)
            for (unsigned long long i = 1; i < 100; i += 3) sums[1] += i;
#pragma omp for schedule(runtime) reduction(+ : sums)
            for (unsigned long long i = 100; i > 1; i -= 3) sums[2] += i - 3;
#pragma omp for schedule(monotonic : guided, 2) reduction(+ : sums)
            for (unsigned long long i = 1; i < 100; i += 3) sums[3] += i;
#pragma omp for schedule(monotonic : runtime) reduction(+ : sums)
            for (unsigned long long i = 1; i < 100; i += 3) sums[4] += i;
#pragma omp for schedule(nonmonotonic : runtime) reduction(+ : sums)
            for (unsigned long long i = 1; i < 100; i += 3) sums[5] += i;
#pragma omp for ordered schedule(static, 2) reduction(+ : sums)
            for (unsigned long long i = 1; i < 100; i += 3) {
#pragma omp ordered
                sums[6] += i;
            }
#pragma omp for ordered schedule(guided) reduction(+ : sums)
            for (unsigned long long i = 1; i < 100; i += 3) {
#pragma omp ordered
                sums[7] += i;
            }
        }
        for (int i = 0; i < 8; ++i) EQUAL(sums[i], 1617);
    }
}

/* ---- masked, master, combined forms ---- */

static void combined(void) {
    int ran = 0, filtered = 0, mine = -1;
#pragma omp parallel masked num_threads(4) filter(3)
    {
        ran++;
        mine = omp_get_thread_num();
    }
    EQUAL(ran, 1);
    EQUAL(mine, 3);
#pragma omp parallel master num_threads(4)
    ran++;
    EQUAL(ran, 2);
    const int nobody = 9;
#pragma omp parallel num_threads(4)
#pragma omp masked filter(nobody)
    filtered++;
    EQUAL(filtered, 0);
    long sum = 0;
#pragma omp parallel masked taskloop num_threads(3) reduction(+ : sum)
    for (int i = 0; i < 100; ++i) sum += i;
#pragma omp parallel master taskloop simd num_threads(3) reduction(+ : sum) grainsize(9)
    for (int i = 0; i < 100; ++i) sum += i;
#pragma omp parallel loop num_threads(3) reduction(+ : sum)
    for (int i = 0; i < 100; ++i) sum += i;
#pragma omp parallel for simd num_threads(3) reduction(+ : sum) if (simd : 0)
    for (int i = 0; i < 100; ++i) sum += i;
#pragma omp parallel sections num_threads(3) reduction(+ : sum)
    {
        sum += 1;
#pragma omp section
        sum += 2;
#pragma omp section
        sum += 3;
    }
    EQUAL(sum, 4 * 4950 + 6);
}

int main(void) {
    reductions();
    tasks_reduce();
    scans();
    variables();
    parallel_clauses();
    loop_clauses();
    unsigned_loops();
    combined();
    return verdict();
}
