// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A unit becomes ready: it goes to its pool, where a scheduler finds it.
#pragma once

#include "process/stream.hpp"
#include "weft/status.h"

namespace weft {

// A suspended unit that the caller has claimed goes to its pool. `stream`: the calling one, or
// null.
[[gnu::always_inline]] inline void resume_claimed(Stream* stream, Unit& unit) {
    if (stream != nullptr) stream->counters.add(trace::Count::resumed);
    make_ready(stream, unit, pool::From::resumed);
}

// A waiting unit that no other thread may wake stops waiting.
inline void resume_waiting(Unit& unit) {
    unit.life.move(State::waiting, State::ready);
    resume_claimed(current_or_null(), unit);
}

// weft_unit_resume: for a unit that the program has suspended.
weft_status resume(Unit& unit) noexcept;

namespace detail {

// After a switch: the unit that left goes to its pool.
template <pool::From from>
void requeue(void* raw) {
    auto* unit = static_cast<Unit*>(raw);
    unit->life.move(State::running, State::ready);
    make_ready(&current(), *unit, from);
}

}   // namespace detail

}   // namespace weft
