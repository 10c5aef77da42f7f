// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calls of units and streams into rooms above them, at rare moments: a hosted unit begins, a
// stream is asked about its domain, there is nothing to run. One place fills in the tables
// (wiring.cpp). They are constant, so they exist before anything runs.
#pragma once

#include <cstdint>

#include "context/switch.hpp"
#include "process/asked.hpp"
#include "unit/unit.hpp"
#include "weft/status.h"

namespace weft {

struct Process;
struct Stream;

struct UnitHooks {
    // Hosted units (hosted.hpp).
    void* (*begin_hosted)(Stream& stream, Unit& unit);
    Stream& (*leave_hosted)(Stream& stream, Unit& self, Unit* next, context::Message after);
    // A detached unit for which no stack was available (shortage.hpp).
    void (*keep_for_stack)(Stream& stream, Unit& unit);
    // From now on each guest's unit has that mark (guest.hpp).
    void (*mark_guests)(Unit::Marks mark);
    // The entry of a scheduler that begins anew (run.hpp).
    void (*scheduler_main)(void (*call)(void*), void* argument);
};
extern const UnitHooks unit_hooks;

// The handlers for the marks of a unit: a handler is called if the unit has one of the bits beside
// it, and the handlers are called in this order.
enum class Leaves : unsigned char;
struct MarkHooks {
    // When the unit leaves (look_before_leaving in marked.hpp).
    struct Leave {
        Unit::Shape shape;
        Unit::Marks marks;
        void (*call)(Stream& stream, Unit& unit, Leaves how);
    };
    // When the unit ends (look_before_ending); some handlers do not return, and end the unit
    // themselves. `next`: see finish().
    struct End {
        Unit::Flags flags;
        Unit::Shape shape;
        Unit::Marks marks;
        void (*call)(Stream& stream, Unit& unit, Unit* next);
    };

    Leave leave[6];
    End end[7];
};
extern const MarkHooks mark_hooks;

// The handlers for the bits of a stream's attention, called in this order from the scheduler's
// stack (attend in attention.hpp).
enum class Attended : unsigned char {
    go_on,   // continue with the next handler
    anew,    // continue with the first one, with the bits that are set by then
    over,    // call no more handlers
};
struct AttentionHook {
    static constexpr Attention always{};   // whichever bits are set

    Attention bits;
    Attended (*call)(Stream& stream, Attention bits);
};
extern const AttentionHook attention_hooks[9];

// A stream that is asked to stop, or gets another main scheduler.
struct LoopHooks {
    bool (*replace_main)(Stream& stream);           // (level.hpp)
    bool (*has_kept)(Stream& stream);               // units that wait for a stack (shortage.hpp)
    bool (*leave_carriers)(const Stream& stream);   // (carriers.hpp)
};
extern const LoopHooks loop_hooks;

// A guest enters where there is no runtime.
struct GuestHooks {
    weft_status (*start_by_itself)();   // (runtime.hpp)
};
extern const GuestHooks guest_hooks;

// A stream that has nothing to run.
struct IdleHooks {
    bool (*start_zero_again)(Process& of);          // (streams.hpp)
    bool (*lend_out)(Stream& stream);               // a guest's (guest.hpp)
    std::uint64_t (*begin_watch)(Stream& stream);   // while it would sleep forever (deadlock.hpp)
    void (*end_watch)(Stream& stream, bool woken);
    void (*look_anew)(Process& of);      // an OS thread that could have woken a unit ends
    void (*stream_wakes)(Process& of);   // (sentry.hpp)
};
extern const IdleHooks idle_hooks;

}   // namespace weft
