// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fork-join arena: a domain on the jobs of a fork (core/jobs.hpp). Each call of run_in_arena()
// registers its own domain, with its own list, below the domain whose hart the caller has; an Arena
// is only the number of harts that such a call may have.
#pragma once

#include <cstddef>

#include "base/atomic.hpp"
#include "weft/status.h"

namespace weft {

struct Arena {
    const std::size_t harts;          // 0: as many as exist
    atomic<std::size_t> callers{0};   // calls in it that have not returned

    explicit Arena(std::size_t most) : harts(most) {}
};

// The number of harts that a call may have now.
std::size_t harts_of(const Arena& arena);

weft_status run_in_arena(Arena& arena, void (*fn)(void*), void* argument);

// The arena where the calling unit's forks are published; null: in no arena.
Arena* arena_here();

}   // namespace weft
