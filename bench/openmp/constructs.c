/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// The cost of each OpenMP construct to a program compiled by gcc, after the idea of EPCC's
// micro-benchmarks (Bull, 1999; Bull, Reid and McDonnell, 2012). A round runs a construct
// repeatedly. Unlike EPCC's, there is no delay in place of a program's work, and none to subtract:
// when both CPUs of a core are busy, a delay takes half as long again, a difference that exceeds
// the cost of most constructs. The program measures the library that the loader finds; the first
// line of output names it.
//
//   constructs THREADS ROUNDS [NAME ...]   prints lines of JSON: a construct, and its cost in ns
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { per_thread = 64 };   // iterations of a loop for each thread
static int threads = 2;

static double now_ns(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

// Stands for a program's work: a call that the compiler keeps.
__attribute__((noinline)) static void work(void) { __asm__ volatile(""); }

// ---- each construct, `times` times --------------------------------------------------------------

static int shared_int = 0;
static int copied_in[4];
#pragma omp threadprivate(copied_in)
static omp_lock_t lock;
static omp_nest_lock_t nest_lock;
static long double wide = 0;   // no instruction adds to it atomically: the library uses a lock

static void parallel(long times) {
    for (long i = 0; i < times; ++i) {
#pragma omp parallel num_threads(threads)
        work();
    }
}
static void parallel_for(long times) {
    for (long i = 0; i < times; ++i) {
#pragma omp parallel for num_threads(threads)
        for (int j = 0; j < threads; ++j) work();
    }
}
static void parallel_for_dynamic(long times) {
    for (long i = 0; i < times; ++i) {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
        for (int j = 0; j < threads; ++j) work();
    }
}
static void parallel_sections(long times) {
    for (long i = 0; i < times; ++i) {
#pragma omp parallel sections num_threads(threads)
        {
#pragma omp section
            work();
#pragma omp section
            work();
        }
    }
}
static void parallel_reduction(long times) {
    int sum = 0;
    for (long i = 0; i < times; ++i) {
#pragma omp parallel num_threads(threads) reduction(+ : sum)
        {
            work();
            sum += 1;
        }
    }
    shared_int = sum;
}
static void parallel_copyin(long times) {
    for (long i = 0; i < times; ++i) {
#pragma omp parallel num_threads(threads) copyin(copied_in)
        work();
    }
}
static void parallel_if_false(long times) {
    for (long i = 0; i < times; ++i) {
#pragma omp parallel num_threads(threads) if (times == 0)
        work();
    }
}
// A nested region, which has one thread, since nesting is off.
static void parallel_nested(long times) {
#pragma omp parallel num_threads(threads)
    for (long i = 0; i < times; ++i) {
#pragma omp parallel num_threads(threads)
        work();
    }
}

#define IN_PARALLEL(name, what)                        \
    static void name(long times) {                     \
        _Pragma("omp parallel num_threads(threads)") { \
            for (long i = 0; i < times; ++i) {         \
                what                                   \
            }                                          \
        }                                              \
    }
#define LOOP(name, clauses) IN_PARALLEL(name, _Pragma(clauses) for (int j = 0; j < threads * per_thread; ++j) work();)

LOOP(for_static, "omp for schedule(static)")
LOOP(for_static_1, "omp for schedule(static, 1)")
LOOP(for_dynamic_1, "omp for schedule(dynamic, 1)")
LOOP(for_dynamic_8, "omp for schedule(dynamic, 8)")
LOOP(for_guided, "omp for schedule(guided)")
LOOP(for_runtime, "omp for schedule(runtime)")
LOOP(for_auto, "omp for schedule(auto)")
LOOP(for_dynamic_nowait, "omp for schedule(dynamic, 8) nowait")
IN_PARALLEL(
    for_ordered, _Pragma("omp for ordered schedule(static, 1)") for (int j = 0; j < threads * per_thread;
                                                                     ++j) { _Pragma("omp ordered") work(); })
IN_PARALLEL(
    for_reduction, _Pragma("omp for reduction(+ : shared_int)") for (int j = 0; j < threads * per_thread; ++j) {
        work();
        shared_int += 1;
    })
IN_PARALLEL(barrier, work(); _Pragma("omp barrier"))
IN_PARALLEL(single, _Pragma("omp single") work();)
IN_PARALLEL(single_nowait, _Pragma("omp single nowait") work();)
static void single_copyprivate(long times) {
    int value = 0;
#pragma omp parallel num_threads(threads) private(value)
    for (long i = 0; i < times; ++i) {
#pragma omp single copyprivate(value)
        {
            work();
            value = (int)i;
        }
    }
}
IN_PARALLEL(
    sections, _Pragma("omp sections") {
        _Pragma("omp section") work();
        _Pragma("omp section") work();
    })
IN_PARALLEL(master, _Pragma("omp master") work();)
IN_PARALLEL(cancel_off, work(); _Pragma("omp cancellation point parallel"))

// Constructs of mutual exclusion: each thread does its share of the repetitions.
#define IN_TURN(name, what)                              \
    static void name(long times) {                       \
        _Pragma("omp parallel num_threads(threads)") {   \
            for (long i = 0; i < times / threads; ++i) { \
                what                                     \
            }                                            \
        }                                                \
    }
IN_TURN(critical, _Pragma("omp critical") work();)
IN_TURN(critical_named, _Pragma("omp critical(named)") work();)
IN_TURN(lock_unlock, omp_set_lock(&lock); work(); omp_unset_lock(&lock);)
IN_TURN(nest_lock_unlock, omp_set_nest_lock(&nest_lock); work(); omp_unset_nest_lock(&nest_lock);)
IN_TURN(atomic_of_library, _Pragma("omp atomic") wide += 1; work();)

IN_PARALLEL(task_by_all, _Pragma("omp task") work();)
static void task_by_one(long times) {
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (long i = 0; i < times; ++i) {
#pragma omp task
        work();
    }
}
IN_PARALLEL(task_if_false, _Pragma("omp task if (0)") work();)
IN_PARALLEL(task_wait, _Pragma("omp task") work(); _Pragma("omp taskwait"))
IN_PARALLEL(taskwait_alone, work(); _Pragma("omp taskwait"))
IN_PARALLEL(
    taskgroup, _Pragma("omp taskgroup") { _Pragma("omp task") work(); })
static void task_depend(long times) {
    int cell = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (long i = 0; i < times; ++i) {
#pragma omp task depend(inout : cell)
        work();
    }
}
static void taskloop(long times) {
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (long i = 0; i < times; ++i) {
#pragma omp taskloop num_tasks(8)
        for (int j = 0; j < 8; ++j) work();
    }
}
static void branch(int depth) {
    if (depth == 0) return work();
    for (int i = 0; i < 2; ++i) {
#pragma omp task
        branch(depth - 1);
    }
#pragma omp taskwait
}
// A tree of tasks, 1022 at a time.
static void task_tree(long times) {
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (long i = 0; i < times; ++i) branch(9);
}

// ---- the number of repetitions ------------------------------------------------------------------

struct construct {
    const char* name;
    void (*run)(long times);
    double per;   // constructs in one repetition
};
static const struct construct constructs[] = {
    {"parallel", parallel, 1},
    {"parallel for", parallel_for, 1},
    {"parallel for dynamic", parallel_for_dynamic, 1},
    {"parallel sections", parallel_sections, 1},
    {"parallel reduction", parallel_reduction, 1},
    {"parallel copyin", parallel_copyin, 1},
    {"parallel if(0)", parallel_if_false, 1},
    {"parallel nested (serial)", parallel_nested, 1},
    {"for static", for_static, 1},
    {"for static,1", for_static_1, 1},
    {"for dynamic,1", for_dynamic_1, 1},
    {"for dynamic,8", for_dynamic_8, 1},
    {"for guided", for_guided, 1},
    {"for runtime", for_runtime, 1},
    {"for auto", for_auto, 1},
    {"for dynamic,8 nowait", for_dynamic_nowait, 1},
    {"for ordered", for_ordered, 1},
    {"for reduction", for_reduction, 1},
    {"barrier", barrier, 1},
    {"single", single, 1},
    {"single nowait", single_nowait, 1},
    {"single copyprivate", single_copyprivate, 1},
    {"sections", sections, 1},
    {"master", master, 1},
    {"cancellation point, off", cancel_off, 1},
    {"critical", critical, 1},
    {"critical named", critical_named, 1},
    {"lock", lock_unlock, 1},
    {"nest lock", nest_lock_unlock, 1},
    {"atomic of the library", atomic_of_library, 1},
    {"task, by all", task_by_all, 1},
    {"task, by one", task_by_one, 1},
    {"task if(0)", task_if_false, 1},
    {"task and taskwait", task_wait, 1},
    {"taskwait", taskwait_alone, 1},
    {"taskgroup of a task", taskgroup, 1},
    {"task depend", task_depend, 1},
    {"taskloop, 8 tasks", taskloop, 8},
    {"tree of tasks", task_tree, 1022},
};
enum { count = sizeof constructs / sizeof constructs[0] };

static double ns_of(const struct construct* which, long times) {
    const double from = now_ns();
    which->run(times);
    return now_ns() - from;
}

void GOMP_barrier(void);

int main(int argc, char** argv) {
    if (argc < 3) return fprintf(stderr, "usage: %s THREADS ROUNDS [NAME ...]\n", argv[0]), 2;
    threads = atoi(argv[1]);
    const int rounds = atoi(argv[2]);
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest_lock);
    Dl_info library;
    if (dladdr((void*)GOMP_barrier, &library) == 0) return fprintf(stderr, "no OpenMP library\n"), 1;
    printf("{\"name\": \"library\", \"value\": \"%s\"}\n", library.dli_fname);

    for (int i = 0; i < count; ++i) {
        const struct construct* const which = &constructs[i];
        int wanted = argc == 3;
        for (int j = 3; j < argc; ++j) wanted |= strcmp(argv[j], which->name) == 0;
        if (!wanted) continue;
        // Aims at one or two milliseconds, judged by the shorter of two runs: the first run makes
        // threads, and either may have lost its CPU.
        long times = 16;
        for (double took = 0; took < 1e6 && times < 1 << 20; times *= 2) {
            const double first = ns_of(which, times), second = ns_of(which, times);
            took = first < second ? first : second;
        }
        for (int round = 0; round < rounds; ++round) {
            const double each = ns_of(which, times) / (double)times;
            printf("{\"name\": \"%s\", \"value\": %.2f}\n", which->name, each / which->per);
        }
    }
    return 0;
}
