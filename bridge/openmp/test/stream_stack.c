/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Members of a team call on their stream's stack: as many as there are harts, and more. Where the
 * runtime is not Weft's, the call is a plain one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

#include "check.h"

static int (*on_stream_stack)(void (*fn)(void* argument), void* argument);

static void count(void* at) { ++*(int*)at; }

static void call(int* calls) {
    if (on_stream_stack == NULL) return count(calls);
    EQUAL(on_stream_stack(count, calls), 0);
}

static void from_a_team(int size) {
    int calls = 0;
#pragma omp parallel num_threads(size) reduction(+ : calls)
    for (int i = 0; i < 100; ++i) {
        int one = 0;
        call(&one);
        calls += one;
#pragma omp taskyield
    }
    EQUAL(calls, 100 * size);
}

static void from_nested_teams(void) {
    omp_set_max_active_levels(2);
    int calls = 0;
#pragma omp parallel num_threads(2) reduction(+ : calls)
    {
        int inner = 0;
#pragma omp parallel num_threads(3) reduction(+ : inner)
        for (int i = 0; i < 20; ++i) call(&inner);
        calls += inner;
    }
    EQUAL(calls, 2 * 3 * 20);
}

static void from_tasks(void) {
    int calls = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : calls)
    for (int i = 0; i < 50; ++i) {
#pragma omp task in_reduction(+ : calls)
        call(&calls);
    }
    EQUAL(calls, 50);
}

int main(void) {
    *(void**)&on_stream_stack = dlsym(RTLD_DEFAULT, "weft_on_stream_stack");
    EACH_SIZE(size) from_a_team(size);
    from_a_team(4 * (int)sysconf(_SC_NPROCESSORS_ONLN));
    from_nested_teams();
    from_tasks();
    return verdict();
}
