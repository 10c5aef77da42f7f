/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A library that has regions, and is loaded and unloaded (process.c). */
long plugin_sum(int threads);

long plugin_sum(int threads) {
    long sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (int i = 0; i < 100; ++i) sum += i;
    return sum;
}
