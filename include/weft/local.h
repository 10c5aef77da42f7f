/* Unit-local values: what each unit keeps under a key, as threads do under a pthread key. A
 * `thread_local` variable belongs to the carrier, and a unit may continue on another; a value under
 * a key goes with its unit.
 *
 *     static weft_key *key;
 *     weft_key_create(free, &key);
 *     weft_local_set(key, strdup("mine"));      in any unit; freed when that unit ends
 *
 * Lasting keys are for libraries that embed Weft: what one has to remember of a unit, its own or
 * one of others that it meets, it hangs on the unit's handle under a key of its own. Such a value
 * is set once, from any thread, and read by anybody, whatever the unit does:
 *
 *     weft_key_options options = {.size = sizeof options, .lasting = true, .release = forget};
 *     weft_key_create_with(&options, &key);     when the library begins
 *     weft_unit_local_set(unit, key, known);    in any state of the unit; forget(known) when the unit is freed
 *     weft_key_free(key);                       when the library ends: forget(known) for each unit that lives on
 */
#ifndef WEFT_LOCAL_H
#define WEFT_LOCAL_H

#include <stdbool.h>

#include <weft/pool.h>
#include <weft/status.h>

WEFT_BEGIN

/** What units keep a value under. */
typedef struct weft_key weft_key;

/** Makes a key, under which every unit has the value NULL.
 *
 * destructor  NULL, or called as destructor(value) with each value other than NULL that a unit has
 *             when it ends, however it ends: on the unit's stack, where it may switch (a tasklet's,
 *             and that of a unit for which no stack could be had, on the scheduler's, where it must
 *             not), and before anybody who joins the unit learns of the end. It must not throw.
 *             What it sets itself is destroyed, too, a few times over
 * key         required; receives the key
 *
 * Returns WEFT_OK, WEFT_NO_MEMORY, WEFT_INVALID. From anywhere, also before weft_init; never
 * switches. Since 0.2. */
WEFT_API weft_status weft_key_create(void (*destructor)(void *value), weft_key **key) WEFT_NOTHROW;

/** What a key is made with, beyond its destructor.
 *
 * A library whose routines read a thread_local word, because to ask Weft each time would take too
 * long, keeps that word right by a key that *follows* units: `leaves` and `returns` are both given.
 * Of a unit that has a value under such a key, leaves(value) is called each time before another
 * unit, or a scheduler, runs on its OS thread by the same thread_local memory, and returns(value)
 * when the unit goes on, on whatever OS thread. Units without a value are not told of and pay
 * nothing, but for those that are their OS threads' own code: of a guest, which keeps its thread's
 * words, both are called with NULL as well; and in weft_init, on the thread that it has made a unit
 * of, returns(NULL). Of hosted units, whose thread_local memory is their own, and of tasklets,
 * which never leave, neither is called. Both are called in the unit, or where it is about to run;
 * they must not switch or throw. The destructor of such a key's value is to do what `leaves` does:
 * a unit that ends does not leave before.
 *
 * Since 0.6. */
typedef struct weft_key_options {
    /** sizeof(weft_key_options) */
    size_t size;
    /** as weft_key_create has it; NULL with `lasting` */
    void (*destructor)(void *value);
    /** values belong to the unit's handle, not to one life of it: each is set once, is not NULL,
     * stays over the unit's end and revival, and is set and read from any thread while the unit is
     * in any state */
    bool lasting;
    /** with `lasting`: NULL, or called as release(value) when the unit is freed (a detached one:
     * when it has ended), by the weft_guest_leave of a guest, by weft_key_free, or by the last
     * weft_finalize, whichever comes first. It must not suspend or throw, free or spawn units, set
     * values or free keys */
    void (*release)(void *value);
    /** called before a unit leaves; NULL: the key follows nobody, and returns is NULL as well */
    void (*leaves)(void *value);
    /** called when a unit goes on */
    void (*returns)(void *value);
} weft_key_options;

/** Makes a key as weft_key_create does, by options. What units have under the first three lasting
 * keys that there are is read by a few loads; each three more cost a step.
 *
 * options  required; its `size` is set
 * key      required; receives the key
 *
 * Returns WEFT_OK, WEFT_NO_MEMORY (also: there are as many keys as can be, 65536, or 1024 lasting
 * ones, or 8 that follow units), WEFT_INVALID (also: both `lasting` and a destructor, or `release`
 * without `lasting`, or one of leaves and returns without the other, or with `lasting`). From
 * anywhere, also before weft_init; never switches. Since 0.6. */
WEFT_API weft_status weft_key_create_with(const weft_key_options *options, weft_key **key) WEFT_NOTHROW;

/** Frees a key. Values that units have under it are forgotten: no destructor is called for them,
 * and no later key has them. Nobody may use the key meanwhile or afterwards. Of a lasting key
 * `release` is called for each value that is left, by the calling thread, and has returned for
 * those of units that others free meanwhile: it is not called again, so that its code may go. That
 * takes time with the number of units that have ever had anything under keys at once. Returns
 * WEFT_OK or WEFT_INVALID. From anywhere; never switches. Since 0.2. */
WEFT_API weft_status weft_key_free(weft_key *key) WEFT_NOTHROW;

/** Sets the calling unit's value. What it was before is not destroyed. Returns WEFT_OK,
 * WEFT_NO_MEMORY (nothing has changed), WEFT_INVALID (also: NULL under a lasting key),
 * WEFT_WRONG_STATE (it has one under a lasting key), WEFT_WRONG_CONTEXT (outside of units). From
 * units; never switches. Since 0.2. */
WEFT_API weft_status weft_local_set(const weft_key *key, void *value) WEFT_NOTHROW;

/** The calling unit's value; NULL when it has none, and outside of units. From anywhere; never
 * switches. Since 0.2. */
WEFT_API void *weft_local_get(const weft_key *key) WEFT_NOTHROW;

/** Sets the value of a unit that does not run and cannot begin to meanwhile (it is suspended, or
 * waits in a pool that nobody draws from), or of the calling unit; under a lasting key of any unit,
 * which may run or have ended, but is not being revived meanwhile. Returns WEFT_OK, WEFT_NO_MEMORY,
 * WEFT_INVALID (also: NULL under a lasting key), WEFT_WRONG_STATE (it has ended; under a lasting
 * key: it has a value, and of several that give it one at once, one succeeds), WEFT_WRONG_CONTEXT
 * (the key follows units, and the unit is not the calling one). From any thread or unit; never
 * switches. Since 0.2. */
WEFT_API weft_status weft_unit_local_set(weft_unit *unit, const weft_key *key, void *value) WEFT_NOTHROW;

/** The value of such a unit, or of one that has ended: NULL then, unless the key is lasting.
 *
 * value  required; receives the value, or NULL when it has none
 *
 * Returns WEFT_OK or WEFT_INVALID. From any thread or unit; never switches. Since 0.2. */
WEFT_API weft_status weft_unit_local_get(const weft_unit *unit, const weft_key *key, void **value) WEFT_NOTHROW;

/** Whether the thread_local memory here is the caller's own, whatever it waits for: so it is for a
 * hosted unit, a guest, a primary unit that does not roam, and outside of Weft. For other units it
 * is that of whatever carries them, and so it is in a scheduler and in callbacks.
 * From anywhere; never switches. Since 0.6. */
WEFT_API bool weft_thread_local_own(void) WEFT_NOTHROW;

WEFT_END

#endif
