// What the marks of a unit ask for when it leaves and when it ends, out of the way of those that
// have none. Which room sees to which mark is said by a table (mark_hooks in process/hooks.hpp).
#pragma once

#include "context/switch.hpp"
#include "process/stream.hpp"

namespace weft {

// What is done once the leaving unit's registers are saved; on another stack of the same stream.
// `call` may be null.
using AfterSwitch = context::Message;

// How a unit leaves, as observers are told it.
enum class Leaves : unsigned char {
    looked,     // it has looked already: it is not light, nor are its marks any of at_leave
    yields,     // it is ready all the while
    waits,      // as Unit::waits and Unit::waits_object say
    suspends,   // by the program
    told,       // that has been told, and what it comes back from will be told by its caller
};

// Of a unit that has any mark of at_leave, is light, or has forked.
void look_before_leaving(Stream& stream, Unit& unit, Leaves how);

// Of one that has any mark of at_end, a flag of slow_end, or has forked. `next`: see finish(). It
// does not return where the unit ends otherwise.
void look_before_ending(Stream& stream, Unit& unit, Unit* next);

// How observers are told that the unit leaves.
void observe_leaving(Unit& unit, Leaves how);

namespace detail {

// One that is light, has forked, is hosted, or has marks of at_leave, leaves.
Stream& leave_slow(Stream& stream, Unit& self, Unit* next, AfterSwitch after, Leaves how);

// A unit that handles an exception leaves, and handles it still when it comes back.
Stream& leave_in_catch(Stream& stream, Unit& self, Unit* next, AfterSwitch after, Leaves how);

}   // namespace detail

}   // namespace weft
