/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Programs composed at random of regions in regions, loops, tasks in them, cancellations, and so
 * on, to a given depth. Each adds to a sum. A walk over the same program without OpenMP computes
 * what the sum must be. The seed alone determines the program. For C and C++. */
#ifndef COMPOSED_H
#define COMPOSED_H

#include <stdint.h>

#include "check.h"

static uint64_t next(uint64_t* state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15U;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27) * 0x94d049bb133111ebU;
    return x ^ x >> 31;
}
static int below(uint64_t* state, int bound) { return (int)(next(state) % (uint64_t)bound); }

/* A seed with this bit is of a program whose teams all have one thread, as they do for a caller
 * that cannot suspend; so are the seeds of its parts. */
#define OF_ONE (UINT64_C(1) << 63)
static uint64_t child(uint64_t seed, int number) {
    uint64_t state = (seed & ~OF_ONE) ^ (uint64_t)(number + 1) * 0xd1342543de82ef95U;
    return (next(&state) & ~OF_ONE) | (seed & OF_ONE);
}
static int threads_of(uint64_t seed, int wanted) { return (seed & OF_ONE) != 0 ? 1 : wanted; }

static int cancels;  /* OMP_CANCELLATION */
static long nothing; /* what is added to it may be left out */
static omp_lock_t lock;
static long guarded;
static omp_nest_lock_t nest;

static void add(long* sum, long value) {
#pragma omp atomic
    *sum += value;
}

/* Called after a cancel construct that is in force. */
static void not_here(void) {
    if (cancels) abort();
}

/* What is composed: all threads of a region meet `team`, one thread meets `alone`. With sum null
 * nothing runs, and the result is counted; otherwise it is added to *sum.
 *
 * Of a cancelled construct only what runs in any case counts: what the canceller does before, and
 * what it has waited for. The rest adds to `nothing`. */
static long team(uint64_t seed, int depth, int threads, long* sum);
static long alone(uint64_t seed, int depth, long* sum);

/* ---- what a program that includes this may add ---- */

/* Called now and then, anywhere: it may wait. NULL: nothing is called. */
static void (*pause_here)(uint64_t seed);
/* Like alone, for work that other callers do; there are kinds_of_others kinds of it. Programs of
 * teams of one have none. */
static long (*by_others)(uint64_t seed, int depth, long* sum);
static int kinds_of_others;

/* ---- target regions, each of which begins as the program does ---- */

static int kinds = 14; /* of constructs that one thread meets */

static void begin_region(void) {
    if (omp_get_level() != 0 || omp_get_num_threads() != 1 || omp_get_num_teams() != 1) abort();
    omp_set_max_active_levels(8);
}

/* Deferred target regions: each has the copies of its encounter. */
static void deferred_targets(uint64_t seed, int depth, int count, long* sum) {
    for (int i = 0; i < count; ++i) {
        int copies[3] = {i, 0, 0};
        const uint64_t here = child(seed, i);
#pragma omp target nowait firstprivate(copies)
        {
            begin_region();
            alone(here, depth, sum);
            add(sum, copies[0]);
        }
        copies[0] = 1000;
    }
#pragma omp taskwait
}

/* A chain of target regions: each finds the value that the one before has left. */
static void chained_targets(uint64_t seed, int depth, int count, long* sum) {
    int link = 0;
    for (int i = 0; i < count; ++i) {
#pragma omp target nowait depend(inout : link) map(tofrom : link) firstprivate(i)
        {
            begin_region();
            if (link != i) abort();
            link = i + 1;
            alone(seed, depth, sum);
        }
    }
#pragma omp taskwait
}

static void one_team(uint64_t seed, int depth, int count, long* sum) {
    const int mine = omp_get_team_num();
    omp_set_max_active_levels(8);
    alone(seed, depth, sum);
    if (omp_get_team_num() != mine || omp_get_num_teams() != count) abort();
    add(sum, 1);
}

static long targets(int kind, uint64_t seed, int depth, int count, long* sum) {
    const uint64_t here = child(seed, 0);
    if (sum == NULL) {
        if (kind != 1) return (alone(here, depth, NULL) + (kind != 2)) * (kind == 0 ? 1 : count);
        long total = 0;
        for (int i = 0; i < count; ++i) total += alone(child(seed, i), depth, NULL) + i;
        return total;
    }
    if (kind == 1) deferred_targets(seed, depth, count, sum);
    if (kind == 2) chained_targets(here, depth, count, sum);
    if (kind == 0) {
        const int copies[5] = {1, 2, 3, 4, 5};
#pragma omp target firstprivate(copies)
        {
            begin_region();
            alone(here, depth, sum);
            add(sum, copies[0]);
        }
    }
    if (kind == 3) {
#pragma omp target teams num_teams(count)
        one_team(here, depth, count, sum);
    }
    return 0;
}

