/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Allocators: their traits, what they allocate, and what they do when there is no memory left. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

/* The tests ask for sizes that no memory has. */
#pragma GCC diagnostic ignored "-Walloc-size-larger-than="

enum { pool_bytes = 4096, most_overhead = 48 };

static omp_allocator_handle_t of_trait(omp_alloctrait_key_t key, omp_uintptr_t value) {
    const omp_alloctrait_t trait = {key, value};
    return omp_init_allocator(omp_default_mem_space, 1, &trait);
}

static omp_allocator_handle_t of_pool(size_t bytes, size_t alignment, omp_uintptr_t fallback,
                                      omp_allocator_handle_t other) {
    const omp_alloctrait_t traits[] = {{omp_atk_pool_size, bytes},
                                       {omp_atk_alignment, alignment},
                                       {omp_atk_fallback, fallback},
                                       {omp_atk_fb_data, (omp_uintptr_t)other}};
    const omp_allocator_handle_t allocator = omp_init_allocator(omp_default_mem_space, 4, traits);
    CHECK(allocator != omp_null_allocator);
    return allocator;
}

static omp_allocator_handle_t of_small_pool(void) {
    return of_pool(pool_bytes, 1, omp_atv_null_fb, omp_null_allocator);
}

/* Whether so many bytes can be had now. */
static int has(omp_allocator_handle_t allocator, size_t bytes) {
    void* const block = omp_alloc(bytes, allocator);
    omp_free(block, allocator);
    return block != NULL;
}

static int aligned(const void* block, size_t alignment) { return block != NULL && (uintptr_t)block % alignment == 0; }

static void fill(char* block, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) block[i] = (char)(i * 7);
}

static int is_filled(const char* block, size_t bytes) {
    if (block == NULL) return 0;
    for (size_t i = 0; i < bytes; ++i) {
        if (block[i] != (char)(i * 7)) return 0;
    }
    return 1;
}

/* ---- traits ---- */

/* Whether there is an allocator with this trait, and so much memory can be had from it. */
static int is_legal(omp_alloctrait_key_t key, omp_uintptr_t value, size_t bytes) {
    const omp_allocator_handle_t allocator = of_trait(key, value);
    if (allocator == omp_null_allocator) return 0;
    CHECK(bytes == 0 || has(allocator, bytes));
    omp_destroy_allocator(allocator);
    return 1;
}

/* A trait has the values that the specification's table allows, including the default, and no
 * others. */
static void values(omp_alloctrait_key_t key, omp_uintptr_t first, omp_uintptr_t last) {
    for (omp_uintptr_t value = 0; value <= omp_atv_interleaved + 1; ++value) {
        const int legal = value >= first && value <= last;
        if (is_legal(key, value, 100) == legal) continue;
        fprintf(stderr, "trait %d, value %lu\n", (int)key, (unsigned long)value);
        CHECK(is_legal(key, value, 100) == legal);
    }
    CHECK(is_legal(key, omp_atv_default, 100));
}

static void traits(void) {
    values(omp_atk_sync_hint, omp_atv_contended, omp_atv_private);
    values(omp_atk_access, omp_atv_all, omp_atv_cgroup);
    values(omp_atk_partition, omp_atv_environment, omp_atv_interleaved);
    values(omp_atk_pinned, omp_atv_false, omp_atv_false); /* memory is never pinned */
    values(omp_atk_fallback, omp_atv_default_mem_fb, omp_atv_allocator_fb);
    for (omp_uintptr_t value = 0; value < 100; ++value) {
        EQUAL(is_legal(omp_atk_alignment, value, 100), value != 0 && (value & (value - 1)) == 0);
        CHECK(is_legal(omp_atk_pool_size, value, 0));
    }
    CHECK(is_legal(omp_atk_alignment, omp_atv_default, 100) && is_legal(omp_atk_pool_size, omp_atv_default, 100000));
    for (int key = 0; key <= 9; key += 9) {
        CHECK(!is_legal((omp_alloctrait_key_t)key, 1, 0) && !is_legal((omp_alloctrait_key_t)key, omp_atv_default, 0));
    }
    /* One trait that cannot be had makes the others useless. */
    const omp_alloctrait_t mixed[] = {
        {omp_atk_alignment, 64}, {omp_atk_pinned, omp_atv_true}, {omp_atk_pool_size, 100}};
    CHECK(omp_init_allocator(omp_default_mem_space, 3, mixed) == omp_null_allocator);
}

