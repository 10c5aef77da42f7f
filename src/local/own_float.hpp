// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Units with a floating-point environment of their own (weft_unit_options.own_float): rounding, and
// which exceptions trap. Between such units, and while other units run, a stream has the
// environment that all its other native units share. doc/decisions/0042.
//
// Such a unit has the mark `careful`, so that it leaves by a way that checks; and neither is it
// called, nor does it call, where that saves a switch. It begins by a body of this file, which
// calls the program's. The data that this needs lies in the descriptor, in words that have another
// meaning only while a unit waits or has ended.
#pragma once

#include "process/stream.hpp"
#include "weft/embed/job.h"

namespace weft {

struct Process;

// of Unit::user_stack_bytes: the unit has its own environment; the bits below are the one with
// which it begins
inline constexpr std::size_t own_float_bit = std::size_t{1} << 63;
// and the environment is in force, or the unit has left with it
inline constexpr std::size_t inside_float_bit = std::size_t{1} << 62;
static_assert(sizeof(std::size_t) == 8);

// For a unit marked `careful`, or before it is.
inline bool has_own_float(const Unit& unit) { return (unit.user_stack_bytes & own_float_bit) != 0; }

// Whether the unit, which has begun, is in the body that was given to it, and has its own
// environment there.
inline bool is_in_own_float(const Unit& unit) {
    return unit.marked(Unit::careful) && (unit.user_stack_bytes & own_float_bit & unit.user_stack_bytes << 1) != 0;
}

// The unit, which no other thread knows, has its own environment from its start on: the one that is
// in force here and now, or `begins_with`. For a hosted unit, which has its own, nothing is done. A
// domain's context has no body yet, and is given the environment again with its body.
void give_own_float(Unit& unit);
void give_own_float(Unit& unit, const arch::FloatingPoint& begins_with);

// The environment is no longer needed.
inline void forget_own_float(Unit& unit) {
    if (!has_own_float(unit)) return;
    unit.user_stack_bytes = 0;
    unit.waits_until_ns = 0;
}

// The running unit, which has its own environment, is to be left: the stream's is in force again.
// The unit's is returned, and given back to the unit when it continues.
[[gnu::noinline]] arch::FloatingPoint leave_own_float(Stream& stream);
[[gnu::noinline]] void enter_own_float(Stream& stream, const arch::FloatingPoint& own);

// The running unit ends, and may have been in the middle of its body.
void end_own_float(Stream& stream, Unit& unit);

// The running unit publishes jobs: the stream that takes one finds there the environment with which
// to run it.
void note_own_float(Unit& owner);
// For a unit that has published a job and waits for it. False: it has no environment of its own.
bool noted_own_float(const Unit& owner, arch::FloatingPoint& noted);

// The running tasklet runs another tasklet's job in its own place.
void run_job_of(const Unit& owner, weft_job& job);

// A function that the running unit has other threads call for it is called with the unit's own
// environment, if it has one; changes that the function makes there are the unit's.
class CallFor {
public:
    CallFor(Unit& unit, void (*called)(void*), void* with);
    CallFor(const CallFor&) = delete;

    // The function that the others are to call.
    [[nodiscard]] auto fn() const -> void (*)(void*) { return has_own_ ? called_with_own : fn_; }
    [[nodiscard]] void* argument() { return has_own_ ? this : argument_; }

    // They have called it, and the unit has come back.
    void come_back() const;

private:
    static void called_with_own(void* self);

    const bool has_own_;
    void (*const fn_)(void*);
    void* const argument_;
    arch::FloatingPoint own_{};
};

// From now on all units that are spawned have their own environment (WEFT_OWN_FLOAT).
weft_status begin_own_float(Process& of);

}   // namespace weft
