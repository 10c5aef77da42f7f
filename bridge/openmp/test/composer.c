/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Programs composed at random (composed.h), to a depth of four. Prints the seed of a program whose
 * sum is wrong.
 *
 *     composer [targets] [SECONDS [SEED]]
 *
 * With `targets` also target regions and leagues, in which libgomp 12 crashes. */
#include <string.h>
#include <time.h>

#include "composed.h"

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int count, char** arguments) {
    if (count > 1 && strcmp(arguments[1], "targets") == 0) {
        kinds = 18;
        --count;
        ++arguments;
    }
    const double seconds = count > 1 ? atof(arguments[1]) : 5;
    const int one = count > 2;
    uint64_t seed = one ? strtoull(arguments[2], NULL, 0) : (uint64_t)time(NULL) << 20;
    printf("seed %#llx\n", (unsigned long long)seed);
    cancels = omp_get_cancellation();
    omp_set_max_active_levels(8);
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
    long programs = 0;
    for (const double end = now() + seconds; now() < end && wrong_count == 0; ++seed, ++programs) {
        long sum = 0;
        const long expected = team(seed, 4, 4, NULL);
#pragma omp parallel num_threads(4)
        team(seed, 4, 4, &sum);
        if (sum != expected) fprintf(stderr, "seed %#llx: \n", (unsigned long long)seed);
        EQUAL(sum, expected);
    }
    printf("%ld programs\n", programs);
    return verdict();
}
