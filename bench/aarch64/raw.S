/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The hand-written switches of bench/aarch64/raw.hpp: x0 = saved, x1 = next; bench_enter: x0 =
 * next. */
        .macro  enter next
        mov     sp, \next
        ldp     x19, x20, [sp, #0]
        ldp     x21, x22, [sp, #16]
        ldp     x23, x24, [sp, #32]
        ldp     x25, x26, [sp, #48]
        ldp     x27, x28, [sp, #64]
        ldp     x29, x30, [sp, #80]
        ldp     d8, d9, [sp, #96]
        ldp     d10, d11, [sp, #112]
        ldp     d12, d13, [sp, #128]
        ldp     d14, d15, [sp, #144]
        add     sp, sp, #160
        .endm

        .macro  leave_and_enter
        hint    #34                     /* bti c */
        sub     sp, sp, #160
        stp     x19, x20, [sp, #0]
        stp     x21, x22, [sp, #16]
        stp     x23, x24, [sp, #32]
        stp     x25, x26, [sp, #48]
        stp     x27, x28, [sp, #64]
        stp     x29, x30, [sp, #80]
        stp     d8, d9, [sp, #96]
        stp     d10, d11, [sp, #112]
        stp     d12, d13, [sp, #128]
        stp     d14, d15, [sp, #144]
        mov     x9, sp
        str     x9, [x0]
        enter   x1
        .endm

        .text
        .globl  bench_switch
        .type   bench_switch, %function
        .balign 64
bench_switch:
        leave_and_enter
        mov     x16, x30                /* a jump through x16 may also land on bti c */
        br      x16
        .size   bench_switch, . - bench_switch

        .globl  bench_switch_ret
        .type   bench_switch_ret, %function
        .balign 64
bench_switch_ret:
        leave_and_enter
        ret
        .size   bench_switch_ret, . - bench_switch_ret

        .globl  bench_enter
        .type   bench_enter, %function
        .balign 64
bench_enter:
        hint    #34                     /* bti c */
        enter   x0
        mov     x16, x30
        br      x16
        .size   bench_enter, . - bench_enter

        .section .note.GNU-stack, "", %progbits
