/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// Programs that consist of tasks: Fibonacci numbers, a merge sort, Strassen's product, the factors
// of a sparse matrix of blocks, and a tree that is unknown before it is searched (the ideas: the
// Barcelona OpenMP Tasks Suite, Duran et al., 2009; UTS, Olivier et al., 2006). Each checks its
// result.
//
//   tasks THREADS ROUNDS [NAME ...]   prints lines of JSON: a program, and its time in ms
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int threads = 2;

static double now_ms(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

static void fail(const char* what) {
    fprintf(stderr, "wrong: %s\n", what);
    exit(1);
}

static uint64_t scrambled(uint64_t x) {   // SplitMix64
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

// ---- fib: a task for each call, without any work ------------------------------------------------

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

static double run_fib(void) {
    long result = 0;
    const double from = now_ms();
#pragma omp parallel num_threads(threads)
#pragma omp single
    result = fib(26);
    const double took = now_ms() - from;
    if (result != 121393) fail("fib");
    return took;
}

// ---- sort: halves are sorted in parallel, and merged by halves ----------------------------------

enum { numbers = 1 << 20, few = 256 };

static int by_value(const void* a, const void* b) {
    const uint32_t x = *(const uint32_t*)a, y = *(const uint32_t*)b;
    return (x > y) - (x < y);
}

static void merge(const uint32_t* a, long a_count, const uint32_t* b, long b_count, uint32_t* to) {
    if (a_count + b_count <= 2 * few) {
        while (a_count > 0 && b_count > 0) {
            if (*a <= *b) *to++ = *a++, --a_count;
            else *to++ = *b++, --b_count;
        }
        memcpy(to, a, (size_t)a_count * sizeof *a);
        memcpy(to + a_count, b, (size_t)b_count * sizeof *b);
        return;
    }
    if (a_count < b_count) return merge(b, b_count, a, a_count, to);
    // The middle of the larger half, and its place in the other half.
    const long a_half = a_count / 2;
    long low = 0, high = b_count;
    while (low < high) {
        const long middle = (low + high) / 2;
        if (b[middle] < a[a_half]) low = middle + 1;
        else high = middle;
    }
#pragma omp task
    merge(a, a_half, b, low, to);
#pragma omp task
    merge(a + a_half, a_count - a_half, b + low, b_count - low, to + a_half + low);
#pragma omp taskwait
}

static void sort(uint32_t* values, long count, uint32_t* room) {
    if (count <= few) {
        // By insertion: the range is short enough.
        for (long i = 1; i < count; ++i) {
            const uint32_t value = values[i];
            long j = i;
            for (; j > 0 && values[j - 1] > value; --j) values[j] = values[j - 1];
            values[j] = value;
        }
        return;
    }
    const long half = count / 2;
#pragma omp task
    sort(values, half, room);
#pragma omp task
    sort(values + half, count - half, room + half);
#pragma omp taskwait
    merge(values, half, values + half, count - half, room);
    memcpy(values, room, (size_t)count * sizeof *values);
}

static double run_sort(void) {
    uint32_t* const values = malloc(numbers * sizeof *values);
    uint32_t* const room = malloc(numbers * sizeof *room);
    uint32_t* const expected = malloc(numbers * sizeof *expected);
    for (long i = 0; i < numbers; ++i) expected[i] = values[i] = (uint32_t)scrambled((uint64_t)i);
    memset(room, 0, numbers * sizeof *room);
    qsort(expected, numbers, sizeof *expected, by_value);
    const double from = now_ms();
#pragma omp parallel num_threads(threads)
#pragma omp single
    sort(values, numbers, room);
    const double took = now_ms() - from;
    if (memcmp(values, expected, numbers * sizeof *values) != 0) fail("sort");
    free(values), free(room), free(expected);
    return took;
}

// ---- strassen: seven products of halves instead of eight ----------------------------------------

enum { order = 512, smallest = 16 };

// to = a + sign * b, of n rows each, at the given distances.
static void add(int n, const double* a, int a_row, double sign, const double* b, int b_row, double* to) {
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) to[i * n + j] = a[i * a_row + j] + sign * b[i * b_row + j];
    }
}

