/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two user-level threads say hello, on as many streams as there are harts. */
#include <stdio.h>
#include <weft/weft.h>

static void hello(void *name) { printf("hello from %s\n", (const char *)name); }

int main(void) {
    weft_unit *units[2];
    if (weft_init(NULL) != WEFT_OK) return fprintf(stderr, "%s\n", weft_error_text()), 1;
    if (weft_ult_spawn(NULL, hello, "warp", NULL, &units[0]) != WEFT_OK) return 1;
    if (weft_ult_spawn(NULL, hello, "weft", NULL, &units[1]) != WEFT_OK) return 1;
    if (weft_unit_join_free_many(units, 2) != WEFT_OK) return 1; /* joins both first */
    return weft_finalize() == WEFT_OK ? 0 : 1;
}
