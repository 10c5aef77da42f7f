/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Task reductions: which constructs begin one, which tasks take part, what a list item may be, and
   which of several reductions a task means. */
#include <complex.h>
#include <stdint.h>

#include "check.h"

enum { some = 24 };

/* ---- operators and types: combined with the value from before; each copy begins with the
   operator's neutral element ---- */

#define BY_OPERATOR(type, operator_, from, update)                      \
    do {                                                                \
        type expected = (type)(from), got = (type)(from);               \
        for (int i = 0; i < some; ++i) {                                \
            type* const x = &expected;                                  \
            update;                                                     \
        }                                                               \
        _Pragma("omp parallel num_threads(size)") _Pragma("omp single") \
            TASKGROUP(operator_) for (int i = 0; i < some; ++i) {       \
            TASK(operator_) {                                           \
                type* const x = &got;                                   \
                update;                                                 \
            }                                                           \
        }                                                               \
        CHECK(got == expected);                                         \
    } while (0)
#define WORDS(...) _Pragma(#__VA_ARGS__)
#define TASKGROUP(operator_) WORDS(omp taskgroup task_reduction(operator_ : got))
#define TASK(operator_) WORDS(omp task in_reduction(operator_ : got) firstprivate(i))

#define OF_INTEGERS(type)                                                                 \
    do {                                                                                  \
        BY_OPERATOR(type, +, 3, *x = (type)(*x + i % 5));                                 \
        BY_OPERATOR(type, -, 100, *x = (type)(*x - i % 5));                               \
        BY_OPERATOR(type, *, 2, *x = (type)(*x * (i % 8 ? 1 : 3)));                       \
        BY_OPERATOR(type, &, ~0, *x &= (type) ~(1u << (i % 7)));                          \
        BY_OPERATOR(type, |, 64, *x |= (type)(1u << (i % 5)));                            \
        BY_OPERATOR(type, ^, 5, *x ^= (type)i);                                           \
        BY_OPERATOR(type, &&, 7, *x = *x && i != some);                                   \
        BY_OPERATOR(type, &&, 7, *x = *x && i != 11);                                     \
        BY_OPERATOR(type, ||, 0, *x = *x || i == 11);                                     \
        BY_OPERATOR(type, ||, 0, *x = *x || i == some);                                   \
        BY_OPERATOR(type, min, 50, if ((type)(20 - i % 9) < *x)* x = (type)(20 - i % 9)); \
        BY_OPERATOR(type, max, 5, if ((type)(i * 2) > *x)* x = (type)(i * 2));            \
    } while (0)
/* gcc 12 does not compile a logical operator for these types. */
#define OF_REALS(type)                                                  \
    do {                                                                \
        BY_OPERATOR(type, +, 0.5, *x += (type)i);                       \
        BY_OPERATOR(type, *, 0.25, *x *= (type)(i % 2 ? 2 : 1));        \
        BY_OPERATOR(type, min, 1, if ((type)-i < *x)* x = (type)-i);    \
        BY_OPERATOR(type, max, -1e6, if ((type)-i > *x)* x = (type)-i); \
    } while (0)

static void operators(int size) {
    OF_INTEGERS(signed char);
    OF_INTEGERS(unsigned short);
    OF_INTEGERS(int);
    OF_INTEGERS(uint64_t);
    OF_REALS(float);
    OF_REALS(double);
    OF_REALS(long double);
    BY_OPERATOR(double complex, +, 1 + 2 * I, *x += i - i * I);
    BY_OPERATOR(float complex, *, 1, *x *= i % 2 ? I : -1);
    BY_OPERATOR(_Bool, ||, 0, *x = *x || i == 3);
}

/* ---- list items: arrays, their sections, of any length, of types that the program defines ---- */

struct extent {
    int least, most;
};
static void widen(struct extent* to, const struct extent* by) {
    if (by->least < to->least) to->least = by->least;
    if (by->most > to->most) to->most = by->most;
}
static void begin_extent(struct extent* at, const struct extent* original) {
    at->least = original->least + 1000; /* the initialiser may read the original */
    at->most = -1000;
}
#pragma omp declare reduction(widened : struct extent : widen(&omp_out, &omp_in)) \
    initializer(begin_extent(&omp_priv, &omp_orig))
#pragma omp declare reduction(+ : struct extent : omp_out.most += omp_in.most)

