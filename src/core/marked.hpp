// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the marks of a unit ask for when it leaves and when it ends, out of the way of units that
// have none. A table (mark_hooks in process/hooks.hpp) says which folder handles which mark.
#pragma once

#include "context/switch.hpp"
#include "process/stream.hpp"

namespace weft {

// What is done once the leaving unit's registers are saved; on another stack of the same stream.
// `call` may be null.
using AfterSwitch = context::Message;

// How a unit leaves, as it is reported to observers.
enum class Leaves : unsigned char {
    looked,     // it has checked already: it is not light, nor are its marks any of at_leave
    yields,     // it is ready all the while
    waits,      // as Unit::waits and Unit::waits_object say
    suspends,   // by the program
    told,       // it has been reported, and its caller will report what it comes back from
};

// For a unit that has any mark of at_leave, is light, or has forked.
void look_before_leaving(Stream& stream, Unit& unit, Leaves how);

// For a unit that has any mark of at_end, a flag of slow_end, or has forked. `next`: see finish().
// Does not return if the unit ends otherwise.
void look_before_ending(Stream& stream, Unit& unit, Unit* next);

// Reports to observers how the unit leaves.
void observe_leaving(Unit& unit, Leaves how);

namespace detail {

// A unit that is light, has forked, is hosted, or has marks of at_leave, leaves.
Stream& leave_slow(Stream& stream, Unit& self, Unit* next, AfterSwitch after, Leaves how);

// A unit that handles an exception leaves, and still handles it when it comes back.
Stream& leave_in_catch(Stream& stream, Unit& self, Unit* next, AfterSwitch after, Leaves how);

}   // namespace detail

}   // namespace weft
