// What units and streams call in rooms above them, at moments to which few of them come: a hosted
// one begins, a stream is asked about its domain, nothing is to be run. The tables are filled in in
// one place (wiring.cpp). They are constant, so they are there before anything runs.
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
    // A detached unit for which no stack could be had (shortage.hpp).
    void (*keep_for_stack)(Stream& stream, Unit& unit);
    // Each guest's unit has that mark from now on (guest.hpp).
    void (*mark_guests)(Unit::Marks mark);
    // Where a scheduler that begins anew begins (run.hpp).
    void (*scheduler_main)(void (*call)(void*), void* argument);
};
extern const UnitHooks unit_hooks;

// What the marks of a unit ask for: a handler is called if the unit has one of the bits beside it,
// and they are called in this order.
enum class Leaves : unsigned char;
struct MarkHooks {
    // When it leaves (look_before_leaving in marked.hpp).
    struct Leave {
        Unit::Shape shape;
        Unit::Marks marks;
        void (*call)(Stream& stream, Unit& unit, Leaves how);
    };
    // When it ends (look_before_ending); some do not return, and the unit ends by them. `next`: see
    // finish().
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

// What the bits of a stream's attention ask for, called in this order from the scheduler's stack
// (attend in attention.hpp).
enum class Attended : unsigned char {
    go_on,   // to the next handler
    anew,    // to the first one, with the bits that are set by then
    over,    // and to nothing more
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

// A guest comes where there is no runtime.
struct GuestHooks {
    weft_status (*start_by_itself)();   // (runtime.hpp)
};
extern const GuestHooks guest_hooks;

// A stream that has nothing to run.
struct IdleHooks {
    bool (*start_zero_again)(Process& of);          // (streams.hpp)
    bool (*lend_out)(Stream& stream);               // a guest's (guest.hpp)
    std::uint64_t (*begin_watch)(Stream& stream);   // while it would sleep for ever (deadlock.hpp)
    void (*end_watch)(Stream& stream, bool woken);
    void (*look_anew)(Process& of);      // an OS thread that could have woken somebody ends
    void (*stream_wakes)(Process& of);   // (sentry.hpp)
};
extern const IdleHooks idle_hooks;

}   // namespace weft