static void own_operators(int size) {
    struct extent whole = {0, 0}, sum = {0, 1}, each[3] = {{0, 0}, {0, 0}, {0, 0}};
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup task_reduction(widened : whole, each) task_reduction(+ : sum)
    for (int i = 0; i < some; ++i) {
#pragma omp task in_reduction(widened : whole, each[:3]) in_reduction(+ : sum)
        {
            const struct extent at = {-i, i};
            widen(&whole, &at);
            widen(&each[i % 3], &at);
            sum.most += 2;
        }
    }
    EQUAL(whole.least, -(some - 1));
    EQUAL(whole.most, some - 1);
    EQUAL(sum.most, 1 + 2 * some);
    for (int i = 0; i < 3; ++i) EQUAL(each[i].most, some - 3 + i);
}

static void sections_of_arrays(int size, int length, double* pointer) {
    int array[10], grid[4][6], any_length[length];
    for (int i = 0; i < 10; ++i) array[i] = i;
    for (int i = 0; i < 24; ++i) grid[i / 6][i % 6] = 0;
    for (int i = 0; i < length; ++i) any_length[i] = pointer[i] = 1;
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : array[2 : 5], grid[1 : 2][ : 6], any_length, pointer[3 : length - 5])
    for (int i = 0; i < some; ++i) {
#pragma omp task in_reduction(+ : array[2 : 5], grid[1 : 2][ : 6], any_length, pointer[3 : length - 5])
        {
            array[2 + i % 5] += 1;
            grid[1 + i % 2][i % 6] += 1;
            any_length[i % length] += 1;
            for (int k = 3; k < length - 2; ++k) pointer[k] += 1;
        }
    }
    int in_array = 0, in_grid = 0, in_any = 0;
    for (int i = 0; i < 10; ++i) in_array += array[i];
    for (int i = 0; i < 24; ++i) in_grid += grid[i / 6][i % 6];
    for (int i = 0; i < length; ++i) {
        in_any += any_length[i];
        CHECK(pointer[i] == (i < 3 || i >= length - 2 ? 1 : 1 + some));
    }
    EQUAL(in_array, 45 + some);
    EQUAL(array[2], 2 + (some + 4) / 5);
    EQUAL(array[7], 7);
    EQUAL(in_grid, some);
    EQUAL(grid[0][0] + grid[3][5], 0);
    EQUAL(in_any, length + some);
}

/* Many items of all sizes, whose copies keep their alignment. */
static void many_items(int size) {
    char c = 0;
    _Alignas(64) double aligned[3] = {0, 0, 0};
    short s = 0;
    long double l = 0;
    char d[3] = {0, 0, 0};
    double complex z = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : c, aligned, s, l, d, z)
    for (int i = 0; i < some; ++i) {
#pragma omp task in_reduction(+ : c, aligned, s, l, d, z)
        {
            EQUAL((uintptr_t)&l % _Alignof(long double), 0);
            EQUAL((uintptr_t)&s % _Alignof(short), 0);
            c++, s++, d[i % 3]++;
            aligned[i % 3] += 0.5;
            l += 1;
            z += 1 + I;
        }
    }
    EQUAL(c + s + d[0] + d[1] + d[2], 3 * some);
    CHECK(aligned[0] + aligned[1] + aligned[2] == some / 2.0 && l == some && z == some + some * I);
}

/* ---- which tasks take part ---- */

static int global;
static long of_file;

static void add_from_elsewhere(int by) {
#pragma omp task in_reduction(+ : global, of_file)
    {
        global += by;
        of_file += 1;
    }
}

/* Tasks of functions that do not know the construct around them, and tasks of those tasks. */
static void orphaned(int size) {
    global = 10;
    of_file = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : global, of_file)
    for (int i = 0; i < some; ++i) {
        add_from_elsewhere(i);
#pragma omp task in_reduction(+ : global)
        {
            global += 1;
            add_from_elsewhere(-i);
        }
    }
    EQUAL(global, 10 + some);
    EQUAL(of_file, 2 * some);
}

/* Tasks of every kind: undeferred, final, untied, mergeable, with a priority, dependent on each
   other; and tasks beside them that do not take part. */
static void sorts_of_tasks(int size) {
    int sum = 0, beside = 0;
    int order[1];
    (void)order;
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < some; ++i) {
#pragma omp task in_reduction(+ : sum) if (0)
        sum += 1;
#pragma omp task in_reduction(+ : sum) final(1)
        {
            sum += 1;
#pragma omp task in_reduction(+ : sum)
            sum += 1;
        }
#pragma omp task in_reduction(+ : sum) untied
        {
            sum += 1;
#pragma omp taskyield
            sum += 1;
        }
#pragma omp task in_reduction(+ : sum) mergeable
        sum += 1;
#pragma omp task in_reduction(+ : sum) priority(i)
        sum += 1;
#pragma omp task in_reduction(+ : sum) depend(inout : order[0])
        sum += 1;
#pragma omp task shared(beside)
        {
#pragma omp atomic
            beside++;
        }
    }
    EQUAL(sum, 8 * some);
    EQUAL(beside, some);
}

