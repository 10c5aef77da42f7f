/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Routines about the environment, places, devices, memory, teams, pauses: what each returns where
 * nothing was set, and after something was. */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

#pragma GCC diagnostic ignored "-Walloc-size-larger-than="

static void environment(void) {
    omp_set_nested(1);
    CHECK(omp_get_nested());
    CHECK(omp_get_max_active_levels() > 1);
    omp_set_nested(0);
    CHECK(!omp_get_nested());
    omp_set_max_active_levels(-3); /* ignored */
    EQUAL(omp_get_max_active_levels(), 1);
    omp_set_max_active_levels(3);
    omp_set_dynamic(5);
    EQUAL(omp_get_dynamic(), 1);
    omp_set_dynamic(0);
    omp_set_num_threads(-5);
    EQUAL(omp_get_max_threads(), 1);
    omp_set_num_threads(4);
    EQUAL(omp_get_max_threads(), 4);
    omp_set_schedule(omp_sched_dynamic | omp_sched_monotonic, 0);
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    EQUAL(kind, omp_sched_dynamic | omp_sched_monotonic);
    EQUAL(chunk, 1);
    omp_set_schedule(omp_sched_static, -2);
    omp_get_schedule(&kind, &chunk);
    EQUAL(kind & ~omp_sched_monotonic, omp_sched_static);
    EQUAL(chunk, 0);
    omp_set_schedule((omp_sched_t)99, 3); /* ignored */
    omp_get_schedule(&kind, &chunk);
    EQUAL(kind & ~omp_sched_monotonic, omp_sched_static);
    CHECK(!omp_in_parallel() && !omp_in_final());
    EQUAL(omp_get_thread_num(), 0);
    EQUAL(omp_get_team_size(-1), -1);
    EQUAL(omp_get_team_size(5), -1);
    CHECK(omp_get_num_procs() >= 1);
    int procs = 0, inside = 0;
#pragma omp parallel num_threads(4) reduction(+ : procs, inside)
    {
        procs += omp_get_num_procs();
        inside += omp_in_parallel();
    }
    EQUAL(procs, 4 * omp_get_num_procs()); /* the same in each thread, since it is the process's */
    EQUAL(inside, 4);
    const double start = omp_get_wtime();
    usleep(2000);
    const double took = omp_get_wtime() - start;
    CHECK(took >= 0.002 && took < 60);
    CHECK(omp_get_wtick() > 0 && omp_get_wtick() < 0.1);
}

static void places(void) {
    EQUAL(omp_get_num_places(), 0);
    EQUAL(omp_get_partition_num_places(), 0);
    int numbers[1] = {-7}, ids[1] = {-7};
    omp_get_partition_place_nums(numbers);
    omp_get_place_proc_ids(0, ids);
    EQUAL(numbers[0], -7);
    EQUAL(ids[0], -7);
    EQUAL(omp_get_place_num(), -1);
    EQUAL(omp_get_place_num_procs(0), 0);
    EQUAL(omp_get_proc_bind(), omp_proc_bind_false);
    char text[100];
    EQUAL(omp_capture_affinity(text, sizeof text, "%t/%T %{team_num} %{nesting_level} %a %P"), strlen(text));
    char expected[100];
    snprintf(expected, sizeof expected, "0/1 0 0 -1 %d", (int)getpid());
    CHECK(strcmp(text, expected) == 0);
    memset(text, '#', sizeof text);
    CHECK(omp_capture_affinity(text, 4, "abcdef") == 6 && strcmp(text, "abc") == 0 && text[4] == '#');
    omp_display_affinity("%n");
}

static void devices(void) {
    EQUAL(omp_get_num_devices(), 0);
    EQUAL(omp_get_initial_device(), 0);
    EQUAL(omp_get_device_num(), 0);
    CHECK(omp_is_initial_device());
    EQUAL(omp_get_default_device(), 0);
    omp_set_default_device(3);
    EQUAL(omp_get_default_device(), 3);
    omp_set_default_device(0);
    const int host = omp_get_initial_device();
    char* const block = omp_target_alloc(1000, host);
    CHECK(block != NULL && omp_target_is_present(block, host));
    char text[24];
    for (int i = 0; i < 24; ++i) text[i] = (char)i;
    EQUAL(omp_target_memcpy(block, text, 10, 5, 2, host, host), 0);
    EQUAL(block[5], 2);
    const size_t volume[2] = {2, 3}, to[2] = {1, 1}, from[2] = {0, 2}, to_dimensions[2] = {10, 10},
                 from_dimensions[2] = {4, 6};
    EQUAL(omp_target_memcpy_rect(block, text, 1, 2, volume, to, from, to_dimensions, from_dimensions, host, host), 0);
    EQUAL(block[11], 2);
    EQUAL(block[23], 10);
    CHECK(omp_target_memcpy_rect(NULL, NULL, 1, 0, NULL, NULL, NULL, NULL, NULL, host, host) >= 3);
    EQUAL(omp_target_associate_ptr(block, text, 10, 0, host), EINVAL);
    EQUAL(omp_target_disassociate_ptr(block, host), EINVAL);
    omp_target_free(block, host);
    omp_target_free(NULL, host);
}

