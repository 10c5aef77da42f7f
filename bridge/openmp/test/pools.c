/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Allocators, where libgomp 12 does not follow the specification: it counts an old block of a
   larger alignment beside the new one, has one pool for all threads whatever the access trait, and
   never returns from a circle of fall-backs. */
#include <stdint.h>

#include "check.h"

enum { pool_bytes = 4096, most_overhead = 48 };

static omp_allocator_handle_t of_pool(omp_alloctrait_key_t key, omp_uintptr_t value, omp_uintptr_t fallback) {
    const omp_alloctrait_t traits[] = {{omp_atk_pool_size, pool_bytes}, {key, value}, {omp_atk_fallback, fallback}};
    const omp_allocator_handle_t allocator = omp_init_allocator(omp_default_mem_space, 3, traits);
    CHECK(allocator != omp_null_allocator);
    return allocator;
}

static int has(omp_allocator_handle_t allocator, size_t bytes) {
    void* const block = omp_alloc(bytes, allocator);
    omp_free(block, allocator);
    return block != NULL;
}

/* A block grows byte by byte to its whole pool, whatever its alignment, and shrinks back. */
static void growth(size_t alignment, size_t overhead) {
    const omp_allocator_handle_t allocator = of_pool(omp_atk_alignment, alignment, omp_atv_null_fb);
    char* block = omp_alloc(1, allocator);
    for (size_t bytes = 2; bytes <= pool_bytes - overhead; ++bytes) {
        block[bytes - 2] = (char)bytes;
        char* const larger = omp_realloc(block, bytes, allocator, allocator);
        CHECK(larger != NULL && (uintptr_t)larger % alignment == 0);
        if (larger == NULL) return;
        block = larger;
    }
    int right = 0;
    for (size_t bytes = 2; bytes <= pool_bytes - overhead; ++bytes) right += block[bytes - 2] == (char)bytes;
    EQUAL(right, pool_bytes - overhead - 1);
    CHECK(omp_realloc(block, pool_bytes + 1, allocator, allocator) == NULL);
    CHECK(!has(allocator, overhead + 1));
    for (size_t bytes = pool_bytes - overhead - 1; bytes > 100; bytes -= 100) {
        block = omp_realloc(block, bytes, allocator, omp_null_allocator);
        CHECK(block != NULL && (uintptr_t)block % alignment == 0 && block[0] == 2 && block[99] == 101);
    }
    CHECK(has(allocator, pool_bytes - 200 - 2 * overhead));
    omp_free(block, allocator);
    CHECK(has(allocator, pool_bytes - overhead));
    omp_destroy_allocator(allocator);
}

/* An old block counts as much where its allocator is the fall-back of another one. */
static void growth_in_a_fallback(void) {
    const omp_allocator_handle_t large = of_pool(omp_atk_alignment, 64, omp_atv_null_fb);
    const omp_alloctrait_t traits[] = {
        {omp_atk_pool_size, 100}, {omp_atk_fallback, omp_atv_allocator_fb}, {omp_atk_fb_data, (omp_uintptr_t)large}};
    const omp_allocator_handle_t small = omp_init_allocator(omp_default_mem_space, 3, traits);
    void* block = omp_alloc(2500, small);
    block = omp_realloc(block, 3500, small, small);
    CHECK(block != NULL && !has(large, 2000));
    omp_free(block, small);
    CHECK(has(large, 3500));
    omp_destroy_allocator(small);
    omp_destroy_allocator(large);
}

/* How many of so many threads can have more than half of the pool, at once. */
static int have_room(omp_allocator_handle_t allocator, int threads) {
    int count = 0;
#pragma omp parallel num_threads(threads) reduction(+ : count)
    {
        void* block = omp_alloc(pool_bytes / 2, allocator);
        CHECK(block == NULL || omp_alloc(pool_bytes / 2, allocator) == NULL);
#pragma omp barrier
        block = block == NULL ? NULL : omp_realloc(block, pool_bytes * 3 / 4, allocator, allocator);
        count += block != NULL;
        omp_free(block, allocator);
    }
    return count;
}

