/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program of the suite checks what a construct means, on any runtime. It prints what was wrong,
 * and then exits with 1. */
#ifndef WEFT_OPENMP_CHECK_H
#define WEFT_OPENMP_CHECK_H

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static int wrong_count;

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            __atomic_add_fetch(&wrong_count, 1, __ATOMIC_RELAXED);                  \
        }                                                                           \
    } while (0)

#define EQUAL(a, b)                                                                                        \
    do {                                                                                                   \
        const long long left_ = (long long)(a), right_ = (long long)(b);                                   \
        if (left_ != right_) {                                                                             \
            fprintf(stderr, "%s:%d: %s is %lld, %s is %lld\n", __FILE__, __LINE__, #a, left_, #b, right_); \
            __atomic_add_fetch(&wrong_count, 1, __ATOMIC_RELAXED);                                         \
        }                                                                                                  \
    } while (0)

/* Teams of every kind: one thread, as many as there may be CPUs, and more. */
static const int sizes[] = {1, 2, 3, 8};
#define EACH_SIZE(size) for (int at_ = 0, size; at_ < 4 && (size = sizes[at_], 1); ++at_)

static inline int verdict(void) { return wrong_count == 0 ? 0 : 1; }

#endif
