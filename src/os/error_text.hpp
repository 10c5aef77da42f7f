// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one sentence per OS thread that weft_error_text shows.
#pragma once

#include <cstddef>

namespace weft::os {

inline constexpr std::size_t error_text_bytes = 512;

// The calling OS thread's: error_text_bytes long, zero-terminated. Call again after a switch.
char* error_text();

}   // namespace weft::os
