/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A process with two OpenMP runtimes: this program's regions are GNU's, and those of a library
 * (second.h) are LLVM's. Each omp_ call is answered by the runtime in whose region the caller is.
 *
 *   second CASE LIBRARY [RUNTIME]     RUNTIME is loaded first, for all; otherwise the library
 *                                     brings its own
 */
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "second.h"

static const struct second *second;

/* What each thread of a team checks. The runtime of a team counts as levels the regions that it
 * knows around this thread: deeper than two these counts differ by thread (any_level). */
enum { any_level = -1 };
struct team {
    const struct team *around;
    int ours, threads, level;
    unsigned seen; /* a bit for each number */
    void (*within)(struct team *);
};

static int within_ours(const struct team *team) { return team != NULL && (team->ours || within_ours(team->around)); }

static void check_here(const struct team *team) {
    const struct where there = second->where();
    EQUAL(there.threads, team->threads);
    EQUAL(there.size_of_team, team->threads);
    EQUAL(there.level, team->level == any_level ? there.level : team->level);
    EQUAL(there.active_level, there.level);
    EQUAL(there.in_parallel, there.level > 0);
    EQUAL(there.number_in_fortran, there.number);
    EQUAL(there.number_at_level, there.number);
    EQUAL(there.teams, 1);
    EQUAL(there.team, 0);
    /* For code that gcc has compiled, a thread of GNU's is not asked whether it has begun a region
     * of LLVM's since (doc/decisions/0035-several-openmp-runtimes.md). */
    if (!team->ours && within_ours(team->around)) return;
    EQUAL(omp_get_thread_num(), there.number);
    EQUAL(omp_get_num_threads(), team->threads);
    EQUAL(omp_get_team_size(there.level), team->threads);
    EQUAL(omp_get_level(), there.level);
    EQUAL(omp_in_parallel(), there.level > 0);
    EQUAL(omp_get_ancestor_thread_num(there.level), there.number);
}

static void be_in(void *raw) {
    struct team *const team = raw;
    check_here(team);
    __atomic_or_fetch(&team->seen, 1U << second->where().number, __ATOMIC_RELAXED);
    if (team->within != NULL) team->within(team);
    check_here(team);
}

static void theirs(const struct team *around, int threads, int level, void (*within)(struct team *)) {
    struct team team = {around, 0, threads, level, 0, within};
    second->region(threads, be_in, &team);
    EQUAL(team.seen, (1U << threads) - 1);
}

static void ours(const struct team *around, int threads, int level, void (*within)(struct team *)) {
    struct team team = {around, 1, threads, level, 0, within};
#pragma omp parallel num_threads(threads)
    be_in(&team);
    EQUAL(team.seen, (1U << threads) - 1);
}

static void outside(void) {
    const struct team alone = {NULL, 0, 1, 0, 0, NULL};
    check_here(&alone);
}

static void theirs_within(struct team *team) { theirs(team, 3, 1, NULL); }
static void ours_within(struct team *team) { ours(team, 2, 1, NULL); }
static void theirs_at_last(struct team *team) { theirs(team, 3, any_level, NULL); }
static void ours_then_theirs(struct team *team) { ours(team, 3, any_level, theirs_at_last); }
static void theirs_ours_theirs(struct team *team) { theirs(team, 2, 1, ours_then_theirs); }

static void places(void) {
    outside();
    theirs(NULL, 3, 1, NULL);
    outside();
    ours(NULL, 2, 1, theirs_within);
    outside();
    theirs(NULL, 3, 1, ours_within);
    outside();
    ours(NULL, 2, 1, theirs_ours_theirs);
    outside();
}

/* OS threads that the program makes, even while regions of both kinds run elsewhere. */
static void *in_thread(void *unused) {
    outside();
    for (int i = 0; i < 20; ++i) theirs(NULL, 2, 1, ours_within);
    outside();
    return unused;
}
static void threads(void) {
    pthread_t made[3];
    for (int i = 0; i < 3; ++i) pthread_create(&made[i], NULL, in_thread, NULL);
    for (int i = 0; i < 20; ++i) ours(NULL, 2, 1, theirs_within);
    for (int i = 0; i < 3; ++i) pthread_join(made[i], NULL);
}

