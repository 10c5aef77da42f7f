/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Teams of thousands, which some programs ask for by mistake and others in order to wait: each
   thread exists, is the same one in the next region, and meets the others. */
#include <pthread.h>

#include "check.h"

enum { most = 6000 };
static pthread_t thread_of[most];
static int regions_of;
#pragma omp threadprivate(regions_of)

static void region(int size, int known) {
    static int came[most];
    long met = 0;
    for (int i = 0; i < size; ++i) came[i] = 0;
#pragma omp parallel num_threads(size) reduction(+ : met)
    {
        const int number = omp_get_thread_num();
        EQUAL(omp_get_num_threads(), size);
        if (number < known) CHECK(pthread_equal(thread_of[number], pthread_self()));
        thread_of[number] = pthread_self();
        regions_of++;
        came[number]++;
#pragma omp barrier
        met += came[(number + size / 2) % size];
    }
    EQUAL(met, size);
}

int main(void) {
    region(5000, 0);
    region(5000, 5000);
    region(3, 5000);
    region(most, 5000);
    int threads = 0;
#pragma omp parallel num_threads(most) reduction(+ : threads)
    threads += regions_of == (omp_get_thread_num() < 3 ? 4 : omp_get_thread_num() < 5000 ? 3 : 1);
    EQUAL(threads, most);
    return verdict();
}