/* Each space has an allocator without traits, except for faster memory, which need not exist. */
static void spaces(void) {
    const omp_memspace_handle_t all[] = {omp_default_mem_space, omp_large_cap_mem_space, omp_const_mem_space,
                                         omp_low_lat_mem_space};
    for (int i = 0; i < 4; ++i) {
        const omp_allocator_handle_t allocator = omp_init_allocator(all[i], 0, NULL);
        CHECK(allocator != omp_null_allocator && allocator > omp_thread_mem_alloc);
        CHECK(has(allocator, 100000));
        omp_destroy_allocator(allocator);
    }
    CHECK(omp_init_allocator((omp_memspace_handle_t)5, 0, NULL) == omp_null_allocator);
    const omp_allocator_handle_t fast = omp_init_allocator(omp_high_bw_mem_space, 0, NULL);
    CHECK(fast == omp_null_allocator || has(fast, 100));
    omp_destroy_allocator(fast);
    omp_destroy_allocator(omp_null_allocator);
}

/* ---- allocation ---- */

/* A block has the largest of three alignments: malloc's, its allocator's and the call's. */
static void alignments(void) {
    for (size_t of_allocator = 1; of_allocator <= 8192; of_allocator *= 2) {
        const omp_allocator_handle_t allocator = of_trait(omp_atk_alignment, of_allocator);
        for (size_t of_call = 1; of_call <= 8192; of_call *= 4) {
            const size_t most = of_allocator > of_call ? of_allocator : of_call;
            char* const blocks[] = {omp_aligned_alloc(of_call, 2 * of_call, allocator),
                                    omp_aligned_calloc(of_call, 3, of_call, allocator), omp_alloc(7, allocator),
                                    omp_calloc(7, 1, allocator), omp_realloc(NULL, 7, allocator, omp_null_allocator)};
            CHECK(aligned(blocks[0], most) && aligned(blocks[1], most));
            for (int i = 0; i < 5; ++i) {
                CHECK(aligned(blocks[i], of_allocator) && aligned(blocks[i], _Alignof(max_align_t)));
                omp_free(blocks[i], i % 2 == 0 ? allocator : omp_null_allocator);
            }
        }
        omp_destroy_allocator(allocator);
    }
}

/* calloc's bytes are zero, even where others were before; for no bytes, or too many, there is no
 * block. */
static void zeros(void) {
    const omp_allocator_handle_t small = of_small_pool(), aligned_64 = of_trait(omp_atk_alignment, 64);
    const omp_allocator_handle_t allocators[] = {omp_null_allocator, omp_default_mem_alloc, omp_high_bw_mem_alloc,
                                                 small, aligned_64};
    for (int i = 0; i < 5; ++i) {
        for (size_t bytes = 1; bytes < 3000; bytes = bytes * 3 + 1) {
            char* block = omp_alloc(bytes, allocators[i]);
            fill(block, bytes);
            omp_free(block, allocators[i]);
            for (int with_alignment = 0; with_alignment < 2; ++with_alignment) {
                block = omp_calloc(bytes, 1, allocators[i]);
                if (with_alignment) {
                    omp_free(block, allocators[i]);
                    block = omp_aligned_calloc(32, 1, bytes, allocators[i]);
                }
                int wrong = block == NULL;
                for (size_t j = 0; !wrong && j < bytes; ++j) wrong = block[j] != 0;
                CHECK(!wrong);
                omp_free(block, allocators[i]);
            }
        }
        CHECK(omp_alloc(0, allocators[i]) == NULL && omp_aligned_alloc(16, 0, allocators[i]) == NULL);
        CHECK(omp_calloc(0, 8, allocators[i]) == NULL && omp_calloc(8, 0, allocators[i]) == NULL);
        CHECK(omp_aligned_calloc(8, 0, 8, allocators[i]) == NULL && omp_aligned_calloc(8, 8, 0, allocators[i]) == NULL);
        CHECK(omp_calloc(SIZE_MAX / 2, 3, allocators[i]) == NULL);
        CHECK(omp_aligned_calloc(64, SIZE_MAX / 4, 5, allocators[i]) == NULL);
        CHECK(omp_alloc(SIZE_MAX, allocators[i]) == NULL && omp_alloc(SIZE_MAX - 40, allocators[i]) == NULL);
        CHECK(omp_aligned_alloc((size_t)1 << 62, (size_t)1 << 62, allocators[i]) == NULL);
    }
    CHECK(has(small, pool_bytes - most_overhead));
    omp_destroy_allocator(small);
    omp_destroy_allocator(aligned_64);
}

/* All blocks of a pool together are no larger than the pool, and what is freed can be had again.
   The overhead of a block is small, whatever its alignment. */