/* ---- target, on the host ---- */

static int declared = 4;
#pragma omp declare target to(declared)

static void targets(void) {
    int value = 1, cells[10] = {0}, *pointer = cells, first = 3, is_host = 0;
#pragma omp target enter data map(to : value, cells)
#pragma omp target map(always, tofrom : value) map(pointer[2 : 4]) firstprivate(first) if (target : 1) \
    device(0) nowait depend(out : value)
    {
        value += first + declared;
        first = 100;
        for (int i = 2; i < 6; ++i) pointer[i] = i;
    }
#pragma omp target update from(cells[0 : 5]) nowait depend(inout : value)
#pragma omp target exit data map(from : value, cells) depend(inout : value) nowait
#pragma omp taskwait
    EQUAL(value, 8);
    EQUAL(first, 3);
    EQUAL(cells[5], 5);
#pragma omp target data map(tofrom : value) use_device_addr(cells) use_device_ptr(pointer)
#pragma omp target map(tofrom : is_host, value) is_device_ptr(pointer) defaultmap(tofrom : scalar)
    {
        is_host = omp_is_initial_device();
        value++;
        pointer[0] = 9;
    }
    CHECK(is_host);
    EQUAL(value, 9);
    EQUAL(cells[0], 9);
    int threads = 0, level = -1, limit = 0;
#pragma omp target map(tofrom : threads, level, limit) thread_limit(3)
    {
        level = omp_get_level();
        limit = omp_get_thread_limit();
#pragma omp parallel num_threads(2) reduction(+ : threads)
        threads++;
    }
    EQUAL(threads, 2);
    EQUAL(level, 0);
    EQUAL(limit, 3);
    const int given = omp_get_num_procs() + 4;
    EQUAL(omp_get_thread_limit(), INT_MAX);
#pragma omp target map(tofrom : limit) thread_limit(given)
    limit = omp_get_thread_limit();
    EQUAL(limit, given);
    EQUAL(omp_get_thread_limit(), INT_MAX);
    long sum = 0;
#pragma omp target parallel for num_threads(3) reduction(+ : sum) map(tofrom : sum)
    for (int i = 0; i < 100; ++i) sum += i;
#pragma omp target simd reduction(+ : sum) map(tofrom : sum)
    for (int i = 0; i < 100; ++i) sum += i;
#pragma omp target teams distribute parallel for simd num_teams(2) thread_limit(2) reduction(+ : sum) \
    map(tofrom : sum) dist_schedule(static, 7) schedule(dynamic)
    for (int i = 0; i < 100; ++i) sum += i;
#pragma omp target teams loop reduction(+ : sum) map(tofrom : sum)
    for (int i = 0; i < 100; ++i) sum += i;
    EQUAL(sum, 4 * 4950);
    long reduced = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : reduced)
    {
#pragma omp target in_reduction(+ : reduced)
        reduced += 5;
#pragma omp task in_reduction(+ : reduced)
        reduced += 6;
    }
    EQUAL(reduced, 11);
}

/* ---- teams, on the host ---- */

static int level(void) { return omp_get_level(); }
static int limit_of_threads(void) { return omp_get_thread_limit(); }

/* The compiler allows no other routines there, but does not check within functions. */
static void leagues(void) {
    int teams = 0, numbers = 0, threads = 0, in_range = 0;
    long sum = 0;
#pragma omp teams num_teams(4) thread_limit(3) reduction(+ : teams, numbers, threads, sum, in_range)
    {
        CHECK(omp_get_num_teams() == 4 && level() == 0);
        CHECK(limit_of_threads() == 3);
        teams++;
        numbers += omp_get_team_num();
        int here = 0;
#pragma omp parallel num_threads(8) reduction(+ : here)
        {
            here++;
            CHECK(omp_get_team_num() < 4);
        }
        threads += here;
#pragma omp distribute dist_schedule(static)
        for (int i = 0; i < 100; ++i) sum += i;
#pragma omp distribute parallel for num_threads(2) reduction(+ : in_range)
        for (int i = 0; i < 10; ++i) in_range++;
    }
    EQUAL(teams, 4);
    EQUAL(numbers, 6);
    CHECK(threads >= 4 && threads <= 12);
    EQUAL(sum, 4950);
    EQUAL(in_range, 10);
    int ranged = 0;
#pragma omp teams num_teams(2 : 3) reduction(+ : ranged)
    ranged++;
    CHECK(ranged >= 2 && ranged <= 3);
    EQUAL(omp_get_num_teams(), 1);
    EQUAL(omp_get_team_num(), 0);
    EQUAL(omp_get_max_teams(), 0);
    omp_set_num_teams(2);
    EQUAL(omp_get_max_teams(), 2);
    EQUAL(omp_get_teams_thread_limit(), 0);
    omp_set_teams_thread_limit(5);
    EQUAL(omp_get_teams_thread_limit(), 5);
    int by_variable = 0, limits = 0;
#pragma omp teams reduction(+ : by_variable, limits)
    {
        by_variable++;
        limits += limit_of_threads();
    }
    CHECK(by_variable >= 1 && by_variable <= 2);
    EQUAL(limits, 5 * by_variable);
}

