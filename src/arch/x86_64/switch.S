/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The symbols of the x86-64 port; the switch itself is inlined (context.hpp). */
#include "arch/x86_64/frame.h"

/* Where the first switch to a fresh stack lands: main(message.call, message.argument), never to
 * return.
 *   rdx  message.call       rcx  message.argument
 *   top of the stack: main, FRAME_RBP of the frame that prepare() wrote; above it the stack is
 *   16-aligned */
        .text
        .globl  weft_context_entry
        .hidden weft_context_entry
        .type   weft_context_entry, @function
        .balign 16
weft_context_entry:
        .cfi_startproc
        .cfi_undefined %rip             /* the outermost frame: backtraces end here */
        endbr64
        popq    %rax
        movq    %rdx, %rdi
        movq    %rcx, %rsi
        xorl    %ebp, %ebp
        /* A return address for the unwinder, but no `call`: main never returns, so a call would
         * leave the return predictor one entry ahead for good, and each later `ret` would be
         * mispredicted. */
        leaq    1f(%rip), %rcx
        pushq   %rcx
        jmpq    *%rax
        nop                             /* the unwinder looks up the byte before the return address */
1:      ud2
        .cfi_endproc
        .size   weft_context_entry, . - weft_context_entry

/* Calls main(argument) on a fresh stack, while the caller is suspended (context.hpp: call).
 *   rdi  argument     rsi  the fresh stack's top     rdx  main
 *   rcx  where the caller's context goes             r8   the word that the caller wants back
 * Returns main's answer, or 0, in rax, and the word in rdx. The registers that a called function
 * must keep are pushed for the case that a switch resumes the caller. When main returns it has kept
 * them all itself, and nothing is popped. */
        .globl  weft_context_call
        .hidden weft_context_call
        .type   weft_context_call, @function
        .balign 16
weft_context_call:
        .cfi_startproc                  /* no landing pad: nothing jumps here */
        pushq   %r8
        pushq   %r15
        pushq   %r14
        pushq   %r13
        pushq   %r12
        pushq   %rbx
        pushq   %rbp                    /* FRAME_RBP */
        leaq    1f(%rip), %rax
        pushq   %rax                    /* FRAME_RESUME */
        movq    %rsp, (%rcx)
        movq    %rsp, %r15              /* for the way back: main keeps it */
        movq    %rsi, %rsp
        .cfi_remember_state
        .cfi_undefined %rip             /* backtraces of the called function end here, as at weft_context_entry */
        call    *%rdx
        .cfi_restore_state
        movq    %r15, %rsp
        movq    48(%rsp), %r15
        movq    56(%rsp), %rdx
        addq    $64, %rsp
        ret
1:      endbr64
        popq    %rbp
        popq    %rbx
        popq    %r12
        popq    %r13
        popq    %r14
        popq    %r15
        .cfi_adjust_cfa_offset 8        /* the word is left */
        testq   %rdx, %rdx
        je      2f
        movq    %rcx, %rdi
        call    *%rdx                   /* the message's call */
2:      xorl    %eax, %eax
        popq    %rdx
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   weft_context_call, . - weft_context_call

/* Calls main(argument) on a fresh stack, and saves only what main's return needs (context.hpp:
 * call_light).
 *   rdi  argument     rsi  the fresh stack's top     rdx  main */
        .globl  weft_context_call_light
        .hidden weft_context_call_light
        .type   weft_context_call_light, @function
        .balign 16
weft_context_call_light:
        .cfi_startproc
        pushq   %rbp
        movq    %rsp, %rbp              /* main keeps rbp */
        movq    %rsi, %rsp
        .cfi_remember_state
        /* backtraces of the called function end here: if main suspends, the rest is gone */
        .cfi_undefined %rip
        call    *%rdx
        .cfi_restore_state
        movq    %rbp, %rsp
        popq    %rbp
        ret
        .cfi_endproc
        .size   weft_context_call_light, . - weft_context_call_light

/* Returns its argument, by a jump (context.hpp: return_by_jump). What a call returns to has no
 * landing pad: the jump's prefix says that it needs none.
 *   rdi  the argument */
        .globl  weft_context_return_by_jump
        .hidden weft_context_return_by_jump
        .type   weft_context_return_by_jump, @function
        .balign 16
weft_context_return_by_jump:
        .cfi_startproc                  /* no landing pad: nothing jumps here indirectly */
        movl    %edi, %eax
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        .cfi_register %rip, %rcx
        notrack jmpq *%rcx
        .cfi_endproc
        .size   weft_context_return_by_jump, . - weft_context_return_by_jump

/* The one thread-local word (os/local.hpp). In assembly, so that no compiler, link-time
 * optimisation included, knows it as a variable whose address it might keep across a switch.
 * Exported: include/weft/embed/here.hpp reads it too. */
        .section .tbss, "awT", @nobits
        .globl  weft_local_word
        .type   weft_local_word, @object
        .size   weft_local_word, 8
        .balign 8
weft_local_word:
        .zero   8

/* The host that the OS thread is, or zero (thread_pointer.hpp). */
        .globl  weft_host_word
        .hidden weft_host_word
        .type   weft_host_word, @object
        .size   weft_host_word, 8
        .balign 8
weft_host_word:
        .zero   8

        .section .note.GNU-stack, "", @progbits

/* This object lands every indirect jump on endbr64 (IBT). No claim about shadow stacks. */
        .section .note.gnu.property, "a"
        .balign 8
        .long   4, 16, 5
        .asciz  "GNU"
        .long   0xc0000002, 4, 1, 0
