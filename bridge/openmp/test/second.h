/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a library with LLVM's regions does for second.c. clang compiles it, and it is linked without
 * its runtime, so its references to omp_ routines carry no version. */
#ifndef WEFT_OPENMP_SECOND_H
#define WEFT_OPENMP_SECOND_H

struct where {
    int number, number_in_fortran, threads, level, active_level, in_parallel, number_at_level, size_of_team, teams,
        team;
};

struct second {
    void (*region)(int threads, void (*body)(void *), void *data); /* 0 threads: as many as a region has by default */
    struct where (*where)(void);
    int (*max_threads)(void);
    void (*set_num_threads)(int);
    void (*set_max_active_levels)(int);
    int (*dynamic)(void);
    void (*set_dynamic)(int);
    void (*schedule)(unsigned *kind, int *chunk);
    void (*set_schedule)(unsigned kind, int chunk);
    int (*counted_under_locks)(int threads); /* 100 by each thread; -1: a lock has written beyond itself */
    int (*detached)(void);                   /* whether a task ended after its event was fulfilled */
};

#endif
