// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kinds of thread in C++.
#pragma once

#include <weft/language.hpp>

#include <weft/kind.h>

namespace weft {
inline namespace v0 {

/** What kind of thread a unit is; weft_kind has the details. */
enum class unit_kind {
    /** as the settings say */
    unspecified = WEFT_KIND_DEFAULT,
    /** a ULT whose stack is allocated when it is spawned */
    full = WEFT_KIND_FULL,
    /** a ULT whose stack is allocated when it first runs */
    lsa = WEFT_KIND_LSA,
    /** runs to completion on the scheduler's stack; cannot suspend */
    tasklet = WEFT_KIND_TASKLET,
    /** a tasklet, by its name in the paper */
    rtc = WEFT_KIND_RTC,
    /** called on a stack of its own; promoted when it suspends */
    roc = WEFT_KIND_ROC,
    /** called on a stack of its own; its scheduler is not saved, and begins anew if the unit
     * suspends */
    ss = WEFT_KIND_SS,
    /** called on the scheduler's stack, which the unit keeps if it suspends */
    sc = WEFT_KIND_SC,
    /** the kind that costs least for the place that spawns the unit, as far as that is known */
    automatic = WEFT_KIND_AUTO,
    /** runs on the stack of a parked pthread, with that pthread's thread pointer */
    hosted = WEFT_KIND_HOSTED
};

}   // namespace v0
}   // namespace weft
