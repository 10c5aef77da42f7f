/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What orders tasks: depend of every type, objects of it, iterators, waits for some tasks, events
 * that other threads fulfil; and which thread may run what. */
#include <pthread.h>
#include <string.h>

#include "check.h"

static void types(void) {
    EACH_SIZE(size) {
        int x = 0, readers = 0, sum = 0, late = 0, inside = 0, overlaps = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        for (int round = 0; round < 30; ++round) {
#pragma omp task depend(out : x) shared(x, readers, late)
            {
                late += readers % 4 != 0;
                x = round;
            }
            for (int i = 0; i < 4; ++i) {
#pragma omp task depend(in : x) shared(x, readers, late)
                {
#pragma omp atomic
                    late += x != round;
#pragma omp atomic
                    readers++;
                }
            }
            for (int i = 0; i < 3; ++i) {
#pragma omp task depend(mutexinoutset : x) shared(x, readers, sum, late, inside, overlaps)
                {
                    int all;
#pragma omp atomic read
                    all = readers;
                    late += all != 4 * (round + 1);
#pragma omp atomic capture
                    all = inside++;
                    overlaps += all;
                    sum++;
#pragma omp atomic
                    inside--;
                }
            }
#pragma omp task depend(inout : x) shared(sum, late)
            late += sum != 3 * (round + 1);
        }
        EQUAL(readers, 120);
        EQUAL(sum, 90);
        EQUAL(late, 0);
        EQUAL(overlaps, 0);
    }
}

/* Siblings only: children have a graph of their own. And one address several times, with several
 * types. */
static void scopes(void) {
    EACH_SIZE(size) {
        int x = 0, y = 0, order = 0, wrong = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        {
#pragma omp task depend(inout : x) shared(x, order, wrong)
            {
                for (int i = 0; i < 10; ++i) {
#pragma omp task depend(inout : x) shared(x, order, wrong) firstprivate(i)
                    {
                        wrong += order++ != i;
                        x++;
                    }
                }
#pragma omp taskwait
            }
#pragma omp task depend(in : x) depend(inout : y) depend(out : x) shared(x, y, wrong)
            {
                wrong += x != 10;
                y = x;
            }
#pragma omp taskwait depend(in : y) depend(inout : x)
            EQUAL(y, 10);
        }
        EQUAL(wrong, 0);
    }
}

static void grids(void) {
    EACH_SIZE(size) {
        static int cell[21][21];
        memset(cell, 0, sizeof cell);
#pragma omp parallel num_threads(size)
#pragma omp single
        for (int i = 1; i <= 20; ++i)
            for (int k = 1; k <= 20; ++k) {
#pragma omp task depend(in : cell[i - 1][k], cell[i][k - 1]) depend(out : cell[i][k])
                cell[i][k] = (cell[i - 1][k] > cell[i][k - 1] ? cell[i - 1][k] : cell[i][k - 1]) + 1;
            }
        int right = 0;
        for (int i = 1; i <= 20; ++i)
            for (int k = 1; k <= 20; ++k) right += cell[i][k] == i + k - 1;
        EQUAL(right, 400);
    }
}

static void objects(void) {
    EACH_SIZE(size) {
        int x = 0, y = 0, z = 0, wrong = 0;
        omp_depend_t object, other, set;
#pragma omp depobj(object) depend(out : x)
#pragma omp depobj(other) depend(mutexinoutset : y)
#pragma omp depobj(set) depend(inout : z)
#pragma omp parallel num_threads(size)
#pragma omp single
        {
            for (int i = 0; i < 20; ++i) {
#pragma omp task depend(depobj : object, other) shared(x, y, wrong) firstprivate(i)
                {
                    wrong += x != i;
                    x++;
                    y += 2;
                }
#pragma omp task depend(depobj : set) depend(in : x) shared(z)
                z++;
            }
#pragma omp depobj(object) update(in)
#pragma omp task depend(depobj : object) depend(in : y, z) shared(x, y, z, wrong)
            wrong += x != 20 || y != 40 || z != 20;
        }
#pragma omp depobj(object) destroy
#pragma omp depobj(other) destroy
#pragma omp depobj(set) destroy
        EQUAL(wrong, 0);
    }
}

static void iterators(void) {
    EACH_SIZE(size) {
        int cell[30] = {0}, sum = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        {
            for (int i = 0; i < 30; ++i) {
#pragma omp task depend(out : cell[i]) shared(cell) firstprivate(i)
                cell[i] = i;
            }
#pragma omp task depend(iterator(int i = 0 : 5, k = 0 : 30 : 6), in : cell[i + k]) \
    affinity(iterator(j = 0 : 3) : cell[j]) shared(cell, sum)
            for (int i = 0; i < 5; ++i)
                for (int k = 0; k < 30; k += 6) sum += cell[i + k];
        }
        int expected = 0;
        for (int i = 0; i < 5; ++i)
            for (int k = 0; k < 30; k += 6) expected += i + k;
        EQUAL(sum, expected);
    }
}

/* ---- detach: the task ends once its body has, and its event is fulfilled ---- */

static void* fulfil(void* event) {
    omp_fulfill_event((omp_event_handle_t)event);
    return NULL;
}

