/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Allocators in regions: def-allocator-var, the allocate clause on every construct that has it, and
   pools that several threads draw from at once. */
#include <stdint.h>
#include <string.h>

#include "check.h"

enum { pool_bytes = 65536, most_overhead = 296 };

static omp_allocator_handle_t pool, aligned_pool;

static omp_allocator_handle_t of_pool(size_t bytes, size_t alignment, omp_uintptr_t fallback) {
    const omp_alloctrait_t traits[] = {
        {omp_atk_pool_size, bytes}, {omp_atk_alignment, alignment}, {omp_atk_fallback, fallback}};
    return omp_init_allocator(omp_default_mem_space, 3, traits);
}

static int is_whole(omp_allocator_handle_t allocator) {
    void* const block = omp_alloc(pool_bytes - most_overhead, allocator);
    omp_free(block, allocator);
    return block != NULL;
}

static int is_aligned(const volatile void* variable, size_t alignment) { return (uintptr_t)variable % alignment == 0; }

/* ---- def-allocator-var ---- */

static int is_default(omp_allocator_handle_t allocator) { return omp_get_default_allocator() == allocator; }

static omp_allocator_handle_t of_thread(int number) { return (omp_allocator_handle_t)(number % 8 + 1); }

/* A region's implicit tasks begin with the default allocator of the implicit task from which the
 * region is met, and change their own. */
static void default_allocator(int threads) {
    CHECK(is_default(omp_default_mem_alloc));
    omp_set_default_allocator(omp_null_allocator);
    CHECK(is_default(omp_default_mem_alloc));
    omp_set_default_allocator(omp_const_mem_alloc);
#pragma omp parallel num_threads(threads)
    {
        const omp_allocator_handle_t own = of_thread(omp_get_thread_num());
        CHECK(is_default(omp_const_mem_alloc));
#pragma omp barrier
        omp_set_default_allocator(own);
#pragma omp barrier
        CHECK(is_default(own));
#pragma omp parallel num_threads(2) firstprivate(own)
        {
            CHECK(is_default(own));
            omp_set_default_allocator(omp_pteam_mem_alloc);
        }
        CHECK(is_default(own));
#pragma omp target
        omp_set_default_allocator(omp_cgroup_mem_alloc);
        CHECK(is_default(own));
    }
    CHECK(is_default(omp_const_mem_alloc));
    omp_set_default_allocator(omp_default_mem_alloc);
}

/* Explicit tasks have none: they see that of the implicit task of the thread that runs them, change
   it, and pass it on to the regions that they meet. */
static void default_allocator_in_tasks(int threads) {
#pragma omp parallel num_threads(threads)
    {
        omp_set_default_allocator(of_thread(omp_get_thread_num()));
#pragma omp barrier
        for (int i = 0; i < 10; ++i) {
#pragma omp task if (i % 3 != 0)
            {
                const int number = omp_get_thread_num();
                CHECK(is_default(of_thread(number)));
#pragma omp parallel num_threads(1 + i % 2) firstprivate(number)
                CHECK(is_default(of_thread(number)));
            }
        }
#pragma omp taskloop
        for (int i = 0; i < 10; ++i) CHECK(is_default(of_thread(omp_get_thread_num())));
#pragma omp barrier
#pragma omp task if (0)
        omp_set_default_allocator(of_thread(omp_get_thread_num() + 1));
        CHECK(is_default(of_thread(omp_get_thread_num() + 1)));
    }
#pragma omp task if (0)
    omp_set_default_allocator(omp_const_mem_alloc);
    CHECK(is_default(omp_const_mem_alloc));
    omp_set_default_allocator(omp_null_allocator);
}

/* Where no allocator is named the default one is used, in routines and in clauses. */
static void by_default(int threads) {
    omp_set_default_allocator(aligned_pool);
    int right = 0, value = 3;
#pragma omp parallel num_threads(threads) firstprivate(value) allocate(value) reduction(+ : right)
    {
        char* block = omp_alloc(100, omp_null_allocator);
        right += is_aligned(&value, 256) && is_aligned(block, 256) && block != NULL && value == 3;
        block = omp_realloc(block, 200, omp_null_allocator, omp_null_allocator);
        right += block != NULL && is_aligned(block, 256);
        omp_free(block, omp_null_allocator);
        block = omp_aligned_calloc(1024, 2, 1024, omp_null_allocator);
        right += block != NULL && is_aligned(block, 1024);
        omp_free(block, aligned_pool);
    }
    EQUAL(right, 3 * threads);
    omp_set_default_allocator(omp_default_mem_alloc);
    CHECK(is_whole(aligned_pool));
}