static long fibonacci(int n, int* calls);
static long fibonacci(int n, int* calls) {
    long a, b;
#pragma omp task in_reduction(+ : calls[0])
    calls[0] += 1;
    if (n < 2) return n;
#pragma omp task shared(a) in_reduction(+ : calls[0])
    a = fibonacci(n - 1, calls);
    b = fibonacci(n - 2, calls);
#pragma omp taskwait
    return a + b;
}

/* A task finds an item by its own copy as well as by the original. */
static void by_copies_of_copies(int size) {
    int calls = 0;
    long result = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : calls)
    {
#pragma omp task in_reduction(+ : calls) shared(result)
        result = fibonacci(9, &calls);
    }
    EQUAL(result, 34);
    EQUAL(calls, 109);
}

/* ---- which reduction: the innermost that has the item ---- */

static void chains(int size) {
    int a = 0, b = 0, c = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : a, b)
    {
#pragma omp taskgroup
        {
#pragma omp taskgroup task_reduction(+ : c)
            for (int i = 0; i < some; ++i) {
#pragma omp task in_reduction(+ : a, c)
                {
                    a += 1;
                    c += 1;
#pragma omp taskgroup task_reduction(+ : b)    /* of the original: the outer reduction's item is untouched */
                    {
#pragma omp task in_reduction(+ : a)
                        a += 1;
                    }
                }
            }
            EQUAL(c, some);
#pragma omp task in_reduction(+ : b)
            b += 1;
        }
#pragma omp task in_reduction(+ : b)
        b += 1;
    }
    EQUAL(a, 2 * some);
    EQUAL(b, 2);
}

/* A task's copy is the original of a reduction that it begins. */
static void of_a_copy(int size) {
    int sum = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < some; ++i) {
#pragma omp task in_reduction(+ : sum)
        {
#pragma omp taskgroup task_reduction(+ : sum)
            for (int k = 0; k < 4; ++k) {
#pragma omp task in_reduction(+ : sum)
                sum += 1;
            }
        }
    }
    EQUAL(sum, 4 * some);
}

/* Groups that follow each other begin anew. */
static void one_after_the_other(int size) {
    int sum = 0;
#pragma omp parallel num_threads(size)
    {
        for (int round = 0; round < 5; ++round) {
#pragma omp for reduction(task, + : sum)
            for (int i = 0; i < some; ++i) {
#pragma omp task in_reduction(+ : sum)
                sum += 1;
            }
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
            {
#pragma omp task in_reduction(+ : sum)
                sum += 1;
            }
        }
    }
    EQUAL(sum, 5 * (some + 1));
}

/* A region within a task has a reduction of its own, of the task's copy. */
static void regions_within(int size) {
    int sum = 0, inner = 0;
#pragma omp parallel num_threads(size)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < 4; ++i) {
#pragma omp task in_reduction(+ : sum)
        {
            int of_task = 0;
#pragma omp parallel num_threads(3) reduction(task, + : of_task)
            {
                of_task += 1;
#pragma omp task in_reduction(+ : of_task)
                of_task += 10;
            }
            EQUAL(of_task, 33);
            sum += of_task;
#pragma omp parallel num_threads(2) reduction(+ : sum)
            sum += 1;
        }
    }
    inner = sum;
    EQUAL(inner, 4 * 35);
}

/* Outside of all regions. */
static void alone(void) {
    int looped = 2;
    global = 1;
#pragma omp taskgroup task_reduction(+ : global)
    for (int i = 0; i < some; ++i) {
#pragma omp task in_reduction(+ : global)
        global += 1;
    }
#pragma omp taskloop reduction(+ : looped)
    for (int i = 0; i < some; ++i) looped += 1;
#pragma omp for reduction(task, + : global)
    for (int i = 0; i < some; ++i) {
#pragma omp task in_reduction(+ : global)
        global += 1;
    }
#pragma omp sections reduction(task, + : global)
    {
#pragma omp section
#pragma omp task in_reduction(+ : global)
        global += 1;
    }
#pragma omp scope reduction(task, + : global)
#pragma omp task in_reduction(+ : global)
    global += 1;
    EQUAL(global, 1 + 2 * some + 2);
    EQUAL(looped, 2 + some);
}

int main(void) {
    double numbers[100];
    omp_set_max_active_levels(2);
    EACH_SIZE(size) {
        operators(size);
        own_operators(size);
        sections_of_arrays(size, 17, numbers);
        sections_of_arrays(size, 100, numbers);
        many_items(size);
        orphaned(size);
        sorts_of_tasks(size);
        by_copies_of_copies(size);
        chains(size);
        of_a_copy(size);
        one_after_the_other(size);
        regions_within(size);
    }
    alone();
    return verdict();
}
