// What each library of this process has to do with parallelism: from what the loader has bound, and
// from what was counted.
#pragma once

#include "record.hpp"
#include "regions.hpp"
#include "tally.hpp"

namespace weft_report {

// Of all that is loaded now, and of what began regions or started threads and was unloaded since.
// Sets program's libraries and how it was started. all_regions: how many the process began on Weft;
// regions: tells those of each library, may be null.
void look_at_process(Program& program, std::uint64_t all_regions, EachRegions regions, const Tally& threads);

// For the child of a fork, which has the libraries of its parent: only those that it has used.
void forget_unused(Program& program);

}   // namespace weft_report