static void events(void) {
    EACH_SIZE(size) {
        int done = 0, after = 0;
        /* By a thread unknown to OpenMP, started in the task or after it has ended. */
        for (int way = 0; way < 2; ++way) {
            pthread_t thread;
#pragma omp parallel num_threads(size)
#pragma omp single
            {
                omp_event_handle_t event;
#pragma omp task detach(event) depend(out : done) shared(done, thread, way)
                {
                    done++;
                    if (way == 0) pthread_create(&thread, NULL, fulfil, (void*)event);
                }
#pragma omp task depend(in : done) shared(after)
                after++;
                if (way == 1) pthread_create(&thread, NULL, fulfil, (void*)event);
            }
            EQUAL(done, way + 1);
            EQUAL(after, way + 1);
            pthread_join(thread, NULL);
        }
        /* In groups, by another task, before the body runs; taskwait and taskgroup wait for it. */
        int waited = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        {
            omp_event_handle_t one, two;
#pragma omp taskgroup
            {
#pragma omp task detach(one) shared(waited)
                {
#pragma omp atomic
                    waited++;
                }
#pragma omp task firstprivate(one)
                omp_fulfill_event(one);
            }
            EQUAL(waited, 1);
#pragma omp task detach(two) shared(waited)
            {
#pragma omp atomic
                waited++;
            }
            omp_fulfill_event(two);
#pragma omp taskwait
            EQUAL(waited, 2);
        }
    }
}

/* ---- tied tasks stay on their thread; undeferred and included ones run at once; mergeable,
   untied; nowait waits ---- */

static int own;
#pragma omp threadprivate(own)

static void threads(void) {
    int elsewhere = 0, order[3] = {0}, at = 0;
#pragma omp parallel num_threads(8) reduction(+ : elsewhere)
    {
        own = omp_get_thread_num() + 1;
#pragma omp barrier
        for (int i = 0; i < 20; ++i) {
#pragma omp task
            {
                const int before = omp_get_thread_num();
                int wrong = own != before + 1;
#pragma omp taskyield
#pragma omp task
                (void)0;
#pragma omp taskwait
                wrong += own != before + 1 || omp_get_thread_num() != before;
                if (wrong) CHECK(!"a tied task stays on its thread");
            }
            const int me = omp_get_thread_num();
#pragma omp task if (task : 0) shared(elsewhere)
            elsewhere += omp_get_thread_num() != me;
        }
    }
    EQUAL(elsewhere, 0);
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task final(1) mergeable shared(order, at)
        {
            order[at++] = 1;
#pragma omp task mergeable shared(order, at)
            order[at++] = 2;
            order[at++] = 3;
        }
    }
    CHECK(order[0] == 1 && order[1] == 2 && order[2] == 3);
}

/* What a task sets holds for it and its children. */
static void inheritance(void) {
    int right = 0;
#pragma omp parallel num_threads(4) reduction(+ : right)
    {
        omp_set_num_threads(10 + omp_get_thread_num());
        const int mine = omp_get_max_threads();
        int seen = 0, kept = 0;
#pragma omp task shared(seen, kept) if (0)
        {
            seen = omp_get_max_threads();
            omp_set_num_threads(3);
#pragma omp task shared(kept) if (0)
            kept = omp_get_max_threads();
        }
        right += seen == mine && kept == 3 && omp_get_max_threads() == mine;
    }
    EQUAL(right, 4);
}

/* Tasks outside of regions, of threads without regions; many at once; taskwait with nothing to wait
 * for. */
static void alone(void) {
    int count = 0;
    for (int i = 0; i < 10; ++i) {
#pragma omp task shared(count)
        count++;
    }
#pragma omp taskwait
#pragma omp taskgroup
    {
#pragma omp task shared(count) depend(inout : count)
        count++;
#pragma omp taskloop shared(count) num_tasks(3)
        for (int i = 0; i < 9; ++i) count++;
    }
#pragma omp taskwait depend(in : count)
#pragma omp taskyield
    EQUAL(count, 20);
    long many = 0;
#pragma omp parallel num_threads(4)
#pragma omp for
    for (int i = 0; i < 20000; ++i) {
#pragma omp task shared(many) untied
#pragma omp atomic
        many++;
    }
    EQUAL(many, 20000);
}

static void taskloops(void) {
    EACH_SIZE(size) {
        int sizes[100] = {0}, tasks = 0, seen = 0, ull = 0, last = -1, private_sum = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        {
#pragma omp taskloop grainsize(strict : 10) shared(sizes)
            for (int i = 0; i < 95; ++i) {
#pragma omp atomic
                sizes[i / 10]++;
            }
#pragma omp taskloop num_tasks(strict : 5) shared(tasks) firstprivate(seen)
            for (int i = 0; i < 50; ++i) {
                if (seen++ == 0) {
#pragma omp atomic
                    tasks++;
                }
            }
#pragma omp taskloop shared(ull) lastprivate(last) collapse(2) priority(3) final(size == 2) mergeable untied
            for (unsigned long long i = 1ULL << 63; i < (1ULL << 63) + 10; ++i)
                for (int k = 3; k > 0; --k) {
                    last = k;
#pragma omp atomic
                    ull++;
                }
            unsigned long long from = ~0ULL, until = ~0ULL - 40;
#pragma omp taskloop shared(ull) firstprivate(from, until) grainsize(7)
            for (unsigned long long i = from; i > until; i -= 4) {
#pragma omp atomic
                ull++;
            }
#pragma omp taskloop simd reduction(+ : private_sum) simdlen(4)
            for (long i = 99; i >= 0; --i) private_sum += (int)i;
#pragma omp taskgroup
#pragma omp taskloop nogroup shared(tasks)
            for (int i = 0; i < 30; ++i) {
#pragma omp atomic
                tasks++;
            }
        }
        for (int i = 0; i < 9; ++i) EQUAL(sizes[i], 10);
        EQUAL(sizes[9], 5);
        EQUAL(tasks, 35);
        EQUAL(ull, 40);
        EQUAL(last, 1);
        EQUAL(private_sum, 4950);
    }
}

int main(void) {
    types();
    scopes();
    grids();
    objects();
    iterators();
    events();
    threads();
    inheritance();
    alone();
    taskloops();
    return verdict();
}
