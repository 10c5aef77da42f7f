/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Unit-local values: each unit keeps a value under a key, as each thread does under a pthread key.
 * A `thread_local` variable belongs to the carrier, and a unit may continue on another carrier; a
 * value under a key moves with its unit.
 *
 *     static weft_key *key;
 *     weft_key_create(free, &key);
 *     weft_local_set(key, strdup("mine"));      in any unit; freed when that unit ends
 *
 * Lasting keys are for libraries that embed Weft. What such a library has to remember of a unit,
 * its own or another library's, it attaches to the unit's handle under a key of its own. Such a
 * value is set once, from any thread, and may be read from any thread, whatever the unit does:
 *
 *     weft_key_options options = {.size = sizeof options, .lasting = true, .release = forget};
 *     weft_key_create_with(&options, &key);     when the library begins
 *     weft_unit_local_set(unit, key, known);    in any state of the unit; forget(known) when freed
 *     weft_key_free(key);                       at the end: forget(known) for each live unit
 */
#ifndef WEFT_LOCAL_H
#define WEFT_LOCAL_H

#include <stdbool.h>

#include <weft/pool.h>
#include <weft/status.h>

WEFT_BEGIN

/** A key under which units keep values. */
typedef struct weft_key weft_key;

/** Makes a key, under which every unit has the value NULL.
 *
 * destructor  NULL, or called as destructor(value) with each value other than NULL that a unit has
 *             when it ends, however it ends. It is called on the unit's stack, where it may switch
 *             (for a tasklet, and for a unit for which no stack was available, on the scheduler's
 *             stack, where it must not), and before any joiner learns of the unit's end. It must
 *             not throw. Values that it sets itself are destroyed, too, for a few rounds
 * key         required; receives the key
 *
 * Returns WEFT_OK, WEFT_NO_MEMORY, WEFT_INVALID. From anywhere, also before weft_init; never
 * switches. Since 0.2. */
WEFT_API weft_status weft_key_create(void (*destructor)(void *value), weft_key **key) WEFT_NOTHROW;

/** The options of a key.
 *
 * A library whose routines read a thread_local word, because a call of Weft each time would take
 * too long, keeps that word correct by a key that *follows* units: `leaves` and `returns` are both
 * given. For a unit that has a value under such a key, leaves(value) is called each time before
 * another unit, or a scheduler, runs on its OS thread with the same thread_local memory, and
 * returns(value) when the unit resumes, on whatever OS thread.
 *
 * For units without a value neither is called, and they pay nothing, except units that are their OS
 * thread's own code: for a guest, which keeps its thread's words, both are called also with NULL;
 * and weft_init calls returns(NULL) on the thread that it has made a unit. For hosted units, whose
 * thread_local memory is their own, and for tasklets, which never leave, neither is called.
 *
 * Both are called in the unit, or where it is about to run; they must not switch or throw. The
 * destructor of such a key's value must do what `leaves` does: `leaves` is not called before a unit
 * ends.
 *
 * Since 0.6. */
typedef struct weft_key_options {
    /** sizeof(weft_key_options) */
    size_t size;
    /** the `destructor` of weft_key_create; NULL with `lasting` */
    void (*destructor)(void *value);
    /** values belong to the unit's handle, not to one of its lives: each is set once, is not NULL,
     * survives the unit's end and revival, and is set and read from any thread while the unit is in
     * any state */
    bool lasting;
    /** with `lasting`: NULL, or called as release(value) when the unit is freed (a detached unit:
     * when it has ended), by the weft_guest_leave of a guest, by weft_key_free, or by the last
     * weft_finalize, whichever comes first. It must not suspend or throw, free or spawn units, set
     * values or free keys */
    void (*release)(void *value);
    /** called before a unit leaves; NULL: the key follows no units, and returns is NULL as well */
    void (*leaves)(void *value);
    /** called when a unit resumes */
    void (*returns)(void *value);
} weft_key_options;

/** Makes a key like weft_key_create, with options. Values under the first three lasting keys are
 * read by a few loads; each three further keys cost one more step.
 *
 * options  required; its `size` is set
 * key      required; receives the key
 *
 * Returns WEFT_OK, WEFT_NO_MEMORY (also: the limit of keys is reached, 65536, or 1024 lasting ones,
 * or 8 that follow units), WEFT_INVALID (also: both `lasting` and a destructor, or `release`
 * without `lasting`, or one of leaves and returns without the other, or with `lasting`). From
 * anywhere, also before weft_init; never switches. Since 0.6. */
WEFT_API weft_status weft_key_create_with(const weft_key_options *options, weft_key **key) WEFT_NOTHROW;

/** Frees a key. Values that units have under it are dropped: no destructor is called for them, and
 * no later key finds them. The key must not be used meanwhile or afterwards. For a lasting key, the
 * calling thread calls `release` for each value that is left; calls of `release` for units that
 * other threads free meanwhile have returned, too, when weft_key_free does. `release` is not called
 * again, so that its code may be unloaded. The time this takes grows with the largest number of
 * units that have ever had values under keys at once. Returns WEFT_OK or WEFT_INVALID. From
 * anywhere; never switches. Since 0.2. */
WEFT_API weft_status weft_key_free(weft_key *key) WEFT_NOTHROW;

/** Sets the calling unit's value. The previous value is not destroyed. Returns WEFT_OK,
 * WEFT_NO_MEMORY (nothing has changed), WEFT_INVALID (also: NULL under a lasting key),
 * WEFT_WRONG_STATE (the unit already has a value under a lasting key), WEFT_WRONG_CONTEXT (outside
 * of units). From units; never switches. Since 0.2. */
WEFT_API weft_status weft_local_set(const weft_key *key, void *value) WEFT_NOTHROW;

/** The calling unit's value; NULL when it has none, and outside of units. From anywhere; never
 * switches. Since 0.2. */
WEFT_API void *weft_local_get(const weft_key *key) WEFT_NOTHROW;

/** Sets the value of a unit that does not run and cannot begin to run meanwhile (it is suspended,
 * or waits in a pool that no stream draws from), or of the calling unit. Under a lasting key it
 * sets the value of any unit, which may run or have ended, but must not be revived meanwhile.
 * Returns WEFT_OK, WEFT_NO_MEMORY, WEFT_INVALID (also: NULL under a lasting key), WEFT_WRONG_STATE
 * (it has ended; under a lasting key: it has a value; of several calls at once, one succeeds),
 * WEFT_WRONG_CONTEXT (the key follows units, and the unit is not the calling one). From any thread
 * or unit; never switches. Since 0.2. */
WEFT_API weft_status weft_unit_local_set(weft_unit *unit, const weft_key *key, void *value) WEFT_NOTHROW;

/** The value of a unit for which weft_unit_local_set may be called, or of one that has ended: NULL
 * in the latter case, unless the key is lasting.
 *
 * value  required; receives the value, or NULL when the unit has none
 *
 * Returns WEFT_OK or WEFT_INVALID. From any thread or unit; never switches. Since 0.2. */
WEFT_API weft_status weft_unit_local_get(const weft_unit *unit, const weft_key *key, void **value) WEFT_NOTHROW;

/** Whether the thread_local memory here stays the caller's own, whatever it waits for: true for a
 * hosted unit, a guest, a primary unit that does not roam, and outside of Weft. False for other
 * units, whose thread_local memory is that of the OS thread that carries them, and in a scheduler
 * and in callbacks. From anywhere; never switches. Since 0.6. */
WEFT_API bool weft_thread_local_own(void) WEFT_NOTHROW;

WEFT_END

#endif
