// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The process barrier of a model: a full fence, as light_fence() is.
#pragma once

#include "base/atomic.hpp"

namespace weft::os {

inline bool process_barrier_ready() { return true; }
inline bool process_barrier(std::source_location where = std::source_location::current()) {
    rl::atomic_thread_fence(rl::mo_seq_cst, model::info(where));
    return true;
}

}   // namespace weft::os
