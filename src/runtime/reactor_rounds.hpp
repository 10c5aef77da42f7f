// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the reactor checks in its rounds: harts, stuck streams, neighbours, deadlines of busy
// streams, and blocking calls.
#pragma once

#include <cstdint>

namespace weft {

// The reactor's hooks (Reactor::Round, Reactor::Ready); the context is the runtime.
std::uint64_t reactor_round(void* context);
void reactor_ready(void* context, std::uint32_t tag);

}   // namespace weft
