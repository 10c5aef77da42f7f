/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a suspended context keeps on its own stack, lowest address first. The compiler keeps
 * everything else that a switch preserves, since it knows what is live (context.hpp). Used by
 * switch.S and context.hpp. */
#define FRAME_RESUME 0 /* the address to jump to */
#define FRAME_RBP 8    /* the frame pointer; for a fresh context the main function */
#define FRAME_SIZE 16