static void multiply(int n, const double* a, int a_row, const double* b, int b_row, double* to, int to_row) {
    if (n <= smallest) {
        for (int i = 0; i < n; ++i) {
            double row[smallest] = {0};
            for (int k = 0; k < n; ++k) {
                for (int j = 0; j < n; ++j) row[j] += a[i * a_row + k] * b[k * b_row + j];
            }
            memcpy(to + i * to_row, row, (size_t)n * sizeof *row);
        }
        return;
    }
    const int h = n / 2;
    const double *a11 = a, *a12 = a + h, *a21 = a + h * a_row, *a22 = a21 + h;
    const double *b11 = b, *b12 = b + h, *b21 = b + h * b_row, *b22 = b21 + h;
    const long each = (long)h * h;
    double* const memory = malloc((size_t)(17 * each) * sizeof *memory);
    double* const m = memory;              // seven products
    double* const s = memory + 7 * each;   // ten sums
    add(h, a11, a_row, 1, a22, a_row, s);
    add(h, b11, b_row, 1, b22, b_row, s + each);
    add(h, a21, a_row, 1, a22, a_row, s + 2 * each);
    add(h, b12, b_row, -1, b22, b_row, s + 3 * each);
    add(h, b21, b_row, -1, b11, b_row, s + 4 * each);
    add(h, a11, a_row, 1, a12, a_row, s + 5 * each);
    add(h, a21, a_row, -1, a11, a_row, s + 6 * each);
    add(h, b11, b_row, 1, b12, b_row, s + 7 * each);
    add(h, a12, a_row, -1, a22, a_row, s + 8 * each);
    add(h, b21, b_row, 1, b22, b_row, s + 9 * each);
#pragma omp task
    multiply(h, s, h, s + each, h, m, h);
#pragma omp task
    multiply(h, s + 2 * each, h, b11, b_row, m + each, h);
#pragma omp task
    multiply(h, a11, a_row, s + 3 * each, h, m + 2 * each, h);
#pragma omp task
    multiply(h, a22, a_row, s + 4 * each, h, m + 3 * each, h);
#pragma omp task
    multiply(h, s + 5 * each, h, b22, b_row, m + 4 * each, h);
#pragma omp task
    multiply(h, s + 6 * each, h, s + 7 * each, h, m + 5 * each, h);
#pragma omp task
    multiply(h, s + 8 * each, h, s + 9 * each, h, m + 6 * each, h);
#pragma omp taskwait
    for (int i = 0; i < h; ++i) {
        for (int j = 0; j < h; ++j) {
            const long at = (long)i * h + j;
            to[i * to_row + j] = m[at] + m[3 * each + at] - m[4 * each + at] + m[6 * each + at];
            to[i * to_row + h + j] = m[2 * each + at] + m[4 * each + at];
            to[(i + h) * to_row + j] = m[each + at] + m[3 * each + at];
            to[(i + h) * to_row + h + j] = m[at] - m[each + at] + m[2 * each + at] + m[5 * each + at];
        }
    }
    free(memory);
}

static double run_strassen(void) {
    double* const a = malloc(order * order * sizeof *a);
    double* const b = malloc(order * order * sizeof *b);
    double* const c = malloc(order * order * sizeof *c);
    // Small integers: sums are exact in any order.
    for (int i = 0; i < order * order; ++i)
        a[i] = (double)(scrambled((uint64_t)i) % 7), b[i] = (double)(scrambled((uint64_t)i + 1000000) % 7), c[i] = 0;
    const double from = now_ms();
#pragma omp parallel num_threads(threads)
#pragma omp single
    multiply(order, a, order, b, order, c, order);
    const double took = now_ms() - from;
    for (int i = 0; i < order; i += 17) {
        for (int j = 0; j < order; ++j) {
            double sum = 0;
            for (int k = 0; k < order; ++k) sum += a[i * order + k] * b[k * order + j];
            if (sum != c[i * order + j]) fail("strassen");
        }
    }
    free(a), free(b), free(c);
    return took;
}