/* ---- what one thread meets ---- */

static long alone(uint64_t seed, int depth, long* sum) {
    uint64_t state = seed;
    if (depth == 0) {
        if (sum != NULL && pause_here != NULL) pause_here(seed);
        if (sum != NULL) add(sum, 1);
        return 1;
    }
    const int own_kinds = kinds, all_kinds = own_kinds + ((seed & OF_ONE) != 0 ? 0 : kinds_of_others);
    const int kind = below(&state, all_kinds), count = 1 + below(&state, 4), who = below(&state, count);
    long total = 0;
    if (kind >= own_kinds) return by_others(child(seed, 0), depth - 1, sum);
    if (kind >= 14) return targets(kind - 14, seed, depth - 1, count, sum);
    switch (kind) {
    case 0: /* a region */
    case 1: {
        const int threads = threads_of(seed, 1 + below(&state, 4));
        if (sum == NULL) return team(child(seed, 0), depth - 1, threads, NULL);
#pragma omp parallel num_threads(threads)
        {
            if (omp_get_num_threads() != threads) abort();
            team(child(seed, 0), depth - 1, threads, sum);
        }
        return 0;
    }
    case 2: /* tasks, and a wait for them */
        for (int i = 0; i < count; ++i) {
            if (sum == NULL) {
                total += alone(child(seed, i), depth - 1, NULL);
                continue;
            }
#pragma omp task firstprivate(i)
            alone(child(seed, i), depth - 1, sum);
        }
        if (sum != NULL) {
#pragma omp taskwait
        }
        return total;
    case 3: /* a group, with tasks that nothing else waits for */
        if (sum == NULL) {
            for (int i = 0; i < count; ++i) total += alone(child(seed, i), depth - 1, NULL);
            return total;
        }
#pragma omp taskgroup
        for (int i = 0; i < count; ++i) {
#pragma omp task untied firstprivate(i) if (i != 1)
            alone(child(seed, i), depth - 1, sum);
        }
        return 0;
    case 4: { /* a chain of tasks: each finds the value that the one before has left */
        if (sum == NULL) return count * (count + 1) / 2;
        int link = 0;
        for (int i = 0; i < count; ++i) {
#pragma omp task depend(inout : link) shared(link) firstprivate(i)
            {
                if (link != i) abort();
                link = i + 1;
                add(sum, i + 1);
            }
        }
#pragma omp taskwait
        if (sum != &nothing && link != count)
            abort(); /* a task that adds to nothing may be cancelled, and its children with it */
        return 0;
    }
    case 5: /* a loop of tasks */
        if (sum == NULL) {
            for (int i = 0; i < count; ++i) total += alone(child(seed, i), depth - 1, NULL);
            return total;
        }
#pragma omp taskloop grainsize(1)
        for (int i = 0; i < count; ++i) alone(child(seed, i), depth - 1, sum);
        return 0;
    case 6: { /* a reduction by tasks */
        if (sum == NULL) return 10L * count;
        long mine = 0;
#pragma omp taskgroup task_reduction(+ : mine)
        for (int i = 0; i < count; ++i) {
#pragma omp task in_reduction(+ : mine)
            mine += 10;
        }
        add(sum, mine);
        return 0;
    }
    case 7: { /* locks: never held while another construct is met */
        if (sum == NULL) return 3;
        omp_set_lock(&lock);
        guarded++;
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
#pragma omp critical(composed)
        add(sum, 3);
        return 0;
    }
    case 8: { /* a chain of tasks that one of them cuts: those after it never begin */
        const int ran = cancels ? who + 1 : count;
        if (sum == NULL) {
            for (int i = 0; i < ran; ++i) total += alone(child(seed, i), depth - 1, NULL);
            return total;
        }
        int link = 0;
#pragma omp taskgroup
        for (int i = 0; i < count; ++i) {
#pragma omp task depend(inout : link) shared(link) firstprivate(i)
            {
                link++;
                alone(child(seed, i), depth - 1, sum);
                if (i == who) {
#pragma omp cancel taskgroup
                    not_here();
                }
            }
        }
        if (sum != &nothing && link != ran) abort();
        return 0;
    }
    case 9: /* a group that one of its tasks cancels, while others run or have not begun */
        if (sum == NULL) return alone(child(seed, who), depth - 1, NULL);
#pragma omp taskgroup
        for (int i = 0; i < count; ++i) {
#pragma omp task firstprivate(i) if (i != 2)
            if (i == who) {
                alone(child(seed, i), depth - 1, sum);
#pragma omp cancel taskgroup
                not_here();
            } else {
#pragma omp cancellation point taskgroup
                alone(child(seed, i), depth - 1, &nothing);
#pragma omp cancellation point taskgroup
            }
        }
        return 0;
    case 10: /* a loop of tasks that one of them cancels */
        if (sum == NULL) return alone(child(seed, who), depth - 1, NULL);
#pragma omp taskloop grainsize(1)
        for (int i = 0; i < count; ++i) {
            if (i == who) {
                alone(child(seed, i), depth - 1, sum);
#pragma omp cancel taskgroup
                not_here();
            } else {
                alone(child(seed, i), depth - 1, &nothing);
#pragma omp cancellation point taskgroup
            }
        }
        return 0;
    case 11: { /* a region that one of its threads cancels: no other passes the barrier that this one never reaches */
        const int threads = threads_of(seed, count), canceller = who % threads;
        if (sum == NULL) return team(child(seed, 0), depth - 1, threads, NULL) + alone(child(seed, 1), depth - 1, NULL);
#pragma omp parallel num_threads(threads)
        {
            team(child(seed, 0), depth - 1, threads, sum);
#pragma omp barrier
            if (omp_get_thread_num() == canceller) {
                alone(child(seed, 1), depth - 1, sum);
#pragma omp task
                alone(child(seed, 2), depth - 1, &nothing);
#pragma omp cancel parallel
                not_here();
            } else {
                alone(child(seed, 2), depth - 1, &nothing);
#pragma omp cancellation point parallel
            }
#pragma omp barrier
            not_here();
        }
        return 0;
    }
    case 12: { /* a loop that is cancelled in a region of its own, and then the region */
        const int threads = threads_of(seed, 1 + below(&state, 3));
        if (sum == NULL) return alone(child(seed, who), depth - 1, NULL) + threads;
#pragma omp parallel num_threads(threads)
        {
#pragma omp for schedule(guided)
            for (int i = 0; i < count; ++i) {
                if (i == who) {
                    alone(child(seed, i), depth - 1, sum);
#pragma omp cancel for
                    not_here();
                }
                alone(child(seed, i), 0, &nothing);
#pragma omp cancellation point for
            }
            add(sum, 1);
#pragma omp barrier
#pragma omp cancel parallel if (count != 2)
            if (count != 2) not_here();
        }
        return 0;
    }
    default: { /* a loop in a region of its own */
        const int threads = threads_of(seed, 1 + below(&state, 3));
        long values = 0;
        if (sum == NULL) return 45L * count;
#pragma omp parallel for num_threads(threads) reduction(+ : values) schedule(dynamic, 2)
        for (int i = 0; i < 10; ++i) values += (long)i * count;
        add(sum, values);
        return 0;
    }
    }
}

