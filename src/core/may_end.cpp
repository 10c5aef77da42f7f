#include "core/may_end.hpp"

namespace weft {

weft_status still_forked() { return fail(WEFT_WRONG_STATE, "a unit cannot exit between a fork and its join, or before weft_unit_end_enable (in a region of OpenMP, say); return from the branch or the region"); }

}  // namespace weft