/* ---- memory ---- */

static void memory(void) {
    EQUAL(omp_get_default_allocator(), omp_default_mem_alloc);
    for (omp_allocator_handle_t allocator = omp_default_mem_alloc; allocator <= omp_thread_mem_alloc; ++allocator) {
        char* const block = omp_alloc(100, allocator);
        CHECK(block != NULL);
        memset(block, 1, 100);
        omp_free(block, allocator);
    }
    CHECK(omp_alloc(0, omp_default_mem_alloc) == NULL);
    omp_free(NULL, omp_null_allocator);
    for (size_t alignment = 8; alignment <= 4096; alignment *= 2) {
        char* const block = omp_aligned_alloc(alignment, 2 * alignment, omp_null_allocator);
        CHECK(block != NULL && (uintptr_t)block % alignment == 0);
        memset(block, 2, 2 * alignment);
        omp_free(block, omp_null_allocator);
    }
    char* zeroed = omp_calloc(33, 3, omp_default_mem_alloc);
    int zeros = 0;
    for (int i = 0; i < 99; ++i) zeros += zeroed[i] == 0;
    EQUAL(zeros, 99);
    zeroed[98] = 7;
    zeroed = omp_realloc(zeroed, 5000, omp_default_mem_alloc, omp_default_mem_alloc);
    CHECK(zeroed != NULL && zeroed[98] == 7);
    zeroed = omp_realloc(zeroed, 0, omp_default_mem_alloc, omp_default_mem_alloc);
    CHECK(zeroed == NULL);
    CHECK(omp_calloc(SIZE_MAX / 2, 3, omp_default_mem_alloc) == NULL);
    omp_set_default_allocator(omp_large_cap_mem_alloc);
    EQUAL(omp_get_default_allocator(), omp_large_cap_mem_alloc);
    omp_set_default_allocator(omp_default_mem_alloc);

    /* A pool: what it lacks comes from the fall-back that its trait names. */
    const omp_alloctrait_t small[] = {{omp_atk_pool_size, 4096},
                                      {omp_atk_alignment, 64},
                                      {omp_atk_fallback, omp_atv_null_fb},
                                      {omp_atk_sync_hint, omp_atv_contended},
                                      {omp_atk_access, omp_atv_all},
                                      {omp_atk_pinned, omp_atv_false},
                                      {omp_atk_partition, omp_atv_environment}};
    const omp_allocator_handle_t pool = omp_init_allocator(omp_default_mem_space, 7, small);
    CHECK(pool != omp_null_allocator);
    void* const half = omp_alloc(2500, pool);
    CHECK(half != NULL && (uintptr_t)half % 64 == 0);
    CHECK(omp_alloc(2500, pool) == NULL);
    const omp_alloctrait_t chained[] = {
        {omp_atk_pool_size, 1024}, {omp_atk_fallback, omp_atv_allocator_fb}, {omp_atk_fb_data, pool}};
    const omp_allocator_handle_t chain = omp_init_allocator(omp_default_mem_space, 3, chained);
    void* const other = omp_alloc(1025, chain);
    CHECK(other != NULL && (uintptr_t)other % 64 == 0);
    CHECK(omp_alloc(2500, chain) == NULL);
    omp_free(half, pool);
    void* const again = omp_alloc(2000, chain);
    CHECK(again != NULL);
    omp_free(again, chain);
    omp_free(other, chain);
    omp_destroy_allocator(chain);
    omp_destroy_allocator(pool);
    const omp_alloctrait_t to_default[] = {{omp_atk_pool_size, 64}, {omp_atk_fallback, omp_atv_default_mem_fb}};
    const omp_allocator_handle_t tiny = omp_init_allocator(omp_default_mem_space, 2, to_default);
    void* const large = omp_alloc(100000, tiny);
    CHECK(large != NULL);
    omp_free(large, tiny);
    omp_destroy_allocator(tiny);
    const omp_alloctrait_t odd[] = {{omp_atk_alignment, 3}};
    CHECK(omp_init_allocator(omp_default_mem_space, 1, odd) == omp_null_allocator);

    int first = 5, right = 0;
#pragma omp parallel num_threads(4) private(zeros) firstprivate(first) allocate(omp_default_mem_alloc : zeros) \
    allocate(align(128), allocator(omp_large_cap_mem_alloc) : first) reduction(+ : right)
    {
        zeros = omp_get_thread_num();
        right += first == 5 && (uintptr_t)&first % 128 == 0 && zeros < 4;
    }
    EQUAL(right, 4);
#pragma omp parallel num_threads(4)
#pragma omp task firstprivate(first) allocate(first) shared(right)
#pragma omp atomic
    right += first;
    EQUAL(right, 24);
}

int main(void) {
    environment();
    places();
    devices();
    leagues(); /* before targets: on libgomp 12 a region in teams hangs or crashes if it comes after a target construct
                  with nowait outside of all regions */
    targets();
    memory();
#pragma omp error at(execution) severity(warning) message("a warning of the program's")
    omp_display_env(0);
    omp_display_env(1);
    return verdict();
}
