/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A unit writes one byte too far, on its own stack, after it has left the stack and come back. */
#include <stdio.h>
#include <weft/weft.h>

static void overflowing_unit(void *argument) {
    volatile char room[24];
    room[0] = 0;
    weft_unit_yield();
    room[*(volatile int *)argument] = 1;
    weft_unit_yield();
}

int main(void) {
    weft_init(NULL);
    int where = 24;
    weft_unit *unit;
    weft_ult_spawn(NULL, overflowing_unit, &where, NULL, &unit);
    weft_unit_join_free(unit);
    weft_finalize();
    puts("ended");
    return 0;
}
