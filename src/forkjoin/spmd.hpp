// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Single program, multiple data: a domain whose contexts all run one function.
#pragma once

#include <cstddef>

#include "weft/status.h"

namespace weft {

weft_status run_team(std::size_t count, void (*fn)(void*), void* argument);

// The place of the calling member; false: the caller is none.
bool team_place(std::size_t& number, std::size_t& count);

}   // namespace weft
