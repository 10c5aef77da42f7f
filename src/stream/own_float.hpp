// Units with a floating-point environment of their own (weft_unit_options.own_float): how they round, which exceptions trap. Between them, and while others run,
// a stream has the one that all its other native units share. doc/decisions/0042.
//
// Such a unit has the mark `canary`, so that it leaves by a way that looks, and is not called, nor calls, where that saves a switch. It begins by a body of
// ours, which calls the program's; what that needs lies in the descriptor, in words that mean something only while a unit waits or has ended.
#pragma once

#include "stream/stream.hpp"

namespace weft {

struct Runtime;

inline constexpr std::size_t own_float_bit = std::size_t{1} << 63;      // of Unit::user_stack_bytes: it has one; below lies what it begins with
inline constexpr std::size_t inside_float_bit = std::size_t{1} << 62;   // and it is in force, or the unit has left with it
static_assert(sizeof(std::size_t) == 8);

// Of a unit marked `canary`, or before it is one.
inline bool has_own_float(const Unit& unit) { return (unit.user_stack_bytes & own_float_bit) != 0; }

// Of the running one, if it is marked `canary`.
inline bool is_in_own_float(const Unit& unit) { return (unit.user_stack_bytes & own_float_bit & unit.user_stack_bytes << 1) != 0; }

// The unit, which nobody else knows, has one from its start on: what is in force here and now. Of hosted ones, which have their own, and of a
// domain's contexts, which have no body yet, nothing is done.
void give_own_float(Unit& unit);

// Nobody asks for it any more.
inline void forget_own_float(Unit& unit) {
    if (!has_own_float(unit)) return;
    unit.user_stack_bytes = 0;
    unit.waits_until_ns = 0;
}

// The running unit, which has one, is to be left: the stream's is in force again. What it had is returned, and given back to the unit when it goes on.
[[gnu::noinline]] arch::FloatingPoint leave_own_float(Stream& stream);
[[gnu::noinline]] void enter_own_float(Stream& stream, const arch::FloatingPoint& own);

// The running unit ends, and may have been in the middle of its body.
void end_own_float(Stream& stream, Unit& unit);

// All units that are spawned from now on have one (WEFT_OWN_FLOAT).
weft_status begin_own_float(Runtime& of);

}  // namespace weft
