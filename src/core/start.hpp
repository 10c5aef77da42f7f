// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A unit starts: it gets a stack, and its body is called there.
#pragma once

#include "process/stream.hpp"

namespace weft {

// Where a fresh ULT begins; does not return.
[[noreturn, gnu::noinline]] void unit_main(void (*call)(void*), void* argument);

// The running ULT has returned from its body and cannot return to its caller; the units that take
// over its stack follow.
[[noreturn, gnu::noinline]] void end_promoted();

// In a handler: the exception that the body of the running unit threw is kept for its joiner.
void keep_exception() noexcept;

// Calls the body of the unit that runs and keeps the exception that it throws.
[[gnu::always_inline]] inline void run_body(Unit& unit) noexcept {
    try {
        unit.body(unit.argument);
    } catch (...) {
        keep_exception();   // it looks up the running unit: no register is saved here for it
    }
}

// The stack of a unit that starts and needs more care than begin() gives; null: no stack could be
// had.
void* begin_slow(Stream& stream, Unit& unit);

namespace detail {

// The context to start a ULT; null: no stack could be had, or it is a tasklet, which the scheduler
// runs.
[[gnu::always_inline]] inline void* begin(Stream& stream, Unit& unit) {
    if (stream.spare == nullptr || !unit.has(Unit::plain)) [[unlikely]]
        return begin_slow(stream, unit);
    unit.stack = stream.take_spare();
    return arch::prepare(unit.stack->top, unit_main);
}

// The context to start or continue a unit; null as for begin(), or because the scheduler is to call
// the unit: calling a light unit costs less, unless it is of the direct pool, where the next units
// take over its stack (finish_plainly).
[[gnu::always_inline]] inline void* context_of(Stream& stream, Unit& unit) {
    if (unit.context != nullptr) return unit.context;
    return unit.is_light() && stream.direct == nullptr ? nullptr : begin(stream, unit);
}

}   // namespace detail

}   // namespace weft