/* ---- the allocate clause ---- */

struct Pair {
    double first;
    char name[40];
};

/* Variables of each thread: private, firstprivate, of reductions; scalars, structs, arrays, and
 * arrays of variable length. */
static void on_parallel(int threads, int length) {
    int number = 7, sum = 0, sums[5] = {0}, lengthy[length], right = 0;
    struct Pair pair = {2.5, "pair"};
    for (int i = 0; i < length; ++i) lengthy[i] = i;
#pragma omp parallel num_threads(threads) firstprivate(number, pair, lengthy) reduction(+ : sum, sums, right) \
    allocate(aligned_pool : number, pair) allocate(pool : lengthy, sum) allocate(align(128), allocator(pool) : sums)
    {
        right += number == 7 && pair.first == 2.5 && strcmp(pair.name, "pair") == 0;
        right += lengthy[length - 1] == length - 1;
        right += is_aligned(&number, 256) && is_aligned(&pair, 256) && is_aligned(sums, 128);
        number = omp_get_thread_num();
        lengthy[0] = number;
        pair.first = number;
        sum += number;
        sums[4] += 2;
#pragma omp barrier
        right += number == omp_get_thread_num() && lengthy[0] == number && pair.first == number;
    }
    EQUAL(right, 4 * threads);
    EQUAL(sum, threads * (threads - 1) / 2);
    EQUAL(sums[4], 2 * threads);
    CHECK(number == 7 && lengthy[0] == 0);
    int own = 1;
#pragma omp parallel num_threads(threads) private(own) allocate(omp_low_lat_mem_alloc : own)
    {
        own = omp_get_thread_num();
#pragma omp barrier
        EQUAL(own, omp_get_thread_num());
    }
    EQUAL(own, 1);
}

/* Worksharing constructs: for, with lastprivate, linear and ordered; sections; single. */
static void on_worksharing(int threads) {
    int right = 0, last = 0, first = 5, step = 10, total = 0;
#pragma omp parallel num_threads(threads) reduction(+ : right)
    {
#pragma omp for firstprivate(first) lastprivate(last) linear(step : 2) reduction(+ : total) \
    allocate(aligned_pool : first, last) allocate(pool : total, step) schedule(dynamic, 3)
        for (int i = 0; i < 100; ++i) {
            last = i;
            total += i + (is_aligned(&first, 256) && is_aligned(&last, 256) && first == 5 && step == 10 + 2 * i);
            step += 2;
        }
#pragma omp sections firstprivate(first) lastprivate(last) allocate(aligned_pool : first, last)
        {
            last = is_aligned(&last, 256) && is_aligned(&first, 256) ? first + 1 : -1;
#pragma omp section
            last = is_aligned(&last, 256) && is_aligned(&first, 256) ? first + 2 : -1;
        }
        EQUAL(last, 7);
#pragma omp single firstprivate(first) allocate(aligned_pool : first)
        right += first == 5 && is_aligned(&first, 256);
    }
    EQUAL(right, 1);
    EQUAL(total, 4950 + 100);
    EQUAL(step, 10 + 2 * 100);
}

/* Tasks keep a copy until they have run, whether at once or later; taskloop and taskgroup have the
   clause as well. (With the clause, gcc 12 compiles no tasks that copy numbers.) */
static void on_tasks(int threads, int length) {
    int right = 0, total = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    {
        for (int i = 0; i < 40; ++i) {
            struct Pair pair = {i, "task"};
            int numbers[3] = {i, i, i}, lengthy[length];
            lengthy[length - 1] = i;
#pragma omp task firstprivate(numbers, pair, lengthy) if (i % 5 != 0) shared(right) allocate(aligned_pool : pair) \
    allocate(pool : numbers, lengthy)
            if (is_aligned(&pair, 256) && strcmp(pair.name, "task") == 0 && lengthy[length - 1] == numbers[2]) {
#pragma omp atomic
                right += pair.first == numbers[0];
            }
        }
#pragma omp taskgroup task_reduction(+ : total) allocate(pool : total)
        for (int i = 0; i < 20; ++i) {
            int copy[1] = {i};
#pragma omp task in_reduction(+ : total) firstprivate(copy) allocate(aligned_pool : copy)
            total += is_aligned(copy, 256) ? copy[0] : 1000;
        }
        int begins[2] = {3, 4};
#pragma omp taskloop firstprivate(begins) reduction(+ : total) grainsize(4) allocate(aligned_pool : begins) \
    allocate(pool : total)
        for (int i = 0; i < 50; ++i) total += is_aligned(begins, 256) && begins[1] == 4;
    }
    EQUAL(right, 40);
    EQUAL(total, 190 + 50);
}

