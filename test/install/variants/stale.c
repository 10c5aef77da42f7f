/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Frees a unit twice. */
#include <stdio.h>
#include <weft/weft.h>

static void nothing(void *argument) { (void)argument; }

int main(void) {
    weft_init(NULL);
    weft_unit *unit;
    weft_ult_spawn(NULL, nothing, NULL, NULL, &unit);
    weft_unit_join_free(unit);
    weft_unit_join_free(unit);
    puts("ended");
    fflush(stdout);
    return 0;
}
