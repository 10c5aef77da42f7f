/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Threads are in the places that the policy names, and run there: at the region's begin, after
 * barriers, and when there are more threads than CPUs. */
#define _GNU_SOURCE
#include <sched.h>
#include <unistd.h>

#include "check.h"

static int is_of_place(int cpu, int place) {
    int cpus[1024];
    const int count = omp_get_place_num_procs(place);
    CHECK(count <= 1024);
    omp_get_place_proc_ids(place, cpus);
    for (int i = 0; i < count; ++i) {
        if (cpus[i] == cpu) return 1;
    }
    return 0;
}

/* The OS thread that runs this may only be in the thread's place. */
static void stands_in_its_place(void) {
    const int place = omp_get_place_num();
    CHECK(place >= 0 && place < omp_get_num_places());
    CHECK(is_of_place(sched_getcpu(), place));
    cpu_set_t cpus;
    CHECK(sched_getaffinity(0, sizeof cpus, &cpus) == 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &cpus)) CHECK(is_of_place(cpu, place));
    }
}

/* The place of thread `number` of so many threads, with so many places, from place 0 on. */
static int close_place(int number, int threads, int places) {
    if (threads <= places) return number % places;
    const int each = threads / places;
    return number < each * places ? number / each : number - each * places;
}

static void close_and_primary(int threads) {
    const int places = omp_get_num_places();
#pragma omp parallel num_threads(threads) proc_bind(close)
    {
        EQUAL(omp_get_place_num(), close_place(omp_get_thread_num(), omp_get_num_threads(), places));
        EQUAL(omp_get_partition_num_places(), places);
        for (int round = 0; round < 50; ++round) {
            stands_in_its_place();
#pragma omp barrier
        }
    }
#pragma omp parallel num_threads(threads) proc_bind(primary)
    {
        EQUAL(omp_get_place_num(), 0);
        stands_in_its_place();
#pragma omp barrier
        stands_in_its_place();
    }
}

/* Each thread has its own part of the places, which its inner teams are in. */
static void spread(int threads) {
    const int places = omp_get_num_places();
    int *seen = calloc((size_t)places, sizeof *seen);
#pragma omp parallel num_threads(threads) proc_bind(spread)
    {
        const int own = omp_get_place_num(), count = omp_get_partition_num_places();
        int *part = malloc((size_t)count * sizeof *part);
        omp_get_partition_place_nums(part);
        CHECK(own >= part[0] && own <= part[count - 1]);
        for (int i = 0; i < count; ++i) {
#pragma omp atomic
            seen[part[i]]++;
        }
        stands_in_its_place();
#pragma omp parallel num_threads(2)
        {
            CHECK(omp_get_place_num() >= part[0] && omp_get_place_num() <= part[count - 1]);
            stands_in_its_place();
        }
        EQUAL(omp_get_place_num(), own);
        stands_in_its_place();
        free(part);
    }
    const int each = threads / places;
    for (int i = 0; i < places; ++i) CHECK(threads <= places ? seen[i] == 1 : seen[i] == each || seen[i] == each + 1);
    free(seen);
}

int main(int count, char **arguments) {
    if (getenv("OMP_PLACES") == NULL) {
        setenv("OMP_PLACES", "threads", 1);
        setenv("OMP_PROC_BIND", "close", 1);
        setenv("OMP_MAX_ACTIVE_LEVELS", "2", 1);
        execv("/proc/self/exe", arguments);
        perror("execv");
        return 1;
    }
    CHECK(omp_get_num_places() >= 1);
    EQUAL(omp_get_place_num(), 0);
    stands_in_its_place();
    EACH_SIZE(size) {
        close_and_primary(size);
        spread(size);
    }
    stands_in_its_place();
    return verdict();
}
