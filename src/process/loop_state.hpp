// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a stream's loop keeps from round to round: turns, housekeeping, times. core/run.cpp and
// process/housekeeping.cpp own it; only the stream writes it.
#pragma once

#include <cstdint>

#include "process/asked.hpp"

namespace weft {

// How many rounds of a busy stream's scheduler lie between two polls of the pollers.
inline constexpr std::uint32_t rounds_between_polls = 16;

struct Loop {
    Attention attended{};              // the bits of attention that attend() has seen, and attention::unwatched
    std::uint32_t rounds = 0;          // of the scheduler since the pollers had their turn
    std::uint32_t passes_left = 1;     // how many more switches may bypass the pools (sync/condition.cpp)
    std::uint32_t staying = 0;         // units that weft_unit_bind has bound to the stream
    bool own_had_a_turn = false;       // whether the pool of bound units was served at the last pick (way.cpp)
    bool times_unit = false;           // the clock was read when a unit began, and is to be read when it leaves
    std::uint64_t clock_ns = 0;        // when the scheduler began (with WEFT_TIMING=on)
    std::uint64_t poll_sleep_ns = 0;   // how long the next sleep between two polls is
};

}   // namespace weft
