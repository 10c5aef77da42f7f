/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Parallel regions: how many threads, which numbers, and what they keep from one region to the
 * next. */
#include "check.h"

static int kept = 7;
#pragma omp threadprivate(kept)

static void sizes_and_numbers(void) {
    EACH_SIZE(size) {
        int seen[8] = {0}, agreed = 0;
#pragma omp parallel num_threads(size) reduction(+ : agreed)
        {
            agreed += omp_get_num_threads() == size;
#pragma omp atomic
            seen[omp_get_thread_num()]++;
            CHECK(omp_get_level() == 1);
            CHECK(omp_in_parallel() == (size > 1));
            CHECK(omp_get_ancestor_thread_num(1) == omp_get_thread_num());
            CHECK(omp_get_team_size(1) == size);
        }
        EQUAL(agreed, size);
        for (int i = 0; i < size; ++i) EQUAL(seen[i], 1);
    }
    EQUAL(omp_get_level(), 0);
    EQUAL(omp_get_num_threads(), 1);
    EQUAL(omp_get_ancestor_thread_num(0), 0);
    EQUAL(omp_get_ancestor_thread_num(1), -1);
    EQUAL(omp_get_team_size(0), 1);
}

static void if_clause(void) {
    int threads = 0;
#pragma omp parallel num_threads(4) if (threads == 1)
#pragma omp atomic
    threads++;
    EQUAL(threads, 1);
}

static void clauses(void) {
    int first = 5, shared = 0, sum = 0, product = 1, least = 100, most = -100, every = 1, some = 0;
    unsigned bits = 0, both = ~0U;
#pragma omp parallel num_threads(4) firstprivate(first) shared(shared) reduction(+ : sum) reduction(* : product) \
    reduction(min : least) reduction(max : most) reduction(| : bits) reduction(& : both) reduction(&& : every) \
    reduction(|| : some)
    {
        const int me = omp_get_thread_num();
        CHECK(first == 5);
        first = me;
#pragma omp atomic
        shared += 1;
        sum += me;
        product *= me + 1;
        least = me;
        most = me;
        bits |= 1U << me;
        both &= ~(1U << me);
        every = every && me < 4;
        some = some || me == 3;
    }
    EQUAL(first, 5);
    EQUAL(shared, 4);
    EQUAL(sum, 6);
    EQUAL(product, 24);
    EQUAL(least, 0);
    EQUAL(most, 3);
    EQUAL(bits, 15);
    EQUAL(both, ~15U);
    CHECK(every && some);
}

/* Thread i is the same thread in all regions of one size: it keeps its threadprivate variables. */
static void threadprivate_persists(void) {
#pragma omp parallel num_threads(8)
    kept = 100 + omp_get_thread_num();
    int same = 0;
    for (int round = 0; round < 20; ++round) {
#pragma omp parallel num_threads(8) reduction(+ : same)
        same += kept == 100 + omp_get_thread_num();
    }
    EQUAL(same, 160);
    kept = 42;
    int copied = 0;
#pragma omp parallel num_threads(8) copyin(kept) reduction(+ : copied)
    copied += kept == 42;
    EQUAL(copied, 8);
}

static void barriers(void) {
    EACH_SIZE(size) {
        int count = 0, bad = 0;
#pragma omp parallel num_threads(size) reduction(+ : bad)
        for (int round = 0; round < 200; ++round) {
#pragma omp atomic
            count++;
#pragma omp barrier
            int seen;
#pragma omp atomic read
            seen = count;
            bad += seen != size * (round + 1);
#pragma omp barrier
        }
        EQUAL(bad, 0);
    }
}

static void masters(void) {
    int master = 0, masked = 0;
#pragma omp parallel num_threads(4)
    {
#pragma omp master
        {
            CHECK(omp_get_thread_num() == 0);
            master++;
        }
#pragma omp masked filter(2)
        {
            CHECK(omp_get_thread_num() == 2);
            masked++;
        }
    }
    EQUAL(master, 1);
    EQUAL(masked, 1);
}

/* Regions of changing sizes, one after the other. */
static void sizes_change(void) {
    for (int round = 0; round < 300; ++round) {
        const int size = 1 + round * 7 % 9;
        int count = 0;
#pragma omp parallel num_threads(size) reduction(+ : count)
        count++;
        EQUAL(count, size);
    }
}

/* Large teams: all threads are there when a barrier ends, and their tasks have run, even where the
 * region before had more threads, which are woken and left out. */
static void crowds_meet(void) {
    for (int round = 0; round < 60; ++round) {
        const int size = round % 3 == 0 ? 33 : 5 + round * 7 % 24;
        int here = 0, ran = 0, bad = 0;
#pragma omp parallel num_threads(size) reduction(+ : bad)
        for (int turn = 1; turn <= 3; ++turn) {
#pragma omp atomic
            here++;
#pragma omp task shared(ran)
            {
#pragma omp atomic
                ran++;
            }
#pragma omp barrier
            int seen, done;
#pragma omp atomic read
            seen = here;
#pragma omp atomic read
            done = ran;
            bad += seen != size * turn || done != size * turn;
#pragma omp barrier
        }
        EQUAL(bad, 0);
    }
}

int main(void) {
    sizes_and_numbers();
    if_clause();
    clauses();
    threadprivate_persists();
    barriers();
    masters();
    sizes_change();
    crowds_meet();
    return verdict();
}
