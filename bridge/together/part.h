/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A library that embeds Weft, in a process that has several of them: it begins, works and ends, in
 * any order with the others. */
#ifndef TOGETHER_PART_H
#define TOGETHER_PART_H

#include <stdio.h>
#include <stdlib.h>

#define MUST(condition)                                                     \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                        \
        }                                                                   \
    } while (0)

/* Each part is defined under the name PART, which the build sets: `part` for a shared library, a
 * name of its own for a linked part. */
struct part {
    void (*begin)(void);
    void (*work)(void);
    void (*end)(void);
};

#endif
