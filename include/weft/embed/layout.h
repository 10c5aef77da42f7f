/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The layout of the library's data that inlined code reads: <weft/embed/here.h>,
 * <weft/embed/job.h>, and what the C++ headers over them compile into a program.
 *
 * A later version may change all of it: sizes, offsets, the library's own words, how a word is
 * found. The layout then has another number. A program that was compiled against this layout refers
 * to the symbol `weft_embed_layout_1`, which a library of another layout does not have: the loader
 * refuses the program and names the symbol, and the program must be recompiled. C++ headers refer
 * to it by themselves, <weft/embed/here.hpp> and <weft/parallel.hpp> among them. Code in other
 * languages refers to the symbol, or compares the number with the result of weft_embed_layout(). */
#ifndef WEFT_EMBED_LAYOUT_H
#define WEFT_EMBED_LAYOUT_H

#include <stdint.h>

#include <weft/status.h>

WEFT_BEGIN

/** The number of the layout that these headers describe. Since 0.7. */
#define WEFT_EMBED_LAYOUT 1

/** The number of the layout that the library has. From anywhere; never switches. Since 0.7. */
WEFT_API uint32_t weft_embed_layout(void) WEFT_NOTHROW;

/** Defined by a library of layout 1; its value is never read. Since 0.7. */
extern WEFT_API const char weft_embed_layout_1;

WEFT_END

#endif
