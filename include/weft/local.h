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

/** What a key is made with, beyond its destructor. Since 0.6. */
typedef struct weft_key_options {
    size_t size;                      /**< sizeof(weft_key_options) */
    void (*destructor)(void *value);  /**< as weft_key_create has it */
} weft_key_options;

/** Makes a key as weft_key_create does, by options.
 *
 * options  required; its `size` is set
 * key      required; receives the key
 *
 * Returns WEFT_OK, WEFT_NO_MEMORY, WEFT_INVALID. From anywhere, also before weft_init; never switches. Since 0.6. */
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
 * from), or of the calling unit. Returns WEFT_OK, WEFT_NO_MEMORY, WEFT_INVALID, WEFT_WRONG_STATE (it has ended). From any thread
 * or unit; never switches. Since 0.2. */
WEFT_API weft_status weft_unit_local_set(weft_unit *unit, const weft_key *key, void *value) WEFT_NOTHROW;

/** The value of such a unit, or of one that has ended: NULL then.
 *
 * value  required; receives the value, or NULL when it has none
 *
 * Returns WEFT_OK or WEFT_INVALID. From any thread or unit; never switches. Since 0.2. */
WEFT_API weft_status weft_unit_local_get(const weft_unit *unit, const weft_key *key, void **value) WEFT_NOTHROW;

WEFT_END

#endif
