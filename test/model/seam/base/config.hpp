// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants of a model build. Relacy puts the suites into memory from malloc, so no type may need
// more alignment than malloc gives.
#pragma once

namespace weft::config {

inline constexpr bool checked = true;
inline constexpr int cache_line = 16;

}   // namespace weft::config