static void pools(void) {
    static const struct {
        size_t alignment, overhead;
    } most[] = {{1, 48}, {8, 48}, {16, 56}, {32, 72}, {64, 104}, {128, 168}, {256, 296}};
    for (int i = 0; i < 7; ++i) {
        const omp_allocator_handle_t allocator =
            of_pool(pool_bytes, most[i].alignment, omp_atv_null_fb, omp_null_allocator);
        for (int round = 0; round < 3; ++round) {
            CHECK(has(allocator, pool_bytes - most[i].overhead));
            CHECK(!has(allocator, pool_bytes + 1));
            /* Two that just fit. */
            const size_t half = pool_bytes / 2 - most[i].overhead;
            void *const one = omp_alloc(half, allocator), *const two = omp_alloc(half, allocator);
            CHECK(aligned(one, most[i].alignment) && aligned(two, most[i].alignment));
            CHECK(!has(allocator, 2 * most[i].overhead + 1));
            omp_free(one, allocator);
            CHECK(has(allocator, half));
            omp_free(two, omp_null_allocator);
        }
        omp_destroy_allocator(allocator);
    }
    const omp_allocator_handle_t none = of_pool(0, 1, omp_atv_null_fb, omp_null_allocator);
    CHECK(!has(none, 1));
    omp_destroy_allocator(none);
}

/* ---- fall-backs ---- */

/* When an allocator has no memory left, the block is null, or comes from the default space or
 * another allocator, and stays there. */
static void fallbacks(void) {
    const omp_allocator_handle_t by_default = of_trait(omp_atk_pool_size, 100);
    CHECK(has(by_default, 100000));
    void* const elsewhere = omp_aligned_alloc(1024, 2048, by_default);
    CHECK(aligned(elsewhere, 1024));
    CHECK(has(by_default, 20));
    omp_free(elsewhere, by_default);
    omp_destroy_allocator(by_default);

    const omp_allocator_handle_t last = of_pool(8192, 1, omp_atv_null_fb, omp_null_allocator);
    const omp_allocator_handle_t middle = of_pool(2048, 512, omp_atv_allocator_fb, last);
    const omp_allocator_handle_t first = of_pool(1024, 64, omp_atv_allocator_fb, middle);
    void *const of_first = omp_alloc(600, first), *const of_middle = omp_alloc(700, first);
    void* const of_last = omp_alloc(5000, first);
    CHECK(aligned(of_first, 64) && aligned(of_middle, 512) && of_last != NULL);
    CHECK(omp_alloc(4000, first) == NULL);
    CHECK(!has(last, 4000) && has(last, 3000));
    omp_free(of_last, first);
    CHECK(has(last, 8192 - most_overhead));
    omp_free(of_middle, omp_null_allocator);
    omp_free(of_first, first);
    /* A predefined allocator has no limit. */
    const omp_allocator_handle_t endless = of_pool(10, 1, omp_atv_allocator_fb, omp_large_cap_mem_alloc);
    CHECK(has(endless, 100000));
    omp_destroy_allocator(endless);
    omp_destroy_allocator(first);
    omp_destroy_allocator(middle);
    omp_destroy_allocator(last);
}

/* ---- realloc ---- */

/* Contents are kept, as far as there is room, in blocks of the same allocator and of another. */
static void contents(void) {
    const omp_allocator_handle_t allocators[] = {omp_default_mem_alloc,
                                                 of_trait(omp_atk_alignment, 256),
                                                 of_trait(omp_atk_pool_size, 1000000),
                                                 omp_null_allocator,
                                                 omp_low_lat_mem_alloc,
                                                 of_trait(omp_atk_alignment, 32)};
    for (int i = 0; i < 36; ++i) {
        const omp_allocator_handle_t from = allocators[i / 6], to = allocators[i % 6];
        char* block = omp_aligned_alloc(i % 2 == 0 ? 1 : 512, 1024, from);
        fill(block, 1024);
        block = omp_realloc(block, 300000, to, from);
        CHECK(is_filled(block, 1024));
        fill(block, 300000);
        block = omp_realloc(block, 77, to, omp_null_allocator);
        CHECK(is_filled(block, 77));
        block = omp_realloc(block, 78, omp_null_allocator, omp_null_allocator);
        CHECK(is_filled(block, 77));
        const size_t alignment = to == allocators[1] ? 256 : to == allocators[5] ? 32 : 16;
        CHECK(to == omp_null_allocator || aligned(block, alignment));
        CHECK(omp_realloc(block, 0, to, to) == NULL);
    }
    CHECK(omp_realloc(NULL, 0, omp_default_mem_alloc, omp_null_allocator) == NULL);
    for (int i = 0; i < 6; ++i) {
        if (allocators[i] > omp_thread_mem_alloc) omp_destroy_allocator(allocators[i]);
    }
}

