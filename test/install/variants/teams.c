/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Each OpenMP construct that orders accesses, and what it orders. RACE, OVERFLOW and LEAK are
 * mistakes. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static omp_lock_t lock;
static long counted, chained;
static long fib(int n) {
    if (n < 2) return n;
    long a, b;
#pragma omp task shared(a) if (n > 5)
    a = fib(n - 1);
#pragma omp task shared(b) if (n > 5)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}
int main(void) {
    omp_init_lock(&lock);
    long *data = calloc(1000, sizeof *data), sum = 0, fibonacci = 0, last = 0, ordered = 0, x = 0;
    for (int round = 0; round < 5; ++round) {
#pragma omp parallel num_threads(4)
        {
#pragma omp for schedule(dynamic, 7)
            for (int i = 0; i < 1000; ++i) data[i] += i;
#pragma omp for schedule(guided) reduction(+ : sum)
            for (int i = 0; i < 1000; ++i) sum += data[999 - i];
#pragma omp for lastprivate(last) nowait
            for (int i = 0; i < 100; ++i) last = i;
            omp_set_lock(&lock);
            ++counted;
            omp_unset_lock(&lock);
#pragma omp for ordered
            for (int i = 0; i < 50; ++i) {
#pragma omp ordered
                ordered += i;
            }
#pragma omp single
            fibonacci = fib(14);
#pragma omp single nowait
            for (int i = 0; i < 20; ++i) {
#pragma omp task depend(inout : chained)
                chained += i;
            }
#pragma omp sections
            {
#pragma omp section
                data[0] += 1;
#pragma omp section
                data[1] += 1;
            }
#pragma omp master
#pragma omp taskloop grainsize(10)
            for (int i = 0; i < 200; ++i) data[i] += 1;
#pragma omp barrier
#pragma omp atomic
            x += 1;
        }
#pragma omp parallel num_threads(2)
#pragma omp parallel for num_threads(2)
        for (int i = 0; i < 8; ++i)
#pragma omp critical
            ++x;
    }
#ifdef RACE
#pragma omp parallel num_threads(2)
    {
        /* Both at a time, by means that order nothing. */
        static int arrived;
        __atomic_fetch_add(&arrived, 1, __ATOMIC_RELAXED);
        while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < 2) {}
        for (int i = 0; i < 10000; ++i) ++*(volatile long *)&counted;
    }
#endif
#ifdef OVERFLOW
#pragma omp parallel num_threads(4)
    data[1000 + omp_get_thread_num()] = 1;
#endif
#ifdef LEAK
#pragma omp parallel num_threads(4)
    data = calloc(1000, sizeof *data);
#endif
    printf("%ld %ld %ld %ld %ld %ld %ld\n", sum, fibonacci, last, ordered, counted, chained, x);
#ifndef LEAK
    free(data);
#endif
    return 0;
}
