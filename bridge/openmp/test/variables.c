/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a program sees of the variables: the results of all routines, and the sizes of its regions.
 * variables.py runs it with many values. */
#include <string.h>

#include "check.h"

static int size(void) {
    int threads = 0;
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
    return threads;
}

int main(void) {
    printf("max_threads %d\n", omp_get_max_threads());
    printf("num_procs %d\n", omp_get_num_procs());
    printf("dynamic %d\n", omp_get_dynamic());
    printf("nested %d\n", omp_get_nested());
    printf("cancellation %d\n", omp_get_cancellation());
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    printf("schedule %#x,%d\n", (unsigned)kind, chunk);
    printf("thread_limit %d\n", omp_get_thread_limit());
    printf("max_active_levels %d of %d\n", omp_get_max_active_levels(), omp_get_supported_active_levels());
    printf("proc_bind %d\n", omp_get_proc_bind());
    printf("default_device %d of %d, initial %d\n", omp_get_default_device(), omp_get_num_devices(),
           omp_get_initial_device());
    printf("max_task_priority %d\n", omp_get_max_task_priority());
    printf("default_allocator %lu\n", (unsigned long)omp_get_default_allocator());
    printf("max_teams %d, teams_thread_limit %d\n", omp_get_max_teams(), omp_get_teams_thread_limit());
    const int places = omp_get_num_places();
    printf("places %d, at %d, partition %d:", places, omp_get_place_num(), omp_get_partition_num_places());
    for (int place = 0; place < places; ++place) {
        int cpus[1024];
        omp_get_place_proc_ids(place, cpus);
        printf(" {");
        for (int i = 0; i < omp_get_place_num_procs(place); ++i) printf("%s%d", i == 0 ? "" : ",", cpus[i]);
        printf("}");
    }
    printf("\n");
    char format[256];
    omp_get_affinity_format(format, sizeof format);
    printf("affinity_format %s\n", format);
    /* Not where thousands of threads are set: they are seen above. */
    if (omp_get_max_threads() <= 64) {
        int outer = 0, inner = 0, innermost = 0, bind = 0;
#pragma omp parallel reduction(+ : outer)
        {
            outer++;
#pragma omp masked
            {
                bind = omp_get_proc_bind();
#pragma omp parallel reduction(+ : inner)
                {
                    inner++;
#pragma omp masked
                    innermost = size();
                }
            }
        }
        printf("regions %d, %d, %d, bound %d\n", outer, inner, innermost, bind);
    }
    int teams = 0;
#pragma omp teams reduction(+ : teams)
    teams++;
    printf("teams %d\n", teams);
    fflush(stdout);
    omp_display_env(1);
    return 0;
}
