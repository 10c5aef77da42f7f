// What the reactor looks at in its rounds: harts, stuck streams, neighbours, deadlines of busy
// streams, and calls that block.
#pragma once

#include <cstdint>

namespace weft {

// What the reactor does (Reactor::Round, Reactor::Ready); the context is the runtime.
std::uint64_t reactor_round(void* context);
void reactor_ready(void* context, std::uint32_t tag);

}   // namespace weft
