/* Fork-join arenas: places where a computation finds the harts that help it, and shares them with
 * nothing else.
 *
 * What is forked inside of an arena (parallel.h, parallel.hpp, algorithm.hpp) is taken by the
 * arena's harts alone, and a hart of it that waits at a join helps with nothing but work of the
 * same call. A call is a domain (domain.h): it asks for harts when there is something to share,
 * gives those that find nothing back, and gives harts back that others have a better claim to
 * whenever one of its contexts waits or ends. While nothing is to be done it has no hart and uses
 * none. */
#ifndef WEFT_ARENA_H
#define WEFT_ARENA_H

#include <stddef.h>

#include <weft/status.h>

WEFT_BEGIN

/** An arena: opaque. Since 0.6. */
typedef struct weft_arena weft_arena;

/** Makes an arena.
 *
 * harts  how many harts a call in it has at most, the caller's included; 1: nothing is shared; 0:
 *        as many as there are (weft_hart_limit) when the call begins
 * arena  required; receives it. It outlives no runtime, and may be made before there is one
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_NO_MEMORY. From anywhere; never switches. Since 0.6. */
WEFT_API weft_status weft_arena_create(size_t harts, weft_arena **arena) WEFT_NOTHROW;

/** Frees an arena in which no call is. NULL is nothing. Returns WEFT_OK, WEFT_BUSY (there is a
 * call). From anywhere; never switches. Since 0.6. */
WEFT_API weft_status weft_arena_free(weft_arena *arena) WEFT_NOTHROW;

/** Calls fn(argument) in the arena, as the same unit, and returns when it has returned and every
 * hart that has helped is back. Several may be in an arena at once, each with harts of its own. To
 * any depth: fn may execute in other arenas, and in this one, which is then a plain call.
 *
 * fn  required; it must not throw. Units that it spawns without naming a pool are contexts of the
 *     arena, too, and have to end before it returns. It does not end the unit: weft_unit_exit
 *     returns WEFT_WRONG_STATE in it, and weft_unit_cancel acts at the first yield or suspension
 *     after the call. What the unit has forked before is shared with whom it was before.
 *
 * An OS thread that is outside enters for the time of the call (guest.h), and so starts a runtime
 * where there is none.
 *
 * Returns WEFT_OK; WEFT_INVALID (a null arena or fn), WEFT_NO_MEMORY, WEFT_WRONG_CONTEXT (the
 * caller is a tasklet or a scheduler), or what weft_guest_enter returns: then fn has not been
 * called. Switches. Since 0.6. */
WEFT_API weft_status weft_arena_execute(weft_arena *arena, void (*fn)(void *argument), void *argument) WEFT_NOTHROW;

/** The arena whose harts take what the caller forks; NULL: the caller is in none, or in a domain in
 * it that is another library's. From anywhere; never switches. Since 0.6. */
WEFT_API weft_arena *weft_arena_self(void) WEFT_NOTHROW;

/** How many harts a call in the arena may have now. Returns WEFT_OK or WEFT_INVALID. From anywhere;
 * never switches. Since 0.6. */
WEFT_API weft_status weft_arena_harts_get(const weft_arena *arena, size_t *harts) WEFT_NOTHROW;

WEFT_END

#endif
