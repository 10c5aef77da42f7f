// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waiting for a unit of one pool, on the OS thread: for a scheduler that owns its loop, and for OS
// threads that are no streams.
#pragma once

#include <cstdint>

#include "process/stream.hpp"

namespace weft {

// A ready unit, or null when `deadline_ns` has come, or earlier when a request to the stream is
// pending. `stream`: the calling one, whose scheduler calls, or null.
Unit* pop_wait(Stream* stream, Pool& from, std::uint64_t deadline_ns);

}   // namespace weft
