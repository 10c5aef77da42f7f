/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Like OpenBLAS with threads of its own: uses OpenMP if there is one. -1: there is none. */
extern int omp_in_parallel(void) __attribute__((weak));

int weak_answer(void) {
    if (omp_in_parallel == 0) return -1;
    return omp_in_parallel() > 0 ? 1 : 0; /* a call, not a jump, which would return to our caller */
}
