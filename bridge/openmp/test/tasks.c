/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Explicit tasks: which thread runs them, when, with which data; and what waits for what. */
#include <stdint.h>
#include <string.h>

#include "check.h"

static long fib(int n) {
    if (n < 2) return n;
    long a, b;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static long untied_fib(int n) {
    if (n < 2) return n;
    long a, b;
#pragma omp task untied shared(a) if (n > 5) mergeable
    a = untied_fib(n - 1);
#pragma omp task untied shared(b) final(n < 6)
    b = untied_fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static void trees(void) {
    EACH_SIZE(size) {
        long result = 0, untied = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        {
            result = fib(18);
            untied = untied_fib(18);
        }
        EQUAL(result, 2584);
        EQUAL(untied, 2584);
    }
}

struct large {
    char bytes[300];
};

static void data(void) {
    EACH_SIZE(size) {
        int sum = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        for (int i = 0; i < 100; ++i) {
            struct large block;
            memset(block.bytes, i, sizeof block.bytes);
            _Alignas(128) char aligned[128] = {(char)i};
#pragma omp task firstprivate(block, aligned, i) shared(sum)
            {
                int right = (uintptr_t)aligned % 128 == 0 && aligned[0] == i;
                for (int k = 0; k < 300; ++k) right &= block.bytes[k] == i;
#pragma omp atomic
                sum += right;
            }
        }
        EQUAL(sum, 100);
    }
}

static void final_and_if(void) {
    int ran = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    {
        const int me = omp_get_thread_num();
#pragma omp task if (0) shared(ran)
        {
            CHECK(omp_get_thread_num() == me);
            CHECK(!omp_in_final());
            ran++;
        }
        EQUAL(ran, 1);
#pragma omp task final(1) shared(ran)
        {
            CHECK(omp_in_final());
            int here = 0;
#pragma omp task shared(here)
            {
                CHECK(omp_in_final());
                here = 1;
            }
            EQUAL(here, 1);
            ran++;
        }
#pragma omp taskwait
        EQUAL(ran, 2);
    }
}

/* taskwait waits for children only, taskgroup for their descendants as well, a barrier for all
 * tasks. */
static void waits(void) {
    EACH_SIZE(size) {
        int count = 0;
#pragma omp parallel num_threads(size)
        {
#pragma omp single
            {
#pragma omp taskgroup
                {
                    for (int i = 0; i < 20; ++i) {
#pragma omp task
                        for (int k = 0; k < 5; ++k) {
#pragma omp task
#pragma omp atomic
                            count++;
                        }
                    }
                }
                EQUAL(count, 100);
            }
#pragma omp task
            {
#pragma omp task
#pragma omp atomic
                count++;
            }
#pragma omp barrier
            CHECK(count == 100 + size);
        }
    }
}

static void yields(void) {
    int count = 0;
#pragma omp parallel num_threads(3)
#pragma omp for
    for (int i = 0; i < 50; ++i) {
#pragma omp task
#pragma omp atomic
        count++;
#pragma omp taskyield
    }
    EQUAL(count, 50);
}

static void depend_chain(void) {
    EACH_SIZE(size) {
        int value = 0, bad = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        for (int i = 0; i < 500; ++i) {
#pragma omp task depend(inout : value) shared(value, bad) firstprivate(i)
            bad += value++ != i;
        }
        EQUAL(value, 500);
        EQUAL(bad, 0);
    }
}

static void depend_graph(void) {
    EACH_SIZE(size) {
        int a = 0, b = 0, c = 0, sum = 0, together = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        for (int round = 0; round < 50; ++round) {
#pragma omp task depend(out : a) shared(a)
            a = round + 1;
            for (int i = 0; i < 4; ++i) {
#pragma omp task depend(in : a) depend(mutexinoutset : sum) shared(a, sum)
                sum += a;
            }
#pragma omp task depend(in : a) depend(out : b) shared(a, b)
            b = a * 2;
#pragma omp task depend(in : a) depend(out : c) shared(a, c)
            c = a * 3;
#pragma omp task depend(in : b, c) depend(inout : together) shared(b, c, together)
            together += b + c;
        }
        EQUAL(sum, 4 * 50 * 51 / 2);
        EQUAL(together, 5 * 50 * 51 / 2);
    }
}

static void depend_waits(void) {
    EACH_SIZE(size) {
        int x = 0, y = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        {
#pragma omp task depend(out : x) shared(x)
            x = 1;
#pragma omp task depend(inout : x) shared(x)
            x = x * 10 + 2;
#pragma omp task depend(out : y) shared(y)
            y = 5;
#pragma omp taskwait depend(in : x)
            EQUAL(x, 12);
#pragma omp task if (0) depend(inout : x) depend(in : y) shared(x, y)
            x += y;
            EQUAL(x, 17);
        }
    }
}

static void depend_objects(void) {
    int x = 0, bad = 0;
    omp_depend_t object, reader;
#pragma omp depobj(object) depend(inout : x)
#pragma omp depobj(reader) depend(in : x)
#pragma omp parallel num_threads(4)
#pragma omp single
    for (int i = 0; i < 100; ++i) {
#pragma omp task depend(depobj : object) shared(x)
        x++;
#pragma omp task depend(depobj : reader) shared(x, bad) firstprivate(i)
#pragma omp atomic
        bad += x != i + 1;
    }
#pragma omp depobj(object) destroy
#pragma omp depobj(reader) destroy
    EQUAL(x, 100);
    EQUAL(bad, 0);
}

static void depend_iterators(void) {
    int cells[10] = {0}, sum = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    {
        for (int i = 0; i < 10; ++i) {
#pragma omp task depend(out : cells[i]) shared(cells) firstprivate(i)
            cells[i] = i;
        }
#pragma omp task depend(iterator(k = 0 : 10), in : cells[k]) shared(cells, sum)
        for (int i = 0; i < 10; ++i) sum += cells[i];
    }
    EQUAL(sum, 45);
}

static void detached(void) {
    EACH_SIZE(size) {
        int done = 0, after = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        {
            omp_event_handle_t event;
#pragma omp task detach(event) depend(out : done) shared(done)
            done = 1;
#pragma omp task depend(in : done) shared(done, after)
            after = done + 1;
#pragma omp task firstprivate(event)
            omp_fulfill_event(event);
#pragma omp taskwait
            EQUAL(after, 2);
        }
    }
}

/* A task that is run at once ends before its child; the next task is not that child's parent, and
 * does not wait for it. */
static void left_behind(void) {
    EACH_SIZE(size) {
        int ended = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        for (int i = 0; i < 20; ++i) {
            omp_event_handle_t event, of_child = (omp_event_handle_t)0;
#pragma omp task if (0) shared(of_child, ended) private(event)
            {
#pragma omp task detach(event) shared(ended)
#pragma omp atomic
                ended++;
                of_child = event;
            }
#pragma omp task if (0)
            {
#pragma omp taskwait
            } omp_fulfill_event(of_child);
        }
        EQUAL(ended, 20);
    }
}

static void priorities(void) {
    int count = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 100; ++i) {
#pragma omp task priority(i % 5)
#pragma omp atomic
        count++;
    }
    EQUAL(count, 100);
}

static void taskloops(void) {
    EACH_SIZE(size) {
        int done[500];
        memset(done, 0, sizeof done);
        int last = -1, total = 0, tasks = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
        {
#pragma omp taskloop shared(done)
            for (int i = 0; i < 100; ++i) done[i]++;
#pragma omp taskloop shared(done) grainsize(7)
            for (int i = 100; i < 200; ++i) done[i]++;
#pragma omp taskloop shared(done) num_tasks(9) lastprivate(last)
            for (int i = 200; i < 300; ++i) {
                done[i]++;
                last = i;
            }
#pragma omp taskloop shared(done) grainsize(strict : 8) untied
            for (unsigned long long i = 300; i < 400; ++i) done[i]++;
#pragma omp taskloop shared(done) nogroup if (0)
            for (int i = 499; i >= 400; i -= 1) done[i]++;
#pragma omp taskloop reduction(+ : total) grainsize(3)
            for (int i = 0; i < 100; ++i) total += i;
#pragma omp taskloop num_tasks(6) collapse(2) shared(tasks)
            for (int i = 0; i < 5; ++i)
                for (int k = 0; k < 4; ++k) {
#pragma omp atomic
                    tasks++;
                }
#pragma omp taskloop shared(tasks)
            for (int i = 5; i < 5; ++i) tasks++;
        }
        for (int i = 0; i < 500; ++i) EQUAL(done[i], 1);
        EQUAL(last, 299);
        EQUAL(total, 4950);
        EQUAL(tasks, 20);
    }
}

static void task_reductions(void) {
    EACH_SIZE(size) {
        long grouped = 10, shared = 3, looped = 5;
#pragma omp parallel num_threads(size) reduction(task, + : shared)
        {
            for (int i = 0; i < 10; ++i) {
#pragma omp task in_reduction(+ : shared)
                shared += 1;
            }
#pragma omp single
            {
#pragma omp taskgroup task_reduction(+ : grouped)
                for (int i = 1; i <= 50; ++i) {
#pragma omp task in_reduction(+ : grouped)
                    {
                        grouped += i;
#pragma omp task in_reduction(+ : grouped)
                        grouped += 1000;
                    }
                }
            }
        }
        EQUAL(shared, 3 + 10 * size);
        EQUAL(grouped, 10 + 1275 + 50000);
#pragma omp parallel num_threads(size)
#pragma omp for reduction(task, + : looped) schedule(dynamic)
        for (int i = 0; i < 20; ++i) {
#pragma omp task in_reduction(+ : looped)
            looped += i;
        }
        EQUAL(looped, 5 + 190);
        long sectioned = 0, scoped = 0;
#pragma omp parallel num_threads(size)
        {
#pragma omp sections reduction(task, + : sectioned)
            {
#pragma omp section
                {
#pragma omp task in_reduction(+ : sectioned)
                    sectioned += 4;
                }
#pragma omp section
                sectioned += 5;
            }
#pragma omp scope reduction(task, + : scoped)
            {
#pragma omp task in_reduction(+ : scoped)
                scoped += 2;
            }
        }
        EQUAL(sectioned, 9);
        EQUAL(scoped, 2 * size);
    }
}

/* A deep recursion of tasks that wait, from all threads at once. */
static long tree(int depth) {
    if (depth == 0) return 1;
    long sums[3];
    for (int i = 0; i < 3; ++i) {
#pragma omp task shared(sums) firstprivate(i)
        sums[i] = tree(depth - 1);
    }
#pragma omp taskwait
    return sums[0] + sums[1] + sums[2];
}

static void from_all_threads(void) {
    EACH_SIZE(size) {
        long total = 0;
#pragma omp parallel num_threads(size) reduction(+ : total)
        total += tree(6);
        EQUAL(total, 729 * size);
    }
}

int main(void) {
    trees();
    data();
    final_and_if();
    waits();
    yields();
    depend_chain();
    depend_graph();
    depend_waits();
    depend_objects();
    depend_iterators();
    detached();
    left_behind();
    priorities();
    taskloops();
    task_reductions();
    from_all_threads();
    return verdict();
}
