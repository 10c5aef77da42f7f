// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part that each library of this process has in parallelism, derived from the loader's bindings
// and from the counts.
#pragma once

#include "record.hpp"
#include "regions.hpp"
#include "tally.hpp"

namespace weft_report {

// Examines all libraries that are loaded now, and those that began regions or started threads and
// were unloaded since. Sets the libraries of `program` and how it was started. all_regions: how
// many regions the process began on Weft; regions: reports those of each library, may be null.
void look_at_process(Program& program, std::uint64_t all_regions, EachRegions regions, const Tally& threads);

// For the child of a fork, which has its parent's libraries: keeps only those that the child has
// used.
void forget_unused(Program& program);

}   // namespace weft_report
