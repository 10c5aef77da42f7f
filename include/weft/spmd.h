/* One function on many threads of control at once: single program, multiple data (Lithe, section
 * 4.3). */
#ifndef WEFT_SPMD_H
#define WEFT_SPMD_H

#include <stddef.h>

#include <weft/status.h>

WEFT_BEGIN

/** Calls fn(argument) `count` times, each in a context of its own, and returns when all have
 * returned. The contexts are those of a domain (domain.h) below the one whose hart the caller has:
 * they share the harts that this one is lent, however many they are. They may wait for each other
 * by anything that ULTs wait for (sync.h: a barrier, a mutex, a condition, a semaphore, ...): then
 * the hart runs another. To any depth: a member may call weft_spmd in its turn.
 *
 * fn must not throw. Members that only look again and again for what another does must yield
 * (weft_unit_yield).
 *
 * An OS thread that is outside enters for the time of the call (guest.h), and so starts a runtime
 * where there is none.
 *
 * Returns WEFT_OK; WEFT_INVALID (a null fn), WEFT_NO_MEMORY, WEFT_WRONG_CONTEXT (the caller is a
 * tasklet or a scheduler), or what weft_guest_enter returns: then fn has not been called. Switches.
 * Since 0.6. */
WEFT_API weft_status weft_spmd(size_t count, void (*fn)(void *argument), void *argument) WEFT_NOTHROW;

/** The caller's number among the members of its weft_spmd, from 0 on; SIZE_MAX where it is none.
 * From anywhere; never switches. Since 0.6. */
WEFT_API size_t weft_spmd_member(void) WEFT_NOTHROW;

/** How many members there are beside the caller and with it; 0 where it is none. From anywhere;
 * never switches. Since 0.6. */
WEFT_API size_t weft_spmd_size(void) WEFT_NOTHROW;

WEFT_END

#endif
