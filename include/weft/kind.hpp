// The kinds of thread in C++.
#pragma once

#include <weft/language.hpp>

#include <weft/kind.h>

namespace weft {
inline namespace v0 {

/** What kind of thread a unit is; weft_kind says more. */
enum class unit_kind {
    unspecified = WEFT_KIND_DEFAULT, /**< as the settings say */
    full = WEFT_KIND_FULL,           /**< a ULT whose stack is allocated when it is spawned */
    lsa = WEFT_KIND_LSA,             /**< a ULT whose stack is allocated when it first runs */
    tasklet = WEFT_KIND_TASKLET,     /**< run to completion on the scheduler's stack; cannot suspend */
    rtc = WEFT_KIND_RTC,             /**< a tasklet, by its name in the paper */
    roc = WEFT_KIND_ROC,             /**< called on a stack of its own; promoted when it suspends */
    ss = WEFT_KIND_SS,               /**< called on a stack of its own in its scheduler's place, which begins anew when it suspends */
    sc = WEFT_KIND_SC,               /**< called on the scheduler's stack, which it keeps when it suspends */
    automatic = WEFT_KIND_AUTO,      /**< what costs least where it is spawned, as far as that is known */
    hosted = WEFT_KIND_HOSTED        /**< on the stack of a pthread that is parked, and by its thread pointer */
};

}  // namespace v0
}  // namespace weft
