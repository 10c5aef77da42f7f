// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/may_end.hpp"

namespace weft {

weft_status still_forked() {
    return fail(WEFT_WRONG_STATE,
                "a unit cannot exit between a fork and its join, or before weft_unit_end_enable (in a region of "
                "OpenMP, say); return from the branch or the region");
}

weft_status disable_end() noexcept {
    Unit* self = running_or_null();
    if (self == nullptr || self->kind == Kind::tasklet)
        return fail(WEFT_WRONG_CONTEXT, "only a ULT can disable its end");
    ++self->jobs_out;
    return WEFT_OK;
}

weft_status enable_end() noexcept {
    Unit* self = running_or_null();
    if (self == nullptr || self->kind == Kind::tasklet)
        return fail(WEFT_WRONG_CONTEXT, "only a ULT can enable its end");
    if (self->jobs_out == 0)
        return fail(WEFT_WRONG_STATE, "unit %llu has not disabled its end", static_cast<unsigned long long>(self->id));
    --self->jobs_out;
    return WEFT_OK;
}

}   // namespace weft
