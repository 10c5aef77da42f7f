/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The smallest program that uses the library: one unit, spawned and joined. Prints its answer. */
#include <stdio.h>
#include <weft/weft.h>

static void body(void *argument) { *(int *)argument = 42; }

int main(void) {
    int answer = 0;
    weft_unit *unit = NULL;
    if (weft_version() != WEFT_VERSION_MAJOR * 10000 + WEFT_VERSION_MINOR * 100 + WEFT_VERSION_PATCH) return 1;
    if (weft_init(NULL) != WEFT_OK) return 2;
    if (weft_ult_spawn(NULL, body, &answer, NULL, &unit) != WEFT_OK) return 3;
    if (weft_unit_join_free(unit) != WEFT_OK) return 4;
    if (weft_finalize() != WEFT_OK) return 5;
    printf("answer %d\n", answer);
    return 0;
}