/* One after the other: the members of a thread that has ended leave pthreads behind, and the other
 * runtime has known these. */
static void *in_one_of_many(void *unused) {
    ours(NULL, 4, 1, theirs_within);
    return unused;
}
static void many_threads(void) {
    for (int i = 0; i < 20; ++i) {
        pthread_t made;
        pthread_create(&made, NULL, in_one_of_many, NULL);
        pthread_join(made, NULL);
    }
}

static void count(void *counter) { __atomic_add_fetch((int *)counter, 1, __ATOMIC_RELAXED); }
static int size_of_theirs(void) {
    int size = 0;
    second->region(0, count, &size);
    return size;
}
static int size_of_ours(void) {
    int size = 0;
#pragma omp parallel
    count(&size);
    return size;
}

static void check_both(int threads) {
    EQUAL(omp_get_max_threads(), threads);
    EQUAL(second->max_threads(), threads);
    EQUAL(size_of_ours(), threads);
    EQUAL(size_of_theirs(), threads);
}

static void setters(void) {
    second->region(2, count, &(int){0}); /* the other runtime has begun */
    omp_set_num_threads(5);
    check_both(5);
    second->set_num_threads(4);
    check_both(4);
    for (int is = 1; is >= 0; --is) {
        omp_set_dynamic(is);
        EQUAL(second->dynamic(), is);
        second->set_dynamic(!is);
        EQUAL(omp_get_dynamic(), !is);
        EQUAL(second->dynamic(), !is);
    }
    omp_set_dynamic(0);
    omp_sched_t kind;
    unsigned kind_there;
    int chunk;
    omp_set_schedule(omp_sched_dynamic, 7);
    second->schedule(&kind_there, &chunk);
    CHECK(kind_there == omp_sched_dynamic && chunk == 7);
    second->set_schedule(omp_sched_guided, 3);
    omp_get_schedule(&kind, &chunk);
    CHECK(kind == omp_sched_guided && chunk == 3);
    second->set_max_active_levels(3);
    EQUAL(omp_get_max_active_levels(), 3);
}

/* In a region a setter reaches the runtime of the caller's own regions, for this thread. */
static void set_in_region(void *raw) {
    omp_set_num_threads(6);
    EQUAL(omp_get_max_threads(), 6);
    EQUAL(second->max_threads(), 4);
    second->set_num_threads(7);
    EQUAL(omp_get_max_threads(), 6);
    EQUAL(second->max_threads(), 7);
    count(raw);
}
static void setters_in_regions(void) {
    int done = 0;
    second->region(2, count, &done);
    omp_set_num_threads(4);
    second->region(2, set_in_region, &done);
    second->set_num_threads(4);
    EQUAL(omp_get_max_threads(), 4);
    EQUAL(second->max_threads(), 4);
    EQUAL(done, 4);
}

/* A setting from before the other runtime began. */
static void early(void) {
    omp_set_num_threads(3);
    second->region(2, count, &(int){0});
    check_both(3);
}
static void early_by_library(void) {
    second->set_num_threads(3);
    check_both(3);
}

static void locks(void) {
    EQUAL(second->counted_under_locks(3), 300);
    EQUAL(second->detached(), 1);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"places", places},
                 {"threads", threads},
                 {"many_threads", many_threads},
                 {"setters", setters},
                 {"setters_in_regions", setters_in_regions},
                 {"early", early},
                 {"early_by_library", early_by_library},
                 {"locks", locks}};
    if (argc > 3 && dlopen(argv[3], RTLD_NOW | RTLD_GLOBAL) == NULL) fprintf(stderr, "%s\n", dlerror());
    void *const library = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;
    second = library == NULL ? NULL : dlsym(library, "second_table");
    if (second == NULL) {
        fprintf(stderr, "second CASE LIBRARY [RUNTIME]: %s\n", dlerror());
        return 2;
    }
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; ++i) {
        if (strcmp(argv[1], cases[i].name) == 0) return cases[i].run(), verdict();
    }
    return 2;
}
