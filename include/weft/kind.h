/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The kinds of thread that a unit may be. */
#ifndef WEFT_KIND_H
#define WEFT_KIND_H

#include <weft/status.h>

WEFT_BEGIN

/** What kind of thread a unit is (Iwasaki et al., "Lessons Learned from Analyzing Dynamic Promotion
 * for User-Level Threading", section III). Units of all kinds use the same pools, schedulers and
 * handles. The later kinds cost less as long as their units do not suspend; RoC, SS and SC are
 * promoted when they first suspend, and are full ULTs from then on. */
typedef enum weft_kind {
    /** the kind of the settings */
    WEFT_KIND_DEFAULT = 0,
    /** a ULT whose stack is allocated when it is spawned */
    WEFT_KIND_FULL = 1,
    /** a ULT whose stack is allocated when it first runs (lazy stack allocation) */
    WEFT_KIND_LSA = 2,
    /** runs to completion on the scheduler's stack; cannot suspend */
    WEFT_KIND_TASKLET = 3,
    /** a tasklet, by its name in the paper. Since 0.4 */
    WEFT_KIND_RTC = 3,
    /** return on completion: called on a stack of its own, and returns to its caller unless it has
     * suspended. Since 0.4 */
    WEFT_KIND_ROC = 4,
    /** stack separation: like RoC, but its caller, a scheduler, is not saved: if the unit suspends,
     * the scheduler begins anew. Needs schedulers with pick. Since 0.4 */
    WEFT_KIND_SS = 5,
    /** scheduler creation: called on the scheduler's stack, which the unit keeps if it suspends;
     * the scheduler begins anew on another stack. Needs schedulers with pick, and no larger stack
     * than theirs. Since 0.4 */
    WEFT_KIND_SC = 6,
    /** the kind that costs least: LSA in private pools. For other pools Weft learns, for each place
     * in the program that spawns units, how often they suspend, and makes them SC, RoC or LSA
     * accordingly, or LSA where other options leave no choice; see weft_site_each. The default.
     * Since 0.4 */
    WEFT_KIND_AUTO = 7,
    /** a ULT that runs on the stack and with the thread pointer of a parked pthread: pthread_self,
     * thread_local, errno, keys and the C library's per-thread state are the unit's own, wherever
     * it resumes. For code that assumes that it runs on a pthread; see embed/hosted.h. Since 0.6 */
    WEFT_KIND_HOSTED = 8
} weft_kind;

WEFT_END

#endif
