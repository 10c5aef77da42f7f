/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The messages on standard error: the texts of the error directive, faulty affinity formats, and
   missing memory. messages.py runs it with a case's name. */
#include <stdint.h>
#include <string.h>

#include "check.h"

enum { long_bytes = 3000 };

static char long_text[long_bytes + 1];

static omp_allocator_handle_t small(omp_uintptr_t fallback) {
    const omp_alloctrait_t traits[] = {{omp_atk_pool_size, 100}, {omp_atk_fallback, fallback}};
    return omp_init_allocator(omp_default_mem_space, 2, traits);
}

static void warn(const char* text) {
#pragma omp error at(execution) severity(warning) message(text)
}

/* Cases that go on after the directive. */
static int warning(const char* name) {
    if (strcmp(name, "literal") == 0) {
#pragma omp error at(execution) severity(warning) message("a literal: %d %s\n")
    } else if (strcmp(name, "empty") == 0) {
        warn("");
    } else if (strcmp(name, "null") == 0) {
        warn(NULL);
    } else if (strcmp(name, "none") == 0) {
#pragma omp error at(execution) severity(warning)
    } else if (strcmp(name, "long") == 0) {
        warn(long_text);
    } else if (strcmp(name, "lines") == 0) {
        fprintf(stderr, "in a line");
        warn("two\nlines");
        warn("more");
    } else if (strcmp(name, "threads") == 0) {
#pragma omp parallel num_threads(8)
        for (int i = 0; i < 20; ++i) warn(long_text);
    } else if (strcmp(name, "places") == 0) {
#pragma omp target
        warn("in a target region");
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp task
        warn("in a task");
    } else if (strcmp(name, "settings") == 0) {
        /* The environment is displayed as it was at first, whatever has been set since. */
        omp_set_num_threads(7);
        omp_set_schedule(omp_sched_guided, 9);
        omp_set_dynamic(1);
        omp_set_max_active_levels(3);
        omp_set_default_allocator(omp_const_mem_alloc);
        omp_set_default_device(2);
        omp_set_affinity_format("set %n");
#pragma omp parallel num_threads(2)
#pragma omp single
        omp_display_env(0);
    } else {
        return 0;
    }
    printf("goes on\n");
    return 1;
}

/* Cases that end the process, with all that has been printed. */
static int fatal(const char* name) {
    printf("printed");
    if (strcmp(name, "fatal") == 0) {
#pragma omp error at(execution) severity(fatal) message("of the program's")
    } else if (strcmp(name, "fatal_by_default") == 0) {
#pragma omp error at(execution)
    } else if (strcmp(name, "fatal_long") == 0) {
#pragma omp error at(execution) message(long_text)
    } else if (strcmp(name, "fatal_in_region") == 0) {
#pragma omp parallel num_threads(4)
#pragma omp single
        {
#pragma omp error at(execution) severity(fatal) message("in a region")
        }
    } else if (strcmp(name, "abort") == 0) {
        omp_alloc(1000, small(omp_atv_abort_fb));
    } else if (strcmp(name, "abort_calloc") == 0) {
        omp_aligned_calloc(64, 100, 10, small(omp_atv_abort_fb));
    } else if (strcmp(name, "abort_realloc") == 0) {
        omp_realloc(omp_alloc(10, omp_default_mem_alloc), 2000, small(omp_atv_abort_fb), omp_null_allocator);
    } else if (strcmp(name, "clause") == 0) {
        /* Where the clause has no memory there is no null pointer. */
        char text[500] = "";
        const omp_allocator_handle_t none = small(omp_atv_null_fb);
#pragma omp parallel num_threads(1) firstprivate(text) allocate(none : text)
        printf("%s", text);
    } else {
        return 0;
    }
    return 1;
}

int main(int count, char** arguments) {
    if (count < 2) return 2;
    memset(long_text, 'x', long_bytes);
    if (strcmp(arguments[1], "format") == 0) {
        char text[100];
        printf("%zu %s\n", omp_capture_affinity(text, sizeof text, arguments[2]), text);
        return 0;
    }
    if (strcmp(arguments[1], "display") == 0) {
        omp_display_affinity(arguments[2]);
        return 0;
    }
    return warning(arguments[1]) || fatal(arguments[1]) ? 0 : 2;
}
