/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One function on many threads of control at once: single program, multiple data (Lithe, section
 * 4.3). */
#ifndef WEFT_SPMD_H
#define WEFT_SPMD_H

#include <stddef.h>

#include <weft/status.h>

WEFT_BEGIN

/** Calls fn(argument) `count` times, each in a context of its own, and returns when all have
 * returned. The contexts belong to a domain (domain.h) below the one whose hart the caller has:
 * however many they are, they share the harts that are lent to this new domain. They may wait for
 * each other by anything that ULTs wait for (sync.h: a barrier, a mutex, a condition, a semaphore,
 * ...); the hart then runs another context. May be nested to any depth: a member may itself call
 * weft_spmd.
 *
 * fn must not throw. Members that poll for what another member does must yield (weft_unit_yield).
 *
 * An OS thread outside of Weft enters for the duration of the call (guest.h), and so starts a
 * runtime where there is none.
 *
 * Returns WEFT_OK; WEFT_INVALID (a null fn), WEFT_NO_MEMORY, WEFT_WRONG_CONTEXT (the caller is a
 * tasklet or a scheduler), or a status of weft_guest_enter: then fn has not been called. Switches.
 * Since 0.6. */
WEFT_API weft_status weft_spmd(size_t count, void (*fn)(void *argument), void *argument) WEFT_NOTHROW;

/** The caller's number among the members of its weft_spmd, from 0 on; SIZE_MAX where the caller is
 * no member. From anywhere; never switches. Since 0.6. */
WEFT_API size_t weft_spmd_member(void) WEFT_NOTHROW;

/** The number of members of the caller's weft_spmd, the caller included; 0 where the caller is no
 * member. From anywhere; never switches. Since 0.6. */
WEFT_API size_t weft_spmd_size(void) WEFT_NOTHROW;

WEFT_END

#endif
