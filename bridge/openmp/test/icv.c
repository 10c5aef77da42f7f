/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Internal control variables: what a task sets holds for the task, and for what it makes
 * afterwards; and the routines that read them. */
#include <string.h>

#include "check.h"

static void inheritance(void) {
    omp_set_num_threads(3);
    EQUAL(omp_get_max_threads(), 3);
    int sum = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
        CHECK(omp_get_max_threads() == 3);
        omp_set_num_threads(omp_get_thread_num() + 4);
#pragma omp barrier
        CHECK(omp_get_max_threads() == omp_get_thread_num() + 4);
        int inner = 0;
#pragma omp parallel reduction(+ : inner)
        inner++;
        CHECK(inner == omp_get_thread_num() + 4);
#pragma omp task
        CHECK(omp_get_max_threads() >= 4);
        sum += inner;
    }
    EQUAL(sum, 9);
    EQUAL(omp_get_max_threads(), 3);
}

static void limits(void) {
    omp_set_max_active_levels(1);
    EQUAL(omp_get_max_active_levels(), 1);
    CHECK(!omp_get_nested());
    omp_set_max_active_levels(5);
    EQUAL(omp_get_max_active_levels(), 5);
    CHECK(omp_get_nested());
    CHECK(omp_get_supported_active_levels() >= 5);
    omp_set_dynamic(1);
    CHECK(omp_get_dynamic());
    omp_set_dynamic(0);
    CHECK(!omp_get_dynamic());
    CHECK(omp_get_thread_limit() > 0);
    CHECK(omp_get_num_procs() > 0);
    CHECK(omp_get_max_task_priority() >= 0);
    const double before = omp_get_wtime();
    CHECK(omp_get_wtime() >= before && omp_get_wtick() > 0);
}

static void places(void) {
    const int places = omp_get_num_places();
    CHECK(places >= 0);
    for (int i = 0; i < places; ++i) {
        const int count = omp_get_place_num_procs(i);
        CHECK(count > 0 && count < 1024);
        int ids[1024];
        omp_get_place_proc_ids(i, ids);
        for (int k = 0; k < count; ++k) CHECK(ids[k] >= 0);
    }
    EQUAL(omp_get_place_num_procs(-1), 0);
}

static void affinity_format(void) {
    char text[64];
    omp_set_affinity_format("%n of %N at %L, %%");
    EQUAL(omp_get_affinity_format(text, sizeof text), 18);
    CHECK(strcmp(text, "%n of %N at %L, %%") == 0);
    EQUAL(omp_capture_affinity(text, sizeof text, NULL), 14);
    CHECK(strcmp(text, "0 of 1 at 0, %") == 0);
    EQUAL(omp_capture_affinity(text, sizeof text, "%0.4{thread_num}|%3n|%.3n"), 12);
    CHECK(strcmp(text, "0000|0  |  0") == 0);
}

static void memory(void) {
    EQUAL(omp_get_default_allocator(), omp_default_mem_alloc);
    const omp_alloctrait_t traits[] = {
        {omp_atk_alignment, 256}, {omp_atk_pool_size, 8192}, {omp_atk_fallback, omp_atv_null_fb}};
    const omp_allocator_handle_t allocator = omp_init_allocator(omp_default_mem_space, 3, traits);
    CHECK(allocator != omp_null_allocator);
    char* const block = omp_alloc(1000, allocator);
    CHECK(block != NULL && (unsigned long)block % 256 == 0);
    memset(block, 1, 1000);
    CHECK(omp_alloc(100000, allocator) == NULL);
    char* const larger = omp_realloc(block, 3000, allocator, allocator);
    CHECK(larger != NULL && larger[999] == 1);
    omp_free(larger, allocator);
    char* const zeroed = omp_aligned_calloc(64, 10, 100, omp_default_mem_alloc);
    CHECK(zeroed != NULL && (unsigned long)zeroed % 64 == 0 && zeroed[999] == 0);
    omp_free(zeroed, omp_null_allocator);
    omp_destroy_allocator(allocator);
    int value = 3;
#pragma omp parallel num_threads(2) private(value) allocate(omp_default_mem_alloc : value)
    {
        value = omp_get_thread_num();
        CHECK(value < 2);
    }
}

static void host_devices(void) {
    EQUAL(omp_get_num_devices(), 0);
    CHECK(omp_is_initial_device());
    int value = 1, copied = 5, inside = -1;
#pragma omp target map(tofrom : value, inside) firstprivate(copied)
    {
        value += copied;
        copied = 100;
        inside = omp_get_level();
    }
    EQUAL(value, 6);
    EQUAL(copied, 5);
    EQUAL(inside, 0);
#pragma omp target data map(tofrom : value)
    {
#pragma omp target update to(value)
#pragma omp target nowait depend(inout : value) map(tofrom : value)
        value *= 2;
#pragma omp taskwait
    }
    EQUAL(value, 12);
    long sum = 0;
#pragma omp target teams distribute parallel for num_teams(2) thread_limit(3) reduction(+ : sum) map(tofrom : sum)
    for (int i = 0; i < 100; ++i) sum += i;
    EQUAL(sum, 4950);
    int teams = 0, numbers = 0;
#pragma omp teams num_teams(3) reduction(+ : teams, numbers)
    {
        teams++;
        numbers += omp_get_team_num();
        CHECK(omp_get_num_teams() == 3);
    }
    EQUAL(teams, 3);
    EQUAL(numbers, 3);
    int* const block = omp_target_alloc(64, omp_get_initial_device());
    CHECK(block != NULL && omp_target_is_present(block, omp_get_initial_device()));
    const int from[4] = {1, 2, 3, 4};
    EQUAL(omp_target_memcpy(block, from, sizeof from, 0, 0, omp_get_initial_device(), omp_get_initial_device()), 0);
    EQUAL(block[3], 4);
    omp_target_free(block, omp_get_initial_device());
}

int main(void) {
    inheritance();
    limits();
    places();
    affinity_format();
    memory();
    host_devices();
    return verdict();
}
