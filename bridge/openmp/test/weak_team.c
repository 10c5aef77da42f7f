/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The largest result of ask() in the threads of a region. */
int most_in_region(int threads, int (*ask)(void)) {
    int most = -2;
#pragma omp parallel num_threads(threads) reduction(max : most)
    most = ask();
    return most;
}