// ---- sparse LU: tasks for the blocks that exist, with dependences -------------------------------

enum { blocks = 40, side = 16 };
typedef double block[side][side];

static block* make_blocks(int i, int j) {
    // Most blocks off the diagonal are empty.
    if (i != j && abs(i - j) != 1 && scrambled((uint64_t)(i * blocks + j)) % 3 != 0) return NULL;
    block* const made = malloc(sizeof *made);
    for (int x = 0; x < side; ++x) {
        for (int y = 0; y < side; ++y) {
            (*made)[x][y] =
                (double)(scrambled((uint64_t)((i * blocks + j) * side * side + x * side + y)) % 1000) / 1000;
            if (i == j && x == y) (*made)[x][y] += blocks * side;
        }
    }
    return made;
}

static void factor(block* d) {
    for (int k = 0; k < side; ++k) {
        for (int i = k + 1; i < side; ++i) {
            (*d)[i][k] /= (*d)[k][k];
            for (int j = k + 1; j < side; ++j) (*d)[i][j] -= (*d)[i][k] * (*d)[k][j];
        }
    }
}
static void forward(block* d, block* row) {
    for (int k = 0; k < side; ++k) {
        for (int i = k + 1; i < side; ++i) {
            for (int j = 0; j < side; ++j) (*row)[i][j] -= (*d)[i][k] * (*row)[k][j];
        }
    }
}
static void divide(block* d, block* column) {
    for (int i = 0; i < side; ++i) {
        for (int k = 0; k < side; ++k) {
            (*column)[i][k] /= (*d)[k][k];
            for (int j = k + 1; j < side; ++j) (*column)[i][j] -= (*column)[i][k] * (*d)[k][j];
        }
    }
}
static void subtract(block* column, block* row, block* inner) {
    for (int i = 0; i < side; ++i) {
        for (int k = 0; k < side; ++k) {
            for (int j = 0; j < side; ++j) (*inner)[i][j] -= (*column)[i][k] * (*row)[k][j];
        }
    }
}

// `depend`: with dependences; else in phases.
static void sparse_lu(block* m[blocks][blocks], int depend) {
    for (int k = 0; k < blocks; ++k) {
        if (depend) {
#pragma omp task depend(inout : m[k][k])
            factor(m[k][k]);
        } else {
            factor(m[k][k]);
        }
        for (int j = k + 1; j < blocks; ++j) {
            if (m[k][j] == NULL) continue;
            if (depend) {
#pragma omp task depend(in : m[k][k]) depend(inout : m[k][j])
                forward(m[k][k], m[k][j]);
            } else {
#pragma omp task
                forward(m[k][k], m[k][j]);
            }
        }
        for (int i = k + 1; i < blocks; ++i) {
            if (m[i][k] == NULL) continue;
            if (depend) {
#pragma omp task depend(in : m[k][k]) depend(inout : m[i][k])
                divide(m[k][k], m[i][k]);
            } else {
#pragma omp task
                divide(m[k][k], m[i][k]);
            }
        }
        if (!depend) {
#pragma omp taskwait
        }
        for (int i = k + 1; i < blocks; ++i) {
            if (m[i][k] == NULL) continue;
            for (int j = k + 1; j < blocks; ++j) {
                if (m[k][j] == NULL) continue;
                if (m[i][j] == NULL) m[i][j] = calloc(1, sizeof(block));
                if (depend) {
#pragma omp task depend(in : m[i][k], m[k][j]) depend(inout : m[i][j])
                    subtract(m[i][k], m[k][j], m[i][j]);
                } else {
#pragma omp task
                    subtract(m[i][k], m[k][j], m[i][j]);
                }
            }
        }
        if (!depend) {
#pragma omp taskwait
        }
    }
#pragma omp taskwait
}

