/* Unit-local values: what each unit keeps under a key, as threads do under a pthread key. A `thread_local` variable belongs to the
 * carrier, and a unit may continue on another; a value under a key goes with its unit.
 *
 *     static weft_key *key;
 *     weft_key_create(free, &key);
 *     weft_local_set(key, strdup("mine"));      in any unit; freed when that unit ends
 */
#ifndef WEFT_LOCAL_H
#define WEFT_LOCAL_H

#include <weft/pool.h>
#include <weft/status.h>

WEFT_BEGIN

/** What units keep a value under. */
typedef struct weft_key weft_key;

/** Makes a key, under which every unit has the value NULL.
 *
 * destructor  NULL, or called as destructor(value) with each value other than NULL that a unit has when it ends, however it ends: on
 *             the unit's stack, where it may switch (a tasklet's, and that of a unit for which no stack could be had, on the
 *             scheduler's, where it must not), and before anybody who joins the unit learns of the end. It must not throw. What it
 *             sets itself is destroyed, too, a few times over
 * key         required; receives the key
 *
 * Returns WEFT_OK, WEFT_NO_MEMORY, WEFT_INVALID. From anywhere, also before weft_init; never switches. Since 0.2. */
WEFT_API weft_status weft_key_create(void (*destructor)(void *value), weft_key **key) WEFT_NOTHROW;

/** What a key is made with, beyond its destructor.
 *
 * A library whose routines read a thread_local word, because to ask Weft each time would take too long, keeps that word right by a key that
 * *follows* units: `leaves` and `returns` are both given. Of a unit that has a value under such a key, leaves(value) is called each time
 * before another unit, or a scheduler, runs on its OS thread by the same thread_local memory, and returns(value) when the unit goes on, on
 * whatever OS thread. Units without a value are not told of and pay nothing, but for those that are their OS threads' own code: of a
 * guest, which keeps its thread's words, both are called with NULL as well; and in weft_init, on the thread that it has made a unit of,
 * returns(NULL). Of hosted units, whose thread_local memory is their own, and of tasklets, which never leave, neither is called. Both are
 * called in the unit, or where it is about to run; they must not switch or throw. The destructor of such a key's value is to do what
 * `leaves` does: a unit that ends does not leave before.
 *
 * Since 0.6. */
typedef struct weft_key_options {
    size_t size;                      /**< sizeof(weft_key_options) */
    void (*destructor)(void *value);  /**< as weft_key_create has it */
    void (*leaves)(void *value);      /**< as above; NULL: the key follows nobody, and returns is NULL as well */
    void (*returns)(void *value);     /**< as above */
} weft_key_options;

/** Makes a key as weft_key_create does, by options.
 *
 * options  required; its `size` is set
 * key      required; receives the key
 *
 * Returns WEFT_OK, WEFT_NO_MEMORY (also where there are 8 keys already that follow units), WEFT_INVALID (also where one of leaves and returns is given). From anywhere, also before weft_init; never switches. Since 0.6. */
WEFT_API weft_status weft_key_create_with(const weft_key_options *options, weft_key **key) WEFT_NOTHROW;

/** Frees a key. Values that units have under it are forgotten: no destructor is called for them, and no later key has them. Nobody may
 * use the key meanwhile or afterwards. Returns WEFT_OK or WEFT_INVALID. From anywhere; never switches. Since 0.2. */
WEFT_API weft_status weft_key_free(weft_key *key) WEFT_NOTHROW;

/** Sets the calling unit's value. What it was before is not destroyed. Returns WEFT_OK, WEFT_NO_MEMORY (nothing has changed),
 * WEFT_INVALID, WEFT_WRONG_CONTEXT (outside of units). From units; never switches. Since 0.2. */
WEFT_API weft_status weft_local_set(const weft_key *key, void *value) WEFT_NOTHROW;

/** The calling unit's value; NULL when it has none, and outside of units. From anywhere; never switches. Since 0.2. */
WEFT_API void *weft_local_get(const weft_key *key) WEFT_NOTHROW;

/** Sets the value of a unit that does not run and cannot begin to meanwhile (it is suspended, or waits in a pool that nobody draws
 * from), or of the calling unit. Returns WEFT_OK, WEFT_NO_MEMORY, WEFT_INVALID, WEFT_WRONG_STATE (it has ended),
 * WEFT_WRONG_CONTEXT (the key follows units, and the unit is not the calling one). From any thread
 * or unit; never switches. Since 0.2. */
WEFT_API weft_status weft_unit_local_set(weft_unit *unit, const weft_key *key, void *value) WEFT_NOTHROW;

/** The value of such a unit, or of one that has ended: NULL then.
 *
 * value  required; receives the value, or NULL when it has none
 *
 * Returns WEFT_OK or WEFT_INVALID. From any thread or unit; never switches. Since 0.2. */
WEFT_API weft_status weft_unit_local_get(const weft_unit *unit, const weft_key *key, void **value) WEFT_NOTHROW;

/** Whether the thread_local memory here is the caller's own, whatever it waits for: so it is for a hosted unit, a guest, a primary unit
 * that does not roam, and outside of Weft. For other units it is that of whatever carries them, and so it is in a scheduler and in callbacks.
 * From anywhere; never switches. Since 0.6. */
WEFT_API bool weft_thread_local_own(void) WEFT_NOTHROW;

WEFT_END

#endif
