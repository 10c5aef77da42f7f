// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hosted units: how they begin, leave, come back and end, on a host's stack and by its thread
// pointer (context/host.hpp). All of it is out of the way of the other kinds: a hosted unit is
// marked as one whose stack needs a check when it leaves, and that check leads here. README.md,
// "Hosted units", has the rules.
#pragma once

#include "core/suspend.hpp"

namespace weft {

struct Process;

// A unit that has not begun gets a host. Returns the context to start it; null: there is none at
// hand, or, on the scheduler's stack, none can be had.
void* begin_hosted(Stream& stream, Unit& unit);

// Where the kernel refuses OS threads: waits for a moment, so that other threads may run out of
// work.
using Moment = void (*)();

// `count` hosted units are about to begin, with stacks of that size: see Hosts::prepare. False:
// refused.
bool prepare_hosts(Process& of, std::size_t count, std::size_t stack_bytes, Moment moment);

// The kernel has refused the program a thread of its own: idle hosts end, and other dispensable OS
// threads, until attempt(argument) succeeds. False: it has not succeeded.
bool make_room_for_program(Process& of, bool (*attempt)(void*), void* argument, Moment moment);

// The running unit, which is hosted, leaves for `next` (null: the scheduler), as
// detail::leave_plainly() does for other kinds.
Stream& leave_hosted(Stream& stream, Unit& self, Unit* next, AfterSwitch after);

// The unit has ended. `next`: see finish().
[[noreturn]] void conclude_hosted(Unit& unit, Unit* next);

// The unit that calls, if it is hosted; else null.
Unit* hosted_or_null();

// Calls fn(argument) by the carrier's own thread pointer, on the current stack.
void call_by_carrier(void (*fn)(void*), void* argument);

// Calls fn(argument) while the OS thread may use all CPUs of the process, if it runs a hosted unit.
void call_unconfined(void (*fn)(void*), void* argument);

// In the child of a fork: the unit's pthread is the only OS thread, and none is parked.
void become_thread(Unit& unit);

// The kernel's number of a hosted unit's pthread.
std::uint32_t thread_id_of(const Unit& unit);

// A signal for the hosted unit whose pthread that is: now if the unit runs, else when it continues.
// False: it is no unit's pthread. Signal 0: none is sent.
bool signal_hosted(Process& of, std::uintptr_t pthread, int signal);

}   // namespace weft
