/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Fork-join arenas: places where a computation finds the harts that help it, and shares them with
 * nothing else.
 *
 * Work that is forked inside an arena (parallel.h, parallel.hpp, algorithm.hpp) is taken only by
 * the arena's harts, and a hart of the arena that waits at a join helps only with work of the same
 * call. A call is a domain (domain.h): it requests harts when there is something to share, gives
 * back those that find nothing, and gives back harts that another claimant has a better claim to
 * whenever one of its contexts waits or ends. While there is nothing to do it has no hart and uses
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
 * harts  the most harts that a call in it has, the caller's included; 1: nothing is shared; 0: as
 *        many as there are (weft_hart_limit) when the call begins
 * arena  required; receives the arena. It does not outlive a runtime, and may be made before there
 *        is one
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_NO_MEMORY. From anywhere; never switches. Since 0.6. */
WEFT_API weft_status weft_arena_create(size_t harts, weft_arena **arena) WEFT_NOTHROW;

/** Frees an arena in which there is no call. NULL has no effect. Returns WEFT_OK, WEFT_BUSY (there
 * is a call). From anywhere; never switches. Since 0.6. */
WEFT_API weft_status weft_arena_free(weft_arena *arena) WEFT_NOTHROW;

/** Calls fn(argument) in the arena, as the same unit, and returns when fn has returned and every
 * hart that has helped is back. Several calls may be in an arena at once, each with its own harts.
 * Calls nest to any depth: fn may execute in other arenas, and in this one, which is then a plain
 * call.
 *
 * fn  required; it must not throw. Units that it spawns without naming a pool are contexts of the
 *     arena, too, and must end before it returns. fn cannot end the unit: weft_unit_exit returns
 *     WEFT_WRONG_STATE in it, and weft_unit_cancel acts at the first yield or suspension after the
 *     call. Branches that the unit forked before the call are shared with the same harts as before.
 *
 * An OS thread outside of Weft enters for the duration of the call (guest.h), and so starts a
 * runtime where there is none.
 *
 * Returns WEFT_OK; WEFT_INVALID (a null arena or fn), WEFT_NO_MEMORY, WEFT_WRONG_CONTEXT (the
 * caller is a tasklet or a scheduler), or a status of weft_guest_enter: then fn has not been
 * called. Switches. Since 0.6. */
WEFT_API weft_status weft_arena_execute(weft_arena *arena, void (*fn)(void *argument), void *argument) WEFT_NOTHROW;

/** The arena whose harts take the branches that the caller forks; NULL: the caller is in no arena,
 * or in another library's domain inside one. From anywhere; never switches. Since 0.6. */
WEFT_API weft_arena *weft_arena_self(void) WEFT_NOTHROW;

/** How many harts a call in the arena may have now. Returns WEFT_OK or WEFT_INVALID. From anywhere;
 * never switches. Since 0.6. */
WEFT_API weft_status weft_arena_harts_get(const weft_arena *arena, size_t *harts) WEFT_NOTHROW;

WEFT_END

#endif
