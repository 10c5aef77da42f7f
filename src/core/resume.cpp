// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/resume.hpp"

#include "process/error.hpp"

namespace weft {

weft_status resume(Unit& unit) noexcept {
    if (!unit.life.claim()) {
        const bool waits = unit.life.is(State::waiting);
        return fail(WEFT_WRONG_STATE, "unit %llu %s", static_cast<unsigned long long>(unit.id),
                    waits ? "waits for something else, such as a join, and is resumed by that" : "is not suspended");
    }
    resume_claimed(current_or_null(), unit);
    return WEFT_OK;
}

}   // namespace weft