/* One thread makes it for all. */
static long* zero_for_all(void) {
    long* shared;
#pragma omp single copyprivate(shared)
    {
        shared = (long*)malloc(sizeof *shared);
        *shared = 0;
    }
    return shared;
}
static void add_and_free(long* sum, long* shared) {
#pragma omp single
    {
        add(sum, *shared);
        free(shared);
    }
}

static void shared_and_own(uint64_t here, int depth, int count, long* sum) {
    long* const shared = zero_for_all();
    long own = 0;
#pragma omp taskgroup task_reduction(+ : own)
    {
#pragma omp for schedule(dynamic) reduction(task, + : shared[ : 1])
        for (int i = 0; i < count; ++i) {
#pragma omp task in_reduction(+ : own, shared[ : 1]) firstprivate(i, here)
            {
                alone(child(here, i), depth, sum);
                own += 1;
                shared[0] += 10;
            }
        }
    }
    add(sum, own);
    add_and_free(sum, shared);
}

static void cancel_own(uint64_t here, int depth, int count, int who, long* sum) {
    long* const shared = zero_for_all();
#pragma omp taskgroup
    {
#pragma omp for schedule(static, 1) reduction(task, + : shared[ : 1])
        for (int i = 0; i < count; ++i) {
#pragma omp task firstprivate(i, here)
            alone(child(here, i), depth, sum);
            if (i != who) continue;
#pragma omp taskwait
#pragma omp task if (0)
            {
#pragma omp cancel taskgroup
                not_here();
            }
        }
#pragma omp task firstprivate(count, here)
        alone(child(here, count), depth, sum);
    }
    add_and_free(sum, shared);
}

