// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model has several threads.
#pragma once

namespace weft::os {

inline bool single_threaded() { return false; }

}   // namespace weft::os