static double run_sparse_lu_of(int depend) {
    static block *m[blocks][blocks], *expected[blocks][blocks];
    for (int i = 0; i < blocks; ++i) {
        for (int j = 0; j < blocks; ++j) m[i][j] = make_blocks(i, j), expected[i][j] = make_blocks(i, j);
    }
    const double from = now_ms();
#pragma omp parallel num_threads(threads)
#pragma omp single
    sparse_lu(m, depend);
    const double took = now_ms() - from;
    // One task after another: the result must be equal bit for bit, since each block gets the same
    // operations in the same order.
#pragma omp parallel num_threads(1)
    sparse_lu(expected, 0);
    for (int i = 0; i < blocks; ++i) {
        for (int j = 0; j < blocks; ++j) {
            if ((m[i][j] == NULL) != (expected[i][j] == NULL)) fail("sparse LU: other blocks");
            if (m[i][j] != NULL && memcmp(m[i][j], expected[i][j], sizeof(block)) != 0) fail("sparse LU");
            free(m[i][j]), free(expected[i][j]);
        }
    }
    return took;
}
static double run_sparse_lu(void) { return run_sparse_lu_of(0); }
static double run_sparse_lu_depend(void) { return run_sparse_lu_of(1); }

// ---- an unbalanced tree: a task for each node, which determines its number of children ----------

static int children_of(uint64_t node, int depth) {
    if (depth == 0) return 5000;
    return scrambled(node ^ 0x5bd1e995) % 1000 < 124 ? 8 : 0;   // 0.99 children on average: large and small subtrees
}

static long search(uint64_t node, int depth) {
    const int count = children_of(node, depth);
    if (count == 0) return 1;
    long* const sizes = alloca((size_t)count * sizeof *sizes);
    for (int i = 0; i < count; ++i) {
#pragma omp task firstprivate(i) shared(sizes)
        sizes[i] = search(scrambled(node + (uint64_t)i), depth + 1);
    }
#pragma omp taskwait
    long sum = 1;
    for (int i = 0; i < count; ++i) sum += sizes[i];
    return sum;
}

static long search_alone(uint64_t node, int depth) {
    long sum = 1;
    for (int i = 0, count = children_of(node, depth); i < count; ++i)
        sum += search_alone(scrambled(node + (uint64_t)i), depth + 1);
    return sum;
}

static double run_tree(void) {
    static long expected = 0;
    if (expected == 0) expected = search_alone(42, 0);
    long nodes = 0;
    const double from = now_ms();
#pragma omp parallel num_threads(threads)
#pragma omp single
    nodes = search(42, 0);
    const double took = now_ms() - from;
    if (nodes != expected) fail("tree");
    return took;
}

// ---------------------------------------------------------------------------------------------------------

static const struct {
    const char* name;
    double (*run)(void);
} programs[] = {
    {"fib", run_fib},
    {"sort", run_sort},
    {"strassen", run_strassen},
    {"sparse LU", run_sparse_lu},
    {"sparse LU, depend", run_sparse_lu_depend},
    {"unbalanced tree", run_tree},
};
enum { count_of_programs = sizeof programs / sizeof programs[0] };

void GOMP_barrier(void);

int main(int argc, char** argv) {
    if (argc < 3) return fprintf(stderr, "usage: %s THREADS ROUNDS [NAME ...]\n", argv[0]), 2;
    threads = atoi(argv[1]);
    const int rounds = atoi(argv[2]);
    Dl_info library;
    if (dladdr((void*)GOMP_barrier, &library) == 0) return fprintf(stderr, "no OpenMP library\n"), 1;
    printf("{\"name\": \"library\", \"value\": \"%s\"}\n", library.dli_fname);
    for (int i = 0; i < count_of_programs; ++i) {
        int wanted = argc == 3;
        for (int j = 3; j < argc; ++j) wanted |= strcmp(argv[j], programs[i].name) == 0;
        if (!wanted) continue;
        programs[i].run();   // the first run makes threads and touches memory
        for (int round = 0; round < rounds; ++round)
            printf("{\"name\": \"%s\", \"value\": %.4f}\n", programs[i].name, programs[i].run());
    }
    return 0;
}
