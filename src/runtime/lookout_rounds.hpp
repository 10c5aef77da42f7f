// What the lookout looks at in its rounds: harts, stuck streams, neighbours, deadlines of busy streams, and calls that
// block.
#pragma once

#include <cstdint>

namespace weft {

// What the lookout does (Lookout::Round, Lookout::Ready); the context is the runtime.
std::uint64_t lookout_round(void* context);
void lookout_ready(void* context, std::uint32_t tag);

}   // namespace weft
