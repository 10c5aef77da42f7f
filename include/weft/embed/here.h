/* What runs here: what a program may read of the stream that it stands on and of the unit that
 * calls, without a call.
 *
 * For headers of other languages, and for runtimes that embed Weft and ask at each of their own
 * calls who it is that calls. In C++: weft::here::unit and what is beside it, in
 * <weft/embed/here.hpp>. All of it is the library's, to be read alone, but for the jobs
 * (<weft/parallel.h>).
 *
 * The thread-local word `weft_local_word` leads to a weft_here; it is NULL where the OS thread is
 * no stream. Read it anew after each call that may switch, as <weft/embed/here.hpp> does, and keep
 * it in no variable across one. Where weft_here.running is NULL nothing is said of the unit: then
 * ask by the calls (weft_unit_self, weft_unit_self_kind, weft_unit_self_data, weft_local_get). So
 * it is in a scheduler, and always with a library that checks handles.
 *
 * What stands here holds for one layout, whose number <weft/embed/layout.h> has. A later version
 * may move all of it. */
#ifndef WEFT_EMBED_HERE_H
#define WEFT_EMBED_HERE_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/embed/job.h>
#include <weft/local.h>
#include <weft/status.h>

WEFT_BEGIN

/** The unit that runs, as itself sees it: where its handle points to. Since 0.5. */
typedef struct weft_running {
    unsigned char kept[57]; /**< the library's */
    unsigned char kind;     /**< a weft_kind, as weft_unit_self_kind tells it */
} weft_running;

/** What begins a stream's memory. Since 0.5. */
typedef struct weft_here {
    weft_jobs jobs;              /**< of the unit that runs */
    void *kept[3];               /**< the library's */
    const weft_running *running; /**< the unit that runs, by its handle; or NULL: ask */
} weft_here;

/** What begins the memory of a key (<weft/local.h>): how the value of a lasting one is found
 * without a call. It stays as long as the key. Since 0.6. */
typedef struct weft_key_here {
    uint64_t mark;   /**< of values under this key, and no other */
    uint32_t offset; /**< where the weft_hung of the key lies, from the weft_hanging of a unit, */
    bool near;       /**< if it lies there; false: `mark` is never found there, ask by the calls */
} weft_key_here;

/** What a unit's handle has under a lasting key: `value`, if `mark`, read before it by a load that
 * acquires, is the key's. Since 0.6. */
typedef struct weft_hung {
    void *value;   /**< as weft_unit_local_get tells it */
    uint64_t mark; /**< of the key; 0: none */
} weft_hung;

/** What hangs on a unit: found by a word beside it. Units lie in blocks of WEFT_BLOCK_BYTES,
 * aligned to as much; behind the first WEFT_BLOCK_HEAD bytes of a block are words, one for each
 * WEFT_BLOCK_UNIT bytes of the block. The word of the place where the unit lies is NULL, or leads
 * to what hangs on it. The unit that runs, and whoever knows that a unit is not freed, reads its
 * word, and `data`, by loads that acquire. Since 0.5. */
typedef struct weft_hanging {
    void *data; /**< as weft_unit_data_get tells it */
} weft_hanging;

/** Where a unit's word lies: see weft_hanging. Since 0.5. */
enum {
    /** a handle is the unit's address; one with higher bits is of a library that checks handles,
     * for calls alone. Since 0.6 */
    WEFT_HANDLE_BITS = 48,
    /** of a block of units */
    WEFT_BLOCK_BYTES = 65536,
    /** before its words */
    WEFT_BLOCK_HEAD = 64,
    /** for which there is one word */
    WEFT_BLOCK_UNIT = 128
};

WEFT_END

#endif