/* A pool's size limits those that may access its memory: all threads together, or each contention
 * group, team or thread. */
static void access_traits(void) {
    const omp_uintptr_t whose[] = {omp_atv_all, omp_atv_cgroup, omp_atv_pteam, omp_atv_thread};
    for (int i = 0; i < 4; ++i) {
        const omp_allocator_handle_t allocator = of_pool(omp_atk_access, whose[i], omp_atv_null_fb);
        for (int round = 0; round < 3; ++round) {
            EACH_SIZE(size) EQUAL(have_room(allocator, size), whose[i] == omp_atv_thread ? size : 1);
            int inner = 0;
#pragma omp parallel num_threads(3) reduction(+ : inner)
            {
                const int one = have_room(allocator, 2); /* teams of which some may be at work at once */
                inner += one;
                if (whose[i] == omp_atv_pteam) EQUAL(one, 1);
                if (whose[i] == omp_atv_thread) EQUAL(one, 2);
            }
            CHECK(inner >= 1 && (whose[i] > omp_atv_pteam || inner <= 6));
        }
        /* What another thread frees goes back to the block's owner. */
        void* of_zero = NULL;
#pragma omp parallel num_threads(2)
        {
#pragma omp master
            of_zero = omp_alloc(3000, allocator);
#pragma omp barrier
            if (omp_get_thread_num() == 1) omp_free(of_zero, allocator);
#pragma omp barrier
#pragma omp master
            CHECK(has(allocator, 3000));
        }
        omp_destroy_allocator(allocator);
    }
    /* A thread and the teams of a league have contention groups of their own. */
    const omp_allocator_handle_t of_group = of_pool(omp_atk_access, omp_atv_cgroup, omp_atv_null_fb);
    void* const block = omp_alloc(3000, of_group);
    int others = 0;
#pragma omp target map(tofrom : others)
    others = have_room(of_group, 3);
    EQUAL(others, 1);
    CHECK(!has(of_group, 3000));
    omp_free(block, of_group);
    omp_destroy_allocator(of_group);
}

/* Fall-backs in a circle have no more memory than each of them. */
static void circles(void) {
    const omp_allocator_handle_t own = of_pool(omp_atk_fb_data, omp_null_allocator, omp_atv_allocator_fb);
    omp_set_default_allocator(own);
    CHECK(!has(own, 10000) && !has(omp_null_allocator, 10000));
    const omp_allocator_handle_t other = of_pool(omp_atk_fb_data, (omp_uintptr_t)own, omp_atv_allocator_fb);
    omp_set_default_allocator(other);
    CHECK(!has(own, 10000) && !has(other, 10000) && has(own, 4000));
    omp_set_default_allocator(omp_null_allocator);
    CHECK(has(own, 10000));
    /* By default the fall-back is the default allocator. */
    const omp_allocator_handle_t unnamed = of_pool(omp_atk_fb_data, omp_atv_default, omp_atv_allocator_fb);
    CHECK(has(unnamed, 10000));
    omp_destroy_allocator(unnamed);
    omp_destroy_allocator(other);
    omp_destroy_allocator(own);
}

int main(void) {
    omp_set_max_active_levels(2);
    static const struct {
        size_t alignment, overhead;
    } of_block[] = {{1, 48}, {16, 56}, {32, 72}, {64, 104}, {128, 168}, {256, 296}};
    for (int i = 0; i < 6; ++i) growth(of_block[i].alignment, of_block[i].overhead);
    growth_in_a_fallback();
    access_traits();
    circles();
    /* Predefined allocators cannot be destroyed. */
    omp_destroy_allocator(omp_default_mem_alloc);
    omp_destroy_allocator(omp_thread_mem_alloc);
    CHECK(has(omp_thread_mem_alloc, 100));
    return verdict();
}
