/* The kinds of thread that a unit may be. */
#ifndef WEFT_KIND_H
#define WEFT_KIND_H

#include <weft/status.h>

WEFT_BEGIN

/** What kind of thread a unit is (Iwasaki et al., "Lessons Learned from Analyzing Dynamic Promotion
 * for User-Level Threading", section III). All lie in the same pools, under the same schedulers,
 * behind the same handle. The later ones cost less as long as they do not suspend; RoC, SS and SC
 * are promoted when they first do, and are fully fledged ULTs from then on. */
typedef enum weft_kind {
    /** as the settings say */
    WEFT_KIND_DEFAULT = 0,
    /** a ULT whose stack is allocated when it is spawned */
    WEFT_KIND_FULL = 1,
    /** a ULT whose stack is allocated when it first runs (lazy stack allocation) */
    WEFT_KIND_LSA = 2,
    /** run to completion on the scheduler's stack; cannot suspend */
    WEFT_KIND_TASKLET = 3,
    /** a tasklet, by its name in the paper. Since 0.4 */
    WEFT_KIND_RTC = 3,
    /** return on completion: called on a stack of its own, and returns to whoever called it unless
     * it has suspended. Since 0.4 */
    WEFT_KIND_ROC = 4,
    /** stack separation: as RoC, but its caller, a scheduler, is not saved: if the unit suspends,
     * the scheduler begins anew. Needs schedulers with pick. Since 0.4 */
    WEFT_KIND_SS = 5,
    /** scheduler creation: called on the scheduler's stack, which it keeps if it suspends; the
     * scheduler begins anew on another one. Needs schedulers with pick, and no more than their
     * stack. Since 0.4 */
    WEFT_KIND_SC = 6,
    /** what costs least: LSA in private pools; for others Weft learns for each place in the program
     * that spawns units how often they suspend, and makes them SC, RoC or LSA accordingly, or LSA
     * where other options leave no choice; see weft_site_each. The default. Since 0.4 */
    WEFT_KIND_AUTO = 7,
    /** a ULT on the stack of a pthread that is parked, and by its thread pointer: pthread_self,
     * thread_local, errno, keys and what the C library keeps for a thread are the unit's own,
     * wherever it goes on. For code that believes it is a pthread; see embed/hosted.h. Since 0.6 */
    WEFT_KIND_HOSTED = 8
} weft_kind;

WEFT_END

#endif
