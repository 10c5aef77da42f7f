/* As OpenBLAS with threads of its own: it asks for OpenMP if there is one. -1: there is none. */
extern int omp_in_parallel(void) __attribute__((weak));

int weak_answer(void) {
    if (omp_in_parallel == 0) return -1;
    return omp_in_parallel() > 0 ? 1 : 0; /* not by a jump, which would return to our caller */
}
