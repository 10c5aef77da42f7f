/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The hand-written switches of bench/x86_64/raw.hpp: rdi = saved, rsi = next; bench_enter: rdi =
 * next. */
        .macro  enter next
        movq    \next, %rsp
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbx
        popq    %rbp
        .endm

        .macro  leave_and_enter
        endbr64
        pushq   %rbp
        pushq   %rbx
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        movq    %rsp, (%rdi)
        enter   %rsi
        .endm

        .text
        .globl  bench_switch
        .type   bench_switch, @function
        .balign 64
bench_switch:
        leave_and_enter
        popq    %rdx
        jmpq    *%rdx
        .size   bench_switch, . - bench_switch

        .globl  bench_switch_ret
        .type   bench_switch_ret, @function
        .balign 64
bench_switch_ret:
        leave_and_enter
        ret
        .size   bench_switch_ret, . - bench_switch_ret

        .globl  bench_enter
        .type   bench_enter, @function
        .balign 64
bench_enter:
        endbr64
        enter   %rdi
        popq    %rdx
        jmpq    *%rdx
        .size   bench_enter, . - bench_enter

        .section .note.GNU-stack, "", @progbits
