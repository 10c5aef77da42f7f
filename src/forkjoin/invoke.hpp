// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The join of a fork whose second branch is no longer where the fork has left it.
#pragma once

#include "weft/embed/job.h"

namespace weft {

// True: the job is the caller's to run. False: another stream has run it. May switch.
bool take_back(weft_job& job);

}   // namespace weft
