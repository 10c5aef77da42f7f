/* What a library that embeds Weft is to a process that has several of them: it begins, works and
 * ends, in any order with the others. */
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

/* Each is defined under a name that the build gives it, PART: of a shared library `part`, of one
 * that is linked its own. */
struct part {
    void (*begin)(void);
    void (*work)(void);
    void (*end)(void);
};

#endif
