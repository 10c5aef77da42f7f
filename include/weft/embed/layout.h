/* The layout of what inlined code reads of the library: <weft/embed/here.h>, <weft/embed/job.h>,
 * and what the C++ headers over them compile into a program.
 *
 * A later version may change all of it: sizes, offsets, the words that are the library's, how a
 * word is found. It has another number then. A program that was compiled against this one asks the
 * loader for the symbol `weft_embed_layout_1`, which a library of another layout does not have: the
 * loader refuses it by that name, and the program is to be compiled anew. C++ headers ask by
 * themselves, <weft/embed/here.hpp> and <weft/parallel.hpp> among them. Code in other languages
 * refers to the symbol, or compares the number with what weft_embed_layout() returns. */
#ifndef WEFT_EMBED_LAYOUT_H
#define WEFT_EMBED_LAYOUT_H

#include <stdint.h>

#include <weft/status.h>

WEFT_BEGIN

/** The number of the layout that these headers describe. Since 0.7. */
#define WEFT_EMBED_LAYOUT 1

/** The number of the library's. From anywhere; never switches. Since 0.7. */
WEFT_API uint32_t weft_embed_layout(void) WEFT_NOTHROW;

/** Defined by a library of layout 1; nothing is read of it. Since 0.7. */
extern WEFT_API const char weft_embed_layout_1;

WEFT_END

#endif
