/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The running stream and unit: what a program may read of them without a call.
 *
 * For headers of other languages, and for runtimes that embed Weft and need to know the calling
 * unit in each of their own calls. In C++: weft::here::unit and its neighbours, in
 * <weft/embed/here.hpp>. All of it is the library's and may only be read, except the jobs
 * (<weft/parallel.h>).
 *
 * The thread-local word `weft_local_word` points to a weft_here; it is NULL where the OS thread is
 * not a stream. Read it again after each call that may switch, as <weft/embed/here.hpp> does, and
 * keep it in no variable across such a call. Where weft_here.running is NULL, nothing is known of
 * the unit here: use the calls instead (weft_unit_self, weft_unit_self_kind, weft_unit_self_data,
 * weft_local_get). This is so in a scheduler, and always with a library that checks handles.
 *
 * All of this holds for one layout, whose number is in <weft/embed/layout.h>. A later version may
 * move all of it. */
#ifndef WEFT_EMBED_HERE_H
#define WEFT_EMBED_HERE_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/embed/job.h>
#include <weft/local.h>
#include <weft/status.h>

WEFT_BEGIN

/** The running unit, as the unit itself sees it: the memory that its handle points to. Since
 * 0.5. */
typedef struct weft_running {
    unsigned char kept[57]; /**< the library's */
    unsigned char kind;     /**< a weft_kind, as weft_unit_self_kind returns it */
} weft_running;

/** The beginning of a stream's memory. Since 0.5. */
typedef struct weft_here {
    weft_jobs jobs;              /**< of the running unit */
    void *kept;                  /**< the library's */
    const weft_running *running; /**< the running unit, by its handle; or NULL: use the calls */
} weft_here;

/** The beginning of a key's memory (<weft/local.h>): how the value of a lasting key is found
 * without a call. It stays as long as the key. Since 0.6. */
typedef struct weft_key_here {
    uint64_t mark;   /**< identifies values under this key, and under no other */
    uint32_t offset; /**< offset of the key's weft_hung from a unit's weft_hanging, */
    bool near;       /**< if it lies there; false: `mark` is never found there, use the calls */
} weft_key_here;

/** A unit handle's value under a lasting key: `value`, if `mark`, read before `value` by an acquire
 * load, is the key's mark. Since 0.6. */
typedef struct weft_hung {
    void *value;   /**< as weft_unit_local_get returns it */
    uint64_t mark; /**< the key's mark; 0: none */
} weft_hung;

/** The values attached to a unit, found by a word in the unit's block. Units lie in blocks of
 * WEFT_BLOCK_BYTES, aligned to that size; after the first WEFT_BLOCK_HEAD bytes of a block come
 * words, one for each WEFT_BLOCK_UNIT bytes of the block. The word for the place where the unit
 * lies is NULL, or points to the unit's weft_hanging. The running unit, and any code that knows
 * that a unit is not freed, reads its word, and `data`, by acquire loads. Since 0.5. */
typedef struct weft_hanging {
    void *data; /**< as weft_unit_data_get returns it */
} weft_hanging;

/** Where a unit's word lies: see weft_hanging. Since 0.5. */
enum {
    /** a handle is the unit's address; a handle with higher bits comes from a library that checks
     * handles, and serves only for calls. Since 0.6 */
    WEFT_HANDLE_BITS = 48,
    /** the size of a block of units */
    WEFT_BLOCK_BYTES = 65536,
    /** the bytes before the block's words */
    WEFT_BLOCK_HEAD = 64,
    /** the bytes of the block for which there is one word */
    WEFT_BLOCK_UNIT = 128
};

WEFT_END

#endif