static long team(uint64_t seed, int depth, int threads, long* sum) {
    uint64_t state = seed;
    long total = 0;
    const int steps = 1 + below(&state, 3);
    for (int step = 0; step < steps; ++step) {
        const uint64_t here = child(seed, 100 + step);
        const int kind = below(&state, 13), count = 1 + below(&state, 5), who = below(&state, count);
        if (sum != NULL && pause_here != NULL) pause_here(here);
        switch (kind) {
        case 0: /* each thread on its own */
            if (sum == NULL) total += threads * alone(here, depth, NULL);
            else alone(here, depth, sum);
            break;
        case 1:
            if (sum == NULL) {
                for (int i = 0; i < count; ++i) total += alone(child(here, i), depth, NULL);
                break;
            }
#pragma omp for schedule(dynamic)
            for (int i = 0; i < count; ++i) alone(child(here, i), depth, sum);
            break;
        case 2:
            if (sum == NULL) {
                for (int i = 0; i < count; ++i) total += alone(child(here, i), depth, NULL);
                break;
            }
#pragma omp for schedule(static, 1) nowait
            for (int i = 0; i < count; ++i) alone(child(here, i), depth, sum);
            break;
        case 3:
            if (sum == NULL) {
                total += alone(here, depth, NULL);
                break;
            }
#pragma omp single
            alone(here, depth, sum);
            break;
        case 4:
            if (sum == NULL) {
                total += alone(child(here, 0), depth, NULL) + alone(child(here, 1), depth, NULL);
                break;
            }
#pragma omp sections
            {
#pragma omp section
                alone(child(here, 0), depth, sum);
#pragma omp section
                alone(child(here, 1), depth, sum);
            }
            break;
        case 5: { /* in order */
            if (sum == NULL) {
                total += count;
                break;
            }
#pragma omp for ordered schedule(dynamic)
            for (int i = 0; i < count; ++i) {
#pragma omp ordered
                add(sum, 1);
            }
            break;
        }
        case 6: /* tasks that the region's next barrier waits for */
            if (sum == NULL) {
                total += threads * alone(here, depth, NULL);
                break;
            }
#pragma omp task firstprivate(here)
            alone(here, depth, sum);
#pragma omp barrier
            break;
        case 7: /* a loop that one iteration cancels; the task that it has made does not belong to the loop */
            if (sum == NULL) {
                total += 2 * alone(child(here, who), depth, NULL) + threads;
                break;
            }
#pragma omp for schedule(dynamic)
            for (int i = 0; i < count; ++i) {
                if (i == who) {
#pragma omp task firstprivate(i, here)
                    alone(child(here, i), depth, sum);
                    alone(child(here, i), depth, sum);
#pragma omp cancel for
                    not_here();
                } else {
#pragma omp cancellation point for
                    alone(child(here, i), depth, &nothing);
                }
            }
            add(sum, 1);
            break;
        case 8: { /* a loop that one iteration cancels, where each thread knows its iterations: the thread that
                     cancels does not begin its later ones */
            const int end = cancels ? who + 1 : count;
            if (sum == NULL) {
                for (int i = who % threads; i < end; i += threads) total += alone(child(here, i), depth, NULL);
                break;
            }
#pragma omp for schedule(static, 1)
            for (int i = 0; i < count; ++i) {
                alone(child(here, i), depth, i % threads == who % threads ? sum : &nothing);
#pragma omp cancel for if (i == who)
                if (i == who) not_here();
            }
            break;
        }
        case 9: /* sections, of which one cancels the others */
            if (sum == NULL) {
                total += alone(child(here, 0), depth, NULL) + threads;
                break;
            }
#pragma omp sections
            {
#pragma omp section
                {
#pragma omp cancellation point sections
                    alone(child(here, 1), depth, &nothing);
                }
#pragma omp section
                {
                    alone(child(here, 0), depth, sum);
#pragma omp cancel sections
                    not_here();
                }
#pragma omp section
                alone(child(here, 1), depth, &nothing);
            }
            add(sum, 1);
            break;
        case 10: /* a reduction by tasks that all threads share, within one of each thread's own */
            if (sum == NULL) {
                total += 11L * count;
                for (int i = 0; i < count; ++i) total += alone(child(here, i), depth, NULL);
                break;
            }
            shared_and_own(here, depth, count, sum);
            break;
        case 11: /* each thread's group; one thread cancels its own: tasks that it makes later do not begin */
            if (sum == NULL) {
                for (int i = 0; i < count; ++i) {
                    if (!cancels || i <= who || i % threads != who % threads)
                        total += alone(child(here, i), depth, NULL);
                }
                total += (threads - cancels) * alone(child(here, count), depth, NULL);
                break;
            }
            cancel_own(here, depth, count, who, sum);
            break;
        default: {
            if (sum == NULL) {
                total += threads;
                break;
            }
            int value = -1;
#pragma omp single copyprivate(value)
            value = count;
            if (value != count) abort();
            add(sum, 1);
            break;
        }
        }
    }
    return total;
}

#endif