/* The old block no longer counts: a block grows byte by byte to the whole pool, and can shrink at
 * any time. */
static void growth(void) {
    const omp_allocator_handle_t allocator = of_small_pool();
    char* block = omp_alloc(1, allocator);
    for (size_t bytes = 2; bytes <= pool_bytes - most_overhead; ++bytes) {
        fill(block, bytes - 1);
        char* const larger = omp_realloc(block, bytes, allocator, bytes % 2 == 0 ? allocator : omp_null_allocator);
        CHECK(is_filled(larger, bytes - 1));
        if (larger == NULL) return;
        block = larger;
    }
    CHECK(!has(allocator, most_overhead + 1));
    /* A call that fails leaves the old block, and the count, as they were. */
    fill(block, pool_bytes - most_overhead);
    CHECK(omp_realloc(block, pool_bytes + 1, allocator, allocator) == NULL);
    CHECK(omp_realloc(block, SIZE_MAX - 20, allocator, allocator) == NULL);
    CHECK(is_filled(block, pool_bytes - most_overhead) && !has(allocator, most_overhead + 1));
    block = omp_realloc(block, 100, allocator, allocator);
    CHECK(is_filled(block, 100));
    CHECK(has(allocator, pool_bytes - 100 - 2 * most_overhead));
    CHECK(omp_realloc(block, 0, allocator, allocator) == NULL);
    CHECK(has(allocator, pool_bytes - most_overhead));
    omp_destroy_allocator(allocator);
}

/* A block that moves to another allocator, or to a fall-back, is given back to its own; without a
 * name it stays. */
static void moves(void) {
    const omp_allocator_handle_t one = of_small_pool(), two = of_small_pool();
    const omp_allocator_handle_t chain = of_pool(1024, 1, omp_atv_allocator_fb, two);
    char* block = omp_alloc(4000, one);
    fill(block, 4000);
    block = omp_realloc(block, 4010, two, one);
    CHECK(is_filled(block, 4000) && has(one, 4000) && !has(two, 100));
    block = omp_realloc(block, 500, chain, two);
    CHECK(is_filled(block, 500) && has(two, 4000) && !has(chain, pool_bytes));
    block = omp_realloc(block, 3000, chain, chain);
    CHECK(is_filled(block, 500) && !has(two, 2000) && has(two, 500));
    block = omp_realloc(block, 400, omp_null_allocator, omp_null_allocator);
    CHECK(is_filled(block, 400) && has(two, 3000) && !has(two, 3700));
    block = omp_realloc(block, 5000, omp_default_mem_alloc, two);
    CHECK(is_filled(block, 400) && has(two, 4000));
    omp_free(block, omp_default_mem_alloc);
    const omp_allocator_handle_t by_default = of_pool(1024, 1, omp_atv_default_mem_fb, omp_null_allocator);
    block = omp_realloc(omp_alloc(900, by_default), 5000, by_default, by_default);
    CHECK(block != NULL);
    block = omp_realloc(block, 900, by_default, omp_null_allocator);
    CHECK(block != NULL);
    omp_free(block, omp_null_allocator);
    omp_destroy_allocator(by_default);
    omp_destroy_allocator(chain);
    omp_destroy_allocator(two);
    omp_destroy_allocator(one);
}

/* Memory that the pool allows and the system refuses no longer counts afterwards. */
static void refusals(void) {
    for (size_t alignment = 1; alignment <= 64; alignment *= 64) {
        const omp_allocator_handle_t vast =
            of_pool(SIZE_MAX / 2 + 200000, alignment, omp_atv_null_fb, omp_null_allocator);
        char* block = omp_alloc(5000, vast);
        fill(block, 5000);
        for (int i = 0; i < 4; ++i) {
            CHECK(omp_alloc(SIZE_MAX / 2, vast) == NULL && omp_calloc(SIZE_MAX / 8, 4, vast) == NULL);
            CHECK(omp_realloc(block, SIZE_MAX / 2, vast, vast) == NULL);
        }
        CHECK(has(vast, 1000000) && is_filled(block, 5000));
        block = omp_realloc(block, 6000, vast, vast);
        CHECK(is_filled(block, 5000));
        omp_free(block, vast);
        omp_destroy_allocator(vast);
    }
}

int main(void) {
    traits();
    spaces();
    alignments();
    zeros();
    pools();
    fallbacks();
    contents();
    growth();
    moves();
    refusals();
    omp_free(NULL, omp_null_allocator);
    omp_free(NULL, omp_default_mem_alloc);
    return verdict();
}
