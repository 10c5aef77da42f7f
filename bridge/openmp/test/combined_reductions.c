/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Task reductions where constructs are combined or nested, or ask for memory of a particular
 * allocator. */

#include "check.h"

enum { some = 24 };

static void regions_with_taskloops(int size) {
    int sum = 1, in = 0;
#pragma omp parallel master taskloop num_threads(size) reduction(+ : sum)
    for (int i = 0; i < some; ++i) sum++;
    EQUAL(sum, 1 + some);
#pragma omp parallel masked taskloop simd num_threads(size) reduction(+ : sum)
    for (int i = 0; i < some; ++i) sum++;
    EQUAL(sum, 1 + 2 * some);
#pragma omp parallel num_threads(size) reduction(task, + : sum)
#pragma omp masked taskloop in_reduction(+ : sum)
    for (int i = 0; i < some; ++i) sum++;
    EQUAL(sum, 1 + 3 * some);
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : in)
    {
#pragma omp taskloop simd in_reduction(+ : in) nogroup
        for (int i = 0; i < some; ++i) in++;
#pragma omp taskloop in_reduction(+ : in) collapse(2) final(1)
        for (int i = 0; i < 3; ++i) {
            for (int k = 0; k < 4; ++k) in++;
        }
    }
    EQUAL(in, some + 12);
}

static void regions(int size) {
    int sum = 0;
#pragma omp parallel master num_threads(size) reduction(task, + : sum)
    {
#pragma omp task in_reduction(+ : sum)
        sum += 2;
    }
    EQUAL(sum, 2);
#pragma omp parallel for simd num_threads(size) reduction(+ : sum)
    for (int i = 0; i < some; ++i) sum++;
    EQUAL(sum, 2 + some);
#pragma omp parallel if (0) reduction(task, + : sum)
    {
#pragma omp task in_reduction(+ : sum)
        sum++;
    }
    EQUAL(sum, 3 + some);
#pragma omp target teams distribute parallel for num_teams(2) thread_limit(3) reduction(task, + : sum) map(tofrom : sum)
    for (int i = 0; i < some; ++i) {
        sum++;
#pragma omp task in_reduction(+ : sum)
        sum++;
    }
    EQUAL(sum, 3 + 3 * some);
}

/* A scope, and in it constructs whose tasks take part in both reductions. */
static void constructs_in_a_scope(int size) {
    int outer = 0, looped = 0, sectioned = 0;
#pragma omp parallel num_threads(size)
#pragma omp scope reduction(task, + : outer)
    {
#pragma omp for reduction(task, + : looped)
        for (int i = 0; i < some; ++i) {
#pragma omp task in_reduction(+ : outer, looped)
            {
                outer += 1;
                looped += 2;
            }
#pragma omp taskloop in_reduction(+ : outer) grainsize(1)
            for (int k = 0; k < 3; ++k) outer++;
        }
#pragma omp sections reduction(task, + : sectioned)
        {
#pragma omp section
            {
#pragma omp task in_reduction(+ : outer, sectioned)
                {
                    outer++;
                    sectioned++;
                }
            }
        }
#pragma omp task in_reduction(+ : outer)
        outer++;
    }
    EQUAL(outer, 4 * some + 1 + size);
    EQUAL(looped, 2 * some);
    EQUAL(sectioned, 1);
}

/* An item of a region's reduction is reduced again within it, by the constructs that its threads
   share and by each thread's groups. */
static void again_within(int size) {
    int sum = 0;
    static int shared;
    shared = 0;
#pragma omp parallel num_threads(size) reduction(task, + : sum)
    {
        int own = 0;
#pragma omp for reduction(task, + : shared)
        for (int i = 0; i < some; ++i) {
#pragma omp task in_reduction(+ : shared, sum)
            {
                shared++;
                sum++;
            }
        }
#pragma omp taskgroup task_reduction(+ : own)
        for (int i = 0; i < 5; ++i) {
#pragma omp task in_reduction(+ : own, sum)
            {
                own++;
                sum++;
            }
        }
        EQUAL(own, 5);
    }
    EQUAL(shared, some);
    EQUAL(sum, some + 5 * size);
}

static void memory(int size) {
    double looped = 0, grouped = 0;
    const omp_alloctrait_t trait = {omp_atk_alignment, 512};
    const omp_allocator_handle_t allocator = omp_init_allocator(omp_default_mem_space, 1, &trait);
#pragma omp parallel num_threads(size)
    {
#pragma omp for reduction(task, + : looped) allocate(align(256) : looped)
        for (int i = 0; i < some; ++i) {
#pragma omp task in_reduction(+ : looped)
            looped += 1;
        }
#pragma omp single
#pragma omp taskgroup task_reduction(+ : grouped) allocate(allocator : grouped)
        for (int i = 0; i < some; ++i) {
#pragma omp task in_reduction(+ : grouped)
            grouped += 1;
        }
    }
    CHECK(looped == some && grouped == some);
    omp_destroy_allocator(allocator);
}

int main(void) {
    EACH_SIZE(size) {
        regions_with_taskloops(size);
        regions(size);
        constructs_in_a_scope(size);
        again_within(size);
        memory(size);
    }
    return verdict();
}
