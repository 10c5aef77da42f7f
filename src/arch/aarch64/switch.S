/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The symbols of the AArch64 port; the switch itself is inlined (context.hpp). */
#include "arch/aarch64/frame.h"

/* Where the first switch to a fresh stack lands: main(message.call, message.argument), never to
 * return.
 *   x29  main, from the frame that prepare() wrote
 *   x2   message.call     x3  message.argument */
        .text
        .globl  weft_context_entry
        .hidden weft_context_entry
        .type   weft_context_entry, %function
        .balign 16
weft_context_entry:
        .cfi_startproc
        .cfi_undefined x30              /* the outermost frame: backtraces end here */
        hint    #36                     /* bti j: reached by a jump */
        mov     x16, x29                /* x16: main begins with bti c or paciasp, which a jump may reach only by it */
        mov     x0, x2
        mov     x1, x3
        mov     x29, xzr
        adr     x30, 1f                 /* for the unwinder; no `blr`, for the reason given in x86_64/switch.S */
        br      x16
        nop
1:      brk     #0                      /* main never returns */
        .cfi_endproc
        .size   weft_context_entry, . - weft_context_entry

/* Calls main(argument) on a fresh stack: see x86_64/switch.S.
 *   x0  argument     x1  the fresh stack's top     x2  main
 *   x3  where the caller's context goes              x4  the word that the caller wants back
 * Returns main's answer, or 0, in x0, and the word in x1. */
        .globl  weft_context_call
        .hidden weft_context_call
        .type   weft_context_call, %function
        .balign 16
weft_context_call:
        .cfi_startproc
        hint    #25                     /* paciasp; a landing pad of `bti c` as well */
        stp     x29, x30, [sp, #-176]!
        str     x4, [sp, #160]
        stp     x19, x20, [sp, #16]
        stp     x21, x22, [sp, #32]
        stp     x23, x24, [sp, #48]
        stp     x25, x26, [sp, #64]
        stp     x27, x28, [sp, #80]
        stp     d8, d9, [sp, #96]
        stp     d10, d11, [sp, #112]
        stp     d12, d13, [sp, #128]
        stp     d14, d15, [sp, #144]
        adr     x30, 1f
        hint    #25                     /* paciasp: as a swap signs the address it resumes at */
        stp     x29, x30, [sp, #-16]!   /* FRAME_X29, FRAME_X30 */
        mov     x9, sp
        str     x9, [x3]
        str     x9, [x1, #-8]           /* for the way back */
        sub     sp, x1, #16
        .cfi_remember_state
        .cfi_undefined x30              /* backtraces of the called function end here, as at weft_context_entry */
        blr     x2
        .cfi_restore_state
        ldr     x9, [sp, #8]
        add     sp, x9, #16             /* main has kept the registers */
        ldr     x1, [sp, #160]
        ldp     x29, x30, [sp], #176
        hint    #29                     /* autiasp */
        ret
1:      hint    #36                     /* bti j */
        ldp     x19, x20, [sp, #16]
        ldp     x21, x22, [sp, #32]
        ldp     x23, x24, [sp, #48]
        ldp     x25, x26, [sp, #64]
        ldp     x27, x28, [sp, #80]
        ldp     d8, d9, [sp, #96]
        ldp     d10, d11, [sp, #112]
        ldp     d12, d13, [sp, #128]
        ldp     d14, d15, [sp, #144]
        .cfi_def_cfa_offset 176
        .cfi_offset x29, -176
        .cfi_offset x30, -168
        .cfi_negate_ra_state
        cbz     x2, 2f
        mov     x0, x3
        blr     x2                      /* the message's call */
2:      mov     x0, xzr
        ldr     x1, [sp, #160]
        ldp     x29, x30, [sp], #176
        hint    #29                     /* autiasp */
        .cfi_negate_ra_state
        .cfi_restore x29
        .cfi_restore x30
        .cfi_def_cfa_offset 0
        ret
        .cfi_endproc
        .size   weft_context_call, . - weft_context_call

/* Calls main(argument) on a fresh stack: see x86_64/switch.S.
 *   x0  argument     x1  the fresh stack's top     x2  main */
        .globl  weft_context_call_light
        .hidden weft_context_call_light
        .type   weft_context_call_light, %function
        .balign 16
weft_context_call_light:
        .cfi_startproc
        hint    #25                     /* paciasp */
        stp     x29, x30, [sp, #-16]!
        mov     x29, sp                 /* main keeps x29 */
        mov     sp, x1
        .cfi_remember_state
        /* backtraces of the called function end here: if main suspends, the rest is gone */
        .cfi_undefined x30
        blr     x2
        .cfi_restore_state
        mov     sp, x29
        ldp     x29, x30, [sp], #16
        hint    #29                     /* autiasp */
        ret
        .cfi_endproc
        .size   weft_context_call_light, . - weft_context_call_light

/* The one thread-local word (os/local.hpp); in assembly for the reason given in x86_64/switch.S. */
        .section .tbss, "awT", %nobits
        .globl  weft_local_word
        .type   weft_local_word, %object
        .size   weft_local_word, 8
        .balign 8
weft_local_word:
        .zero   8

/* The host that the OS thread is, or zero (thread_pointer.hpp). */
        .globl  weft_host_word
        .hidden weft_host_word
        .type   weft_host_word, %object
        .size   weft_host_word, 8
        .balign 8
weft_host_word:
        .zero   8

        .section .note.GNU-stack, "", %progbits

/* Branch targets and pointer authentication are respected (BTI and PAC). */
        .section .note.gnu.property, "a"
        .balign 8
        .word   4, 16, 5
        .asciz  "GNU"
        .word   0xc0000000, 4, 3, 0
