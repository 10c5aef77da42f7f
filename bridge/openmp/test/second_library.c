/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* See second.h. */
#include "second.h"

#include <omp.h>

extern int omp_get_thread_num_(void);

static void region(int threads, void (*body)(void *), void *data) {
    if (threads == 0) {
#pragma omp parallel
        body(data);
    } else {
#pragma omp parallel num_threads(threads)
        body(data);
    }
}

static struct where where(void) {
    const int level = omp_get_level();
    return (struct where){.number = omp_get_thread_num(),
                          .number_in_fortran = omp_get_thread_num_(),
                          .threads = omp_get_num_threads(),
                          .level = level,
                          .active_level = omp_get_active_level(),
                          .in_parallel = omp_in_parallel(),
                          .number_at_level = omp_get_ancestor_thread_num(level),
                          .size_of_team = omp_get_team_size(level),
                          .teams = omp_get_num_teams(),
                          .team = omp_get_team_num()};
}

static int max_threads(void) { return omp_get_max_threads(); }
static void set_num_threads(int threads) { omp_set_num_threads(threads); }
static void set_max_active_levels(int levels) { omp_set_max_active_levels(levels); }
static int dynamic(void) { return omp_get_dynamic(); }
static void set_dynamic(int is) { omp_set_dynamic(is); }
static void set_schedule(unsigned kind, int chunk) { omp_set_schedule((omp_sched_t)kind, chunk); }
static void schedule(unsigned *kind, int *chunk) {
    omp_sched_t found;
    omp_get_schedule(&found, chunk);
    *kind = (unsigned)found;
}

static int counted_under_locks(int threads) {
    struct {
        omp_lock_t plain, hinted;
        long after_plain;
        omp_nest_lock_t nested;
        long after_nested;
    } locks = {.after_plain = 77, .after_nested = 78};
    int count = 0;
    omp_init_lock(&locks.plain);
    omp_init_lock_with_hint(&locks.hinted, omp_lock_hint_uncontended);
    omp_init_nest_lock(&locks.nested);
#pragma omp parallel num_threads(threads)
    for (int i = 0; i < 100; ++i) {
        omp_set_lock(&locks.plain);
        omp_set_lock(&locks.hinted);
        omp_set_nest_lock(&locks.nested);
        const int again = omp_test_nest_lock(&locks.nested);
        if (again == 2) ++count;
        omp_unset_nest_lock(&locks.nested);
        omp_unset_nest_lock(&locks.nested);
        omp_unset_lock(&locks.hinted);
        omp_unset_lock(&locks.plain);
    }
    omp_destroy_lock(&locks.plain);
    omp_destroy_lock(&locks.hinted);
    omp_destroy_nest_lock(&locks.nested);
    return locks.after_plain == 77 && locks.after_nested == 78 ? count : -1;
}

static int detached(void) {
    int done = 0, ended = 0;
#pragma omp parallel num_threads(2) shared(done, ended)
#pragma omp single
    {
        omp_event_handle_t event;
#pragma omp task detach(event) shared(done)
        __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
        omp_fulfill_event(event);
#pragma omp taskwait
        ended = __atomic_load_n(&done, __ATOMIC_ACQUIRE);
    }
    return ended;
}

const struct second second_table = {region,  where,       max_threads, set_num_threads, set_max_active_levels,
                                    dynamic, set_dynamic, schedule,    set_schedule,    counted_under_locks,
                                    detached};