/* Leagues and target regions, on the host. */
static void on_the_host(void) {
    int value = 9, right = 0, sum = 0;
#pragma omp target firstprivate(value) map(tofrom : right) allocate(omp_default_mem_alloc : value)
    right = value == 9;
    EQUAL(right, 1);
#pragma omp teams num_teams(3) firstprivate(value) reduction(+ : sum) allocate(aligned_pool : value) \
    allocate(pool : sum)
    {
        sum += is_aligned(&value, 256) && value == 9;
        value = 1;
    }
    EQUAL(value, 9);
    CHECK(sum >= 1 && sum <= 3);
    sum = 0;
#pragma omp teams num_teams(2)
#pragma omp distribute parallel for firstprivate(value) reduction(+ : sum) allocate(aligned_pool : value) \
    allocate(pool : sum)
    for (int i = 0; i < 64; ++i) sum += is_aligned(&value, 256) && value == 9;
    EQUAL(sum, 64);
}

/* A construct gives back what it has allocated, even where it is cancelled, and in regions within
 * regions. */
static void cancelled(int threads) {
    int value = 4, count = 0;
#pragma omp parallel num_threads(threads) firstprivate(value) allocate(pool : value)
    {
#pragma omp parallel num_threads(2) shared(value)
        {
#pragma omp for firstprivate(value) allocate(pool : value) schedule(dynamic)
            for (int i = 0; i < 100; ++i) {
#pragma omp cancel for if (i == 5)
#pragma omp atomic
                count += value;
            }
#pragma omp cancel parallel if (omp_get_thread_num() == 1)
        }
    }
    CHECK(count >= 4);
}

/* ---- threads ---- */

/* What is in use of a pool at one time never exceeds the pool, whichever threads allocate, grow,
 * shrink and free. */
static void at_once(int threads, omp_allocator_handle_t allocator, size_t alignment) {
    long in_use = 0, most = 0, had = 0;
#pragma omp parallel num_threads(threads) reduction(+ : had) reduction(max : most)
    {
        unsigned random = 12345U + 77U * (unsigned)omp_get_thread_num();
        char* block = NULL;
        long bytes = 0;
        for (int i = 0; i < 3000; ++i) {
            random = random * 1664525U + 1013904223U;
            const long wanted = (long)(random >> 8) % (pool_bytes / 2) + 1;
            long now;
            /* Counted down before the call, and up after it. */
            if (wanted < bytes || random >> 30 == 0) {
                const long less = random >> 30 == 0 ? bytes : bytes - wanted;
#pragma omp atomic
                in_use -= less;
                bytes -= less;
                if (random >> 30 == 0) {
                    omp_free(block, allocator);
                    block = NULL;
                    continue;
                }
            }
            char* const changed = omp_realloc(block, (size_t)wanted, allocator, allocator);
            if (changed == NULL) {
                CHECK(wanted != bytes || alignment > 8); /* a smaller block fits; larger alignments: pools.c */
                continue;
            }
            CHECK(block == NULL || changed[0] == (char)omp_get_thread_num());
            CHECK(is_aligned(changed, alignment));
            had++;
            block = changed;
            block[0] = block[wanted - 1] = (char)omp_get_thread_num();
#pragma omp atomic capture
            now = in_use += wanted - bytes;
            bytes = wanted;
            most = most > now ? most : now;
        }
#pragma omp atomic
        in_use -= bytes;
        omp_free(block, allocator);
    }
    EQUAL(in_use, 0);
    CHECK(most <= pool_bytes);
    CHECK(had > 100);
    CHECK(is_whole(allocator));
}

int main(void) {
    omp_set_max_active_levels(2);
    pool = of_pool(pool_bytes, 1, omp_atv_null_fb);
    aligned_pool = of_pool(pool_bytes, 256, omp_atv_abort_fb);
    CHECK(pool != omp_null_allocator && aligned_pool != omp_null_allocator);
    EACH_SIZE(size) {
        default_allocator(size);
        default_allocator_in_tasks(size);
        by_default(size);
        on_parallel(size, 100);
        on_worksharing(size);
        on_tasks(size, 30);
        cancelled(size);
        at_once(size, pool, 1);
        CHECK(is_whole(pool) && is_whole(aligned_pool));
    }
    on_the_host();
    CHECK(is_whole(pool) && is_whole(aligned_pool));
    const omp_allocator_handle_t wide = of_pool(pool_bytes, 64, omp_atv_null_fb);
    at_once(4, wide, 64);
    omp_destroy_allocator(wide);
    omp_destroy_allocator(pool);
    omp_destroy_allocator(aligned_pool);
    return verdict();
}
