/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* k-means after Figure 16 of the dynamic promotion paper: 64 outer threads share the groups of
 * points, and make an inner task for every few points of a group, which assigns them to their
 * nearest centres and adds each to the sums of its cluster. L locks guard the sums: the fewer
 * locks, the more tasks find a lock held, and wait. If L exceeds K, the sums of a cluster are kept
 * in several copies, up to one for each worker; each copy has its lock, and a task chooses a copy
 * by the task's number.
 *
 *   kmeans LOCKS [POINTS [THREADS [ITERATIONS]]]
 *
 * Prints points per second, and the share of inner tasks that found a lock held. All numbers are
 * integers, so sums do not depend on the order of additions: centres that differ from those of the
 * sequential run, in any bit, are an error. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { features = 41, clusters = 24, points_of_task = 8, tasks_of_group = 128 };

typedef int16_t point[features];
struct sums {
    int64_t of[features], count;
};

static point *points, centres[clusters], expected[clusters];
static long point_count, copies, lock_count;
static struct sums *sums; /* for each cluster in turn, its copies */
static omp_lock_t *locks;

static uint64_t drawn(void) {
    static uint64_t state = 41;
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* Draws points around as many centres as there are labels in the file that the paper reads. */
static void draw_points(void) {
    enum { groups = 23 };
    static point around[groups];
    for (int g = 0; g < groups; ++g) {
        for (int f = 0; f < features; ++f) around[g][f] = (int16_t)(drawn() % 1024) - 512;
    }
    for (long i = 0; i < point_count; ++i) {
        const int g = (int)(drawn() % groups);
        for (int f = 0; f < features; ++f)
            points[i][f] = (int16_t)(around[g][f] + (int)(drawn() % 256) + (int)(drawn() % 256) - 256);
    }
}

static void begin(void) {
    for (int c = 0; c < clusters; ++c) memcpy(centres[c], points[c * (point_count / clusters)], sizeof(point));
}

static int nearest(const int16_t *p) {
    int32_t least = INT32_MAX;
    int best = 0;
    for (int c = 0; c < clusters; ++c) {
        int32_t distance = 0;
        for (int f = 0; f < features; ++f) {
            const int32_t difference = p[f] - centres[c][f];
            distance += difference * difference;
        }
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    return best;
}

static void add(struct sums *to, const int16_t *p) {
    for (int f = 0; f < features; ++f) to->of[f] += p[f];
    ++to->count;
}

static void move_centres(void) {
    for (int c = 0; c < clusters; ++c) {
        struct sums all = sums[c * copies];
        for (long k = 1; k < copies; ++k) {
            for (int f = 0; f < features; ++f) all.of[f] += sums[c * copies + k].of[f];
            all.count += sums[c * copies + k].count;
        }
        if (all.count == 0) continue; /* a centre without points stays */
        for (int f = 0; f < features; ++f) centres[c][f] = (int16_t)(all.of[f] / all.count);
    }
    memset(sums, 0, sizeof *sums * (size_t)(clusters * copies));
}

static long assign(long first) {
    const long copy = first / points_of_task % copies;
    const long last = first + points_of_task < point_count ? first + points_of_task : point_count;
    int met = 0;
    for (long i = first; i < last; ++i) {
        const long where = nearest(points[i]) * copies + copy;
        omp_lock_t *const lock = &locks[where % lock_count];
        if (!omp_test_lock(lock)) {
            met = 1;
            omp_set_lock(lock);
        }
        add(&sums[where], points[i]);
        omp_unset_lock(lock);
    }
    return met;
}

static long iterate(int threads) {
    long met = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (long group = 0; group < point_count; group += points_of_task * tasks_of_group) {
        const long end = group + points_of_task * tasks_of_group < point_count ? group + points_of_task * tasks_of_group
                                                                               : point_count;
        for (long first = group; first < end; first += points_of_task) {
#pragma omp task firstprivate(first) shared(met)
            if (assign(first)) {
#pragma omp atomic
                ++met;
            }
        }
#pragma omp taskwait
    }
    move_centres();
    return met;
}

static long argument(int count, char **arguments, int at, long otherwise) {
    if (at >= count) return otherwise;
    char *end;
    const long value = strtol(arguments[at], &end, 10);
    if (*end == '\0' && value > 0) return value;
    fprintf(stderr, "kmeans: %s is no number above 0\nusage: kmeans LOCKS [POINTS [THREADS [ITERATIONS]]]\n",
            arguments[at]);
    exit(2);
}

int main(int count, char **arguments) {
    lock_count = argument(count, arguments, 1, clusters);
    point_count = argument(count, arguments, 2, 100000);
    const int threads = (int)argument(count, arguments, 3, 64);
    const long iterations = argument(count, arguments, 4, 3);
    if (point_count < clusters) {
        fprintf(stderr, "kmeans: fewer points than clusters, of which there are %d\n", clusters);
        return 2;
    }
    copies = lock_count > clusters ? (lock_count + clusters - 1) / clusters : 1;
    points = malloc(sizeof *points * (size_t)point_count);
    sums = calloc((size_t)(clusters * copies), sizeof *sums);
    locks = malloc(sizeof *locks * (size_t)lock_count);
    if (points == NULL || sums == NULL || locks == NULL) {
        fputs("kmeans: out of memory\n", stderr);
        return 1;
    }
    for (long i = 0; i < lock_count; ++i) omp_init_lock(&locks[i]);
    draw_points();

    begin();
    for (long k = 0; k < iterations; ++k) {
        for (long i = 0; i < point_count; ++i) add(&sums[nearest(points[i]) * copies], points[i]);
        move_centres();
    }
    memcpy(expected, centres, sizeof centres);

    begin();
    iterate(threads); /* makes the threads */
    begin();
    long met = 0;
    const double start = omp_get_wtime();
    for (long k = 0; k < iterations; ++k) met += iterate(threads);
    const double seconds = omp_get_wtime() - start;
    if (memcmp(expected, centres, sizeof centres) != 0) {
        fputs("kmeans: other centres than the sequential run's\n", stderr);
        return 1;
    }
    const double tasks = (double)((point_count + points_of_task - 1) / points_of_task * iterations);
    printf("locks %ld points/s %.0f suspension %.5f\n", lock_count, (double)(point_count * iterations) / seconds,
           (double)met / tasks);
    return 0;
}
