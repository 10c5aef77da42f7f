/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a suspended context keeps on its own stack, lowest address first (see x86_64/frame.h). */
#define FRAME_X29 0 /* the frame pointer; for a fresh context the main function */
#define FRAME_X30 8 /* the address to jump to, signed where the processor authenticates pointers */
#define FRAME_SIZE 16
