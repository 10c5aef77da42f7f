/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The results of calls. <weft/weft.h> has the conventions of the whole C interface. */
#ifndef WEFT_STATUS_H
#define WEFT_STATUS_H

#include <weft/version.h>

WEFT_BEGIN

/** The result of a call. */
typedef enum weft_status {
    /** the call has done what it promises */
    WEFT_OK = 0,
    /** memory or address space ran out; nothing was changed */
    WEFT_NO_MEMORY = 1,
    /** an argument is null or out of range */
    WEFT_INVALID = 2,
    /** not possible for this kind of unit, pool or scheduler (a tasklet cannot suspend) */
    WEFT_WRONG_KIND = 3,
    /** not possible in this state (resuming a unit that is not suspended) */
    WEFT_WRONG_STATE = 4,
    /** not possible from here (yielding outside of a unit) */
    WEFT_WRONG_CONTEXT = 5,
    /** weft_init has not been called, or the runtime was finalized */
    WEFT_NOT_INITIALIZED = 6,
    /** not yet, or in use elsewhere; the call may be repeated */
    WEFT_BUSY = 7,
    /** this machine, kernel or plug-in cannot do it, or the library was built without it
     * (weft_features) */
    WEFT_UNSUPPORTED = 8,
    /** the unit has ended, and its body has not returned; see weft_unit_outcome_get. Since 0.7 */
    WEFT_NOT_RETURNED = 9,
    /** a WEFT_ variable has a value that is not legal */
    WEFT_ENVIRONMENT = 10,
    /** the kernel refused (threads, affinity); the text says what */
    WEFT_SYSTEM = 11,
    /** the deadline came first; nothing was taken */
    WEFT_TIMED_OUT = 12,
    /** the channel is closed */
    WEFT_CLOSED = 13
} weft_status;

/** The name of `status` in this header, for instance "WEFT_OK"; "WEFT_?" for a number that is no
 * status. Static memory. From anywhere, signal handlers included; never switches. Since 0.1. */
WEFT_API const char *weft_status_name(weft_status status) WEFT_NOTHROW;

/** One sentence about the last call of this OS thread that did not return WEFT_OK: it names the
 * value and the remedy. "" when there was no such call. Valid until the next failing call of the OS
 * thread, so read it before the unit switches. From anywhere but signal handlers; never switches.
 * Since 0.1. */
WEFT_API const char *weft_error_text(void) WEFT_NOTHROW;

WEFT_END

#endif
