/* The two symbols of the AArch64 port; the switch itself is inlined (context.hpp). */
#include "arch/aarch64/frame.h"

/* Where the first switch to a fresh stack lands: main(message.call, message.argument), never to return.
 *   x29  main, from the frame that prepare() wrote      x2  message.call      x3  message.argument */
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

/* The one thread-local word (os/local.hpp); in assembly for the reason given in x86_64/switch.S. */
        .section .tbss, "awT", %nobits
        .globl  weft_local_word
        .hidden weft_local_word
        .type   weft_local_word, %object
        .size   weft_local_word, 8
        .balign 8
weft_local_word:
        .zero   8

        .section .note.GNU-stack, "", %progbits

/* Branch targets and pointer authentication are respected (BTI and PAC). */
        .section .note.gnu.property, "a"
        .balign 8
        .word   4, 16, 5
        .asciz  "GNU"
        .word   0xc0000000, 4, 3, 0
